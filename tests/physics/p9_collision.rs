//! P9: two bodies that collide keep momentum and angular momentum.

use super::{
    Ways,
    support::stage::{open, shipped, step},
};

#[test]
fn a_collision_keeps_momentum() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    let Some(mut sandbox) = open(ways.of(shipped("p09-collide"))) else { return };
    let before = step(&mut sandbox);
    let (mut met, mut after) = (0, before.clone());
    for _ in 0..200 {
        after = step(&mut sandbox);
        met += after.contacts;
    }
    let linear = (after.momentum - before.momentum).length() / before.momentum.length();
    let angular =
        (after.angular_momentum - before.angular_momentum).length() / before.angular_momentum.length();
    println!(
        "P9: momentum {linear:.1e}, angular momentum {angular:.1e} (1e-4), kinetic {:.1} of {:.1} J",
        after.kinetic, before.kinetic
    );
    assert!(met > 0 && linear < 1e-4 && angular < 1e-4 && after.kinetic < 0.99 * before.kinetic);
}
