//! `kintsugi sheet`: a contact sheet of one object, broken with each of several values.
//!
//! In: a mesh, one or two parameters with their values. Out: one picture of all results, seen by the same camera: a
//! grid for one parameter, rows and columns for two.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    path::PathBuf,
};

use clap::{Args, ValueEnum};
use glam::Vec3;

use super::{
    CliError,
    fracture::PatternArgs,
    input::{Object, voxelise},
    progress::Reporter,
    render::{mesh_scene, parse_camera, parse_explode},
};
use crate::{
    compute::Compute,
    export::{Signature, write_signed},
    facade::{
        Engine, Fracture, Subject as _, Viewpoint,
        stills::{Place, Stage, Still, draw, plain_options, surface_points},
    },
    fracture::generations::Plan,
    import::display_name,
    mesh::Objects,
    render::{Camera, ColorBy, Renderer},
    scene::{
        fracture_problem, read_seeds,
        variants::{self, Cell, LARGEST, Variant, Vary, caption},
    },
    svo::Arena,
};

/// Default leaf level.
const LEVEL: u32 = 7;
/// Most pictures on a sheet.
const MOST: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ColorName {
    Material,
    Piece,
    Crack,
    Normal,
}

impl From<ColorName> for ColorBy {
    fn from(name: ColorName) -> Self {
        match name {
            ColorName::Material => Self::Material,
            ColorName::Piece => Self::Piece,
            ColorName::Crack => Self::Crack,
            ColorName::Normal => Self::Normal,
        }
    }
}

#[derive(Args)]
pub struct SheetArgs {
    #[command(flatten)]
    compute: super::ComputeArgs,
    /// Mesh file, or builtin:NAME
    file: PathBuf,
    /// A parameter, as scenes name it (docs/scenes.md), or `level`, and its values; given twice, the first one's values
    /// are columns and the second one's rows
    #[arg(long, value_name = "PARAM=A,B,..", required = true, value_parser = Vary::parse)]
    vary: Vec<Vary>,
    /// Picture to write
    #[arg(long, value_name = "PNG")]
    out: PathBuf,
    /// Size of each picture on the sheet, pixels
    #[arg(long, value_name = "WxH", default_value = "420x360", value_parser = super::parse_size)]
    size: [u32; 2],
    /// Side to look from
    #[arg(long, value_name = "NAME", default_value = "three-quarter")]
    view: Viewpoint,
    /// Camera instead of a view, as for `render`
    #[arg(long, value_name = "JSON")]
    camera: Option<String>,
    /// Octree level [default: 7; of a VOX file the lowest that holds its own voxels]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(super::LEVELS))]
    level: Option<u32>,
    /// Move pieces apart by X times their distance from the middle
    #[arg(long, value_name = "X", default_value_t = 0.25, value_parser = parse_explode)]
    explode: f64,
    /// What colours mean
    #[arg(long, value_name = "NAME", default_value = "material")]
    color_by: ColorName,
    #[command(flatten)]
    pattern: PatternArgs,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &SheetArgs) -> Result<(), CliError> {
    let camera = args.camera.as_deref().map(parse_camera).transpose()?;
    super::check_picture_place("--out", &args.out, &[&args.file])?;
    let reporter = Reporter::new(args.json_progress);
    let measured = args.pattern.measures.measure(&args.file, (args.level, LEVEL), &reporter)?;
    let level = measured.level;
    let seeds = args.pattern.check(level)?;
    let struck = args.pattern.struck(measured.mesh(&reporter)?, Objects::Touching, &reporter);
    let (mesh, which) = struck.alone(&reporter);
    let level = args.pattern.measures.level_of(&mesh, level);
    let variants = variants(args, level)?;
    let mut paper = variants::blank(args.size, &args.vary).map_err(CliError::Input)?;
    let [width, height] = paper.size();
    if width.max(height) > LARGEST {
        return Err(CliError::Input(format!(
            "the sheet would have {width} by {height} pixels; at most {LARGEST} are written, so give fewer values or a smaller \
             --size"
        )));
    }
    let mut objects: BTreeMap<u32, Object> = BTreeMap::new();
    for variant in &variants {
        if let Entry::Vacant(place) = objects.entry(variant.level) {
            place.insert(voxelise(&mesh, variant.level, &reporter)?);
        }
    }
    let engine = Engine::from(args.compute.open(&reporter)?);
    let compute = engine.compute();
    let mut renderer = Renderer::new(compute)?;
    let mut eye = camera;
    let quiet = Reporter::new(false);
    reporter.stage("break and draw", |progress| -> Result<(), CliError> {
        for (i, variant) in variants.iter().enumerate() {
            let Some(object) = objects.get(&variant.level) else { continue };
            let plan = object.plan(&Fracture {
                params: variant.params.clone(),
                impact: args.pattern.impact,
                direction: args.pattern.direction,
                seeds: match &variant.params.seeds_file {
                    Some(file) => {
                        Some(read_seeds(file.as_ref()).map_err(|error| CliError::Input(error.message))?)
                    }
                    None => seeds.clone(),
                },
                generations: 1,
            })?;
            let camera = match eye {
                Some(camera) => camera,
                None => *eye.insert(camera_of(args, compute, object)?),
            };
            let cell = picture(args, (&engine, &mut renderer), (object, plan), camera, &quiet)?;
            paper.put(i, &variant.label, &cell).map_err(CliError::Input)?;
            progress.set((i + 1) as f32 / variants.len() as f32);
        }
        Ok(())
    })?;
    let digest = mesh.mesh.digest();
    let scene = mesh_scene(&mesh.file, level, &args.pattern, which).to_text();
    let signature = Signature::new(
        compute.ran_on(),
        crate::provenance::of_mesh(digest, args.pattern.measures.up()),
        scene,
    );
    let kept = write_signed(&args.out, paper.size(), paper.pixels(), &signature)?;
    kept.iter().for_each(|note| reporter.warn(note));
    super::print(&format!("{} pictures: {}\n", variants.len(), args.out.display()));
    Ok(())
}

