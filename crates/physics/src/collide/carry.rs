//! Contacts that outlive a step.
//!
//! In: a pair and its manifold of an earlier step. Out: whether that manifold is still valid, and its points at the
//! bodies' present poses. The points of a pair that has hardly moved against each other are not searched again but
//! carried along as plane and point, each fixed to its body. Newly found points jump by a part of a cell from step to
//! step, and a heap on jumping contacts never comes to rest; a search also costs far more than carrying. (Engines for
//! polyhedra keep persistent manifolds; here the whole manifold of a pair is kept or replaced.)

use super::{Manifold, Point};
use crate::{Body, BodyState, body::index_of, rotation::angle_between};
use glam::{DQuat, DVec3};

/// A pair is searched again once a point has moved this far against the other body, cells, or would in the coming step.
/// Twice this is less than the margin within which contacts are made, so nothing is missed.
const CARRY_CELLS: f64 = 0.1;

/// How one body of a pair lies to the other: the smaller in the axes of the larger, since that is where
/// turning moves points least. Floor and walls are larger than any body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativePose {
    position: DVec3,
    rotation: DQuat,
}

impl RelativePose {
    /// Two bodies with equal poses.
    pub const SAME: Self = Self { position: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// The pose of `a` relative to `b`, or to the planes.
    #[must_use]
    pub fn new(a: &Body, b: Option<&Body>) -> Self {
        let Some(b) = b else {
            return Self { position: a.state.position, rotation: a.state.rotation };
        };
        let (small, large) = if a.def.radius() <= b.def.radius() { (a, b) } else { (b, a) };
        let inverse = large.state.rotation.inverse();
        Self {
            position: inverse * (small.state.position - large.state.position),
            rotation: inverse * small.state.rotation,
        }
    }

    /// Farthest that a point within `radius` of the smaller body's centre has moved since `then`.
    #[must_use]
    pub fn way(&self, then: &Self, radius: f64) -> f64 {
        // A quaternion and its negative are one rotation.
        let turned = angle_between(self.rotation, then.rotation);
        let turned = turned.min(std::f64::consts::TAU - turned);
        (self.position - then.position).length() + turned * radius
    }
}

/// Speed at which points of the smaller body may move against the larger, at most, m/s.
#[must_use]
pub fn speed_between(a: &Body, b: Option<&Body>) -> f64 {
    let still = BodyState::at(DVec3::ZERO);
    let other = b.map_or(&still, |b| &b.state);
    let (small, large) = match b {
        Some(b) if b.def.radius() < a.def.radius() => (b, &a.state),
        _ => (a, other),
    };
    let arm = small.state.position - large.position;
    let v = small.state.linear_velocity - large.linear_velocity - large.angular_velocity.cross(arm);
    let turn = if b.is_some() {
        small.state.angular_velocity - large.angular_velocity
    } else {
        small.state.angular_velocity
    };
    v.length() + turn.length() * small.def.radius()
}

/// How far the bodies of a manifold of this resolution may move against each other before it is searched again, m.
#[must_use]
pub fn carry_way(resolution_m: f64) -> f64 {
    CARRY_CELLS * resolution_m
}

/// Whether a manifold that was found at the relative pose `then` is still valid in the coming `dt`; `resolution_m` is
/// the manifold's own.
#[must_use]
pub fn holds(resolution_m: f64, then: &RelativePose, a: &Body, b: Option<&Body>, dt: f64) -> bool {
    let radius = b.map_or(f64::MAX, |b| b.def.radius()).min(a.def.radius());
    let near = carry_way(resolution_m);
    speed_between(a, b) * dt <= near && RelativePose::new(a, b).way(then, radius) <= near
}

/// Moves the points to the bodies' present poses.
pub fn carry(manifold: &mut Manifold, bodies: &[Body]) {
    let find = |id| index_of(bodies, id).map(|i| &bodies[i]);
    let Some(a) = find(manifold.first) else { return };
    let b = manifold.second.and_then(find);
    for p in &mut manifold.points {
        *p = moved(p, a, b);
    }
}

/// A point where the bodies now are.
#[must_use]
pub fn moved(p: &Point, a: &Body, b: Option<&Body>) -> Point {
    let on_a = a.state.position + a.state.rotation * p.anchors[0];
    let (on_b, normal) = match b {
        Some(b) => (b.state.position + b.state.rotation * p.anchors[1], b.state.rotation * p.plane),
        None => (p.anchors[1], p.plane),
    };
    let apart = on_a - on_b;
    let lowest = p.ball.map(|ball| ball.lowest(a.state.position, a.state.rotation, normal));
    let along = (lowest.unwrap_or(on_a) - on_b).dot(normal);
    let slip = apart.reject_from_normalized(normal);
    let position = if b.is_some() { (on_a + on_b) * 0.5 } else { lowest.unwrap_or(on_a) };
    let mut out = Point { position, normal, separation: p.found + along, slip, ..*p };
    if p.slid {
        // It sticks again where it is now.
        out.slip = DVec3::ZERO;
        out.slid = false;
        out.anchors[1] = match b {
            Some(b) => b.state.rotation.inverse() * (on_b + slip - b.state.position),
            None => on_b + slip,
        };
    }
    out
}
