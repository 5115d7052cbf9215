//! `kintsugi sweep`: many breaks in one process, with one start, into one table.
//!
//! In: a job file. Out: `table.csv`, a row a break, and `table.arrow`; where asked for, a folder of each break. A
//! killed sweep continues where it stopped. Jobs run mesh by mesh and level by level, so that each mesh is read and
//! voxelised once and only one is in memory at a time.

mod arrow;
pub mod begun;
pub mod breaks;
pub mod folder;
pub mod jobs;
mod row;
pub mod run;
pub mod table;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use self::{
    breaks::{Broken, Task},
    folder::{Folder, Identity, SWEEP},
    jobs::Job,
    run::{Run, Shard, beside, mine, parse_shard},
    table::{Row, Table},
};
use super::{CliError, progress::Reporter};
use crate::{
    export::{self, Aside, Assembly, ExportError, Format, Watch},
    voxelize::Progress,
};

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

impl SweepArgs {
    fn identity(&self, jobs: &[Job]) -> Identity {
        let mut keep = self.keep.clone();
        keep.sort_unstable();
        keep.dedup();
        Identity {
            jobs: jobs.len(),
            jobs_sha256: jobs::digest(jobs),
            shard: self.shard.map(|shard| shard.to_string()),
            keep: keep.into_iter().map(|keep| keep.name().to_owned()).collect(),
            dataset: None,
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
    args.merge.iter().try_for_each(|shard| folder::is_of(shard, SWEEP, &identity))?;
    let folder = Folder::open(&args.out, SWEEP, &identity)?;
    let mut table = Table::open(&folder.table())?;
    if args.merge.is_empty() {
        break_all(args, &jobs, &mut table, &folder, &reporter)?;
    } else {
        run::merge("sweep", &args.merge, &args.out, jobs.len(), &mut table)?;
    }
    let (done, failed) = (table.len(), table.failed());
    table.finish()?.iter().for_each(|note| reporter.warn(note));
    drop(reporter);
    let shown = folder.table().display().to_string();
    super::print(&format!("{done} jobs, {failed} failed; {shown}\n"));
    if failed > 0 {
        let why = format!("{failed} of {done} jobs failed; the column `error` of {shown} says why");
        return Err(CliError::Outcome(why));
    }
    Ok(())
}

/// Keeps what the arguments name, as `kintsugi fracture` writes it.
struct Keeping<'a> {
    keep: &'a [Keep],
    folder: &'a Folder,
}

impl Task for Keeping<'_> {
    fn keep(&mut self, number: usize, broken: &mut Broken) -> Result<Row, CliError> {
        if self.keep.is_empty() {
            return Ok(Row::new());
        }
        let aside = Aside::begin(&self.folder.of_job(number))?;
        let to_place = |error: ExportError| aside.moved(error);
        if self.keep.contains(&Keep::Voxels) {
            let pieces = Assembly::of_break(broken.pieces.broken());
            let watch = Watch::whole(&Progress::default());
            export::write(&pieces, Format::Npz, aside.path(), &watch).map_err(to_place)?;
        }
        if self.keep.contains(&Keep::Report) {
            let report = aside.path().join("report.json");
            broken.pieces.tell_of_pieces(&mut broken.report);
            broken.report.write(&report, &broken.timings).map_err(to_place)?;
        }
        broken.notes.extend(aside.finish()?);
        Ok(Row::new())
    }
}

fn break_all(
    args: &SweepArgs,
    jobs: &[Job],
    table: &mut Table,
    folder: &Folder,
    reporter: &Reporter,
) -> Result<(), CliError> {
    let left: Vec<usize> = mine(args.shard, jobs.len()).filter(|job| !table.has(*job)).collect();
    if left.is_empty() {
        return Ok(());
    }
    let compute = args.compute.open(reporter)?;
    let run = Run {
        command: "sweep",
        file: &args.jobs,
        jobs,
        left: &left,
        before: table.len(),
        mesh: &|name| Ok(PathBuf::from(beside(&args.jobs, name))),
        folder: Some(&args.out),
        compute: &compute,
        reporter,
    };
    run.break_all(&mut Keeping { keep: &args.keep, folder }, &mut |number, row| table.add(number, row))
}
