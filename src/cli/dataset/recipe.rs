//! `recipe.json`: what anybody makes the same set from.
//!
//! In: a job file, the contents of its meshes, the digest of each break. Out: a file of about 25 bytes a break, without
//! any mesh; and what a second run has to agree with.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::meshes::Contents;
use crate::{
    cli::{CliError, input::about},
    export::ExportError,
    files,
    provenance::{COMMIT, VERSION},
    scene::write_atomically,
};

/// The file in the folder of a set.
pub const FILE: &str = "recipe.json";
/// Size limit, bytes.
const LARGEST: u64 = 64 << 20;
/// Digits of a break's digest that a recipe has.
const DIGITS: usize = 16;

/// How a set is made, and what comes out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Version of the program that made the set.
    pub kintsugi: String,
    /// Commit of its sources.
    pub commit: String,
    /// Name of the job file, for messages.
    pub file: String,
    /// The job file's text.
    pub jobs: String,
    /// The meshes, in the order of the jobs.
    pub meshes: Vec<RecipeMesh>,
    /// The first digits of the digest of each break, by the number of its job; `None` for a failed one and for one of
    /// another shard.
    pub breaks: Vec<Option<String>>,
}

/// A mesh of a recipe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecipeMesh {
    /// The mesh as the job file names it.
    pub file: String,
    /// The contents of its file; `None` for a built-in shape.
    #[serde(flatten)]
    pub contents: Option<Contents>,
    /// Its triangles; `None` where it was not broken.
    pub triangles: Option<u64>,
}

impl Recipe {
    /// A recipe of this version.
    pub fn new(file: String, jobs: String, meshes: Vec<RecipeMesh>, breaks: Vec<Option<String>>) -> Self {
        Self { kintsugi: VERSION.to_owned(), commit: COMMIT.to_owned(), file, jobs, meshes, breaks }
    }

    /// Reads a recipe.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let bytes = files::read(path, LARGEST).map_err(|why| about(path, format!("the recipe {why}")))?;
        serde_json::from_slice(&bytes).map_err(|e| {
            about(path, format!("this is no recipe of a data set ({e}); `kintsugi dataset` writes {FILE}"))
        })
    }

    /// Writes it, with a line for each break.
    ///
    /// # Errors
    /// [`CliError::Export`].
    pub fn write(&self, path: &Path) -> Result<(), CliError> {
        let mut text = serde_json::to_string_pretty(self).map_err(|e| ExportError::write(path, e))?;
        text.push('\n');
        Ok(write_atomically(path, text.as_bytes()).map_err(|e| ExportError::write(path, e))?)
    }

    /// The contents of a mesh's file, as the job file names it.
    pub fn contents(&self, mesh: &str) -> Option<&Contents> {
        self.meshes.iter().find(|one| one.file == mesh)?.contents.as_ref()
    }

    /// Up to `most` jobs that have a digest, evenly chosen, ascending.
    pub fn some(&self, most: usize) -> Vec<usize> {
        let all: Vec<usize> = (0..self.breaks.len()).filter(|job| self.breaks[*job].is_some()).collect();
        let count = most.min(all.len());
        (0..count).map(|k| all[k * all.len() / count]).collect()
    }

    /// Whether a break of this digest is the one of the recipe; `None` where the recipe has none.
    pub fn agrees(&self, job: usize, digest: &str) -> Option<bool> {
        let own = self.breaks.get(job)?.as_deref()?;
        Some(shortened(digest) == Some(own))
    }

    /// Where a recipe was made by another version, a remark on that for messages.
    pub fn of_other_version(&self) -> String {
        if self.kintsugi == VERSION && self.commit == COMMIT {
            return String::new();
        }
        let Self { kintsugi, commit, .. } = self;
        format!("; the recipe is of version {kintsugi}, commit {commit}, this is {VERSION}, commit {COMMIT}")
    }
}

/// The digits of a digest that a recipe has.
pub fn shortened(digest: &str) -> Option<&str> {
    digest.get(..DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(breaks: &[Option<&str>]) -> Recipe {
        let mesh = |file: &str, contents| RecipeMesh { file: file.into(), contents, triangles: Some(12) };
        let contents = Contents { sha256: "ab".into(), bytes: 3 };
        let meshes = vec![mesh("a.obj", Some(contents)), mesh("builtin:box", None)];
        let breaks = breaks.iter().map(|digest| digest.map(str::to_owned)).collect();
        Recipe::new("jobs.toml".into(), "meshes = ['a.obj']\n".into(), meshes, breaks)
    }

    #[test]
    fn what_is_written_is_read_and_other_files_are_refused() {
        let path = std::env::temp_dir().join(format!("kintsugi-recipe-{}.json", std::process::id()));
        let written = recipe(&[Some("0123456789abcdef"), None]);
        written.write(&path).unwrap();
        let read = Recipe::read(&path).unwrap();
        assert_eq!(read, written);
        assert_eq!((read.contents("a.obj").unwrap().bytes, read.contents("builtin:box")), (3, None));
        assert_eq!(read.of_other_version(), "");
        std::fs::write(&path, "{}").unwrap();
        let error = Recipe::read(&path).unwrap_err().to_string();
        assert!(error.contains("no recipe") && !error.contains('\n'), "{error}");
        std::fs::remove_file(&path).unwrap();
        assert!(Recipe::read(&path).is_err());
    }

    #[test]
    fn breaks_are_chosen_evenly_among_those_that_have_a_digest() {
        let some = recipe(&[Some("aa"), None, Some("bb"), Some("cc"), None, Some("dd")]);
        assert_eq!((some.some(2), some.some(100), some.some(0)), (vec![0, 3], vec![0, 2, 3, 5], vec![]));
        assert_eq!(recipe(&[None, None]).some(5), Vec::<usize>::new());
    }

    #[test]
    fn a_break_agrees_by_the_first_digits() {
        let one = recipe(&[Some("0123456789abcdef"), None]);
        let digest = |last: &str| format!("0123456789abcde{last}{}", "0".repeat(48));
        assert_eq!(one.agrees(0, &digest("f")), Some(true));
        assert_eq!(one.agrees(0, &digest("e")), Some(false));
        assert_eq!((one.agrees(1, &digest("f")), one.agrees(7, &digest("f"))), (None, None));
        assert_eq!(one.agrees(0, "01"), Some(false));
    }
}
