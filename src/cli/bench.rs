//! `kintsugi bench`: every stage measured several times; medians, counts, and the columns of Table 1 of Domaradzki & Martyn
//! 2016 beside them.
//!
//! In: a mesh. Out: a table on stdout, and JSON where asked for. Times on the GPU come from its timestamps,
//! others from the wall clock; a stage's first run, which also warms the driver up, is left out of the
//! medians.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use clap::{Args, ValueEnum};
use glam::{DQuat, DVec3, Vec3};

use crate::{
    bodies::{BodyDef, BodyState, Family, World, WorldSettings},
    export::{InputReport, report::write_json},
    fracture::{Fracture, FractureCounts, FractureParams, Fracturer, MAX_SEEDS, Source},
    gpu::{Buffer, Gpu, StageTiming},
    import::ReadMesh,
    render::{FrameInput, RenderOptions, Renderer},
    scene::load_scene,
    svo::{Arena, coarsen},
    voxelize::{Progress, voxelize},
};

use super::{
    CliError,
    breaking::{Plan, default_impact, first_pattern},
    crack::CrackArgs,
    input::{Object, about, is_scene, load_mesh},
    progress::Reporter,
    stills::{Place, View, world_bounds},
};

/// Size of the ray-cast picture, as the project's targets have it.
const PICTURE: [u32; 2] = [1280, 720];

/// Bodies collide this many levels above the leaves, one more than in scenes.
const PHYSICS_BELOW: u32 = 2;
/// Steps of time for every run that was asked for: single steps differ more than single breaks.
const STEPS_A_RUN: u32 = 10;
/// Levels that the live preview is measured at, and previews for every run.
const PREVIEW_LEVELS: [u32; 2] = [6, 7];
const PREVIEWS_A_RUN: u32 = 4;

