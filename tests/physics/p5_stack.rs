//! P5: ten cubes on one another stand for a minute and fall asleep.

use super::{
    Ways,
    support::stage::{open, play, shipped},
};

#[test]
fn ten_cubes_stand() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    let Some(mut sandbox) = open(ways.of(shipped("p05-stack"))) else { return };
    assert_eq!(sandbox.bodies().len(), 10);
    let start = sandbox.bodies()[9].state.position;
    let r = play(&mut sandbox, 60.0);
    let drift = sandbox.bodies()[9].state.position - start;
    println!(
        "P5: top {:.2} mm aside, {:.2} mm up (5), {} awake",
        drift.with_y(0.0).length() * 1e3,
        drift.y * 1e3,
        r.awake
    );
    assert!(drift.length() < 5e-3 && r.awake == 0);
}
