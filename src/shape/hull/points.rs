//! What the hull of a shape has to hold.
//!
//! In: a shape. Out: points in body axes, m. Of a mesh or a convex body its own vertices are held; of an octree the samples
//! of its leaves, of a crumb the corners of its voxels. Most leaves of an octree lie in the midst of something flat and are
//! no corners, and a hull through all of them takes longer than a fracture. Of a cube of leaves whose normals agree only the
//! one that sticks out farthest is held. Of all other cubes every leaf is.

use super::super::{Geometry, Octree, Shape};
use crate::svo::{Forest, leaf_sample, morton, unpack_normal};
use glam::{DVec3, Vec3};
use std::ops::Range;

/// Of octrees: corners that would stick out by less than this are left out, voxels: what planes of leaves are rounded to,
/// twice.
const ROUNDED_VOXELS: f64 = 1.0 / 32.0;
/// Of everything else, as a share of the diameter.
const ROUNDED_SHARE: f64 = 1e-4;
/// Octree levels from a leaf to a cube of leaves.
const LEVELS: u32 = 2;
/// Normals agree where their sum is at least this share of their number.
const AGREE: f32 = 0.998;
/// Samples of so few voxels say little.
const CRUMB: u64 = 27;
/// Of no more voxels all samples are held.
const SMALL: u64 = 64;
/// So far samples that are not held may lie outside the hull of the others, voxels: the surface bends so little there.
const LEFT_OUT_VOXELS: f64 = 0.1;

/// Points round which a hull is to be made.
pub struct HullPoints {
    /// Body axes, from the centre of mass, m.
    pub points: Vec<DVec3>,
    /// Corners that would stick out by no more than this may be left out, m.
    pub rounded: f64,
    /// So far anything else of the shape may lie outside the hull of the points, m.
    pub left_out: f64,
}

impl HullPoints {
    /// Of a shape.
    #[must_use]
    pub fn of(shape: &Shape) -> Self {
        let (place, unit) = (shape.body_from_local(), shape.unit_m());
        let share = ROUNDED_SHARE * 2.0 * shape.radius();
        let exact = |points: Vec<DVec3>| Self { points, rounded: share, left_out: 0.0 };
        match shape.geometry() {
            Geometry::Mesh(solid) => exact(solid.vertices().map(place).collect()),
            Geometry::Convex(convex) => exact(convex.vertices().iter().copied().map(place).collect()),
            Geometry::Octree(octree) => {
                let samples = |levels| few_samples(octree, levels).into_iter().map(|p| place(p.as_dvec3()));
                let (points, left_out) = match octree.mass.voxels {
                    0..=CRUMB => (corners_of_voxels(octree).map(place).collect(), 0.0),
                    0..=SMALL => (samples(0).collect(), 0.0),
                    _ => (samples(LEVELS).collect(), LEFT_OUT_VOXELS),
                };
                Self { points, rounded: ROUNDED_VOXELS * unit, left_out: left_out * unit }
            }
        }
    }
}

fn corners_of_voxels(octree: &Octree) -> impl Iterator<Item = DVec3> {
    let keys = &octree.forest.leaves.keys;
    let low = |leaf: usize| DVec3::from(morton::decode(keys.at(leaf)).map(f64::from));
    let corner = |c: u32| DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from));
    octree.leaves().flat_map(move |leaf| (0..8).map(move |c| low(leaf) + corner(c)))
}

/// Samples of leaves that a hull may have for corners, voxels; cubes are so many levels above leaves.
fn few_samples(octree: &Octree, levels: u32) -> Vec<Vec3> {
    let forest = &octree.forest;
    let leaves = octree.leaves();
    let cube = |leaf: usize| forest.leaves.keys.at(leaf) >> (3 * levels);
    let mut next = leaves.start;
    let mut samples: Vec<(Vec3, Vec3)> = Vec::new();
    let mut kept: Vec<Vec3> = Vec::new();
    while next < leaves.end {
        let (start, own) = (next, cube(next));
        while next < leaves.end && cube(next) == own {
            next += 1;
        }
        if lies_in_one_plane(forest, start..next) {
            kept.push(leaf_sample(forest, start + (next - start) / 2).0);
            continue;
        }
        samples.clear();
        samples.extend((start..next).map(|leaf| leaf_sample(forest, leaf)));
        let normal: Vec3 = samples.iter().map(|(_, normal)| *normal).sum();
        if normal.length() < AGREE * samples.len() as f32 {
            kept.extend(samples.iter().map(|(place, _)| *place));
            continue;
        }
        let along = |place: &Vec3| place.dot(normal);
        kept.extend(samples.iter().map(|(place, _)| *place).max_by(|a, b| along(a).total_cmp(&along(b))));
    }
    kept
}

/// Whether the surface in these leaves is a piece of one plane, with the same normal to the bit, as cracks are and flat
/// sides: then any of them says where it is.
fn lies_in_one_plane(forest: &Forest, mut leaves: Range<usize>) -> bool {
    let all = &forest.leaves;
    let Some(first) = leaves.next() else { return false };
    let packed = all.normals[first];
    let is_plain = |leaf: usize| all.normals[leaf] == packed && all.cuts.get(leaf).is_none_or(|cut| *cut == 0);
    if !is_plain(first) {
        return false;
    }
    let normal = unpack_normal(packed);
    let height = |leaf: usize| {
        let low = Vec3::from(morton::decode(all.keys.at(leaf)).map(|v| v as f32));
        low.dot(normal) + all.colors[leaf].offset()
    };
    let at_first = height(first);
    leaves.all(|leaf| is_plain(leaf) && (height(leaf) - at_first).abs() <= ROUNDED_VOXELS as f32)
}
