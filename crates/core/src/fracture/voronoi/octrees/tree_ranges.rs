//! Where the nodes and leaves of each tree of a forest lie: on every level those of a tree follow each other.

use std::ops::Range;

use crate::svo::Node;

/// First node of every tree on every level, and first leaf.
pub(in crate::fracture) struct TreeRanges {
    trees: usize,
    /// `trees + 1` entries a level, the leaves last.
    first: Vec<u32>,
}

impl TreeRanges {
    /// Ranges of octrees in the layout of [`Forest`](crate::svo::Forest), with `leaves` leaves at the nodes of the last
    /// level. Children have the order of their parents.
    pub fn of(nodes: &[Node], level_start: &[u32], leaves: usize) -> Self {
        let trees = level_start.get(1).map_or(0, |end| *end as usize);
        let levels = level_start.len().saturating_sub(1);
        let mut first: Vec<u32> = (0..=trees as u32).collect();
        for l in 0..levels {
            let row = first.len() - trees - 1;
            let end = if l + 1 < levels { level_start[l + 2] } else { leaves as u32 };
            first.resize(first.len() + trees + 1, end);
            for tree in (0..trees).rev() {
                let own = nodes.get(first[row + tree] as usize..first[row + tree + 1] as usize);
                let parent = own.unwrap_or_default().iter().find(|node| node.valid() != 0);
                first[row + trees + 1 + tree] =
                    parent.map_or(first[row + trees + 2 + tree], |node| node.child_base);
            }
        }
        Self { trees, first }
    }

    /// Nodes of a tree at a parent level; at the leaf level its leaves.
    pub fn nodes(&self, tree: usize, level: usize) -> Range<usize> {
        let at = level * (self.trees + 1) + tree;
        self.first[at] as usize..self.first[at + 1] as usize
    }

    /// First leaf of every tree, and the number of leaves.
    pub fn tree_start(&self) -> &[u32] {
        &self.first[self.first.len() - self.trees - 1..]
    }
}
