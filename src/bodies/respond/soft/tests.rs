//! What is this response's own; the checks P1 to P22 are in tests/physics/.

use super::*;
use crate::bodies::{
    BodyDef, Family, Point, World,
    testing::{block, body, grid},
};
use std::sync::Arc;

/// Impulse a step of what presses a cube, 2 cm deep, from its left and along `second` out of another that cannot move;
/// it has got nowhere for `still_secs`.
fn squeezed(second: DVec3, still_secs: f64) -> f64 {
    let mut w = World::on_cpu(WorldSettings { gravity: DVec3::ZERO, ..WorldSettings::default() });
    let forest = Arc::new(block(4, [4; 3], [12; 3]));
    for fixed in [false, true] {
        let def = body(&forest, 0, grid(4, 1.0), 3, DVec3::ZERO);
        w.add(BodyDef { family: Family::unique(), fixed, ..def });
    }
    let (settings, mut bodies) = (w.settings, std::mem::take(&mut w.bodies));
    bodies[0].still_secs = still_secs;
    let (step, at) = (SoftStep::default(), bodies[0].state.position);
    let mut total = 0.0;
    let points = [DVec3::X, second].into_iter().zip(0u64..);
    let points =
        points.map(|(n, key)| Point::new(key, [Some(&bodies[0]), Some(&bodies[1])], at - n * 0.25, n, -0.02));
    let mut manifolds = vec![Manifold {
        first: bodies[0].id,
        second: Some(bodies[1].id),
        points: points.collect(),
        rolling_impulse: DVec3::ZERO,
        resolution_m: 0.1,
    }];
    for _ in 0..5 {
        let springs = |scale, h| step.soft(scale, h);
        solved(&mut bodies, &mut manifolds, &settings, springs, |whole, groups, movers| {
            step.solve(whole, groups, movers, &settings);
        });
        total = manifolds[0].points.iter().map(|p| p.total_impulse).sum();
    }
    total
}

#[test]
fn what_is_pinched_and_trembles_is_hardly_squeezed() {
    let (new, trembling) = (squeezed(DVec3::NEG_X, 0.0), squeezed(DVec3::NEG_X, 1.0));
    println!("{new:.3} N s a step, {trembling:.3} once it trembles");
    assert!(trembling > 0.0 && trembling < 0.25 * new, "{trembling} of {new}");
}
