//! How long pictures take by passes and on the cores, in alternation. Not a check: run it by hand with
//! `cargo test --release --lib render::tests::speed -- --ignored --nocapture`; `KINTSUGI_MESH` names a file.

use std::{sync::Arc, time::Instant};

use glam::{DVec3, Mat4, Vec3};

use super::fixtures::{By, Stage};
use crate::{
    fracture::{FractureParams, Fracturer, Pattern, Recipe, Source, Volume},
    mesh::builtin,
    render::{Camera, FrameInput, RenderBody, RenderOptions},
    shape::{Look, Octree, Shape},
    svo::Grid,
    voxelize::{Progress, voxelize},
};

fn variable(name: &str, or: u32) -> u32 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(or)
}

/// 90 pieces of the bunny (or the vase) at level 8, `apart` metres from where they were.
fn broken(by: By, apart: f32) -> Option<Stage> {
    let mut stage = Stage::drawn_by(by)?;
    let level = variable("KINTSUGI_LEVEL", 8);
    let mesh = match std::env::var("KINTSUGI_MESH") {
        Ok(path) => crate::mesh::load(path.as_ref()).expect("a mesh file").0,
        Err(_) => builtin("vase").expect("a built-in shape"),
    };
    let whole = Arc::new(voxelize(&mesh, level, &Progress::default()).expect("it voxelises").forest);
    let side = f64::from(1u32 << level);
    let (low, high) = super::fixtures::bounds(&whole);
    let bounds = (low.as_dvec3(), high.as_dvec3());
    let params = FractureParams { seeds: 90, rng: 3, ..Default::default() };
    let pattern =
        Pattern::near_object(&params, DVec3::splat(0.5 * side), bounds, &whole, 0).expect("parameters");
    stage.arena.insert(&whole).expect("insert");
    let source = Source::new(&stage.arena, &whole, 0).expect("it is there");
    let fracturer = Fracturer::new(&stage.gpu).expect("the passes compile");
    let broken = fracturer.fracture(&source, &pattern, &Recipe::default()).expect("it breaks");
    stage.arena.insert(&broken.forest).expect("insert");
    let to_axis = Mat4::from_translation(Vec3::new(-0.5 * side as f32, -low.y, -0.5 * side as f32));
    let pose = Mat4::from_scale(Vec3::splat(1.6 / side as f32)) * to_axis;
    let middle = pose.transform_point3(low.midpoint(high));
    let mut corners = Vec::new();
    for (i, piece) in broken.pieces.iter().enumerate() {
        let centre = pose.transform_point3(piece.mass.centre.as_vec3());
        let away = (centre - middle).normalize_or_zero() * apart;
        let away = away.with_y(away.y.max(0.0));
        let turn = Mat4::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), apart * i as f32);
        let grid = Grid { level, origin: DVec3::ZERO, h: 1.0 };
        let octree = Octree { forest: Arc::clone(&broken.forest), tree: piece.tree, grid, mass: piece.mass };
        let world_from_local =
            Mat4::from_translation(centre + away) * turn * Mat4::from_translation(-centre) * pose;
        let (low, high) = piece.mass.bounds;
        corners.push(world_from_local.transform_point3(low.as_vec3()));
        corners.push(world_from_local.transform_point3(high.as_vec3()));
        stage.bodies.push(RenderBody {
            shape: Arc::new(Shape::octree(octree, 1.0, Look::default())),
            world_from_local,
            id: i as u32,
            selected: false,
            mark: None,
            interior: Volume([0x02c4_9470, 0x0060_3020, 256, 7]),
        });
    }
    stage.size = [variable("KINTSUGI_WIDTH", 1280), variable("KINTSUGI_HEIGHT", 720)];
    stage.camera = Camera { yaw: 0.6, pitch: 0.35, ..Camera::default() };
    stage.camera.frame_points(&corners, stage.size[0] as f32 / stage.size[1] as f32);
    stage.options = RenderOptions { floor: Some(0.0), ..RenderOptions::default() };
    Some(stage)
}

#[test]
#[ignore = "it measures and checks nothing"]
fn pictures_by_passes_and_on_the_cores() {
    let rounds = variable("KINTSUGI_ROUNDS", 8);
    for apart in [0.0, 0.25] {
        let Some(mut stage) = broken(By::Native, apart) else { return };
        println!("{} bodies, {apart} m apart, {:?}", stage.bodies.len(), stage.size);
        let mut least: Vec<(String, f64)> = Vec::new();
        for _ in 0..rounds {
            for by in [By::Passes, By::Native] {
                if by == By::Passes && variable("KINTSUGI_PASSES", 1) == 0 {
                    continue;
                }
                let input = FrameInput {
                    arena: &stage.arena,
                    bodies: &stage.bodies,
                    camera: stage.camera,
                    options: stage.options.clone(),
                    size: stage.size,
                    seams: None,
                    overlay: None,
                };
                let start = Instant::now();
                let timings = match by {
                    By::Passes => {
                        stage.renderer.draw(&stage.gpu, &input).expect("draw");
                        stage.gpu.device.poll(wgpu::PollType::wait_indefinitely()).expect("wait");
                        stage.renderer.timings().to_vec()
                    }
                    By::Native => {
                        stage.native.draw(&input).expect("draw");
                        stage.native.timings().to_vec()
                    }
                };
                let whole = [("whole".to_owned(), start.elapsed().as_secs_f64() * 1e3)];
                for (stage, ms) in timings.into_iter().map(|t| (t.stage, t.ms)).chain(whole) {
                    let name = format!("{by:?} {stage}");
                    match least.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, least)) => *least = least.min(ms),
                        None => least.push((name, ms)),
                    }
                }
            }
        }
        let hits = stage.hits();
        let bodies = hits.iter().filter(|hit| matches!(hit, crate::render::PixelHit::Body { .. })).count();
        println!("{:.1} % of the pixels show a body", 100.0 * bodies as f64 / hits.len() as f64);
        for (name, ms) in least {
            println!("{name:24} {ms:8.2} ms");
        }
        if let Ok(path) = std::env::var("KINTSUGI_PICTURE") {
            let picture = stage.still(1);
            let [width, height] = stage.size;
            image::save_buffer(
                format!("{path}-{apart}.png"),
                &picture,
                width,
                height,
                image::ColorType::Rgba8,
            )
            .expect("a picture file");
        }
    }
}
