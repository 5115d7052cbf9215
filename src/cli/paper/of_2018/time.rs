//! The time of a fracture, which section 6 states as at most 50 ms up to level 9.

use crate::cli::{
    CliError,
    paper::{
        entry::{Made, NOTHING, Table, number},
        svg::{Axis, Mark, Plot, Series},
        work::Work,
    },
};

/// The published bound and the levels that it is stated for.
const BOUND: [&str; 2] = ["50", "up to 9"];

/// The time by level and surface.
pub fn of_levels(work: &mut Work<'_>) -> Result<Made, CliError> {
    let (levels, repeat) = work.pick(("7,8,9", "5"), ("5,6", "1"));
    let heads = ["surface", "level", "leaves of the pieces", "a fracture, ms"];
    let mut table = Table::new("A whole fracture of the built-in vase, 90 seeds, median", &heads);
    let mut series = Vec::new();
    for surface in ["rough", "dusty"] {
        let out = format!("{surface}.json");
        let words = ["bench", "builtin:vase", "--surface", surface, "--level", levels, "--only", "fracture"];
        work.run(&[&words[..], &["--repeat", repeat, "--json", &out]].concat())?;
        let json = work.json(&out)?;
        let mut points = Vec::new();
        for one in json.as_array().into_iter().flatten() {
            let total =
                one["table_1"].as_array().into_iter().flatten().find(|stage| stage["column"] == "Total");
            let ms = total.and_then(|stage| stage["ms"].as_f64());
            let level = one["level"].as_u64().unwrap_or(0);
            let leaves =
                one["counts"]["fbs"].as_u64().map_or(NOTHING.to_owned(), |leaves| leaves.to_string());
            table.row([surface.to_owned(), level.to_string(), leaves, number(ms, 1)]);
            points.extend(ms.map(|ms| (level as f64, ms)));
        }
        series.push(Series::new(surface, points).drawn(Mark::Both));
    }
    let plot = Plot {
        title: "Time of a whole fracture".into(),
        x: Axis::whole("octree level"),
        y: Axis::log("time, ms"),
        series,
    };
    work.write("time.svg", &plot.svg())?;
    let mut published = Table::new(
        "The paper's bound, published",
        &["levels", "a fracture of any of its tests, ms, at most"],
    );
    let [bound, levels] = BOUND;
    published.row([levels, bound]);
    let note = "The paper states one bound for all of its tests, without naming their objects or seeds, on a GeForce GTX \
                Titan Black. The bound is a time of other objects on another machine, so neither is divided by the other.";
    Ok(Made::picture("time.svg", "Time by octree level, for rough and dusty cracks.")
        .table(table)
        .table(published)
        .note(note))
}
