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

use super::crossings::Crossings;
use super::made::{By, Made, Makers};
use super::triangulate::{NO_LINE, Points, regions};
use super::walk::{MESH, Shards};
use super::{Fault, SplitError};
use glam::{DVec2, DVec3};
use rayon::prelude::*;
use std::ops::Range;

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
