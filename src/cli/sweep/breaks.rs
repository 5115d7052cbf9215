//! One job: breaks an object, checks the result, lets the command keep what it wants of it, and makes its row.

use std::{
    panic::{self, AssertUnwindSafe},
    path::Path,
    time::Instant,
};

use super::{
    jobs::Job,
    row::{of_failure, of_report},
    run::beside,
    table::Row,
};
use crate::{
    cli::{CliError, LEVELS, input::Object},
    compute::Compute,
    export::{FractureReport, InputReport, ParameterReport, checks},
    facade::{Fracture, Pieces, Quiet},
    fracture::{Fracturer, Passes, generations},
    gpu::StageTiming,
    import::ReadMesh,
    provenance::{COMMIT, VERSION},
    scene::{fracture_problem, read_seeds},
    svo::Arena,
};

/// State shared by all jobs.
pub struct Breaks<'a> {
    /// The job file, beside which files of seeds are looked for.
    jobs: &'a Path,
    compute: &'a Compute,
    passes: Passes,
    arena: Arena,
    /// The part of the command line that all shards share, as a JSON list.
    command: String,
    /// Lines for the user about what was kept of somebody's own.
    pub notes: Vec<String>,
}

/// An object used by several jobs, in the arena.
pub struct Shared {
    object: Object,
    digest: String,
}

/// A job that was broken and checked.
pub struct Broken {
    /// The pieces, in units of the mesh.
    pub pieces: Pieces,
    /// The report, with the results of the checks and without times.
    pub report: FractureReport,
    /// Times of the stages so far.
    pub timings: Vec<StageTiming>,
    /// Lines for the user.
    pub notes: Vec<String>,
}

/// What a command does with the breaks of a job file.
pub trait Task {
    /// The job as it is broken: a command may choose the blow itself.
    fn prepared(&self, job: &Job, object: &Object) -> Job {
        let _ = object;
        job.clone()
    }

    /// Keeps what is wanted of the break of job `number`. The answer is cells beside those of the report.
    ///
    /// # Errors
    /// [`CliError`]; one of the device or the disk ends all jobs.
    fn keep(&mut self, number: usize, broken: &mut Broken) -> Result<Row, CliError>;

    /// The cells of a job that failed, beside its parameters.
    fn of_failure(&self, number: usize) -> Row {
        let _ = number;
        Row::new()
    }
}

impl<'a> Breaks<'a> {
    /// Compiles the passes, if the backend has any. `command` is the name of the command that runs `jobs`, the job file.
    ///
    /// # Errors
    /// [`CliError`].
    pub fn new(command: &str, jobs: &'a Path, compute: &'a Compute) -> Result<Self, CliError> {
        let passes = Passes::default();
        Fracturer::shared(&passes, compute)?;
        let command = ["kintsugi", command, &jobs.to_string_lossy(), "--compute", compute.name()];
        let command = serde_json::json!(command).to_string();
        Ok(Self { jobs, compute, passes, arena: Arena::new(compute)?, command, notes: Vec::new() })
    }

    /// Loads the object that a job shares with others, or says why it cannot be loaded.
    pub fn object(&mut self, mesh: &ReadMesh, job: &Job) -> Result<Shared, String> {
        if !LEVELS.contains(&i64::from(job.level)) {
            let (low, high) = (LEVELS.start(), LEVELS.end());
            return Err(format!("level is {}; it must be from {low} to {high}", job.level));
        }
        let measures = job.how.measures();
        let mesh = measures.apply(mesh).map_err(|error| error.to_string())?;
        let level = measures.level(&mesh, Some(job.level), job.level).map_err(|error| error.to_string())?;
        self.compute.takes(level).map_err(|error| error.to_string())?;
        self.share(Object::of(&mesh, level, &Quiet).map_err(|error| error.to_string())?)
    }

    /// Takes an object that is voxelised already, or says why it has no room.
    pub fn share(&mut self, object: Object) -> Result<Shared, String> {
        self.arena.insert(&object.forest).map_err(|error| error.to_string())?;
        Ok(Shared { digest: object.mesh.digest(), object })
    }

    /// Frees an object.
    pub fn forget(&mut self, shared: Shared) {
        self.arena.remove(&shared.object.forest);
        drop(shared);
        crate::memory::give_back();
    }

    /// The row of a job that could not start.
    pub fn failure(&self, job: &Job, number: usize, task: &impl Task, why: &str) -> Row {
        let mut row = of_failure(job, why);
        row.extend(task.of_failure(number));
        self.signed(row)
    }

