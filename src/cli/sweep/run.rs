//! The run through the jobs of a file, which sweeps and data sets share.
//!
//! In: jobs, those of them that are still to be done, and what the command does with a break. Out: a row for each, as
//! soon as it is done. Jobs run mesh by mesh and level by level, so that each mesh is read and voxelised once and only one
//! is in memory at a time.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{
    begun::{Begun, ENDED},
    breaks::{Breaks, Task, caught},
    folder,
    jobs::Job,
    table::{ERROR, Row, Table},
};
use crate::{
    cli::{
        CliError,
        input::{joined, load_mesh},
        progress::Reporter,
    },
    compute::Compute,
    import::ReadMesh,
};

/// Every `of`th job, beginning with number `first` from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    first: usize,
    of: usize,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first + 1, self.of)
    }
}

/// The shard of an argument.
///
/// # Errors
/// A line that says what is wanted.
pub fn parse_shard(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/').map(|(k, n)| (k.trim().parse::<usize>(), n.trim().parse::<usize>()));
    match numbers {
        Some((Ok(k), Ok(of))) if (1..=of).contains(&k) => Ok(Shard { first: k - 1, of }),
        _ => Err("K/N is wanted, as in 3/16, with K from 1 to N".into()),
    }
}

/// Numbers of a shard's jobs, or of all, ascending.
pub fn mine(shard: Option<Shard>, jobs: usize) -> impl Iterator<Item = usize> {
    let shard = shard.unwrap_or(Shard { first: 0, of: 1 });
    (shard.first..jobs).step_by(shard.of)
}

/// Jobs to be run.
pub struct Run<'a> {
    /// Name of the command.
    pub command: &'static str,
    /// The job file.
    pub file: &'a Path,
    /// All of its jobs.
    pub jobs: &'a [Job],
    /// Numbers of those that are to be run, ascending.
    pub left: &'a [usize],
    /// How many others have a row already, for the progress.
    pub before: usize,
    /// Where the mesh of a job lies, or why there is none.
    pub mesh: &'a dyn Fn(&str) -> Result<PathBuf, String>,
    /// The folder of the table, in which jobs that have begun are noted; `None`: nothing is written.
    pub folder: Option<&'a Path>,
    /// Where stages run.
    pub compute: &'a Compute,
    /// Shows progress and warnings.
    pub reporter: &'a Reporter,
}

impl Run<'_> {
    /// Breaks all jobs that are left. `task` keeps what is wanted of each break, `add` takes its row.
    ///
    /// # Errors
    /// [`CliError`] where no job could go on, and the first error of `add`; a job that fails is a row.
    pub fn break_all(
        &self,
        task: &mut impl Task,
        add: &mut dyn FnMut(usize, Row) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let mut breaks = Breaks::new(self.command, self.file, self.compute)?;
        let (mut done, all) = (self.before, self.before + self.left.len());
        let begun = self.folder.map(Begun::open);
        let begin = |jobs: &[usize]| begun.iter().for_each(|begun| begun.begin(jobs));
        let gives_up = |job: &usize| begun.as_ref().is_some_and(|begun| begun.gives_up(*job));
        self.reporter.stage(self.command, |progress| -> Result<(), CliError> {
            let (given_up, left): (Vec<usize>, Vec<usize>) = self.left.iter().copied().partition(&gives_up);
            for number in given_up {
                self.reporter.warn(&format!("job {number}: {ENDED}"));
                add(number, breaks.failure(&self.jobs[number], number, &*task, ENDED))?;
                done += 1;
            }
            let mut read: Option<(&str, Result<ReadMesh, String>)> = None;
            let groups = groups(self.jobs, &left);
            for (at, group) in groups.iter().enumerate() {
                let first = &self.jobs[group[0]];
                if read.as_ref().is_none_or(|(mesh, _)| *mesh != first.mesh) {
                    // The previous mesh is freed before the next one is read.
                    drop(read.take());
                    let rest = groups[at..].iter();
                    let same = rest.take_while(|other| self.jobs[other[0]].mesh == first.mesh);
                    begin(&same.flatten().copied().collect::<Vec<usize>>());
                    read = Some((&first.mesh, self.load(&first.mesh)));
                }
                let Some((_, mesh)) = &read else { continue };
                begin(group);
                let object = mesh.as_ref().map_err(Clone::clone);
                let object =
                    object.and_then(|mesh| caught(|| breaks.object(mesh, first)).unwrap_or_else(Err));
                for &number in group {
                    progress.set(done as f32 / all as f32);
                    let job = &self.jobs[number];
                    begin(&[number]);
                    let row = match &object {
                        Ok(object) => breaks.row(object, job, number, task)?,
                        Err(why) => breaks.failure(job, number, &*task, why),
                    };
                    breaks.notes.drain(..).for_each(|note| self.reporter.warn(&note));
                    if let Some(why) = row.get(ERROR) {
                        self.reporter.warn(&format!("job {number}: {why}"));
                    }
                    add(number, row)?;
                    done += 1;
                }
                if let Ok(object) = object {
                    breaks.forget(object);
                }
            }
            progress.set(1.0);
            Ok(())
        })
    }

    fn load(&self, name: &str) -> Result<ReadMesh, String> {
        let file = (self.mesh)(name)?;
        let read = || load_mesh(&file, self.reporter).map(|mesh| joined(mesh, self.reporter));
        caught(|| read().map_err(|error| error.to_string())).unwrap_or_else(Err)
    }
}

