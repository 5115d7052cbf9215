//! P21: a ball without resistance to rolling rolls down a slope by the book, 5/7 of the pull along it; with the usual
//! resistance more slowly, and one that has much stays.

use glam::DVec3;
use kintsugi::scene::{Scene, SceneBody};

use super::{
    G, Ways,
    support::stage::{only, open, play},
};

/// How far a ball gets from rest in two seconds, m.
pub fn way(ways: Ways, degrees: f64, rolling_resistance: f64) -> Option<f64> {
    let angle = degrees.to_radians();
    let ball = SceneBody {
        size: Some(0.5),
        physics_level: Some(6),
        friction: 0.6,
        restitution: 0.0,
        rolling_resistance,
        ..SceneBody::standing("builtin:sphere", 7)
    };
    let gravity = G * DVec3::new(angle.sin(), -angle.cos(), 0.0);
    let mut sandbox =
        open(ways.of(Scene { bodies: vec![ball], gravity, sleeping: false, ..Scene::default() }))?;
    let start = only(&sandbox).state.position;
    play(&mut sandbox, 2.0);
    let moved = only(&sandbox).state.position - start;
    Some(moved.x)
}

#[test]
fn a_ball_rolls_by_the_book() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    for degrees in [10.0f64, 20.0] {
        let Some(free) = way(ways, degrees, 0.0) else { return };
        let Some(usual) = way(ways, degrees, 0.3) else { return };
        let wanted = 0.5 * 5.0 / 7.0 * G * degrees.to_radians().sin() * 4.0;
        println!("P21: {degrees} degrees: {free:.3} m of {wanted:.3} (3 %); {usual:.3} m with resistance");
        assert!((free / wanted - 1.0).abs() < 0.03);
        assert!(usual < 0.95 * free);
    }
    let Some(held) = way(ways, 1.0, 1.0) else { return };
    println!("P21: 1 degree, resistance 1: {held:.4} m");
    assert!(held.abs() < 0.02);
}
