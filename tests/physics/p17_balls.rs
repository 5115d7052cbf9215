//! P17: two smooth balls that meet without friction part by the book, on their axis and off it, and do not spin.

use glam::DVec3;
use kintsugi::scene::{Scene, SceneBody};

use super::{
    Ways,
    support::stage::{open, steps},
};

const RESTITUTION: f64 = 0.8;

/// A ball of 1 m at 4 m/s meets one of 0.6 m at -2 m/s, whose centre is `aside` m off the axis.
fn balls(physics_level: u32, aside: DVec3) -> Scene {
    let ball = |size: f64, density: f64, x: f64, speed: f64| {
        let mut body = SceneBody::standing("builtin:sphere", 7);
        (body.size, body.density, body.physics_level) = (Some(size), density, Some(physics_level));
        (body.friction, body.restitution, body.on_floor) = (0.0, RESTITUTION, false);
        // A body's position is that of its foot.
        body.position = DVec3::new(x, -0.5 * size, 0.0);
        body.linear_velocity = DVec3::X * speed;
        body
    };
    let mut light = ball(0.6, 1000.0, 1.0, -2.0);
    light.position += aside;
    let bodies = vec![ball(1.0, 3000.0, -1.0, 4.0), light];
    Scene { bodies, gravity: DVec3::ZERO, floor: false, ..Scene::default() }
}

#[test]
fn two_smooth_balls_part_by_the_book() {
    holds(Ways::default());
}

pub fn holds(ways: Ways) {
    let [off, turned, spin] = figures(ways);
    assert!(off < 0.03 && turned < 3.0 && spin < 0.1, "{off} {turned} {spin}");
}

/// The most that speeds were off, shares of the closing speed, and were turned, degrees, and the most spin, rad/s.
pub fn figures(ways: Ways) -> [f64; 3] {
    let (mut most_off, mut most_turned, mut most_spin) = (0.0f64, 0.0f64, 0.0f64);
    for physics_level in [5, 6, 7] {
        for aside in [DVec3::ZERO, DVec3::Y * 0.01, DVec3::new(0.0, 0.06, 0.08), DVec3::Z * -0.2] {
            let Some(mut sandbox) = open(ways.of(balls(physics_level, aside))) else { return [0.0; 3] };
            let masses = [0, 1].map(|k| sandbox.bodies()[k].def.mass_kg());
            steps(&mut sandbox, 50);
            // They touch where their centres are both radii apart.
            let x = (0.8f64.powi(2) - aside.length_squared()).sqrt();
            let normal = (DVec3::X * x + aside) / 0.8;
            let closing = 6.0 * normal.x;
            let impulse = (1.0 + RESTITUTION) * closing * masses[0] * masses[1] / (masses[0] + masses[1]);
            let wanted = [
                DVec3::X * 4.0 - normal * (impulse / masses[0]),
                DVec3::X * -2.0 + normal * (impulse / masses[1]),
            ];
            let found = [0, 1].map(|k| sandbox.bodies()[k].state.linear_velocity);
            let spin = [0, 1].map(|k| sandbox.bodies()[k].state.angular_velocity.length());
            let off = [0, 1].map(|k| (found[k] - wanted[k]).length() / closing);
            let turned = [0, 1].map(|k| found[k].angle_between(wanted[k]).to_degrees());
            println!(
                "P17: physics level {physics_level}, {aside} m aside: off by {:.2} % and {:.2} % of the closing speed (3), by \
                 {:.2} and {:.2} degrees (3), spin {:.3} and {:.3} rad/s (0.1)",
                off[0] * 100.0,
                off[1] * 100.0,
                turned[0],
                turned[1],
                spin[0],
                spin[1]
            );
            most_off = most_off.max(off[0]).max(off[1]);
            most_turned = most_turned.max(turned[0]).max(turned[1]);
            most_spin = most_spin.max(spin[0]).max(spin[1]);
        }
    }
    [most_off, most_turned, most_spin]
}
