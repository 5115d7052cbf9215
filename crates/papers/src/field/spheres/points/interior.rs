//! A regular lattice of points in the interior of a shape.

use crate::geometry::Aabb;
use crate::shape::{Convex, Geometry, Octree, Shape, SolidMesh};
use glam::DVec3;

/// Lattice points along an axis, at most.
const MOST_ALONG: u32 = 512;

/// The points of the lattice of edge `spacing` that lie in the solid, local space. The lattice is that of the
/// local space, so that it goes on from piece to piece.
pub fn lattice(shape: &Shape, spacing: f64) -> Vec<DVec3> {
    let bounds = shape.bounds();
    if shape.is_empty() || spacing.is_nan() || spacing <= 0.0 {
        return Vec::new();
    }
    let first = (bounds.low / spacing).floor();
    let last = (bounds.high / spacing).ceil();
    let along = (last - first).clamp(DVec3::ZERO, DVec3::splat(f64::from(MOST_ALONG))).as_uvec3();
    let mut out = Vec::new();
    for z in 0..along.z {
        for y in 0..along.y {
            let place = |x: u32| (first + DVec3::from([x, y, z].map(f64::from)) + 0.5) * spacing;
            let row: Vec<DVec3> = (0..along.x).map(place).collect();
            match shape.geometry() {
                Geometry::Octree(octree) => out.extend(row.into_iter().filter(|p| is_internal(octree, *p))),
                Geometry::Mesh(solid) => out.extend(within_mesh(solid, &row, bounds)),
                Geometry::Convex(convex) => out.extend(row.into_iter().filter(|p| is_within(convex, *p))),
            }
        }
    }
    out
}

fn is_internal(octree: &Octree, p: DVec3) -> bool {
    p.cmpge(DVec3::ZERO).all()
        && octree.forest.is_internal(octree.tree as usize, p.floor().as_uvec3().to_array())
}

fn is_within(convex: &Convex, p: DVec3) -> bool {
    convex.bounds().holds(p) && convex.distance(p) == 0.0
}

/// The points of a row along x that lie in the mesh: beyond an odd number of crossings. A row that leaves the
/// mesh with an odd number hit an edge or a hole and has no points.
fn within_mesh(solid: &SolidMesh, row: &[DVec3], Aabb { low, high }: Aabb) -> Vec<DVec3> {
    let Some(first) = row.first() else { return Vec::new() };
    let width = (high.x - low.x).max(f64::MIN_POSITIVE);
    let mut from = low.x - 0.01 * width;
    let mut crossings = Vec::new();
    while let Some(t) = solid.pick(DVec3::new(from, first.y, first.z), DVec3::X) {
        crossings.push(from + t);
        from += t + 1e-9 * width;
    }
    if crossings.len() % 2 == 1 {
        return Vec::new();
    }
    let is_within = |p: &&DVec3| crossings.iter().filter(|x| **x < p.x).count() % 2 == 1;
    row.iter().filter(is_within).copied().collect()
}
