//! Copies octrees from the device to memory.
//!
//! In: their nodes, and the leaves as copied from the device, in the order of the cells. Out: the same octrees on the
//! host, leaves in the order of the nodes.

use rayon::prelude::*;

use super::{
    LeavesReadback, Octrees, PART, PART_BITS,
    native::{NativeLeaves, NativeOctrees},
};
use crate::{
    gpu::{GpuError, Readback, ReadbackView, Submissions},
    svo::{Keys, Node, OnDevice, ResidentLeaves},
};

/// Nodes of the last level that one task takes.
const CHUNK: usize = 1 << 13;

impl NativeOctrees {
    /// The octrees of the device; waits once.
    ///
    /// # Errors
    /// [`GpuError`] if the device fails.
    pub fn read(work: &mut Submissions<'_>, octrees: &Octrees) -> Result<Self, GpuError> {
        let mut rec = work.record("readback");
        let nodes = Readback::copy(&mut rec, &octrees.nodes, 0, octrees.nodes.len());
        work.submit(rec);
        let copies = octrees.leaves.copies().chain([&nodes as &dyn crate::gpu::AnyReadback]);
        work.wait(&copies.collect::<Vec<_>>())?;
        Self::from_readback(nodes.to_vec()?, octrees.level_start.clone(), &octrees.leaves)
    }

    /// Nodes with the final indices of children, except for the last level, whose indices are those of leaves in the
    /// cells' order.
    pub fn from_readback(
        mut nodes: Vec<Node>,
        level_start: Vec<u32>,
        leaves: &LeavesReadback,
    ) -> Result<Self, GpuError> {
        let first = level_start.iter().rev().nth(1).map_or(0, |first| *first as usize);
        let parts = Parts::of(leaves)?;
        let last = nodes.get_mut(first..).unwrap_or_default();
        let on_device = leaves.left.as_ref().map_or_else(OnDevice::default, |left| {
            let (gpu, parts) = &**left;
            let places = last.iter().map(|node| node.child_base).collect();
            OnDevice::resident(ResidentLeaves { gpu: gpu.clone(), parts: parts.clone(), places })
        });
        let leaves = parts.in_order_of(last);
        let mut leaf = 0;
        for node in last {
            node.child_base = leaf;
            leaf += u32::from(node.valid()).count_ones();
        }
        Ok(Self { nodes, level_start, leaves, on_device })
    }
}

/// The leaves as they arrived.
struct Parts {
    place: Vec<ReadbackView<[u32; 2]>>,
    surface: Vec<ReadbackView<[u32; 2]>>,
    cuts: Vec<ReadbackView<u32>>,
}

impl Parts {
    fn of(leaves: &LeavesReadback) -> Result<Self, GpuError> {
        let parts = &leaves.parts;
        Ok(Self {
            place: parts.iter().map(|part| part.place.view()).collect::<Result<_, _>>()?,
            surface: parts.iter().map(|part| part.surface.view()).collect::<Result<_, _>>()?,
            cuts: parts.iter().map(|part| part.cuts.view()).collect::<Result<_, _>>()?,
        })
    }

    fn in_order_of(&self, last: &[Node]) -> NativeLeaves {
        let leaves_of = |nodes: &[Node]| nodes.iter().map(|n| n.valid().count_ones() as usize).sum::<usize>();
        let counts: Vec<usize> = last.par_chunks(CHUNK).map(leaves_of).collect();
        let zeros = || vec![0u32; counts.iter().sum()];
        let mut words = [zeros(), zeros(), zeros(), zeros(), zeros()];
        let mut left = words.each_mut().map(Vec::as_mut_slice);
        let mut tasks = Vec::with_capacity(counts.len());
        for (nodes, count) in last.chunks(CHUNK).zip(&counts) {
            let mut own: [&mut [u32]; 5] = Default::default();
            for (own, left) in own.iter_mut().zip(&mut left) {
                let (head, tail) = std::mem::take(left).split_at_mut(*count);
                (*own, *left) = (head, tail);
            }
            tasks.push((nodes, own));
        }
        let [place, surface] =
            [&self.place, &self.surface].map(|p| p.iter().map(|v| &**v).collect::<Vec<_>>());
        let cuts: Vec<&[u32]> = self.cuts.iter().map(|view| &**view).collect();
        tasks.into_par_iter().for_each(|(nodes, [keys, origins, normals, colors, own_cuts])| {
            let mut out = 0;
            for node in nodes {
                let first = node.child_base as usize;
                for leaf in first..first + node.valid().count_ones() as usize {
                    let (part, at) = (leaf >> PART_BITS, leaf & (PART - 1));
                    [keys[out], origins[out]] = place[part][at];
                    [normals[out], colors[out]] = surface[part][at];
                    own_cuts[out] = cuts[part][at];
                    out += 1;
                }
            }
        });
        let [keys, origins, normals, colors, cuts] = words;
        NativeLeaves { keys: Keys::narrow(keys), origins, normals, colors, cuts }
    }
}
