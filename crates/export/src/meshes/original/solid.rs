//! The solid to be cut: a closed triangle mesh in whole units, with surface attributes.
//!
//! In: triangles with welded vertices. Out: the same with their edges, each shared by exactly two triangles that
//! traverse it in opposite directions.
//!
//! # The imported mesh as a body to be cut
//!
//! In: the imported mesh, its scale to shape space, the grid. Out: a [`Body`] with welded vertices in whole units.
//!
//! # Points in whole numbers, fine enough for a mesh and few enough for exact predicates
//!
//! # A tree of boxes, to find what a segment may meet
//!
//! In: boxes in whole units. Out: which of them a segment's own box and line touch, in a fixed order.
//!
//! # Prepares the mesh of a mesh piece for files
//!
//! Methods that cut meshes identify every point by its origin, so their pieces are closed however the points are
//! rounded. In a file's 32-bit coordinates two very near points coincide, and other programs then find edges of four
//! triangles or triangles that face inward. Such short edges and thin triangles are removed, as from pieces that are
//! cut for the file alone.

use std::sync::Arc;

use glam::DVec3;

use super::{
    NotOriginal,
    body::{Body, split_fans},
    slivers::{part_crowded, take_out},
};
use crate::{
    geometry::{Aabb, BoxTree},
    mesh::Mesh,
    shape::{NoSurface, PieceMesh, Side, SolidMesh},
    svo::Grid,
};

/// An edge of the solid.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Its ends, in the direction of the first triangle.
    pub ends: [u32; 2],
    /// The triangle that traverses it forwards, and the one that traverses it backwards.
    pub triangles: [u32; 2],
}

/// A closed mesh to be cut.
#[derive(Clone, Debug, Default)]
pub struct Solid {
    /// Vertices in whole units, even, so that no crack vertex (odd) has equal coordinates.
    pub points: Vec<Point>,
    /// Unrounded vertices, shape space.
    pub places: Vec<DVec3>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Edges of a [`Solid`].
#[derive(Clone, Debug, Default)]
pub struct Edges {
    /// Edges without duplicates.
    pub list: Vec<Edge>,
    /// The three edges of every triangle, each from a corner to the next.
    pub of_triangle: Vec<[u32; 3]>,
}

/// Number of edges not shared by two consistently oriented triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenEdges(pub usize);

impl Edges {
    /// Pairs the sides of triangles. If more than two meet at an edge they are paired in order.
    ///
    /// # Errors
    /// [`OpenEdges`].
    pub fn of(triangles: &[[u32; 3]]) -> Result<Self, OpenEdges> {
        let mut sides: Vec<(u32, u32, bool, u32)> = Vec::with_capacity(3 * triangles.len());
        for (t, corners) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                sides.push((a.min(b), a.max(b), a > b, (3 * t + k) as u32));
            }
        }
        sides.sort_unstable();
        let mut edges =
            Self { list: Vec::with_capacity(sides.len() / 2), of_triangle: vec![[0; 3]; triangles.len()] };
        let mut open = 0;
        for group in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let half = group.iter().take_while(|side| !side.2).count();
            if 2 * half != group.len() || group[0].0 == group[0].1 {
                open += 1;
                continue;
            }
            for (along, against) in group[..half].iter().zip(&group[half..]) {
                let number = edges.list.len() as u32;
                for side in [along.3, against.3] {
                    edges.of_triangle[side as usize / 3][side as usize % 3] = number;
                }
                edges.list.push(Edge { ends: [along.0, along.1], triangles: [along.3 / 3, against.3 / 3] });
            }
        }
        if open > 0 { Err(OpenEdges(open)) } else { Ok(edges) }
    }
}

/// Edges and boxes of a solid, which every cut needs.
pub struct Prepared {
    /// Its edges.
    pub edges: Edges,
    /// Hierarchy of its triangles' boxes.
    pub tree: BoxTree<u32>,
}

impl Prepared {
    /// Prepares a solid.
    ///
    /// # Errors
    /// [`OpenEdges`].
    pub fn new(solid: &Solid) -> Result<Self, OpenEdges> {
        let edges = Edges::of(&solid.triangles)?;
        let bounds = |t: &[u32; 3]| bounds_of(&t.map(|i| solid.points[i as usize]));
        Ok(Self { edges, tree: tree_of(&solid.triangles.iter().map(bounds).collect::<Vec<_>>()) })
    }
}

