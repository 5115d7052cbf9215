//! Python's values as those of JSON, in which parameters and reports are read and written, and back.
//!
//! In: None, bool, numbers, str, paths, dicts, lists, tuples, NumPy's scalars and arrays. Out: a JSON value; and dicts,
//! lists and plain values of one.

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple},
};
use serde_json::{Map, Number, Value};

use crate::errors::{Error, parameter};

/// Deepest nesting of a value.
const DEPTH: usize = 16;

/// A JSON value as Python has it. Floating-point numbers stay such, also whole ones.
///
/// # Errors
/// Where Python has no memory.
pub fn to_py<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(is) => PyBool::new(py, *is).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(whole)) => whole.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_py(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(items) => {
            let dict = PyDict::new(py);
            for (name, item) in items {
                dict.set_item(name, to_py(py, item)?)?;
            }
            dict.into_any()
        }
    })
}

/// What a value is written as in a file, as Python's dicts, lists and plain values.
///
/// # Errors
/// `Error` where it cannot be written.
pub fn serialized<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    to_py(py, &value_of(value)?)
}

/// What a value is written as in a file.
///
/// # Errors
/// `Error` where it cannot be written.
pub fn value_of(value: &impl serde::Serialize) -> PyResult<Value> {
    serde_json::to_value(value).map_err(|error| Error::new_err(error.to_string()))
}

/// A value of Python, which the caller calls `name`, as JSON has it.
///
/// # Errors
/// TypeError for what JSON has not, `ParameterError` for a number out of range.
pub fn from_py(name: &str, of: &Bound<'_, PyAny>) -> PyResult<Value> {
    within(name, of, DEPTH)
}

fn within(name: &str, of: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(parameter(format!("{name} is nested too deeply; give at most {DEPTH} levels")));
    };
    if of.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(is) = of.cast::<PyBool>() {
        return Ok(Value::Bool(is.is_true()));
    }
    if of.cast::<PyInt>().is_ok() {
        let whole = of.extract::<i64>().map(Value::from).or_else(|_| of.extract::<u64>().map(Value::from));
        return whole.map_err(|_| parameter(format!("{name} is too large a number; it must be below 2^63")));
    }
    if of.cast::<PyFloat>().is_ok() {
        let value: f64 = of.extract()?;
        let number = Number::from_f64(value).map(Value::Number);
        return number.ok_or_else(|| parameter(format!("{name} is {value}; it must be finite")));
    }
    if of.cast::<PyString>().is_ok() {
        return Ok(Value::String(of.extract()?));
    }
    if let Ok(dict) = of.cast::<PyDict>() {
        let mut map = Map::new();
        for (key, value) in dict.iter() {
            let key: String = key
                .extract()
                .map_err(|_| PyTypeError::new_err(format!("{name} has a name that is no str: {key}")))?;
            let value = within(&format!("{name}.{key}"), &value, depth)?;
            map.insert(key, value);
        }
        return Ok(Value::Object(map));
    }
    if of.cast::<PyList>().is_ok() || of.cast::<PyTuple>().is_ok() {
        let items = of.try_iter()?.map(|item| within(name, &item?, depth));
        return items.collect::<PyResult<Vec<Value>>>().map(Value::Array);
    }
    // NumPy's scalars and arrays, and tensors.
    if of.hasattr("tolist")? {
        return within(name, &of.call_method0("tolist")?, depth);
    }
    if of.hasattr("__fspath__")? {
        return within(name, &of.call_method0("__fspath__")?, depth);
    }
    let kind = of.get_type();
    Err(PyTypeError::new_err(format!(
        "{name} cannot be {kind}; give a number, a str, a list, a dict or an array"
    )))
}
