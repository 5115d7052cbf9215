//! What a break does inside the object, as arrays.
//!
//! In: pieces, and names of drawings. Out: a dict of the arrays of `overlays.npz`, without a file.

use std::sync::Arc;

use kintsugi::{
    Engine,
    export::{NamedArray, Numbers},
};
use pyo3::{prelude::*, types::PyDict};

use crate::{arrays, errors, running};

/// The drawings of all breaks of `pieces`. Arrays of the second break have names that begin with `001/`, those of the third
/// with `002/`, and so on.
///
/// # Errors
/// `ParameterError` for a name that does not exist, and for a drawing that the break does not have; KeyboardInterrupt.
pub fn of_pieces<'py>(
    py: Python<'py>,
    pieces: &Arc<kintsugi::Pieces>,
    names: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let pieces = Arc::clone(pieces);
    let found = running::run(py, None, move |watcher| {
        pieces.overlays(&Engine::cores(), &names, watcher).map_err(errors::of)
    })?;
    let all = PyDict::new(py);
    for NamedArray { name, shape, numbers } in found {
        all.set_item(name, array(py, numbers, &shape)?)?;
    }
    Ok(all)
}

fn array<'py>(py: Python<'py>, numbers: Numbers, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    match numbers {
        Numbers::U8(list) => arrays::array(py, list, shape),
        Numbers::I32(list) => arrays::array(py, list, shape),
        Numbers::U32(list) => arrays::array(py, list, shape),
        Numbers::F32(list) => arrays::array(py, list, shape),
        Numbers::F64(list) => arrays::array(py, list, shape),
    }
}

/// Adds nothing: overlays are a method of pieces.
pub fn add_to(_: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
