//! Caps: the part of each facet that is inside the solid, made once for the two cells that it parts.
//!
//! In: shards, whose sides on a facet are the cuts through the surface, and crossings, which know the parts of the
//! facet's border that are inside. Out: regions, each a triangulated polygon, perhaps with holes, whose rim is
//! exactly those cuts and parts. The paper (section 5) instead cuts the cell by the planes of its triangles, which is
//! right only where the surface in the cell is convex, and triangulates a convex polygon.
//!
//! Every vertex of the border must be the end of one edge and the start of one other: at the crossing of a mesh edge
//! the two triangles of that edge meet, at a piercing triangle its cut and a part of a rib, at a vertex of the
//! complex two ribs. So the edges are loops, and since the triangulation neither drops nor invents an edge of them,
//! pieces are closed whatever the positions were rounded to.
//!
//! # Components into the meshes that are handed out
//!
//! In: glued components. Out: pieces with positions, in units, from the original corners.
//!
//! Planted errors: tests break one step of the splitting and must see that a check finds it. Outside of tests there
//! is none.

use std::ops::Range;

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::{
    SplitError, SplitFace, SplitPiece,
    components::{Component, RegionName, Surface},
    crossings::Crossings,
    mesh::{By, Made, Makers, pair_edges, part_fans},
    thin::Glued,
    triangulate::{NO_LINE, Points, regions},
    walk::{MESH, Shards},
};
use crate::geometry::UnionFind;

/// How far the mesh may fold over itself and still be cut, units: about six fine ones. Pieces that are broken again have
/// slivers along their cracks whose corners were rounded to the fine grid, which turns some of them over. What folds
/// farther crosses itself, and is refused.
const FOLD: f64 = 0.05;

/// How a cap is triangulated.
#[derive(Clone, Copy)]
struct Attempt {
    /// By how many fine units the mesh is moved.
    step: f64,
    thin_alone: bool,
    /// How far loops may fold, units.
    fold: f64,
}

const fn attempt(step: f64, thin_alone: bool, fold: f64) -> Attempt {
    Attempt { step, thin_alone, fold }
}

/// By how many fine units (and their square and cube) the mesh is moved while a cap is triangulated: not at all, if
/// that does. But where edges of the moved mesh (see `exact`) lie on each other but for the infinitely small step, as
/// round a wall of no thickness, their order is seen only when the step is made visible. A loop that stays thin is
/// thin in truth; the last attempts take it for a border, and should it be a hole, `thin` finds a piece without
/// volume.
const ATTEMPTS: [Attempt; 6] = [
    attempt(0.0, false, 0.0),
    attempt(0.03, false, 0.0),
    attempt(0.3, false, 0.0),
    attempt(0.0, true, 0.0),
    attempt(0.03, true, 0.0),
    attempt(0.0, true, FOLD),
];

/// A connected part of a cap, as seen from beyond its facet (outside of the cell of the facet's `site`).
#[derive(Clone, Debug)]
pub struct Region {
    /// Counter-clockwise.
    pub triangles: Vec<[Made; 3]>,
    /// Its border: from, to; the region on the left.
    pub rim: Vec<[Made; 2]>,
}

/// Regions of each facet of the complex.
pub fn caps(
    makers: Makers,
    shards: &Shards,
    crossings: &Crossings,
    fault: Fault,
) -> Result<Vec<Vec<Region>>, SplitError> {
    let cuts = cuts(makers, shards)?;
    let mut first = vec![0_u32; makers.complex.facets.len() + 1];
    for &(facet, ..) in &cuts {
        first[facet as usize + 1] += 1;
    }
    for facet in 1..first.len() {
        first[facet] += first[facet - 1];
    }
    let cap = |facet: u32| {
        if makers.skeleton.walls[facet as usize] || fault.drops_cap(facet) {
            return Ok(Vec::new());
        }
        let cuts = &cuts[first[facet as usize] as usize..first[facet as usize + 1] as usize];
        cap(makers, facet, cuts, crossings, fault)
    };
    (0..makers.complex.facets.len() as u32).into_par_iter().map(cap).collect()
}

/// Facet, and a cut from, to; the solid on the left as seen from beyond.
type Cut = (u32, Made, Made);

/// All cuts, ascending. The cell behind a facet and the one beyond must have met the same ones.
fn cuts(makers: Makers, shards: &Shards) -> Result<Vec<Cut>, SplitError> {
    let (mut own, mut beyond) = (Vec::new(), Vec::new());
    for shard in &shards.shards {
        let sides = shards.sides(shard);
        for (k, side) in sides.iter().enumerate().filter(|(_, side)| side.facet != MESH) {
            let end = sides[(k + 1) % sides.len()].start;
            // The cap's edge is walked against the shard's.
            if makers.complex.facets[side.facet as usize].site == shard.cell {
                own.push((side.facet, end, side.start));
            } else {
                beyond.push((side.facet, side.start, end));
            }
        }
    }
    rayon::join(|| own.par_sort_unstable(), || beyond.par_sort_unstable());
    if own != beyond {
        let differing = own.iter().zip(&beyond).find(|(a, b)| a != b).map_or(0, |(a, _)| a.0);
        return Err(SplitError::Complex { facet: differing });
    }
    Ok(own)
}

