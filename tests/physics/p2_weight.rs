//! P2: a box at rest presses on the floor with its weight.

use super::{
    G, Ways,
    support::stage::{only, open, play, shipped},
};

#[test]
fn a_box_at_rest_presses_with_its_weight() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    let Some(mut sandbox) = open(ways.of(shipped("p02-rest"))) else { return };
    let r = play(&mut sandbox, 2.0);
    let weight = only(&sandbox).def.mass_kg() * G;
    println!("P2: force over weight {:.6} (1 +- 0.01)", r.floor_force.y / weight);
    assert!((r.floor_force.y / weight - 1.0).abs() < 0.01);
    assert!(r.floor_force.with_y(0.0).length() < 0.01 * weight);
}
