//! `kintsugi compare`: one blow by several methods, side by side as a table and as a picture.
//!
//! In: a mesh, the options of a blow, the methods. Out: each method's times, pieces, volumes, faces and number of
//! closed meshes, and the difference of its cells' volumes from the first method's. All methods get the same seeds.

use crate::geometry::Aabb;
use std::{collections::BTreeMap, fmt::Write as _, path::PathBuf, sync::Arc, time::Instant};

use clap::Args;
use serde::Serialize;

use crate::{
    compute::{Compute, RanOn},
    export::{MeshTally, Signature, report::put_json, write_signed},
    facade::{
        Viewpoint,
        stills::{Still, draw, pieces, plain_options, surface_points},
    },
    fracture::{BrokenObject, Cancel, Fracturer, MethodEntry, MethodId, Passes, by_any_blow, generations},
    mesh::Objects,
    render::{ColorBy, Renderer},
    svo::Arena,
};

use super::{
    CliError,
    fracture::{PatternArgs, Which},
    input::{Object, about},
    progress::Reporter,
};

/// Default leaf level.
const LEVEL: u32 = 7;

#[derive(Args)]
pub struct CompareArgs {
    #[command(flatten)]
    compute: super::ComputeArgs,
    /// Mesh file, or builtin:NAME
    file: PathBuf,
    /// Octree level of the octree methods [default: 7; of a VOX file the lowest that holds its own voxels]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(super::LEVELS))]
    level: Option<u32>,
    /// Methods to compare, the one that others are measured by first [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = super::fracture::parse_method)]
    methods: Vec<MethodId>,
    #[command(flatten)]
    pattern: PatternArgs,
    /// How often each breaks: times are medians
    #[arg(long, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// A file for the table as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// A picture of all results next to each other, moved apart
    #[arg(long, value_name = "PNG")]
    picture: Option<PathBuf>,
    /// Size of the picture, pixels
    #[arg(long, value_name = "WxH", default_value = "1600x640", value_parser = super::parse_size)]
    size: [u32; 2],
    /// How far pieces are moved apart in the picture
    #[arg(long, value_name = "X", default_value_t = 0.25, value_parser = super::render::parse_explode)]
    explode: f64,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

/// Results of one method.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// The method's name.
    pub method: String,
    /// Why the method rejected the object; all figures are then 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Wall-clock median of a break, ms.
    pub median_ms: f64,
    /// Medians of its stages, ms.
    pub stages_ms: BTreeMap<String, f64>,
    /// Cells that contain part of the solid.
    pub cells: u64,
    /// Number of pieces.
    pub pieces: u64,
    /// Volume of all pieces, cubic mesh units.
    pub volume: f64,
    /// Relative error of that volume: pieces over source, as the method measures both, minus 1.
    pub volume_error: f64,
    /// Triangles of all pieces' meshes; for octrees those of the smooth meshes.
    pub triangles: u64,
    /// Pieces with closed meshes.
    pub closed: u64,
    /// Largest difference of a cell's volume from that of the first method, as a share of the whole.
    pub largest_difference: f64,
}

#[derive(Serialize)]
struct Results<'a> {
    file: String,
    level: u32,
    seeds: u32,
    rng: u64,
    repeat: u32,
    ran_on: RanOn,
    cpu_threads: usize,
    methods: &'a [Row],
}

