//! Tables 2 and 3: counts and times of the five scenes beside the published ones.

use serde_json::Value;

use super::{
    super::{
        entry::{Made, NOTHING, Table, number, ratio},
        work::Work,
    },
    plays::{ALL, Play, play},
};
use crate::cli::{CliError, contact_counts::Range};

/// What stands below every comparison of times and counts.
pub const DIFFERS: [&str; 3] = [
    "Published times are of one core of an Intel i7-2600 at 3.4 GHz; ours are of the machine in the head of the page. Both \
     columns say how costs are spread over the parts; their ratio compares two machines as well.",
    "Published bodies are meshes with 224 to 5,870 points; here every cell of the physics level has a point, so more points \
     collide. Contacts are also put out for points that meet within the step. Built-in shapes are made after the paper's \
     descriptions, since its meshes are not published.",
    "The response is `impulse`, a projected Gauss-Seidel solver of velocities with friction; the paper's is an LCP of \
     velocities in a library.",
];

/// Average and greatest, as the paper's tables print them.
#[must_use]
pub fn range(of: Option<Range>, decimals: usize) -> String {
    of.map_or_else(
        || NOTHING.to_owned(),
        |[average, greatest]| {
            format!("{} ({})", number(Some(average), decimals), number(Some(greatest), decimals))
        },
    )
}

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

/// Triangles of a scene before and after its fractures, table 2.
const TRIANGLES: [[u32; 2]; 5] =
    [[9_734, 17_622], [137_403, 435_068], [15_036, 40_750], [26_268, 45_762], [39_724, 51_752]];

fn plays(work: &mut Work<'_>) -> Result<Vec<Play>, CliError> {
    ALL.into_iter().map(|staged| play(work, staged)).collect()
}

/// Table 2.
pub fn counts(work: &mut Work<'_>) -> Result<Made, CliError> {
    let mut table = Table::new(
        "Counts: average (greatest)",
        &[
            "scene",
            "surface leaves before / after",
            "published triangles",
            "fragments",
            "published",
            "contacts",
            "published",
            "points near",
            "published",
            "points inside",
        ],
    );
    let mut made = Made::default();
    for (played, triangles) in plays(work)?.into_iter().zip(TRIANGLES) {
        let report = played.report(work)?;
        let paper = played.paper;
        let published = |of: Option<Range>| range(of, 0);
        table.row([
            played.staged.name.to_owned(),
            leaves(&report).map_or_else(
                || NOTHING.to_owned(),
                |[before, after]| format!("{} / {}", number(Some(before), 0), number(Some(after), 0)),
            ),
            paper.map_or_else(|| NOTHING.to_owned(), |_| format!("{} / {}", triangles[0], triangles[1])),
            number(fragments(&report), 0),
            number(paper.map(|paper| paper.fragments), 0),
            range(played.range("contacts"), 0),
            published(paper.map(|paper| paper.contacts)),
            range(played.range("near_points"), 0),
            published(paper.and_then(|paper| paper.points)),
            range(played.range("points_inside"), 0),
        ]);
        made.notes.extend(played.missing);
    }
    made.tables.push(table);
    made.notes.push(
        "Bodies are octrees without triangles, so leaves of their surface, cracks included, stand beside the published \
         triangles. Each scene was played by the figure that shows it, where that figure was made in the same run."
            .into(),
    );
    made.notes.extend(DIFFERS.map(String::from));
    Ok(made)
}

/// Table 3.
pub fn times(work: &mut Work<'_>) -> Result<Made, CliError> {
    let mut table = Table::new(
        "Times of a step, ms: average (greatest)",
        &[
            "scene",
            "time step",
            "total",
            "published",
            "ratio of averages",
            "finding contacts",
            "published",
            "answering them and all else",
            "published",
            "update, greatest",
            "published",
            "fracture, greatest",
            "published",
        ],
    );
    let mut made = Made::default();
    for played in plays(work)? {
        let paper = played.paper;
        let published = |of: Option<Range>| range(of, 2);
        let greatest = |column: &str| played.range(column).map(|[_, greatest]| greatest);
        let total = played.range("step_ms");
        let dt = played.report(work)?.pointer("/settings/dt").and_then(Value::as_f64);
        table.row([
            played.staged.name.to_owned(),
            number(dt.map(|dt| dt * 1e3), 0),
            range(total, 2),
            published(paper.map(|paper| paper.step_ms)),
            ratio(total.map(|[average, _]| average), paper.map(|paper| paper.step_ms[0])),
            range(played.range("finding_ms"), 2),
            published(paper.map(|paper| paper.finding_ms)),
            range(played.range("answering_ms"), 2),
            published(paper.map(|paper| paper.answering_ms)),
            number(greatest("following_ms"), 2),
            number(paper.map(|paper| paper.following_ms), 2),
            number(greatest("fracture_ms"), 2),
            number(paper.map(|paper| paper.fracture_ms), 2),
        ]);
        made.notes.extend(played.missing);
    }
    made.tables.push(table);
    made.notes.push(
        "Finding contacts includes making fields and trees of bodies that come near another for the first time, which the \
         paper does beforehand; the greatest steps are those in which that happens."
            .into(),
    );
    made.notes.extend(DIFFERS.map(String::from));
    Ok(made)
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

    #[test]
    fn an_average_and_a_greatest_value_are_one_text() {
        assert_eq!(range(Some([93.2, 463.0]), 0), "93 (463)");
        assert_eq!(range(None, 2), NOTHING);
    }
}
