//! `kintsugi bench`: every stage measured several times; medians, counts, and the columns of Table 1 of Domaradzki &
//! Martyn 2016 beside them.
//!
//! In: a mesh, or a scene whose bodies are measured one by one. Out: tables on stdout, optionally JSON and CSV. Times
//! of compute passes come from the device's clock, others from the wall clock; a stage's first run, which also warms a
//! driver up, is left out of the medians.

mod neighbours;
mod paper;
mod rays;
mod samples;
mod stages;
mod subject;
mod tables;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::{Args, ValueEnum};

use self::{
    paper::{Column, table_1},
    rays::RayRate,
    samples::{Row, Samples},
    stages::{Bench, primary_rays},
    subject::Subject,
};
use super::{
    CliError, LEVELS,
    crack::CrackArgs,
    input::{Object, about},
    measures::MeasureArgs,
    progress::Reporter,
};
use crate::{
    compute::{Choice, Compute, RanOn},
    export::{InputReport, disk::put_listed, report::put_json},
    fracture::{FractureCounts, MAX_SEEDS, Surface, crack::CrackShape},
    gpu::{Gpu, Traffic, ms_since},
    import::ReadMesh,
    provenance::{Provenance, VERSION},
    voxelize::Progress,
};

#[derive(Args)]
pub struct BenchArgs {
    #[command(flatten)]
    compute: super::ComputeArgs,
    #[command(flatten)]
    coarser: super::input::CoarserArgs,
    /// Measure on the graphics adapter and on the processor in turn
    #[arg(long, conflicts_with = "compute")]
    both: bool,
    /// Mesh file, builtin:NAME, or a scene, whose bodies are measured with their own parameters
    #[arg(default_value = "builtin:statue")]
    file: PathBuf,
    #[command(flatten)]
    measures: MeasureArgs,
    /// Octree level: 2^N voxels along the longest side; several, as in 7,8,9, are measured in turn [default: 8; of a
    /// scene, its own; of a VOX file the lowest that holds its own voxels]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(LEVELS))]
    level: Vec<u32>,
    /// Runs of each stage that the medians are taken over
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Number of Voronoi seeds [default: 90, as the paper's bunny; of a scene, its own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SEEDS)))]
    seeds: Option<u32>,
    /// Cells farther from the impact than this stay together; a fraction of the object's longest side
    #[arg(long, value_name = "R", value_parser = super::parse_positive)]
    local: Option<f64>,
    /// Random seed of the pattern
    #[arg(long, value_name = "N", default_value_t = 1)]
    rng: u64,
    #[command(flatten)]
    crack: CrackArgs,
    /// What to measure beside voxelising; with `fracture` alone large levels take seconds, not minutes [default: all]
    #[arg(long, value_name = "STAGE,...", value_delimiter = ',')]
    only: Vec<Part>,
    /// Also write the figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write the stages' times to this file, a line each
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

/// Parts of the measurement. All other parts need the pieces, so the fracture always runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    Fracture,
    Preview,
    Picture,
    /// First hits alone, on the processor
    Rays,
    Physics,
    /// Voronoi cells of 10 to 10,000 sites by linear scan and by sphere tree, on the processor; not among the default
    /// parts
    Neighbours,
}

impl BenchArgs {
    fn wants(&self, part: Part) -> bool {
        let unasked = self.only.is_empty() && part != Part::Neighbours;
        unasked || self.only.contains(&part)
    }