/// The remaining jobs grouped for the work: by mesh, then by octree.
fn groups(jobs: &[Job], left: &[usize]) -> Vec<Vec<usize>> {
    let mut order: Vec<(&str, Vec<Vec<usize>>)> = Vec::new();
    let mut of_mesh = std::collections::HashMap::new();
    let mut of_octree = std::collections::HashMap::new();
    for &number in left {
        let job = &jobs[number];
        let mesh = *of_mesh.entry(job.mesh.as_str()).or_insert_with(|| {
            order.push((&job.mesh, Vec::new()));
            order.len() - 1
        });
        let groups = &mut order[mesh].1;
        let octree = *of_octree.entry((mesh, job.how.object_key(), job.level)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[octree].push(number);
    }
    order.into_iter().flat_map(|(_, groups)| groups).collect()
}

/// Merges the tables of shards into the one of `out`. All jobs must then have a row.
///
/// # Errors
/// [`CliError`] where a table cannot be read, and where a job is in none of them.
pub fn merge(
    noun: &str,
    shards: &[PathBuf],
    out: &Path,
    jobs: usize,
    table: &mut Table,
) -> Result<(), CliError> {
    for shard in shards {
        table.take_over(&folder::table_in(shard))?;
    }
    let missing: Vec<usize> = (0..jobs).filter(|job| !table.has(*job)).collect();
    if let Some(first) = missing.first() {
        let n = missing.len();
        return Err(CliError::Input(format!(
            "{n} jobs, the first of them number {first}, are in none of the folders; run the shards that are \
             missing, or run the {noun} in {} without --merge to break them",
            out.display()
        )));
    }
    Ok(())
}

/// A file that the job file names, relative to the working directory.
pub fn beside(jobs: &Path, file: &str) -> String {
    if file.starts_with("builtin:") || Path::new(file).is_absolute() {
        return file.to_owned();
    }
    jobs.parent().unwrap_or(Path::new("")).join(file).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cli::sweep::jobs::How, fracture::FractureParams};

    #[test]
    fn a_shard_is_every_nth_job_and_shards_share_all_of_them() {
        assert_eq!(parse_shard("3/16"), Ok(Shard { first: 2, of: 16 }));
        assert_eq!(parse_shard("3/16").unwrap().to_string(), "3/16");
        for bad in ["0/4", "5/4", "1", "1/0", "a/b", "-1/3"] {
            assert!(parse_shard(bad).is_err(), "{bad}");
        }
        let of = |k: usize| mine(Some(parse_shard(&format!("{k}/4")).unwrap()), 10);
        let mut all: Vec<usize> = (1..=4).flat_map(of).collect();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
        assert_eq!(mine(None, 3).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn jobs_of_one_octree_are_done_together() {
        let job = |mesh: &str, level| Job {
            mesh: mesh.into(),
            how: How::default(),
            level,
            params: FractureParams::default(),
        };
        let jobs = [job("a", 5), job("b", 5), job("a", 6), job("a", 5), job("b", 5)];
        assert_eq!(groups(&jobs, &[0, 1, 2, 3, 4]), [vec![0, 3], vec![2], vec![1, 4]]);
        assert_eq!(groups(&jobs, &[2, 3, 4]), [vec![2], vec![3], vec![4]]);
        assert_eq!(beside(Path::new("sets/jobs.toml"), "cow.obj"), "sets/cow.obj");
        assert_eq!(beside(Path::new("jobs.toml"), "cow.obj"), "cow.obj");
        assert_eq!(beside(Path::new("sets/jobs.toml"), "builtin:box"), "builtin:box");
    }
}