    /// Runs a job; an error that concerns only this job becomes a row, too.
    ///
    /// # Errors
    /// [`CliError`] where no job could go on: the device is lost, or the disk is full.
    pub fn row(
        &mut self,
        shared: &Shared,
        job: &Job,
        number: usize,
        task: &mut impl Task,
    ) -> Result<Row, CliError> {
        let start = Instant::now();
        let made = caught(|| self.made(shared, job, number, task));
        let mut row = match made.unwrap_or_else(|why| Err(CliError::Input(why))) {
            Ok(row) => row,
            Err(error @ (CliError::Gpu(_) | CliError::Export(_))) if ends_all(&error) => return Err(error),
            Err(error) => self.failure(job, number, &*task, &error.to_string()),
        };
        row.insert("mesh_sha256".into(), shared.digest.clone());
        let warnings = &shared.object.warnings;
        if !warnings.is_empty() {
            row.insert("warnings".into(), serde_json::json!(warnings).to_string());
        }
        row.insert("seconds".into(), format!("{:.6}", start.elapsed().as_secs_f64()));
        row.insert("import_seconds".into(), format!("{:.6}", shared.object.seconds));
        Ok(self.signed(row))
    }

    fn signed(&self, mut row: Row) -> Row {
        let ran_on = self.compute.ran_on();
        row.insert("version".into(), VERSION.into());
        row.insert("commit".into(), COMMIT.into());
        row.insert("command".into(), self.command.clone());
        row.insert("compute".into(), ran_on.compute.into());
        row.insert("adapter".into(), ran_on.adapter);
        row
    }

    /// The cells of a break by its report, and those of the command.
    fn made(
        &mut self,
        shared: &Shared,
        job: &Job,
        number: usize,
        task: &mut impl Task,
    ) -> Result<Row, CliError> {
        // The edge of a voxel may have decided another level than the job has.
        let job = &Job { level: shared.object.grid.level, ..task.prepared(job, &shared.object) };
        let mut broken = self.broken(shared, job)?;
        let own = task.keep(number, &mut broken)?;
        self.notes.append(&mut broken.notes);
        broken.report.tell_times(&broken.timings);
        let mut row = of_report(job, &broken.report);
        row.extend(own);
        Ok(row)
    }

    /// Breaks and checks.
    fn broken(&mut self, shared: &Shared, job: &Job) -> Result<Broken, CliError> {
        let (object, params) = (&shared.object, &job.params);
        if let Some(problem) = fracture_problem(params, job.level, job.how.generations()) {
            return Err(CliError::Input(problem));
        }
        let seeds = params.seeds_file.as_ref().map(|file| read_seeds(Path::new(&beside(self.jobs, file))));
        let seeds = seeds.transpose().map_err(|error| CliError::Input(error.message))?;
        let plan = object.plan(&Fracture {
            params: params.clone(),
            impact: job.how.impact,
            direction: job.how.direction,
            seeds,
            generations: job.how.generations(),
        })?;
        let mut timings: Vec<StageTiming> = Vec::new();
        let mut timed = |stage: &str, start: Instant| {
            timings.push(StageTiming { stage: stage.into(), ms: start.elapsed().as_secs_f64() * 1e3 });
        };
        let mut of_stages = Vec::new();
        let start = Instant::now();
        let mut watch = |_: f32, stages: &[StageTiming]| of_stages.extend_from_slice(stages);
        let broken =
            generations::break_object(&mut self.arena, &self.passes, &object.shape, &plan, &mut watch)?;
        self.compute.check()?;
        timed("fracture", start);
        let start = Instant::now();
        let checks = checks::check(&broken);
        timed("check", start);
        let parameters = ParameterReport::of_break(&broken, &plan, job.level);
        let read = (InputReport::of(object), object.health.clone());
        let ran_on = self.compute.ran_on();
        let provenance = crate::provenance::of_mesh(shared.digest.clone(), job.how.up());
        let report =
            FractureReport::new(&broken, object.mass.volume, read, ran_on.clone(), parameters, checks)
                .made_by(provenance);
        timings.extend(of_stages);
        let pieces = Pieces::new(object.clone(), plan, broken, ran_on);
        Ok(Broken { pieces, report, timings, notes: Vec::new() })
    }
}

/// Runs work of one job. A panic becomes an error of that job, so that the others go on and a sweep that is started again
/// does not run into it once more.
///
/// # Errors
/// What the panic said.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let said = payload.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("it said nothing");
        format!("panicked: {}", said.split_whitespace().collect::<Vec<_>>().join(" "))
    })
}

/// Whether later jobs would fail with the same error.
fn ends_all(error: &CliError) -> bool {
    matches!(error, CliError::Export(_)) || error.exit_code() != 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_panics_is_one_failed_job() {
        assert_eq!(caught(|| 7), Ok(7));
        let told = caught(|| -> u32 { panic!("index {} is out of\n bounds", 3) });
        assert_eq!(told, Err("panicked: index 3 is out of bounds".to_owned()));
    }
}
