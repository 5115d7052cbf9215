//! Leaves that a fracture in passes left on the device: the arena copies them there instead of uploading them.
//!
//! In: the leaves in parts, in the order in which they were written, and for each node above them the position of its
//! first leaf. Out: words of the arena's buffers, in the order of the nodes.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

use super::{ArenaBuffers, Forest, Slot};
use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Recorder, bind, shared};

shared! {
    pub(crate) struct TakeLeavesParams { first_node: u32, nodes: u32, leaf_base: u32, first: u32, end: u32 }
}

/// Path of the kernel.
pub(super) const TAKE: &str = "svo/take_leaves";

/// Some leaves in the order in which they were written.
#[derive(Clone)]
pub struct ResidentPart {
    /// (normal, colour word).
    pub surface: Buffer<[u32; 2]>,
    /// Second planes.
    pub cuts: Buffer<u32>,
    /// Number of leaves; the buffers may be longer.
    pub count: u32,
}

/// All leaves of a forest.
pub struct ResidentLeaves {
    /// The device that holds them.
    pub gpu: Gpu,
    /// Parts in the order in which they were written.
    pub parts: Vec<ResidentPart>,
    /// Position of the first leaf of each node of the last level.
    pub places: Vec<u32>,
}

impl ResidentLeaves {
    /// Whether their numbers match a forest.
    pub(super) fn is_of(&self, forest: &Forest) -> bool {
        let last = forest.level_start.iter().rev().nth(1).map_or(0, |first| *first as usize);
        let count: usize = self.parts.iter().map(|part| part.count as usize).sum();
        self.places.len() == forest.nodes.len() - last && count == forest.leaves.len()
    }

    /// Copies them to their slot in the arena, which already has the forest's nodes. On error nothing is written.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`], and earlier errors of the device.
    pub(super) fn put(
        &self,
        kernel: &Kernel,
        buffers: &ArenaBuffers,
        (forest, slot): (&Forest, &Slot),
    ) -> Result<(), GpuError> {
        let ArenaBuffers { nodes, normals, colors, cuts } = buffers;
        let places = Buffer::from_slice(&self.gpu, "places of leaves", &self.places)?;
        let first_node = slot.node_base + forest.level_start[forest.level as usize - 1];
        let (count, leaf_base) = (self.places.len() as u32, slot.leaf_base);
        let mut rec = Recorder::new(&self.gpu, "pieces to the arena");
        let mut first = 0;
        for part in &self.parts {
            let end = first + part.count;
            let params = TakeLeavesParams { first_node, nodes: count, leaf_base, first, end };
            let given = bind![
                nodes, places, surface: part.surface, cuts: part.cuts, out_normals: normals, out_colors: colors,
                out_cuts: cuts,
            ];
            rec.run(kernel, self.places.len(), &params, given)?;
            first = end;
        }
        // Nothing waits for these passes, so errors while they were recorded are reported here.
        self.gpu.check()?;
        rec.submit();
        Ok(())
    }
}

/// Leaves that the passes left on the device, until an arena takes them. They contain no information besides the
/// forest's, so comparisons ignore them; a copy of the forest, which may be changed, has none.
#[derive(Default)]
pub struct OnDevice(Mutex<Option<Box<ResidentLeaves>>>);

impl OnDevice {
    /// Leaves to be taken once.
    #[must_use]
    pub fn resident(leaves: ResidentLeaves) -> Self {
        Self(Mutex::new(Some(Box::new(leaves))))
    }

    /// Takes the leaves if they are on this device; others are dropped.
    pub(super) fn take(&self, gpu: &Gpu) -> Option<Box<ResidentLeaves>> {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        left.filter(|left| left.gpu.is_same(gpu))
    }
}

impl Clone for OnDevice {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for OnDevice {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for OnDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnDevice")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        fracture::ball,
        gpu::shaders,
        svo::{Arena, LeafColor},
    };

