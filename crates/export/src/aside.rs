//! Results folders: results are written to a folder aside and put into place once complete.
//!
//! In: the target folder. Out: all results there or none; a cancelled, failed, killed or powerless run leaves the results
//! that were there. `.kintsugi-files.json` in the folder lists what the program wrote; results of an earlier run that are
//! still byte for byte what it says make room. Everything else is somebody's own: it stays, or is kept under a free name
//! where a result has its name.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use super::ExportError;
use crate::{
    disk::{
        Change, Disk, Kind, Lock, MANIFEST, Manifest, RealDisk, STAGING, UnderWay, carry_out, changing,
        clear_away_parts, files_below, flush_names, recover, remove_all, sweep_up,
    },
    provenance::VERSION,
};

/// Numbers the folders that this process fills.
static NEXT: AtomicU32 = AtomicU32::new(0);
/// How often, and after what pause, a run looks again while another one puts its results into the same folder.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(50);

/// A folder being filled beside its target.
pub struct Aside {
    disk: Arc<dyn Disk>,
    target: PathBuf,
    /// The target as the caller named it, for messages.
    named: PathBuf,
    /// Holds the lock and the new files.
    staging: PathBuf,
    new: PathBuf,
    /// Parent folders that were created, outermost first.
    made: Vec<PathBuf>,
    /// What the run reads, which no result may replace.
    inputs: Vec<PathBuf>,
    /// Files in the target that this run has put there before.
    belongs: Vec<String>,
    notes: Vec<String>,
    lock: Option<Lock>,
    under_way: Option<UnderWay>,
    finished: bool,
}

impl Aside {
    /// Creates the temporary folder for `target`. What an earlier run left there when it was broken off is put in order
    /// first.
    ///
    /// # Errors
    /// [`ExportError::Write`] where no files can be written there.
    pub fn begin(target: &Path) -> Result<Self, ExportError> {
        clear_away_parts(&target.join("any"));
        Self::begin_on(Arc::new(RealDisk), target)
    }

    /// The same on any disk.
    ///
    /// # Errors
    /// As [`Aside::begin`].
    pub fn begin_on(disk: Arc<dyn Disk>, target: &Path) -> Result<Self, ExportError> {
        let failed = |e: io::Error| ExportError::write(target, e);
        let named = target.to_owned();
        let target = std::path::absolute(target).map_err(failed)?;
        let there = is_folder(&*disk, &target).map_err(failed)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let own = format!("{}-{number}", std::process::id());
        let parent = target.parent().unwrap_or(Path::new("/")).to_owned();
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let beginning = format!(".{name}-being-written-");
        let made = if there { Vec::new() } else { make_parents(&*disk, &parent).map_err(failed)? };
        // Where the parent cannot be read, nothing was left in it.
        let mut notes = sweep_up(&*disk, &parent, &|name| name.starts_with(&beginning)).unwrap_or_default();
        let staging = if there {
            notes.extend(recover(&*disk, &target).map_err(failed)?);
            target.join(format!("{STAGING}{own}"))
        } else {
            parent.join(format!("{beginning}{own}"))
        };
        let under_way = Some(UnderWay::at(&staging));
        let new = staging.join("new");
        let (inputs, belongs) = (Vec::new(), Vec::new());
        let mut aside = Self {
            disk,
            target,
            named,
            staging,
            new,
            made,
            inputs,
            belongs,
            notes,
            lock: None,
            under_way,
            finished: false,
        };
        aside.make().map_err(|e| ExportError::write(&aside.named, e))?;
        Ok(aside)
    }

    fn make(&mut self) -> io::Result<()> {
        self.disk.make_folder(&self.staging)?;
        self.lock = self.disk.lock(&self.staging.join("lock"))?;
        self.disk.make_folder(&self.new)
    }

