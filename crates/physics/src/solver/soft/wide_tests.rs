//! Eight manifolds at once against contacts one by one, which are the reference.

use std::sync::atomic::Ordering;

use super::*;
use crate::{
    solver::{sequential::pressing, testing::couples, wide::PLAIN},
    tests::pile,
};

/// How all bodies move after a step, and what all points pressed and rubbed.
type Found = (Vec<[DVec3; 2]>, Vec<[f64; 2]>);

fn found(bodies: &[Body], manifolds: &[Manifold]) -> Found {
    let motion = |body: &Body| [body.state.linear_velocity, body.state.angular_velocity];
    let points = manifolds.iter().flat_map(|m| &m.points);
    let pressed = points.map(|p| [p.total_impulse, p.friction_impulse.length()]).collect();
    (bodies.iter().map(motion).collect(), pressed)
}

/// A step with so many iterations that all impulses have converged.
fn converged(is_wide: bool, settings: &WorldSettings, bodies: &[Body], manifolds: &[Manifold]) -> Found {
    let (mut bodies, mut manifolds) = (bodies.to_vec(), manifolds.to_vec());
    let step = SoftStep { iterations: 300, settled: 0.0, wide_iterations: [300; 2], ..SoftStep::default() };
    let edges = pressing(&bodies, &mut manifolds, settings);
    if is_wide {
        step.solve_wide((&mut bodies, &mut manifolds, edges), settings, None);
    } else {
        let springs = |scale, h| step.soft(scale, h);
        solved((&mut bodies, &mut manifolds, edges), settings, springs, |whole, batches, solver_bodies| {
            step.solve(whole, batches, solver_bodies, (settings, None));
        });
    }
    found(&bodies, &manifolds)
}

/// The largest difference of motions, m/s and rad/s, and of pressed impulses as a share of the largest.
fn difference(a: &Found, b: &Found) -> [f64; 2] {
    assert_eq!((a.0.len(), a.1.len()), (b.0.len(), b.1.len()));
    let motions = a.0.iter().flatten().zip(b.0.iter().flatten()).map(|(a, b)| a.distance(*b));
    let largest = a.1.iter().map(|[pressed, _]| *pressed).fold(0.0, f64::max);
    let pressed = a.1.iter().flatten().zip(b.1.iter().flatten()).map(|(a, b)| (a - b).abs() / largest);
    [motions.fold(0.0, f64::max), pressed.fold(0.0, f64::max)]
}

#[test]
fn eight_at_once_converge_to_what_one_by_one_does() {
    let numbers: Vec<usize> = (0..67).collect();
    let (settings, bodies, manifolds) = couples(&numbers);
    let both = [false, true].map(|is_wide| converged(is_wide, &settings, &bodies, &manifolds));
    let [moved, pressed] = difference(&both[0], &both[1]);
    println!("67 couples: off by {moved:e} m/s and {pressed:e} of the largest impulse");
    assert!(both[0].1.iter().filter(|[pressed, _]| *pressed > 0.0).count() > 100);
    assert!(moved < 1e-3, "{moved}");
}

#[test]
fn a_heap_moves_as_one_by_one() {
    let mut w = pile(5, 5, 4);
    for _ in 0..50 {
        w.step_on_cpu();
    }
    let both = [false, true].map(|is_wide| converged(is_wide, &w.settings, &w.bodies, &w.manifolds));
    let [moved, pressed] = difference(&both[0], &both[1]);
    println!("{} contacts: off by {moved:e} m/s and {pressed:e} of the largest impulse", both[0].1.len());
    assert!(both[0].1.len() > 100 && moved < 0.05, "{moved}");
}

#[test]
fn every_width_gives_the_same_bytes() {
    let (settings, bodies, manifolds) = couples(&(0..19).collect::<Vec<_>>());
    let run = |plain: bool| {
        PLAIN.store(plain, Ordering::Relaxed);
        let found = converged(true, &settings, &bodies, &manifolds);
        PLAIN.store(false, Ordering::Relaxed);
        found
    };
    assert_eq!(run(true), run(false));
}

