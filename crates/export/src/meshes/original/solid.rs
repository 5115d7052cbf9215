//! The solid to be cut: a closed triangle mesh in whole units, with surface attributes.
//!
//! In: triangles with welded vertices. Out: the same with their edges, each shared by exactly two triangles that
//! traverse it in opposite directions.

use crate::geometry::BoxTree;
use glam::DVec3;

use super::{
    boxes::{bounds_of, tree_of},
    exact::Point,
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
