//! Worlds that nobody would build on purpose: no step may hang, and invalid numbers must not spread.

use crate::{
    bodies::{
        Body, BodyDef, Family, ResponseId, StepReport, Walls, World, WorldSettings, all_pair_data, pair_data,
        testing::{block, body, grid, join, world},
    },
    geometry::Aabb,
    penalty::STIFFNESS,
    svo::Forest,
};
use glam::{DQuat, DVec3};
use std::{sync::Arc, time::Instant};

const ALL: [&str; 3] = ["soft", "penalty", "impulse"];

fn cube(lift: DVec3) -> BodyDef {
    let forest = Arc::new(block(4, [4; 3], [12; 3]));
    BodyDef { family: Family::unique(), ..body(&forest, 0, grid(4, 1.0), 3, lift) }
}

fn settings(response: &str) -> WorldSettings {
    crate::register();
    let response = ResponseId::named(response).expect("it is in the table");
    WorldSettings { response, measure_volume: true, ..WorldSettings::default() }
}

/// Steps, and checks after each that every number is one and that it took no longer than it may.
fn run(w: &mut World, steps: usize) -> StepReport {
    let start = Instant::now();
    let mut last = StepReport::default();
    for _ in 0..steps {
        last = w.step_on_cpu();
        assert!(w.bodies.iter().all(|b| b.state.is_finite()), "a body has a number that is none");
        let volume = last.intersection_volume.expect("it is measured");
        let sums = [last.kinetic, last.potential, volume, last.deepest];
        assert!(sums.iter().all(|v| v.is_finite()) && last.momentum.is_finite(), "{last:?}");
    }
    assert!(start.elapsed().as_secs_f64() < 300.0, "it hangs");
    last
}

#[test]
fn thrown_to_infinity_it_is_frozen_and_reported() {
    for response in ALL {
        let mut w = world(WorldSettings { floor: None, gravity: DVec3::ZERO, ..settings(response) });
        let far = w.add(cube(DVec3::ZERO));
        w.add(cube(DVec3::Y * 3.0));
        w.body_mut(far).expect("it is there").state.linear_velocity = DVec3::X * 1e300;
        run(&mut w, 3);
        let state = &mut w.body_mut(far).expect("it is there").state;
        (state.position, state.linear_velocity) = (DVec3::X * (1e6 - 1.0), DVec3::X * 199.0);
        let report = run(&mut w, 3);
        assert!(w.bodies[0].frozen && !w.bodies[1].frozen && report.frozen == 1, "{response:?}");
        for bad in [DVec3::NAN, DVec3::INFINITY, DVec3::splat(1e308)] {
            let id = w.add(cube(DVec3::Z * 5.0));
            w.body_mut(id).expect("it is there").state.angular_velocity = bad;
            w.apply_impulse(id, bad, DVec3::Y);
            w.apply_impulse(id, DVec3::ZERO, bad);
            run(&mut w, 3);
        }
    }
}

#[test]
fn without_a_floor_it_falls_for_ever_and_no_faster_than_the_limit() {
    for response in ALL {
        let mut w = world(WorldSettings { floor: None, ..settings(response) });
        w.add(cube(DVec3::ZERO));
        let report = run(&mut w, 3000);
        let speed = w.bodies[0].state.linear_velocity.length();
        println!("{response:?}: {speed:.0} m/s after 30 s, at y = {:.0} m", w.bodies[0].state.position.y);
        // Without the limit it would be 294 m/s.
        assert!((199.0..=200.0).contains(&speed) && report.awake == 1 && report.frozen == 0);
    }
}

/// A tree of one voxel, one of nothing, and a floor of many.
fn smallest() -> Vec<BodyDef> {
    let one = block(4, [5; 3], [6; 3]);
    let many = block(4, [4; 3], [12; 3]);
    let forest = Arc::new(join(&[one, many]));
    let nothing = Arc::new(Forest { level: 4, ..Forest::default() });
    let mut defs = vec![
        body(&forest, 1, grid(4, 1.0), 3, DVec3::ZERO),
        body(&forest, 0, grid(4, 1.0), 3, DVec3::Y * 0.6),
        body(&forest, 0, grid(4, 1.0), 1, DVec3::Y * 0.9),
        body(&nothing, 0, grid(4, 1.0), 3, DVec3::ZERO),
        body(&nothing, 7, grid(4, 1.0), 9, DVec3::Y),
    ];
    defs.iter_mut().for_each(|def| def.family = Family::unique());
    defs
}

