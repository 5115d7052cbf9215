//! Results as text: one table each, several side by side, and CSV.

use std::fmt::Write as _;

use super::{Results, samples::Row};
use crate::{
    export::InputReport,
    fracture::{FractureCounts, Surface},
    scene::cell_not_run,
};

/// Name of the crack surface.
fn surface(results: &Results) -> &'static str {
    match results.surface {
        Surface::Planar => "planar",
        Surface::Rough => "rough",
        Surface::Dusty => "dusty",
    }
}

fn transition_level(results: &Results) -> Option<u32> {
    results.crack.and_then(|crack| crack.transition_level)
}

/// The table of one object on one backend.
pub fn table(results: &Results) -> String {
    let mut text = String::new();
    let Results { name, level, seeds, rng, source_nodes, piece_nodes, .. } = results;
    let InputReport { file, triangles, .. } = &results.input;
    let FractureCounts { source_leaves, crack_voxels, fbs, cells, islands, pieces, .. } = &results.counts;
    let cracks = surface(results);
    let transition =
        transition_level(results).map_or(String::new(), |level| format!(", transition level {level}"));
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}, {} CPU threads\n{name} ({file}): {triangles} triangles, level {level}, {seeds} seeds, random seed {rng}, \
         {cracks}{transition}\nsource leaves {source_leaves}, crack voxels {crack_voxels}, FBS with copies {fbs}, cells {cells}, \
         islands {islands}, pieces {pieces}, nodes {source_nodes} -> {piece_nodes}",
        results.ran_on.adapter, results.cpu_threads
    );
    if results.gpu_peak_bytes > 0 {
        let _ = writeln!(
            text,
            "GPU buffers in a fracture: {:.0} MB at most, the source's octree included",
            results.gpu_peak_bytes as f64 * 1e-6
        );
    }
    if results.primary_mrays_per_s > 0.0 {
        let _ = writeln!(text, "primary rays: {:.1} million a second", results.primary_mrays_per_s);
    }
    for rays in &results.rays {
        let _ = writeln!(
            text,
            "first hits at a field of view of {} degrees: {:.1} million rays a second, {:.0} % hit",
            rays.field_of_view,
            rays.mrays_per_s,
            100.0 * rays.hits
        );
    }
    let _ =
        writeln!(text, "\n{:<44} {:>10} {:>10} {:>10} {:>5}", "stage", "median ms", "least", "most", "runs");
    for row in &results.stages {
        let _ = writeln!(
            text,
            "{:<44} {:>10.3} {:>10.3} {:>10.3} {:>5}",
            row.stage, row.median_ms, row.least_ms, row.most_ms, row.runs
        );
    }
    if !results.traffic.is_empty() {
        let _ = writeln!(
            text,
            "\nthe device copies {:.1} GB a second, read and written\n{:<44} {:>6} {:>10} {:>9} {:>9} {:>9} {:>9}",
            results.copy_bytes_per_s * 1e-9,
            "a run on the device",
            "waits",
            "dispatches",
            "MB up",
            "MB down",
            "MB moved",
            "memory ms"
        );
        for part in &results.traffic {
            let mb = |bytes: u64| bytes as f64 * 1e-6;
            let t = &part.traffic;
            let _ = writeln!(
                text,
                "{:<44} {:>6} {:>10} {:>9.2} {:>9.2} {:>9.1} {:>9.3}",
                part.stage,
                t.waits,
                t.dispatches,
                mb(t.bytes_up),
                mb(t.bytes_down),
                mb(t.bytes_bound),
                part.memory_ms
            );
        }
    }
    let _ = writeln!(text, "\n{:<44} {:>10} {:>10}", "as in Table 1 (2016)", "ms", "paper");
    for column in &results.table_1 {
        let paper = column.paper_ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1}"));
        let _ = writeln!(text, "{:<44} {:>10.3} {paper:>10}  {}", column.column, column.ms, column.how);
    }
    text
}

/// Medians and counts of several results, one column each.
pub fn side_by_side(all: &[Results]) -> String {
    let mut text = String::new();
    let mut row = |name: &str, cell: &dyn Fn(&Results) -> String| {
        let cells: String = all.iter().map(|results| format!(" {:>12}", cell(results))).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<44}{cells}");
    };
    row("object", &|r| r.name.chars().take(12).collect());
    row("run on", &|r| r.ran_on.compute.to_owned());
    row("level", &|r| r.level.to_string());
    row("source leaves", &|r| r.counts.source_leaves.to_string());
    row("crack voxels", &|r| r.counts.crack_voxels.to_string());
    row("FBS with copies", &|r| r.counts.fbs.to_string());
    row("pieces", &|r| r.counts.pieces.to_string());
    row("nodes of all pieces", &|r| r.piece_nodes.to_string());
    row("GPU buffers in a fracture, MB", &|r| format!("{:.0}", r.gpu_peak_bytes as f64 * 1e-6));
    row("primary rays, million/s", &|r| format!("{:.1}", r.primary_mrays_per_s));
    for stage in stage_names(all) {
        row(&format!("{stage}, ms"), &|r| {
            let found = r.stages.iter().find(|s| s.stage == stage);
            found.map_or("-".into(), |s| format!("{:.1}", s.median_ms))
        });
    }
    text
}

