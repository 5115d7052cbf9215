//! `kintsugi [FILE]`: the sandbox window; where there is no display, a tour in pictures.

use std::path::{Path, PathBuf};

use clap::Args;
use glam::{DVec3, Vec3};

use crate::{
    app::{AppError, AppOptions},
    bodies::mass_properties,
    export::{Broken, write_png},
    fracture::FractureParams,
    gpu::{Gpu, GpuError},
    render::{ColorBy, RenderBody, Renderer},
    svo::Arena,
};

use super::{
    CliError,
    breaking::{Plan, break_object, default_impact},
    input::{Object, load_object},
    progress::Reporter,
    stills::{Place, Stage, Still, View, draw, world_bounds},
};

/// Where the tour's pictures go, in the folder that the program was started in.
const TOUR_FOLDER: &str = "kintsugi-tour";
const TOUR_SIZE: [u32; 2] = [960, 720];

#[derive(Args)]
pub struct WindowArgs {
    /// Mesh file, scene file (.toml), or builtin:NAME
    file: Option<PathBuf>,
    /// Octree level of a mesh: 2^N voxels along the longest side
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=10))]
    level: u32,
    /// Window size in pixels
    #[arg(long, value_name = "WxH")]
    size: Option<String>,
    /// Publish the window's state as JSON (for tests)
    #[arg(long, value_name = "PATH", hide = true)]
    state_file: Option<PathBuf>,
    /// Close the window after so many seconds
    #[arg(long, value_name = "S", hide = true)]
    exit_after: Option<f64>,
}

/// Opens the window, or writes the tour.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &WindowArgs) -> Result<(), CliError> {
    let size = args.size.as_deref().and_then(|text| {
        let (w, h) = text.split_once('x')?;
        Some([w.parse().ok()?, h.parse().ok()?])
    });
    let options = AppOptions {
        file: args.file.clone(),
        level: args.level,
        state_file: args.state_file.clone(),
        size,
        exit_after: args.exit_after,
    };
    match crate::app::run(options) {
        Err(AppError::NoDisplay(_)) => {
            let file = args.file.clone().unwrap_or_else(|| PathBuf::from("builtin:vase"));
            tour(&file, args.level)
        }
        Err(AppError::Gpu(error)) => Err(CliError::Gpu(error)),
        Err(error) => Err(CliError::Input(error.to_string())),
        Ok(()) => Ok(()),
    }
}

/// What the sandbox shows, as pictures: the object from several sides, its cracks, its pieces apart.
fn tour(file: &Path, level: u32) -> Result<(), CliError> {
    let reporter = Reporter::new(false);
    let object = load_object(file, level, &reporter)?;
    let folder = std::env::current_dir().unwrap_or_default().join(TOUR_FOLDER);
    super::make_folder(&folder)?;
    let gpu = reporter.stage("open the graphics adapter", |_| Gpu::headless())?;
    let mut renderer = Renderer::new(&gpu)?;
    let mut picture = |name: &str, arena: &Arena, bodies: &[RenderBody], view: View, color_by: ColorBy| {
        let still = Still {
            arena,
            bodies,
            camera: view.camera(world_bounds(bodies), TOUR_SIZE),
            color_by,
            floor: Some(0.0),
            transparent: false,
            size: TOUR_SIZE,
        };
        let pixels = draw(&gpu, &mut renderer, &still)?;
        write_png(&folder.join(name), TOUR_SIZE, pixels)?;
        Ok::<(), CliError>(())
    };
    reporter.stage("draw", |_| -> Result<(), CliError> {
        let whole = Stage::of(&gpu, &object)?;
        picture("1-whole.png", &whole.arena, &whole.bodies, View::ThreeQuarter, ColorBy::Material)?;
        picture("2-front.png", &whole.arena, &whole.bodies, View::Front, ColorBy::Material)?;
        picture("3-normals.png", &whole.arena, &whole.bodies, View::ThreeQuarter, ColorBy::Normal)
    })?;
    let plan = Plan {
        impact: default_impact(&object),
        params: FractureParams::default(),
        seeds: None,
        generations: 1,
    };
    let broken = break_object(&gpu, &object, &plan, &reporter)?;
    let mut arena = Arena::new(&gpu)?;
    let together = pieces(&gpu, &mut arena, &object, &broken, 0.0)?;
    let apart = pieces(&gpu, &mut arena, &object, &broken, 0.35)?;
    reporter.stage("draw", |_| -> Result<(), CliError> {
        picture("4-pieces.png", &arena, &together, View::ThreeQuarter, ColorBy::Piece)?;
        picture("5-apart.png", &arena, &apart, View::ThreeQuarter, ColorBy::Material)?;
        picture("6-cracks.png", &arena, &apart, View::ThreeQuarter, ColorBy::Crack)
    })?;
    drop(reporter);
    super::print(&format!("there is no display; a tour of 6 pictures was written to {}\n", folder.display()));
    Ok(())
}

/// The pieces in place, moved apart by `explode` times their distance from the middle.
fn pieces(
    gpu: &Gpu,
    arena: &mut Arena,
    object: &Object,
    broken: &Broken,
    explode: f64,
) -> Result<Vec<RenderBody>, GpuError> {
    let whole = mass_properties(&object.forest, 0);
    let place = Place::standing(&whole);
    let Some(step) = broken.steps.first() else { return Ok(Vec::new()) };
    let forest = &step.fracture.forest;
    let slot = arena.insert(gpu, forest)?;
    let offset = |centre: DVec3| -> Vec3 {
        let away = (centre - whole.centre) * place.h * explode;
        // Nothing sinks into the floor.
        (away + DVec3::Y * (explode * (whole.centre.y - whole.bounds.0.y) * place.h)).as_vec3()
    };
    Ok(step
        .fracture
        .pieces
        .iter()
        .map(|p| place.body(slot, forest.level, p.tree, &p.mass, offset(p.mass.centre)))
        .collect())
}
