//! P25: a slab that spins flat on the floor stops by Coulomb's law, under an even pressure: a face rubs as a face.

use glam::DVec3;
use kintsugi::scene::{Scene, SceneBody};

use super::{
    G, Ways,
    shapes::Shapes,
    support::stage::{only, open, step},
};

/// Mean distance of a square's area from its middle, of its edge: (sqrt(2) + asinh(1)) / 6.
const MEAN: f64 = 0.382_597_858;
const FRICTION: f64 = 0.4;
/// Height of the slab, of its edge.
const HEIGHT: f64 = 0.2;

#[test]
fn a_spinning_slab_stops_by_coulombs_law() {
    for contacts in ["mixed", "octree"] {
        holds(Ways { contacts, ..Ways::default() });
    }
}

/// A slab of 0.2 m on a fixed one of 2 m, which is the first body or the second.
#[test]
fn a_slab_spins_alike_on_a_fixed_one_whichever_comes_first() {
    let mesh = Shapes::new("p25-fixed").cuboid("slab", DVec3::new(1.0, HEIGHT, 1.0));
    let slab = |size: f64, level: u32, height: f64| SceneBody {
        file: mesh.clone(),
        size: Some(size),
        level,
        physics_level: Some(level - 1),
        position: DVec3::new(0.0, height, 0.0),
        friction: FRICTION,
        restitution: 0.0,
        ..SceneBody::default()
    };
    let spin = 8.0 / f64::sqrt(0.2);
    let ground = SceneBody { fixed: true, ..slab(2.0, 7, HEIGHT) };
    let spinning =
        SceneBody { angular_velocity: DVec3::Y * spin, ..slab(0.2, 6, HEIGHT * 2.0 + 0.5 * HEIGHT * 0.2) };
    let mut times = Vec::new();
    for bodies in [[ground.clone(), spinning.clone()], [spinning, ground]] {
        let own = bodies.iter().position(|body| !body.fixed).expect("one moves");
        let scene = Scene { bodies: bodies.into(), sleeping: false, ..Scene::default() };
        let Some(mut sandbox) = open(Ways::default().of(scene)) else { return };
        let mut steps = 0;
        while sandbox.bodies()[own].state.angular_velocity.length() > 0.01 * spin && steps < 200 {
            step(&mut sandbox);
            steps += 1;
        }
        let def = &sandbox.bodies()[own].def;
        let wanted = def.inertia().y_axis.y * spin / (FRICTION * def.mass_kg() * G * MEAN * 0.2);
        let time = f64::from(steps) * sandbox.settings().dt;
        println!("P25 on a fixed slab, body {own}: stops after {time:.2} s of {wanted:.2} (15 %)");
        assert!((time / wanted - 1.0).abs() < 0.15);
        times.push(time);
    }
    assert!((times[0] / times[1] - 1.0).abs() < 0.05, "{times:?}");
}

pub fn holds(ways: Ways) {
    let mesh = Shapes::new(&format!("p25-{}", ways.contacts)).cuboid("slab", DVec3::new(1.0, HEIGHT, 1.0));
    // The face ends a part of a voxel before the edge: at level 5 that is 5 % of the time.
    for (size, physics_level) in [(0.2, 5), (1.0, 6), (5.0, 7)] {
        let spin = 8.0 / f64::sqrt(size);
        let slab = SceneBody {
            file: mesh.clone(),
            size: Some(size),
            level: physics_level + 1,
            physics_level: Some(physics_level),
            position: DVec3::new(0.0, 0.5 * HEIGHT * size, 0.0),
            angular_velocity: DVec3::Y * spin,
            friction: FRICTION,
            restitution: 0.0,
            ..SceneBody::default()
        };
        let scene = Scene { bodies: vec![slab], sleeping: false, ..Scene::default() };
        let Some(mut sandbox) = open(ways.of(scene)) else { return };
        let def = &only(&sandbox).def;
        let wanted = def.inertia().y_axis.y * spin / (FRICTION * def.mass_kg() * G * MEAN * size);
        let dt = sandbox.settings().dt;
        let mut steps = 0;
        while only(&sandbox).state.angular_velocity.length() > 0.01 * spin
            && f64::from(steps) * dt < 3.0 * wanted
        {
            step(&mut sandbox);
            steps += 1;
        }
        let time = f64::from(steps) * dt;
        println!(
            "P25 by {}: {size} m, physics level {physics_level}: stops after {time:.2} s of {wanted:.2} (10 %)",
            ways.contacts
        );
        assert!((time / wanted - 1.0).abs() < 0.1);
    }
}
