//! P7: an incline holds a box up to the angle of friction, and lets it go above.

use glam::DVec3;

use super::{
    G, Ways,
    support::stage::{only, open, play, shipped},
};

#[test]
fn an_incline_holds_and_lets_go() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    for (name, degrees) in [("p07-incline-hold", -2.0), ("p07-incline-slide", 2.0f64)] {
        let scene = ways.of(shipped(name));
        let angle = 0.5f64.atan() + degrees.to_radians();
        assert!((scene.gravity - G * DVec3::new(angle.sin(), -angle.cos(), 0.0)).length() < 1e-5);
        let Some(mut sandbox) = open(scene) else { return };
        play(&mut sandbox, 2.0);
        let speed = only(&sandbox).state.linear_velocity.length();
        println!("P7: atan(mu) {degrees:+} degrees: {speed:.1e} m/s (holds below 1e-3)");
        // Two degrees more than friction holds: g (sin a - mu cos a) t = 0.76 m/s.
        let wanted = 2.0 * G * (angle.sin() - 0.5 * angle.cos());
        assert!(if degrees < 0.0 { speed < 1e-3 } else { (speed / wanted - 1.0).abs() < 0.05 });
    }
}
