//! Dragging a body by a point of it: a critically damped spring of limited force.
//!
//! In: the body, the point held, where that point should be. Out: its velocities before the contacts are
//! solved. The spring is integrated implicitly, so no stiffness makes it swing; it scales with what the point
//! weighs, so that a crumb and a column follow the hand alike.

use super::{Body, BodyId, integrate};
use glam::{DMat3, DVec3};

/// Angular frequency of the spring, 1/s.
const OMEGA: f64 = 12.0;
/// The pull accelerates the body by at most this, m/s^2: enough to lift it and as much again.
const MOST_ACCELERATION: f64 = 60.0;
/// How fast the turning of a body that is held dies, 1/s.
const TURN_DAMPING: f64 = 6.0;

/// A hand on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drag {
    /// The body.
    pub body: BodyId,
    /// The point held, from the centre of mass, body axes, m.
    pub anchor: DVec3,
    /// Where it should be, world, m.
    pub target: DVec3,
}

/// Pulls for one step of `dt` s. False if it cannot: the body does not exist, is fixed, or a number is not finite.
pub fn pull(bodies: &mut [Body], hand: &Drag, gravity: DVec3, dt: f64) -> bool {
    let sound = hand.anchor.is_finite() && hand.target.is_finite();
    let Some(body) = bodies.iter_mut().find(|b| b.id == hand.body && !b.is_static() && sound) else {
        return false;
    };
    body.wake();
    let mass = body.def.mass_kg();
    let inverse_inertia = integrate::inverse(body.inertia_in_world());
    let arm = body.state.rotation * hand.anchor;
    let away = body.state.position + arm - hand.target;
    let velocity = body.state.linear_velocity + body.state.angular_velocity.cross(arm);
    // Implicit Euler of x'' = -w^2 x - 2 w x'.
    let wanted = (velocity - away * (dt * OMEGA * OMEGA)) / (1.0 + dt * OMEGA).powi(2);
    // Change of velocity at the point by a unit impulse there.
    let cross = DMat3::from_cols(
        DVec3::new(0.0, arm.z, -arm.y),
        DVec3::new(-arm.z, 0.0, arm.x),
        DVec3::new(arm.y, -arm.x, 0.0),
    );
    let softness = DMat3::IDENTITY * (1.0 / mass) - cross * inverse_inertia * cross;
    let impulse = integrate::inverse(softness) * (wanted - velocity);
    // The hand carries the weight, or everything would hang below it.
    let impulse = (impulse - gravity * (mass * dt)).clamp_length_max(mass * MOST_ACCELERATION * dt);
    if impulse.is_finite() {
        body.state.linear_velocity += impulse / mass;
        body.state.angular_velocity += inverse_inertia * arm.cross(impulse);
        body.state.angular_velocity *= 1.0 / (1.0 + TURN_DAMPING * dt);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BodyState, WorldSettings,
        testing::{block, body, grid, world},
    };
    use std::sync::Arc;

    #[test]
    fn a_held_body_follows_without_swinging_past() {
        for size in [0.1, 4.0] {
            let forest = Arc::new(block(5, [8; 3], [24; 3]));
            let mut w = world(WorldSettings::default());
            let id = w.add(body(&forest, 0, grid(5, size), 4, DVec3::Y * size));
            let start = w.bodies[0].state.position;
            let target = start + DVec3::new(0.8, 0.6, 0.0);
            w.drag = Some(Drag { body: id, anchor: DVec3::ZERO, target });
            let mut farthest: f64 = 0.0;
            for _ in 0..200 {
                w.step_on_cpu();
                farthest = farthest.max(w.bodies[0].state.position.x);
            }
            let gap = w.bodies[0].state.position.distance(target);
            println!("size {size} m: past by {:.4} m, {gap:.4} m off at the end", farthest - target.x);
            assert!(farthest < target.x + 0.01 && gap < 0.01, "{gap}");
            w.drag = None;
            for _ in 0..400 {
                w.step_on_cpu();
            }
            assert!(w.bodies[0].asleep, "and falls when it is let go");
        }
    }

    #[test]
    fn the_hand_is_not_stronger_than_the_floor_nor_than_nonsense() {
        let forest = Arc::new(block(5, [8; 3], [24; 3]));
        let mut w = world(WorldSettings::default());
        let id = w.add(body(&forest, 0, grid(5, 1.0), 4, DVec3::Y * -0.25));
        let rest = w.bodies[0].state.position.y;
        w.drag = Some(Drag { body: id, anchor: DVec3::new(0.1, 0.2, 0.0), target: DVec3::Y * -50.0 });
        for _ in 0..200 {
            w.step_on_cpu();
        }
        let sunk = rest - w.bodies[0].state.position.y;
        println!("pulled down 50 m: {:.2} mm into the floor", sunk * 1e3);
        assert!(sunk < 0.03, "less than a voxel: {sunk}");
        for target in [DVec3::NAN, DVec3::splat(f64::INFINITY)] {
            w.drag = Some(Drag { body: id, anchor: DVec3::ZERO, target });
            w.step_on_cpu();
            assert!(w.bodies[0].state.is_finite() && !w.bodies[0].frozen);
        }
        w.drag = Some(Drag { body: BodyId(99), anchor: DVec3::ZERO, target: DVec3::ZERO });
        w.step_on_cpu();
        assert!(w.drag.is_none(), "a hand on nothing lets go");
        w.bodies[0].def.fixed = true;
        let still = w.bodies[0].state;
        w.drag = Some(Drag { body: id, anchor: DVec3::ZERO, target: DVec3::Y * 9.0 });
        w.step_on_cpu();
        assert_eq!(BodyState { ..w.bodies[0].state }, still);
    }
}
