//! Contact manifolds: a few points for each pair that touches.

use crate::{Body, BodyId, body::index_of};
use glam::DVec3;

/// A ball that approximates the surface round a contact, in the axes of the body, from its centre of mass,
/// m: the lowest point over a plane stays beneath its middle as the body turns, where a point of the body would rise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Its middle.
    pub centre: DVec3,
    /// Its radius.
    pub radius: f64,
}

impl Ball {
    /// Where it is lowest along the unit vector `up`, world, of a body that lies so.
    #[must_use]
    pub fn lowest(
        &self,
        position: DVec3,
        rotation: impl std::ops::Mul<DVec3, Output = DVec3>,
        up: DVec3,
    ) -> DVec3 {
        position + rotation * self.centre - up * self.radius
    }
}

/// One point of contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Identifies the point from step to step: direction, surfel and side.
    pub key: u64,
    /// Where, world, m.
    pub position: DVec3,
    /// Position on the first body, relative to its centre, in its axes, m; and on the second (on the floor: world).
    pub anchors: [DVec3; 2],
    /// From the second body (or the floor) to the first, world.
    pub normal: DVec3,
    /// The normal in the axes of the second body.
    pub plane: DVec3,
    /// Separation when the contact was found; the anchors were in one place then.
    pub found: f64,
    /// Gap beyond the gap at birth, m; negative when they overlap.
    pub separation: f64,
    /// Normal impulse of the last substep, N s.
    pub normal_impulse: f64,
    /// Friction impulse of the last substep, world, N s.
    pub friction_impulse: DVec3,
    /// Normal impulses of the last step in sum, N s.
    pub total_impulse: f64,
    /// Displacement of the first body along the second since the contact was found or last slid, world, m.
    pub slip: DVec3,
    /// Whether the contact slid in the last step.
    pub slid: bool,
    /// At a plane, where the first body's surface is part of a ball there.
    pub ball: Option<Ball>,
    /// The body, 0 or 1, with which the contact moves as the two approach, if they touch only later in the step;
    /// `None`: it stays halfway between both.
    pub follows: Option<u8>,
}

impl Point {
    /// A point at `position` (world, m) with the normal from `b`, or from a plane, to `a`; `separation` as the field.
    /// Its impulses are zero.
    #[must_use]
    pub fn new(
        key: u64,
        [a, b]: [Option<&Body>; 2],
        position: DVec3,
        normal: DVec3,
        separation: f64,
    ) -> Self {
        let in_body = |body: Option<&Body>, v: DVec3| body.map_or(v, |b| b.state.rotation.inverse() * v);
        let arm = |body: Option<&Body>| position - body.map_or(DVec3::ZERO, |b| b.state.position);
        Self {
            key,
            position,
            anchors: [in_body(a, arm(a)), in_body(b, arm(b))],
            normal,
            plane: in_body(b, normal),
            found: separation,
            separation,
            normal_impulse: 0.0,
            friction_impulse: DVec3::ZERO,
            total_impulse: 0.0,
            slip: DVec3::ZERO,
            slid: false,
            ball: None,
            follows: None,
        }
    }
}

/// The contact points of one pair, or of one body and the floor.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifold {
    /// First body.
    pub first: BodyId,
    /// Second body; `None` is the floor.
    pub second: Option<BodyId>,
    /// Points; empty if the pair was near but did not touch.
    pub points: Vec<Point>,
    /// Impulse of rolling resistance between the two bodies, of the last substep, world, N m s.
    pub rolling_impulse: DVec3,
    /// Length up to which the search resolves, m: the edge of the larger cells for octrees.
    pub resolution_m: f64,
}

impl Manifold {
    /// Whether `id` is one of its bodies.
    #[must_use]
    pub fn touches(&self, id: BodyId) -> bool {
        self.first == id || self.second == Some(id)
    }

    /// Whether it carried anything in the last step.
    #[must_use]
    pub fn presses(&self) -> bool {
        self.points.iter().any(|p| p.total_impulse > 0.0)
    }

    /// Whether neither body can move. The world then keeps it until they wake. `bodies` are by ascending id.
    #[must_use]
    pub fn rests(&self, bodies: &[Body]) -> bool {
        let moves = |id| index_of(bodies, id).is_some_and(|k| bodies[k].moves());
        !moves(self.first) && !self.second.is_some_and(moves)
    }

    /// Sort key of manifolds: pairs first, floor last.
    #[must_use]
    pub fn order(&self) -> (bool, BodyId, Option<BodyId>) {
        (self.second.is_none(), self.first, self.second)
    }
}

/// Where the manifold of a pair is in a sorted list.
#[must_use]
pub fn find(list: &[Manifold], first: BodyId, second: Option<BodyId>) -> Option<usize> {
    let order = (second.is_none(), first, second);
    list.binary_search_by(|m| m.order().cmp(&order)).ok()
}

/// Two unit vectors across `n`.
#[must_use]
pub fn tangents(n: DVec3) -> (DVec3, DVec3) {
    n.normalize_or(DVec3::Y).any_orthonormal_pair()
}