/// Of all bodies that move: momentum, kg m/s, and angular momentum about the origin, kg m^2/s.
fn momentum(bodies: &[Body]) -> [DVec3; 2] {
    let of = |body: &Body| {
        let linear = body.state.linear_velocity * body.def.mass_kg();
        let spin = body.inertia_in_world() * body.state.angular_velocity;
        [linear, body.state.position.cross(linear) + spin]
    };
    let moving = bodies.iter().filter(|body| body.moves());
    moving.map(of).fold([DVec3::ZERO; 2], |sum, own| [sum[0] + own[0], sum[1] + own[1]])
}

/// A pile in free fall that collides with itself. Seen to fail where the second body of a pair gets 0.999 of the impulse.
#[test]
fn momentum_is_kept() {
    let mut w = pile(5, 5, 4);
    for _ in 0..50 {
        w.step_on_cpu();
    }
    let settings = WorldSettings { gravity: DVec3::ZERO, ..w.settings.clone() };
    let mut manifolds: Vec<Manifold> = w.manifolds.iter().filter(|m| m.second.is_some()).cloned().collect();
    let mut bodies = w.bodies.clone();
    for (k, body) in bodies.iter_mut().enumerate() {
        let t = k as f64;
        body.state.linear_velocity += DVec3::new((1.7 * t).sin(), (2.3 * t).cos(), (0.9 * t).sin());
    }
    let before = momentum(&bodies);
    let edges = pressing(&bodies, &mut manifolds, &settings);
    SoftStep::default().solve_wide((&mut bodies, &mut manifolds, edges), &settings, None);
    let after = momentum(&bodies);
    let pressed: f64 = manifolds.iter().flat_map(|m| &m.points).map(|p| p.total_impulse).sum();
    let off = [0, 1].map(|k| after[k].distance(before[k]) / pressed);
    println!("{pressed:.1} N s pressed; momentum off by {:e} of it, angular by {:e} m", off[0], off[1]);
    assert!(pressed > 50.0 && off[0] < 1e-6 && off[1] < 1e-5, "{pressed} {off:?}");
}

#[test]
fn substeps_of_eight_at_once_add_up_to_the_totals() {
    let numbers: Vec<usize> = (0..19).collect();
    let (settings, mut bodies, mut manifolds) = couples(&numbers);
    let mut record = SubstepImpulses::default();
    record.begin(manifolds.iter().map(|m| m.points.len()));
    let edges = pressing(&bodies, &mut manifolds, &settings);
    let heap = (&mut bodies[..], &mut manifolds[..], edges);
    SoftStep::default().solve_wide(heap, &settings, Some(&mut record));
    assert_eq!(record.substeps(), settings.substeps);
    let (mut pressing, mut rubbing) = (0, 0);
    for (m, manifold) in (0u32..).zip(&manifolds) {
        for (k, p) in (0u32..).zip(&manifold.points) {
            let rows: Vec<(f64, DVec3)> = (0..settings.substeps).map(|s| record.get(s, [m, k])).collect();
            let normal: f64 = rows.iter().map(|(normal, _)| normal).sum();
            let friction: DVec3 = rows.iter().map(|(_, friction)| *friction).sum();
            // Single precision.
            let scale = 1e-5 * (1e-3 + normal);
            assert!((normal - p.total_impulse).abs() < scale, "{normal} {}", p.total_impulse);
            assert!((friction - p.total_friction).length() < scale, "{friction} {}", p.total_friction);
            pressing += usize::from(normal > 0.0);
            rubbing += usize::from(friction.length() > 0.0);
        }
    }
    println!("{pressing} points pressed, {rubbing} rubbed");
    assert!(pressing > 20 && rubbing > 20);
}