    /// Rejects a run that would replace what it reads: `names` are files and folders that it is going to write. Whatever
    /// it writes, inputs are neither replaced nor taken away.
    ///
    /// # Errors
    /// [`ExportError::Replaces`].
    pub fn spare<'a>(
        &mut self,
        inputs: impl IntoIterator<Item = PathBuf>,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), ExportError> {
        // An input that is not there, like a built-in shape, cannot be replaced.
        self.inputs.extend(inputs.into_iter().filter_map(|input| input.canonicalize().ok()));
        names.into_iter().try_for_each(|name| self.replaces_no_input(name))
    }

    fn replaces_no_input(&self, name: &str) -> Result<(), ExportError> {
        let Ok(place) = self.target.join(name).canonicalize() else { return Ok(()) };
        let is_in = |input: &&PathBuf| input.starts_with(&place);
        match self.inputs.iter().find(is_in) {
            Some(_) => Err(ExportError::Replaces { path: self.named.join(name) }),
            None => Ok(()),
        }
    }

    /// Where to write the files.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.new
    }

    /// An error about a file here, as an error about the place that the file was to have.
    #[must_use]
    pub fn moved(&self, error: ExportError) -> ExportError {
        error.moved(&self.new, &self.named)
    }

    /// A note that names files here, with the names that they will have.
    #[must_use]
    pub fn moved_note(&self, note: &str) -> String {
        note.replace(&self.new.display().to_string(), &self.named.display().to_string())
    }

    /// Files written so far, as paths below the folder with slashes, ascending.
    ///
    /// # Errors
    /// [`ExportError::Write`] where the folder cannot be read.
    pub fn files(&self) -> Result<Vec<String>, ExportError> {
        files_below(&*self.disk, &self.new).map_err(|e| ExportError::write(&self.named, e))
    }

    /// Says that these files in the target, which this run has put there before and has written on since, belong to its
    /// results.
    pub fn has_put(&mut self, names: impl IntoIterator<Item = String>) {
        self.belongs.extend(names);
    }

    /// Puts all files into place, as one change. Results of an earlier run make room; what is somebody's own stays, or is
    /// kept under a free name. Lines for the user say what was kept.
    ///
    /// # Errors
    /// [`ExportError::Write`] and [`ExportError::Replaces`]; the folder is then as it was, or the next run there finishes
    /// the change.
    pub fn finish(mut self) -> Result<Vec<String>, ExportError> {
        let _changing = changing();
        let new = self.files()?;
        new.iter().try_for_each(|name| self.replaces_no_input(name))?;
        self.put(&new).map_err(|e| ExportError::write(&self.named, e))?;
        let mut notes = std::mem::take(&mut self.notes);
        notes.dedup();
        Ok(notes)
    }

    fn put(&mut self, new: &[String]) -> io::Result<()> {
        if is_folder(&*self.disk, &self.target)? {
            return self.put_beside_others(new);
        }
        self.seal(new, &Manifest::default())?;
        self.disk.rename(&self.new, &self.target)?;
        self.finished = true;
        let parent = self.target.parent().unwrap_or(Path::new("/"));
        flush_names(&*self.disk, parent)
    }

    fn put_beside_others(&mut self, new: &[String]) -> io::Result<()> {
        self.recover_others()?;
        let name = self.staging.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = if name.starts_with(STAGING) { name } else { self.move_into_target()? };
        let mut take = Manifest::read(&*self.disk, &self.target)?;
        take.files.retain(|name, _| !self.belongs.contains(name) && self.replaces_no_input(name).is_ok());
        let mut own = Manifest::default();
        for name in &self.belongs {
            let there = self.target.join(name);
            if self.disk.kind(&there)? != Some(Kind::File) {
                continue;
            }
            let mark = self.disk.mark(&there)?;
            if new.contains(name) {
                take.files.insert(name.clone(), mark);
            } else {
                self.disk.sync_file(&there)?;
                own.files.insert(name.clone(), mark);
            }
        }
        self.seal(new, &own)?;
        let put = new.iter().cloned().chain([MANIFEST.to_owned()]).collect();
        let change = Change { staging: name, take: take.files, put };
        match carry_out(&*self.disk, &self.target, change) {
            Ok(notes) => {
                self.notes.extend(notes);
                self.finished = true;
                Ok(())
            }
            Err(failed) => {
                if failed.unfinished {
                    // The next run needs what is in the staging folder.
                    self.under_way = None;
                    self.finished = true;
                    self.lock = None;
                    self.staging = PathBuf::new();
                }
                Err(failed.error)
            }
        }
    }

    /// Waits while another run puts its results into the same folder.
    fn recover_others(&mut self) -> io::Result<()> {
        for _ in 0..TRIES {
            match recover(&*self.disk, &self.target) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
                other => {
                    self.notes.extend(other?);
                    return Ok(());
                }
            }
        }
        Err(io::Error::other("another run has been putting its results there for ten seconds; try again"))
    }

    /// The target was made by somebody else meanwhile.
    fn move_into_target(&mut self) -> io::Result<String> {
        let name = format!("{STAGING}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let there = self.target.join(&name);
        self.disk.rename(&self.staging, &there)?;
        (self.new, self.staging) = (there.join("new"), there);
        self.under_way = Some(UnderWay::at(&self.staging));
        Ok(name)
    }

    /// Adds the list of what was written, and flushes all of it.
    fn seal(&self, new: &[String], own: &Manifest) -> io::Result<()> {
        let mut list = Manifest { version: VERSION.to_owned(), files: own.files.clone() };
        for name in new {
            let path = self.new.join(name);
            self.disk.sync_file(&path)?;
            list.files.insert(name.clone(), self.disk.mark(&path)?);
        }
        let path = self.new.join(MANIFEST);
        self.disk.create(&path, &list.bytes()?)?;
        self.disk.sync_file(&path)?;
        let mut folders: Vec<&Path> =
            new.iter().flat_map(|name| Path::new(name).ancestors().skip(1)).collect();
        folders.push(Path::new(""));
        folders.sort();
        folders.dedup();
        folders.into_iter().try_for_each(|folder| flush_names(&*self.disk, &self.new.join(folder)))?;
        flush_names(&*self.disk, &self.staging)
    }
}

