//! "Voronoi Fracture and Destruction", which describes Bullet's demo: a convex object cut plane by plane.
//!
//! In: built-in shapes. Out: the document's sketch of the planes of one cell, a picture of a shatter, and a table of
//! cells, times and checks. The document prints no figures to compare with.

#[cfg(feature = "papers")]
mod sketch;

#[cfg(feature = "papers")]
use sketch::sketch;

use serde_json::Value;

use super::{
    entry::{Entry, Made, Of, Table, number},
    work::Work,
};
use crate::cli::CliError;

const OF: Of = Of("bullet");

pub(super) const ENTRIES: &[Entry] = &[
    OF.by("sketch", "The planes of one cell among five points", sketch),
    OF.by("shatter", "A box in shards", shatter),
    OF.by("table", "Cells, times and checks", table),
];

/// What a build without kintsugi-papers says of the sketch, which needs its cells.
#[cfg(not(feature = "papers"))]
fn sketch(_: &mut Work<'_>) -> Result<Made, CliError> {
    Err(CliError::Outcome(format!("there is no method planes{}", crate::registry::LEFT_OUT)))
}

/// Why the method has no option for the document's collision margin.
const MARGIN: &str = "The document shrinks each shard by Bullet's collision margin, a skin that the engine adds to every \
                      hull again. Hulls have no skin here: shards meet at their own faces. A shrunken shard would have \
                      less mass than its share of the object, which the check of mass refuses, and no face in common \
                      with a neighbour, by which bonds, kept cells and touching pieces are found. So the method has no \
                      margin.";

/// A picture of shards.
fn shatter(work: &mut Work<'_>) -> Result<Made, CliError> {
    let (seeds, size) = (work.pick("60", "12"), work.pick("960x720", "320x240"));
    work.run_line(&format!(
        "render builtin:box --method planes --pattern uniform --seeds {seeds} --explode 0.35 \
         --color-by piece --size {size} --out shards.png"
    ))?;
    Ok(Made::picture("shards.png", format!("A box in {seeds} shards, moved apart.")).note(MARGIN))
}

/// The stages of the method, as `compare` names them.
const STAGES: [&str; 3] = ["planes of the mesh", "shards", "surfaces"];

/// A table of cells and times, and one of the checks of a report.
fn table(work: &mut Work<'_>) -> Result<Made, CliError> {
    let repeat = work.pick("5", "1");
    let columns: Vec<&str> = ["points", "shards", "closed", "relative error of the volume"]
        .into_iter()
        .chain(["planes of the mesh, ms", "shards, ms", "surfaces, ms", "all but voxels, ms"])
        .collect();
    let mut times = Table::new("A box by the number of points", &columns);
    for points in ["10", "40", "100"] {
        let file = format!("shards-{points}.json");
        work.run_line(&format!(
            "compare builtin:box --methods planes --pattern uniform --seeds {points} --repeat \
             {repeat} --json {file}"
        ))?;
        let read = work.json(&file)?;
        let of = |path: &str| read.pointer(&format!("/methods/0/{path}")).and_then(Value::as_f64);
        let stages = STAGES.map(|stage| of(&format!("stages_ms/{stage}")));
        let all: f64 = stages.iter().flatten().sum();
        let error = of("volume_error").map_or_else(|| number(None, 0), |error| format!("{error:.1e}"));
        let mut cells = vec![points.to_owned(), number(of("pieces"), 0), number(of("closed"), 0), error];
        cells.extend(stages.map(|ms| number(ms, 2)));
        cells.push(number(Some(all), 2));
        times.row(cells);
    }
    work.run_line("fracture builtin:box --method planes --pattern uniform --seeds 40 --out pieces")?;
    let report = work.json("pieces/report.json")?;
    let mut checks = Table::new("Checks of a shatter into 40", &["check", "holds"]);
    for check in report.get("checks").and_then(Value::as_array).into_iter().flatten() {
        let name = check.get("name").and_then(Value::as_str).unwrap_or_default().replace('_', " ");
        let holds = check.get("ok").and_then(Value::as_bool) == Some(true);
        checks.row([name, if holds { "yes" } else { "no" }.to_owned()]);
    }
    let note = "The document intersects all triples of planes and leaves the faces to a hull library; here edges are cut by \
                one plane after the other, and the stop rule is the document's. Each shard has volume, centre and inertia; \
                the octree that other stages need of a shard is not counted.";
    Ok(Made::default().table(times).table(checks).note(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sketch_and_the_shatter_are_there() {
        let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.figure).collect();
        // Planted error to see this fail: leave out an entry.
        assert_eq!(names, ["sketch", "shatter", "table"]);
    }
}
