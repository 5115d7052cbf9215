//! Reports without a command, which earlier versions and sweeps wrote: reconstructs the options of `kintsugi fracture`
//! from their parameters.

use std::fmt::Display;

use serde_json::Value;

use crate::{fracture::FractureParams, mesh::Up};

/// A command line in the making.
struct Options(Vec<String>);

impl Options {
    fn add(&mut self, option: &str, value: impl Display) {
        // One word, so that a negative number is not taken for an option.
        self.0.push(format!("{option}={value}"));
    }

    /// Appends a number or word of the report, unless it is missing or null.
    fn copy(&mut self, option: &str, value: &Value) {
        match value {
            Value::Null => {}
            Value::String(text) => self.add(option, text),
            other => self.add(option, other),
        }
    }

    /// Appends a list of numbers, unless it is empty.
    fn list(&mut self, option: &str, value: &Value) {
        let numbers: Vec<String> = value.as_array().into_iter().flatten().map(Value::to_string).collect();
        if !numbers.is_empty() {
            self.add(option, numbers.join(","));
        }
    }
}

/// The command line of `kintsugi fracture` without `--out`.
///
/// # Errors
/// What is missing.
pub fn arguments(report: &Value, up: Up) -> Result<Vec<String>, String> {
    let parameters = &report["parameters"];
    let file = report["input"]["file"].as_str().ok_or("it does not name the mesh that was broken")?;
    let mut options = Options(vec!["fracture".into(), file.into()]);
    for needed in ["level", "impact", "rng", "seeds"] {
        if parameters.get(needed).is_none() {
            return Err(format!(
                "its parameters lack {needed}; it was written by a version that cannot be repeated"
            ));
        }
    }
    if !up.is_y() {
        let name = serde_json::to_value(up).map_err(|e| e.to_string())?;
        options.copy("--up", &name);
    }
    options.copy("--level", &parameters["level"]);
    options.list("--impact", &parameters["impact"]["point"]);
    options.list("--direction", &parameters["impact"]["direction"]);
    options.copy("--method", &parameters["method"]);
    for (name, value) in parameters["options"].as_object().into_iter().flatten() {
        options.add("--option", format!("{name}={value}"));
    }
    options.copy("--pattern", &parameters["pattern"]);
    // The first of these present gives the number of seeds.
    let counts = parameters["counts"].as_array().is_some_and(|counts| !counts.is_empty());
    if !parameters["pieces"].is_null() {
        options.copy("--pieces", &parameters["pieces"]);
    } else if !parameters["seeds_file"].is_null() {
        options.copy("--seeds-file", &parameters["seeds_file"]);
    } else if counts {
        options.list("--counts", &parameters["counts"]);
    } else {
        options.copy("--seeds", &parameters["seeds"]);
    }
    options.list("--radii", &parameters["radii"]);
    options.list("--grain-axis", &parameters["grain_axis"]);
    options.copy("--rng", &parameters["rng"]);
    for row in FractureParams::rows().filter(|row| row.is_number() && !row.of.option.is_empty()) {
        let value = row.of.path.split('.').fold(parameters, |table, name| &table[name]);
        options.copy(&format!("--{}", row.of.option), value);
    }
    crack(&mut options, parameters);
    options.copy("--labelling", &parameters["labelling"]);
    options.list("--keep", &parameters["keep"]);
    smallest(&mut options, &parameters["smallest"]);
    let interior = &parameters["interior"];
    if let Some(material) = interior["material"].as_str() {
        let color = interior["color"].as_str().filter(|_| interior["follows"] == Value::Bool(false));
        options.add("--interior", color.map_or(material.to_owned(), |color| format!("{material}:{color}")));
    }
    options.copy("--generations", &parameters["generations"]);
    let formats: Vec<&str> =
        parameters["formats"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !formats.is_empty() {
        options.add("--format", formats.join(","));
        options.copy("--mesh", &report["meshes"]["kind"]);
    }
    Ok(options.0)
}

/// Appends the options of crack surfaces, unless they are planar.
fn crack(options: &mut Options, parameters: &Value) {
    options.copy("--surface", &parameters["surface"]);
    let crack = &parameters["crack"];
    if crack.is_null() {
        return;
    }
    let numbers = |of: &Value, names: &[&str]| {
        let all: Vec<String> = names.iter().map(|name| of[*name].to_string()).collect();
        all.join(",")
    };
    options.copy("--offset", &crack["offset"]);
    if crack["noise"].is_object() {
        options.add("--noise", numbers(&crack["noise"], &["amplitude", "frequency", "octaves"]));
    }
    if parameters["surface"] != "dusty" {
        // Dusty surfaces have no sides to decide and no points to displace, and the command rejects these options.
        options.copy("--sides", &crack["sides"]);
        if crack["displacement"].is_object() {
            options.add("--displacement", numbers(&crack["displacement"], &["face", "voxel"]));
        }
    } else if crack["dusty"].is_object() {
        options.add("--dust", numbers(&crack["dusty"], &["width", "irregularity"]));
    }
}

fn smallest(options: &mut Options, rule: &Value) {
    let Some(fraction) = rule["fraction"].as_f64() else { return };
    let size = match fraction > 0.0 {
        true => format!("{}%", fraction * 100.0),
        false => rule["voxels"].to_string(),
    };
    options.add("--smallest", format!("{size},{}", rule["rule"].as_str().unwrap_or("merge")));
}
