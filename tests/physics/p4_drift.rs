//! P4: a box that lies for a minute, and may not sleep, stays where it is.

use super::{
    Ways,
    support::stage::{fastest, only, open, play, shipped, step},
};

#[test]
fn a_box_at_rest_does_not_drift() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    let Some(mut sandbox) = open(ways.of(shipped("p04-drift"))) else { return };
    assert!(!sandbox.settings().sleeping);
    play(&mut sandbox, 1.0);
    let then = only(&sandbox).state;
    let mut speed = 0.0f64;
    for _ in 0..6000 {
        step(&mut sandbox);
        speed = speed.max(fastest(&sandbox));
    }
    let now = only(&sandbox).state;
    let drift = (now.position - then.position).length();
    let turned = now.rotation.angle_between(then.rotation).to_degrees();
    println!(
        "P4: in 60 s drift {drift:.1e} m (1e-3), {turned:.1e} degrees (0.1), speed {speed:.1e} m/s (1e-3)"
    );
    assert!(drift < 1e-3 && turned < 0.1 && speed < 1e-3);
}
