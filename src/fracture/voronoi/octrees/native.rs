//! The octrees that come out of a fracture on the processor's cores: what [`Octrees`](super::Octrees) is on a device.

use crate::svo::{Keys, Node};

/// Leaves in order, tree-major and in Morton order inside a tree; arrays of one length.
#[derive(Default)]
pub(in crate::fracture) struct NativeLeaves {
    /// Morton code of the cell at the leaf level.
    pub keys: Keys,
    /// Leaf of the source's forest, [`NO_LEAF`](super::NO_LEAF) for a new crack voxel; how the leaf's shares are
    /// counted in the four high bits (see `collect.rs`).
    pub origins: Vec<u32>,
    /// Packed normals.
    pub normals: Vec<u32>,
    /// Colour words.
    pub colors: Vec<u32>,
    /// Second planes.
    pub cuts: Vec<u32>,
}

/// Octrees breadth-first and tree-major, as in [`Forest`](crate::svo::Forest). A tree is its rank: root r is node r.
pub(in crate::fracture) struct NativeOctrees {
    /// Nodes of all levels.
    pub nodes: Vec<Node>,
    /// First node of every level, and the number of nodes at the end.
    pub level_start: Vec<u32>,
    /// What the nodes of the last level have below them.
    pub leaves: NativeLeaves,
}