    /// A ball that follows something else in the arena, its leaves written node by node in reverse order, in parts that
    /// end within nodes.
    fn shuffled(gpu: &Gpu) -> Arc<Forest> {
        let mut forest = ball(5);
        let count = forest.leaves.len();
        forest.leaves.cuts = (0..count as u32).map(|i| i << 8 | 7).collect();
        forest.leaves.colors = (0..count as u32).map(LeafColor).collect();
        let last = &forest.nodes[forest.level_start[4] as usize..];
        let (mut places, mut order) = (vec![0; last.len()], Vec::new());
        for (i, node) in last.iter().enumerate().rev() {
            places[i] = order.len() as u32;
            order.extend(node.child_base..node.child_base + node.valid().count_ones());
        }
        assert_eq!(order.len(), count);
        let part = |order: &[u32]| {
            let of =
                |leaf: &u32| [forest.leaves.normals[*leaf as usize], forest.leaves.colors[*leaf as usize].0];
            let surface: Vec<[u32; 2]> = order.iter().map(of).collect();
            let cuts: Vec<u32> = order.iter().map(|leaf| forest.leaves.cuts[*leaf as usize]).collect();
            ResidentPart {
                surface: Buffer::from_slice(gpu, "surface", &surface).unwrap(),
                cuts: Buffer::from_slice(gpu, "cuts", &cuts).unwrap(),
                count: order.len() as u32,
            }
        };
        let parts = order.chunks(333).map(part).collect();
        forest.on_device = OnDevice::resident(ResidentLeaves { gpu: gpu.clone(), parts, places });
        Arc::new(forest)
    }

    /// Number of words of the forest that differ in the arena.
    fn wrong(gpu: &Gpu, arena: &Arena, forest: &Arc<Forest>) -> usize {
        let (slot, buffers) = (arena.slot(forest).unwrap(), arena.buffers().unwrap());
        let there = [&buffers.normals, &buffers.colors, &buffers.cuts]
            .map(|of| of.read_range(gpu, slot.leaf_base as usize, slot.leaves as usize).unwrap());
        let colors: Vec<u32> = forest.leaves.colors.iter().map(|color| color.0).collect();
        let wanted = [&forest.leaves.normals, &colors, &forest.leaves.cuts];
        let pairs = there.iter().zip(wanted).flat_map(|(there, wanted)| there.iter().zip(wanted));
        pairs.filter(|(there, wanted)| there != wanted).count()
    }

    #[test]
    fn leaves_come_from_the_device_in_the_order_of_the_nodes() {
        let Some(gpu) = Gpu::for_test() else { return };
        let before = Arc::new(ball(4));
        let text = || shaders::source(TAKE);
        let taken = |text: String| {
            let mut arena = Arena::new(&gpu).unwrap();
            arena.plant(Kernel::from_text(&gpu, TAKE, text));
            let forest = shuffled(&gpu);
            arena.insert(&before).unwrap();
            arena.insert(&forest).unwrap();
            assert!(forest.on_device.take(&gpu).is_none(), "it is taken once");
            wrong(&gpu, &arena, &before) + wrong(&gpu, &arena, &forest)
        };
        assert_eq!(taken(text()), 0);
        for (from, to) in [
            ("places[i]", "places[0]"),
            ("leaf - params.first]", "leaf]"),
            ("leaf < params.end", "leaf + 1u < params.end"),
            ("params.leaf_base + node.child_base", "node.child_base"),
            ("params.first_node + i", "i"),
            ("words.y", "words.x"),
        ] {
            assert!(text().contains(from), "{from}");
            assert!(taken(text().replace(from, to)) > 0, "`{to}` for `{from}` goes unnoticed");
        }
    }

    #[test]
    fn a_copy_has_nothing_on_the_device() {
        let Some(gpu) = Gpu::for_test() else { return };
        let forest = shuffled(&gpu);
        let mut changed = Forest::clone(&forest);
        changed.leaves.cuts.fill(0);
        let changed = Arc::new(changed);
        let mut arena = Arena::new(&gpu).unwrap();
        arena.insert(&changed).unwrap();
        assert_eq!(wrong(&gpu, &arena, &changed), 0);
    }
}
