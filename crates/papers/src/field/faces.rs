//! The direction out of a body beside its edges: over a face of its hull that supports the other body.
//!
//! In: a point of one body beside the surface of the other, and the hulls of both. Out: its depth under a face of the
//! other's hull, and the face's normal. The nearest surface gives the shortest direction out for one point; if a corner
//! stands on a corner, that may be sideways, and beside an edge the voxels slant it. A face of the hull has one normal
//! everywhere, and it is used only if the whole other body lies beyond the point along it (a separating axis at that
//! point). Points off the hulls, as in a hollow, keep the nearest direction.

use super::{parts::Part, spheres::TreeContact};
use crate::bodies::{Body, collide::convex::Solid};
use glam::{DQuat, DVec3};

/// The surface lies on a face of the hull within this, voxels of the hull's body.
const ON_FACE: f64 = 0.75;
/// A body counts as beginning at a point along a direction within this, voxels of that body.
const BEGINS: f64 = 0.3;

/// The hulls of the body whose points are tested, and of the other body.
pub struct Faces<'a> {
    own: &'a Solid,
    other: &'a Solid,
    /// Centre of mass in local space and local unit (m) of both.
    space: [(DVec3, f64); 2],
    /// Turns the other's axes to one's own.
    own_from_other: DQuat,
}

impl<'a> Faces<'a> {
    /// The hulls of two bodies; `None` if one of them has no hull of few corners.
    pub fn new([own, other]: [&Body; 2], [of_own, of_other]: [&'a Part; 2]) -> Option<Self> {
        let space = [own, other].map(|body| (body.def.shape.centre(), body.def.shape.unit_m()));
        let own_from_other = own.state.rotation.inverse() * other.state.rotation;
        Some(Self { own: of_own.hull.as_deref()?, other: of_other.hull.as_deref()?, space, own_from_other })
    }

    /// Depth of a contact under the face of the other's hull on which it lies, local units of the other, and the normal
    /// there; `None` if it lies on no face that supports the point's body. `point` is in the local space of its own
    /// body.
    pub fn at(&self, point: DVec3, contact: &TreeContact) -> Option<(f64, DVec3)> {
        let [(own_centre, own_unit), (centre, unit)] = self.space;
        let own_point = (point - own_centre) * own_unit;
        let place = (contact.position - centre) * unit;
        let foot = place + contact.direction * (contact.depth * unit);
        let faces = self.other.faces.iter();
        let on_it = faces.filter(|face| (face.reach - face.normal.dot(foot)).abs() < ON_FACE * unit);
        let held = on_it.filter(|face| self.begins(own_point, face.normal, own_unit));
        let depths = held.map(|face| ((face.reach - face.normal.dot(place)) / unit, face.normal));
        depths.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Whether no part of the point's body lies before `point` along a direction of the other's axes.
    fn begins(&self, point: DVec3, direction: DVec3, own_unit: f64) -> bool {
        let way = self.own_from_other * direction;
        let least = point.dot(way) - BEGINS * own_unit;
        self.own.corners.iter().all(|corner| corner.dot(way) > least)
    }
}
