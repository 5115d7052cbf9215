//! Cells that a coarse transition level swallows: objects without a voxel that planar cracks would give one. The same
//! as `planar_objects` in `cracking.rs`, in one walk for all of them.

use crate::{
    fracture::{
        UNIT_BITS,
        voronoi::{
            descent::native::{Candidate, WalkedNode, is_single, narrow},
            surface::planar::corners::{find_owners, touched},
        },
    },
    svo::Forest,
};

/// Looks for voxels of the objects that are missing.
struct Search<'a> {
    source: &'a Forest,
    /// By rank: no voxel is found yet, and one is looked for.
    missing: Vec<bool>,
    found: usize,
    leads: Vec<[i32; 8]>,
}

/// How many of the objects that did not survive (by rank) would have a voxel with planar cracks. `list` are all
/// seeds, with the rank of their object as slot.
pub(in crate::fracture) fn swallowed(
    source: &Forest,
    tree: u32,
    list: &[Candidate],
    survived: &[bool],
) -> usize {
    let missing: Vec<bool> = survived.iter().map(|survived| !survived).collect();
    let mut search = Search { source, missing, found: 0, leads: Vec::new() };
    search.node(&WalkedNode { source: tree, level: 0, key: 0 }, list);
    search.found
}

impl Search<'_> {
    fn find(&mut self, rank: u32) {
        self.found += usize::from(std::mem::take(&mut self.missing[rank as usize]));
    }

    fn node(&mut self, place: &WalkedNode, list: &[Candidate]) {
        if !list.iter().any(|candidate| self.missing[candidate.slot as usize]) {
            return;
        }
        let (valid, internal) = place.octants(&self.source.nodes);
        let solid = valid | internal;
        if is_single(list) {
            if solid != 0 {
                self.find(list[0].slot);
            }
            return;
        }
        if place.level + 1 == self.source.level {
            find_owners(list, place.low(), UNIT_BITS - place.level - 1, |candidate, corners| {
                if touched(corners) & solid != 0 {
                    self.find(candidate.slot);
                }
            });
            return;
        }
        let mut masks = Vec::with_capacity(list.len());
        narrow(place, list, &mut self.leads, &mut masks);
        for octant in (0..8).filter(|octant| solid >> octant & 1 == 1) {
            let kept = list.iter().zip(&masks).filter(|(_, mask)| *mask >> octant & 1 == 1);
            let list: Vec<Candidate> = kept.map(|(candidate, _)| *candidate).collect();
            self.node(&place.child(&self.source.nodes, octant), &list);
        }
    }
}
