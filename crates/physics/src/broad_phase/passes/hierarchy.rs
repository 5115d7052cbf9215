//! The bounding volume hierarchy over Morton codes in compute passes (Karras 2012): codes, sort, inner nodes, boxes.
//!
//! In: a buffer of boxes on the lattice of the scene, with any other data (`lattice.wgsl`). Out: a [`Hierarchy`], which
//! every leaf traverses (`walk.wgsl`). Both sorts are stable: equal keys stay in the order of their boxes.

use crate::gpu::{
    Buffer, Gpu, GpuError, IndirectCount, Kernel, Recorder, bind, kernels,
    primitives::{RadixSort, Scan},
    shared,
};
use bytemuck::Pod;

/// Keys of one block of the bitonic sort.
const BLOCK: usize = 512;
/// Words of a box.
const BOX_WORDS: usize = 6;
/// Bits of a Morton code.
const CODE_BITS: u32 = 30;
/// From this number of boxes on keys are sorted by digits; up to there the bitonic sort takes less time, as it is fewer
/// dispatches (docs/lab/hull-contacts.md).
const RADIX_FROM: usize = 4097;

shared! {
    /// Parameters of the passes (`params.wgsl`).
    #[derive(Debug, Default)]
    pub struct HierarchyParams {
        /// Boxes.
        boxes: u32,
        /// Words of one.
        words: u32,
        /// Keys that are written.
        keys: u32,
        /// Size of the sequences that a dispatch of the bitonic sort merges.
        size: u32,
        /// See `size`.
        last: u32,
        /// See `size`.
        stride: u32,
    }
}

kernels! {
    struct Kernels {
        codes: "bodies/broad_phase/passes/codes",
        sort_block: "bodies/broad_phase/passes/sort_block",
        sort_step: "bodies/broad_phase/passes/sort_step",
        tree: "bodies/broad_phase/passes/tree",
        boxes: "bodies/broad_phase/passes/boxes",
    }
}

/// The compiled passes.
pub struct HierarchyPasses {
    kernels: Kernels,
    radix: RadixSort,
    /// Boxes from which on keys are sorted by digits.
    pub(super) radix_from: usize,
}

/// The hierarchy's buffers.
pub struct Hierarchy {
    /// (code, box), sorted.
    pub keys: Buffer<[u32; 2]>,
    spare: Buffer<[u32; 2]>,
    /// Inner nodes.
    pub branches: Buffer<[u32; 4]>,
    parents: Buffer<u32>,
    /// Boxes of the inner nodes.
    pub bounds: Buffer<u32>,
}

impl Hierarchy {
    /// Allocates buffers for this number of boxes.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn new(gpu: &Gpu, boxes: usize) -> Result<Self, GpuError> {
        Ok(Self {
            keys: Buffer::zeroed(gpu, "Morton codes", padded(boxes))?,
            spare: Buffer::zeroed(gpu, "Morton codes", boxes)?,
            branches: Buffer::zeroed(gpu, "hierarchy", boxes)?,
            parents: Buffer::zeroed(gpu, "hierarchy's parents", 2 * boxes)?,
            bounds: Buffer::zeroed(gpu, "hierarchy's boxes", BOX_WORDS * boxes)?,
        })
    }

    /// Boxes for which there is room.
    #[must_use]
    pub fn room(&self) -> usize {
        self.branches.len()
    }
}

/// Number of keys that a bitonic sort needs for `boxes`.
fn padded(boxes: usize) -> usize {
    boxes.next_power_of_two().max(BLOCK)
}

impl HierarchyPasses {
    /// Compiles the kernels by `kernel`.
    #[must_use]
    pub fn compiled(kernel: &dyn Fn(&'static str) -> Kernel) -> Self {
        Self {
            kernels: Kernels::with_kernels(kernel),
            radix: RadixSort::with_kernels(kernel),
            radix_from: RADIX_FROM,
        }
    }

    /// Records the passes for the `count` first of `boxes`, at least two. Each begins with the words of `lattice.wgsl`.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn record<T: Pod>(
        &self,
        rec: &mut Recorder<'_>,
        scan: &Scan,
        hierarchy: &Hierarchy,
        boxes: &Buffer<T>,
        count: usize,
    ) -> Result<(), GpuError> {
        let Hierarchy { keys, branches, parents, bounds, .. } = hierarchy;
        let params = self.record_keys(rec, scan, hierarchy, boxes, count)?;
        rec.run(&self.kernels.tree, count - 1, &params, bind![keys, branches, parents, bounds])?;
        rec.run(&self.kernels.boxes, count, &params, bind![boxes, keys, parents, bounds])
    }

    /// Codes, and their sort.
    pub(super) fn record_keys<T: Pod>(
        &self,
        rec: &mut Recorder<'_>,
        scan: &Scan,
        hierarchy: &Hierarchy,
        boxes: &Buffer<T>,
        count: usize,
    ) -> Result<HierarchyParams, GpuError> {
        let Hierarchy { keys, spare, .. } = hierarchy;
        let by_digits = count >= self.radix_from;
        let written = if by_digits { count } else { padded(count) };
        let params = HierarchyParams {
            boxes: count as u32,
            words: (size_of::<T>() / 4) as u32,
            keys: written as u32,
            ..HierarchyParams::default()
        };
        rec.run(&self.kernels.codes, written, &params, bind![boxes, keys])?;
        if by_digits {
            let size = IndirectCount::known(rec.gpu(), count);
            self.radix.run(rec, scan, [keys, spare], (&size, count), CODE_BITS)?;
        } else {
            self.record_bitonic(rec, keys, &params)?;
        }
        Ok(params)
    }

    /// The bitonic sort: blocks in a workgroup's memory, and the strides that are longer.
    fn record_bitonic(
        &self,
        rec: &mut Recorder<'_>,
        keys: &Buffer<[u32; 2]>,
        params: &HierarchyParams,
    ) -> Result<(), GpuError> {
        let padded = params.keys as usize;
        let block =
            |size: usize, last: usize| HierarchyParams { size: size as u32, last: last as u32, ..*params };
        rec.run_groups(&self.kernels.sort_block, padded / BLOCK, &block(2, BLOCK), bind![keys])?;
        let mut size = 2 * BLOCK;
        while size <= padded {
            let mut stride = size / 2;
            while stride >= BLOCK {
                let step = HierarchyParams { size: size as u32, stride: stride as u32, ..*params };
                rec.run(&self.kernels.sort_step, padded / 2, &step, bind![keys])?;
                stride /= 2;
            }
            rec.run_groups(&self.kernels.sort_block, padded / BLOCK, &block(size, size), bind![keys])?;
            size *= 2;
        }
        Ok(())
    }
}