/// Whether a path is a folder, or a link to one; an error where it is something else.
fn is_folder(disk: &dyn Disk, path: &Path) -> io::Result<bool> {
    match disk.kind(path)? {
        None => Ok(false),
        Some(Kind::Folder) => Ok(true),
        Some(_) if fs::metadata(path).is_ok_and(|about| about.is_dir()) => Ok(true),
        Some(_) => Err(io::Error::other("there is a file of that name")),
    }
}

/// Makes the folders that are missing; these, outermost first.
pub(crate) fn make_parents(disk: &dyn Disk, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut missing = Vec::new();
    for above in folder.ancestors() {
        if is_folder(disk, above)? {
            break;
        }
        missing.push(above.to_owned());
    }
    missing.reverse();
    missing.iter().try_for_each(|folder| disk.make_folder(folder))?;
    Ok(missing)
}

impl Drop for Aside {
    fn drop(&mut self) {
        // The lock goes first: a locked file cannot be removed everywhere.
        self.lock = None;
        if !self.staging.as_os_str().is_empty() {
            // The folder may have been moved already; an error here cannot be reported.
            let _ = remove_all(&*self.disk, &self.staging);
        }
        if !self.finished {
            // Removes only empty folders.
            self.made.iter().rev().for_each(|folder| drop(self.disk.remove_folder(folder)));
        }
    }
}

