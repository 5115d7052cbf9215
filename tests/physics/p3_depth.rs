//! P3: how deep a box lies in the floor is the same at three levels and three sizes.

use super::{
    Ways,
    support::stage::{open, play, shipped},
};

#[test]
fn its_depth_is_the_same_at_all_levels_and_sizes() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    let mut depths = Vec::new();
    for size in [0.2, 1.0, 5.0] {
        for level in [5, 6, 7] {
            let mut scene = ways.of(shipped("p02-rest"));
            let body = &mut scene.bodies[0];
            (body.size, body.level, body.physics_level) = (Some(size), level, Some(level - 1));
            let Some(mut sandbox) = open(scene) else { return };
            let r = play(&mut sandbox, 2.0);
            println!("P3: {size} m, level {level}: {:.3e} m, {} contacts", r.deepest, r.contacts);
            depths.push(r.deepest);
        }
    }
    let mean = depths.iter().sum::<f64>() / depths.len() as f64;
    let off = depths.iter().map(|d| (d / mean - 1.0).abs()).fold(0.0, f64::max);
    println!("P3: mean {mean:.3e} m, farthest from it {:.2} % (5 %)", off * 100.0);
    assert!(mean > 1e-6 && off < 0.05);
}
