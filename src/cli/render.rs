//! `kintsugi render`: one picture of a mesh or scene, without a window.
//!
//! In: arguments. Out: the picture in memory, which [`run`] writes and `kintsugi figure` puts on a page.

use std::{
    path::{Path, PathBuf},
    sync::PoisonError,
};

use clap::Args;

use crate::{
    compute::Compute,
    export::{Signature, disk::put_listed, write_signed},
    facade::{
        Engine, Subject as _, Viewpoint,
        stills::{Place, Stage, Still, draw, plain_options, surface_points},
    },
    files,
    fracture::{Fracturer, Seams, Source, Surface, generations::Plan},
    mesh::Objects,
    render::{Backdrop, BodySeams, Camera, CellMarks, Overlay, RenderOptions, Renderer},
    scene::{Sandbox, Scene},
    svo::{Arena, KeyArray, coarsen},
};

use super::{
    CliError,
    coloring::{ColoringArgs, Explained, sliced, whole},
    fracture::{PatternArgs, Which},
    input::{Object, about, is_scene, read_scene},
    playing::{break_the_rest, open, play_until},
    progress::Reporter,
    showing::{ShowArgs, about_labels},
    vector,
};

/// Default leaf level of a mesh.
const LEVEL: u32 = 8;

impl RenderArgs {
    /// Whether the picture is a drawing of lines and faces.
    fn is_vector(&self) -> bool {
        self.out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"))
    }

    /// Whether the picture has lines and flat faces alone, so that it can be a drawing.
    pub fn is_flat(&self) -> bool {
        self.show.only() || self.coloring.is_alone()
    }

    /// Width and height of the picture, pixels.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Refuses a picture that cannot be written, before the work starts.
    fn check_out(&self) -> Result<(), CliError> {
        if !self.is_vector() {
            return super::check_picture_place("--out", &self.out, &[&self.file]);
        }
        if !self.is_flat() {
            let message = "--out: a drawing as SVG has lines and flat faces, and no bodies: add --slice-alone, or --only to \
                           --show, or give a name that ends in .png";
            return Err(CliError::Input(message.into()));
        }
        super::check_place("--out", &self.out, &[&self.file])
    }

    /// How the picture of a mesh looks.
    fn options(&self) -> RenderOptions {
        let (transparent, catches_shadows) = (self.transparent, self.shadows);
        RenderOptions { transparent, catches_shadows, ..plain_options(self.coloring.rendered()) }
    }

    /// The picture behind the scene, read from its file.
    fn read_backdrop(&self) -> Result<Option<Backdrop>, CliError> {
        let Some(file) = &self.backdrop else { return Ok(None) };
        let refused = |why: &str| CliError::Input(format!("--backdrop: {why}"));
        let name = files::as_text(file).map_err(|why| refused(&format!("{}: {why}", file.display())))?;
        let (turn, brightness) = (self.backdrop_turn.unwrap_or(0.0), self.backdrop_brightness.unwrap_or(1.0));
        let mut backdrop = Backdrop::of_file(name).placed_at(turn, brightness);
        backdrop.check().and_then(|()| backdrop.open()).map_err(|why| refused(&why))?;
        Ok(Some(backdrop))
    }

    /// How the picture of a scene looks, which has a light of its own.
    fn options_of(&self, sandbox: &Sandbox) -> RenderOptions {
        let own = sandbox.picture_options();
        let transparent = own.transparent || self.transparent;
        RenderOptions { transparent, catches_shadows: own.catches_shadows || self.shadows, ..own }
    }
}

