//! Moving bodies through one substep: semi-implicit in the velocity, midpoint in the rotation.

use super::{Body, BodyState, rotation::turned_by};
use glam::{DMat3, DQuat, DVec3};

/// Speeds above this are clamped, m/s.
pub const MAX_SPEED: f64 = 200.0;
/// Turns of more than this in one substep are clamped, radians.
pub const MAX_TURN: f64 = 0.5;
/// Longest arc of one rotation step, radians.
const MAX_ARC: f64 = 0.01;
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

/// Position and rotation. Angular momentum is conserved, also for tumbling bodies: the velocity is evaluated at half
/// the step, and energy that the rounding of the path would add is removed again.
pub fn pose(state: &mut BodyState, inertia: &DMat3, inverse_inertia: &DMat3, h: f64) {
    state.position += state.linear_velocity * h;
    let omega = state.angular_velocity;
    if omega == DVec3::ZERO {
        return;
    }
    // Small arcs: what a long one gets wrong grows with its cube.
    let arcs = (omega.length() * h / MAX_ARC).ceil().clamp(1.0, 16.0);
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
