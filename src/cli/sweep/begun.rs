//! Which jobs are under way, noted beside the table, so that a job that ends the whole program ends it only twice.
//!
//! In: numbers of jobs that begin. Out: at the next start, the jobs in which the program has ended again and again. An
//! allocation that fails ends the program, and so does the system where memory is short: such a job gets no row, and
//! without the note each start would end in it. One end may be anybody's `kill`, so the job is tried once more.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{export::disk::UnderWay, files};

/// Name of the note in the folder of a sweep.
const NOTE: &str = ".kintsugi-begun.json";
/// Largest note that is read, bytes.
const LARGEST: u64 = 32 << 20;
/// So often the program may end in a job.
const MOST_ENDS: u32 = 2;
/// Why a job has failed in which the program ended that often.
pub const ENDED: &str =
    "the program ended twice in this job, for want of memory perhaps; the job is not tried again";

/// What a program writes before it begins jobs.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    /// Jobs that are under way: one, or all whose mesh or octree is being made.
    jobs: Vec<usize>,
    /// How many programs before this one ended in the same jobs.
    ends: u32,
}

/// The note of one folder. It is taken away when the jobs are done, and by a signal that ends the program in order.
pub struct Begun {
    path: PathBuf,
    /// The jobs in which the program before this one ended, and how often that has happened.
    before: Note,
    _under_way: UnderWay,
}

impl Begun {
    /// Reads the note that an earlier program left in a folder, if there is one.
    pub fn open(folder: &Path) -> Self {
        let path = folder.join(NOTE);
        let left =
            files::read(&path, LARGEST).ok().and_then(|bytes| serde_json::from_slice::<Note>(&bytes).ok());
        let before = left.map(|note| Note { ends: note.ends.saturating_add(1), ..note }).unwrap_or_default();
        Self { _under_way: UnderWay::at(&path), path, before }
    }

    /// Whether the program has ended in a job too often.
    pub fn gives_up(&self, job: usize) -> bool {
        self.before.ends >= MOST_ENDS && self.before.jobs.contains(&job)
    }

    /// Notes jobs that begin, in place of those before.
    pub fn begin(&self, jobs: &[usize]) {
        let ends = if self.before.jobs == jobs { self.before.ends } else { 0 };
        // To write to a pipe of that name would wait for a reader.
        if self.path.symlink_metadata().is_ok_and(|about| !about.is_file()) {
            return;
        }
        let note = serde_json::to_vec(&Note { jobs: jobs.to_vec(), ends }).unwrap_or_default();
        // Not flushed: what ends a program takes no bytes that it has written. A disk without room for the note has none for
        // the row either, which says so.
        let _ = fs::write(&self.path, note);
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        // There is none if no job has begun.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_in_which_the_program_ends_is_tried_once_more_and_then_given_up() {
        let folder = std::env::temp_dir().join(format!("kintsugi-begun-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        // A program that ends drops nothing.
        let ends_in = |jobs: &[usize]| {
            let begun = Begun::open(&folder);
            let given_up: Vec<usize> = (0..9).filter(|job| begun.gives_up(*job)).collect();
            begun.begin(&[0]);
            begun.begin(jobs);
            std::mem::forget(begun);
            given_up
        };
        assert_eq!(ends_in(&[3, 4]), [0; 0]);
        assert_eq!(ends_in(&[3, 4]), [0; 0], "one end may be a kill");
        assert_eq!(ends_in(&[5]), [3, 4]);
        assert_eq!(ends_in(&[6]), [0; 0], "another job");
        assert_eq!(ends_in(&[6]), [0; 0]);
        assert_eq!(ends_in(&[7]), [6]);
        fs::write(folder.join(NOTE), "{\"jobs\": [1").unwrap();
        assert_eq!(ends_in(&[7]), [0; 0], "half a note says nothing");
        #[cfg(unix)]
        {
            // Neither reading nor writing waits for whoever is at the other end of a pipe.
            fs::remove_file(folder.join(NOTE)).unwrap();
            assert!(std::process::Command::new("mkfifo").arg(folder.join(NOTE)).status().unwrap().success());
            assert_eq!(ends_in(&[7]), [0; 0]);
        }
        drop(Begun::open(&folder));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "jobs that are done leave no note");
        fs::remove_dir_all(folder).unwrap();
    }
}