/// Converts `mesh`, with `scale` units of shape space per mesh unit, on `grid` (shape space).
///
/// # Errors
/// [`NotOriginal`] if it is not closed.
pub fn body(mesh: &Mesh, scale: f64, grid: &Grid) -> Result<Body, NotOriginal> {
    let surface = PieceMesh::imported(mesh, scale).map_err(|error| match error {
        NoSurface::Unoriented => NotOriginal::Unoriented,
        NoSurface::Open(edges) => NotOriginal::Open(edges),
    })?;
    let unit = (1u64 << (UNIT_BITS - grid.level - 1)) as f64;
    let half =
        |p: &glam::DVec3| ((*p - grid.origin) / grid.h * unit).to_array().map(|v| v.round() as i64 * 2);
    let points = surface.positions.iter().map(half).collect();
    let mut solid = Solid { points, places: surface.positions, triangles: surface.triangles };
    split_fans(&mut solid);
    Ok(Body { solid, faces: surface.faces, corners: surface.corners })
}

/// A point in whole units: 2^39 a grid side, at most half a side outside the grid, so that a determinant of
/// differences fits 128 bits.
pub type Point = [i64; 3];

/// log2 of the units of a grid side.
pub const UNIT_BITS: u32 = 39;

/// Low and high corner.
pub type Bounds = [Point; 2];

/// Most boxes of a leaf.
const LEAF: usize = 4;

/// The box of some points.
#[must_use]
pub fn bounds_of(points: &[Point]) -> Bounds {
    let ends = |pick: fn(i64, i64) -> i64| {
        let first = points.first().copied().unwrap_or_default();
        points.iter().fold(first, |sum, p| [0, 1, 2].map(|k| pick(sum[k], p[k])))
    };
    [ends(i64::min), ends(i64::max)]
}

/// A tree over `boxes`, by their numbers, split in the middle of the longest side of their centres.
#[must_use]
pub fn tree_of(boxes: &[Bounds]) -> BoxTree<u32> {
    let centre = |i: u32, k: usize| boxes[i as usize][0][k] + boxes[i as usize][1][k];
    // A margin for the rounding of whole numbers to floats.
    let bounds = |i: &u32| {
        let [low, high] = boxes[*i as usize].map(|p| DVec3::from_array(p.map(|v| v as f64)));
        Aabb::new(low - 1.0, high + 1.0)
    };
    let part = |run: &mut [u32], _: DVec3| {
        let extent = |k: usize| {
            let (mut first, mut last) = (i64::MAX, i64::MIN);
            for &i in &*run {
                (first, last) = (first.min(centre(i, k)), last.max(centre(i, k)));
            }
            last - first
        };
        let axis = (0..3).max_by_key(|k| extent(*k)).unwrap_or(0);
        run.select_nth_unstable_by_key(run.len() / 2, |i| (centre(*i, axis), *i));
    };
    BoxTree::new((0..boxes.len() as u32).collect(), LEAF, bounds, part)
}

/// Calls `met` with each box of a tree that the segment p-q may touch.
pub fn along(tree: &BoxTree<u32>, p: Point, q: Point, met: &mut impl FnMut(u32)) {
    let (start, end) = (p.map(|v| v as f64), q.map(|v| v as f64));
    let per_length = [0, 1, 2].map(|k| 1.0 / (end[k] - start[k]));
    let touches = |bounds: &Aabb| {
        let (mut enter, mut leave) = (-1e-9_f64, 1.0_f64 + 1e-9);
        for k in 0..3 {
            let (low, high) = (bounds.low[k], bounds.high[k]);
            if start[k].max(end[k]) < low || start[k].min(end[k]) > high {
                return false;
            }
            if end[k] != start[k] {
                let (a, b) = ((low - start[k]) * per_length[k], (high - start[k]) * per_length[k]);
                enter = enter.max(a.min(b) - 1e-9);
                leave = leave.min(a.max(b) + 1e-9);
            }
        }
        enter <= leave
    };
    tree.visit(touches, |item| met(*item));
}

