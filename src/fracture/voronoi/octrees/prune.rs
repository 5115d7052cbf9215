//! Pairs of all levels to octrees (2016, sec. 4.6: the octrees of all pieces at once): pairs below which nothing
//! was found, or nothing but inside, are dropped bottom-up; the rest are the nodes, already in order.
//!
//! In: layers. Out: octrees, breadth-first and tree-major.

use super::{LeafBuffers, Octrees};
use crate::{
    fracture::voronoi::descent::Layer,
    gpu::{Buffer, GpuError, Submissions, bind, kernels, read_all, shared},
    svo::Node,
};

kernels! {
    pub(in crate::fracture) struct PrunePass {
        keep: "fracture/voronoi/octrees/prune_keep",
        write: "fracture/voronoi/octrees/prune_write",
    }
}

shared! {
    pub(in crate::fracture) struct PruneKeepParams { pairs: u32, last: u32, root: u32 }

    pub(in crate::fracture) struct PruneWriteParams { pairs: u32, last: u32, node_base: u32, child_base: u32 }
}

impl PrunePass {
    /// The second result is the scanned survivors of level 0: element i + 1 differs from element i where pair i of
    /// the first layer survived.
    pub fn run(
        &self,
        work: &mut Submissions<'_>,
        layers: &[Layer],
        leaves: LeafBuffers,
    ) -> Result<(Octrees, Vec<[u32; 2]>), GpuError> {
        // Bottom level first; reversed below.
        let gpu = work.gpu;
        let mut keeps: Vec<Buffer<[u32; 2]>> = Vec::with_capacity(layers.len());
        let mut rec = work.record("octrees");
        let none = Buffer::<[u32; 2]>::zeroed(gpu, "nothing below", 1)?;
        let nothing = Buffer::<u32>::zeroed(gpu, "no masks below", 1)?;
        for (l, layer) in layers.iter().enumerate().rev() {
            let Layer { offsets, masks, .. } = layer;
            let keep = Buffer::zeroed(gpu, "survivors", layer.len() + 1)?;
            let kept_below = keeps.last().unwrap_or(&none);
            let masks_below = layers.get(l + 1).map_or(&nothing, |below| &below.masks);
            let last = u32::from(l + 1 == layers.len());
            let params = PruneKeepParams { pairs: layer.len() as u32, last, root: u32::from(l == 0) };
            let given = bind![offsets, kept_below, masks_below, masks, keep];
            rec.run(&self.keep, layer.len(), &params, given)?;
            work.scan.run(&mut rec, &keep)?;
            keeps.push(keep);
        }
        keeps.reverse();
        work.submit(rec);

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
        let out_nodes: Buffer<Node> = Buffer::zeroed(gpu, "piece nodes", count)?;
        let out_info = Buffer::zeroed(gpu, "node places", count)?;
        let mut rec = work.record("octrees");
        for (l, layer) in layers.iter().enumerate() {
            let Layer { pairs, masks, offsets } = layer;
            let (node_base, child_base) = (level_start[l], level_start[l + 1]);
            let last = u32::from(l + 1 == layers.len());
            let params = PruneWriteParams { pairs: layer.len() as u32, last, node_base, child_base };
            let (keep, kept_roots, kept_below) = (&keeps[l], &keeps[0], keeps.get(l + 1).unwrap_or(&none));
            let given = bind![pairs, masks, offsets, keep, kept_below, kept_roots, out_nodes, out_info];
            rec.run(&self.write, layer.len(), &params, given)?;
        }
        work.submit(rec);
        Ok((Octrees { nodes: out_nodes, info: out_info, level_start, leaves }, roots))
    }
}
