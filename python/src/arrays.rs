//! Lists of the library as NumPy arrays, and arrays of the caller as lists.
//!
//! In: a list and a shape, or anything that NumPy makes an array of. Out: an array that owns the list's memory, or a
//! list, once type and shape are as wanted.

use kintsugi::glam::DVec3;
use numpy::{
    Element, IntoPyArray as _, PyReadonlyArrayDyn,
    ndarray::{ArrayD, IxDyn},
};
use pyo3::{exceptions::PyTypeError, prelude::*, sync::PyOnceLock};

use crate::errors::{Error, parameter};

/// Kinds of NumPy's types: whole numbers, and all numbers.
const WHOLE: &str = "iu";
const NUMBERS: &str = "iuf";

/// An array of `shape`, C order, that takes over the memory of `data`.
///
/// # Errors
/// `Error` where the shape has another number of elements.
pub fn array<'py, T: Element>(py: Python<'py>, data: Vec<T>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let count = data.len();
    let array = ArrayD::from_shape_vec(IxDyn(shape), data)
        .map_err(|error| Error::new_err(format!("{count} elements for the shape {shape:?}: {error}")))?;
    Ok(array.into_pyarray(py).into_any())
}

/// An array (n, N) that takes over the memory of `data`.
///
/// # Errors
/// As of [`array`].
pub fn rows<'py, T: Element, const N: usize>(
    py: Python<'py>,
    data: Vec<[T; N]>,
) -> PyResult<Bound<'py, PyAny>> {
    let count = data.len();
    array(py, data.into_flattened(), &[count, N])
}

/// An array (n) that takes over the memory of `data`.
///
/// # Errors
/// As of [`array`].
pub fn list<T: Element>(py: Python<'_>, data: Vec<T>) -> PyResult<Bound<'_, PyAny>> {
    let count = data.len();
    array(py, data, &[count])
}

/// A vector as an array (3) of float64.
///
/// # Errors
/// As of [`array`].
pub fn vector(py: Python<'_>, of: DVec3) -> PyResult<Bound<'_, PyAny>> {
    list(py, of.to_array().to_vec())
}

/// An array that is made at its first use. Each use has the same one, which cannot be written to.
pub struct Kept(PyOnceLock<Py<PyAny>>);

impl Default for Kept {
    fn default() -> Self {
        Self(PyOnceLock::new())
    }
}

impl Kept {
    /// The array, which `make` makes where there is none yet.
    ///
    /// # Errors
    /// Those of `make`; the next use tries again.
    pub fn get<'py>(
        &self,
        py: Python<'py>,
        make: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let kept = self.0.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
            let array = make()?;
            // Its first parameter is `write`.
            array.call_method1("setflags", (false,))?;
            Ok(array.unbind())
        })?;
        Ok(kept.bind(py).clone())
    }
}

/// Elements and shape of what NumPy makes an array of. `kinds` are the letters of types that are taken, `dtype` is what
/// they become, `wanted` says it to the user.
fn numbers<'py, T: Element + Copy + 'static>(
    (name, wanted): (&str, &str),
    of: &Bound<'py, PyAny>,
    (kinds, dtype): (&str, &str),
) -> PyResult<(Vec<T>, Vec<usize>)> {
    let numpy = of.py().import("numpy")?;
    // Rows of several lengths are an error of NumPy, or an array of objects.
    let found = numpy
        .call_method1("asarray", (of,))
        .map_err(|error| parameter(format!("{name} must be {wanted}: {error}")))?;
    let given = found.getattr("dtype")?;
    let kind: String = given.getattr("kind")?.extract()?;
    if !kinds.contains(kind.as_str()) {
        return Err(PyTypeError::new_err(format!("{name} must be {wanted}, not of type {given}")));
    }
    let shape: Vec<usize> = found.getattr("shape")?.extract()?;
    let found = numpy.call_method1("require", (found, dtype, ["C", "A"]))?;
    let found: PyReadonlyArrayDyn<'py, T> = found.extract()?;
    let list = found.as_slice().map_err(|error| parameter(format!("{name} must be {wanted}: {error}")))?;
    Ok((list.to_vec(), shape))
}

