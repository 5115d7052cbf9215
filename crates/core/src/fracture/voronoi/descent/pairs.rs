//! Data between levels of the descent: pairs of an object and an octree node. The copying of components uses them, too.

use crate::{
    fracture::Source,
    gpu::{Buffer, GpuError, IndirectCount, Submissions, shared},
};

shared! {
    /// Parameters of the kernels of every descent: the level of their octants, and where the source begins.
    pub(in crate::fracture) struct DescentParams { child_level: u32, node_base: u32 }

    /// One object (or component) meeting one octree node.
    #[derive(Debug, Default)]
    pub(in crate::fracture) struct Pair { source: u32, object: u32, key: u32, list_first: u32, list_count: u32 }
}

/// The pairs of one parent level in order, their octant masks (low byte stored children, next byte internal), and where
/// each pair's children begin in the level below (one element more than pairs; the last is the total). Their number is
/// on the device; the buffers may be longer.
pub(in crate::fracture) struct Layer {
    pub pairs: Buffer<Pair>,
    pub masks: Buffer<u32>,
    pub offsets: Buffer<[u32; 2]>,
    pub count: IndirectCount,
}

impl Layer {
    /// Pairs made by the host: the roots.
    pub fn roots(work: &mut Submissions<'_>, roots: &[Pair]) -> Result<Self, GpuError> {
        let pairs = Buffer::from_slice(work.gpu, "pairs", roots)?;
        let count = IndirectCount::known(work.gpu, roots.len());
        Self::of(work, pairs, count)
    }

    /// Room for `most` pairs.
    pub fn new(work: &mut Submissions<'_>, most: u32) -> Result<Self, GpuError> {
        let pairs = work.room("pairs", most as usize)?;
        let count = IndirectCount::unknown(work.gpu);
        Self::of(work, pairs, count)
    }

    fn of(work: &mut Submissions<'_>, pairs: Buffer<Pair>, count: IndirectCount) -> Result<Self, GpuError> {
        Ok(Self {
            masks: work.room("octant masks", pairs.len())?,
            offsets: work.room("child offsets", pairs.len() + 1)?,
            pairs,
            count,
        })
    }

    /// Number of pairs for which there is room.
    pub fn room(&self) -> usize {
        self.pairs.len()
    }

    /// For a descent of its pairs, whose octants are of `child_level`.
    pub fn params(source: &Source<'_>, child_level: u32) -> DescentParams {
        DescentParams { child_level, node_base: source.slot.node_base }
    }

    /// Returns the buffers.
    pub fn give(self, work: &mut Submissions<'_>) {
        work.give(self.pairs);
        work.give(self.masks);
        work.give(self.offsets);
    }
}