    /// The backends to measure, in turn.
    fn computes(&self, reporter: &Reporter) -> Result<Vec<Compute>, CliError> {
        if !self.both {
            return Ok(vec![self.compute.open(reporter)?]);
        }
        let gpu = reporter.stage("open the graphics adapter", |_| Compute::open(Choice::Gpu))?;
        Ok(vec![gpu, Compute::Cpu])
    }
}

/// Memory traffic of one part on a device in one run.
#[derive(serde::Serialize)]
struct PartTraffic {
    stage: String,
    #[serde(flatten)]
    traffic: Traffic,
    /// Time that the device's memory needs to copy as many bytes, ms.
    memory_ms: f64,
}

#[derive(serde::Serialize)]
struct Results {
    version: &'static str,
    provenance: Provenance,
    #[serde(flatten)]
    ran_on: RanOn,
    cpu_threads: usize,
    name: String,
    input: InputReport,
    level: u32,
    seeds: u32,
    rng: u64,
    surface: Surface,
    /// Shape of rough and dusty cracks, with the transition level that was used.
    crack: Option<CrackShape>,
    counts: FractureCounts,
    source_nodes: usize,
    piece_nodes: usize,
    /// Most bytes of storage buffers at any moment of a fracture, the source's octree included; 0 on the CPU.
    gpu_peak_bytes: u64,
    /// Rate of primary rays in a picture of all pieces.
    primary_mrays_per_s: f64,
    /// Rates of first hits alone, with the pieces moved apart; CPU only.
    rays: Vec<RayRate>,
    stages: Vec<Row>,
    /// Bytes per second that a copy on the device reads and writes, measured in the same run; 0 on the CPU.
    copy_bytes_per_s: f64,
    traffic: Vec<PartTraffic>,
    table_1: Vec<Column>,
}

/// Runs the command: each table is printed when it is measured.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &BenchArgs) -> Result<(), CliError> {
    let reporter = Reporter::new(args.json_progress);
    let subjects = Subject::all(args, &reporter)?;
    for level in subjects.iter().flat_map(|subject| &subject.levels) {
        args.compute.takes(*level)?;
        args.crack.check(*level)?;
    }
    for (option, file) in [("--json", &args.json), ("--csv", &args.csv)] {
        file.iter().try_for_each(|place| super::check_place(option, place, &[&args.file]))?;
    }
    let mut all = Vec::new();
    let failure = measure_all(args, &subjects, &reporter, &mut all).err();
    drop(reporter);
    if all.len() > 1 {
        super::print(&tables::side_by_side(&all));
    }
    let mut kept = match (&args.json, &all[..]) {
        (None, _) | (_, []) => None,
        (Some(path), [only]) if failure.is_none() => put_json(path, only)?,
        (Some(path), _) => put_json(path, &all)?,
    }
    .into_iter()
    .collect::<Vec<_>>();
    if let (Some(path), false) = (&args.csv, all.is_empty()) {
        kept.extend(put_listed(path, tables::csv(&all).as_bytes())?);
    }
    kept.iter().for_each(|note| Reporter::new(false).warn(note));
    failure.map_or(Ok(()), Err)
}

fn measure_all(
    args: &BenchArgs,
    subjects: &[Subject],
    reporter: &Reporter,
    all: &mut Vec<Results>,
) -> Result<(), CliError> {
    let read: Vec<ReadMesh> =
        subjects.iter().map(|subject| subject.read(reporter)).collect::<Result<_, _>>()?;
    for (subject, read) in subjects.iter().zip(&read) {
        for level in &subject.levels {
            // A new device for each subject: once Mesa's software driver has drawn a picture, its clock reports almost
            // no time for later passes.
            for compute in args.computes(reporter)? {
                let results = measure(args, subject, (read, *level), &compute, reporter)?;
                reporter.undisturbed(|| super::print(&format!("{}\n", tables::table(&results))));
                all.push(results);
            }
        }
    }
    Ok(())
}

