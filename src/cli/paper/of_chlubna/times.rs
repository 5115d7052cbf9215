//! Figures 14 and 15: times of cells by the number of sites, and shares of the stages.
//!
//! In: the paper's icosphere of 42 vertices. Out: a plot, stacked bars and tables of `bench` and `compare`.

use serde_json::Value;

use super::{
    super::{
        entry::{Made, NOTHING, Table, number, ratio},
        svg::{Axis, Bars, Mark, Plot, Series},
        work::Work,
    },
    meshes::icosphere,
};
use crate::cli::CliError;

/// The two ways of finding neighbours, as `bench` names them.
const WAYS: [&str; 2] = ["linear scan", "sphere tree"];
/// The mesh's file.
const FILE: &str = "icosphere.obj";

/// The number of sites and the way that a stage of `bench` names.
fn measured(stage: &str) -> Option<(u32, &str)> {
    let (count, way) = stage.strip_prefix("cells of ")?.split_once(" sites, ")?;
    Some((count.parse().ok()?, way.strip_suffix(" (CPU)").unwrap_or(way)))
}

/// Points (sites, ms) of each way, by the stages of `bench --json`.
fn series(read: &Value) -> [Vec<(f64, f64)>; 2] {
    let stages = read.get("stages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    WAYS.map(|wanted| {
        let point = |stage: &Value| {
            let (count, way) = measured(stage.get("stage")?.as_str()?)?;
            let ms = stage.get("median_ms")?.as_f64()?;
            (way == wanted).then_some((f64::from(count), ms))
        };
        stages.iter().filter_map(point).collect()
    })
}

/// Figure 14.
pub fn neighbours(work: &mut Work<'_>) -> Result<Made, CliError> {
    work.write(FILE, &icosphere())?;
    let repeat = work.pick("5", "1");
    work.run_line(&format!(
        "bench {FILE} --level 5 --only neighbours --repeat {repeat} --json neighbours.json"
    ))?;
    let [scan, tree] = series(&work.json("neighbours.json")?);
    let mut table =
        Table::new("Time of all cells, ms", &["sites", "linear scan", "sphere tree", "scan divided by tree"]);
    for (sites, linear) in &scan {
        let by_tree = tree.iter().find(|(count, _)| count == sites).map(|(_, ms)| *ms);
        table.row([
            number(Some(*sites), 0),
            number(Some(*linear), 3),
            number(by_tree, 3),
            ratio(Some(*linear), by_tree),
        ]);
    }
    let plot = Plot {
        title: "All cells by the number of sites".into(),
        x: Axis::log("sites"),
        y: Axis::log("ms"),
        series: vec![
            Series::new(WAYS[0], scan).drawn(Mark::Both),
            Series::new(WAYS[1], tree).drawn(Mark::Both),
        ],
    };
    work.write("neighbours.svg", &plot.svg())?;
    let caption = "Cells of random sites in a cube on the cores, neighbours found by a scan over all sites and by the tree.";
    let note = "The paper measures a whole fracture of an icosphere on a GeForce GTX 550 Ti and prints a plot without \
                figures; here cells alone are measured, on the cores of the machine in the head of the page.";
    Ok(Made::picture("neighbours.svg", caption).table(table).note(note))
}

/// The stages that the paper has, too, in their order, as `compare` names them.
const STAGES: [&str; 4] = ["mesh", "cells", "split", "surfaces"];
/// The stage that the paper does not have.
const OWN_STAGE: &str = "voxels of the pieces";

/// Figure 15.
pub fn stages(work: &mut Work<'_>) -> Result<Made, CliError> {
    work.write(FILE, &icosphere())?;
    let repeat = work.pick("5", "1");
    let columns: Vec<&str> =
        ["sites"].into_iter().chain(STAGES).chain(["sum", "share of the cells", OWN_STAGE]).collect();
    let mut table = Table::new("Median times of the stages, ms", &columns);
    let mut rows = Vec::new();
    for sites in ["10", "30", "100"] {
        let file = format!("stages-{sites}.json");
        work.run_line(&format!(
            "compare {FILE} --methods box-cut --pattern inward --seeds {sites} --repeat {repeat} \
             --json {file}"
        ))?;
        let read = work.json(&file)?;
        let of = |stage: &str| read.pointer(&format!("/methods/0/stages_ms/{stage}")).and_then(Value::as_f64);
        let times = STAGES.map(|stage| of(stage).unwrap_or_default());
        let all: f64 = times.iter().sum();
        let share = of("cells").filter(|_| all > 0.0);
        let mut cells = vec![sites.to_owned()];
        cells.extend(times.map(|ms| number(Some(ms), 2)));
        cells.push(number(Some(all), 2));
        cells.push(share.map_or_else(|| NOTHING.to_owned(), |ms| format!("{:.0} %", 100.0 * ms / all)));
        cells.push(number(of(OWN_STAGE), 2));
        table.row(cells);
        rows.push((format!("{sites} sites"), times.to_vec()));
    }
    let bars = Bars {
        title: "Stages of a fracture of an icosphere".into(),
        unit: "ms".into(),
        parts: STAGES.map(String::from).to_vec(),
        rows,
    };
    work.write("stages.svg", &bars.svg())?;
    let note = "`cells` is box cutting with the search for neighbours, `split` cuts triangles and closes pieces, `surfaces` \
                dresses them. The last column is a stage that the paper does not have and that its shares leave out: \
                octrees, by which pieces are drawn and collide. The paper prints shares of its parts on a device as a chart \
                without figures.";
    Ok(Made::picture("stages.svg", "Medians of the stages, by the number of sites.").table(table).note(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stages_of_bench_are_points_of_two_series() {
        let read = serde_json::json!({ "stages": [
            { "stage": "voxelise (CPU)", "median_ms": 9.0 },
            { "stage": "cells of 10 sites, linear scan (CPU)", "median_ms": 0.5 },
            { "stage": "cells of 10 sites, sphere tree (CPU)", "median_ms": 0.75 },
            { "stage": "cells of 300 sites, linear scan (CPU)", "median_ms": 2.0 },
        ] });
        // Planted error to see this fail: swap both ways.
        assert_eq!(series(&read), [vec![(10.0, 0.5), (300.0, 2.0)], vec![(10.0, 0.75)]]);
        assert_eq!(series(&Value::Null), [vec![], vec![]]);
        assert_eq!(measured("cells of many sites, linear scan"), None);
    }
}
