//! P15: pieces overlap where a crack voxel was copied. That overlap pushes nobody: after a blow of no
//! strength, without gravity, they stay where they are, with a gap of any width between them or none.

use glam::DVec3;
use kintsugi::{
    fracture::{
        Surface,
        crack::{CrackNoise, CrackShape, Dusty},
    },
    scene::{Event, Scene},
};

use super::{
    Ways,
    support::stage::{fastest, open, play, shipped},
};

/// The scene without gravity and floor; its blow falls at once and has no strength.
fn nothing_pushes(mut scene: Scene) -> Scene {
    (scene.gravity, scene.floor, scene.sleeping) = (DVec3::ZERO, false, false);
    for event in &mut scene.events {
        if let Event::Impact { time, speed, .. } = event {
            (*time, *speed) = (0.0, 0.0);
        }
    }
    scene
}

/// With `least` points where pieces meet, so that there is something that could push. `false`, where that is
/// allowed, without an adapter.
fn stays(what: &str, seconds: f64, least: usize, scene: Scene) -> bool {
    let Some(mut sandbox) = open(scene) else { return false };
    let r = play(&mut sandbox, seconds);
    let (pieces, speed) = (sandbox.bodies().len(), fastest(&sandbox));
    println!("P15: {what}: {pieces} pieces, {} points, fastest {speed:.1e} m/s (1e-6)", r.collision_points);
    assert!(pieces > 30 && r.collision_points >= least && speed < 1e-6);
    true
}

/// Where hulls meet, there are fewer points.
pub fn holds(ways: Ways) {
    for name in ["p12-pile", "vase"] {
        let mut scene = ways.of(nothing_pushes(shipped(name)));
        (scene.bodies[0].level, scene.bodies[0].physics_level) = (6, Some(5));
        stays(name, 1.0, 100, scene);
    }
}

#[test]
fn pieces_that_nothing_pushes_stay() {
    for name in ["p12-pile", "vase"] {
        let mut scene = nothing_pushes(shipped(name));
        (scene.bodies[0].level, scene.bodies[0].physics_level) = (7, Some(6));
        if !stays(name, 2.0, 1000, scene) {
            return;
        }
    }
}

#[test]
fn nothing_pushes_the_pieces_of_any_surface_apart() {
    // The gap's width in tenths of a voxel.
    for (surface, gap) in [
        (Surface::Planar, 0),
        (Surface::Rough, 0),
        (Surface::Dusty, 0),
        (Surface::Dusty, 15),
        (Surface::Dusty, 40),
    ] {
        let mut scene = nothing_pushes(shipped("vase"));
        let body = &mut scene.bodies[0];
        body.level = if gap == 15 { 7 } else { 6 };
        (body.size, body.physics_level) = (Some(1.0), Some(5));
        body.fracture.surface = surface;
        body.fracture.seeds = 40;
        body.fracture.crack = CrackShape {
            transition_level: Some(body.level - 3),
            noise: CrackNoise { amplitude: 0.6, frequency: 48, octaves: 2 },
            dusty: Dusty { width: f64::from(gap) / 10.0, ..Dusty::default() },
            ..CrackShape::default()
        };
        // Across four voxels pieces hardly meet.
        let least = if gap == 40 { 5 } else { 10 };
        if !stays(&format!("{surface:?}, gap {gap}/10"), 0.6, least, scene) {
            return;
        }
    }
}
