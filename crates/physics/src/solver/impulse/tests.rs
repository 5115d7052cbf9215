//! What is this response's own; the checks P1 to P23, P26 and P27 are in tests/physics/.

use super::*;
use crate::{
    BodyDef, Family, Point, ResponseId, World,
    testing::{block, body, by_octrees, grid},
};
use glam::DVec3;
use std::sync::Arc;

fn cubes(count: u32, raised: f64) -> World {
    let settings = WorldSettings { response: ResponseId::IMPULSE, ..WorldSettings::default() };
    let mut w = by_octrees(World::on_cpu(settings));
    let forest = Arc::new(block(4, [4; 3], [12; 3]));
    for k in 0..count {
        let def = body(&forest, 0, grid(4, 1.0), 3, DVec3::Y * (f64::from(k) * 0.5 + raised));
        w.add(BodyDef { family: Family::unique(), ..def });
    }
    w
}

#[test]
fn overlap_is_undone_and_gives_nobody_a_speed() {
    // A cube's low side is a quarter over the grid's; this puts it a centimetre into the floor.
    let mut w = cubes(1, -0.26);
    w.settings.gravity = DVec3::ZERO;
    w.settings.sleeping = false;
    let start = w.bodies[0].state.position.y;
    let mut fastest = 0.0f64;
    for _ in 0..100 {
        w.step_on_cpu();
        fastest = fastest.max(w.bodies[0].state.linear_velocity.length());
    }
    let up = w.bodies[0].state.position.y - start;
    println!("up {:.3} mm, fastest {fastest:.1e} m/s", up * 1e3);
    assert!((up - 0.01).abs() < 3e-4 && fastest < 1e-9, "{up} {fastest}");
}

#[test]
fn a_stack_stands_on_its_lowest_cube_with_all_its_weight() {
    let mut w = cubes(5, -0.25);
    // Nobody asks what presses on sleepers.
    w.settings.sleeping = false;
    let mut last = w.step_on_cpu();
    for _ in 0..60 {
        last = w.step_on_cpu();
    }
    let weight: f64 = w.bodies.iter().map(|b| b.def.mass_kg() * 9.81).sum();
    println!("force over weight {:.5}, deepest {:.3} mm", last.floor_force.y / weight, last.deepest * 1e3);
    assert!((last.floor_force.y / weight - 1.0).abs() < 0.01 && last.deepest < 1e-3);
}

/// Planted: with too few rounds a tall stack sinks into itself, which the check above would find.
#[test]
fn with_one_round_a_stack_does_not_carry_its_weight() {
    let weight_error = |iterations: u32| {
        let mut w = cubes(12, -0.25);
        w.settings.sleeping = false;
        let step = ImpulseStep { iterations, settled: 0.0, partings: 1, ..ImpulseStep::default() };
        let mut bodies = std::mem::take(&mut w.bodies);
        let mut manifolds = Vec::new();
        for k in 0..12usize {
            let below = k.checked_sub(1).map(|k| &bodies[k]);
            let corners = [(-0.25, -0.25), (-0.25, 0.25), (0.25, -0.25), (0.25, 0.25)];
            let points = corners.iter().zip(0u64..).map(|((x, z), key)| {
                let at = bodies[k].state.position + DVec3::new(*x, -0.25, *z);
                match below {
                    Some(below) => Point::new(key, [Some(&bodies[k]), Some(below)], at, DVec3::Y, 0.0),
                    None => Point::new(key, [Some(&bodies[k]), None], at, DVec3::Y, 0.0),
                }
            });
            manifolds.push(Manifold {
                first: bodies[k].id,
                second: below.map(|b| b.id),
                points: points.collect(),
                rolling_impulse: DVec3::ZERO,
                resolution_m: 0.1,
            });
        }
        let settings = w.settings.clone();
        let springs = |_, _| Soft { bias_rate: 0.0, softness: 0.0, push_out: 0.0 };
        let start = bodies[11].state.position.y;
        let edges = pressing(&bodies, &mut manifolds, &settings);
        solved((&mut bodies, &mut manifolds, edges), &settings, springs, |whole, batches, solver_bodies| {
            step.solve(whole, batches, solver_bodies, (&settings, None));
        });
        start - bodies[11].state.position.y
    };
    let (one, many) = (weight_error(1), weight_error(24));
    println!("the top of twelve sinks {:.4} mm with one round, {:.4} mm with 24", one * 1e3, many * 1e3);
    assert!(one > 2.0 * many, "{one} {many}");
}
