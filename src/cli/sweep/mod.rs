//! `kintsugi sweep`: many breaks in one process, with one start, into one table.
//!
//! In: a job file. Out: `table.csv`, a row a break, and `table.arrow`; where asked for, a folder of each break. A
//! killed sweep continues where it stopped. Jobs run mesh by mesh and level by level, so that each mesh is read and
//! voxelised once and only one is in memory at a time.

mod arrow;
mod breaks;
mod folder;
pub mod jobs;
mod row;
mod table;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use self::{
    breaks::{Breaks, caught},
    folder::{Folder, Identity},
    jobs::Job,
    table::Table,
};
use super::{CliError, input::load_mesh, progress::Reporter};
use crate::import::ReadMesh;

#[derive(Args)]
pub struct SweepArgs {
    #[command(flatten)]
    compute: super::ComputeArgs,
    /// Job file (.toml): meshes, levels, random seeds and parameters; see docs/sweep.md
    jobs: PathBuf,
    /// Folder for table.csv and table.arrow; created if missing; an interrupted sweep of the same jobs is continued
    /// there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Do only every Nth job, beginning with the Kth, K from 1 to N; each shard needs its own folder
    #[arg(long, value_name = "K/N", value_parser = parse_shard)]
    shard: Option<Shard>,
    /// What to keep of each break, as `kintsugi fracture` writes it, in DIR/breaks/NUMBER: a list of report, voxels
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum, hide_possible_values = true)]
    keep: Vec<Keep>,
    /// Break nothing: merge the tables of these folders, which hold the shards of this sweep
    #[arg(long, value_name = "DIR,..", value_delimiter = ',', conflicts_with_all = ["shard", "keep"])]
    merge: Vec<PathBuf>,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

/// A result to keep of a break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Keep {
    Report,
    Voxels,
}

impl Keep {
    fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Voxels => "voxels",
        }
    }
}

/// Every `of`th job, beginning with number `first` from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shard {
    first: usize,
    of: usize,
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/').map(|(k, n)| (k.trim().parse::<usize>(), n.trim().parse::<usize>()));
    match numbers {
        Some((Ok(k), Ok(of))) if (1..=of).contains(&k) => Ok(Shard { first: k - 1, of }),
        _ => Err("K/N is wanted, as in 3/16, with K from 1 to N".into()),
    }
}

impl SweepArgs {
    /// Numbers of this process's jobs, ascending.
    fn mine(&self, jobs: usize) -> impl Iterator<Item = usize> {
        let shard = self.shard.unwrap_or(Shard { first: 0, of: 1 });
        (shard.first..jobs).step_by(shard.of)
    }

    fn identity(&self, jobs: &[Job]) -> Identity {
        let mut keep = self.keep.clone();
        keep.sort_unstable();
        keep.dedup();
        Identity {
            jobs: jobs.len(),
            jobs_sha256: jobs::digest(jobs),
            shard: self.shard.map(|shard| format!("{}/{}", shard.first + 1, shard.of)),
            keep: keep.into_iter().map(|keep| keep.name().to_owned()).collect(),
        }
    }
}

/// Runs the jobs that have no row yet.
///
/// # Errors
/// [`CliError`]; one of code 1 where the sweep went to its end and jobs failed.
pub fn run(args: &SweepArgs) -> Result<(), CliError> {
    let reporter = Reporter::new(args.json_progress);
    let jobs = jobs::read_jobs(&args.jobs)?;
    let identity = args.identity(&jobs);
    // Checked before the folder is touched.
    args.merge.iter().try_for_each(|shard| folder::is_of(shard, &identity))?;
    let folder = Folder::open(&args.out, &identity)?;
    let mut table = Table::open(&folder.table())?;
    if args.merge.is_empty() {
        break_all(args, &jobs, &mut table, &folder, &reporter)?;
    } else {
        merge(args, jobs.len(), &mut table)?;
    }
    let (done, failed) = (table.len(), table.failed());
    table.finish()?;
    drop(reporter);
    let shown = folder.table().display().to_string();
    super::print(&format!("{done} jobs, {failed} failed; {shown}\n"));
    if failed > 0 {
        let why = format!("{failed} of {done} jobs failed; the column `error` of {shown} says why");
        return Err(CliError::Outcome(why));
    }
    Ok(())
}