#[derive(Args)]
pub struct RenderArgs {
    #[command(flatten)]
    compute: super::ComputeArgs,
    #[command(flatten)]
    coarser: super::input::CoarserArgs,
    /// Mesh file, scene file (.toml), or builtin:NAME
    file: PathBuf,
    /// Picture to write: PNG, or SVG with --slice-alone or --only, which have lines and flat faces alone
    #[arg(long, value_name = "PNG")]
    out: PathBuf,
    /// Picture size in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = super::parse_size)]
    size: [u32; 2],
    /// Side to look from
    #[arg(long, value_name = "NAME", default_value = "three-quarter")]
    view: Viewpoint,
    /// Camera instead of a view: JSON, or a file with it:
    /// {"target":[x,y,z],"distance":m,"yaw":rad,"pitch":rad,"fov_y":rad}
    #[arg(long, value_name = "JSON")]
    camera: Option<String>,
    /// Leave background and floor out (alpha 0)
    #[arg(long)]
    transparent: bool,
    /// With --transparent: keep the shadows on the floor, black with what they take away as alpha
    #[arg(long, requires = "transparent")]
    shadows: bool,
    /// A picture of all directions behind everything, which also lights it: equirectangular, .hdr, .png or .jpg
    #[arg(long, value_name = "FILE")]
    backdrop: Option<PathBuf>,
    /// Turn that picture about the vertical
    #[arg(long, value_name = "DEGREES", requires = "backdrop", allow_hyphen_values = true)]
    backdrop_turn: Option<f64>,
    /// Factor of that picture's light
    #[arg(long, value_name = "X", requires = "backdrop")]
    backdrop_brightness: Option<f64>,
    /// Octree level of a mesh: 2^N voxels along the longest side; 11 and 12 on the cores alone [default: 8; of a VOX file
    /// the lowest that holds its own voxels]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(super::LEVELS))]
    level: Option<u32>,
    /// Break a mesh as `kintsugi fracture` does and draw the pieces, moved apart by X times their distance
    /// from the middle
    #[arg(long, value_name = "X", value_parser = parse_explode)]
    explode: Option<f64>,
    /// Show in gold where that break would crack the unbroken mesh
    #[arg(long, conflicts_with = "explode")]
    seams: bool,
    #[command(flatten)]
    pattern: PatternArgs,
    #[command(flatten)]
    show: ShowArgs,
    /// A scene: play it this long, then break its pinned impact [default: draw it as it starts]
    #[arg(long, value_name = "S", value_parser = super::parse_not_negative)]
    seconds: Option<f64>,
    #[command(flatten)]
    coloring: ColoringArgs,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

pub fn parse_explode(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("{text} is no number"))?;
    if !(0.0..=10.0).contains(&value) {
        return Err("it must be 0 (in place) to 10".into());
    }
    Ok(value)
}

/// Runs the command.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &RenderArgs) -> Result<(), CliError> {
    args.check_out()?;
    let reporter = Reporter::new(args.json_progress);
    let wanted = Wanted { pixels: !args.is_vector(), drawing: args.is_vector() };
    let made = make(args, wanted, &mut None, &reporter)?;
    let kept = match wanted.drawing {
        true => put_listed(&args.out, made.drawing.as_bytes())?,
        false => write_signed(&args.out, args.size, &made.pixels, &made.signature)?,
    };
    let legend = args.coloring.put_legends(made.legends.as_deref())?;
    kept.iter().chain(&legend).for_each(|note| reporter.warn(note));
    super::print(&format!("{}\n{}", args.out.display(), made.labelling));
    Ok(())
}

/// In which forms a picture is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// As pixels.
    pub pixels: bool,
    /// As SVG, for a picture of lines and flat faces.
    pub drawing: bool,
}

/// A picture in memory.
pub struct Made {
    /// RGBA8 rows from the top; empty where no pixels are wanted.
    pub pixels: Vec<u8>,
    /// The text of an SVG; empty where no drawing is wanted.
    pub drawing: String,
    /// The camera that sees it, in metres of the picture's world.
    pub camera: Camera,
    /// How it was made.
    pub signature: Signature,
    /// What the colours mean as the text of an SVG, where `--legend-file` names a file for it.
    pub legends: Option<String>,
    /// A line about the labelling that it shows, or nothing.
    pub labelling: String,
}

