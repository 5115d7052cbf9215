//! The table `[dataset]` of a job file.
//!
//! In: a TOML table. Out: [`Options`], every one with a default; a name that is not known or a value that cannot be meant
//! is refused in one line.

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::{cli::sweep::jobs::MOST_JOBS, export::MeshKind};

/// Most points of a piece or a break.
const MOST_POINTS: u32 = 1_000_000;
/// Folders of the set that no category may have the name of.
pub const OWN_FOLDERS: [&str; 2] = ["arrays", "data_split"];
/// How far the three shares of a split may be from 1 together.
const ROUNDING: f64 = 1e-6;

/// How a data set is made, beside its jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The category: the first part of every path.
    pub name: String,
    /// Breaks of each mesh, level and combination of the grid, with the random seeds 1, 2, ...; `None`: as `rng` says.
    pub breaks: Option<u64>,
    /// Where objects are hit.
    pub impact: Blow,
    /// Points of each piece; of each break with `per_area`.
    pub points: u32,
    /// Whether `points` are shared out over the pieces of a break by their areas.
    pub per_area: bool,
    /// What is written of each break.
    pub keep: Vec<Keep>,
    /// Kind of the pieces' meshes; `None`: the object's own triangles where they can be cut, else smooth ones.
    pub mesh: Option<MeshKind>,
    /// Format of the mesh files.
    pub format: MeshFormat,
    /// Shares of the objects.
    pub split: Split,
    /// Whether each piece gets a random rotation about its centre.
    pub start_pose: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: "everyday".into(),
            breaks: None,
            impact: Blow::Surface,
            points: 1000,
            per_area: false,
            keep: vec![Keep::Points, Keep::Meshes],
            mesh: None,
            format: MeshFormat::Obj,
            split: Split::default(),
            start_pose: true,
        }
    }
}

/// Where objects are hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Blow {
    /// Where a job names no point: at one that the random seed draws, even over the surface, along the inward normal.
    Surface,
    /// As the job says.
    Job,
}

/// What is written of a break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Points on the surfaces of the pieces.
    Points,
    /// A mesh file for each piece.
    Meshes,
    /// `voxels.npz`, as `kintsugi fracture` writes it.
    Voxels,
    /// `report.json`, as `kintsugi fracture` writes it.
    Report,
    /// For each point on a crack the nearest point of the piece beyond.
    Correspondences,
}

/// Format of the mesh files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MeshFormat {
    /// Wavefront, as text.
    Obj,
    /// PLY, binary.
    Ply,
}

impl MeshFormat {
    /// Ending of its files.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Obj => "obj",
            Self::Ply => "ply",
        }
    }
}

/// Names of the parts of a set, in the order of [`Split`].
pub const PARTS: [&str; 3] = ["train", "val", "test"];

/// Shares of the objects in the three parts of a set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Split {
    /// To learn from.
    pub train: f64,
    /// To choose by while learning.
    pub val: f64,
    /// To measure on.
    pub test: f64,
}

impl Default for Split {
    fn default() -> Self {
        Self { train: 0.8, val: 0.1, test: 0.1 }
    }
}

impl Split {
    /// The part of an object, for a number of it in [0, 1).
    #[must_use]
    pub fn part(&self, number: f64) -> &'static str {
        if number < self.train {
            PARTS[0]
        } else if number < self.train + self.val || self.test <= 0.0 {
            PARTS[1]
        } else {
            PARTS[2]
        }
    }
}

impl Options {
    /// The options of a table; without one all defaults.
    ///
    /// # Errors
    /// A line that says what is wrong.
    pub fn read(table: Option<Table>) -> Result<Self, String> {
        let mut options = Self::deserialize(Value::Table(table.unwrap_or_default()))
            .map_err(|e| format!("[dataset]: {}", e.message().replace('\n', " ")))?;
        options.keep.sort_unstable();
        options.keep.dedup();
        options.problem().map_or(Ok(options), |why| Err(format!("[dataset]: {why}")))
    }