fn measure(
    args: &BenchArgs,
    subject: &Subject,
    (read, level): (&ReadMesh, u32),
    compute: &Compute,
    reporter: &Reporter,
) -> Result<Results, CliError> {
    compute.takes(level)?;
    let mut samples = Samples::default();
    let mut last = None;
    reporter.stage("voxelise", |progress| -> Result<(), CliError> {
        let start = Instant::now();
        read.prepared();
        samples.add("check, once a mesh (CPU)", ms_since(start));
        for run in 0..args.repeat {
            drop(last.take());
            let start = Instant::now();
            let done = read.prepared().voxelize(level, &Progress::default());
            let done = done.map_err(|e| about(&subject.file, e))?;
            samples.add("voxelise (CPU)", ms_since(start));
            progress.set((run + 1) as f32 / args.repeat as f32);
            last = Some(done);
        }
        Ok(())
    })?;
    let voxelized = last.ok_or_else(|| CliError::Input("--repeat must be at least 1".into()))?;
    let object = Object::from(read.with_voxels(voxelized, Duration::ZERO));
    let bench = Bench { args, subject, object: &object, compute };
    let copy_bytes_per_s = compute.gpu().map(Gpu::copy_rate).transpose()?.unwrap_or(0.0);
    let mut traffic = Traffics { compute, copy_bytes_per_s, parts: Vec::new() };
    traffic.begin();
    let (fracture, gpu_peak_bytes) = reporter.stage("fracture", |p| bench.breaks(&mut samples, p))?;
    traffic.end("fracture: ", args.repeat + 1);
    if args.wants(Part::Preview) {
        reporter.stage("preview", |p| bench.previews(&mut samples, p))?;
    }
    if args.wants(Part::Picture) {
        traffic.begin();
        reporter.stage("ray cast", |p| bench.pictures(&fracture, &mut samples, p))?;
        traffic.end("picture: ", args.repeat + 1);
    }
    let mut rays = Vec::new();
    if args.wants(Part::Rays) {
        rays = reporter.stage("cast rays", |p| bench.rays(&fracture, &mut samples, p))?;
    }
    if args.wants(Part::Physics) {
        reporter.stage("physics", |p| bench.physics(&fracture, &mut samples, p))?;
    }
    if args.wants(Part::Neighbours) {
        reporter.stage("cells by their neighbours", |p| bench.neighbours(&mut samples, p));
    }
    compute.check()?;
    let input = InputReport::of(&object);
    Ok(Results {
        version: VERSION,
        provenance: crate::provenance::of_mesh(object.mesh.digest(), read.up),
        ran_on: compute.ran_on(),
        cpu_threads: std::thread::available_parallelism().map_or(1, usize::from),
        name: subject.name.clone(),
        level,
        seeds: subject.seed_count(),
        rng: subject.params.rng,
        surface: subject.params.surface,
        crack: subject.crack(level),
        counts: fracture.counts,
        source_nodes: object.forest.nodes.len(),
        piece_nodes: fracture.forest.nodes.len(),
        gpu_peak_bytes,
        // A software driver's clock says nothing about a picture's passes.
        primary_mrays_per_s: if compute.gpu().is_some_and(Gpu::is_software) {
            0.0
        } else {
            primary_rays(&samples)
        },
        rays,
        table_1: table_1(&samples, &input, level, subject.seed_count()),
        input,
        copy_bytes_per_s,
        traffic: traffic.parts,
        stages: samples.rows(),
    })
}

/// Records a device's traffic part by part.
struct Traffics<'a> {
    compute: &'a Compute,
    copy_bytes_per_s: f64,
    parts: Vec<PartTraffic>,
}

impl Traffics<'_> {
    fn begin(&self) {
        let _ = self.compute.gpu().map(Gpu::take_traffic);
    }

    /// Ends a part that was run `runs` times: traffic per run, rounded up. One-time uploads are spread over all runs.
    fn end(&mut self, prefix: &str, runs: u32) {
        let taken = self.compute.gpu().map(Gpu::take_traffic).unwrap_or_default();
        let runs = u64::from(runs.max(1));
        let rate = self.copy_bytes_per_s;
        self.parts.extend(taken.into_iter().map(|(stage, all)| PartTraffic {
            stage: format!("{prefix}{stage}"),
            traffic: Traffic {
                waits: all.waits.div_ceil(runs),
                submissions: all.submissions.div_ceil(runs),
                dispatches: all.dispatches.div_ceil(runs),
                bytes_up: all.bytes_up / runs,
                bytes_down: all.bytes_down / runs,
                bytes_bound: all.bytes_bound / runs,
            },
            memory_ms: if rate > 0.0 { all.bytes_bound as f64 / runs as f64 / rate * 1e3 } else { 0.0 },
        }));
    }
}
