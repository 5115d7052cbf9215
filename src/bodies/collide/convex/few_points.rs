//! The hull of a body, from few points.
//!
//! In: a shape. Out: points that its hull may have for corners, and that hull. Most leaves of an octree lie in the midst of
//! something flat and are no corners, and a hull through all of them takes longer than the fracture. Of a cube of leaves
//! whose normals agree only the one that sticks out farthest is held. Of all other cubes every leaf is.

use super::{
    points::{place, points},
    solid::Solid,
    solid_of,
};
use crate::{
    bodies::collide::octree::leaf_sample,
    shape::{Octree, Shape},
};
use glam::{DVec3, Vec3};

/// Octree levels from a leaf to such a cube.
const LEVELS: u32 = 2;
/// Normals agree where their sum is at least this share of their number.
const AGREE: f32 = 0.998;
/// Corners that would stick out by less than this are left out, voxels: what planes of leaves are rounded to, twice.
const ROUNDED_VOXELS: f64 = 1.0 / 32.0;
/// Of fewer voxels samples say little.
const CRUMB: u64 = 64;

/// So far samples that are left out may lie outside the hull of the others, voxels: the surface bends so little there.
const LEFT_OUT_VOXELS: f64 = 0.1;

/// Points in body axes, m, round which a hull is to be made.
pub struct HullPoints {
    /// The points.
    pub points: Vec<DVec3>,
    /// Corners that would stick out by no more than this may be left out, m.
    pub rounded: f64,
    /// So far the shape's samples may lie outside the hull of the points, m.
    pub beyond: f64,
}

impl HullPoints {
    /// Of a shape.
    #[must_use]
    pub fn of(shape: &Shape) -> Self {
        let Some(octree) = shape.as_octree().filter(|octree| octree.mass.voxels > CRUMB) else {
            let (points, rounded) = points(shape);
            return Self { points, rounded, beyond: 0.0 };
        };
        let (place, unit) = (place(shape), shape.unit_m());
        let points = few_points(octree).map(|p| place(p.as_dvec3())).collect();
        Self { points, rounded: ROUNDED_VOXELS * unit, beyond: LEFT_OUT_VOXELS * unit }
    }
}

/// The hull of a shape, body axes, m.
#[must_use]
pub fn hull_of(shape: &Shape) -> Solid {
    let HullPoints { points, rounded, .. } = HullPoints::of(shape);
    Solid::through(&points, rounded).unwrap_or_else(|| solid_of(shape))
}

/// Samples of leaves that a hull may have for corners, voxels.
fn few_points(octree: &Octree) -> impl Iterator<Item = Vec3> {
    let forest = &octree.forest;
    let leaves = octree.leaves();
    let cube = move |leaf: usize| forest.leaves.keys.at(leaf) >> (3 * LEVELS);
    let mut next = leaves.start;
    let mut samples: Vec<(Vec3, Vec3)> = Vec::new();
    let mut kept: Vec<Vec3> = Vec::new();
    while next < leaves.end {
        let own = cube(next);
        samples.clear();
        while next < leaves.end && cube(next) == own {
            samples.push(leaf_sample(forest, next));
            next += 1;
        }
        let normal: Vec3 = samples.iter().map(|(_, normal)| *normal).sum();
        if normal.length() < AGREE * samples.len() as f32 {
            kept.extend(samples.iter().map(|(place, _)| *place));
            continue;
        }
        let along = |place: &Vec3| place.dot(normal);
        kept.extend(samples.iter().map(|(place, _)| *place).max_by(|a, b| along(a).total_cmp(&along(b))));
    }
    kept.into_iter()
}
