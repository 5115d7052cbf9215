//! Assigns the parts of a cut to pieces.
//!
//! In: the parts, and the pieces of the octree. Out: a piece for every part. A part belongs to the piece of its own
//! cell whose voxels contain it. A part in no piece's voxels is thinner than a voxel: it joins the part with which it
//! shares most crack area, just as the octree gives such slivers to the cells around.

use std::collections::BTreeMap;

use super::{
    exact::UNIT_BITS,
    parts::{NOTHING, Parts},
};
use crate::{shape::Octree, svo::Octant};

/// A piece that parts can belong to.
#[derive(Clone, Debug, Default)]
pub struct Claim {
    /// Objects of its cells: one, or several if pieces were merged.
    pub objects: Vec<u32>,
    /// Its octree, or those of all its pieces if it broke again; empty if they are no longer known.
    pub octrees: Vec<Octree>,
}

/// Most nodes of a part that are tested.
const MOST_ASKED: usize = 256;

fn solid_at(octree: &Octree, point: glam::DVec3) -> bool {
    let shift = UNIT_BITS - octree.level();
    let cell = point.to_array().map(|v| (v.max(0.0) as u64 >> shift) as u32);
    !matches!(octree.forest.octant_at(octree.tree as usize, cell), Octant::Empty { .. })
}

/// Evenly sampled nodes of every part.
fn samples(parts: &Parts) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![Vec::new(); parts.parts.len()];
    for face in &parts.faces {
        for part in face.parts.into_iter().filter(|part| *part != NOTHING) {
            all[part as usize].extend(face.nodes);
        }
    }
    for list in &mut all {
        list.sort_unstable();
        list.dedup();
        let step = list.len().div_ceil(MOST_ASKED).max(1);
        *list = list.iter().copied().step_by(step).collect();
    }
    all
}

/// For each part, the crack area shared with each neighbour.
fn shared(parts: &Parts) -> Vec<BTreeMap<u32, f64>> {
    let mut all: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); parts.parts.len()];
    for face in parts.faces.iter().filter(|face| face.is_crack) {
        let [a, b] = face.parts;
        if a == NOTHING || b == NOTHING || a == b {
            continue;
        }
        let [p, q, r] = face.nodes.map(|n| parts.places[n as usize]);
        let area = (q - p).cross(r - p).length();
        *all[a as usize].entry(b).or_default() += area;
        *all[b as usize].entry(a).or_default() += area;
    }
    all
}

/// The claim of every part, by index. `None`: it lies in no piece and touches none.
#[must_use]
pub fn assign(parts: &Parts, claims: &[Claim]) -> Vec<Option<u32>> {
    let samples = samples(parts);
    let mut of: Vec<Option<u32>> = Vec::with_capacity(parts.parts.len());
    for (part, nodes) in parts.parts.iter().zip(&samples) {
        let rivals: Vec<u32> =
            (0..claims.len() as u32).filter(|c| claims[*c as usize].objects.contains(&part.region)).collect();
        let votes = |claim: u32| {
            let octrees = &claims[claim as usize].octrees;
            let held = |node: &&u32| octrees.iter().any(|o| solid_at(o, parts.in_grid[**node as usize]));
            nodes.iter().filter(held).count()
        };
        let counted = rivals.iter().map(|c| (votes(*c), *c)).filter(|(count, _)| *count > 0);
        // Of equal counts the first one wins, which is the largest piece.
        let best = counted.max_by_key(|(count, claim)| (*count, std::cmp::Reverse(*claim)));
        let unknown = || rivals.iter().copied().find(|c| claims[*c as usize].octrees.is_empty());
        of.push(best.map(|(_, claim)| claim).or_else(unknown));
    }
    join_slivers(parts, &mut of);
    let largest =
        |region: u32| (0..claims.len() as u32).find(|c| claims[*c as usize].objects.contains(&region));
    for (part, claim) in parts.parts.iter().zip(&mut of) {
        *claim = claim.or_else(|| largest(part.region));
    }
    of
}

/// Assigns parts in no piece to the neighbour with which they share most crack area, until nothing changes.
fn join_slivers(parts: &Parts, of: &mut [Option<u32>]) {
    if of.iter().all(Option::is_some) {
        return;
    }
    let shared = shared(parts);
    loop {
        let mut joins: Vec<(usize, u32)> = Vec::new();
        for part in (0..of.len()).filter(|part| of[*part].is_none()) {
            let known = shared[part].iter().filter_map(|(other, area)| Some((*area, of[*other as usize]?)));
            let mut areas: BTreeMap<u32, f64> = BTreeMap::new();
            known.for_each(|(area, claim)| *areas.entry(claim).or_default() += area);
            let best = areas.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            joins.extend(best.map(|(claim, _)| (part, claim)));
        }
        if joins.is_empty() {
            return;
        }
        for (part, claim) in joins {
            of[part] = Some(claim);
        }
    }
}
