//! P23: a block bears another of a thousand times its mass.

use glam::DVec3;
use kintsugi::scene::{Scene, SceneBody};

use super::{
    Ways,
    shapes::Shapes,
    support::stage::{open, play, positions},
};

/// Two cubes of this size, m, the upper one `ratio` times as dense.
fn pair(mesh: &str, size: f64, physics_level: u32, ratio: f64) -> Scene {
    let bodies = [(0.5, 100.0), (1.5, 100.0 * ratio)].map(|(height, density)| SceneBody {
        file: mesh.into(),
        size: Some(size),
        level: physics_level + 1,
        physics_level: Some(physics_level),
        position: DVec3::new(0.0, height * size, 0.0),
        density,
        restitution: 0.0,
        ..SceneBody::default()
    });
    Scene { bodies: bodies.into(), sleeping: false, ..Scene::default() }
}

#[test]
fn a_block_bears_a_thousand_times_its_mass() {
    for contacts in ["mixed", "octree"] {
        holds(Ways { contacts, ..Ways::default() });
    }
}

pub fn holds(ways: Ways) {
    let mesh = Shapes::new(&format!("p23-{}", ways.contacts)).cuboid("cube", DVec3::ONE);
    for (size, physics_level) in [(0.1, 4), (0.5, 5), (2.0, 6)] {
        let Some(mut sandbox) = open(ways.of(pair(&mesh, size, physics_level, 1000.0))) else { return };
        let start = positions(&sandbox);
        let mut moved = [0.0f64; 2];
        for _ in 0..20 {
            play(&mut sandbox, 0.1);
            let now = positions(&sandbox);
            moved = [0, 1].map(|k| moved[k].max(now[k].distance(start[k]) / size));
        }
        let speed = sandbox.bodies().iter().map(|b| b.state.linear_velocity.length()).fold(0.0, f64::max);
        println!(
            "P23 by {}: {size} m, physics level {physics_level}: {:.2} and {:.2} % of the size (1 and 2), {:.1} mm/s (5)",
            ways.contacts,
            moved[0] * 100.0,
            moved[1] * 100.0,
            speed * 1e3
        );
        assert!(moved[0] < 0.01 && moved[1] < 0.02 && speed < 5e-3);
    }
}
