//! A change of several files in a folder as one change, by a journal.
//!
//! In: a staging folder in the target with the new files, flushed, and a [`Change`]. Out: the new files in their places,
//! or all as before. The journal is in the target, flushed, before the first file moves, and goes after the last; a
//! change that was broken off is finished by the next run there.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    Disk, Kind, Lock, MANIFEST, Mark, flush_names, folder_of, free_name, in_the_way, is_below, make_below,
    remove_all,
};

/// File name of the journal, in the target.
pub const JOURNAL: &str = ".kintsugi-change.json";
/// Beginning of the name of a staging folder in the target.
pub const STAGING: &str = ".being-written-";
/// The report is taken away first and put in last: where there is one, what it tells of is there.
const REPORT: &str = "report.json";
/// Files of a staging folder: new ones, earlier results on their way out, the lock.
const NEW: &str = "new";
const OLD: &str = "old";
const LOCK: &str = "lock";

/// What is to change in a folder.
#[derive(Debug, Serialize, Deserialize)]
pub struct Change {
    /// Name of the staging folder in the target.
    pub staging: String,
    /// What the program wrote before, and takes away if it still is that.
    pub take: BTreeMap<String, Mark>,
    /// New files, in `new` of the staging folder.
    pub put: BTreeSet<String>,
}

/// A change on its way: what was renamed, and what to tell.
struct Moves<'a> {
    disk: &'a dyn Disk,
    target: &'a Path,
    staging: PathBuf,
    done: Vec<[PathBuf; 2]>,
    /// Folders that were made in the target, outermost first.
    made: Vec<PathBuf>,
    /// Folders whose names changed.
    touched: BTreeSet<PathBuf>,
    notes: Vec<String>,
}

impl Moves<'_> {
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)?;
        self.done.push([from.to_owned(), to.to_owned()]);
        self.touched.extend([from, to].into_iter().filter_map(Path::parent).map(Path::to_owned));
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        for folder in std::mem::take(&mut self.touched) {
            if self.disk.kind(&folder)? == Some(Kind::Folder) {
                flush_names(self.disk, &folder)?;
            }
        }
        Ok(())
    }

    /// Takes `name` out of the way: what the program wrote into `old`, somebody's own file under a free name.
    fn take(&mut self, name: &str, mark: Option<&Mark>, is_new: bool) -> io::Result<()> {
        let there = self.target.join(name);
        let is_own = match self.disk.kind(&there)? {
            None => return Ok(()),
            Some(Kind::Folder) if is_new => return Err(is_a_folder(name)),
            Some(Kind::Folder) => return Ok(()),
            Some(Kind::File) if name == MANIFEST => true,
            Some(Kind::File) => match mark {
                Some(mark) => self.disk.mark(&there)? == *mark,
                None => false,
            },
            Some(Kind::Other) => false,
        };
        if is_own {
            let old = format!("{OLD}/{name}");
            make_below(self.disk, &self.staging, folder_of(&old).unwrap_or(OLD))?;
            // A file must not come back because the folder that it went to was not flushed.
            let above = folders_above(Path::new(&old)).skip(1).map(|folder| self.staging.join(folder));
            self.touched.extend(above.chain([self.staging.clone()]));
            return self.rename(&there, &self.staging.join(old));
        }
        if !is_new {
            if mark.is_some() {
                self.notes.push(format!("{} was changed since Kintsugi wrote it; it stays", there.display()));
            }
            return Ok(());
        }
        let kept = free_name(self.disk, &there)?;
        self.rename(&there, &kept)?;
        self.notes.push(kept_note(&there, &kept));
        Ok(())
    }

    fn put(&mut self, name: &str) -> io::Result<()> {
        let new = self.staging.join(NEW).join(name);
        if self.disk.kind(&new)?.is_none() {
            return Ok(());
        }
        if let Some(folder) = folder_of(name) {
            let mut all: Vec<&Path> = folders_above(Path::new(name)).collect();
            all.reverse();
            for above in all.into_iter().map(|above| self.target.join(above)) {
                if self.disk.kind(&above)?.is_none() {
                    self.touched.extend(above.parent().map(Path::to_owned));
                    self.made.push(above);
                }
            }
            make_below(self.disk, self.target, folder)?;
        }
        self.rename(&new, &self.target.join(name))
    }

    fn all(&mut self, change: &Change) -> io::Result<()> {
        let names: BTreeSet<&String> = change.take.keys().chain(&change.put).collect();
        for name in report_first(names) {
            let is_new = change.put.contains(name);
            // What is no longer in `new` is in its place already.
            if is_new && self.disk.kind(&self.staging.join(NEW).join(name))?.is_none() {
                continue;
            }
            self.take(name, change.take.get(name), is_new)?;
        }
        // Somebody's file must have its other name on the disk before the new file has its own.
        self.flush()?;
        let mut last = report_first(change.put.iter());
        last.reverse();
        last.into_iter().try_for_each(|name| self.put(name))?;
        self.flush()
    }

    /// Undoes all renames; the first error ends it.
    fn undo(&mut self) -> io::Result<()> {
        while let Some([from, to]) = self.done.last() {
            self.disk.rename(to, from)?;
            self.touched.extend([from, to].into_iter().filter_map(|path| path.parent()).map(Path::to_owned));
            self.done.pop();
        }
        for folder in self.made.drain(..).rev() {
            // One that cannot be removed does no harm.
            let _ = self.disk.remove_folder(&folder);
        }
        self.flush()
    }
}

