//! What equation 3 of 2018 takes, for every crossed edge: so that other programs can compute the edge separation points
//! anew.
//!
//! In: crossed voxels, the pattern and the numbers of the crack surface. Out: weights, seeds, where the bisector
//! crosses, and the point, by the functions of `points.rs` that make the surface.

use super::{CrackUniform, TransitionVoxel, native::edge_corners, points::Corners};
use crate::fracture::{Pattern, UNIT_BITS, voronoi::descent::native::at_root};

/// A crossed edge of a crossed voxel, with the terms of its separation point. Its two ends are the low and the high one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossedEdge {
    /// Its voxel, counted as they were given.
    pub voxel: usize,
    /// Its number in the voxel, 0 to 11: 4 for each axis that edges lie along.
    pub edge: usize,
    /// The ends, in edges of a transition voxel from the grid's low corner.
    pub corners: [[u32; 3]; 2],
    /// Objects that own the ends.
    pub objects: [u32; 2],
    /// Weights of the ends, 0 to 255.
    pub weights: [i32; 2],
    /// The seeds nearest to the ends, 1/2^14 of the grid's side.
    pub seeds: [[i32; 3]; 2],
    /// Where the bisector of these seeds crosses the edge, 1/[`UNITS`](super::UNITS) edge from the low end.
    pub crossing: i32,
    /// The edge separation point, 1/[`UNITS`](super::UNITS) edge from the low end.
    pub point: i32,
}

/// The crossed edges of `voxels`, which `words.transition` and `pattern` made, in the order of the voxels and of the edges'
/// numbers. An edge that several voxels share is listed for each.
#[must_use]
pub fn crossed_edges(
    voxels: &[TransitionVoxel],
    pattern: &Pattern,
    words: &CrackUniform,
) -> Vec<CrossedEdge> {
    let seeds = at_root(pattern);
    let size = 1i32 << (UNIT_BITS - words.transition);
    let mut found = Vec::new();
    for (row, voxel) in voxels.iter().enumerate() {
        let corners = Corners::new(&seeds, voxel.place.map(|v| v as i32 * size), size);
        let (weights, points) = (corners.weights(words), corners.edge_offsets(words));
        for (edge, point) in points.into_iter().enumerate().filter(|(_, point)| *point != 0) {
            let ends = edge_corners(edge);
            found.push(CrossedEdge {
                voxel: row,
                edge,
                corners: ends.map(|c| [0, 1, 2].map(|axis| voxel.place[axis] + (c >> axis & 1) as u32)),
                objects: ends.map(|c| voxel.objects[c]),
                weights: ends.map(|c| weights[c]),
                seeds: ends.map(|c| corners.seeds[c]),
                crossing: corners.crossing(ends),
                point,
            });
        }
    }
    found
}