/// Makes the picture and writes nothing. Without a backend in `compute` it opens one and leaves it there for further
/// pictures.
///
/// # Errors
/// [`CliError`].
pub fn make(
    args: &RenderArgs,
    wanted: Wanted,
    compute: &mut Option<Compute>,
    reporter: &Reporter,
) -> Result<Made, CliError> {
    let camera = args.camera.as_deref().map(parse_camera).transpose()?;
    args.coloring.check(&[&args.file])?;
    let backdrop = &args.read_backdrop()?;
    let making = Making { args, wanted, which: None, backdrop, reporter };
    if args.explode.is_some() && is_scene(&args.file) {
        return Err(about(&args.file, "--explode is for a mesh; a scene has `explode` in [view]"));
    }
    if is_scene(&args.file) {
        if args.seams {
            return Err(about(
                &args.file,
                "--seams shows the cracks of one mesh; give it a mesh or builtin:NAME",
            ));
        }
        if !args.show.is_empty() {
            return Err(about(&args.file, "--show looks into one mesh; give it a mesh or builtin:NAME"));
        }
        if args.level.is_some_and(|level| level != LEVEL) || !args.pattern.is_default() {
            return Err(about(
                &args.file,
                "a scene says itself how fine its bodies are and how they break; leave --level and options of patterns \
                 and cracks out, or give a mesh",
            ));
        }
        return scene(&making, camera, compute);
    }
    if args.seconds.is_some() {
        return Err(about(&args.file, "--seconds plays a scene; give it a .toml file"));
    }
    args.coloring.check_load(args.explode.is_some())?;
    let measured = args.pattern.measures.measure(&args.file, (args.level, LEVEL), reporter)?;
    let level = measured.level;
    args.compute.takes(level)?;
    let seeds = args.pattern.check(level)?;
    args.show.check(level, &args.pattern.params())?;
    let (object, which) = args.pattern.object(measured, Objects::Together, reporter)?;
    let (level, making) = (object.grid.level, Making { which, ..making });
    if let Some(explode) = args.explode {
        let plan = object.plan(&args.pattern.fracture(level, seeds))?;
        if plan.params.method.entry().by_seeds {
            object.pattern(&plan)?;
        }
        return broken(&making, camera, &object, &plan, explode, compute);
    }
    let compute = making.open(compute)?;
    let mut stage = reporter.stage("upload", |_| Stage::of(&compute, &object))?;
    let plan = object.plan(&args.pattern.fracture(level, seeds))?;
    let seams = match args.seams {
        true => Some(cracks(&compute, &stage, &object, &plan, reporter)?),
        false => None,
    };
    let inside = args.show.read(&compute, (&object, &plan), None, reporter)?;
    let overlay = inside.as_ref().map(|inside| args.show.overlay(inside, &object, &stage.bodies));
    let camera = camera.unwrap_or_else(|| args.view.camera_on(&surface_points(&stage.bodies), args.size));
    let pattern = match args.coloring.needs_seeds() && plan.params.method.entry().by_seeds {
        true => Some(object.pattern(&plan)?),
        false => None,
    };
    let mut bodies = stage.bodies.clone();
    let interior = plan.params.interior.volume(object.surface_color);
    // Of the materials inside, a whole body shows none but glass.
    bodies.iter_mut().filter(|_| interior.is_glass()).for_each(|body| body.interior = interior);
    let blow = (plan.impact, object.bounds.size().max_element());
    let stresses = args.coloring.stresses(std::iter::once(&*object.shape), blow, reporter);
    let stress = stresses.first().and_then(Option::as_ref);
    let cut = whole(&object, &plan, (pattern.as_ref(), stress), &bodies);
    let units = object.grid.h / Place::standing(&object.mass).h;
    let painted = (&mut bodies[..], &mut stage.arena);
    let explained = args.coloring.explain(&cut, painted, (camera, units), overlay)?;
    let still = Still {
        arena: &stage.arena,
        bodies: if args.is_flat() { &[] } else { &bodies },
        camera,
        options: RenderOptions {
            clips: explained.clips,
            backdrop: making.backdrop.clone(),
            ..args.options()
        },
        size: args.size,
        seams: seams.as_ref().map(|(seams, first)| BodySeams {
            body: 0,
            seams,
            first: *first,
            marks: CellMarks::default(),
        }),
        overlay: explained.overlay.as_ref(),
    };
    let made = making.picture(&compute, (&still, &explained), signature(&making, &compute, &object))?;
    Ok(Made { labelling: inside.as_ref().and_then(about_labels).unwrap_or_default(), ..made })
}

/// Metadata of a mesh's picture, which include a scene with the mesh and its fracture parameters.
fn signature(
    &Making { args, which, backdrop, .. }: &Making<'_>,
    compute: &Compute,
    object: &Object,
) -> Signature {
    let mut scene = mesh_scene(&object.file, object.grid.level, &args.pattern, which);
    scene.backdrop.clone_from(backdrop);
    let provenance = crate::provenance::of_mesh(object.mesh.digest(), args.pattern.measures.up());
    Signature::new(compute.ran_on(), provenance, scene.to_text())
}

/// A scene with one mesh, or an object of it, and its fracture parameters.
pub fn mesh_scene(file: &str, level: u32, pattern: &PatternArgs, which: Which) -> Scene {
    let mut scene = Scene::of_mesh(file, level);
    if let Some(body) = scene.bodies.first_mut() {
        (body.up, body.fracture) = (pattern.measures.up(), pattern.params());
        body.objects = which.map_or(Objects::Together, |(how, _)| how);
        body.object = which.map(|(_, number)| number);
    }
    scene
}

