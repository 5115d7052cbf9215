//! Pictures of presets: a built-in shape, broken with the preset and drawn slightly exploded.
//!
//! In: a preset. Out: a small square picture. Pictures of the shipped presets lie beside their files; `kintsugi presets
//! --pictures` draws them again.

use std::{sync::PoisonError, time::Duration};

use glam::{DVec3, Vec3};

use super::MaterialPreset;
use crate::{
    compute::{Choice, Compute},
    render::{Camera, ColorBy, FrameInput, Pixels, RenderOptions, Renderer},
    scene::{Arrived, Sandbox, SandboxError, Scene},
};

/// Side of the picture, pixels.
const SIDE: u32 = 96;
/// Leaf level of the shape; fine enough for a small picture.
const LEVEL: u32 = 6;
/// Explode distance.
const APART: f64 = 0.35;
/// Accumulated passes.
const PASSES: u32 = 16;

/// Pictures of the shipped presets, PNG, in the order of their list.
const SHIPPED: [&[u8]; 5] = [
    include_bytes!("../../../assets/presets/ceramic.png"),
    include_bytes!("../../../assets/presets/glass.png"),
    include_bytes!("../../../assets/presets/concrete.png"),
    include_bytes!("../../../assets/presets/wood.png"),
    include_bytes!("../../../assets/presets/plaster.png"),
];

/// The picture of a shipped preset, by its index.
#[must_use]
pub fn shipped(index: usize) -> Option<Pixels> {
    Pixels::from_png(SHIPPED.get(index)?)
}

/// Draws a preset on the cores; takes some tenths of a second.
///
/// # Errors
/// [`SandboxError`]: the preset cannot break the shape.
pub fn draw(preset: &MaterialPreset) -> Result<Pixels, SandboxError> {
    let compute = Compute::open(Choice::Cpu)?;
    let mut sandbox = Sandbox::new(&compute)?;
    let mut scene = Scene::of_mesh("builtin:box", LEVEL);
    for body in &mut scene.bodies {
        preset.apply_to_body(body);
    }
    sandbox.open_scene(scene);
    wait(&mut sandbox, Arrived::Opened)?;
    // Struck in the centre of its front.
    let (low, high) = sandbox.bounds(None).unwrap_or((Vec3::ZERO, Vec3::ONE));
    let (from, direction) = (low.midpoint(high) + Vec3::Z * 5.0, Vec3::NEG_Z);
    if let Some(pick) = sandbox.pick(from, direction) {
        let mut tuning = sandbox.tuning().clone();
        tuning.blow_speed = 0.0;
        sandbox.tune("blow", tuning);
        sandbox.break_at(pick.body, pick.point, DVec3::NEG_Z);
        wait(&mut sandbox, Arrived::Broke)?;
    }
    let mut tuning = sandbox.tuning().clone();
    tuning.view.explode = APART;
    sandbox.tune("explode", tuning);
    let mut camera = Camera::default();
    camera.frame_points(&sandbox.surface_points(None), 1.0);
    camera.zoom(0.95);
    let arena = sandbox.arena().read().unwrap_or_else(PoisonError::into_inner);
    let bodies = sandbox.render_bodies(None);
    let floor = sandbox.settings().floor.map(|y| y as f32);
    let options = RenderOptions { color_by: ColorBy::Material, floor, ..RenderOptions::default() };
    let size = [SIDE, SIDE];
    let input =
        FrameInput { arena: &arena, bodies: &bodies, camera, options, size, seams: None, overlay: None };
    let rgba = Renderer::new(&compute)?.still(&input, PASSES)?;
    Ok(Pixels { size, rgba })
}

fn wait(sandbox: &mut Sandbox, wanted: Arrived) -> Result<(), SandboxError> {
    while sandbox.poll()? != Some(wanted) {
        // The work ended without this result: the present state is drawn.
        if !sandbox.is_busy() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