impl std::fmt::Debug for Aside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Aside")
            .field("target", &self.target)
            .field("staging", &self.staging)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::MANIFEST;

    const REPORT: &str = "report.json";

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("kintsugi-aside-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn names(path: &Path) -> Vec<String> {
        let mut all: Vec<_> =
            fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        all.retain(|name| name != MANIFEST);
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
        assert_eq!(
            names(&out),
            ["notes.txt", "pieces.glb", "pieces.usda", "ply", "report.json"],
            "not the rest"
        );
        assert_eq!(names(&out.join("ply")), ["scan.ply"]);
        // A path that leads out of the folder is ignored.
        fs::write(home.join("other.txt"), "mine").unwrap();
        let list = ["../other.txt", "/etc/hostname", "", "notes.txt/../../other.txt"];
        let report = serde_json::json!({ "version": "1", "provenance": {}, "files": list });
        fs::write(out.join(REPORT), report.to_string()).unwrap();
        run(&out, &["pieces.glb"]);
        assert!(home.join("other.txt").exists() && out.join("notes.txt").exists());
        // Nor does a list of files lead out, through a link or past a digest.
        fs::write(home.join("thesis.tex"), "mine").unwrap();
        let mark = RealDisk.mark(&home.join("other.txt")).unwrap();
        let mut list = Manifest::default();
        for name in ["../other.txt", "linked/other.txt", "notes.txt", "/etc/hostname"] {
            list.files.insert(name.to_owned(), mark.clone());
        }
        fs::write(out.join("notes.txt"), "mine, longer").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&home, out.join("linked")).unwrap();
        fs::write(out.join(MANIFEST), list.bytes().unwrap()).unwrap();
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
    fn what_was_edited_stays_or_is_kept_and_is_told_of() {
        let home = folder("edited");
        run(&home, &["pieces.obj", "pieces.glb"]);
        fs::write(home.join("pieces.obj"), "edited").unwrap();
        fs::write(home.join("pieces.glb"), "edited, too").unwrap();
        fs::write(home.join("pieces.before.glb"), "another one").unwrap();
        let aside = Aside::begin(&home).unwrap();
        fs::write(aside.path().join("pieces.glb"), "new").unwrap();
        let notes = aside.finish().unwrap();
        assert_eq!(names(&home), ["pieces.before-2.glb", "pieces.before.glb", "pieces.glb", "pieces.obj"]);
        assert_eq!(fs::read_to_string(home.join("pieces.before-2.glb")).unwrap(), "edited, too");
        assert_eq!(fs::read_to_string(home.join("pieces.obj")).unwrap(), "edited");
        assert!(notes.len() == 2 && notes[0].contains("kept as pieces.before-2.glb"), "{notes:?}");
        assert!(notes[1].contains("pieces.obj was changed") && notes[1].contains("stays"), "{notes:?}");
        fs::remove_dir_all(home).unwrap();
    }

    #[test]
    fn what_a_run_reads_is_not_replaced() {
        let home = folder("inputs");
        run(&home, &["pieces.obj", "scene.toml", "ply/a.ply"]);
        let spare = |input: &str, names: &[&str]| {
            let mut aside = Aside::begin(&home).unwrap();
            let refused = aside.spare([home.join(input)], names.iter().copied());
            (aside, refused.map_err(|error| error.to_string()))
        };
        for (input, name) in [("scene.toml", "scene.toml"), ("ply/a.ply", "ply")] {
            let refused = spare(input, &["report.json", name]).1.unwrap_err();
            assert!(refused.contains(name) && refused.contains("is what this run reads"), "{refused}");
        }
        // A name that nobody foresaw is refused in the end, and what is read is not taken away.
        let (aside, begun) = spare("pieces.obj", &["pieces.glb"]);
        begun.unwrap();
        fs::write(aside.path().join("pieces.obj"), "new").unwrap();
        assert!(matches!(aside.finish(), Err(ExportError::Replaces { .. })));
        let (aside, begun) = spare("pieces.obj", &["pieces.glb"]);
        begun.unwrap();
        fs::write(aside.path().join("pieces.glb"), "new").unwrap();
        aside.finish().unwrap();
        assert_eq!(names(&home), ["pieces.glb", "pieces.obj"]);
        assert_eq!(fs::read_to_string(home.join("pieces.obj")).unwrap(), "pieces.obj");
        fs::remove_dir_all(home).unwrap();
    }

    #[test]
    fn staging_folders_of_dead_processes_go_and_those_with_somebody_s_files_stay() {
        let home = folder("swept");
        let out = home.join("out");
        let left = [home.join(".out-being-written-12"), out.join(".being-written-12")];
        fs::create_dir_all(left[0].join("new")).unwrap();
        run(&out, &["a"]);
        assert!(!left[0].exists());
        fs::create_dir_all(left[1].join("new")).unwrap();
        fs::create_dir_all(out.join(".being-written-13/.before")).unwrap();
        let aside = Aside::begin(&out).unwrap();
        let notes = aside.finish().unwrap();
        assert!(!left[1].exists() && out.join(".being-written-13").exists());
        assert!(notes.iter().any(|note| note.contains("take out what is yours")), "{notes:?}");
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
