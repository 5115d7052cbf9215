//! The folder of a sweep or a data set: it belongs to one job file, and one process at a time writes to it.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    cli::{CliError, input::about, make_folder},
    export::{ExportError, disk::clear_away},
    files,
    scene::write_atomically,
};

/// What a folder holds.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The file that says whose folder it is.
    pub identity: &'static str,
    /// What messages call it.
    pub noun: &'static str,
}

/// The folder of a sweep.
pub const SWEEP: Kind = Kind { identity: "sweep.json", noun: "sweep" };

/// Largest file that says whose folder it is, bytes: that of a data set names its meshes.
const LARGEST: u64 = 64 << 20;

const TABLE: &str = "table.csv";
const ARROW: &str = "table.arrow";

/// Identifies a sweep, so that its table never mixes results of two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Number of jobs in the job file.
    pub jobs: usize,
    /// SHA-256 of the jobs.
    pub jobs_sha256: String,
    /// The shard done in this folder.
    pub shard: Option<String>,
    /// Results kept of each break.
    pub keep: Vec<String>,
    /// How a data set is made, beside its jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<serde_json::Value>,
}

/// A folder that this process alone writes to, until it is dropped.
pub struct Folder {
    path: PathBuf,
    _lock: Option<File>,
}

impl Folder {
    /// Creates a folder, or continues one of the same sweep.
    ///
    /// # Errors
    /// [`CliError::Input`] for a folder of other jobs, one with a table that was not written so, and one that another
    /// process is writing to.
    pub fn open(path: &Path, kind: Kind, identity: &Identity) -> Result<Self, CliError> {
        let (theirs, noun) = (path.join(kind.identity), kind.noun);
        if theirs.exists() {
            is_same(path, kind, identity)?;
        } else if let Some(name) = [TABLE, ARROW].iter().find(|name| path.join(name).exists()) {
            return Err(about(
                path,
                format!("it has a {name} that no {noun} wrote; give --out another place"),
            ));
        } else {
            make_folder(path)?;
            let mut text = serde_json::to_string_pretty(identity).unwrap_or_default();
            text.push('\n');
            write_atomically(&theirs, text.as_bytes()).map_err(|e| ExportError::write(&theirs, e))?;
        }
        let lock = File::open(&theirs).map_err(|e| ExportError::write(&theirs, e))?;
        let lock = match lock.try_lock() {
            Ok(()) => Some(lock),
            Err(TryLockError::WouldBlock) => {
                return Err(about(
                    path,
                    format!("another {noun} is writing to this folder; wait for it, or give --out another"),
                ));
            }
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) => None,
        };
        let folder = Self { path: path.to_owned(), _lock: lock };
        if folder.breaks().is_dir() {
            // What a killed process left half-written goes.
            clear_away(&folder.breaks()).map_err(|e| ExportError::write(&folder.breaks(), e))?;
        }
        Ok(folder)
    }

    /// The table's file.
    pub fn table(&self) -> PathBuf {
        table_in(&self.path)
    }

    /// Folder for the kept results of a job.
    pub fn of_job(&self, job: usize) -> PathBuf {
        self.breaks().join(format!("{job:06}"))
    }

    fn breaks(&self) -> PathBuf {
        self.path.join("breaks")
    }
}

/// The table of the sweep in a folder.
pub fn table_in(folder: &Path) -> PathBuf {
    folder.join(TABLE)
}

fn read(folder: &Path, kind: Kind) -> Result<Identity, CliError> {
    let Kind { identity, noun } = kind;
    let bytes = files::read(&folder.join(identity), LARGEST)
        .map_err(|why| about(folder, format!("there is no {noun} in it: {identity} {why}")))?;
    serde_json::from_slice(&bytes).map_err(|e| {
        about(folder, format!("{identity} is not what a {noun} writes ({e}); give --out another place"))
    })
}

/// Rejects a folder that belongs to another job file, or to a data set that is made otherwise.
///
/// # Errors
/// [`CliError::Input`].
pub fn is_of(folder: &Path, kind: Kind, identity: &Identity) -> Result<(), CliError> {
    let theirs = read(folder, kind)?;
    if theirs.jobs_sha256 != identity.jobs_sha256 {
        return Err(about(
            folder,
            "it has the results of another job file; give another folder, or the job file as it was",
        ));
    }
    if theirs.dataset != identity.dataset {
        return Err(about(
            folder,
            "it was begun with another [dataset] table, with other meshes or by another version; give another folder, or \
             all of them as they were",
        ));
    }
    Ok(())
}

fn is_same(folder: &Path, kind: Kind, identity: &Identity) -> Result<(), CliError> {
    is_of(folder, kind, identity)?;
    let theirs = read(folder, kind)?;
    let shard = |shard: &Option<String>| shard.clone().map_or("all jobs".into(), |s| format!("shard {s}"));
    let keep = |keep: &[String]| if keep.is_empty() { "nothing".into() } else { keep.join(",") };
    if theirs.shard != identity.shard {
        let (theirs, mine) = (shard(&theirs.shard), shard(&identity.shard));
        return Err(about(
            folder,
            format!("it holds {theirs}, this is {mine}; give each shard its own folder"),
        ));
    }
    if theirs.keep != identity.keep {
        let (theirs, mine) = (keep(&theirs.keep), keep(&identity.keep));
        return Err(about(
            folder,
            format!("it was begun keeping {theirs}, not {mine}; go on with the same --keep"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_goes_on_with_its_own_sweep_alone_and_one_process_at_a_time() {
        let home = std::env::temp_dir().join(format!("kintsugi-sweep-folder-{}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        let mine =
            Identity { jobs: 3, jobs_sha256: "aa".into(), shard: None, keep: Vec::new(), dataset: None };
        let refused = |identity: &Identity| Folder::open(&home, SWEEP, identity).err().map(|e| e.to_string());
        let first = Folder::open(&home, SWEEP, &mine).unwrap();
        assert!(refused(&mine).unwrap().contains("another sweep is writing"));
        fs::create_dir_all(first.of_job(7)).unwrap();
        fs::create_dir_all(home.join("breaks/.000008-being-written-1")).unwrap();
        drop(first);
        assert_eq!(refused(&mine), None);
        let left: Vec<_> =
            fs::read_dir(home.join("breaks")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["000007"]);
        let other = |change: &dyn Fn(&mut Identity)| {
            let mut other = mine.clone();
            change(&mut other);
            refused(&other).unwrap()
        };
        assert!(other(&|i| i.jobs_sha256 = "bb".into()).contains("another job file"));
        assert!(other(&|i| i.shard = Some("1/2".into())).contains("all jobs, this is shard 1/2"));
        assert!(other(&|i| i.keep = vec!["report".into()]).contains("keeping nothing, not report"));
        assert!(other(&|i| i.dataset = Some(true.into())).contains("another [dataset] table"));
        fs::remove_file(home.join(SWEEP.identity)).unwrap();
        // To read a pipe would wait for ever.
        #[cfg(unix)]
        for pipe in [SWEEP.identity, TABLE].map(|name| home.join(name)) {
            use crate::cli::sweep::table::Table;
            assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            let of_table = || Table::open(&pipe).err().map(|error| error.to_string());
            let read = if pipe.ends_with(TABLE) { of_table() } else { refused(&mine) };
            assert!(read.as_ref().is_some_and(|why| why.contains("is not a regular file")), "{read:?}");
            fs::remove_file(&pipe).unwrap();
        }
        fs::write(home.join(TABLE), "x\n").unwrap();
        assert!(refused(&mine).unwrap().contains("that no sweep wrote"));
        fs::remove_dir_all(home).unwrap();
    }
}
