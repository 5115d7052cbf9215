//! Atomic output folders: results are written to a temporary folder and moved into place once complete.
//!
//! In: the target folder. Out: all results there or none; a cancelled or failed run leaves nothing behind. Existing
//! files of the same names are replaced. Other files are deleted only if an earlier export wrote them, according to its
//! report; any other file in the folder is left alone.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use super::ExportError;

/// The report, whose field `files` lists what was written.
const REPORT: &str = "report.json";
/// Size limit of a report, bytes.
const LARGEST_REPORT: u64 = 1 << 30;
/// New name of an existing file that has the name of a result but was not written by an export, for names that users
/// choose themselves.
const KEPT: [(&str, &str); 1] = [("scene.toml", "scene.before.toml")];

/// A folder being filled beside its target.
#[derive(Debug)]
pub struct Aside {
    target: PathBuf,
    /// The target as the caller named it, for messages.
    named: PathBuf,
    staging: PathBuf,
    /// Parent folders that were created, outermost first.
    made: Vec<PathBuf>,
    finished: bool,
}

impl Aside {
    /// Creates the temporary folder for `target`.
    ///
    /// # Errors
    /// [`ExportError::Write`] where no files can be written there.
    pub fn begin(target: &Path) -> Result<Self, ExportError> {
        let named = target.to_owned();
        let failed = |e: io::Error| ExportError::write(target, e);
        let target = std::path::absolute(target).map_err(failed)?;
        if target.exists() && !target.is_dir() {
            return Err(ExportError::write(&target, "there is a file of that name"));
        }
        let parent = target.parent().unwrap_or(Path::new("/")).to_owned();
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let mut made: Vec<PathBuf> = parent.ancestors().take_while(missing).map(Path::to_owned).collect();
        made.reverse();
        let name = target.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        // Inside an existing target: its parent may belong to somebody else.
        let beside = if target.is_dir() { &target } else { &parent };
        let staging = beside.join(format!(".{name}-being-written-{}", std::process::id()));
        let aside = Self { staging, target: target.clone(), named, made, finished: false };
        fs::create_dir_all(&parent).and_then(|()| fs::create_dir_all(&aside.staging)).map_err(failed)?;
        Ok(aside)
    }

    /// Where to write the files.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.staging
    }

    /// An error about a file here, as an error about the place that the file was to have.
    #[must_use]
    pub fn moved(&self, error: ExportError) -> ExportError {
        error.moved(&self.staging, &self.named)
    }

    /// A note that names files here, with the names that they will have.
    #[must_use]
    pub fn moved_note(&self, note: &str) -> String {
        note.replace(&self.staging.display().to_string(), &self.named.display().to_string())
    }

    /// Files written so far, as paths below the folder with slashes, ascending.
    ///
    /// # Errors
    /// [`ExportError::Write`] where the folder cannot be read.
    pub fn files(&self) -> Result<Vec<String>, ExportError> {
        let mut files = Vec::new();
        files_below(&self.staging, "", &mut files).map_err(|e| ExportError::write(&self.staging, e))?;
        files.sort();
        Ok(files)
    }

    /// Moves all files into place. Files of the same names are replaced, and other files listed in the report of an
    /// earlier export are deleted.
    ///
    /// # Errors
    /// [`ExportError::Write`]; the previous files are then restored.
    pub fn finish(mut self) -> Result<(), ExportError> {
        let moved =
            if self.target.is_dir() { self.replace() } else { fs::rename(&self.staging, &self.target) };
        moved.map_err(|e| ExportError::write(&self.target, e))?;
        self.finished = true;
        Ok(())
    }

    fn replace(&self) -> io::Result<()> {
        let mut new = Vec::new();
        files_below(&self.staging, "", &mut new)?;
        new.sort();
        let earlier = written_before(&self.target.join(REPORT));
        let old = self.staging.join(".before");
        let mut moves = Moves::default();
        let done = new.iter().try_for_each(|name| {
            let there = self.target.join(name);
            let kept = KEPT.iter().find(|(own, _)| name == own && !earlier.contains(*own));
            // A file kept earlier is not overwritten.
            let kept = kept.map(|(_, kept)| self.target.join(kept)).filter(|kept| !kept.exists());
            if there.is_dir() {
                return Err(io::Error::other(format!("there is a folder called {name}")));
            }
            if there.exists() {
                moves.make(&there, &kept.unwrap_or_else(|| old.join(name)))?;
            }
            moves.make(&self.staging.join(name), &there)
        });
        if let Err(error) = done {
            moves.undo();
            return Err(error);
        }
        // All files are in place; an error while deleting old files does not undo that.
        let new: BTreeSet<String> = new.into_iter().collect();
        for name in earlier.difference(&new) {
            let path = self.target.join(name);
            let _ = fs::remove_file(&path);
            // Removes only empty folders.
            for folder in path.ancestors().skip(1).take_while(|folder| **folder != self.target) {
                let _ = fs::remove_dir(folder);
            }
        }
        Ok(())
    }
}

