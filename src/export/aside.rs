//! A folder that is filled aside and put in its place when all of it is there.
//!
//! In: where results shall go. Out: those results, all of them or none: what is cancelled or fails leaves
//! nothing behind, and what an earlier run left under names of results that are not among these goes.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::ExportError;

/// Names of what exports write at the top of their folder.
const RESULTS: [&str; 12] = [
    "report.json",
    "voxels.npz",
    "overlays.npz",
    "overlays",
    "pieces.glb",
    "pieces.obj",
    "pieces.mtl",
    "ply",
    "pieces.usda",
    "pieces.vox",
    super::COLLISION_FILE,
    super::BONDS_FILE,
];

/// A folder that is being filled beside its place.
#[derive(Debug)]
pub struct Aside {
    target: PathBuf,
    staging: PathBuf,
    /// Folders that were made on the way, outermost first.
    made: Vec<PathBuf>,
    finished: bool,
}

impl Aside {
    /// Makes the folder that takes the files for `target`.
    ///
    /// # Errors
    /// [`ExportError::Write`] where no files can be written there.
    pub fn begin(target: &Path) -> Result<Self, ExportError> {
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
        // Inside a folder that is there: the one above may belong to somebody else.
        let beside = if target.is_dir() { &target } else { &parent };
        let staging = beside.join(format!(".{name}-being-written-{}", std::process::id()));
        let aside = Self { staging, target: target.clone(), made, finished: false };
        fs::create_dir_all(&parent).and_then(|()| fs::create_dir_all(&aside.staging)).map_err(failed)?;
        Ok(aside)
    }

    /// Where to write.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.staging
    }

    /// Puts everything in its place. What is there under the same names is replaced, what is there under other names of
    /// results goes, since it belongs to an earlier run; other files stay.
    ///
    /// # Errors
    /// [`ExportError::Write`]; what was there before is then there again.
    pub fn finish(mut self) -> Result<(), ExportError> {
        let moved =
            if self.target.is_dir() { self.replace() } else { fs::rename(&self.staging, &self.target) };
        moved.map_err(|e| ExportError::write(&self.target, e))?;
        self.finished = true;
        Ok(())
    }

    fn replace(&self) -> io::Result<()> {
        let old = self.staging.join(".before");
        let mut names: Vec<_> =
            fs::read_dir(&self.staging)?.map(|e| Ok(e?.file_name())).collect::<io::Result<_>>()?;
        names.sort();
        fs::create_dir(&old)?;
        for (done, name) in names.iter().enumerate() {
            let (new, there) = (self.staging.join(name), self.target.join(name));
            let set_aside = if there.exists() { fs::rename(&there, old.join(name)) } else { Ok(()) };
            if let Err(error) = set_aside.and_then(|()| fs::rename(&new, &there)) {
                for name in names[..=done].iter().rev() {
                    let there = self.target.join(name);
                    let was_there = old.join(name).exists();
                    // As far as it goes: the first error is the one to tell.
                    if there.exists() && (was_there || names[..done].contains(name)) {
                        let _ = fs::rename(&there, self.staging.join(name));
                    }
                    if was_there {
                        let _ = fs::rename(old.join(name), &there);
                    }
                }
                return Err(error);
            }
        }
        // Everything is in its place. What cannot be taken away now is no reason to undo that.
        for name in RESULTS.iter().filter(|name| !names.iter().any(|new| new == *name)) {
            let _ = fs::rename(self.target.join(name), old.join(name));
        }
        Ok(())
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // It may have been moved, and nothing can be told from here.
        let _ = fs::remove_dir_all(&self.staging);
        if !self.finished {
            // Only those that hold nothing go.
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
        assert_eq!(names(&target.join("ply")), ["second"]);
        assert_eq!(fs::read_to_string(target.join("pieces.glb")).unwrap(), "second");
        fs::remove_dir_all(home).unwrap();
    }

    #[test]
    fn results_of_an_earlier_run_go_and_what_is_somebody_s_own_stays() {
        let home = folder("stale");
        let run = |files: &[&str]| {
            let aside = Aside::begin(&home.join("out")).unwrap();
            files.iter().for_each(|name| fs::write(aside.path().join(name), name).unwrap());
            aside.finish().unwrap();
        };
        run(&["report.json", "pieces.obj", "pieces.mtl", "voxels.npz"]);
        fs::create_dir(home.join("out/ply")).unwrap();
        fs::write(home.join("out/ply/piece_007.ply"), "old").unwrap();
        fs::write(home.join("out/notes.txt"), "mine").unwrap();
        run(&["report.json", "pieces.glb"]);
        assert_eq!(names(&home.join("out")), ["notes.txt", "pieces.glb", "report.json"]);
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
