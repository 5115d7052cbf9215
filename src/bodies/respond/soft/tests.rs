//! What is this response's own; the checks P1 to P22 are in tests/physics/.

use super::*;
use crate::bodies::{
    BodyDef, Family, Point, World,
    testing::{block, body, grid},
};
use std::sync::Arc;

/// Impulse a step of what presses a cube, 2 cm deep, to the right and to the left in another that cannot move, after so
/// many steps; and the cube's mass.
fn squeezed(steps: u32) -> (f64, f64) {
    let mut w = World::on_cpu(WorldSettings { gravity: DVec3::ZERO, ..WorldSettings::default() });
    let forest = Arc::new(block(4, [4; 3], [12; 3]));
    for fixed in [false, true] {
        let def = body(&forest, 0, grid(4, 1.0), 3, DVec3::ZERO);
        w.add(BodyDef { family: Family::unique(), fixed, ..def });
    }
    let (settings, mut bodies) = (w.settings, std::mem::take(&mut w.bodies));
    let (step, at) = (SoftStep::default(), bodies[0].state.position);
    let pair = [Some(&bodies[0]), Some(&bodies[1])];
    let points = [DVec3::X, DVec3::NEG_X].into_iter().zip(0u64..);
    let points = points.map(|(n, key)| Point::new(key, pair, at - n * 0.25, n, -0.02)).collect();
    let (first, second) = (bodies[0].id, Some(bodies[1].id));
    let resolution_m = 0.1;
    let mut manifolds = vec![Manifold { first, second, points, rolling_impulse: DVec3::ZERO, resolution_m }];
    for _ in 0..steps {
        let springs = |scale, h| step.soft(scale, h);
        solved(&mut bodies, &mut manifolds, &settings, springs, |whole, batches, movers| {
            step.solve(whole, batches, movers, &settings);
        });
    }
    (manifolds[0].points.iter().map(|p| p.total_impulse).sum(), bodies[0].def.mass_kg())
}

/// A piece that sits in another's crevice. Seen to fail where each spring is made for what it presses itself: 86,000 N s
/// after five steps.
#[test]
fn springs_against_each_other_do_not_grow() {
    let ((few, mass), (many, _)) = (squeezed(5), squeezed(100));
    // A spring at rest presses its speed over its softness, in every substep.
    let settings = WorldSettings::default();
    let soft = SoftStep::default().soft(Scale::METRE, substep_secs(&settings));
    let one = soft.bias_rate * 0.02 / soft.softness * mass;
    let all = 2.0 * f64::from(settings.substeps) * one;
    println!("{few:.1} N s a step after 5, {many:.1} after 100; two springs at rest {all:.1}");
    assert!((many / few - 1.0).abs() < 0.01 && many < 1.05 * all, "{few}, {many} of {all}");
}