/// Lists the files below a folder, as paths with slashes after `before`.
fn files_below(folder: &Path, before: &str, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            files_below(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.push(name);
        }
    }
    Ok(())
}

/// The files that a report lists; empty if it is no report of an export.
fn written_before(report: &Path) -> BTreeSet<String> {
    let Ok(bytes) = crate::files::read(report, LARGEST_REPORT) else { return BTreeSet::new() };
    let Ok(report) = serde_json::from_slice::<serde_json::Value>(&bytes) else { return BTreeSet::new() };
    let is_ours = report.get("version").is_some() && report.get("provenance").is_some();
    let files = report["files"].as_array().filter(|_| is_ours).into_iter().flatten();
    // A path that leads out of the folder is ignored.
    let is_below = |name: &&str| {
        let mut parts = Path::new(*name).components();
        !name.is_empty() && parts.all(|part| matches!(part, std::path::Component::Normal(_)))
    };
    files.filter_map(|name| name.as_str()).filter(is_below).map(str::to_owned).collect()
}

/// Files that were moved, so that the moves can be undone.
#[derive(Default)]
struct Moves(Vec<[PathBuf; 2]>);

impl Moves {
    fn make(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::rename(from, to)?;
        self.0.push([from.to_owned(), to.to_owned()]);
        Ok(())
    }

