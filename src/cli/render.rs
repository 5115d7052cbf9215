//! `kintsugi render`: one picture of a mesh or scene, without a window.

use std::{path::PathBuf, sync::PoisonError};

use clap::Args;

use crate::{
    export::write_png,
    fracture::{FractureParams, Fracturer, Seams},
    gpu::{Buffer, Gpu},
    render::{BodySeams, Camera, ColorBy, Renderer},
    svo::coarsen,
};

use super::{
    CliError,
    breaking::{Plan, default_impact, first_pattern},
    input::{Object, about, is_scene, load_object},
    progress::Reporter,
    simulate::{open, read_scene},
    stills::{Stage, Still, View, draw, surface_points},
};

#[derive(Args)]
pub struct RenderArgs {
    /// Mesh file, scene file (.toml), or builtin:NAME
    file: PathBuf,
    /// Picture to write
    #[arg(long, value_name = "PNG")]
    out: PathBuf,
    /// Picture size in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = super::parse_size)]
    size: [u32; 2],
    /// Side to look from
    #[arg(long, value_name = "NAME", default_value = "three-quarter")]
    view: View,
    /// Camera instead of a view: JSON, or a file with it: {"target":[x,y,z],"distance":m,"yaw":rad,"pitch":rad,"fov_y":rad}
    #[arg(long, value_name = "JSON")]
    camera: Option<String>,
    /// Leave background and floor out (alpha 0)
    #[arg(long)]
    transparent: bool,
    /// Show in gold where a blow with N seeds would crack it; meshes only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=400))]
    seams: Option<u32>,
    /// Random seed of --seams
    #[arg(long, value_name = "N", default_value_t = 1)]
    rng: u64,
    /// Octree level of a mesh: 2^N voxels along the longest side
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10))]
    level: u32,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

/// Draws and writes.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &RenderArgs) -> Result<(), CliError> {
    let camera = args.camera.as_deref().map(parse_camera).transpose()?;
    if args.out.is_dir() {
        return Err(about(&args.out, "this is a folder; give --out a file name, as in picture.png"));
    }
    let reporter = Reporter::new(args.json_progress);
    if is_scene(&args.file) {
        if args.seams.is_some() {
            return Err(about(
                &args.file,
                "--seams shows the cracks of one mesh; give it a mesh or builtin:NAME",
            ));
        }
        return scene(args, camera, &reporter);
    }
    let object = load_object(&args.file, args.level, &reporter)?;
    let gpu = reporter.stage("open the graphics adapter", |_| Gpu::headless())?;
    let stage = reporter.stage("upload", |_| Stage::of(&gpu, &object))?;
    let seams = args.seams.map(|seeds| cracks(args, &gpu, &object, seeds, &reporter)).transpose()?;
    let still = Still {
        arena: &stage.arena,
        bodies: &stage.bodies,
        camera: camera.unwrap_or_else(|| {
            args.view.camera_on(&surface_points(&stage.bodies, |_| Some(&*object.forest)), args.size)
        }),
        color_by: ColorBy::Material,
        floor: Some(0.0),
        transparent: args.transparent,
        size: args.size,
        seams: seams.as_ref().map(|(seams, first)| BodySeams { body: 0, seams, first: *first }),
    };
    picture(args, &gpu, &still, &reporter)
}

/// A scene as it starts, from its own camera unless one is given.
fn scene(args: &RenderArgs, camera: Option<Camera>, reporter: &Reporter) -> Result<(), CliError> {
    let scene = read_scene(&args.file, args.level, reporter)?;
    let gpu = reporter.stage("open the graphics adapter", |_| Gpu::headless())?;
    let (own_camera, color_by) = (scene.camera, scene.view.color_by);
    let floor = scene.floor.then_some(scene.floor_height as f32);
    let sandbox = open(&gpu, scene, reporter)?;
    let bodies = sandbox.render_bodies(None);
    let arena = sandbox.arena().read().unwrap_or_else(PoisonError::into_inner);
    let whole = || args.view.camera_on(&sandbox.surface_points(None), args.size);
    let still = Still {
        arena: &arena,
        bodies: &bodies,
        camera: camera.or(own_camera).unwrap_or_else(whole),
        color_by,
        floor,
        transparent: args.transparent,
        size: args.size,
        seams: None,
    };
    picture(args, &gpu, &still, reporter)
}

/// Level of the octree that the cracks are listed on: they are the same at every level.
const SEAM_LEVEL: u32 = 6;

/// Where the default blow would crack the object, and its first voxel at the level of the lists.
fn cracks(
    args: &RenderArgs,
    gpu: &Gpu,
    object: &Object,
    seeds: u32,
    reporter: &Reporter,
) -> Result<(Seams, u32), CliError> {
    let params = FractureParams { seeds, rng: args.rng, ..FractureParams::default() };
    let plan = Plan { impact: default_impact(object), params, seeds: None, generations: 1 };
    let pattern = first_pattern(object, &plan)?;
    reporter.stage("cracks", |_| {
        let level = SEAM_LEVEL.min(args.level);
        let coarse = coarsen(&object.forest, level);
        let keys = Buffer::from_slice(gpu, "boundary voxels", &coarse.leaves.keys)?;
        let seams = Fracturer::new(gpu)?.seams(gpu, &keys, level, &pattern)?;
        let first = if level < args.level { object.forest.level_start[level as usize] } else { 0 };
        Ok((seams, first))
    })
}

fn picture(args: &RenderArgs, gpu: &Gpu, still: &Still<'_>, reporter: &Reporter) -> Result<(), CliError> {
    let pixels = reporter.stage("draw", |_| draw(gpu, &mut Renderer::new(gpu)?, still))?;
    write_png(&args.out, args.size, pixels)?;
    super::print(&format!("{}\n", args.out.display()));
    Ok(())
}

/// JSON itself, or the name of a file that holds it.
fn parse_camera(text: &str) -> Result<Camera, CliError> {
    let inline = text.trim_start().starts_with('{');
    let json = if inline {
        text.to_owned()
    } else {
        std::fs::read_to_string(text).map_err(|e| {
            CliError::Input(format!(
                "{text}: the camera cannot be read: {e}; give --camera JSON or a file with it"
            ))
        })?
    };
    let camera: Camera = serde_json::from_str(&json).map_err(|e| {
        CliError::Input(format!("--camera: {e}; wanted are target, distance, yaw, pitch and fov_y"))
    })?;
    let numbers = [camera.distance, camera.yaw, camera.pitch, camera.fov_y];
    if !camera.target.is_finite() || numbers.iter().any(|v| !v.is_finite()) || camera.distance <= 0.0 {
        return Err(CliError::Input(
            "--camera: every number must be finite, and the distance above 0".into(),
        ));
    }
    Ok(camera)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cameras_are_checked() {
        let good = r#"{"target":[0,0.5,0],"distance":2,"yaw":0.5,"pitch":0.2,"fov_y":0.6}"#;
        assert!(parse_camera(good).is_ok_and(|c| c.distance == 2.0));
        assert!(parse_camera(&good.replace("2,", "-2,")).is_err());
        assert!(parse_camera("{}").is_err_and(|e| e.exit_code() == 2));
        assert!(parse_camera("no-such-camera.json").is_err());
    }
}
