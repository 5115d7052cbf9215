//! One octree per component, copied out of the cells' octrees by the same expand-and-prune as the descent.
//!
//! In: cells' octrees and their islands. Out: the components' octrees, in the order of the components.

use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Recorder, Submissions, groups_for, primitives::Scan};

use super::{LeafBuffers, Octrees, prune::PrunePass};
use crate::fracture::voronoi::{
    descent::{Layer, Pair},
    islands::Islands,
};

pub(in crate::fracture) struct SplitPass {
    range: Kernel,
    count: Kernel,
    emit: Kernel,
    leaves: Kernel,
}

impl SplitPass {
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            range: Kernel::new(gpu, "fracture/voronoi/octrees/split_range"),
            count: Kernel::new(gpu, "fracture/voronoi/octrees/split_count"),
            emit: Kernel::new(gpu, "fracture/voronoi/octrees/split_emit"),
            leaves: Kernel::new(gpu, "fracture/voronoi/octrees/split_leaves"),
        }
    }

    pub fn run(
        &self,
        gpu: &Gpu,
        scan: &Scan,
        prune: &PrunePass,
        cells: &Octrees,
        islands: &Islands,
        clock: &mut Submissions,
    ) -> Result<Octrees, GpuError> {
        let levels = cells.level_start.len() - 1;
        let ranges: Buffer<[u32; 2]> = Buffer::zeroed(gpu, "label ranges", cells.nodes.len())?;
        let mut rec = Recorder::new(gpu, "split");
        for l in (0..levels).rev() {
            let (first, end) = (cells.level_start[l], cells.level_start[l + 1]);
            let params =
                gpu.uniform(&[first, end - first, l as u32, levels as u32 - 1, islands.last, 0, 0, 0]);
            let bound =
                self.range.bind(gpu, &[&params, cells.nodes.raw(), islands.labels.raw(), ranges.raw()]);
            rec.dispatch(&self.range, &bound, groups_for((end - first) as usize));
        }
        clock.submit(rec);

        let components = Buffer::from_slice(gpu, "components", &islands.components)?;
        let roots: Vec<Pair> = islands
            .components
            .iter()
            .enumerate()
            .map(|(rank, [_, tree])| Pair { source: *tree, object: rank as u32, ..Pair::default() })
            .collect();
        let mut layer = Layer::new(gpu, Buffer::from_slice(gpu, "pairs", &roots)?)?;
        let mut layers = Vec::with_capacity(levels);
        for l in 0..levels {
            let last = l + 1 == levels;
            let params = gpu.uniform(&[layer.len() as u32, u32::from(last), 0, 0]);
            let mut rec = Recorder::new(gpu, "split");
            let bound = self.count.bind(
                gpu,
                &[
                    &params,
                    cells.nodes.raw(),
                    islands.labels.raw(),
                    ranges.raw(),
                    components.raw(),
                    layer.pairs.raw(),
                    layer.masks.raw(),
                    layer.offsets.raw(),
                ],
            );
            rec.dispatch(&self.count, &bound, groups_for(layer.len()));
            scan.run(&mut rec, &layer.offsets)?;
            clock.submit(rec);
            let children = layer.totals(gpu)?[0] as usize;

            let mut rec = Recorder::new(gpu, "split");
            if last {
                let leaves = LeafBuffers::new(gpu, children)?;
                let bound = self.leaves.bind(
                    gpu,
                    &[
                        &params,
                        cells.nodes.raw(),
                        layer.pairs.raw(),
                        layer.masks.raw(),
                        layer.offsets.raw(),
                        cells.leaves.place.raw(),
                        cells.leaves.surface.raw(),
                        cells.leaves.cuts.raw(),
                        leaves.place.raw(),
                        leaves.surface.raw(),
                        leaves.cuts.raw(),
                    ],
                );
                rec.dispatch(&self.leaves, &bound, groups_for(layer.len()));
                clock.submit(rec);
                layers.push(layer);
                let (octrees, _) = prune.run(gpu, scan, &layers, leaves, clock)?;
                return Ok(octrees);
            }
            let next = Buffer::zeroed(gpu, "pairs", children)?;
            let bound = self.emit.bind(
                gpu,
                &[
                    &params,
                    cells.nodes.raw(),
                    layer.pairs.raw(),
                    layer.masks.raw(),
                    layer.offsets.raw(),
                    next.raw(),
                ],
            );
            rec.dispatch(&self.emit, &bound, groups_for(layer.len()));
            clock.submit(rec);
            layers.push(std::mem::replace(&mut layer, Layer::new(gpu, next)?));
        }
        Err(GpuError::Driver("an octree without levels cannot be split".into()))
    }
}
