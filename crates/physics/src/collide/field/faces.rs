//! Which way out of a body leads beside its edges: over a face of its hull that holds the other up.
//!
//! In: a point of one body beside the surface of the other, and the hulls of both. Out: its depth under a face of the
//! other's hull, and the face's normal. The nearest surface says which way out is shortest for one point, and where a
//! corner stands on a corner, that may be sideways; beside an edge, voxels have it slanted. A face of the hull has one
//! normal everywhere, and it counts only where the whole of the other body lies beyond the point along it (a separating
//! axis at that point). What lies off the hulls, as in a hollow, keeps the nearest way.

use super::{parts::Part, spheres::TreeContact};
use crate::{Body, collide::convex::Solid};
use glam::{DQuat, DVec3};

/// The surface lies on a face of the hull within this, voxels of the hull's body.
const ON_FACE: f64 = 0.75;
/// A point is where a body begins along a direction within this, voxels of that body.
const BEGINS: f64 = 0.3;

/// The hulls of a body whose points are asked for, and of the other, which they are near.
pub struct Faces<'a> {
    own: &'a Solid,
    other: &'a Solid,
    /// Of both: centre of mass in local space, and its unit, m.
    space: [(DVec3, f64); 2],
    /// Turns the other's axes to one's own.
    own_from_other: DQuat,
}

impl<'a> Faces<'a> {
    /// Of two bodies; none where one of them has no hull of few corners.
    pub fn new([own, other]: [&Body; 2], [of_own, of_other]: [&'a Part; 2]) -> Option<Self> {
        let space = [own, other].map(|body| (body.def.shape.centre(), body.def.shape.unit_m()));
        let own_from_other = own.state.rotation.inverse() * other.state.rotation;
        Some(Self { own: of_own.hull.as_deref()?, other: of_other.hull.as_deref()?, space, own_from_other })
    }

    /// Depth of a contact under the face of the other's hull on which it lies, local units of the other, and the normal
    /// there; none where it is on no face that holds the point's body. `point` is where it is in its own body, local
    /// space.
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

    /// Whether one's own body begins at `point` along a direction of the other's axes.
    fn begins(&self, point: DVec3, direction: DVec3, own_unit: f64) -> bool {
        let way = self.own_from_other * direction;
        let least = point.dot(way) - BEGINS * own_unit;
        self.own.corners.iter().all(|corner| corner.dot(way) > least)
    }
}
