//! Settings of a world, by the names that a scene file has at its top.
//!
//! In: keywords of a call. Out: settings; everything is checked as in a scene file.

use kintsugi::{
    WorldSettings,
    scene::{Scene, parse_scene},
};
use pyo3::{prelude::*, types::PyDict};
use serde_json::{Map, Value};

use crate::{errors, json};

/// Names of the settings.
const NAMES: [&str; 14] = [
    "gravity",
    "dt",
    "substeps",
    "floor",
    "floor_height",
    "walls",
    "contacts",
    "response",
    "sleeping",
    "field_level",
    "field_selection",
    "field_most_points",
    "field_epsilon",
    "penalty",
];

/// Settings that are given, the others as a scene has them that says nothing. `floor` may be a height (m), True, False, or
/// None for no floor.
///
/// # Errors
/// `ParameterError` for a name that does not exist, with those that do, and for a value out of range; TypeError.
pub fn of(given: Option<&Bound<'_, PyDict>>) -> PyResult<WorldSettings> {
    // Names of contact generators and responses may be those of the papers.
    kintsugi::papers::register();
    let mut all = Map::new();
    for (name, value) in given.into_iter().flat_map(|given| given.iter()) {
        let name: String = name.extract()?;
        if !NAMES.contains(&name.as_str()) {
            let text = format!("there is no setting `{name}`; there are {}", NAMES.join(", "));
            return Err(errors::parameter(text));
        }
        for (name, value) in settings_of(name.clone(), json::from_py(&name, &value)?) {
            // Alone first, so that the error says which setting it is about.
            let alone = Map::from_iter([(name.clone(), value.clone())]);
            scene_of(alone).map_err(|why| errors::parameter(format!("{name}: {why}")))?;
            all.insert(name, value);
        }
    }
    let scene = scene_of(all).map_err(|why| errors::parameter(why.to_string()))?;
    let checked = parse_scene(&scene.to_text(), "settings").map_err(|refused| {
        // A line of a file that the caller has not written.
        let text = refused.message.split_once(": ").map_or(refused.message.as_str(), |(_, what)| what);
        errors::parameter(text)
    })?;
    Ok(checked.world_settings())
}

fn scene_of(table: Map<String, Value>) -> Result<Scene, serde_json::Error> {
    serde_json::from_value(Value::Object(table))
}

/// What a keyword says, by names of a scene. None is as if the keyword were absent, but for the floor.
fn settings_of(name: String, value: Value) -> Vec<(String, Value)> {
    match (name == "floor", value) {
        (true, Value::Null) => vec![(name, Value::Bool(false))],
        (true, height @ Value::Number(_)) => {
            vec![(name, Value::Bool(true)), ("floor_height".to_owned(), height)]
        }
        (false, Value::Null) => Vec::new(),
        (_, value) => vec![(name, value)],
    }
}