/// The pieces of a mesh after one break.
fn broken(
    making: &Making<'_>,
    camera: Option<Camera>,
    object: &Object,
    plan: &Plan,
    explode: f64,
    compute: &mut Option<Compute>,
) -> Result<Made, CliError> {
    let Making { args, reporter, .. } = *making;
    let compute = making.open(compute)?;
    let pieces = object.break_by(&Engine::from(compute.clone()), plan.clone(), reporter)?;
    let mut arena = Arena::new(&compute)?;
    let mut bodies = pieces.drawn(&mut arena, explode)?;
    let camera = camera.unwrap_or_else(|| args.view.camera_on(&surface_points(&bodies), args.size));
    let inside = args.show.read(&compute, (object, plan), pieces.broken().steps.first(), reporter)?;
    let overlay = inside.as_ref().map(|inside| args.show.overlay(inside, object, &bodies));
    let parts = pieces.broken().steps.iter().take(1).flat_map(|step| &step.result.parts);
    let blow = (plan.impact, object.bounds.size().max_element());
    let stresses = args.coloring.stresses(parts.map(|part| &*part.shape), blow, reporter);
    let cut = sliced(&pieces, &stresses, &bodies);
    let units = object.grid.h / Place::standing(&object.mass).h;
    let painted = (&mut bodies[..], &mut arena);
    let explained = args.coloring.explain(&cut, painted, (camera, units), overlay)?;
    let still = Still {
        arena: &arena,
        bodies: if args.is_flat() { &[] } else { &bodies },
        camera,
        options: RenderOptions {
            clips: explained.clips,
            backdrop: making.backdrop.clone(),
            ..args.options()
        },
        size: args.size,
        seams: None,
        overlay: explained.overlay.as_ref(),
    };
    let made = making.picture(&compute, (&still, &explained), signature(making, &compute, object))?;
    Ok(Made { labelling: inside.as_ref().and_then(about_labels).unwrap_or_default(), ..made })
}

/// Draws a scene as it starts, or after `--seconds`, through its own camera unless one is given.
fn scene(
    making: &Making<'_>,
    camera: Option<Camera>,
    compute: &mut Option<Compute>,
) -> Result<Made, CliError> {
    let Making { args, reporter, .. } = *making;
    let mut opened = read_scene(&args.file, LEVEL, &args.coarser, reporter)?;
    if making.backdrop.is_some() {
        opened.scene.backdrop.clone_from(making.backdrop);
    }
    let scene = &opened.scene;
    args.coloring.check_scene(scene)?;
    let compute = making.open(compute)?;
    let signature = Signature::new(compute.ran_on(), crate::provenance::here(), scene.to_text());
    let own_camera = scene.camera;
    let mut sandbox = open(&compute, opened, reporter)?;
    if args.seconds.is_some() {
        sandbox.look_for_contacts(args.compute.compute.into());
        play_until(&mut sandbox, args.seconds, &compute, reporter)?;
        break_the_rest(&mut sandbox, reporter)?;
    }
    let whole = || args.view.camera_on(&sandbox.surface_points(None), args.size);
    let camera = camera.or(own_camera).unwrap_or_else(whole);
    let explained = args.coloring.of_scene(&mut sandbox, camera, reporter)?;
    let bodies = if args.coloring.is_alone() { Vec::new() } else { sandbox.render_bodies(None) };
    let arena = sandbox.arena().read().unwrap_or_else(PoisonError::into_inner);
    let still = Still {
        arena: &arena,
        bodies: &bodies,
        camera,
        options: args.options_of(&sandbox),
        size: args.size,
        seams: None,
        overlay: explained.overlay.as_ref(),
    };
    making.picture(&compute, (&still, &explained), signature)
}

/// Octree level for the lists of planar cracks, which are the same at every level.
const SEAM_LEVEL: u32 = 6;