/// Merges the tables of shards, then adds the jobs still without a row.
fn merge(args: &SweepArgs, jobs: usize, table: &mut Table) -> Result<(), CliError> {
    for shard in &args.merge {
        table.take_over(&folder::table_in(shard))?;
    }
    let missing: Vec<usize> = (0..jobs).filter(|job| !table.has(*job)).collect();
    if let Some(first) = missing.first() {
        let n = missing.len();
        return Err(CliError::Input(format!(
            "{n} jobs, the first of them number {first}, are in none of the folders; run the shards that are \
             missing, or run the sweep in {} without --merge to break them",
            args.out.display()
        )));
    }
    Ok(())
}

fn break_all(
    args: &SweepArgs,
    jobs: &[Job],
    table: &mut Table,
    folder: &Folder,
    reporter: &Reporter,
) -> Result<(), CliError> {
    let left: Vec<usize> = args.mine(jobs.len()).filter(|job| !table.has(*job)).collect();
    if left.is_empty() {
        return Ok(());
    }
    let compute = args.compute.open(reporter)?;
    let mut breaks = Breaks::new(args, &compute)?;
    let (before, all) = (table.len(), args.mine(jobs.len()).count());
    reporter.stage("sweep", |progress| -> Result<(), CliError> {
        progress.set(before as f32 / all as f32);
        let mut read: Option<(&str, Result<ReadMesh, String>)> = None;
        for group in groups(jobs, &left) {
            let first = &jobs[group[0]];
            if read.as_ref().is_none_or(|(mesh, _)| *mesh != first.mesh) {
                // The previous mesh is freed before the next one is read.
                drop(read.take());
                let file = PathBuf::from(beside(&args.jobs, &first.mesh));
                let loaded = caught(|| load_mesh(&file, reporter).map_err(|error| error.to_string()));
                read = Some((&first.mesh, loaded.unwrap_or_else(Err)));
            }
            let Some((_, mesh)) = &read else { continue };
            let object = mesh.as_ref().map_err(Clone::clone);
            let object = object.and_then(|mesh| caught(|| breaks.object(mesh, first)).unwrap_or_else(Err));
            for &number in &group {
                let job = &jobs[number];
                let row = match &object {
                    Ok(object) => breaks.row(object, job, number, folder)?,
                    Err(why) => breaks.failure(job, why),
                };
                breaks.notes.drain(..).for_each(|note| reporter.warn(&note));
                if let Some(why) = row.get(table::ERROR) {
                    reporter.warn(&format!("job {number}: {why}"));
                }
                table.add(number, row)?;
                progress.set(table.len() as f32 / all as f32);
            }
            if let Ok(object) = object {
                breaks.forget(object);
            }
        }
        Ok(())
    })
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
        let octree = *of_octree.entry((mesh, job.how.up(), job.level)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[octree].push(number);
    }
    order.into_iter().flat_map(|(_, groups)| groups).collect()
}

/// A file that the job file names, relative to the working directory.
fn beside(jobs: &Path, file: &str) -> String {
    if file.starts_with("builtin:") || Path::new(file).is_absolute() {
        return file.to_owned();
    }
    jobs.parent().unwrap_or(Path::new("")).join(file).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::FractureParams;

    #[test]
    fn a_shard_is_every_nth_job_and_shards_share_all_of_them() {
        assert_eq!(parse_shard("3/16"), Ok(Shard { first: 2, of: 16 }));
        for bad in ["0/4", "5/4", "1", "1/0", "a/b", "-1/3"] {
            assert!(parse_shard(bad).is_err(), "{bad}");
        }
        let of = |shard: Shard| (shard.first..10).step_by(shard.of).collect::<Vec<_>>();
        let mut all: Vec<usize> = (1..=4).flat_map(|k| of(parse_shard(&format!("{k}/4")).unwrap())).collect();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn jobs_of_one_octree_are_done_together() {
        let job = |mesh: &str, level| Job {
            mesh: mesh.into(),
            how: jobs::How::default(),
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
