//! Near pairs in compute passes: the counterpart of `tree.rs`, which computes them on the cores.
//!
//! In: oriented boxes, which bodies move, and how fast. Out: the same pairs as `tree.rs` in the same order, after one
//! wait for the device. Boxes along the world's axes are whole numbers of a lattice; the oriented boxes are tested in
//! single precision with some slack. So the passes find all near pairs and a few more, which the host removes by a test
//! in double precision. `hierarchy.rs` is shared with the search for contacts of octrees.

pub mod hierarchy;
pub mod moving_box;
#[cfg(test)]
mod tests;

use super::{Asked, MOST_PAIRS};
use crate::gpu::{
    Buffer, Gpu, GpuError, Kernel, Recorder, bind, kernels, primitives::Scan, read_all, shared,
};
use hierarchy::{Hierarchy, HierarchyPasses};
use moving_box::{MovingBox, MovingBoxes};
#[cfg(test)]
pub(crate) use tests::run_every_kernel;

/// Pairs for which there is room, for each box at first, and beside those of the last step.
const PAIRS_A_BOX: usize = 16;
const MORE_PAIRS: usize = 1024;

shared! {
    /// Parameters of the pass (`pairs.wgsl`).
    #[derive(Debug, Default)]
    pub struct NearParams {
        /// Boxes.
        boxes: u32,
        /// Pairs for which there is room.
        room: u32,
        /// The pass stops counting beyond this number of pairs.
        most: u32,
        /// Largest rounding error of a box's position, m.
        slack: f32,
    }
}

kernels! {
    struct Kernels {
        pairs: "bodies/broad_phase/passes/pairs",
    }
}

/// The compiled passes, and their buffers.
pub struct NearPasses {
    hierarchy: HierarchyPasses,
    kernels: Kernels,
    scan: Scan,
    lists: Option<Lists>,
    /// Pairs that the next step may have.
    expected: usize,
}

/// Buffers that are kept from step to step.
struct Lists {
    boxes: Buffer<MovingBox>,
    hierarchy: Hierarchy,
    near: Buffer<u32>,
    found: Buffer<u32>,
}

impl Lists {
    fn new(gpu: &Gpu, boxes: usize, pairs: usize) -> Result<Self, GpuError> {
        Ok(Self {
            boxes: Buffer::zeroed(gpu, "boxes of bodies", boxes)?,
            hierarchy: Hierarchy::new(gpu, boxes)?,
            near: Buffer::zeroed(gpu, "near pairs", 2 * pairs)?,
            found: Buffer::zeroed(gpu, "count of near pairs", 1)?,
        })
    }

    fn hold(&self, boxes: usize, pairs: usize) -> bool {
        boxes <= self.hierarchy.room() && 2 * pairs <= self.near.len()
    }
}

impl NearPasses {
    /// Compiles the passes.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        Self::compiled(gpu, &|path| Kernel::new(gpu, path))
    }

    /// Compiles the kernels by `kernel`, for tests that plant errors.
    fn compiled(gpu: &Gpu, kernel: &dyn Fn(&'static str) -> Kernel) -> Self {
        Self {
            hierarchy: HierarchyPasses::compiled(kernel),
            kernels: Kernels::with_kernels(kernel),
            scan: Scan::new(gpu),
            lists: None,
            expected: 0,
        }
    }

    /// Like [`Asked::pairs`]. `None` if the buffers are too small: they are enlarged for the next step, and this step
    /// uses the cores, to avoid a second wait for the device.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn pairs(&mut self, gpu: &Gpu, asked: &Asked<'_>) -> Result<Option<Vec<(u32, u32)>>, GpuError> {
        let Some(candidates) = self.candidates(gpu, asked)? else { return Ok(None) };
        let mut found: Vec<(u32, u32)> = candidates.into_iter().filter(|pair| asked.meet(*pair)).collect();
        found.sort_unstable();
        Ok(Some(found))
    }

    /// The pairs that the passes find, unsorted, the smaller index first.
    fn candidates(&mut self, gpu: &Gpu, asked: &Asked<'_>) -> Result<Option<Vec<(u32, u32)>>, GpuError> {
        let boxes = MovingBoxes::new(asked);
        let count = boxes.items.len();
        if count < 2 {
            return Ok(Some(Vec::new()));
        }
        let room = self.expected.max(PAIRS_A_BOX * count).min(MOST_PAIRS);
        let lists = match self.lists.take().filter(|lists| lists.hold(count, room)) {
            Some(lists) => lists,
            None => Lists::new(gpu, count + count / 2, (room + room / 2).min(MOST_PAIRS))?,
        };
        let Lists { boxes: items, hierarchy, near, found } = &*self.lists.insert(lists);
        items.write(gpu, 0, &boxes.items);
        found.write(gpu, 0, &[0]);
        let params = NearParams {
            boxes: count as u32,
            room: room as u32,
            most: MOST_PAIRS as u32,
            slack: boxes.slack,
        };
        let mut rec = Recorder::with_room(gpu, "near pairs", 0);
        rec.stage("broad phase");
        self.hierarchy.record(&mut rec, &self.scan, hierarchy, items, count)?;
        let Hierarchy { keys, branches, bounds, .. } = hierarchy;
        rec.run(
            &self.kernels.pairs,
            count,
            &params,
            bind![boxes: items, keys, branches, bounds, near, found],
        )?;
        rec.submit();
        let read = read_all(gpu, &[(found, 0, 1), (near, 0, 2 * room)])?;
        let [found, near] = &read[..] else { return Ok(None) };
        let found = found[0] as usize;
        self.expected = found + found / 2 + MORE_PAIRS;
        if found > room {
            return Ok(None);
        }
        let body = |item: u32| boxes.bodies[item as usize] as u32;
        Ok(Some(near[..2 * found].chunks_exact(2).map(|pair| (body(pair[0]), body(pair[1]))).collect()))
    }
}

/// Types that the kernels share with Rust.
#[cfg(test)]
pub(crate) fn layouts() -> Vec<crate::gpu::Layout> {
    use crate::gpu::Shared;
    vec![hierarchy::HierarchyParams::LAYOUT, NearParams::LAYOUT, MovingBox::LAYOUT]
}