#[test]
fn single_voxels_and_bodies_of_nothing_harm_nobody() {
    for response in ALL {
        let mut w = world(settings(response));
        for (i, mut def) in smallest().into_iter().enumerate() {
            if i == 2 {
                def.set_density(0.0);
            }
            w.add(def);
        }
        let mut weightless = cube(DVec3::Y * 2.0);
        let mut octree = weightless.octree().clone();
        (octree.mass.volume, octree.mass.inertia) = (f64::NAN, glam::DMat3::ZERO);
        weightless.shape = Arc::new(crate::shape::Shape::octree(octree, 1000.0, Default::default()));
        w.add(weightless);
        run(&mut w, 300);
        for i in 0..w.bodies.len() {
            for j in 0..w.bodies.len() {
                let [a, b] = [w.bodies[i].id, w.bodies[j].id];
                let shared = pair_data(&mut w, a, b).expect("both are there");
                assert!(shared.volume.is_finite() && shared.gradient.is_finite());
            }
        }
        assert!(low_y(&w.bodies[0]) > -0.05, "{response:?}: the cube stands");
    }
}

fn low_y(body: &Body) -> f64 {
    let Aabb { low, high } = body.def.octree().mass.bounds;
    let to_world = body.world_from_grid();
    (0..8u32)
        .map(|c| {
            let pick = DVec3::new(f64::from(c & 1), f64::from(c >> 1 & 1), f64::from(c >> 2));
            to_world.transform_point3(low + pick * (high - low)).y
        })
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn bodies_inside_each_other_come_apart_or_stay_but_do_not_explode() {
    for response in ALL {
        for (shift, turn) in [
            (DVec3::ZERO, DQuat::IDENTITY),
            (DVec3::new(0.01, 0.02, 0.0), DQuat::IDENTITY),
            (DVec3::new(0.1, 0.2, 0.05), DQuat::from_rotation_x(0.7)),
        ] {
            let mut w = world(WorldSettings { floor: None, gravity: DVec3::ZERO, ..settings(response) });
            w.add(cube(DVec3::ZERO));
            let mut second = cube(shift);
            second.state.rotation = turn;
            w.add(second);
            let shared: f64 = all_pair_data(&mut w, None).unwrap().iter().map(|shared| shared.volume).sum();
            let stored = 0.5 * w.settings.options.value(&STIFFNESS) * shared * shared;
            let report = run(&mut w, 200);
            let fastest = w.bodies.iter().map(|b| b.state.linear_velocity.length()).fold(0.0, f64::max);
            let gap = w.bodies[0].state.position.distance(w.bodies[1].state.position);
            println!(
                "{response:?} {shift}: fastest {fastest:.2} m/s, {gap:.2} m apart, momentum {:.1e}, {:.1} of {stored:.1} J",
                report.momentum.length(),
                report.kinetic
            );
            assert_eq!(report.frozen, 0);
            // The soft response undoes overlap slowly; the penalty throws with all its stored work.
            if response == "soft" {
                assert!(fastest < 5.0);
            } else {
                assert!(report.kinetic < stored, "{} of {stored} J", report.kinetic);
            }
            assert!(report.momentum.length() < 1e-6 * w.bodies[0].def.mass_kg() * fastest.max(1.0));
        }
    }
}

#[test]
fn settings_that_are_no_numbers_are_ignored() {
    for response in ALL {
        let bad = f64::NAN;
        let mut w = world(WorldSettings {
            gravity: DVec3::new(bad, -9.81, 0.0),
            dt: bad,
            substeps: 0,
            floor: Some(bad),
            walls: Some(Walls { low: DVec3::splat(bad), high: DVec3::ONE }),
            ..settings(response)
        });
        w.eye = Some(DVec3::NAN);
        w.add(cube(DVec3::ZERO));
        let mut wild = cube(DVec3::Y);
        (wild.friction, wild.restitution) = (bad, f64::INFINITY);
        wild.set_density(bad);
        w.add(wild);
        let mut lost = cube(DVec3::Y * 2.0);
        lost.state.rotation = DQuat::from_xyzw(bad, 0.0, 0.0, 1.0);
        w.add(lost);
        let report = run(&mut w, 20);
        assert_eq!(report.frozen, 1, "the one with a rotation that is none");
        assert!(w.bodies.iter().filter(|b| b.frozen).all(|b| b.def.state.rotation.is_nan()));
    }
}
