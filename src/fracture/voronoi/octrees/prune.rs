//! Pairs of all levels to octrees (2016, sec. 4.6: the octrees of all pieces at once): pairs below which nothing was found, or
//! nothing but inside, are dropped bottom-up; the rest are the nodes, already in order.
//!
//! In: layers. Out: octrees, breadth-first and tree-major.

use crate::{
    gpu::{Buffer, Gpu, GpuError, Kernel, Recorder, Submissions, groups_for, primitives::Scan, read_all},
    svo::Node,
};

use super::{LeafBuffers, Octrees};
use crate::fracture::voronoi::descent::Layer;

pub(in crate::fracture) struct PrunePass {
    keep: Kernel,
    write: Kernel,
}

impl PrunePass {
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            keep: Kernel::new(gpu, "fracture/voronoi/octrees/prune_keep"),
            write: Kernel::new(gpu, "fracture/voronoi/octrees/prune_write"),
        }
    }

    /// The second result is the scanned survivors of level 0: element i + 1 differs from element i where pair i of the first layer
    /// survived.
    pub fn run(
        &self,
        gpu: &Gpu,
        scan: &Scan,
        layers: &[Layer],
        leaves: LeafBuffers,
        clock: &mut Submissions,
    ) -> Result<(Octrees, Vec<[u32; 2]>), GpuError> {
        // Bottom level first; reversed below.
        let mut keeps: Vec<Buffer<[u32; 2]>> = Vec::with_capacity(layers.len());
        let mut rec = Recorder::new(gpu, "octrees");
        let none = Buffer::<[u32; 2]>::zeroed(gpu, "nothing below", 1)?;
        let nothing = Buffer::<u32>::zeroed(gpu, "no masks below", 1)?;
        for (i, layer) in layers.iter().rev().enumerate() {
            let keep = Buffer::zeroed(gpu, "survivors", layer.len() + 1)?;
            let params =
                gpu.uniform(&[layer.len() as u32, u32::from(i == 0), u32::from(i + 1 == layers.len()), 0]);
            let below = keeps.last().unwrap_or(&none);
            let masks_below = if i == 0 { &nothing } else { &layers[layers.len() - i].masks };
            let bound = self.keep.bind(
                gpu,
                &[
                    &params,
                    layer.offsets.raw(),
                    below.raw(),
                    masks_below.raw(),
                    layer.masks.raw(),
                    keep.raw(),
                ],
            );
            rec.dispatch(&self.keep, &bound, groups_for(layer.len()));
            scan.run(&mut rec, &keep)?;
            keeps.push(keep);
        }
        keeps.reverse();
        clock.submit(rec);

        // The survivors of level 0 in full, of the others the total.
        let ranges: Vec<_> = keeps
            .iter()
            .enumerate()
            .map(|(l, keep)| if l == 0 { (keep, 0, keep.len()) } else { (keep, keep.len() - 1, 1) })
            .collect();
        let mut kept = read_all(gpu, &ranges)?;
        let mut level_start = vec![0u32];
        for survivors in &kept {
            let total = survivors.last().map_or(0, |scanned| scanned[0]);
            level_start.push(level_start[level_start.len() - 1] + total);
        }
        let roots = kept.swap_remove(0);
        let count = level_start[layers.len()] as usize;
        let nodes: Buffer<Node> = Buffer::zeroed(gpu, "piece nodes", count)?;
        let info = Buffer::zeroed(gpu, "node places", count)?;
        let mut rec = Recorder::new(gpu, "octrees");
        for (l, layer) in layers.iter().enumerate() {
            let last = l + 1 == layers.len();
            let params =
                gpu.uniform(&[layer.len() as u32, u32::from(last), level_start[l], level_start[l + 1]]);
            let below = if last { &none } else { &keeps[l + 1] };
            let bound = self.write.bind(
                gpu,
                &[
                    &params,
                    layer.pairs.raw(),
                    layer.masks.raw(),
                    layer.offsets.raw(),
                    keeps[l].raw(),
                    below.raw(),
                    keeps[0].raw(),
                    nodes.raw(),
                    info.raw(),
                ],
            );
            rec.dispatch(&self.write, &bound, groups_for(layer.len()));
        }
        clock.submit(rec);
        Ok((Octrees { nodes, info, level_start, leaves }, roots))
    }
}
