//! The octrees that come out of a fracture, on the GPU: [`prune`] makes them from the pairs of all levels,
//! [`split`] makes one for each connected component.
//!
//! Leaves are written some at a time, in the order of the cells, and copied to the host, which puts them in the order
//! of the pieces. Up to [`MOST_LEFT`] stay on the device besides, for the arena.

use crate::{
    gpu::{AnyReadback, Buffer, Gpu, Readback},
    svo::{Node, ResidentPart},
};

pub(in crate::fracture) mod native;
pub(in crate::fracture) mod prune;
mod readback;
pub(in crate::fracture) mod split;
pub(in crate::fracture) mod split_native;

/// The leaf of a copy's origin if the source has none: a new crack voxel.
pub(in crate::fracture) const NO_LEAF: u32 = 0x0fff_ffff;

/// Number of leaves on the device at once: a part. All parts but the last are full.
pub(in crate::fracture) const PART: usize = 1 << PART_BITS;
const PART_BITS: u32 = 21;

/// Largest number of leaves whose normals, colours and cuts stay on the device, 12 bytes each, until an arena takes
/// them: 50 MB. More would cost a fracture the memory that parts save.
pub(in crate::fracture) const MOST_LEFT: usize = 2 * PART;

/// Some leaves in order, during their copy to the host: (Morton code, origin), (normal, colour word), second plane.
pub(in crate::fracture) struct LeafPart {
    pub place: Readback<[u32; 2]>,
    pub surface: Readback<[u32; 2]>,
    pub cuts: Readback<u32>,
}

/// All leaves, in the order in which the cells' octrees have them.
#[derive(Default)]
pub(in crate::fracture) struct LeavesReadback {
    pub parts: Vec<LeafPart>,
    /// The same leaves on the device, if they stay there.
    pub left: Option<Box<(Gpu, Vec<ResidentPart>)>>,
}

impl LeavesReadback {
    /// Copies to wait for.
    pub fn copies(&self) -> impl Iterator<Item = &dyn AnyReadback> {
        self.parts.iter().flat_map(|part| [&part.place as &dyn AnyReadback, &part.surface, &part.cuts])
    }
}

/// Octrees on the GPU, breadth-first and tree-major, with (tree, Morton code) of every node.
pub(in crate::fracture) struct Octrees {
    pub nodes: Buffer<Node>,
    pub info: Buffer<[u32; 2]>,
    pub level_start: Vec<u32>,
    pub leaves: LeavesReadback,
}

impl Octrees {
    /// First node of a level, and how many there are.
    pub fn level(&self, level: usize) -> [u32; 2] {
        let first = self.level_start[level];
        [first, self.level_start[level + 1] - first]
    }
}
