//! Heaps without impulses: bodies that fall side by side.
//!
//! In: bodies and their contacts at the start of a step. Out: whether no contact has work in it. The pieces of a fresh
//! break touch each other at thousands of points without impulses until the first piece reaches the floor. Such a step
//! needs no rows, no parts and no passes: its bodies move as if they were alone, which is the solver's result, too. If
//! any contact might get an impulse, the whole heap is solved, since that impulse would spread.

use super::{
    contact_constraint::SURE,
    island_split::ContactEdge,
    manifold_constraint::{HAIR, may_leave},
};
use crate::{
    Body, Manifold, Point, WorldSettings,
    integrate::{MAX_SPEED, MAX_TURN, inverse},
    scale::Scale,
};
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// Shorter lists are not worth a second thread.
const FEW: usize = 256;

/// Whether none of these contacts has work in a step of `settings.dt` with substeps of `h` seconds.
pub fn is_ballistic(
    bodies: &[Body],
    manifolds: &[Manifold],
    edges: &[ContactEdge],
    settings: &WorldSettings,
    h: f64,
) -> bool {
    let stays_apart = |edge: &ContactEdge| {
        let [first, second] = edge.bodies.map(|k| &bodies[k]);
        // For a contact with a body that cannot move both indices are those of the moving body.
        let moving = [Some(first), Some(second).filter(|_| edge.bodies[0] != edge.bodies[1])];
        stays_apart(&manifolds[edge.manifold], moving, settings, h)
    };
    may_leave() && edges.par_iter().with_min_len(FEW).all(stays_apart)
}

/// Whether the points of a manifold have no impulse and do not come together in the step, while no impulse acts on its
/// moving bodies.
pub fn stays_apart(
    manifold: &Manifold,
    moving: [Option<&Body>; 2],
    settings: &WorldSettings,
    h: f64,
) -> bool {
    let points = &manifold.points;
    // A rolling body touches ever other points.
    let is_idle = manifold.rolling_impulse == DVec3::ZERO
        && points
            .iter()
            .all(|p| p.normal_impulse == 0.0 && p.friction_impulse == DVec3::ZERO && p.ball.is_none());
    let apart = points.iter().map(|p| p.separation).fold(f64::MAX, f64::min);
    let sizes = moving.into_iter().flatten().map(|body| Scale::of(&body.def, settings.gravity).length);
    if !is_idle || apart < -HAIR * sizes.fold(f64::MAX, f64::min) {
        return false;
    }
    let (room, pull) = (apart.max(0.0), settings.gravity.length() * settings.dt);
    // Two that move are pulled alike.
    let mut closing = match moving {
        [Some(a), Some(b)] => (a.state.linear_velocity - b.state.linear_velocity).length(),
        [only, _] => only.map_or(0.0, |body| body.state.linear_velocity.length() + pull),
    };
    for body in moving.into_iter().flatten() {
        let (state, turn) = (&body.state, fastest_turn(body));
        // Bodies at the limit of speeds do not move like the others.
        if state.linear_velocity.length() + pull >= MAX_SPEED || turn * h >= MAX_TURN {
            return false;
        }
        let side = usize::from(manifold.first != body.id);
        let arm =
            |p: &Point| p.position.distance_squared(state.position).max(p.anchors[side].length_squared());
        closing += turn * (points.iter().map(arm).fold(0.0, f64::max).sqrt() + room);
    }
    closing * settings.dt <= SURE * room
}

/// The largest angular speed of a body without impulses, rad/s: its energy is constant, and is least about the axis of
/// the least inertia.
fn fastest_turn(body: &Body) -> f64 {
    let omega = body.state.angular_velocity;
    if omega == DVec3::ZERO {
        return 0.0;
    }
    let energy = omega.dot(body.inertia_in_world() * omega);
    let DMat3 { x_axis, y_axis, z_axis } = inverse(body.def.inertia());
    // No less than its greatest eigenvalue.
    let most = (x_axis.length_squared() + y_axis.length_squared() + z_axis.length_squared()).sqrt();
    (energy * most).sqrt()
}