/// The folders of a name below the target, innermost first.
fn folders_above(name: &Path) -> impl Iterator<Item = &Path> {
    name.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty())
}

fn is_a_folder(name: &str) -> io::Error {
    io::Error::other(format!("there is a folder called {name}; move it away, or give another folder"))
}

/// One line about somebody's own file that was kept.
pub fn kept_note(there: &Path, kept: &Path) -> String {
    let kept = kept.file_name().unwrap_or_default().to_string_lossy();
    format!("{} is not what Kintsugi wrote there; it is kept as {kept}", there.display())
}

/// The names with the report first.
fn report_first<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<&'a String> {
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_by_key(|name| (*name != REPORT, *name));
    names
}

/// Rejects what could not be carried out to its end, before anything moves.
fn check(disk: &dyn Disk, target: &Path, change: &mut Change) -> io::Result<()> {
    for name in &change.put {
        for folder in folders_above(Path::new(name)).map(|folder| target.join(folder)) {
            if !matches!(disk.kind(&folder)?, None | Some(Kind::Folder)) {
                return Err(in_the_way(&folder));
            }
        }
        if disk.kind(&target.join(name))? == Some(Kind::Folder) {
            return Err(is_a_folder(name));
        }
    }
    // What lies behind a link is elsewhere and is left alone.
    let mut elsewhere = Vec::new();
    for name in change.take.keys() {
        for folder in folders_above(Path::new(name)) {
            if disk.kind(&target.join(folder))? != Some(Kind::Folder) {
                elsewhere.push(name.clone());
                break;
            }
        }
    }
    elsewhere.iter().for_each(|name| drop(change.take.remove(name)));
    Ok(())
}

/// How a change ended that did not take place.
#[derive(Debug)]
pub struct Failed {
    /// The first error.
    pub error: io::Error,
    /// Whether the journal and the staging folder must stay, for the next run to finish the change.
    pub unfinished: bool,
}

/// Carries a change out; lines for the user.
///
/// # Errors
/// [`Failed`]; all is as before, or the next run there finishes the change.
pub fn carry_out(disk: &dyn Disk, target: &Path, mut change: Change) -> Result<Vec<String>, Failed> {
    let before = |error| Failed { error, unfinished: false };
    check(disk, target, &mut change).map_err(before)?;
    let staging = target.join(&change.staging);
    let (draft, journal) = (staging.join("journal"), target.join(JOURNAL));
    let begin = || {
        let text = serde_json::to_vec(&change).map_err(io::Error::other)?;
        disk.create(&draft, &text)?;
        disk.sync_file(&draft)?;
        flush_names(disk, &staging)?;
        disk.rename(&draft, &journal)
    };
    begin().map_err(before)?;
    let mut moves = moves(disk, target, staging);
    let done = flush_names(disk, target).and_then(|()| moves.all(&change));
    if let Err(error) = done {
        let undone = moves.undo().and_then(|()| end(disk, target));
        return Err(Failed { error, unfinished: undone.is_err() });
    }
    let notes = std::mem::take(&mut moves.notes);
    match end(disk, target) {
        Ok(()) => clear(disk, target, &change),
        // Everything is in its place; the next run takes journal and staging folder away.
        Err(error) => return Err(Failed { error, unfinished: true }),
    }
    Ok(notes)
}

fn moves<'a>(disk: &'a dyn Disk, target: &'a Path, staging: PathBuf) -> Moves<'a> {
    Moves {
        disk,
        target,
        staging,
        done: Vec::new(),
        made: Vec::new(),
        touched: BTreeSet::new(),
        notes: Vec::new(),
    }
}

/// The change is done, or undone: the journal goes. It must be gone from the disk before the staging folder is.
fn end(disk: &dyn Disk, target: &Path) -> io::Result<()> {
    disk.remove_file(&target.join(JOURNAL))?;
    flush_names(disk, target)
}

