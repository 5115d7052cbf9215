//! A row of a sweep's table: all numbers and words of a report, by their path in the report.
//!
//! In: a report. Out: cells. Nested objects give dotted names such as `counts.pieces`. A point is three columns (`.x`,
//! `.y`, `.z`); other lists are one cell, as JSON. The list of pieces, which is as long as there are pieces, is summed
//! up.

use serde::Serialize;
use serde_json::Value;

use super::{
    jobs::Job,
    table::{ERROR, Row},
};
use crate::export::{FractureReport, ParameterReport};

/// Lists of three numbers that are a point or a direction.
const POINTS: [&str; 5] = ["point", "direction", "grain_axis", "bounds_low", "bounds_high"];
/// Parts of a report that are left out or have columns of their own.
const ELSEWHERE: [&str; 4] = ["input", "pieces", "broken_again", "provenance"];

/// The row of a finished job.
pub fn of_report(job: &Job, report: &FractureReport) -> Row {
    let mut row = Row::new();
    let Ok(Value::Object(mut parts)) = serde_json::to_value(report) else { return row };
    pieces(&mut row, parts.get("pieces"));
    ELSEWHERE.iter().for_each(|part| drop(parts.remove(*part)));
    let solved = parts.remove("solved");
    if let Some(first) = solved.as_ref().and_then(|all| all.get(0)) {
        flatten(&mut row, "solved", "", first);
    }
    if let Some(Value::Array(checks)) = parts.remove("checks") {
        take_checks(&mut row, &checks);
    }
    for (name, value) in &parts {
        flatten(&mut row, name, name, value);
    }
    name_job(&mut row, job);
    row
}

/// Adds the checks of a break; one that does not hold makes the job a failed one.
fn take_checks(row: &mut Row, checks: &[Value]) {
    let failed = checks.iter().filter(|check| check["ok"] != Value::Bool(true));
    let failed: Vec<&str> = failed.map(|check| check["name"].as_str().unwrap_or("unnamed")).collect();
    row.insert("checks.all_hold".into(), failed.is_empty().to_string());
    // The figures stay in the row: they say how wrong the pieces are.
    if !failed.is_empty() {
        row.insert(ERROR.into(), format!("its checks do not hold: {}", failed.join(", ")));
    }
    for check in checks {
        let name = format!("checks.{}", check["name"].as_str().unwrap_or("unnamed"));
        flatten(row, &format!("{name}.ok"), "", &check["ok"]);
        flatten(row, &name, "", &check["figures"]);
    }
}

/// The row of a failed job: its parameters, and why it failed.
pub fn of_failure(job: &Job, why: &str) -> Row {
    let mut row = Row::new();
    add(&mut row, "parameters", &ParameterReport::of(&job.params, job.level));
    // The impact is unknown, since the object was not read.
    row.retain(|name, _| !name.starts_with("parameters.impact."));
    row.insert("parameters.generations".into(), job.how.generations().to_string());
    row.insert(ERROR.into(), why.to_owned());
    name_job(&mut row, job);
    row
}

fn name_job(row: &mut Row, job: &Job) {
    row.insert("mesh".into(), job.mesh.clone());
    add(row, "parameters.up", &job.how.up());
    let measures = job.how.measures();
    add(row, "parameters.units", &measures.units);
    add(row, "parameters.voxel_size", &measures.voxel_size);
}

/// Adds a value under a name.
fn add(row: &mut Row, name: &str, value: &impl Serialize) {
    if let Ok(value) = serde_json::to_value(value) {
        flatten(row, name, "", &value);
    }
}

/// `own` is the last part of `name`.
fn flatten(row: &mut Row, name: &str, own: &str, value: &Value) {
    let cell = match value {
        Value::Null => return,
        Value::Object(inner) => {
            for (own, value) in inner {
                flatten(row, &format!("{name}.{own}"), own, value);
            }
            return;
        }
        Value::Array(point) if POINTS.contains(&own) && point.len() == 3 => {
            for (axis, value) in ["x", "y", "z"].iter().zip(point) {
                flatten(row, &format!("{name}.{axis}"), "", value);
            }
            return;
        }
        Value::String(text) => text.clone(),
        // Zeros lose their sign, as in the report file.
        Value::Number(number) if number.as_f64() == Some(0.0) => {
            number.to_string().trim_start_matches('-').to_owned()
        }
        other => other.to_string(),
    };
    row.insert(name.to_owned(), cell);
}

/// Distribution of the pieces' sizes: voxels and mass of the largest, the median and the smallest piece.
fn pieces(row: &mut Row, pieces: Option<&Value>) {
    let Some(Value::Array(pieces)) = pieces else { return };
    let (Some(largest), Some(smallest)) = (pieces.first(), pieces.last()) else { return };
    // The pieces are sorted by size.
    for (which, piece) in
        [("largest", largest), ("median", &pieces[pieces.len() / 2]), ("smallest", smallest)]
    {
        for what in ["voxels", "volume", "mass"] {
            flatten(row, &format!("pieces.{which}_{what}"), "", &piece[what]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_break_whose_checks_do_not_hold_is_a_failed_job() {
        let of = |ok: bool| {
            let check = |name: &str, ok: bool| json!({ "name": name, "ok": ok, "figures": { "error": 0.5 } });
            let checks = vec![check("mass", true), check("volume", ok)];
            let mut row = Row::new();
            take_checks(&mut row, &checks);
            row
        };
        assert_eq!((of(true).get(ERROR), of(true)["checks.all_hold"].as_str()), (None, "true"));
        let wrong = of(false);
        assert_eq!(
            (wrong["checks.all_hold"].as_str(), wrong["checks.volume.error"].as_str()),
            ("false", "0.5")
        );
        assert_eq!(wrong[ERROR], "its checks do not hold: volume");
    }

    #[test]
    fn points_are_three_columns_and_lists_one() {
        let mut row = Row::new();
        let value = json!({
            "impact": { "point": [1.5, 2, -3], "direction": [0, 0, -1] }, "radii": [0.1, 0.2, 0.3], "keep": [],
            "local": null, "surface": "rough", "crack": { "noise": { "octaves": 2 } }, "closed": true,
        });
        flatten(&mut row, "parameters", "", &value);
        let cells: Vec<String> = row.iter().map(|(name, cell)| format!("{name}={cell}")).collect();
        assert_eq!(
            cells,
            [
                "parameters.closed=true",
                "parameters.crack.noise.octaves=2",
                "parameters.impact.direction.x=0",
                "parameters.impact.direction.y=0",
                "parameters.impact.direction.z=-1",
                "parameters.impact.point.x=1.5",
                "parameters.impact.point.y=2",
                "parameters.impact.point.z=-3",
                "parameters.keep=[]",
                "parameters.radii=[0.1,0.2,0.3]",
                "parameters.surface=rough",
            ]
        );
    }
}