#[derive(Args)]
pub struct BenchArgs {
    /// Mesh file, builtin:NAME, or a scene, of which the first body is measured
    #[arg(default_value = "builtin:statue")]
    file: PathBuf,
    /// Octree level: 2^N voxels along the longest side; several, as in 7,8,9, are measured in turn
    #[arg(long, value_name = "N,...", default_values_t = [8u32], value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10))]
    level: Vec<u32>,
    /// Runs of each stage that the medians are taken over
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Number of Voronoi seeds (the paper's bunny has 90)
    #[arg(long, value_name = "N", default_value_t = 90, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SEEDS)))]
    seeds: u32,
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
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

/// Parts of the measurement. The others need the pieces, so the fracture is always among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    Fracture,
    Preview,
    Picture,
    Physics,
}

impl BenchArgs {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// One measured stage.
#[derive(serde::Serialize)]
struct Row {
    stage: String,
    median_ms: f64,
    least_ms: f64,
    most_ms: f64,
    runs: usize,
}

#[derive(serde::Serialize)]
struct Results {
    version: &'static str,
    adapter: String,
    cpu_threads: usize,
    input: InputReport,
    level: u32,
    seeds: u32,
    rng: u64,
    counts: FractureCounts,
    source_nodes: usize,
    piece_nodes: usize,
    /// Most bytes of storage buffers at any moment of a fracture, the source's octree included.
    gpu_peak_bytes: u64,
    stages: Vec<Row>,
    table_1: Vec<Column>,
}

/// A column of the paper's table and the stages here that do its work.
#[derive(serde::Serialize)]
struct Column {
    column: &'static str,
    ms: f64,
    how: &'static str,
}

/// The mesh to measure: that of a scene's first body.
fn mesh_of(file: &Path) -> Result<PathBuf, CliError> {
    if !is_scene(file) {
        return Ok(file.to_path_buf());
    }
    let scene = load_scene(file).map_err(|e| about(file, e))?;
    let body = scene.bodies.into_iter().next();
    body.map(|body| body.file.into())
        .ok_or_else(|| about(file, "the scene has no [[body]] to measure; add one with a file"))
}

/// Measures and prints.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &BenchArgs) -> Result<(), CliError> {
    for level in &args.level {
        args.crack.check(*level)?;
    }
    let reporter = Reporter::new(args.json_progress);
    let mesh = load_mesh(&mesh_of(&args.file)?, &reporter)?;
    let mut all = Vec::with_capacity(args.level.len());
    let mut failure = None;
    for level in &args.level {
        match measure(args, &mesh, *level, &reporter) {
            Ok(results) => all.push(results),
            // What was measured before is not lost.
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    drop(reporter);
    for results in &all {
        super::print(&table(results));
    }
    if all.len() > 1 {
        super::print(&side_by_side(&all));
    }
    match (&args.json, &all[..]) {
        (None, _) | (_, []) => {}
        (Some(path), [only]) if args.level.len() == 1 => write_json(path, only)?,
        (Some(path), _) => write_json(path, &all)?,
    }
    failure.map_or(Ok(()), Err)
}

fn measure(args: &BenchArgs, read: &ReadMesh, level: u32, reporter: &Reporter) -> Result<Results, CliError> {
    let mut samples = Samples::default();
    let mut last = None;
    reporter.stage("voxelise", |progress| -> Result<(), CliError> {
        for run in 0..args.repeat {
            // The one before goes first: at level 10 two are much.
            drop(last.take());
            let start = Instant::now();
            let done = voxelize(&read.mesh, level, &Progress::default()).map_err(|e| about(&args.file, e))?;
            samples.add("voxelise (CPU)", ms_since(start));
            progress.set((run + 1) as f32 / args.repeat as f32);
            last = Some(done);
        }
        Ok(())
    })?;
    let voxelized = last.ok_or_else(|| CliError::Input("--repeat must be at least 1".into()))?;
    let object = read.with_voxels(voxelized, Duration::ZERO);
    let gpu = reporter.stage("open the graphics adapter", |_| Gpu::headless())?;
    let (fracture, gpu_peak_bytes) =
        reporter.stage("fracture", |p| breaks(&gpu, args, &object, &mut samples, p))?;
    if args.wants(Part::Preview) {
        reporter.stage("preview", |p| previews(&gpu, args, &object, &mut samples, p))?;
    }
    if args.wants(Part::Picture) {
        reporter.stage("ray cast", |p| ray_casts(&gpu, args, &object, &fracture, &mut samples, p))?;
    }
    if args.wants(Part::Physics) {
        reporter.stage("physics", |p| physics(&gpu, args, &object, &fracture, &mut samples, p))?;
    }
    gpu.check()?;
    Ok(Results {
        version: env!("CARGO_PKG_VERSION"),
        adapter: gpu.describe(),
        cpu_threads: std::thread::available_parallelism().map_or(1, usize::from),
        level,
        seeds: args.seeds,
        rng: args.rng,
        counts: fracture.counts,
        source_nodes: object.forest.nodes.len(),
        piece_nodes: fracture.forest.nodes.len(),
        gpu_peak_bytes,
        input: InputReport::of(&object),
        table_1: table_1(&samples),
        stages: samples.rows(),
    })
}

fn ms_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn breaks(
    gpu: &Gpu,
    args: &BenchArgs,
    object: &Object,
    samples: &mut Samples,
    progress: &Progress,
) -> Result<(Fracture, u64), CliError> {
    let mut params = FractureParams { seeds: args.seeds, rng: args.rng, ..FractureParams::default() };
    args.crack.apply(&mut params);
    let recipe = params.recipe();
    let plan = Plan {
        impact: default_impact(object),
        params,
        seeds: None,
        bounds: Some(object.bounds),
        generations: 1,
    };
    let pattern = first_pattern(object, &plan)?;
    let fracturer = Fracturer::new(gpu)?;
    let mut arena = Arena::new(gpu)?;
    arena.insert(gpu, &object.forest)?;
    let source = Source::new(&arena, &object.forest, 0)?;
    let _ = gpu.take_peak_bytes();
    let mut result = fracturer.fracture(gpu, &source, &pattern, &recipe)?;
    let peak = gpu.take_peak_bytes();
    for run in 0..args.repeat {
        let start = Instant::now();
        result = fracturer.fracture(gpu, &source, &pattern, &recipe)?;
        samples.add("fracture, wall clock", ms_since(start));
        samples.add_all("fracture: ", &result.timings);
        progress.set((run + 1) as f32 / args.repeat as f32);
    }
    Ok((result, peak))
}

/// The live preview on coarse copies of the object: the pattern and its seams, waited for; and the coarse pieces.
fn previews(
    gpu: &Gpu,
    args: &BenchArgs,
    object: &Object,
    samples: &mut Samples,
    progress: &Progress,
) -> Result<(), CliError> {
    let params = FractureParams { seeds: args.seeds, rng: args.rng, ..FractureParams::default() };
    let plan = Plan {
        impact: default_impact(object),
        params,
        seeds: None,
        bounds: Some(object.bounds),
        generations: 1,
    };
    let fracturer = Fracturer::new(gpu)?;
    let levels = PREVIEW_LEVELS.into_iter().filter(|level| *level <= object.forest.level);
    for (done, level) in levels.enumerate() {
        let coarse = Arc::new(coarsen(&object.forest, level));
        let keys = Buffer::from_slice(gpu, "boundary voxels", &coarse.leaves.keys)?;
        let mut arena = Arena::new(gpu)?;
        arena.insert(gpu, &coarse)?;
        for run in 0..=args.repeat * PREVIEWS_A_RUN {
            let start = Instant::now();
            let pattern = first_pattern(object, &plan)?;
            fracturer.seams(gpu, &keys, level, &pattern)?;
            wait(gpu)?;
            let seams_ms = ms_since(start);
            let start = Instant::now();
            let pattern = first_pattern(object, &plan)?;
            let source = Source::new(&arena, &coarse, 0)?;
            fracturer.fracture(gpu, &source, &pattern, &plan.params.recipe())?;
            if run > 0 {
                samples.add(&format!("preview at level {level}, seams"), seams_ms);
                samples.add(&format!("preview at level {level}, exploded"), ms_since(start));
            }
        }
        progress.set((done + 1) as f32 / PREVIEW_LEVELS.len() as f32);
    }
    Ok(())
}

fn wait(gpu: &Gpu) -> Result<(), CliError> {
    let waited = gpu.device.poll(wgpu::PollType::wait_indefinitely());
    waited.map_err(|e| crate::gpu::GpuError::Driver(e.to_string()))?;
    Ok(())
}

fn ray_casts(
    gpu: &Gpu,
    args: &BenchArgs,
    object: &Object,
    fracture: &Fracture,
    samples: &mut Samples,
    progress: &Progress,
) -> Result<(), CliError> {
    let mut arena = Arena::new(gpu)?;
    arena.insert(gpu, &fracture.forest)?;
    let place = Place::standing(&object.mass);
    let bodies: Vec<_> = fracture
        .pieces
        .iter()
        .map(|p| place.body(place.piece(&fracture.forest, (p.tree, p.mass), 1.0), p.tree, Vec3::ZERO))
        .collect();
    let input = FrameInput {
        arena: &arena,
        bodies: &bodies,
        camera: View::ThreeQuarter.camera(world_bounds(&bodies), PICTURE),
        options: RenderOptions::default(),
        size: PICTURE,
        seams: None,
        overlay: None,
    };
    let mut renderer = Renderer::new(gpu)?;
    for run in 0..=args.repeat {
        let start = Instant::now();
        renderer.draw(gpu, &input)?;
        wait(gpu)?;
        if run > 0 {
            samples.add("picture 1280x720, wall clock", ms_since(start));
            samples.add_all("picture: ", renderer.timings());
        }
        progress.set(run as f32 / args.repeat as f32);
    }
    Ok(())
}

/// Steps of the pieces as they begin to fall apart on a floor.
fn physics(
    gpu: &Gpu,
    args: &BenchArgs,
    object: &Object,
    fracture: &Fracture,
    samples: &mut Samples,
    progress: &Progress,
) -> Result<(), CliError> {
    let mut arena = Arena::new(gpu)?;
    arena.insert(gpu, &fracture.forest)?;
    let place = Place::standing(&object.mass);
    let physics_level = object.forest.level.saturating_sub(PHYSICS_BELOW).max(1);
    let mut world = World::new(gpu, WorldSettings::default())?;
    let family = Family::unique();
    for piece in &fracture.pieces {
        world.add(BodyDef {
            shape: place.piece(&fracture.forest, (piece.tree, piece.mass), 2000.0),
            meters_per_unit: 1.0,
            family,
            friction: 0.6,
            restitution: 0.1,
            fixed: false,
            physics_level,
            state: BodyState {
                position: place.origin + place.h * piece.mass.centre,
                rotation: DQuat::IDENTITY,
                linear_velocity: DVec3::ZERO,
                angular_velocity: DVec3::ZERO,
            },
        });
    }
    let steps = args.repeat * STEPS_A_RUN;
    for step in 0..=steps {
        let start = Instant::now();
        let report = world.step(gpu, &arena)?;
        if step > 0 {
            samples.add(&format!("physics step at level {physics_level}, wall clock"), ms_since(start));
            samples.add_all("physics: ", &report.timings);
        }
        progress.set(step as f32 / steps as f32);
    }
    Ok(())
}

/// Milliseconds per stage, in the order in which stages first came.
#[derive(Default)]
struct Samples(Vec<(String, Vec<f64>)>);

impl Samples {
    fn add(&mut self, stage: &str, ms: f64) {
        match self.0.iter_mut().find(|(name, _)| name == stage) {
            Some((_, times)) => times.push(ms),
            None => self.0.push((stage.to_owned(), vec![ms])),
        }
    }

    /// One run's stages; those of one name are summed first.
    fn add_all(&mut self, prefix: &str, timings: &[StageTiming]) {
        for (stage, ms) in crate::export::report::timings_ms(timings) {
            self.add(&format!("{prefix}{stage}"), ms.as_f64().unwrap_or(0.0));
        }
    }

    fn median(&self, stage: &str) -> f64 {
        self.0.iter().find(|(name, _)| name == stage).map_or(0.0, |(_, times)| median(times))
    }

    fn rows(&self) -> Vec<Row> {
        let row = |(stage, times): &(String, Vec<f64>)| Row {
            stage: stage.clone(),
            median_ms: median(times),
            least_ms: times.iter().copied().fold(f64::INFINITY, f64::min),
            most_ms: times.iter().copied().fold(0.0, f64::max),
            runs: times.len(),
        };
        self.0.iter().map(row).collect()
    }
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => sorted[n / 2 - 1].midpoint(sorted[n / 2]),
    }
}

fn table_1(samples: &Samples) -> Vec<Column> {
    let sum = |stages: &[&str]| stages.iter().map(|s| samples.median(&format!("fracture: {s}"))).sum();
    vec![
        Column {
            column: "FBS extraction",
            ms: sum(&["traverse", "boundary set"]),
            how: "traverse + boundary set",
        },
        Column { column: "voxels sorting", ms: 0.0, how: "not needed: Morton order is kept throughout" },
        Column { column: "islands", ms: sum(&["islands"]), how: "islands" },
        Column { column: "SVO building", ms: sum(&["octrees", "split"]), how: "octrees + split" },
        Column {
            column: "internal nodes",
            ms: 0.0,
            how: "inside FBS extraction: known from the source's masks",
        },
    ]
}

fn table(results: &Results) -> String {
    let mut text = String::new();
    let counts = &results.counts;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}, {} CPU threads", results.adapter, results.cpu_threads);
    let _ = writeln!(
        text,
        "{}: {} triangles, level {}, {} seeds, random seed {}",
        results.input.file, results.input.triangles, results.level, results.seeds, results.rng
    );
    let _ = writeln!(
        text,
        "source leaves {}, crack voxels {}, FBS with copies {}, cells {}, islands {}, pieces {}, nodes {} -> {}",
        counts.source_leaves,
        counts.crack_voxels,
        counts.fbs,
        counts.cells,
        counts.islands,
        counts.pieces,
        results.source_nodes,
        results.piece_nodes
    );
    let _ = writeln!(
        text,
        "GPU buffers in a fracture: {:.0} MB at most, the source's octree included",
        results.gpu_peak_bytes as f64 * 1e-6
    );
    let _ =
        writeln!(text, "\n{:<44} {:>10} {:>10} {:>10} {:>5}", "stage", "median ms", "least", "most", "runs");
    for row in &results.stages {
        let _ = writeln!(
            text,
            "{:<44} {:>10.3} {:>10.3} {:>10.3} {:>5}",
            row.stage, row.median_ms, row.least_ms, row.most_ms, row.runs
        );
    }
    let _ = writeln!(text, "\n{:<44} {:>10}", "as in Table 1 (2016)", "ms");
    for column in &results.table_1 {
        let _ = writeln!(text, "{:<44} {:>10.3}  {}", column.column, column.ms, column.how);
    }
    text
}

/// Medians and counts of several levels, a column each.
fn side_by_side(all: &[Results]) -> String {
    let mut text = String::new();
    let mut row = |name: &str, cell: &dyn Fn(&Results) -> String| {
        let cells: String = all.iter().map(|results| format!(" {:>12}", cell(results))).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<44}{cells}");
    };
    row("level", &|r| r.level.to_string());
    row("source leaves", &|r| r.counts.source_leaves.to_string());
    row("crack voxels", &|r| r.counts.crack_voxels.to_string());
    row("FBS with copies", &|r| r.counts.fbs.to_string());
    row("pieces", &|r| r.counts.pieces.to_string());
    row("nodes of all pieces", &|r| r.piece_nodes.to_string());
    row("GPU buffers in a fracture, MB", &|r| format!("{:.0}", r.gpu_peak_bytes as f64 * 1e-6));
    let mut stages: Vec<&str> = Vec::new();
    for stage in all.iter().flat_map(|results| &results.stages) {
        if !stages.contains(&stage.stage.as_str()) {
            stages.push(&stage.stage);
        }
    }
    for stage in stages {
        row(&format!("{stage}, ms"), &|r| {
            let found = r.stages.iter().find(|s| s.stage == stage);
            found.map_or("-".into(), |s| format!("{:.1}", s.median_ms))
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_stand_side_by_side() {
        let of = |level: u32, stages: &[(&str, f64)]| Results {
            version: "",
            adapter: String::new(),
            cpu_threads: 1,
            input: InputReport { file: String::new(), vertices: 8, triangles: 12, warnings: Vec::new() },
            level,
            seeds: 9,
            rng: 1,
            counts: FractureCounts { fbs: u64::from(level) * 100, ..FractureCounts::default() },
            source_nodes: 0,
            piece_nodes: 0,
            gpu_peak_bytes: 3_400_000,
            table_1: Vec::new(),
            stages: stages
                .iter()
                .map(|(stage, ms)| Row {
                    stage: (*stage).to_owned(),
                    median_ms: *ms,
                    least_ms: *ms,
                    most_ms: *ms,
                    runs: 1,
                })
                .collect(),
        };
        let text = side_by_side(&[of(4, &[("traverse", 1.5)]), of(5, &[("traverse", 2.25), ("split", 3.0)])]);
        let cells = |name: &str| -> Vec<&str> {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line[44..].split_whitespace().collect()
        };
        assert_eq!(cells("FBS with copies"), ["400", "500"]);
        assert_eq!(cells("traverse, ms"), ["1.5", "2.2"]);
        assert_eq!(cells("split, ms"), ["-", "3.0"]);
        assert_eq!(cells("GPU buffers"), ["3", "3"]);
    }

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[]), 0.0);
    }
}
