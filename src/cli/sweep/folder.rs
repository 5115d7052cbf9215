//! The folder of a sweep: it belongs to one job file, and one process at a time writes to it.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    cli::{CliError, input::about, make_folder},
    export::{ExportError, disk::clear_away},
    scene::write_atomically,
};

const IDENTITY: &str = "sweep.json";
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
    /// [`CliError::Input`] for a folder of another sweep, one with a table that no sweep wrote, and one that another
    /// process is writing to.
    pub fn open(path: &Path, identity: &Identity) -> Result<Self, CliError> {
        let theirs = path.join(IDENTITY);
        if theirs.exists() {
            is_same(path, identity)?;
        } else if let Some(name) = [TABLE, ARROW].iter().find(|name| path.join(name).exists()) {
            return Err(about(
                path,
                format!("it has a {name} that no sweep wrote; give --out another place"),
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
                    "another sweep is writing to this folder; wait for it, or give --out another",
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

fn read(folder: &Path) -> Result<Identity, CliError> {
    let bytes = fs::read(folder.join(IDENTITY))
        .map_err(|e| about(folder, format!("there is no sweep in it ({IDENTITY}: {e}); check the name")))?;
    serde_json::from_slice(&bytes).map_err(|e| {
        about(folder, format!("{IDENTITY} is not what a sweep writes ({e}); give --out another place"))
    })
}

/// Rejects a folder that belongs to another job file.
///
/// # Errors
/// [`CliError::Input`].
pub fn is_of(folder: &Path, identity: &Identity) -> Result<(), CliError> {
    if read(folder)?.jobs_sha256 == identity.jobs_sha256 {
        return Ok(());
    }
    Err(about(
        folder,
        "it has the results of another job file; give another folder, or the job file as it was",
    ))
}

fn is_same(folder: &Path, identity: &Identity) -> Result<(), CliError> {
    is_of(folder, identity)?;
    let theirs = read(folder)?;
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
    use super::*;

    #[test]
    fn a_folder_goes_on_with_its_own_sweep_alone_and_one_process_at_a_time() {
        let home = std::env::temp_dir().join(format!("kintsugi-sweep-folder-{}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        let mine = Identity { jobs: 3, jobs_sha256: "aa".into(), shard: None, keep: Vec::new() };
        let refused = |identity: &Identity| Folder::open(&home, identity).err().map(|e| e.to_string());
        let first = Folder::open(&home, &mine).unwrap();
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
        fs::remove_file(home.join(IDENTITY)).unwrap();
        fs::write(home.join(TABLE), "x\n").unwrap();
        assert!(refused(&mine).unwrap().contains("that no sweep wrote"));
        fs::remove_dir_all(home).unwrap();
    }
}
