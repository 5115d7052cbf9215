//! The crossed voxels of the transition level on the processor's cores, for display: like those that `transition.rs`
//! reads back.

use super::{CrackUniform, TransitionVoxel, points::Corners};
use crate::{
    fracture::{
        UNIT_BITS,
        voronoi::descent::native::{Candidate, WalkedNode, is_single, narrow},
    },
    svo::Forest,
};

/// Those of `tree`, in Morton order. `list` has ranks as slots, `ids` are the object ids by rank.
pub(in crate::fracture) fn crossed_voxels(
    source: &Forest,
    tree: u32,
    list: &[Candidate],
    words: &CrackUniform,
    ids: &[u32],
) -> Vec<TransitionVoxel> {
    let mut search = Search { source, words, found: Vec::new() };
    search.node(&WalkedNode { source: tree, level: 0, key: 0 }, list);
    let mut found = search.found;
    for voxel in &mut found {
        voxel.objects = voxel.objects.map(|rank| ids.get(rank as usize).copied().unwrap_or(rank));
    }
    found
}

struct Search<'a> {
    source: &'a Forest,
    words: &'a CrackUniform,
    found: Vec<TransitionVoxel>,
}

impl Search<'_> {
    fn node(&mut self, place: &WalkedNode, list: &[Candidate]) {
        if is_single(list) {
            return;
        }
        if place.level == self.words.transition {
            let corners = Corners::new(list, place.low(), 1 << (UNIT_BITS - place.level));
            if corners.crossed() {
                self.found.push(corners.separate(self.words));
            }
            return;
        }
        let (valid, internal) = place.octants(&self.source.nodes);
        let (mut leads, mut masks) = (Vec::new(), Vec::new());
        narrow(place, list, &mut leads, &mut masks);
        for octant in (0..8).filter(|octant| (valid | internal) >> octant & 1 == 1) {
            let kept = list.iter().zip(&masks).filter(|(_, mask)| *mask >> octant & 1 == 1);
            let below: Vec<Candidate> = kept.map(|(candidate, _)| *candidate).collect();
            self.node(&place.child(&self.source.nodes, octant), &below);
        }
    }
}