    fn problem(&self) -> Option<String> {
        let Split { train, val, test } = self.split;
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(plain) {
            return Some("name may have 1 to 64 letters, digits, - and _".into());
        }
        if OWN_FOLDERS.contains(&self.name.as_str()) {
            return Some(format!("name is {}, which is a folder of every set; give another name", self.name));
        }
        if self.breaks.is_some_and(|breaks| !(1..=MOST_JOBS as u64).contains(&breaks)) {
            return Some(format!("breaks must be from 1 to {MOST_JOBS}"));
        }
        if self.points > MOST_POINTS {
            return Some(format!("points is {}; at most {MOST_POINTS} are possible", self.points));
        }
        if self.keeps(Keep::Correspondences) && !self.has_points() {
            return Some(
                "correspondences are between points; keep points, too, and give points above 0".into(),
            );
        }
        let all_shares = [train, val, test].into_iter().all(is_share);
        if !all_shares || (train + val + test - 1.0).abs() > ROUNDING {
            return Some(
                "the shares train, val and test of split must be from 0 to 1, and 1 together".into(),
            );
        }
        None
    }

    /// Whether this is written of each break.
    #[must_use]
    pub fn keeps(&self, what: Keep) -> bool {
        self.keep.contains(&what)
    }

    /// Whether points are sampled.
    #[must_use]
    pub fn has_points(&self) -> bool {
        self.keeps(Keep::Points) && self.points > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Options, String> {
        Options::read(Some(toml::from_str(text).unwrap()))
    }

    #[test]
    fn an_option_that_is_not_given_has_its_default() {
        let none = Options::read(None).unwrap();
        assert_eq!(none, Options::default());
        assert_eq!(of("").unwrap(), none);
        assert!(none.has_points() && none.keeps(Keep::Meshes) && !none.keeps(Keep::Voxels));
        let some = of(
            "name = 'jars'\nbreaks = 7\nimpact = 'job'\nkeep = ['report', 'points', 'points']\nmesh = 'smooth'\n\
             format = 'ply'\nsplit = { train = 1, val = 0, test = 0 }\nstart_pose = false\n",
        )
        .unwrap();
        assert_eq!((some.breaks, some.impact, some.mesh), (Some(7), Blow::Job, Some(MeshKind::Smooth)));
        assert_eq!(some.keep, [Keep::Points, Keep::Report]);
        let matched = of("keep = ['correspondences', 'points']").unwrap();
        assert!(matched.keeps(Keep::Correspondences) && !none.keeps(Keep::Correspondences));
        assert!(!of("points = 0").unwrap().has_points());
        assert!(!of("keep = ['meshes']").unwrap().has_points());
    }

    #[test]
    fn what_cannot_be_meant_is_refused_in_one_line() {
        for (text, part) in [
            ("pionts = 3", "unknown field `pionts`"),
            ("name = 'a/b'", "letters, digits"),
            ("name = ''", "letters, digits"),
            ("name = 'arrays'", "another name"),
            ("breaks = 0", "breaks must be"),
            ("points = 2000000", "at most"),
            ("keep = ['glb']", "glb"),
            ("keep = ['meshes', 'correspondences']", "keep points, too"),
            ("keep = ['points', 'correspondences']\npoints = 0", "points above 0"),
            ("mesh = 'cubes'", "cubes"),
            ("split = { train = 0.9 }", "1 together"),
            ("split = { train = 1.5, val = -0.5, test = 0.0 }", "1 together"),
            ("split = { train = nan }", "1 together"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.starts_with("[dataset]: ") && error.contains(part), "{text}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn the_parts_have_their_shares_of_the_numbers() {
        let split = Split { train: 0.5, val: 0.25, test: 0.25 };
        let parts: Vec<&str> = (0..8).map(|k| split.part(f64::from(k) / 8.0)).collect();
        assert_eq!(parts, ["train", "train", "train", "train", "val", "val", "test", "test"]);
        let rest = Split { train: 0.9, val: 0.1, test: 0.0 };
        assert_eq!(
            rest.part(1.0 - f64::EPSILON),
            "val",
            "a part without a share gets nothing of the rounding"
        );
    }
}