fn cap(
    makers: Makers,
    facet: u32,
    cuts: &[Cut],
    crossings: &Crossings,
    fault: Fault,
) -> Result<Vec<Region>, SplitError> {
    let ring = &makers.complex.facets[facet as usize].ring;
    if cuts.is_empty() && !crossings.vertex_inside(ring[0]) {
        return Ok(Vec::new());
    }
    let mut border: Vec<(Made, Made)> = cuts.iter().map(|&(_, from, to)| (from, to)).collect();
    for (&rib, &start) in makers.skeleton.ribs_of(facet).iter().zip(ring) {
        let forward = makers.skeleton.ribs[rib as usize].ends[0] == start;
        crossings
            .inside_parts(makers, rib, |from, to| border.push(if forward { (from, to) } else { (to, from) }));
    }
    let mut loops = loops(&mut border).ok_or(SplitError::OpenLoop { facet })?;
    if fault.loses_loop() && loops.len() > 1 {
        loops.pop();
    }
    let flat = Flat::new(makers.skeleton.planes[facet as usize].normal);
    let names: Vec<Made> = loops.iter().flatten().copied().collect();
    let mut rings = Vec::with_capacity(loops.len());
    for ring in &loops {
        let start = rings.last().map_or(0, |last: &Range<u32>| last.end);
        rings.push(start..start + ring.len() as u32);
    }
    let ribs = makers.skeleton.ribs_of(facet);
    let lines_of = |made: &Made| match made.by() {
        By::Pierce { rib, .. } => [rib, NO_LINE],
        By::Vertex(vertex) => ring
            .iter()
            .position(|&v| v == vertex)
            .map_or([NO_LINE; 2], |k| [ribs[k], ribs[(k + ribs.len() - 1) % ribs.len()]]),
        By::Corner(_) | By::Crossing { .. } => [NO_LINE; 2],
    };
    let lines: Vec<[u32; 2]> = names.iter().map(lines_of).collect();
    let attempt = |&Attempt { step, thin_alone, fold }: &Attempt| {
        let step = DVec3::new(step, step * step, step * step * step);
        let at = names.iter().map(|&made| flat.project(makers.moved_position(made, step))).collect();
        regions(&Points { at, lines: lines.clone(), fold }, &rings, thin_alone)
    };
    let regions = ATTEMPTS.iter().find_map(attempt).ok_or(SplitError::CrossedLoops { facet })?;
    let named = regions.into_iter().map(|region| Region {
        triangles: region.triangles.into_iter().map(|t| t.map(|i| names[i as usize])).collect(),
        rim: region
            .loops
            .iter()
            .flat_map(|&l| {
                let ring = &loops[l as usize];
                (0..ring.len()).map(move |k| [ring[k], ring[(k + 1) % ring.len()]])
            })
            .collect(),
    });
    Ok(named.collect())
}

/// Chains edges into loops of three or more; None where they are none.
fn loops(border: &mut [(Made, Made)]) -> Option<Vec<Vec<Made>>> {
    border.sort_unstable();
    if border.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return None;
    }
    let mut used = vec![false; border.len()];
    let mut loops = Vec::new();
    for start in 0..border.len() {
        if used[start] {
            continue;
        }
        let mut ring = Vec::new();
        let mut at = start;
        // Starts are all different, so a loop that comes back elsewhere than to its start has two edges with one end.
        while !std::mem::replace(&mut used[at], true) {
            ring.push(border[at].0);
            at = border.binary_search_by_key(&border[at].1, |edge| edge.0).ok()?;
        }
        if at != start || ring.len() < 3 {
            return None;
        }
        loops.push(ring);
    }
    Some(loops)
}

/// Drops the axis that a facet faces most, so that counter-clockwise from beyond stays counter-clockwise.
struct Flat {
    axes: [usize; 2],
}

impl Flat {
    fn new(normal: [i64; 3]) -> Self {
        let axis = (0..3).fold(0, |best, k| if normal[k].abs() > normal[best].abs() { k } else { best });
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        Self { axes: if normal[axis] > 0 { [u, v] } else { [v, u] } }
    }

    fn project(&self, position: DVec3) -> DVec2 {
        DVec2::new(position[self.axes[0]], position[self.axes[1]])
    }
}

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

/// Which step goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// The caps of this facet are left out.
    #[cfg(test)]
    DropCap(u32),
    /// The first triangle of this cell's first piece is turned round.
    #[cfg(test)]
    FlipTriangle(u32),
    /// Of facets with several loops, the last is lost.
    #[cfg(test)]
    LoseLoop,
    /// This triangle does not go on to the neighbours of its first cell.
    #[cfg(test)]
    SkipNeighbour(u32),
    /// The cap of this facet is not mirrored for the cell beyond it.
    #[cfg(test)]
    KeepSide(u32),
}

#[cfg(test)]
impl Fault {
    /// Whether a facet gets no cap.
    pub fn drops_cap(self, facet: u32) -> bool {
        self == Self::DropCap(facet)
    }

    /// Whether a triangle of a cell's piece is turned round.
    pub fn flips_triangle(self, cell: u32) -> bool {
        self == Self::FlipTriangle(cell)
    }

    /// Whether a loop is lost.
    pub fn loses_loop(self) -> bool {
        self == Self::LoseLoop
    }

    /// Whether a triangle goes no further.
    pub fn skips_neighbour(self, triangle: u32) -> bool {
        self == Self::SkipNeighbour(triangle)
    }

    /// Whether the cap of a facet is not mirrored.
    pub fn keeps_side(self, facet: u32) -> bool {
        self == Self::KeepSide(facet)
    }
}

#[cfg(not(test))]
impl Fault {
    /// Whether a facet gets no cap.
    pub fn drops_cap(self, _: u32) -> bool {
        false
    }

    /// Whether a triangle of a cell's piece is turned round.
    pub fn flips_triangle(self, _: u32) -> bool {
        false
    }

    /// Whether a loop is lost.
    pub fn loses_loop(self) -> bool {
        false
    }

    /// Whether a triangle goes no further.
    pub fn skips_neighbour(self, _: u32) -> bool {
        false
    }

    /// Whether the cap of a facet is not mirrored.
    pub fn keeps_side(self, _: u32) -> bool {
        false
    }
}