/// Takes away what is not needed any more; what cannot be removed does no harm.
fn clear(disk: &dyn Disk, target: &Path, change: &Change) {
    let _ = remove_all(disk, &target.join(&change.staging));
    for name in change.take.keys().filter(|name| !change.put.contains(*name)) {
        for folder in folders_above(Path::new(name)) {
            // Removes only empty folders.
            let _ = disk.remove_folder(&target.join(folder));
        }
    }
}

/// Finishes a change of `target` that was broken off, and takes away staging folders of processes that ended; lines for
/// the user.
///
/// # Errors
/// The file system's; an error that says what to do where another process is at it, or the journal is none.
pub fn recover(disk: &dyn Disk, target: &Path) -> io::Result<Vec<String>> {
    let mut notes = Vec::new();
    if disk.kind(&target.join(JOURNAL))?.is_some() {
        let change = read_journal(disk, target)?;
        let staging = target.join(&change.staging);
        let is_there = disk.kind(&staging)? == Some(Kind::Folder);
        let lock = if is_there { disk.lock(&staging.join(LOCK))? } else { None };
        if is_there && lock.is_none() {
            let busy = "another run is putting its results there; wait for it, or give another folder";
            return Err(io::Error::new(io::ErrorKind::WouldBlock, busy));
        }
        if is_there {
            let mut moves = moves(disk, target, staging);
            moves.all(&change)?;
            notes.append(&mut moves.notes);
        }
        end(disk, target)?;
        drop(lock);
        clear(disk, target, &change);
        let target = target.display();
        notes.push(format!("{target}: a run that was broken off while it put its results there is finished"));
    }
    notes.extend(sweep_up(disk, target, &|name| name.starts_with(STAGING))?);
    Ok(notes)
}

/// Finishes a change of a folder that was broken off, as a run there does first, and reads the list of its files; for tests
/// that put anything into journal and list. Out: lines for the user, the list.
///
/// # Errors
/// As of a run.
#[cfg(any(feature = "testing", fuzzing))]
pub fn recover_folder(folder: &Path) -> io::Result<(Vec<String>, Vec<u8>)> {
    let disk = &super::RealDisk;
    Ok((recover(disk, folder)?, super::Manifest::read(disk, folder)?.bytes()?))
}

fn read_journal(disk: &dyn Disk, target: &Path) -> io::Result<Change> {
    let path = target.join(JOURNAL);
    let none = || {
        let path = path.display();
        io::Error::other(format!("{path} is not what Kintsugi writes; look what it is and move it away"))
    };
    if disk.kind(&path)? != Some(Kind::File) {
        return Err(none());
    }
    let change: Change = serde_json::from_slice(&disk.read(&path)?).map_err(|_| none())?;
    let is_staging = change.staging.starts_with(STAGING) && !change.staging.contains(['/', '\\']);
    let names = || change.take.keys().chain(&change.put);
    let mut links = false;
    // A journal from elsewhere must not lead through links either.
    for folder in names().flat_map(|name| folders_above(Path::new(name))) {
        links |= disk.kind(&target.join(folder))? == Some(Kind::Other);
    }
    let is_ours = is_staging && !links && names().all(|name| is_below(name));
    if is_ours { Ok(change) } else { Err(none()) }
}

/// Takes away staging folders in `parent` that runs left when they were killed, whatever they were to become.
///
/// # Errors
/// The file system's.
pub fn clear_away(parent: &Path) -> io::Result<Vec<String>> {
    sweep_up(&super::RealDisk, parent, &|name| name.starts_with('.') && name.contains("being-written-"))
}

/// Takes away folders in `parent` that have such a name and whose processes ended; lines about those that stay since an
/// earlier version kept somebody's files in them.
///
/// # Errors
/// The file system's.
pub fn sweep_up(
    disk: &dyn Disk,
    parent: &Path,
    is_staging: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<String>> {
    let mut notes = Vec::new();
    for name in disk.list(parent)?.into_iter().filter(|name| is_staging(name)) {
        let path = parent.join(&name);
        if disk.kind(&path)? != Some(Kind::Folder) {
            continue;
        }
        if disk.kind(&path.join(".before"))?.is_some() {
            notes.push(format!(
                "{} holds files that an ended run moved away; take out what is yours and remove it",
                path.display()
            ));
            continue;
        }
        let lock: Option<Lock> = disk.lock(&path.join(LOCK))?;
        if let Some(lock) = lock {
            drop(lock);
            // What cannot be removed does no harm.
            let _ = remove_all(disk, &path);
        }
    }
    Ok(notes)
}