/// The surface of a piece, shape space, without edges and triangles too small for a file. A surface without cracks is
/// the imported one and stays unchanged.
#[must_use]
pub fn of_solid(solid: &SolidMesh) -> Arc<PieceMesh> {
    let surface = solid.surface();
    if !surface.faces.iter().any(|face| face.side == Side::Inside) {
        return Arc::clone(surface);
    }
    let farthest = surface.positions.iter().fold(0.0, |most: f64, p| most.max(p.abs().max_element()));
    let grid = solid.voxels().map_or(0.0, |octree| octree.grid.h * f64::from(octree.grid.side()));
    let side = grid.max(2.0 * farthest).max(f64::MIN_POSITIVE);
    let units = (1u64 << UNIT_BITS) as f64 / side;
    let whole = |p: &DVec3| (*p * units).to_array().map(|v| v.round() as i64);
    let mut body = Body {
        solid: Solid {
            points: surface.positions.iter().map(whole).collect(),
            places: surface.positions.clone(),
            triangles: surface.triangles.clone(),
        },
        faces: surface.faces.clone(),
        corners: surface.corners.clone(),
    };
    take_out(&mut body);
    part_crowded(&mut body);
    let Body { solid: Solid { places, triangles, .. }, faces, corners } = body;
    Arc::new(PieceMesh { positions: places, triangles, faces, corners })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        meshes::MeshCheck,
        shape::{Corner, Face},
    };

    /// A unit cube whose top is divided by a crack triangle so thin that it collapses to a line in 32-bit coordinates.
    fn cube(gap: f64) -> SolidMesh {
        let at = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
        let mut positions: Vec<DVec3> =
            (0..8).map(|c| at(f64::from(c & 1), f64::from(c >> 1 & 1), f64::from(c >> 2))).collect();
        positions.push(at(0.5, 1.0, 0.5));
        positions.push(at(0.5, 1.0, 0.5 + gap));
        let mut triangles: Vec<[u32; 3]> = vec![
            [0, 1, 5],
            [0, 5, 4],
            [0, 2, 3],
            [0, 3, 1],
            [4, 5, 7],
            [4, 7, 6],
            [0, 4, 6],
            [0, 6, 2],
            [1, 3, 7],
            [1, 7, 5],
        ];
        // The top: 2, 6, 7, 3 round 8 and 9, which lie close together.
        triangles.extend([[2, 8, 3], [2, 6, 9], [2, 9, 8], [6, 7, 9], [3, 8, 9], [3, 9, 7]]);
        let side = |t: usize| if t >= 10 { Side::Inside } else { Side::Outside { material: 0 } };
        let faces = (0..triangles.len()).map(|t| Face { side: side(t), beyond: None }).collect();
        let corner = Corner { normal: glam::Vec3::Y, color: [9; 3], uv: [0.0; 2] };
        let corners = vec![[corner; 3]; triangles.len()];
        let surface = PieceMesh { positions, triangles, faces, corners };
        SolidMesh::new(Arc::new(surface), Arc::from([]))
    }

    /// The check of the mesh with points merged that coincide in 32-bit coordinates.
    fn as_filed(mesh: &PieceMesh) -> MeshCheck {
        let filed: Vec<[u32; 3]> =
            mesh.positions.iter().map(|p| p.as_vec3().to_array().map(f32::to_bits)).collect();
        let first = |v: u32| filed.iter().position(|p| *p == filed[v as usize]).unwrap_or_default() as u32;
        let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(first)).collect();
        let positions: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_vec3().as_dvec3()).collect();
        MeshCheck::of_triangles(&positions, &triangles)
    }

    #[test]
    fn what_a_file_cannot_tell_apart_is_one_point() {
        let solid = cube(1e-9);
        let before = as_filed(solid.surface());
        assert!(MeshCheck::of(solid.surface()).is_manifold());
        assert!(before.flat_triangles > 0, "{before:?}");
        let mesh = of_solid(&solid);
        let after = as_filed(&mesh);
        assert!(after.holds() && (after.volume - 1.0).abs() < 1e-6, "{after:?}");
        assert_eq!(mesh.triangles.len(), solid.surface().triangles.len() - 2);
        assert_eq!(mesh.corners.len(), mesh.triangles.len());
        assert_eq!(mesh.faces.iter().filter(|face| face.side == Side::Inside).count(), 4);
    }

    #[test]
    fn what_is_large_enough_stays() {
        let solid = cube(0.01);
        assert_eq!(of_solid(&solid).triangles, solid.surface().triangles);
    }

    #[test]
    fn an_unbroken_surface_is_left_alone() {
        let mesh = cube(1e-9);
        let mut whole = PieceMesh::clone(mesh.surface());
        whole.faces.iter_mut().for_each(|face| face.side = Side::Outside { material: 0 });
        let whole = SolidMesh::new(Arc::new(whole), Arc::from([]));
        assert!(Arc::ptr_eq(&of_solid(&whole), whole.surface()));
    }
}
