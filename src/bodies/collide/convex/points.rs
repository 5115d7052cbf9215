//! What the hull of a body holds.
//!
//! In: a shape. Out: its hull in body axes, from the centre of mass, m. Of a mesh or a convex body its own vertices are
//! held; of an octree the samples of its leaves, of a crumb the corners of its voxels.

use super::solid::Solid;
use crate::{
    bodies::collide::octree::leaf_sample,
    shape::{Geometry, Octree, Shape},
    svo::morton,
};
use glam::DVec3;

/// Of octrees: corners that would stick out by less than this are left out, voxels. Planes of leaves are stored to
/// 1/64.
const ROUNDED_VOXELS: f64 = 1.0 / 32.0;
/// Of everything else, as a share of the diameter.
const ROUNDED_SHARE: f64 = 1e-4;
/// What is flat becomes so thick, as a share of its diameter.
const THIN: f64 = 1e-3;

/// The hull of a shape; of what is flat, of its bounds.
#[must_use]
pub fn solid_of(shape: &Shape) -> Solid {
    let (points, rounded) = points(shape);
    if let Some(solid) = Solid::through(&points, rounded) {
        return solid;
    }
    let (low, high) = shape.bounds();
    let place = place(shape);
    let thin = DVec3::splat(THIN * 2.0 * shape.radius());
    let (low, high) = (place(low) - thin, place(high) + thin);
    let corner = |c: u32| {
        let high_side = [c & 1, c >> 1 & 1, c >> 2].map(f64::from);
        low + DVec3::from(high_side) * (high - low)
    };
    Solid::through(&(0..8).map(corner).collect::<Vec<_>>(), 0.0).unwrap_or_default()
}

/// From local space to body axes, from the centre of mass, m.
pub fn place(shape: &Shape) -> impl Fn(DVec3) -> DVec3 + Copy {
    let (centre, unit) = (shape.centre(), shape.unit_m());
    move |p| (p - centre) * unit
}

/// What a hull has to hold, body axes, m, and how much of it may stick out, m.
pub fn points(shape: &Shape) -> (Vec<DVec3>, f64) {
    let (place, unit) = (place(shape), shape.unit_m());
    let share = ROUNDED_SHARE * 2.0 * shape.radius();
    match shape.geometry() {
        Geometry::Octree(octree) => {
            let points = samples(octree).map(place).collect();
            (points, ROUNDED_VOXELS * unit)
        }
        Geometry::Mesh(solid) => (solid.vertices().map(place).collect(), share),
        Geometry::Convex(convex) => (convex.vertices().iter().copied().map(place).collect(), share),
    }
}

/// Of an octree the points of its leaves' planes; of so few voxels that these say little, the voxels' corners.
pub fn samples(octree: &Octree) -> Box<dyn Iterator<Item = DVec3> + '_> {
    let forest = &octree.forest;
    if octree.mass.voxels > 27 {
        return Box::new(octree.leaves().map(|leaf| leaf_sample(forest, leaf).0.as_dvec3()));
    }
    let corners = |leaf: usize| {
        let low = DVec3::from(morton::decode(forest.leaves.keys.at(leaf)).map(f64::from));
        (0..8u32).map(move |c| low + DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from)))
    };
    Box::new(octree.leaves().flat_map(corners))
}
