//! The octrees that come out of a fracture on the processor's cores: what [`Octrees`](super::Octrees) is on a device.

use crate::fracture::{Cancel, Cancelled};
use crate::svo::{Keys, Node, OnDevice};

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

impl NativeLeaves {
    /// Leaves of a level, all words zero.
    pub fn zeroed(level: u32, count: usize) -> Self {
        let zeros = || vec![0; count];
        Self {
            keys: Keys::zeroed(level, count),
            origins: zeros(),
            normals: zeros(),
            colors: zeros(),
            cuts: zeros(),
        }
    }
}

/// Octrees breadth-first and tree-major, as in [`Forest`](crate::svo::Forest). A tree is its rank: root r is node r.
pub(in crate::fracture) struct NativeOctrees {
    /// Nodes of all levels.
    pub nodes: Vec<Node>,
    /// First node of every level, and the number of nodes at the end.
    pub level_start: Vec<u32>,
    /// The leaves below the nodes of the last level.
    pub leaves: NativeLeaves,
    /// The leaves on the device, if they were made there.
    pub on_device: OnDevice,
}

/// The nodes of octrees; of leaves only how many there are.
#[derive(Clone, Copy)]
pub(in crate::fracture) struct Trees<'a> {
    /// See [`NativeOctrees::nodes`].
    pub nodes: &'a [Node],
    /// See [`NativeOctrees::level_start`].
    pub level_start: &'a [u32],
    /// Number of leaves.
    pub leaves: usize,
}

/// Octrees with counted leaves that are not written yet. They are written once, at their final places: islands and
/// splitting do not need them.
pub(in crate::fracture) struct NativeCells {
    /// See [`NativeOctrees::nodes`].
    pub nodes: Vec<Node>,
    /// See [`NativeOctrees::level_start`].
    pub level_start: Vec<u32>,
    /// Wanted order of the leaves: all of them, run after run.
    pub runs: Vec<LeafRun>,
    /// Writes the leaves.
    pub leaves: Box<dyn LeavesToCome>,
}

/// Leaves that are successive both in the order of counting and in the wanted order.
#[derive(Clone, Copy)]
pub(in crate::fracture) struct LeafRun {
    /// Place of the first one in the order of counting.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// Leaves that were counted.
pub(in crate::fracture) trait LeavesToCome {
    /// Writes them in the order of the runs.
    ///
    /// # Errors
    /// [`Cancelled`].
    fn write(self: Box<Self>, runs: &[LeafRun], cancel: &Cancel) -> Result<NativeLeaves, Cancelled>;
}

impl NativeCells {
    /// The nodes.
    pub fn trees(&self) -> Trees<'_> {
        let leaves = self.runs.iter().map(|run| run.count as usize).sum();
        Trees { nodes: &self.nodes, level_start: &self.level_start, leaves }
    }

    /// Writes the leaves; the finished octrees.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn complete(self, cancel: &Cancel) -> Result<NativeOctrees, Cancelled> {
        let Self { nodes, level_start, runs, leaves } = self;
        let leaves = leaves.write(&runs, cancel)?;
        Ok(NativeOctrees { nodes, level_start, leaves, on_device: OnDevice::default() })
    }
}
