//! Selects the points that the hull of a shape must contain.
//!
//! In: a shape. Out: points in body axes, m: for a mesh or a convex body its vertices, for an octree the samples of its
//! leaves, for a crumb the corners of its voxels.

use super::super::{Geometry, Octree, Shape};
use crate::svo::{leaf_sample, morton};
use glam::DVec3;

/// For octrees: vertices that would stick out by less than this are left out, voxels: twice the rounding of leaves'
/// planes.
const ROUNDED_VOXELS: f64 = 1.0 / 32.0;
/// For other shapes, as a share of the diameter.
const ROUNDED_SHARE: f64 = 1e-4;
/// Octrees with at most this many voxels are crumbs, whose samples say little.
const CRUMB: u64 = 27;

/// Points whose hull is to be computed.
pub struct HullPoints {
    /// Points in body axes, relative to the centre of mass, m.
    pub points: Vec<DVec3>,
    /// Vertices that would stick out by at most this may be left out, m.
    pub rounded: f64,
}

impl HullPoints {
    /// The points of a shape.
    #[must_use]
    pub fn of(shape: &Shape) -> Self {
        let place = shape.body_from_local();
        let share = ROUNDED_SHARE * 2.0 * shape.radius();
        let (points, rounded) = match shape.geometry() {
            Geometry::Mesh(solid) => (solid.vertices().map(place).collect(), share),
            Geometry::Convex(convex) => (convex.vertices().iter().copied().map(place).collect(), share),
            Geometry::Octree(octree) => {
                let is_crumb = octree.mass.voxels <= CRUMB;
                let points = match is_crumb {
                    true => corners_of_voxels(octree).map(place).collect(),
                    false => samples(octree).map(place).collect(),
                };
                (points, ROUNDED_VOXELS * shape.unit_m())
            }
        };
        Self { points, rounded }
    }
}

fn samples(octree: &Octree) -> impl Iterator<Item = DVec3> {
    octree.leaves().map(|leaf| leaf_sample(&octree.forest, leaf).0.as_dvec3())
}

fn corners_of_voxels(octree: &Octree) -> impl Iterator<Item = DVec3> {
    let keys = &octree.forest.leaves.keys;
    let low = |leaf: usize| DVec3::from(morton::decode(keys.at(leaf)).map(f64::from));
    let corner = |c: u32| DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from));
    octree.leaves().flat_map(move |leaf| (0..8).map(move |c| low(leaf) + corner(c)))
}
