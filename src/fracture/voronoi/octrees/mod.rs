//! The octrees that come out of a fracture, on the GPU: [`prune`] makes them from the pairs of all levels,
//! [`split`] makes one for each connected component.

use crate::{
    gpu::{Buffer, Gpu, GpuError},
    svo::Node,
};

pub(in crate::fracture) mod native;
pub(in crate::fracture) mod prune;
pub(in crate::fracture) mod split;
pub(in crate::fracture) mod split_native;
pub(in crate::fracture) mod tree_ranges;

/// The leaf of a copy's origin where the source has none: a new crack voxel.
pub(in crate::fracture) const NO_LEAF: u32 = 0x0fff_ffff;

/// Leaves in order: (Morton code, origin), (normal, colour word), second plane.
pub(in crate::fracture) struct LeafBuffers {
    pub place: Buffer<[u32; 2]>,
    pub surface: Buffer<[u32; 2]>,
    pub cuts: Buffer<u32>,
}

impl LeafBuffers {
    pub fn new(gpu: &Gpu, leaves: usize) -> Result<Self, GpuError> {
        Ok(Self {
            place: Buffer::zeroed(gpu, "leaf places", leaves)?,
            surface: Buffer::zeroed(gpu, "leaf surfaces", leaves)?,
            cuts: Buffer::zeroed(gpu, "leaf cuts", leaves)?,
        })
    }
}

/// Octrees on the GPU, breadth-first and tree-major, with (tree, Morton code) of every node.
pub(in crate::fracture) struct Octrees {
    pub nodes: Buffer<Node>,
    pub info: Buffer<[u32; 2]>,
    pub level_start: Vec<u32>,
    pub leaves: LeafBuffers,
}

impl Octrees {
    /// First node of a level, and how many there are.
    pub fn level(&self, level: usize) -> [u32; 2] {
        let first = self.level_start[level];
        [first, self.level_start[level + 1] - first]
    }
}