/// The variants in the order of the sheet: row by row from the top, each from the left.
fn variants(args: &SheetArgs, level: u32) -> Result<Vec<Variant>, CliError> {
    let count = args.vary.iter().map(|vary| vary.values.len()).fold(1usize, usize::saturating_mul);
    if args.vary.len() > 2 {
        return Err(CliError::Input(
            "--vary is given more than twice; a sheet has rows and columns, no more".into(),
        ));
    }
    if count > MOST {
        return Err(CliError::Input(format!(
            "the sheet would have {count} pictures; it holds {MOST}, so give fewer values"
        )));
    }
    let all = variants::variants(&args.pattern.params(), level, &args.vary)
        .map_err(|(vary, why)| CliError::Input(format!("--vary {vary}: {why}")))?;
    for variant in &all {
        args.compute.takes(variant.level)?;
        if let Some(problem) = fracture_problem(&variant.params, variant.level, 1) {
            return Err(CliError::Input(format!("--vary {}: {problem}", variant.label)));
        }
    }
    Ok(all)
}

/// A camera that sees all moved pieces: it frames the whole object's hull, scaled up.
fn camera_of(args: &SheetArgs, compute: &Compute, object: &Object) -> Result<Camera, CliError> {
    let whole = Stage::of(compute, object)?;
    let place = Place::standing(&object.mass);
    let middle = place.matrix(Vec3::ZERO).transform_point3(object.mass.centre.as_vec3());
    let explode = args.explode as f32;
    let lift = Vec3::Y * (explode * middle.y);
    let apart = |point: Vec3| point + (point - middle) * explode + lift;
    let points: Vec<Vec3> = surface_points(&whole.bodies).into_iter().map(apart).collect();
    Ok(args.view.camera_on(&points, args.size))
}

fn picture(
    args: &SheetArgs,
    (engine, renderer): (&Engine, &mut Renderer),
    (object, plan): (&Object, Plan),
    camera: Camera,
    quiet: &Reporter,
) -> Result<Cell, CliError> {
    let broken = object.break_by(engine, plan, quiet)?;
    let mut arena = Arena::new(engine.compute())?;
    let bodies = broken.drawn(&mut arena, args.explode)?;
    let still = Still {
        arena: &arena,
        bodies: &bodies,
        camera,
        options: plain_options(args.color_by.into()),
        size: args.size,
        seams: None,
        overlay: None,
    };
    let rgba = draw(engine.compute(), renderer, &still)?;
    Ok(Cell { rgba, caption: caption(&display_name(&object.file), broken.len()) })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::{
        compute::Choice,
        fracture::Surface,
        scene::{Arrived, Sandbox, Scene, Tuning},
    };

    #[derive(Parser)]
    struct Whole {
        #[command(flatten)]
        args: SheetArgs,
    }

    /// The command that a window shows is read by this one, and says the parameters that the window has.
    #[test]
    fn the_command_of_a_window_says_what_the_window_has() {
        let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
        sandbox.open_scene(Scene::of_mesh("builtin:box", 4));
        while sandbox.poll().unwrap() != Some(Arrived::Opened) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let mut tuning = Tuning::clone(sandbox.tuning());
        let params = &mut tuning.fracture;
        (params.seeds, params.rng, params.local) = (12, 5, Some(0.5));
        (params.surface, params.crack.transition_level, params.crack.noise.octaves) =
            (Surface::Rough, Some(3), 3);
        sandbox.tune("fracture", tuning);
        let struck = sandbox.struck().unwrap();
        let vary = [Vary::parse("seeds=8,30").unwrap()];
        let command = struck.command(&vary).unwrap();
        let words: Vec<&str> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
        let args = Whole::try_parse_from(&words[1..]).unwrap_or_else(|why| panic!("{command}: {why}")).args;
        assert_eq!((args.file, args.level, args.vary), ("builtin:box".into(), Some(4), vary.to_vec()));
        assert_eq!(args.pattern.params(), *struck.params());
        let [impact, direction] = [args.pattern.impact, args.pattern.direction].map(Option::unwrap);
        assert!(impact.is_finite() && direction.z < -0.9, "{impact}, {direction}");
    }
}
