//! Moving bodies through one substep: semi-implicit in the velocity, midpoint in the rotation.
//!
//! # Rotations and the angles between them, bit for bit the same on every system
//!
//! glam takes sines from the system's mathematical library, whose last bits differ between systems, and one bit leads
//! to another heap within a second. These functions use the crate libm.
//!
//! # Dragging a body by a point of it: a critically damped spring of limited force
//!
//! In: the body, the point held, where that point should be. Out: its velocities before the contacts are
//! solved. The spring is integrated implicitly, so no stiffness makes it swing; it scales with what the point
//! weighs, so that a crumb and a column follow the hand alike.

use glam::{DMat3, DQuat, DVec3};

use super::{Body, BodyId, BodyState};

/// Speeds above this are clamped, m/s.
pub const MAX_SPEED: f64 = 200.0;
/// Turns of more than this in one substep are clamped, radians.
pub const MAX_TURN: f64 = 0.5;
/// Longest arc of one rotation step, radians, as long as [`MOST_ARCS`] of them are enough.
pub const MAX_ARC: f64 = 0.01;
/// Most arcs of a substep.
pub const MOST_ARCS: f64 = 16.0;
/// A body farther out than this is frozen, m.
pub const MAX_DISTANCE: f64 = 1e6;

/// The inverse, or zero (does not turn) if there is none.
#[must_use]
pub fn inverse(m: DMat3) -> DMat3 {
    let inverse = m.inverse();
    if inverse.is_finite() { inverse } else { DMat3::ZERO }
}

/// Gravity and limits.
pub fn velocity(state: &mut BodyState, gravity: DVec3, h: f64) {
    state.linear_velocity = (state.linear_velocity + gravity * h).clamp_length_max(MAX_SPEED);
    state.angular_velocity = state.angular_velocity.clamp_length_max(MAX_TURN / h.max(1e-9));
}

/// Whether [`velocity`] cut the speed or the spin of a body in a step that began and ended in these states: it was beyond
/// the limit before, or is at the limit now. `h` is the length of a substep, s.
pub fn is_cut(before: &BodyState, after: &BodyState, h: f64) -> bool {
    // What was cut to the limit has its length up to the rounding of single precision, in which devices cut.
    const ROUNDING: f64 = 1e-6;
    let most_turn = MAX_TURN / h.max(1e-9);
    let share = |state: &BodyState| {
        (state.linear_velocity.length() / MAX_SPEED).max(state.angular_velocity.length() / most_turn)
    };
    share(before) > 1.0 + ROUNDING || share(after) > 1.0 - ROUNDING
}

/// Position and rotation. Angular momentum is conserved, also for tumbling bodies: the velocity is evaluated at half
/// the step, and energy that the rounding of the path would add is removed again.
pub fn pose(state: &mut BodyState, inertia: &DMat3, inverse_inertia: &DMat3, h: f64) {
    state.position += state.linear_velocity * h;
    let omega = state.angular_velocity;
    if omega == DVec3::ZERO {
        return;
    }
    // Small arcs: what a long one gets wrong grows with its cube.
    let arcs = (omega.length() * h / MAX_ARC).ceil().clamp(1.0, MOST_ARCS);
    for _ in 0..arcs as u32 {
        turn(state, inertia, inverse_inertia, h / arcs);
    }
}

fn turn(state: &mut BodyState, inertia: &DMat3, inverse_inertia: &DMat3, h: f64) {
    let omega = state.angular_velocity;
    let world = |q: DQuat, m: &DMat3, v: DVec3| q * (*m * (q.inverse() * v));
    let momentum = world(state.rotation, inertia, omega);
    let energy = omega.dot(momentum);
    let half = (turned_by(omega * (0.5 * h)) * state.rotation).normalize();
    let omega_half = world(half, inverse_inertia, momentum);
    state.rotation = (turned_by(omega_half * h) * state.rotation).normalize();
    let turned = world(state.rotation, inverse_inertia, momentum);
    let energy_after = turned.dot(momentum);
    let scale =
        if energy_after > energy && energy_after > 0.0 { (energy / energy_after).sqrt() } else { 1.0 };
    state.angular_velocity = turned * scale;
}

/// Freezes a body whose numbers ran away, at `good`. Says whether it did.
pub fn freeze_if_lost(body: &mut Body, good: &BodyState) -> bool {
    if body.state.is_finite() && body.state.position.length() < MAX_DISTANCE {
        return false;
    }
    let still = BodyState { linear_velocity: DVec3::ZERO, angular_velocity: DVec3::ZERO, ..*good };
    body.state = still;
    body.frozen = true;
    body.asleep = false;
    true
}

/// The turn about `scaled_axis` by its length, radians.
#[must_use]
pub fn turned_by(scaled_axis: DVec3) -> DQuat {
    let angle = scaled_axis.length();
    if angle == 0.0 {
        return DQuat::IDENTITY;
    }
    let (sin, cos) = libm::sincos(0.5 * angle);
    let v = scaled_axis * (sin / angle);
    DQuat::from_xyzw(v.x, v.y, v.z, cos)
}

/// The angle of the turn that takes one rotation to the other, 0 to pi.
#[must_use]
pub fn angle_between(one: DQuat, other: DQuat) -> f64 {
    2.0 * libm::acos(one.dot(other).abs().min(1.0))
}

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
    let inverse_inertia = inverse(body.inertia_in_world());
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
    let impulse = inverse(softness) * (wanted - velocity);
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

    /// Against glam, which may differ in the last bits.
    #[test]
    fn turns_are_those_of_glam() {
        assert_eq!(turned_by(DVec3::ZERO), DQuat::IDENTITY);
        let mut count = 0;
        for k in 0..2000 {
            let k = f64::from(k);
            let way = DVec3::new((1.3 * k).sin(), (2.1 * k).cos(), (0.7 * k).sin()) * (0.003 * k);
            let (here, glam) = (turned_by(way), DQuat::from_scaled_axis(way));
            assert!((here - glam).length() < 1e-15, "{way}: {here} {glam}");
            let other = DQuat::from_euler(glam::EulerRot::XYZ, 0.1 * k, 0.2, -0.05 * k);
            let (angle, wanted) = (angle_between(here, other), here.angle_between(other));
            assert!((angle - wanted).abs() < 1e-7, "{angle} {wanted}");
            // A sine with the wrong half of the angle is far outside of these bounds.
            count += usize::from((DQuat::from_scaled_axis(way * 0.999) - glam).length() > 1e-15);
        }
        assert!(count > 1900, "{count}");
    }
}

#[cfg(test)]
mod drag_tests {
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
