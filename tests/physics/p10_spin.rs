//! P10: a body that spins freely for five seconds keeps its energy and its angular momentum.

use kintsugi::bodies::Body;

use super::{
    Ways,
    support::stage::{only, open, shipped, step},
};

#[test]
fn a_spinning_body_keeps_its_spin() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    let Some(mut sandbox) = open(ways.of(shipped("p10-spin"))) else { return };
    let spin = |b: &Body| b.inertia_in_world() * b.state.angular_velocity;
    let of = |b: &Body| (spin(b), b.state.angular_velocity.dot(spin(b)));
    let (l, e) = of(only(&sandbox));
    let mut range = (1.0f64, 1.0f64);
    let mut off = 0.0f64;
    for _ in 0..500 {
        step(&mut sandbox);
        let now = of(only(&sandbox));
        range = (range.0.min(now.1 / e), range.1.max(now.1 / e));
        off = off.max((now.0 - l).length() / l.length());
    }
    println!(
        "P10: energy between {:.6} and {:.6} (0.7, 1.0001), angular momentum off by {off:.1e} (0.02)",
        range.0, range.1
    );
    assert!(range.0 > 0.7 && range.1 < 1.0001 && off < 0.02);
}
