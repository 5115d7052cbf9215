//! The result of one task: the parts of the objects' octrees below its node, level by level, and the origins of their
//! leaves.
//!
//! Nodes are written after all their descendants, so that nodes that are empty or wholly inside are never made
//! (`octrees/prune.rs` removes such pairs of the passes). Leaves are only counted: steps list in order which leaves of
//! the source are copied unchanged, and which come from the cracks' own records.
//!
//! The walk down the source octree, for all objects at once: every node with the seeds that can own a point of it.
//!
//! The passes walk every object by itself, since their threads do not communicate. Here a node is visited once, with
//! one list. Both use the same bound (`duel` in `shaders/fracture/voronoi/exact.wgsl`) and decide corners exactly at
//! the end, so the result is the same, although intermediate lists differ.
//!
//! # Which objects would get a voxel with planar cracks: what other surfaces are said to have swallowed

use crate::{
    fracture::{
        UNIT_BITS,
        voronoi::surface::planar::corners::{find_owners, touched},
    },
    svo::{Forest, Key, Node, morton},
};

/// A place in the order of the leaves.
#[derive(Clone, Copy)]
pub(in crate::fracture) struct Step {
    /// Slot of the object whose leaves these are, or [`Step::BLOCK`].
    pub slot: u32,
    /// First leaf of the source, or number of the first record.
    pub first: u32,
    /// Leaves of the source, or records.
    pub count: u32,
}

impl Step {
    /// As a slot: what records of the cracks make.
    pub const BLOCK: u32 = u32::MAX;
}

/// A node in progress. Its children are contiguous, so the first one's place determines all.
#[derive(Clone, Copy, Default)]
struct Open {
    child_base: u32,
    valid: u8,
    internal: u8,
    is_open: bool,
}

/// One task's part of the octrees of all objects in its node. Objects have slots here.
pub(in crate::fracture) struct Subtree {
    /// Level of the task's node.
    pub first_level: u32,
    /// Level of the leaves.
    pub leaf_level: u32,
    /// Rank of the object in a slot.
    pub ranks: Vec<u32>,
    /// Candidates for points of the task's node, by ascending seed; a candidate's index is its place here.
    pub candidates: Vec<Candidate>,
    /// Nodes by level from the task's on, and slot; children are counted from the task's own first one.
    pub nodes: Vec<Vec<Node>>,
    /// Leaves of every slot.
    pub leaves: Vec<u32>,
    /// The origins of the leaves, in order.
    pub steps: Vec<Step>,
    /// By level from that above the task's node on, and slot. The first row is the result for the node itself.
    open: Vec<Open>,
}

impl Subtree {
    /// Nothing yet below a node of `first_level`; candidates come with the rank of their object in place of a slot.
    pub fn new(first_level: u32, leaf_level: u32, list: &[Candidate]) -> Self {
        let mut ranks: Vec<u32> = list.iter().map(|candidate| candidate.slot).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let slot = |rank: u32| ranks.partition_point(|known| *known < rank) as u32;
        let indexed = (0..).zip(list);
        let candidates = indexed.map(|(index, c)| Candidate { index, slot: slot(c.slot), ..*c }).collect();
        let slots = ranks.len();
        let levels = (leaf_level - first_level) as usize;
        Self {
            first_level,
            leaf_level,
            candidates,
            nodes: vec![Vec::new(); levels * slots],
            leaves: vec![0; slots],
            steps: Vec::new(),
            open: vec![Open::default(); (levels + 1) * slots],
            ranks,
        }
    }

    fn row(&self, level: u32, slot: u32) -> usize {
        (level - self.first_level) as usize * self.ranks.len() + slot as usize
    }

    /// Nodes of a slot at a level, leaves at the leaf level.
    pub fn count(&self, level: u32, slot: u32) -> u32 {
        if level == self.leaf_level {
            self.leaves[slot as usize]
        } else {
            self.nodes[self.row(level, slot)].len() as u32
        }
    }

    /// The nodes, which are written and no longer counted.
    pub fn take_nodes(&mut self) -> Vec<Vec<Node>> {
        self.open = Vec::new();
        std::mem::take(&mut self.nodes)
    }

    /// Result of the task's node for a slot: a stored node, wholly inside, or neither.
    pub fn outcome(&self, slot: u32) -> (bool, bool) {
        let Open { valid, internal, .. } = self.open[slot as usize];
        (valid != 0, internal != 0)
    }

