//! The tour: pictures of the sandbox, for machines without a display.
//!
//! In: a mesh or scene that was read. Out: PNG files in a folder in the working directory. A mesh is shown whole,
//! broken and with its pieces apart; a scene at its start and while it plays.

use std::{
    path::{Path, PathBuf},
    sync::PoisonError,
};

use crate::{
    compute::Compute,
    export::{Signature, write_signed},
    facade::{
        Engine, Fracture, Subject as _, Viewpoint,
        stills::{Stage, Still, draw, plain_options, surface_points},
    },
    import::ReadMesh,
    render::{Camera, ColorBy, RenderBody, RenderOptions, Renderer},
    scene::{ReadScene, Scene},
    svo::Arena,
};

use super::{
    CliError, ComputeArgs,
    input::{about, is_scene, voxelise},
    playing::{open, play},
    progress::Reporter,
};

const FOLDER: &str = "out/kintsugi-tour";
const SIZE: [u32; 2] = [960, 720];
/// Simulated times at which a scene is shown, s.
const SCENE_TIMES: [f64; 4] = [0.0, 0.5, 1.0, 2.0];

/// Writes the tour and prints its folder.
///
/// # Errors
/// [`CliError`].
pub fn run(file: &Path, opened: ReadScene, level: u32, compute: &ComputeArgs) -> Result<(), CliError> {
    let reporter = Reporter::new(false);
    let folder = std::env::current_dir().unwrap_or_default().join(FOLDER);
    let count = if is_scene(file) {
        scene(opened, compute, &folder, &reporter)?
    } else {
        let read = opened.meshes.values().next();
        mesh(read.ok_or_else(|| about(file, "nothing was read"))?, level, compute, &folder, &reporter)?
    };
    drop(reporter);
    super::print(&format!(
        "there is no display; a tour of {count} pictures was written to {}\n",
        folder.display()
    ));
    Ok(())
}

/// Draws numbered pictures into the tour's folder.
struct Painter<'a> {
    compute: &'a Compute,
    renderer: Renderer,
    folder: PathBuf,
    count: usize,
    /// Floor, light and lens of the scene.
    look: RenderOptions,
    signature: Signature,
    /// Lines for the user about pictures of somebody's own that were kept.
    notes: Vec<String>,
}

impl Painter<'_> {
    fn paint(
        &mut self,
        name: &str,
        arena: &Arena,
        bodies: &[RenderBody],
        camera: Camera,
        color_by: ColorBy,
    ) -> Result<(), CliError> {
        let options = RenderOptions { color_by, ..self.look.clone() };
        let still = Still { arena, bodies, camera, options, size: SIZE, seams: None, overlay: None };
        let pixels = draw(self.compute, &mut self.renderer, &still)?;
        self.count += 1;
        let name = format!("{}-{name}.png", self.count);
        let signature = self.signature.of_output(format!("{FOLDER}/{name}"));
        self.notes.extend(write_signed(&self.folder.join(name), SIZE, &pixels, &signature)?);
        Ok(())
    }
}

/// `scene` as TOML.
fn painter<'a>(compute: &'a Compute, folder: &Path, scene: String) -> Result<Painter<'a>, CliError> {
    super::make_folder(folder)?;
    Ok(Painter {
        compute,
        renderer: Renderer::new(compute)?,
        folder: folder.to_owned(),
        count: 0,
        look: plain_options(ColorBy::Material),
        signature: Signature::new(compute.ran_on(), crate::provenance::here(), scene),
        notes: Vec::new(),
    })
}

fn mesh(
    read: &ReadMesh,
    level: u32,
    compute: &ComputeArgs,
    folder: &Path,
    reporter: &Reporter,
) -> Result<usize, CliError> {
    let object = voxelise(read, level, reporter)?;
    let compute = compute.open(reporter)?;
    let mut painter = painter(&compute, folder, Scene::of_mesh(&object.file, level).to_text())?;
    let whole = Stage::of(&compute, &object)?;
    let points = surface_points(&whole.bodies);
    let (corner, front) =
        (Viewpoint::ThreeQuarter.camera_on(&points, SIZE), Viewpoint::Front.camera_on(&points, SIZE));
    reporter.stage("draw", |_| -> Result<(), CliError> {
        painter.paint("whole", &whole.arena, &whole.bodies, corner, ColorBy::Material)?;
        painter.paint("front", &whole.arena, &whole.bodies, front, ColorBy::Material)?;
        painter.paint("normals", &whole.arena, &whole.bodies, corner, ColorBy::Normal)
    })?;
    let broken = object.fracture_on(&Engine::from(compute.clone()), &Fracture::new(), reporter)?;
    let mut arena = Arena::new(&compute)?;
    let together = broken.drawn(&mut arena, 0.0)?;
    let apart = broken.drawn(&mut arena, 0.35)?;
    let wide = Viewpoint::ThreeQuarter.camera_on(&surface_points(&apart), SIZE);
    reporter.stage("draw", |_| -> Result<(), CliError> {
        painter.paint("pieces", &arena, &together, corner, ColorBy::Piece)?;
        painter.paint("apart", &arena, &apart, wide, ColorBy::Material)?;
        painter.paint("cracks", &arena, &apart, wide, ColorBy::Crack)
    })?;
    painter.notes.iter().for_each(|note| reporter.warn(note));
    Ok(painter.count)
}

fn scene(
    opened: ReadScene,
    compute: &ComputeArgs,
    folder: &Path,
    reporter: &Reporter,
) -> Result<usize, CliError> {
    let scene = &opened.scene;
    let compute = compute.open(reporter)?;
    let mut painter = painter(&compute, folder, scene.to_text())?;
    let (own_camera, color_by) = (scene.camera, scene.view.color_by.rendered());
    let mut sandbox = open(&compute, opened, reporter)?;
    painter.look = RenderOptions { transparent: false, ..sandbox.picture_options() };
    let camera =
        own_camera.unwrap_or_else(|| Viewpoint::ThreeQuarter.camera_on(&sandbox.surface_points(None), SIZE));
    reporter.stage("play and draw", |progress| -> Result<(), CliError> {
        for (i, time) in SCENE_TIMES.iter().enumerate() {
            while sandbox.time() + 1e-9 < *time {
                play(&mut sandbox, reporter)?;
            }
            let bodies = sandbox.render_bodies(None);
            let arena = sandbox.arena().read().unwrap_or_else(PoisonError::into_inner);
            painter.paint(&format!("at-{time}-s"), &arena, &bodies, camera, color_by)?;
            progress.set((i + 1) as f32 / SCENE_TIMES.len() as f32);
        }
        Ok(())
    })?;
    painter.notes.iter().for_each(|note| reporter.warn(note));
    Ok(painter.count)
}
