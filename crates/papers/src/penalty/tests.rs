//! The paper's response: what it holds, and where it does not.

use super::{FRICTION, STIFFNESS, push};
use crate::bodies::{
    ContactsId, Options, Overlap, ResponseId, StepReport, World, WorldSettings, pair_data,
    testing::{block, body, cuboid, grid, world},
};
use glam::{DQuat, DVec3};
use std::sync::Arc;

fn settings() -> WorldSettings {
    crate::register();
    WorldSettings {
        response: ResponseId::named("penalty").expect("it is in the table"),
        sleeping: false,
        measure_volume: true,
        ..WorldSettings::default()
    }
}

fn run(w: &mut World, seconds: f64) -> StepReport {
    let mut last = StepReport::default();
    for _ in 0..(seconds / w.settings.dt).round() as u32 {
        last = w.step_on_cpu();
    }
    last
}

/// Cubes of 16 voxels and `metres` a side, one over the other.
fn cubes(settings: WorldSettings, metres: f64, count: u32) -> World {
    let forest = Arc::new(block(5, [8; 3], [24; 3]));
    let mut w = world(settings);
    for i in 0..count {
        // The grid begins a quarter of its side below the cube.
        w.add(body(&forest, 0, grid(5, 2.0 * metres), 5, DVec3::Y * metres * (f64::from(i) - 0.5)));
    }
    w
}

#[test]
fn a_box_at_rest_is_held_by_its_weight() {
    for metres in [1.0, 0.5, 0.25] {
        let mut w = cubes(settings(), metres, 1);
        let start = w.bodies[0].state.position.y;
        let report = run(&mut w, 2.0);
        let weight = w.bodies[0].def.mass_kg() * 9.81;
        let depth = start - w.bodies[0].state.position.y;
        // k A^2 d = m g.
        let want = weight / (w.settings.options.value(&STIFFNESS) * metres.powi(4));
        println!(
            "{metres} m: force {:.2} N of {weight:.2}, depth {:.3} mm, {:.3} expected",
            report.floor_force.y,
            depth * 1e3,
            want * 1e3
        );
        assert!((report.floor_force.y / weight - 1.0).abs() < 0.01);
        assert!((depth / want - 1.0).abs() < 0.15);
        assert!((report.intersection_volume.unwrap() / (want * metres * metres) - 1.0).abs() < 0.15);
        assert!(report.kinetic < 1e-6 * weight);
    }
}

/// Largest sum of what a step does to momentum and angular momentum, relative, of two boxes that overlap.
fn leak(change: impl Fn(&mut Vec<Overlap>)) -> f64 {
    let mut w = cubes(WorldSettings { gravity: DVec3::ZERO, floor: None, ..settings() }, 1.0, 2);
    w.bodies[1].state.position += DVec3::new(0.2, -0.1, 0.3);
    w.bodies[1].state.rotation = DQuat::from_euler(glam::EulerRot::XYZ, 0.1, 0.4, -0.2);
    w.bodies[1].state.linear_velocity = DVec3::new(0.3, -1.0, 0.2);
    w.bodies[0].state.angular_velocity = DVec3::new(0.0, 0.5, 1.0);
    let momentum = |w: &World| {
        w.bodies.iter().fold((DVec3::ZERO, DVec3::ZERO), |(p, l), b| {
            let m = b.def.mass_kg() * b.state.linear_velocity;
            (p + m, l + b.state.position.cross(m) + b.inertia_in_world() * b.state.angular_velocity)
        })
    };
    let mut bodies = w.bodies.clone();
    let ids = [0, 1].map(|k| w.bodies[k].id);
    let pair = pair_data(&mut w, ids[0], ids[1]).expect("both are there");
    assert!(pair.volume > 0.0, "the boxes overlap");
    let before = momentum(&w);
    let mut overlaps = vec![pair];
    change(&mut overlaps);
    // Velocities only: moving the centres by the new velocities keeps the angular momentum as well.
    push(&overlaps, &mut bodies, &mut [], &w.settings);
    let pushed = bodies[1].state.linear_velocity.distance(w.bodies[1].state.linear_velocity);
    assert!(pushed > 0.05, "they push each other: {pushed}");
    w.bodies = bodies;
    let after = momentum(&w);
    let scale = w.bodies[1].def.mass_kg();
    (after.0 - before.0).length().max((after.1 - before.1).length()) / scale
}