fn stage_names(all: &[Results]) -> Vec<&str> {
    let mut stages: Vec<&str> = Vec::new();
    for stage in all.iter().flat_map(|results| &results.stages) {
        if !stages.contains(&stage.stage.as_str()) {
            stages.push(&stage.stage);
        }
    }
    stages
}

/// One line per stage and result.
pub fn csv(all: &[Results]) -> String {
    let mut text = String::from(
        "object,file,level,seeds,rng,compute,adapter,stage,median_ms,least_ms,most_ms,runs,surface,transition_level\n",
    );
    // RFC 4180: a field with a comma, quote or line end is quoted.
    let field = |value: &str| {
        let value = cell_not_run(value);
        match value.contains([',', '"', '\n']) {
            true => format!("\"{}\"", value.replace('"', "\"\"")),
            false => value.into_owned(),
        }
    };
    for results in all {
        let Results { level, seeds, rng, ran_on, .. } = results;
        let [name, file, adapter] =
            [&results.name, &results.input.file, &ran_on.adapter].map(|text| field(text));
        let of_all = format!("{name},{file},{level},{seeds},{rng},{},{adapter}", ran_on.compute);
        let transition = transition_level(results).map_or(String::new(), |level| level.to_string());
        let cracks = format!("{},{transition}", surface(results));
        for row in &results.stages {
            // Writing to a string cannot fail.
            let Row { stage, median_ms, least_ms, most_ms, runs } = row;
            let stage = field(stage);
            let _ = writeln!(text, "{of_all},{stage},{median_ms},{least_ms},{most_ms},{runs},{cracks}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{compute::RanOn, fracture::crack::CrackShape, provenance::Provenance};

    fn results(level: u32, stages: &[(&str, f64)]) -> Results {
        Results {
            version: "",
            provenance: Provenance::default(),
            ran_on: RanOn { compute: "cpu", adapter: "CPU, 2 threads".into() },
            cpu_threads: 1,
            name: "a \"box\"".into(),
            input: InputReport { file: String::new(), vertices: 8, triangles: 12, warnings: Vec::new() },
            level,
            seeds: 9,
            rng: 1,
            surface: Surface::Rough,
            crack: Some(CrackShape { transition_level: Some(3), ..CrackShape::default() }),
            counts: FractureCounts { fbs: u64::from(level) * 100, ..FractureCounts::default() },
            source_nodes: 0,
            piece_nodes: 0,
            gpu_peak_bytes: 3_400_000,
            primary_mrays_per_s: 0.0,
            rays: Vec::new(),
            copy_bytes_per_s: 0.0,
            traffic: Vec::new(),
            table_1: Vec::new(),
            stages: stages
                .iter()
                .map(|(stage, ms)| Row {
                    stage: (*stage).to_owned(),
                    median_ms: *ms,
                    least_ms: *ms,
                    most_ms: *ms,
                    runs: 1,
                })
                .collect(),
        }
    }

    #[test]
    fn results_stand_side_by_side() {
        let all = [results(4, &[("traverse", 1.5)]), results(5, &[("traverse", 2.25), ("split", 3.0)])];
        let text = side_by_side(&all);
        let cells = |name: &str| -> Vec<&str> {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line[44..].split_whitespace().collect()
        };
        assert_eq!(cells("FBS with copies"), ["400", "500"]);
        assert_eq!(cells("run on"), ["cpu", "cpu"]);
        assert_eq!(cells("traverse, ms"), ["1.5", "2.2"]);
        assert_eq!(cells("split, ms"), ["-", "3.0"]);
        assert_eq!(cells("GPU buffers"), ["3", "3"]);
    }

    #[test]
    fn a_name_that_a_spreadsheet_would_run_is_quoted() {
        let mut one = results(4, &[("@sum", -1.5)]);
        "=1+1,2".clone_into(&mut one.name);
        "-x.obj".clone_into(&mut one.input.file);
        let text = csv(&[one]);
        let line = text.lines().nth(1).unwrap();
        assert!(line.starts_with("\"'=1+1,2\",'-x.obj,4,9,1,cpu,"), "{line}");
        assert!(line.contains(",'@sum,-1.5,-1.5,"), "{line}");
    }

    #[test]
    fn csv_has_a_line_a_stage_and_quotes_what_must_be() {
        let text = csv(&[results(4, &[("fracture, wall clock", 1.5)])]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with(",surface,transition_level") && lines[1].ends_with(",rough,3"), "{text}");
        assert!(
            lines[1]
                .starts_with("\"a \"\"box\"\"\",,4,9,1,cpu,\"CPU, 2 threads\",\"fracture, wall clock\",1.5")
        );
    }
}