/// Rows of three, of an array (n, 3).
fn threes<T: Element + Copy + 'static>(
    about: (&str, &str),
    of: &Bound<'_, PyAny>,
    types: (&str, &str),
) -> PyResult<Vec<[T; 3]>> {
    let (list, shape) = numbers::<T>(about, of, types)?;
    if shape.len() != 2 || shape[1] != 3 {
        return Err(refused(about, &shape));
    }
    Ok(list.chunks_exact(3).map(|row| [row[0], row[1], row[2]]).collect())
}

fn refused((name, wanted): (&str, &str), shape: &[usize]) -> PyErr {
    let sides: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    parameter(format!("{name} must be {wanted}; an array of shape ({}{comma}) came", sides.join(", ")))
}

/// Finite points of an array (n, 3) of any type of number.
///
/// # Errors
/// TypeError for another type, `ParameterError` for another shape and for a number that is not finite.
pub fn points(name: &str, of: &Bound<'_, PyAny>) -> PyResult<Vec<[f64; 3]>> {
    let found = threes::<f64>((name, "an array (n, 3) of numbers"), of, (NUMBERS, "float64"))?;
    match found.iter().position(|point| !point.iter().all(|v| v.is_finite())) {
        Some(row) => Err(parameter(format!("{name} must be finite; row {row} is {:?}", found[row]))),
        None => Ok(found),
    }
}

/// Points of an array (n, 3) of any type of number, as a mesh has them: they need not be finite.
///
/// # Errors
/// TypeError for another type, `ParameterError` for another shape.
pub fn vertices(name: &str, of: &Bound<'_, PyAny>) -> PyResult<Vec<[f32; 3]>> {
    threes((name, "an array (n, 3) of numbers"), of, (NUMBERS, "float32"))
}

/// A finite vector of three numbers.
///
/// # Errors
/// TypeError for another type, `ParameterError` for another shape and for a number that is not finite.
pub fn point(name: &str, of: &Bound<'_, PyAny>) -> PyResult<DVec3> {
    let about = (name, "three numbers");
    let (list, shape) = numbers::<f64>(about, of, (NUMBERS, "float64"))?;
    match (shape.as_slice(), list.as_slice()) {
        ([3], [x, y, z]) if list.iter().all(|v| v.is_finite()) => Ok(DVec3::new(*x, *y, *z)),
        ([3], _) => Err(parameter(format!("{name} must be three finite numbers; {list:?} came"))),
        _ => Err(refused(about, &shape)),
    }
}

/// Triangles of an array (t, 3) of whole numbers from 0 on.
///
/// # Errors
/// TypeError for another type, `ParameterError` for another shape or a number out of range.
pub fn triangles(name: &str, of: &Bound<'_, PyAny>) -> PyResult<Vec<[u32; 3]>> {
    let found = threes::<i64>((name, "an array (t, 3) of whole numbers"), of, (WHOLE, "int64"))?;
    narrowed(name, &found, "the number of a vertex, from 0 on")
}

/// Colours of an array (n, 3) of whole numbers 0 to 255.
///
/// # Errors
/// TypeError for another type, `ParameterError` for another shape or a number out of range.
pub fn colors(name: &str, of: &Bound<'_, PyAny>) -> PyResult<Vec<[u8; 3]>> {
    let found = threes::<i64>((name, "an array (n, 3) of whole numbers"), of, (WHOLE, "int64"))?;
    narrowed(name, &found, "a number from 0 to 255")
}

fn narrowed<T: TryFrom<i64>>(name: &str, of: &[[i64; 3]], wanted: &str) -> PyResult<Vec<[T; 3]>> {
    let narrow = |number: i64| {
        let wrong = |_| parameter(format!("{name} holds {number}; each must be {wanted}"));
        T::try_from(number).map_err(wrong)
    };
    let row =
        |row: &[i64; 3]| -> PyResult<[T; 3]> { Ok([narrow(row[0])?, narrow(row[1])?, narrow(row[2])?]) };
    of.iter().map(row).collect()
}