/// Runs the command.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &CompareArgs) -> Result<(), CliError> {
    let reporter = Reporter::new(args.json_progress);
    if args.pattern.names_method() {
        return Err(CliError::Input("compare takes --methods, a list, and not --method".into()));
    }
    let measured = args.pattern.measures.measure(&args.file, (args.level, LEVEL), &reporter)?;
    let level = measured.level;
    args.compute.takes(level)?;
    let seeds = args.pattern.check(level)?;
    args.json.iter().try_for_each(|file| super::check_place("--json", file, &[&args.file]))?;
    args.picture.iter().try_for_each(|file| super::check_picture_place("--picture", file, &[&args.file]))?;
    let (object, which) = args.pattern.object(measured, Objects::Touching, &reporter)?;
    let level = object.grid.level;
    let compute = args.compute.open(&reporter)?;
    let passes = Passes::default();
    Fracturer::shared(&passes, &compute)?;
    let mut arena = Arena::new(&compute)?;
    arena.insert(&object.forest)?;

    let (mut rows, mut all) = (Vec::new(), Vec::new());
    let all_methods = || by_any_blow().into_iter().map(MethodEntry::id).collect();
    let compared: Vec<MethodId> = if args.methods.is_empty() { all_methods() } else { args.methods.clone() };
    for method in &compared {
        let mut plan = object.plan(&args.pattern.fracture(level, seeds.clone()))?;
        plan.params = plan.params.by(*method, plan.params.surface);
        let mut runs = Vec::new();
        let mut refused = None;
        for _ in 0..args.repeat {
            let start = Instant::now();
            let broken = reporter.stage(method.name(), |_| {
                generations::break_object(&mut arena, &passes, &object.shape, &plan, &mut |_, _| {})
            });
            match broken {
                Ok(broken) => runs.push((start.elapsed().as_secs_f64() * 1e3, broken)),
                Err(error) => {
                    refused = Some(error.to_string());
                    break;
                }
            }
        }
        let row = match refused {
            Some(refused) => Row { method: method.to_string(), refused: Some(refused), ..Row::default() },
            None => row(*method, &runs),
        };
        rows.push(row);
        all.push(runs.pop().map(|(_, broken)| broken));
    }
    differences(&mut rows, &all);

    let first = args.pattern.params();
    let results = Results {
        file: args.file.display().to_string(),
        level,
        seeds: first.seed_count(),
        rng: first.rng,
        repeat: args.repeat,
        ran_on: compute.ran_on(),
        cpu_threads: rayon::current_num_threads(),
        methods: &rows,
    };
    if let Some(file) = &args.json {
        put_json(file, &results)?.iter().for_each(|note| reporter.warn(note));
    }
    if let Some(file) = &args.picture {
        picture(args, &compute, (&object, which), &all, file, &reporter)?;
    }
    super::print(&table(&rows));
    if rows.iter().all(|row| row.refused.is_some()) {
        return Err(about(&args.file, "no method could break it"));
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn row(method: MethodId, runs: &[(f64, BrokenObject)]) -> Row {
    let mut stages: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (_, broken) in runs {
        for timing in broken.steps.iter().flat_map(|step| &step.result.timings) {
            stages.entry(timing.stage.clone()).or_default().push(timing.ms);
        }
    }
    let Some((_, broken)) = runs.last() else { return Row::default() };
    let result = &broken.steps[0].result;
    let before = result.before_m3.unwrap_or(broken.source.mass().volume_m3);
    let volume: f64 = broken.pieces.iter().map(|at| broken.part(*at).shape.mass().volume_m3).sum();
    let shapes: Vec<_> = broken.pieces.iter().map(|at| Arc::clone(&broken.part(*at).shape)).collect();
    let meshes = MeshTally::of(&shapes, Cancel::never()).unwrap_or_default();
    Row {
        method: method.to_string(),
        median_ms: median(runs.iter().map(|(ms, _)| *ms).collect()),
        stages_ms: stages.into_iter().map(|(name, all)| (name, median(all))).collect(),
        cells: result.counts.cells,
        pieces: broken.pieces.len() as u64,
        volume,
        volume_error: (volume + result.lost.dust_m3) / before - 1.0,
        triangles: meshes.triangles,
        closed: meshes.closed,
        ..Row::default()
    }
}

/// Compares the volumes of cells with those of the first method, in first breaks.
fn differences(rows: &mut [Row], all: &[Option<BrokenObject>]) {
    let cells = |broken: &BrokenObject| {
        let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
        for part in &broken.steps[0].result.parts {
            *sums.entry(part.cell).or_default() += part.shape.mass().volume_m3;
        }
        sums
    };
    let Some(first) = all.iter().flatten().next() else { return };
    let (own, whole) = (cells(first), first.source.mass().volume_m3.max(f64::MIN_POSITIVE));
    for (row, broken) in rows.iter_mut().zip(all) {
        let Some(broken) = broken else { continue };
        let other = cells(broken);
        let ids = own.keys().chain(other.keys());
        let of = |sums: &BTreeMap<u32, f64>, id: &u32| sums.get(id).copied().unwrap_or(0.0);
        row.largest_difference =
            ids.map(|id| (of(&own, id) - of(&other, id)).abs() / whole).fold(0.0, f64::max);
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<10} {:>10} {:>7} {:>7} {:>14} {:>10} {:>10} {:>8} {:>12}\n",
        "method", "median ms", "cells", "pieces", "volume", "error", "triangles", "closed", "cells differ"
    );
    for row in rows {
        // Writing to a string cannot fail.
        let _ = match &row.refused {
            Some(why) => writeln!(text, "{:<10} refused: {why}", row.method),
            None => writeln!(
                text,
                "{:<10} {:>10.2} {:>7} {:>7} {:>14.6} {:>10.1e} {:>10} {:>8} {:>12.1e}",
                row.method,
                row.median_ms,
                row.cells,
                row.pieces,
                row.volume,
                row.volume_error,
                row.triangles,
                row.closed,
                row.largest_difference
            ),
        };
    }
    for row in rows.iter().filter(|row| row.refused.is_none()) {
        let stages: Vec<String> = row.stages_ms.iter().map(|(name, ms)| format!("{name} {ms:.2}")).collect();
        let _ = writeln!(text, "{}: {}", row.method, stages.join(", "));
    }
    text
}

