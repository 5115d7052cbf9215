//! The parameters of a break by the names of scene files.
//!
//! In: keyword arguments. Out: what the library breaks by, or an exception that names the parameter. The names, ranges
//! and help of all parameters come from the library's table.

use std::path::Path;

use kintsugi::{
    Fracture,
    fracture::{FractureParams, methods},
    glam::DVec3,
    scene::read_seeds,
};
use pyo3::{prelude::*, types::PyDict};
use serde_json::{Map, Value, json};

use crate::{
    arrays,
    errors::parameter,
    json::{from_py, to_py},
};

/// Names of the fields of scene files, in the order of the table.
fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for row in FractureParams::rows() {
        let name = row.of.path.split('.').next().unwrap_or(row.of.path);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Sets the value of a path as `crack.noise.octaves` among tables.
fn put(tables: &mut Map<String, Value>, path: &str, value: Value) -> PyResult<()> {
    match path.split_once('.') {
        None => match tables.insert(path.to_owned(), value) {
            None => Ok(()),
            Some(_) => {
                Err(parameter(format!("{path} is given as a table and by names with dots; give it once")))
            }
        },
        Some((table, rest)) => {
            let inner = tables.entry(table).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(inner) = inner else {
                return Err(parameter(format!("{table} is no table; {rest} cannot be set in it")));
            };
            put(inner, rest, value)
        }
    }
}

/// The parameters that keyword arguments give; the others have their defaults. None is no value.
///
/// # Errors
/// `ParameterError`, which names the parameter; TypeError for a value that no parameter can have.
fn of_dict(given: Option<&Bound<'_, PyDict>>) -> PyResult<FractureParams> {
    let known = names();
    let mut tables = Map::new();
    for (path, value) in given.into_iter().flat_map(|given| given.iter()) {
        let path: String = path.extract()?;
        let name = path.split('.').next().unwrap_or(&path);
        if !known.contains(&name) {
            let list = known.join(", ");
            return Err(parameter(format!("there is no parameter {path}; there are {list}")));
        }
        if !value.is_none() {
            put(&mut tables, &path, from_py(&path, &value)?)?;
        }
    }
    // One by one, since an error about a value says nothing of the field that it is in.
    for (name, value) in &tables {
        let mut one = Map::new();
        one.insert(name.clone(), value.clone());
        serde_json::from_value::<FractureParams>(Value::Object(one))
            .map_err(|error| parameter(format!("{name}: {error}")))?;
    }
    serde_json::from_value(Value::Object(tables)).map_err(|error| parameter(error.to_string()))
}

/// Where the seeds of a break come from: their number, or points in units of the mesh.
fn with_seeds(how: Fracture, seeds: Option<&Bound<'_, PyAny>>) -> PyResult<Fracture> {
    let Some(seeds) = seeds.filter(|seeds| !seeds.is_none()) else { return Ok(how) };
    if let Ok(count) = seeds.extract::<i64>() {
        let count = u32::try_from(count);
        let count =
            count.map_err(|_| parameter(format!("seeds is {seeds}; it must be a whole number from 1 on")))?;
        return Ok(how.cells(count));
    }
    let points = arrays::points("seeds", seeds)?;
    if how.seeds.is_some() {
        return Err(parameter("seeds are given as points and by seeds_file; give one of them"));
    }
    Ok(how.seeds(points.into_iter().map(DVec3::from_array)))
}

/// How an object is to be broken, from the arguments of `Object.fracture`.
///
/// # Errors
/// `ParameterError`, which names the parameter; TypeError for a value of another type.
pub fn fracture(
    seeds: Option<&Bound<'_, PyAny>>,
    (impact, direction): (Option<&Bound<'_, PyAny>>, Option<&Bound<'_, PyAny>>),
    generations: u32,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<Fracture> {
    let params = of_dict(given)?;
    let source = match &params.seeds_file {
        Some(file) => Some(read_seeds(Path::new(file)).map_err(|error| parameter(error.message))?),
        None => None,
    };
    let how = with_seeds(Fracture { params, seeds: source, generations, ..Fracture::default() }, seeds)?;
    let impact = impact.map(|point| arrays::point("impact", point)).transpose()?;
    let direction = direction.map(|way| arrays::point("direction", way)).transpose()?;
    Ok(Fracture { impact, direction, ..how })
}

/// All parameters of a break, from the table that panels, commands and documents are made from.
///
/// Returns
/// -------
/// list of dict
///     Of each parameter: `name`, as `Object.fracture` takes it (a name with a dot is of a table: `crack.noise.octaves`
///     is `crack={"noise": {"octaves": 4}}`, or `**{"crack.noise.octaves": 4}`); `label`; `unit` ("" for none); `low`
///     and `high` (None for what is no number); `whole` (True for whole numbers); `default` (None where none is set);
///     `help`; `method` (None, or the method of which it is an option: `options={"voxel_level": 7}`).
#[pyfunction]
pub fn parameters(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let usual = FractureParams::default();
    let number = |value: f64, whole: bool| if whole { json!(value as i64) } else { json!(value) };
    let mut all = Vec::new();
    for row in FractureParams::rows() {
        let of = &row.of;
        let (low, high) = match row.is_number() {
            true => (number(of.range.0, of.whole), number(of.range.1, of.whole)),
            false => (Value::Null, Value::Null),
        };
        let help = if of.more.is_empty() { of.help.to_owned() } else { format!("{}; {}", of.help, of.more) };
        all.push(json!({
            "name": of.path, "label": of.label, "unit": of.unit.trim(), "low": low, "high": high, "whole": of.whole,
            "default": (row.read)(&usual), "help": help, "method": null,
        }));
    }
    for method in methods() {
        for option in method.options {
            all.push(json!({
                "name": format!("options.{}", option.name), "label": option.name, "unit": "",
                "low": number(option.range.0, option.whole), "high": number(option.range.1, option.whole),
                "whole": option.whole, "default": number(option.default, option.whole), "help": option.help,
                "method": method.name,
            }));
        }
    }
    to_py(py, &Value::Array(all))
}

/// Adds the function to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parameters, module)?)
}