    /// Continues after an error: the first error is the one to report.
    fn undo(self) {
        for [from, to] in self.0.into_iter().rev() {
            let _ = fs::rename(to, from);
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // The folder may have been moved already; an error here cannot be reported.
        let _ = fs::remove_dir_all(&self.staging);
        if !self.finished {
            // Removes only empty folders.
            self.made.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("kintsugi-aside-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn names(path: &Path) -> Vec<String> {
        let mut all: Vec<_> =
            fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    }

    #[test]
    fn what_is_dropped_leaves_nothing() {
        let home = folder("dropped");
        let aside = Aside::begin(&home.join("a/b/c")).unwrap();
        fs::write(aside.path().join("x"), "half").unwrap();
        drop(aside);
        assert_eq!(names(&home), Vec::<String>::new());
        fs::remove_dir_all(home).unwrap();
    }

    #[test]
    fn a_new_folder_is_there_at_once_and_an_old_one_keeps_its_other_files() {
        let home = folder("finished");
        let target = home.join("a/pieces");
        for round in ["first", "second"] {
            let aside = Aside::begin(&target).unwrap();
            fs::write(aside.path().join("pieces.glb"), round).unwrap();
            fs::create_dir(aside.path().join("ply")).unwrap();
            fs::write(aside.path().join("ply").join(round), round).unwrap();
            aside.finish().unwrap();
            fs::write(target.join("own.txt"), "mine").unwrap();
        }
        assert_eq!(names(&target), ["own.txt", "pieces.glb", "ply"]);
        // No report listed the second file.
        assert_eq!(names(&target.join("ply")), ["first", "second"]);
        assert_eq!(fs::read_to_string(target.join("pieces.glb")).unwrap(), "second");
        fs::remove_dir_all(home).unwrap();
    }

    /// Writes files and a report that lists them, as an export does.
    fn run(folder: &Path, files: &[&str]) {
        let aside = Aside::begin(folder).unwrap();
        for name in files {
            let path = aside.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        let written: Vec<String> = aside.files().unwrap();
        let report = serde_json::json!({ "version": "1", "provenance": {}, "files": written });
        fs::write(aside.path().join(REPORT), report.to_string()).unwrap();
        aside.finish().unwrap();
    }

    #[test]
    fn results_of_an_earlier_run_go_and_what_is_somebody_s_own_stays() {
        let home = folder("stale");
        let out = home.join("out");
        run(&out, &["pieces.obj", "pieces.mtl", "voxels.npz", "ply/piece_000.ply", "overlays/a.png"]);
        fs::write(out.join("ply/scan.ply"), "mine").unwrap();
        fs::write(out.join("pieces.usda"), "mine").unwrap();
        fs::write(out.join("notes.txt"), "mine").unwrap();
        run(&out, &["pieces.glb"]);
        assert_eq!(names(&out), ["notes.txt", "pieces.glb", "pieces.usda", "ply", "report.json"]);
        assert_eq!(names(&out.join("ply")), ["scan.ply"]);
        // A path that leads out of the folder is ignored.
        fs::write(home.join("other.txt"), "mine").unwrap();
        let list = ["../other.txt", "/etc/hostname", "", "notes.txt/../../other.txt"];
        let report = serde_json::json!({ "version": "1", "provenance": {}, "files": list });
        fs::write(out.join(REPORT), report.to_string()).unwrap();
        run(&out, &["pieces.glb"]);
        assert!(home.join("other.txt").exists() && out.join("notes.txt").exists());
        fs::remove_dir_all(home).unwrap();
    }

    #[test]
    fn a_scene_of_somebody_s_own_is_kept() {
        let home = folder("scene");
        let read = |name: &str| fs::read_to_string(home.join(name)).unwrap();
        fs::write(home.join("scene.toml"), "mine").unwrap();
        run(&home, &["scene.toml"]);
        assert_eq!((&*read("scene.toml"), &*read("scene.before.toml")), ("scene.toml", "mine"));
        // The next export replaces the first export's file, not the kept one.
        run(&home, &["scene.toml", "pieces.glb"]);
        assert_eq!((&*read("scene.toml"), &*read("scene.before.toml")), ("scene.toml", "mine"));
        fs::remove_dir_all(home).unwrap();
    }

    #[test]
    fn where_one_file_cannot_be_put_all_is_as_before() {
        let home = folder("undone");
        fs::write(home.join("a.txt"), "before").unwrap();
        fs::create_dir_all(home.join("b.txt/in_the_way")).unwrap();
        let aside = Aside::begin(&home).unwrap();
        fs::write(aside.path().join("a.txt"), "after").unwrap();
        fs::write(aside.path().join("b.txt"), "after").unwrap();
        let error = aside.finish().unwrap_err().to_string();
        assert!(error.contains("b.txt"), "{error}");
        assert_eq!(fs::read_to_string(home.join("a.txt")).unwrap(), "before");
        assert_eq!(names(&home), ["a.txt", "b.txt"]);
        fs::remove_dir_all(home).unwrap();
    }

    #[test]
    fn a_file_in_the_way_is_refused() {
        let home = folder("file");
        fs::write(home.join("taken"), "x").unwrap();
        let error = Aside::begin(&home.join("taken")).unwrap_err().to_string();
        assert!(error.contains("taken") && error.lines().count() == 1, "{error}");
        fs::remove_dir_all(home).unwrap();
    }
}
