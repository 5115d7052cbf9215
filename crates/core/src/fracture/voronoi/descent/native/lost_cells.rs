//! Which objects would get a voxel with planar cracks: what other surfaces are said to have swallowed.

use super::walk::{Candidate, WalkedNode, is_single, narrow};
use crate::{
    fracture::{
        UNIT_BITS,
        voronoi::surface::planar::corners::{find_owners, touched},
    },
    svo::Forest,
};

/// How many of the objects that are `sought` (by rank) own a corner of a voxel of `tree`, or have one wholly. `list`
/// has ranks as slots.
pub(in crate::fracture) fn planar_objects(
    source: &Forest,
    tree: u32,
    list: &[Candidate],
    sought: Vec<bool>,
) -> usize {
    let before = sought.iter().filter(|sought| **sought).count();
    let mut search = Search { source, left: sought };
    search.node(&WalkedNode { source: tree, level: 0, key: 0 }, list);
    before - search.left.iter().filter(|left| **left).count()
}

struct Search<'a> {
    source: &'a Forest,
    /// Objects that are sought and not found yet.
    left: Vec<bool>,
}

impl Search<'_> {
    fn is_sought(&self, list: &[Candidate]) -> bool {
        list.iter().any(|candidate| self.left[candidate.slot as usize])
    }

    /// Only nodes of which a sought object may own a part are visited.
    fn node(&mut self, place: &WalkedNode, list: &[Candidate]) {
        let (valid, internal) = place.octants(&self.source.nodes);
        let solid = valid | internal;
        if solid == 0 || !self.is_sought(list) {
            return;
        }
        if is_single(list) {
            self.left[list[0].slot as usize] = false;
        } else if place.level + 1 == self.source.level {
            find_owners(list, place.low(), UNIT_BITS - self.source.level, |candidate, corners| {
                if touched(corners) & solid != 0 {
                    self.left[candidate.slot as usize] = false;
                }
            });
        } else {
            let (mut leads, mut masks) = (Vec::new(), Vec::new());
            narrow(place, list, &mut leads, &mut masks);
            for octant in (0..8).filter(|octant| solid >> octant & 1 == 1) {
                let kept = list.iter().zip(&masks).filter(|(_, mask)| *mask >> octant & 1 == 1);
                let below: Vec<Candidate> = kept.map(|(candidate, _)| *candidate).collect();
                self.node(&place.child(&self.source.nodes, octant), &below);
            }
        }
    }
}