/// The cracks that the object would get, and its first voxel at the level of the lists.
fn cracks(
    compute: &Compute,
    stage: &Stage,
    object: &Object,
    plan: &Plan,
    reporter: &Reporter,
) -> Result<(Seams, u32), CliError> {
    let (pattern, recipe) = (object.pattern(plan)?, plan.params.recipe());
    reporter.stage("cracks", |_| {
        let (fracturer, forest) = (Fracturer::new(compute)?, &object.forest);
        if recipe.surface == Surface::Planar {
            let level = SEAM_LEVEL.min(forest.level);
            let coarse = coarsen(forest, level);
            let keys = KeyArray::new(compute, "boundary voxels", coarse.leaves.keys.as_slice(), level)?;
            let first = if level < forest.level { forest.level_start[level as usize] } else { 0 };
            return Ok((fracturer.seams(&keys, level, &pattern)?, first));
        }
        let source = Source::new(&stage.arena, forest, 0)?;
        let fracture = fracturer.fracture(&source, &pattern, &recipe)?;
        Ok((Seams::of_fracture(compute, forest.leaves.keys.as_slice(), &fracture, &pattern)?, 0))
    })
}

/// A picture that is being made.
#[derive(Clone, Copy)]
struct Making<'a> {
    args: &'a RenderArgs,
    wanted: Wanted,
    which: Which,
    /// The picture behind everything.
    backdrop: &'a Option<Backdrop>,
    reporter: &'a Reporter,
}

impl Making<'_> {
    /// The backend in `compute`, which is opened where there is none.
    fn open(&self, compute: &mut Option<Compute>) -> Result<Compute, CliError> {
        match compute {
            Some(open) => Ok(open.clone()),
            None => Ok(compute.insert(self.args.compute.open(self.reporter)?).clone()),
        }
    }

    fn picture(
        &self,
        compute: &Compute,
        (still, explained): (&Still<'_>, &Explained),
        signature: Signature,
    ) -> Result<Made, CliError> {
        let Self { args, wanted, reporter, .. } = *self;
        explained.notes.iter().for_each(|note| reporter.warn(note));
        let (mut pixels, mut drawing, mut legends) = (Vec::new(), String::new(), None);
        if wanted.drawing {
            let nothing = Overlay::default();
            let overlay = still.overlay.map_or(&nothing, |overlay| &**overlay);
            let origin = serde_json::to_string(&signature).unwrap_or_default();
            let shown = args.coloring.legends(explained);
            let metres = args.coloring.metres_per_pixel(explained, (args.size, still.camera));
            let text = vector::svg(overlay, (still.camera, args.size), (shown, metres), &origin);
            drawing = text.map_err(|error| CliError::Input(error.to_string()))?;
        }
        if wanted.pixels {
            pixels = reporter.stage("draw", |_| draw(compute, &mut Renderer::new(compute)?, still))?;
            args.coloring.letter(explained, &mut pixels, (args.size, still.camera))?;
            legends = args.coloring.legends_alone(explained)?;
        }
        Ok(Made { pixels, drawing, camera: still.camera, signature, legends, labelling: String::new() })
    }
}

/// Size limit of a camera file, bytes.
const LARGEST_CAMERA: u64 = 64 << 10;

/// Parses JSON, or reads the file that holds it.
pub fn parse_camera(text: &str) -> Result<Camera, CliError> {
    let inline = text.trim_start().starts_with('{');
    let json = if inline {
        text.to_owned()
    } else {
        let unread = |why: String| {
            CliError::Input(format!("{text}: the camera {why}; give --camera JSON or a file with it"))
        };
        let bytes = files::read(Path::new(text), LARGEST_CAMERA).map_err(|why| unread(why.to_string()))?;
        String::from_utf8(bytes).map_err(|_| unread("is not text".into()))?
    };
    let camera: Camera = serde_json::from_str(&json).map_err(|e| {
        CliError::Input(format!("--camera: {e}; wanted are target, distance, yaw, pitch and fov_y"))
    })?;
    if !(0.01..=3.0).contains(&camera.fov_y) {
        let message = format!("--camera: fov_y is {:?}; it must be a number from 0.01 to 3", camera.fov_y);
        return Err(CliError::Input(message));
    }
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
        let refused = |fov_y: &str| parse_camera(&good.replace("0.6", fov_y)).unwrap_err().to_string();
        assert!(refused("3.5").contains("fov_y is 3.5") && refused("3,\"roll\":1").contains("roll"));
        assert!(parse_camera("{}").is_err_and(|e| e.exit_code() == 2));
        assert!(parse_camera("no-such-camera.json").is_err());
        #[cfg(unix)]
        assert!(parse_camera("/dev/zero").is_err_and(|e| e.to_string().contains("not a regular file")));
    }
}
