//! Points on a surface of triangles: corners, and samples between them where a triangle is larger than a
//! cell.

use std::collections::HashSet;

use crate::shape::{Geometry, Shape, Side};
use glam::DVec3;

/// Of points in one cube of this edge only the first is kept, cells.
const ALIKE: f64 = 0.25;
/// Parts of a triangle's edge, at most.
const MOST_PARTS: f64 = 1024.0;

/// Points of the surface of a mesh or a convex polyhedron no farther apart than `cell`, local space;
/// `cracks`: of a mesh only those of faces that a crack made.
pub fn samples(shape: &Shape, cell: f64, cracks: bool) -> Vec<DVec3> {
    let triangles: Vec<[DVec3; 3]> = match shape.geometry() {
        Geometry::Mesh(solid) => {
            let surface = solid.surface();
            let shown = surface.corners_of_triangles().zip(&surface.faces);
            let of_crack = shown.filter(|(_, face)| !cracks || face.side == Side::Inside);
            of_crack.map(|(corners, _)| corners.map(|p| solid.to_local(p))).collect()
        }
        Geometry::Convex(convex) => convex.triangles().collect(),
        Geometry::Octree(_) => Vec::new(),
    };
    if cell.is_nan() || cell <= 0.0 {
        return Vec::new();
    }
    let mut taken: HashSet<[i64; 3]> = HashSet::new();
    let mut is_new = |p: &DVec3| taken.insert((*p / (ALIKE * cell)).round().to_array().map(|v| v as i64));
    // Corners come first: they touch first, and points beside them are dropped.
    let mut out: Vec<DVec3> = triangles.iter().flatten().copied().filter(&mut is_new).collect();
    for [a, b, c] in &triangles {
        let longest = a.distance(*b).max(b.distance(*c)).max(c.distance(*a));
        let parts = (longest / cell).ceil().clamp(1.0, MOST_PARTS);
        for i in 0..=parts as u32 {
            for j in 0..=parts as u32 - i {
                let (u, v) = (f64::from(i) / parts, f64::from(j) / parts);
                out.extend(Some(*a + (*b - *a) * u + (*c - *a) * v).filter(&mut is_new));
            }
        }
    }
    out
}