#[test]
fn forces_are_equal_and_opposite() {
    let own = leak(|_| {});
    println!("momentum changes by {own:.1e} of a metre a second");
    assert!(own < 1e-9);
    // Planted: a column that pushes only one of them, by pretending that the other is the floor.
    let planted = leak(|overlaps| {
        let mut half = overlaps[0].clone();
        half.second = None;
        half.columns.truncate(half.columns.len() / 4);
        overlaps.push(half);
    });
    assert!(planted > 1e-4, "{planted}");
}

#[test]
fn free_fall_is_the_discrete_formula_and_a_collision_loses_energy() {
    let mut w = cubes(WorldSettings { floor: None, ..settings() }, 1.0, 1);
    let start = w.bodies[0].state.position.y;
    run(&mut w, 1.0);
    // Semi-implicit, whole steps: v = n g h, y = g h^2 n (n + 1) / 2.
    let (v, y) = (w.bodies[0].state.linear_velocity.y, w.bodies[0].state.position.y - start);
    assert!((v + 9.81).abs() < 1e-9 && (y + 9.81e-4 * 100.0 * 101.0 / 2.0).abs() < 1e-9, "{v} {y}");

    for speed in [0.5, 3.0, 10.0] {
        let mut w = cubes(WorldSettings { gravity: DVec3::ZERO, floor: None, ..settings() }, 1.0, 2);
        w.bodies[1].state.position += DVec3::new(0.2, 0.5, 0.1);
        w.bodies[1].state.linear_velocity = DVec3::NEG_Y * speed;
        let before = run(&mut w, 0.01);
        let mut most = before.kinetic;
        for _ in 0..200 {
            most = most.max(w.step_on_cpu().kinetic);
        }
        let after = run(&mut w, 0.01);
        println!(
            "{speed} m/s: kinetic energy {:.1} to {:.1} J, at most {most:.1}; momentum off by {:.1e}",
            before.kinetic,
            after.kinetic,
            (after.momentum - before.momentum).length() / before.momentum.length()
        );
        assert!(most <= before.kinetic * 1.001, "implicit Euler takes energy out");
        assert!((after.momentum - before.momentum).length() < 1e-6 * before.momentum.length());
        assert!(w.bodies[1].state.linear_velocity.y > -0.51 * speed, "it did not pass through");
    }
}

#[test]
fn friction_is_viscous_and_never_holds() {
    let mut w = cubes(settings(), 1.0, 1);
    run(&mut w, 1.0);
    w.bodies[0].state.linear_velocity.x = 2.0;
    let mass = w.bodies[0].def.mass_kg();
    run(&mut w, 0.01);
    let v = w.bodies[0].state.linear_velocity.x;
    // v' = -mu A / m v, by implicit Euler; the friction acts at the bottom and also turns the cube, which
    // takes a share.
    let lost = 2.0 - 2.0 / (1.0 + w.settings.options.value(&FRICTION) / mass * 0.01);
    println!("2 m/s lose {:.4}, {lost:.4} expected", 2.0 - v);
    assert!(((2.0 - v) / lost - 1.0).abs() < 0.12);
    // On a slope it slides at m g sin / (mu A) however flat: nothing holds.
    let slope: f64 = 0.05;
    let mut w = cubes(
        WorldSettings { gravity: DVec3::new(slope.sin(), -slope.cos(), 0.0) * 9.81, ..settings() },
        1.0,
        1,
    );
    run(&mut w, 6.0);
    let v = w.bodies[0].state.linear_velocity.x;
    let end = mass * 9.81 * slope.sin() / w.settings.options.value(&FRICTION);
    println!("a slope of 0.05: {v:.3} m/s after 6 s, {end:.3} at last");
    assert!(v > 0.8 * end);
}

#[test]
fn constants_that_are_no_numbers_do_no_harm() {
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        let options = Options::from([(STIFFNESS.name, bad), (FRICTION.name, bad)]);
        let mut w = cubes(WorldSettings { options, ..settings() }, 1.0, 2);
        let report = run(&mut w, 0.3);
        assert!(report.kinetic.is_finite() && w.bodies.iter().all(|b| b.state.is_finite()));
    }
}

/// The penalty pushes volumes that voxels share; what has none is not let through.
#[test]
fn what_has_no_voxels_is_answered_where_the_response_knows_only_voxels() {
    let contacts = ContactsId::named("hull").expect("it is in the table");
    let mut w = world(WorldSettings { contacts, ..settings() });
    w.add(cuboid(DVec3::new(0.0, 0.01, 0.0), DVec3::splat(0.2)));
    run(&mut w, 1.5);
    assert!((w.bodies[0].state.position.y - 0.1).abs() < 1e-3, "{}", w.bodies[0].state.position.y);
}
