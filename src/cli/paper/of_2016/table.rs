//! Table 1: times of the stages of a fracture, all rows in one table.

use serde_json::Value;

use crate::cli::{
    CliError,
    paper::{
        entry::{Made, NOTHING, Table, number, ratio},
        log::mean,
        work::Work,
    },
};

/// Columns of the paper's table, as `bench` names them, and as this table does.
const COLUMNS: [(&str, &str); 7] = [
    ("FBS extraction", "FBS extraction"),
    ("voxels sorting", "voxels sorting"),
    ("islands", "islands detection"),
    ("SVO building", "SVOs building"),
    ("internal nodes", "internal nodes detection"),
    ("readback", "readback"),
    ("Total", "total"),
];

/// A measurement by `bench`: one object at one level.
struct Measured {
    object: String,
    level: u64,
    seeds: u64,
    /// Of each of [`COLUMNS`]: ours and the published one, ms.
    ms: [(Option<f64>, Option<f64>); COLUMNS.len()],
}

impl Measured {
    fn of(value: &Value) -> Self {
        let whole = |key: &str| value[key].as_u64().unwrap_or(0);
        let stages = value["table_1"].as_array().map_or(&[][..], Vec::as_slice);
        let ms = COLUMNS.map(|(name, _)| {
            let stage = stages.iter().find(|stage| stage["column"] == name);
            let of = |key: &str| stage.and_then(|stage| stage[key].as_f64());
            (of("ms"), of("paper_ms"))
        });
        let object = value["input"]["file"].as_str().unwrap_or(NOTHING).to_owned();
        Self { object, level: whole("level"), seeds: whole("seeds"), ms }
    }

    /// The mean of several measurements of one kind of object.
    fn mean(of: &[Self]) -> Option<Self> {
        let first = of.first()?;
        let ms = std::array::from_fn(|column| {
            let cells = || of.iter().filter_map(|one| one.ms.get(column));
            (mean(cells().filter_map(|ms| ms.0)), mean(cells().filter_map(|ms| ms.1)))
        });
        Some(Self { object: first.object.clone(), level: first.level, seeds: first.seeds, ms })
    }

    /// Adds its lines: ours, and where the object is the paper's the published one and the ratio.
    fn add(&self, scene: &str, table: &mut Table) {
        let mut line = |what: &str, cells: Vec<String>| {
            let head = [scene, &self.object, &self.level.to_string(), &self.seeds.to_string(), what];
            table.row(head.into_iter().map(str::to_owned).chain(cells));
        };
        line("ours", self.ms.iter().map(|ms| number(ms.0, 1)).collect());
        if self.ms.iter().any(|ms| ms.1.is_some()) {
            line("published", self.ms.iter().map(|ms| number(ms.1, 1)).collect());
            line("ratio", self.ms.iter().map(|ms| ratio(ms.0, ms.1)).collect());
        }
    }
}

/// Table 1.
pub fn times(work: &mut Work<'_>) -> Result<Made, CliError> {
    let heads = ["scene", "object measured", "level", "seeds", "ms"];
    let heads: Vec<&str> = heads.into_iter().chain(COLUMNS.map(|(_, head)| head)).collect();
    let mut table = Table::new("Medians of the stages of a fracture, ms", &heads);
    let mut notes = Vec::new();
    let repeat = work.pick("5", "1");
    for name in ["bunny", "columns", "buddha", "dragons"] {
        let scene = work.scene(name)?;
        let out = format!("{name}.json");
        let mut words = vec!["bench", &scene.file, "--only", "fracture", "--repeat", repeat, "--json", &out];
        match (name, work.is_quick()) {
            ("bunny", false) => words.extend(["--level", "8,9,10"]),
            ("bunny", true) => words.extend(["--level", "5,6"]),
            (_, false) => {}
            (_, true) => words.extend(["--coarser", "4"]),
        }
        work.run(&words)?;
        let json = work.json(&out)?;
        let all: Vec<Measured> = match &json {
            Value::Array(all) => all.iter().map(Measured::of).collect(),
            one => vec![Measured::of(one)],
        };
        // Of the dragons the paper has a row each: their parameters differ.
        let rows = if name == "columns" { Vec::from_iter(Measured::mean(&all)) } else { all };
        rows.iter().for_each(|row| row.add(name, &mut table));
        notes.extend(scene.missing().map(|line| format!("{name}: {line}")));
    }
    notes.push(
        "The row of the columns is the mean over three columns. The paper's columns are not published, so no published \
         figure stands beside them."
            .to_owned(),
    );
    notes.push(
        "Each object is broken from the front. Sorting and the detection of internal nodes are not needed here: Morton \
         order is kept throughout, and the source's masks say which nodes are internal. The total is the wall clock of \
         the whole fracture with the way of the pieces to the cores, which the paper does not count."
            .to_owned(),
    );
    Ok(Made { tables: vec![table], notes, ..Made::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_lines_stand_beside_an_object_that_has_them_alone() {
        let json = |ms: f64, paper: Option<f64>| {
            let mut stage = serde_json::json!({ "column": "islands", "ms": ms });
            if let Some(paper) = paper {
                stage["paper_ms"] = paper.into();
            }
            serde_json::json!({ "level": 9, "seeds": 90, "input": { "file": "a.obj" }, "table_1": [stage] })
        };
        let mut table = Table::new("", &[]);
        Measured::of(&json(6.0, Some(3.0))).add("bunny", &mut table);
        assert_eq!(table.rows.len(), 3);
        // Scene, object, level, seeds, line; islands are the third column of the paper.
        assert_eq!([&table.rows[0][7], &table.rows[1][7], &table.rows[2][7]], ["6.0", "3.0", "2.00"]);
        let pair = [Measured::of(&json(6.0, None)), Measured::of(&json(8.0, None))];
        Measured::mean(&pair).unwrap().add("columns", &mut table);
        // Planted error to see this fail: add the published line without looking for a figure.
        assert_eq!(table.rows.len(), 4);
        assert_eq!(table.rows[3][..5], ["columns", "a.obj", "9", "90", "ours"]);
        assert_eq!(table.rows[3][7], "7.0");
        assert!(Measured::mean(&[]).is_none());
    }
}
