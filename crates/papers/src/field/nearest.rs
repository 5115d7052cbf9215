//! The leaves of an octree round a contact, for finding where two smooth surfaces touch.
//!
//! In: a body and a place on its surface. Out: the points of the leaves' planes round it, to which `collide/smooth.rs`
//! fits a quadric. Two balls seldom touch at a point of a sphere tree: a contact at such a point has a normal that is
//! off by some degrees and makes them spin.

use super::distance::{Fragment, LeafPlane, OctreeSolid};
use crate::bodies::{Body, collide::SmoothSide};
use glam::DVec3;

/// A patch has the leaves within this number of cells of the body's collision level, and no farther than this number of
/// voxels.
const PATCH_CELLS: f64 = 4.0;
const PATCH_VOXELS: f64 = 6.0;
/// A surface whose normals agree so well is flat.
const FLAT: f64 = 0.9995;
/// Leaves belong to one surface if the cosine of their normals is at least the first; to another sheet if it is at most
/// its negative; else to an edge.
const ONE_SURFACE: f64 = 0.6;
/// Fewer leaves are no patch.
const FEWEST: usize = 12;

/// One side of a contact.
pub struct LeafSide<'a> {
    body: &'a Body,
    solid: &'a OctreeSolid,
    /// Radius of a patch, voxels.
    reach: f64,
}

/// A place on a surface, local space.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    point: DVec3,
    outward: DVec3,
}

impl<'a> LeafSide<'a> {
    /// The patches of a body. `None` if it has no octree.
    pub fn new(body: &'a Body, fragment: &Fragment<'a>) -> Option<Self> {
        let reach = PATCH_CELLS * body.def.resolution_m() / body.def.shape.unit_m();
        Some(Self { body, solid: fragment.octree()?, reach: reach.min(PATCH_VOXELS) })
    }

    /// The place of the surface nearest to `point`, within `reach` m of it, that faces along `outward`; world.
    #[must_use]
    pub fn place(&self, point: DVec3, outward: DVec3, reach: f64) -> Option<Place> {
        let state = &self.body.state;
        let shape = &self.body.def.shape;
        let local = shape.to_local(state.position, state.rotation, point);
        self.foot(local, state.rotation.inverse() * outward, reach / shape.unit_m())
    }

    fn foot(&self, local: DVec3, outward: DVec3, within: f64) -> Option<Place> {
        let foot = self.solid.nearest(local, within)?;
        let faces = foot.normal.dot(outward) > ONE_SURFACE;
        faces.then_some(Place { point: foot.point, outward: foot.normal })
    }

    /// Calls `visit` with the point of the surface in each voxel round a place, and its plane, until that says no.
    fn all_leaves(&self, at: Place, mut visit: impl FnMut(DVec3, LeafPlane) -> bool) -> bool {
        let mut all = true;
        self.solid.planes_near(at.point, self.reach, &mut |middle, plane| {
            let opposed = plane.normal.dot(at.outward) < -ONE_SURFACE;
            all = all && (opposed || visit(middle + plane.normal * plane.offset, plane));
        });
        all
    }
}

impl SmoothSide for LeafSide<'_> {
    type At = Place;

    fn body(&self) -> &Body {
        self.body
    }

    fn is_flat(&self, at: Place) -> bool {
        self.all_leaves(at, |_, plane| plane.normal.dot(at.outward) > FLAT)
    }

    fn beside(&self, at: Place, place: DVec3) -> Option<Place> {
        let state = &self.body.state;
        let local = self.body.def.shape.to_local(state.position, state.rotation, place);
        self.foot(local, at.outward, self.reach)
    }

    fn patch(&self, at: Place) -> Option<Vec<DVec3>> {
        let state = &self.body.state;
        let mut samples = Vec::new();
        let smooth = self.all_leaves(at, |sample, plane| {
            samples.push(self.body.def.shape.to_world(state.position, state.rotation, sample));
            plane.normal.dot(at.outward) > ONE_SURFACE
        });
        (smooth && samples.len() >= FEWEST).then_some(samples)
    }
}
