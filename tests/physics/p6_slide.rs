//! P6: a box that slides is slowed down as Coulomb's law says, whichever way it goes.

use glam::DQuat;
use kintsugi::scene::Sandbox;

use super::{
    G, Ways,
    support::stage::{only, open, play, shipped},
};

#[test]
fn sliding_obeys_coulomb() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    let (mut worst, mut friction) = (0.0f64, 0.0f64);
    for heading in (0..360).step_by(30) {
        let mut scene = ways.of(shipped("p06-slide"));
        let turn = DQuat::from_rotation_y(f64::from(heading).to_radians());
        scene.bodies[0].linear_velocity = turn * scene.bodies[0].linear_velocity;
        let Some(mut sandbox) = open(scene) else { return };
        let start = only(&sandbox).state.position;
        let speed = |sandbox: &Sandbox| only(sandbox).state.linear_velocity.with_y(0.0).length();
        let before = speed(&sandbox);
        play(&mut sandbox, 1.0);
        // The distance alone, 1 % of 17.5 m, would let friction be 7 % off.
        let slowed = (before - speed(&sandbox)) / (0.5 * G);
        let way = (only(&sandbox).state.position - start).with_y(0.0).length();
        let wanted = 20.0 - 0.5 * 0.5 * G;
        println!("P6: heading {heading}: {way:.3} m, Coulomb's law {wanted:.3} m");
        worst = worst.max((way / wanted - 1.0).abs());
        friction = friction.max((slowed - 1.0).abs());
    }
    println!("P6: way at most {:.3} % off (1 %), friction {:.3} % (1 %)", worst * 100.0, friction * 100.0);
    assert!(worst < 0.01 && friction < 0.01);
}
