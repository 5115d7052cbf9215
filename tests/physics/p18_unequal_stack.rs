//! P18: boxes of unequal size, each a little beside the one below, stand on each other: none rises, none slips.

use glam::DVec3;
use kintsugi::scene::{Scene, SceneBody};

use super::{
    Ways,
    support::stage::{open, play, positions},
};

/// Six boxes of 1.0 to 0.5 m, 2 cm off in turn.
fn stack(physics_level: u32) -> Scene {
    let mut height = 0.0;
    let bodies = (0..6).map(|i| {
        let mut body = SceneBody::standing("builtin:box", 6);
        let size = 1.0 - 0.1 * f64::from(i);
        let aside = [0.0, 0.02, -0.02, 0.02, -0.02, 0.02][i as usize];
        body.position = DVec3::new(aside, height, [-0.015, 0.0, 0.015][i as usize % 3]);
        (body.size, body.physics_level, body.on_floor) = (Some(size), Some(physics_level), false);
        (body.restitution, body.friction) = (0.0, 0.5);
        height += size;
        body
    });
    Scene { bodies: bodies.collect(), ..Scene::default() }
}

#[test]
fn boxes_of_unequal_size_stand_on_each_other() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    for physics_level in [5, 6] {
        let Some(mut sandbox) = open(ways.of(stack(physics_level))) else { return };
        let start = positions(&sandbox);
        let (mut rise, mut slip, mut awake) = (0.0f64, 0.0f64, 0);
        for _ in 0..40 {
            awake = play(&mut sandbox, 0.05).awake;
            for (now, was) in positions(&sandbox).iter().zip(&start) {
                rise = rise.max(now.y - was.y);
                slip = slip.max((now - was).with_y(0.0).length());
            }
        }
        println!(
            "P18: physics level {physics_level}: up {:.3} mm (0.5), aside {:.3} mm (1), {awake} awake",
            rise * 1e3,
            slip * 1e3
        );
        assert!(rise < 0.5e-3 && slip < 1e-3 && awake == 0);
    }
}
