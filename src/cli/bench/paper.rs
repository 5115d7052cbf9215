//! Table 1 of Domaradzki & Martyn 2016: its columns, the corresponding stages here, and its figures.

use super::samples::Samples;
use crate::{cli::paper::meshes::object_of, export::InputReport};

/// A column of the paper's table.
#[derive(serde::Serialize)]
pub struct Column {
    /// The paper's column title, or the stages that the paper lacks.
    pub column: &'static str,
    /// Time measured here, ms.
    pub ms: f64,
    /// The paper's time, if the object measured is that of the paper and the paper has it at this level with this number
    /// of seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper_ms: Option<f64>,
    /// The stages that the time sums up.
    pub how: &'static str,
}

/// One line of the paper's table: object, level and seeds, then the columns and their total, ms, on a GeForce GTX Titan
/// Black.
struct Line {
    /// The object, as the counts of its mesh tell it; `None` where the paper's mesh is not published.
    object: Option<&'static str>,
    level: u32,
    seeds: u32,
    ms: [f64; 6],
}

const LINES: [Line; 8] = [
    Line { object: Some("bunny"), level: 8, seeds: 90, ms: [2.5, 1.1, 2.7, 4.1, 2.5, 12.9] },
    Line { object: Some("bunny"), level: 9, seeds: 90, ms: [6.4, 2.5, 9.2, 5.9, 6.7, 30.7] },
    Line { object: Some("bunny"), level: 10, seeds: 90, ms: [21.0, 10.4, 40.1, 13.8, 25.5, 110.8] },
    Line { object: None, level: 10, seeds: 70, ms: [17.5, 9.5, 38.8, 11.8, 22.2, 99.8] },
    Line { object: Some("buddha"), level: 10, seeds: 40, ms: [5.1, 3.4, 12.9, 6.3, 17.6, 45.3] },
    Line { object: Some("dragon"), level: 9, seeds: 15, ms: [2.1, 1.7, 6.8, 4.5, 7.0, 22.1] },
    Line { object: Some("dragon"), level: 9, seeds: 35, ms: [2.5, 2.1, 7.3, 4.9, 7.7, 24.5] },
    Line { object: Some("dragon"), level: 9, seeds: 50, ms: [2.7, 2.2, 8.5, 5.4, 8.8, 27.6] },
];

/// The table's columns as measured. The paper's figures are found by the counts of the mesh: a scene keeps its name where
/// a built-in shape stands in for the paper's object.
pub fn table_1(samples: &Samples, input: &InputReport, level: u32, seeds: u32) -> Vec<Column> {
    let object = object_of(input.vertices, input.triangles);
    let is_of = |line: &&Line| {
        line.object.is_some() && (line.object, line.level, line.seeds) == (object, level, seeds)
    };
    let paper = LINES.iter().find(is_of);
    // An empty sum is -0.
    let sum = |stages: &[&str]| {
        stages.iter().map(|s| samples.median(&format!("fracture: {s}"))).fold(0.0, |sum, ms| sum + ms)
    };
    let column = |at: usize, column, stages: &[&str], how| Column {
        column,
        ms: sum(stages),
        paper_ms: paper.map(|line| line.ms[at]),
        how,
    };
    vec![
        column(
            0,
            "FBS extraction",
            &["traverse", "transition", "boundary set"],
            "traverse + transition (crack surfaces; on the CPU within traverse) + boundary set",
        ),
        column(1, "voxels sorting", &[], "not needed: Morton order is kept throughout"),
        column(2, "islands", &["islands"], "islands"),
        column(3, "SVO building", &["octrees", "split"], "octrees + split"),
        column(4, "internal nodes", &[], "inside FBS extraction: known from the source's masks"),
        Column {
            column: "readback",
            ms: sum(&["readback and masses (CPU)"]),
            paper_ms: None,
            how: "to the CPU, with masses; the paper does not count it",
        },
        Column {
            column: "Total",
            ms: samples.median("fracture, wall clock"),
            paper_ms: paper.map(|line| line.ms[5]),
            how: "wall clock of the whole fracture, readback included",
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(file: &str, vertices: usize, triangles: usize) -> InputReport {
        InputReport { file: file.to_owned(), vertices, triangles, warnings: Vec::new() }
    }

    #[test]
    fn the_papers_figures_stand_beside_the_papers_objects_alone() {
        let paper = |input: &InputReport, level, seeds| -> Vec<Option<f64>> {
            table_1(&Samples::default(), input, level, seeds).iter().map(|column| column.paper_ms).collect()
        };
        let bunny = input("any name.obj", 35_947, 69_451);
        let published = [Some(6.4), Some(2.5), Some(9.2), Some(5.9), Some(6.7), None, Some(30.7)];
        assert_eq!(paper(&bunny, 9, 90), published);
        assert_eq!(paper(&input("dragon_vrip_res3.ply", 22_998, 47_794), 9, 50)[6], Some(27.6));
        // Planted error to see this fail: find the line by the name of the scene or file.
        let statue = input("stanford-bunny.obj", 79_902, 159_808);
        let none = [paper(&bunny, 9, 91), paper(&statue, 9, 90), paper(&statue, 10, 70)].concat();
        assert!(none.iter().all(Option::is_none), "{none:?}");
    }

    #[test]
    fn every_stage_of_a_fracture_is_in_one_column() {
        let mut samples = Samples::default();
        let stages = [
            "traverse",
            "transition",
            "boundary set",
            "islands",
            "octrees",
            "split",
            "readback and masses (CPU)",
        ];
        for (k, stage) in stages.iter().enumerate() {
            samples.add(&format!("fracture: {stage}"), f64::from(1u32 << k));
        }
        let columns = table_1(&samples, &input("builtin:vase", 100, 200), 6, 9);
        let of: Vec<f64> = columns.iter().map(|column| column.ms).collect();
        assert_eq!(of, [7.0, 0.0, 8.0, 48.0, 0.0, 64.0, 0.0]);
        assert!(of.iter().all(|ms| ms.is_sign_positive()), "{of:?}");
    }

    /// The printed figures add up, which guards against typing errors.
    #[test]
    fn the_papers_columns_add_up() {
        for Line { object, level, ms, .. } in LINES {
            let sum: f64 = ms[..5].iter().sum();
            assert!((sum - ms[5]).abs() < 0.11, "{object:?} {level}: {sum} and {}", ms[5]);
        }
    }
}