    /// The place of the node at `level` among the open ones, `None` standing for the parent of the task's.
    fn open_at(&mut self, level: u32, slot: u32) -> &mut Open {
        let row = (level + 1 - self.first_level) as usize * self.ranks.len() + slot as usize;
        &mut self.open[row]
    }

    fn parent_of(&mut self, level: u32, slot: u32) -> &mut Open {
        let row = (level - self.first_level) as usize * self.ranks.len() + slot as usize;
        &mut self.open[row]
    }

    /// Begins a node of `level`.
    pub fn begin(&mut self, level: u32, slot: u32) {
        let child_base = self.count(level + 1, slot);
        *self.open_at(level, slot) = Open { child_base, valid: 0, internal: 0, is_open: true };
    }

    /// Ends a node of `level` in octant `octant` of its parent. Ending it again does nothing: an object of several
    /// cells may stand in a list more than once.
    pub fn end(&mut self, level: u32, slot: u32, octant: u32) {
        let open = std::mem::take(self.open_at(level, slot));
        if open.is_open {
            self.put(level, slot, octant, Node::new(open.child_base, open.valid, open.internal));
        }
    }

    /// Ends a node of `level` whose children exist. It is dropped if it is empty or wholly inside.
    fn put(&mut self, level: u32, slot: u32, octant: u32, node: Node) {
        let bit = 1 << octant;
        if node.masks == 0 {
            return;
        }
        if node.masks == 0xff00 && level > 0 {
            self.parent_of(level, slot).internal |= bit;
            return;
        }
        let row = self.row(level, slot);
        self.nodes[row].push(node);
        self.parent_of(level, slot).valid |= bit;
    }

    /// A node of `level` is wholly inside.
    pub fn inside(&mut self, level: u32, slot: u32, octant: u32) {
        self.parent_of(level, slot).internal |= 1 << octant;
    }

    /// A node of the last parent level with its leaves, whose places in the order a step has to say.
    pub fn parent_of_leaves(&mut self, slot: u32, octant: u32, valid: u8, internal: u8) {
        let first = self.leaves[slot as usize];
        self.leaves[slot as usize] = first + valid.count_ones();
        self.put(self.leaf_level - 1, slot, octant, Node::new(first, valid, internal));
    }

    /// A record of the cracks makes the next leaves.
    pub fn block(&mut self, record: u32) {
        self.run(Step::BLOCK, record, 1);
    }

    /// The next leaves of a slot are leaves of the source as they are.
    pub fn run(&mut self, slot: u32, first: u32, count: u32) {
        if let Some(last) = self.steps.last_mut()
            && last.slot == slot
            && last.first + last.count == first
        {
            last.count += count;
        } else if count > 0 {
            self.steps.push(Step { slot, first, count });
        }
    }

    /// All below a node of the source belongs to one object: it is copied as it is.
    pub fn copy(&mut self, source: &[Node], slot: u32, place: &WalkedNode) {
        let octant = place.octant();
        if place.source == INSIDE {
            self.inside(place.level, slot, octant);
            return;
        }
        let (mut first, mut count) = (place.source as usize, 1);
        for level in place.level..self.leaf_level {
            let nodes = &source[first..first + count];
            let Some([begin, end]) = children_of(nodes) else {
                // A root without surface.
                let node = Node { child_base: 0, ..nodes[0] };
                self.put(level, slot, octant, node);
                return;
            };
            let base = self.count(level + 1, slot);
            let row = self.row(level, slot);
            let moved = |node: &Node| Node { child_base: node.child_base - begin + base, ..*node };
            self.nodes[row].extend(nodes.iter().map(moved));
            (first, count) = (begin as usize, (end - begin) as usize);
        }
        self.leaves[slot as usize] += count as u32;
        self.run(slot, first as u32, count as u32);
        self.parent_of(place.level, slot).valid |= 1 << octant;
    }
}

/// Range of the children of neighbouring nodes of one tree.
fn children_of(nodes: &[Node]) -> Option<[u32; 2]> {
    let (first, last) = (nodes.first()?, nodes.last()?);
    let end = last.child_base + last.valid().count_ones();
    (first.valid() != 0).then_some([first.child_base, end])
}

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
