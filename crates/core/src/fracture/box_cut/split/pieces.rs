//! Components into the meshes that are handed out.
//!
//! In: glued components. Out: pieces with positions, in units, from the original corners.

use super::components::{Component, RegionName, Surface};
use super::made::Made;
use super::mesh::{pair_edges, part_fans};
use super::thin::Glued;
use super::{Fault, SplitFace, SplitPiece};
use crate::geometry::UnionFind;
use glam::DVec3;
use rayon::prelude::*;

/// A vertex of a part: what made it, and which of the glued components it is of.
type Name = (Made, u32);

/// One piece each, in order.
pub fn pieces(surface: &Surface, components: &[Component], glued: &[Glued], fault: Fault) -> Vec<SplitPiece> {
    glued.par_iter().map(|whole| piece(surface, components, whole, fault)).collect()
}

fn piece(surface: &Surface, components: &[Component], whole: &Glued, fault: Fault) -> SplitPiece {
    let mut named: Vec<[Name; 3]> = Vec::new();
    let mut faces: Vec<SplitFace> = Vec::new();
    let is_surface = |region: &RegionName| whole.left_out.binary_search(region).is_err();
    for (part, component) in whole.components.iter().map(|&index| &components[index as usize]).enumerate() {
        let of_part = |triangle: [Made; 3]| triangle.map(|made| (made, part as u32));
        for &shard in &component.shards {
            let (source, triangles) = surface.shard(shard);
            named.extend(triangles.map(of_part));
            faces.resize(named.len(), SplitFace::Outside(source));
        }
        for &region in component.regions.iter().filter(|region| is_surface(region)) {
            named.extend(surface.region(region, component.cell).map(of_part));
            faces.resize(named.len(), SplitFace::Cap(region.0));
        }
    }
    let mut vertices: Vec<Name> = named.iter().flatten().copied().collect();
    // A part may have a vertex on left-out caps alone, and still lead from one neighbour to the next.
    let glue = rims(surface, components, whole);
    vertices.extend(glue.iter().flat_map(|&(made, parts)| parts.map(|part| (made, part))));
    vertices.sort_unstable();
    vertices.dedup();
    let index = |name: Name| vertices.partition_point(|&other| other < name) as u32;
    let mut triangles: Vec<[u32; 3]> = named.iter().map(|t| t.map(index)).collect();
    let mut positions = vertices.iter().map(|&(made, _)| surface.makers.position(made)).collect();
    if whole.components.len() > 1 {
        join_rims(&glue, &vertices, &mut triangles);
        if let Ok(pairs) = pair_edges(&triangles) {
            part_fans(&pairs, &mut positions, &mut triangles);
        }
        drop_unused(&mut positions, &mut triangles);
    }
    if fault.flips_triangle(whole.cell) {
        triangles[0].swap(1, 2);
    }
    let weights = named.iter().zip(&faces).map(|(triangle, face)| match face {
        SplitFace::Outside(source) => {
            triangle.map(|(made, _)| surface.makers.weights(made, *source).map(|weight| weight as f32))
        }
        SplitFace::Cap(_) => [[0.0; 3]; 3],
    });
    SplitPiece { cell: whole.cell, positions, weights: weights.collect(), triangles, faces }
}

/// The vertices that parts have in common: those round the caps that they are glued at. Elsewhere they may touch in
/// an edge of the complex, where four triangles would meet.
fn rims(surface: &Surface, components: &[Component], whole: &Glued) -> Vec<(Made, [u32; 2])> {
    let mut glue = Vec::new();
    for region in &whole.left_out {
        let owns = |part: &u32| {
            let index = whole.components[*part as usize];
            components[index as usize].regions.binary_search(region).is_ok()
        };
        let mut owners = (0..whole.components.len() as u32).filter(owns);
        if let (Some(one), Some(other)) = (owners.next(), owners.next()) {
            let rim = &surface.caps[region.0 as usize][region.1 as usize].rim;
            glue.extend(rim.iter().map(|edge| (edge[0], [one, other])));
        }
    }
    glue
}

fn join_rims(glue: &[(Made, [u32; 2])], vertices: &[Name], triangles: &mut [[u32; 3]]) {
    let mut joined = UnionFind::new(vertices.len());
    for &(made, [one, other]) in glue {
        if let (Ok(one), Ok(other)) =
            (vertices.binary_search(&(made, one)), vertices.binary_search(&(made, other)))
        {
            joined.join(one as u32, other as u32);
        }
    }
    for corner in triangles.iter_mut().flatten() {
        *corner = joined.find(*corner);
    }
}

fn drop_unused(positions: &mut Vec<DVec3>, triangles: &mut [[u32; 3]]) {
    let mut new_index = vec![None; positions.len()];
    let mut kept = Vec::with_capacity(positions.len());
    for corner in triangles.iter_mut().flatten() {
        *corner = *new_index[*corner as usize].get_or_insert_with(|| {
            kept.push(positions[*corner as usize]);
            kept.len() as u32 - 1
        });
    }
    *positions = kept;
}
