//! What the descent hands from level to level: pairs of an object and an octree node. The copying of components
//! uses the same.

use crate::{
    fracture::Source,
    gpu::{Buffer, Gpu, GpuError, read_all, shared},
};

shared! {
    /// What the kernels of every descent take as numbers: pairs, and the level of their octants.
    pub(in crate::fracture) struct DescentParams { pairs: u32, child_level: u32, node_base: u32 }

    /// One object (or component) meeting one octree node.
    #[derive(Debug, Default)]
    pub(in crate::fracture) struct Pair { source: u32, object: u32, key: u32, list_first: u32, list_count: u32 }
}

/// The pairs of one parent level in order, their octant masks (low byte stored children, next byte internal), and
/// where each pair's children begin in the level below (one element more than pairs; the last is the total).
pub(in crate::fracture) struct Layer {
    pub pairs: Buffer<Pair>,
    pub masks: Buffer<u32>,
    pub offsets: Buffer<[u32; 2]>,
}

impl Layer {
    pub fn new(gpu: &Gpu, pairs: Buffer<Pair>) -> Result<Self, GpuError> {
        Ok(Self {
            masks: Buffer::zeroed(gpu, "octant masks", pairs.len())?,
            offsets: Buffer::zeroed(gpu, "child offsets", pairs.len() + 1)?,
            pairs,
        })
    }

    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// For a descent of its pairs, whose octants are of `child_level`.
    pub fn params(&self, source: &Source<'_>, child_level: u32) -> DescentParams {
        DescentParams { pairs: self.len() as u32, child_level, node_base: source.slot.node_base }
    }

    /// Reads the scanned totals.
    pub fn totals(&self, gpu: &Gpu) -> Result<[u32; 2], GpuError> {
        Ok(totals(gpu, &[&self.offsets])?[0])
    }
}

/// Last elements of scanned buffers, with one wait.
pub(in crate::fracture) fn totals(
    gpu: &Gpu,
    scanned: &[&Buffer<[u32; 2]>],
) -> Result<Vec<[u32; 2]>, GpuError> {
    let ranges: Vec<_> = scanned.iter().map(|buffer| (*buffer, buffer.len() - 1, 1)).collect();
    Ok(read_all(gpu, &ranges)?.into_iter().map(|last| last[0]).collect())
}
