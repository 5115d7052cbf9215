//! The convex hull of a shape.
//!
//! In: a shape. Out: its hull in body axes, and the largest distance of any point of the shape outside it: the hull of
//! a round shape has the most vertices allowed, and no more. Collision detection and contact use the hull, so a shape
//! computes it once and caches it.
//!
//! # Selects the points that the hull of a shape must contain
//!
//! In: a shape. Out: points in body axes, m: for a mesh or a convex body its vertices, for an octree the samples of its
//! leaves, for a crumb the corners of its voxels.

use glam::DVec3;

use super::{
    super::{Geometry, Octree},
    Hull, Through,
};
use crate::{
    shape::Shape,
    svo::{leaf_sample, morton},
};

/// Thickness given to a flat shape, as a share of its diameter.
const THIN: f64 = 1e-3;

/// The convex hull of a shape, body axes, relative to the centre of mass, m.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShapeHull {
    /// Vertices and triangles.
    pub hull: Hull,
    /// Vertices that would stick out by at most this were left out, m.
    pub rounded: f64,
    /// Distance of the farthest sample of the shape outside, m.
    pub beyond: f64,
    /// Whether a hull with quickly chosen vertices left out too much, as for bumpy or round shapes.
    pub is_uneven: bool,
}

/// Vertices are chosen again more carefully if a point left out is higher over a side than this multiple of the
/// tolerance: half a voxel.
const TOO_MUCH: f64 = 16.0;

impl ShapeHull {
    /// Most vertices of a hull.
    pub const MOST_CORNERS: usize = 64;

    /// The hull of a shape; for a flat shape, of its bounds.
    #[must_use]
    pub fn of(shape: &Shape) -> Self {
        let HullPoints { points, rounded } = HullPoints::of(shape);
        match Hull::through(&points, Self::MOST_CORNERS, [rounded, TOO_MUCH * rounded]) {
            Some(Through { hull, beyond, is_uneven }) => Self { hull, rounded, beyond, is_uneven },
            None => Self { hull: hull_of_bounds(shape), ..Self::default() },
        }
    }

    /// Whether it has the most vertices allowed, as for round shapes.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.hull.points.len() >= Self::MOST_CORNERS
    }
}

fn hull_of_bounds(shape: &Shape) -> Hull {
    let bounds = shape.bounds();
    let place = shape.body_from_local();
    let thin = DVec3::splat(THIN * 2.0 * shape.radius());
    let (low, high) = (place(bounds.low) - thin, place(bounds.high) + thin);
    let corner = |c: u32| low + DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from)) * (high - low);
    let points: Vec<DVec3> = (0..8).map(corner).collect();
    // The bounds of a single point have eight coinciding corners.
    Hull::through(&points, points.len(), [0.0, f64::MAX])
        .map_or(Hull { points, triangles: Vec::new() }, |through| through.hull)
}

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
