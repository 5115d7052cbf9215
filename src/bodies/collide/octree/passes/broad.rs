//! The broad phase in compute passes: a bounding volume hierarchy over Morton codes (Karras 2012), and every
//! leaf's way down through it.
//!
//! In: solids. Out: near pairs, in no order, and how fast the fastest of them is. Boxes are whole numbers of a
//! lattice; as they are turned, they are told apart in single precision with some slack. So what comes out is
//! all that is near, and a few pairs more at the edge of it, which the host sorts out.

use super::shared::{ContactParams, Solid};
use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Recorder, bind, kernels};

/// Keys of one block of the sort.
const BLOCK: usize = 512;
/// Words of a box.
const BOX_WORDS: usize = 6;

kernels! {
    /// The compiled passes.
    pub struct BroadPasses {
        codes: "bodies/collide/octree/passes/codes",
        sort_block: "bodies/collide/octree/passes/sort_block",
        sort_step: "bodies/collide/octree/passes/sort_step",
        tree: "bodies/collide/octree/passes/tree",
        boxes: "bodies/collide/octree/passes/boxes",
        pairs: "bodies/collide/octree/passes/pairs",
    }
}

/// The hierarchy's buffers.
pub struct Hierarchy {
    keys: Buffer<[u32; 2]>,
    branches: Buffer<[u32; 4]>,
    parents: Buffer<u32>,
    bounds: Buffer<u32>,
}

impl Hierarchy {
    /// Room for so many solids.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn new(gpu: &Gpu, solids: usize) -> Result<Self, GpuError> {
        Ok(Self {
            keys: Buffer::zeroed(gpu, "Morton codes", padded(solids))?,
            branches: Buffer::zeroed(gpu, "hierarchy", solids)?,
            parents: Buffer::zeroed(gpu, "hierarchy's parents", 2 * solids)?,
            bounds: Buffer::zeroed(gpu, "hierarchy's boxes", BOX_WORDS * solids)?,
        })
    }

    /// Solids for which there is room.
    #[must_use]
    pub fn room(&self) -> usize {
        self.branches.len()
    }
}

/// Keys that are sorted for so many solids.
#[must_use]
pub fn padded(solids: usize) -> usize {
    solids.next_power_of_two().max(BLOCK)
}

impl BroadPasses {
    /// With a way of compiling kernels.
    #[must_use]
    pub fn compiled(kernel: &dyn Fn(&'static str) -> Kernel) -> Self {
        Self::with_kernels(kernel)
    }

    /// Records the passes for the `params.solids` first of `solids`.
    ///
    /// # Errors
    /// [`GpuError::Binding`].
    pub fn record(
        &self,
        rec: &mut Recorder<'_>,
        hierarchy: &Hierarchy,
        params: &ContactParams,
        [tables, counters]: [&Buffer<u32>; 2],
        solids: &Buffer<Solid>,
        near: &Buffer<u32>,
    ) -> Result<(), GpuError> {
        let Hierarchy { keys, branches, parents, bounds } = hierarchy;
        let (count, padded) = (params.solids as usize, params.padded as usize);
        if count < 2 {
            return Ok(());
        }
        rec.run(&self.codes, padded, params, bind![solids, keys])?;
        let block =
            |size: usize, last: usize| ContactParams { size: size as u32, last: last as u32, ..*params };
        rec.run_groups(&self.sort_block, padded / BLOCK, &block(2, BLOCK), bind![keys])?;
        let mut size = 2 * BLOCK;
        while size <= padded {
            let mut stride = size / 2;
            while stride >= BLOCK {
                let step = ContactParams { size: size as u32, stride: stride as u32, ..*params };
                rec.run(&self.sort_step, padded / 2, &step, bind![keys])?;
                stride /= 2;
            }
            rec.run_groups(&self.sort_block, padded / BLOCK, &block(size, size), bind![keys])?;
            size *= 2;
        }
        rec.run(&self.tree, count - 1, params, bind![keys, branches, parents, bounds])?;
        rec.run(&self.boxes, count, params, bind![solids, keys, parents, bounds])?;
        let given = bind![solids, keys, branches, bounds, tables, near, counters];
        rec.run(&self.pairs, count, params, given)
    }
}

#[cfg(test)]
mod tests;
