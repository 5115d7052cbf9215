//! The result of one task: the parts of the objects' octrees below its node, level by level, and the origins of their
//! leaves.
//!
//! Nodes are written after all their descendants, so that nodes that are empty or wholly inside are never made
//! (`octrees/prune.rs` removes such pairs of the passes). Leaves are only counted: steps list in order which leaves of
//! the source are copied unchanged, and which come from the cracks' own records.

use super::walk::{Candidate, INSIDE, WalkedNode};
use crate::svo::Node;

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
