//! P1: a body falls freely for a second by the integrator's own formula.

use glam::DVec3;

use super::{
    G, Ways,
    support::stage::{only, open, play, shipped},
};

#[test]
fn free_fall() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    let Some(mut sandbox) = open(ways.of(shipped("p01-free-fall"))) else { return };
    let start = only(&sandbox).state.position;
    play(&mut sandbox, 1.0);
    let state = only(&sandbox).state;
    let (n, h) = (400.0, 0.0025);
    let speed = (state.linear_velocity + DVec3::Y * G * n * h).length();
    let way = (state.position - start + DVec3::Y * G * h * h * n * (n + 1.0) / 2.0).length();
    println!("P1: speed off by {speed:.1e} m/s (1e-4), way by {way:.1e} m (1e-5)");
    assert!(speed < 1e-4 && way < 1e-5);
}
