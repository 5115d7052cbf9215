//! Tables 2 and 3: counts and times of the five scenes. The published ones stand in tables of their own.

use serde_json::Value;

use super::{
    super::{
        entry::{Made, NOTHING, Table, number, range},
        work::Work,
    },
    plays::{ALL, Play, play},
    published,
};
use crate::cli::CliError;

/// What stands below every table of times and counts.
pub const DIFFERS: [&str; 3] = [
    "Published times are of one core of an Intel i7-2600 at 3.4 GHz and of the paper's own objects, ours of the machine in \
     the head of the page and of other objects. Each table says how costs are spread over the parts; a ratio of the two \
     would say nothing, so there is none.",
    "Published bodies are meshes with 224 to 5,870 points; here every cell of the physics level has a point, so more points \
     collide. Contacts are also put out for points that meet within the step. Built-in shapes are made after the paper's \
     descriptions, since its meshes are not published.",
    "The response is `impulse`, a projected Gauss-Seidel solver of velocities with friction; the paper's is an LCP of \
     velocities in a library.",
];

/// Fragments that all breaks of a play made, by its report.
#[must_use]
pub fn fragments(report: &Value) -> Option<f64> {
    let breaks = report.get("breaks")?.as_array()?;
    Some(breaks.iter().filter_map(|one| one.get("parts")?.as_f64()).sum())
}

/// Surface leaves of the bodies at the start, and of those that never broke.
fn leaves(report: &Value) -> Option<[f64; 2]> {
    let bodies = report.get("bodies")?.as_array()?;
    let broken: Vec<u64> =
        report.get("breaks")?.as_array()?.iter().filter_map(|one| one.get("body")?.as_u64()).collect();
    let leaves_of = |body: &Value| body.get("shape")?.get("leaves")?.as_f64();
    let (mut before, mut after) = (0.0, 0.0);
    for body in bodies {
        let count = leaves_of(body).unwrap_or_default();
        if body.get("parent").is_none_or(Value::is_null) {
            before += count;
        }
        let is_left = body.get("body").and_then(Value::as_u64).is_none_or(|number| !broken.contains(&number));
        after += if is_left { count } else { 0.0 };
    }
    Some([before, after])
}

fn plays(work: &mut Work<'_>) -> Result<Vec<Play>, CliError> {
    ALL.into_iter().map(|staged| play(work, staged)).collect()
}

/// Table 2.
pub fn counts(work: &mut Work<'_>) -> Result<Made, CliError> {
    let heads = ["scene", "surface leaves before / after", "fragments", "contacts", "points near"];
    let heads = [&heads[..], &["points inside"]].concat();
    let mut table = Table::new("Counts here: average (greatest)", &heads);
    let mut made = Made::default();
    for played in plays(work)? {
        let report = played.report(work)?;
        table.row([
            played.staged.name.to_owned(),
            leaves(&report).map_or_else(
                || NOTHING.to_owned(),
                |[before, after]| format!("{} / {}", number(Some(before), 0), number(Some(after), 0)),
            ),
            number(fragments(&report), 0),
            range(played.range("contacts"), 0),
            range(played.range("near_points"), 0),
            range(played.range("points_inside"), 0),
        ]);
        made.notes.extend(played.differs);
    }
    let note = "Bodies are octrees without triangles: leaves of their surface, cracks included, are counted where the paper \
                counts triangles. Each scene was played by the figure that shows it, where that figure was made in the same run.";
    Ok(made.table(table).table(published::counts()).note(note).notes(DIFFERS))
}

/// Table 3.
pub fn times(work: &mut Work<'_>) -> Result<Made, CliError> {
    let heads = ["scene", "time step", "total", "finding contacts", "answering them and all else"];
    let heads = [&heads[..], &["update, greatest", "fracture, greatest"]].concat();
    let mut table = Table::new("Times of a step here, ms: average (greatest)", &heads);
    let mut made = Made::default();
    for played in plays(work)? {
        let greatest = |column: &str| played.range(column).map(|[_, greatest]| greatest);
        let dt = played.report(work)?.pointer("/settings/dt").and_then(Value::as_f64);
        table.row([
            played.staged.name.to_owned(),
            number(dt.map(|dt| dt * 1e3), 0),
            range(played.range("step_ms"), 2),
            range(played.range("finding_ms"), 2),
            range(played.range("answering_ms"), 2),
            number(greatest("following_ms"), 2),
            number(greatest("fracture_ms"), 2),
        ]);
        made.notes.extend(played.differs);
    }
    let note = "Finding contacts includes making fields and trees of bodies that come near another for the first time, which the \
                paper does beforehand; the greatest steps are those in which that happens.";
    Ok(made.table(table).table(published::times()).note(note).notes(DIFFERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_broke_counts_before_and_its_parts_count_after() {
        let report = serde_json::json!({
            "bodies": [
                { "body": 0, "parent": null, "shape": { "leaves": 100 } },
                { "body": 1, "parent": null, "shape": { "leaves": 10 } },
                { "body": 2, "parent": 0, "shape": { "leaves": 70 } },
                { "body": 3, "parent": 0, "shape": { "leaves": 60 } },
            ],
            "breaks": [{ "body": 0, "parts": 2 }],
        });
        // Planted error to see this fail: count broken bodies after the breaks, too.
        assert_eq!(leaves(&report), Some([110.0, 140.0]));
        assert_eq!(fragments(&report), Some(2.0));
        assert_eq!(fragments(&Value::Null), None);
    }
}
