//! The walk down the source octree, for all objects at once: every node with the seeds that can own a point of it.
//!
//! The passes walk every object by itself, since their threads do not communicate. Here a node is visited once, with
//! one list. Both use the same bound (`duel` in `shaders/fracture/voronoi/exact.wgsl`) and decide corners exactly at
//! the end, so the result is the same, although intermediate lists differ.

use crate::{
    fracture::UNIT_BITS,
    svo::{Key, Node, morton},
};

/// A node that is wholly inside the solid and not stored.
pub(in crate::fracture) const INSIDE: u32 = u32::MAX;

/// A seed that can own a point of a node.
#[derive(Clone, Copy)]
pub(in crate::fracture) struct Candidate {
    /// Fixed point.
    pub at: [i32; 3],
    /// Its place in the task's list, which ascends with the seeds.
    pub index: u32,
    /// Its object: the slot in the task, or the rank above the tasks.
    pub slot: u32,
}

/// A node of the source that cells are sought in.
#[derive(Clone, Copy)]
pub(in crate::fracture) struct WalkedNode {
    /// Index in the source's nodes, or [`INSIDE`].
    pub source: u32,
    /// Level; the root has 0.
    pub level: u32,
    /// Morton code at that level.
    pub key: Key,
}

impl WalkedNode {
    /// Which octant of its parent it is.
    pub fn octant(&self) -> u32 {
        (self.key & 7) as u32
    }

    /// Octants with surface, and octants that are inside.
    pub fn octants(&self, nodes: &[Node]) -> (u32, u32) {
        if self.source == INSIDE {
            return (0, 0xff);
        }
        let node = nodes[self.source as usize];
        (u32::from(node.valid()), u32::from(node.internal()))
    }

    /// The node in one of its octants, which must not be empty.
    pub fn child(&self, nodes: &[Node], octant: u32) -> Self {
        let mut source = INSIDE;
        if self.source != INSIDE {
            let node = nodes[self.source as usize];
            if node.valid() >> octant & 1 == 1 {
                source = node.child(octant);
            }
        }
        Self { source, level: self.level + 1, key: self.key << 3 | Key::from(octant) }
    }

    /// Its low corner, fixed point.
    pub fn low(&self) -> [i32; 3] {
        morton::decode(self.key).map(|v| (v << (UNIT_BITS - self.level)) as i32)
    }
}

/// Squared distance; within 32 bits, see `exact.wgsl`.
pub(in crate::fracture) fn distance2(a: [i32; 3], b: [i32; 3]) -> i32 {
    let d = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
}

/// The eight sums of a choice of three steps, and `at`. Intermediate sums may wrap.
fn corners(at: i32, step: [i32; 3]) -> [i32; 8] {
    let y = at.wrapping_add(step[1]);
    let [z, yz] = [at, y].map(|v| v.wrapping_add(step[2]));
    let x = |v: i32| v.wrapping_add(step[0]);
    [at, x(at), y, x(y), z, x(z), yz, x(yz)]
}

/// For every candidate of a list the octants of `place` of which it can own a point: those in which the seed that is
/// nearest to the octant's centre does not beat it at every corner.
pub(in crate::fracture) fn narrow(
    place: &WalkedNode,
    list: &[Candidate],
    leads: &mut Vec<[i32; 8]>,
    masks: &mut Vec<u8>,
) {
    let Some(first) = list.first() else { return };
    // Edge of an octant.
    let edge_bits = UNIT_BITS - place.level - 1;
    let half = (1 << edge_bits) >> 1;
    let centre = place.low().map(|v| v + half);
    let nearest = distance2(centre, first.at);
    // Distance of each candidate relative to the first one from each centre, and the nearest candidate.
    leads.clear();
    leads.push([0; 8]);
    let mut best = [0i32; 8];
    let mut judge = [0i32; 8];
    let mut judge_at = first.at.map(|v| [v; 8]);
    for (k, rival) in (1i32..).zip(&list[1..]) {
        let step = [0, 1, 2].map(|a| (first.at[a] - rival.at[a]) << (edge_bits + 1));
        let lead = corners(distance2(centre, rival.at) - nearest, step);
        for o in 0..8 {
            let nearer = lead[o] < best[o];
            best[o] = if nearer { lead[o] } else { best[o] };
            judge[o] = if nearer { k } else { judge[o] };
            for (judge_at, at) in judge_at.iter_mut().zip(rival.at) {
                judge_at[o] = if nearer { at } else { judge_at[o] };
            }
        }
        leads.push(lead);
    }
    for ((k, candidate), lead) in (0i32..).zip(list).zip(leads) {
        let mut mask = 0;
        for o in 0..8 {
            let apart = (judge_at[0][o] - candidate.at[0]).abs()
                + (judge_at[1][o] - candidate.at[1]).abs()
                + (judge_at[2][o] - candidate.at[2]).abs();
            // The judge itself stays.
            let bias = i32::from(k <= judge[o]);
            mask |= u8::from(lead[o].wrapping_sub(best[o]) < bias + (apart << edge_bits)) << o;
        }
        masks.push(mask);
    }
}

/// Whether all candidates are of one object.
pub(in crate::fracture) fn is_single(list: &[Candidate]) -> bool {
    list.iter().all(|candidate| candidate.slot == list[0].slot)
}