/// Draws all results in a row, the first on the left.
fn picture(
    args: &CompareArgs,
    compute: &Compute,
    (object, which): (&Object, Which),
    all: &[Option<BrokenObject>],
    file: &std::path::Path,
    reporter: &Reporter,
) -> Result<(), CliError> {
    let mut arena = Arena::new(compute)?;
    let mut bodies = Vec::new();
    let Aabb { low, high } = object.bounds;
    let size = (high - low) / (high - low).max_element().max(f64::MIN_POSITIVE);
    let step = (size.x.max(size.z) * (1.25 + 1.1 * args.explode)) as f32;
    for (i, broken) in all.iter().flatten().enumerate() {
        let shift = glam::Mat4::from_translation(glam::Vec3::X * step * i as f32);
        let own = pieces(&mut arena, object, broken, args.explode)?;
        bodies.extend(own.into_iter().enumerate().map(|(id, mut body)| {
            body.world_from_local = shift * body.world_from_local;
            body.id = id as u32;
            body
        }));
    }
    // From the front, so that all are drawn at the same scale, and slightly from above.
    let points = surface_points(&bodies);
    let mut camera = Viewpoint::Front.camera_on(&points, args.size);
    camera.pitch = 0.2;
    camera.frame_points(&points, args.size[0] as f32 / args.size[1].max(1) as f32);
    let still = Still {
        arena: &arena,
        bodies: &bodies,
        camera,
        options: plain_options(ColorBy::Material),
        size: args.size,
        seams: None,
        overlay: None,
    };
    let mut renderer = Renderer::new(compute)?;
    let rgba = reporter.stage("draw", |_| draw(compute, &mut renderer, &still))?;
    let scene = super::render::mesh_scene(&object.file, object.grid.level, &args.pattern, which).to_text();
    let provenance = crate::provenance::of_mesh(object.mesh.digest(), args.pattern.measures.up());
    let signature = Signature::new(compute.ran_on(), provenance, scene);
    write_signed(file, args.size, &rgba, &signature)?.iter().for_each(|note| reporter.warn(note));
    Ok(())
}
