//! Components into the meshes that are handed out.
//!
//! In: glued components. Out: pieces with positions, in units, from the original corners.

use super::components::{Component, RegionName, Surface};
use super::made::Made;
use super::mesh::{pair_edges, part_fans};
use super::thin::Glued;
use super::{Fault, SplitFace, SplitPiece};
use rayon::prelude::*;

/// One piece each, in order.
pub fn pieces(surface: &Surface, components: &[Component], glued: &[Glued], fault: Fault) -> Vec<SplitPiece> {
    glued.par_iter().map(|whole| piece(surface, components, whole, fault)).collect()
}

fn piece(surface: &Surface, components: &[Component], whole: &Glued, fault: Fault) -> SplitPiece {
    let (mut named, mut faces): (Vec<[Made; 3]>, Vec<SplitFace>) = (Vec::new(), Vec::new());
    let is_surface = |region: &RegionName| whole.left_out.binary_search(region).is_err();
    for component in whole.components.iter().map(|&index| &components[index as usize]) {
        for &shard in &component.shards {
            let (source, triangles) = surface.shard(shard);
            named.extend(triangles);
            faces.resize(named.len(), SplitFace::Outside(source));
        }
        for &region in component.regions.iter().filter(|region| is_surface(region)) {
            named.extend(surface.region(region, component.cell));
            faces.resize(named.len(), SplitFace::Cap(region.0));
        }
    }
    let mut vertices: Vec<Made> = named.iter().flatten().copied().collect();
    vertices.sort_unstable();
    vertices.dedup();
    let index = |made: Made| vertices.partition_point(|&other| other < made) as u32;
    let mut triangles: Vec<[u32; 3]> = named.iter().map(|t| t.map(index)).collect();
    let mut positions = vertices.iter().map(|&made| surface.makers.position(made)).collect();
    if whole.components.len() > 1
        && let Ok(pairs) = pair_edges(&triangles)
    {
        // Only parts of different cells can have a vertex in common without an edge.
        part_fans(&pairs, &mut positions, &mut triangles);
    }
    if fault.flips_triangle(whole.cell) {
        triangles[0].swap(1, 2);
    }
    let weights = named.iter().zip(&faces).map(|(triangle, face)| match face {
        SplitFace::Outside(source) => {
            triangle.map(|made| surface.makers.weights(made, *source).map(|weight| weight as f32))
        }
        SplitFace::Cap(_) => [[0.0; 3]; 3],
    });
    SplitPiece { cell: whole.cell, positions, weights: weights.collect(), triangles, faces }
}
