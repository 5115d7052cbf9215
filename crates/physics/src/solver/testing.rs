//! Contacts for the tests of solvers.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use rand::{RngExt, SeedableRng};

use crate::{
    Body, BodyDef, Family, WorldSettings,
    collide::{Manifold, Point},
    testing::{block, body, grid, world},
};

/// A cube that comes down on a fixed one, sliding and spinning, with as many points as `rng` says; far from the others.
fn couple(number: usize) -> (Vec<BodyDef>, Vec<(DVec3, DVec3, f64)>) {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(number as u64);
    let mut v = || rng.random_range(-1.0..1.0f64);
    let forest = Arc::new(block(4, [4; 3], [12; 3]));
    let lift = DVec3::X * (100.0 * number as f64);
    let mut defs: Vec<BodyDef> = [true, false]
        .map(|fixed| {
            let lift = lift + DVec3::Y * if fixed { 0.0 } else { 0.5 };
            let def = body(&forest, 0, grid(4, 1.0), 3, lift);
            BodyDef { family: Family::unique(), fixed, ..def }
        })
        .into();
    defs[1].state.linear_velocity = DVec3::new(v(), v() - 1.5, v());
    defs[1].state.angular_velocity = DVec3::new(v(), v(), v()) * 3.0;
    defs[1].state.rotation = DQuat::from_scaled_axis(DVec3::new(v(), v(), v()) * 0.1);
    let at = defs[1].state.position - DVec3::Y * 0.25;
    let points = (0..3 + number % 6).map(|_| {
        let normal = DVec3::new(0.2 * v(), 1.0, 0.2 * v()).normalize();
        (at + DVec3::new(v(), 0.0, v()) * 0.25, normal, 0.01 * v())
    });
    (defs, points.collect())
}

/// The couples of these numbers, each far from the others: first the lower cube, which is fixed, then the upper one.
pub fn couples(numbers: &[usize]) -> (WorldSettings, Vec<Body>, Vec<Manifold>) {
    let mut w = world(WorldSettings::default());
    let couples: Vec<_> = numbers.iter().map(|k| couple(*k)).collect();
    couples.iter().flat_map(|(defs, _)| defs).for_each(|def| _ = w.add(def.clone()));
    let bodies = std::mem::take(&mut w.bodies);
    let mut manifolds: Vec<Manifold> = Vec::new();
    for (k, (_, points)) in couples.iter().enumerate() {
        let [below, above] = [&bodies[2 * k], &bodies[2 * k + 1]];
        let point = |(key, (at, normal, gap)): (u64, &(DVec3, DVec3, f64))| {
            Point::new(key, [Some(below), Some(above)], *at, -*normal, *gap)
        };
        let points = (0u64..).zip(points).map(point).collect();
        let (first, second) = (below.id, Some(above.id));
        let rolling_impulse = DVec3::ZERO;
        manifolds.push(Manifold { first, second, points, rolling_impulse, resolution_m: 0.1 });
    }
    (w.settings, bodies, manifolds)
}
