//! One octree per component, copied out of the cells' octrees by the same expand-and-prune as the descent.
//!
//! In: cells' octrees and their islands. Out: the components' octrees, in the order of the components.

use super::{LeafBuffers, Octrees, prune::PrunePass};
use crate::{
    fracture::voronoi::{
        descent::{Layer, Pair},
        islands::Islands,
    },
    gpu::{Buffer, GpuError, Submissions, bind, kernels, shared},
};

kernels! {
    pub(in crate::fracture) struct SplitPass {
        range: "fracture/voronoi/octrees/split_range",
        count: "fracture/voronoi/octrees/split_count",
        emit: "fracture/voronoi/octrees/split_emit",
        leaves: "fracture/voronoi/octrees/split_leaves",
    }
}

shared! {
    pub(in crate::fracture) struct SplitRangeParams { first: u32, count: u32, level: u32, last: u32, island_last: u32 }

    pub(in crate::fracture) struct SplitParams { pairs: u32, last: u32 }
}

impl SplitPass {
    pub fn run(
        &self,
        work: &mut Submissions<'_>,
        prune: &PrunePass,
        cells: &Octrees,
        islands: &Islands,
    ) -> Result<Octrees, GpuError> {
        let (gpu, nodes, labels) = (work.gpu, &cells.nodes, &islands.labels);
        let levels = cells.level_start.len() - 1;
        let ranges: Buffer<[u32; 2]> = Buffer::zeroed(gpu, "label ranges", nodes.len())?;
        let mut rec = work.record("split");
        for l in (0..levels).rev() {
            let [first, count] = cells.level(l);
            let (level, last, island_last) = (l as u32, levels as u32 - 1, islands.last);
            let params = SplitRangeParams { first, count, level, last, island_last };
            rec.run(&self.range, count as usize, &params, bind![nodes, labels, ranges])?;
        }
        work.submit(rec);

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
            let Layer { pairs, masks, offsets } = &layer;
            let last = l + 1 == levels;
            let params = SplitParams { pairs: pairs.len() as u32, last: u32::from(last) };
            let mut rec = work.record("split");
            let given = bind![nodes, labels, ranges, components, pairs, masks, counts: offsets];
            rec.run(&self.count, pairs.len(), &params, given)?;
            work.scan.run(&mut rec, offsets)?;
            work.submit(rec);
            let children = layer.totals(gpu)?[0] as usize;

            let mut rec = work.record("split");
            if last {
                let leaves = LeafBuffers::new(gpu, children)?;
                let LeafBuffers { place, surface, cuts } = &cells.leaves;
                let given = bind![
                    nodes, pairs, masks, offsets, place, surface, cuts,
                    out_place: leaves.place, out_surface: leaves.surface, out_cuts: leaves.cuts,
                ];
                rec.run(&self.leaves, pairs.len(), &params, given)?;
                work.submit(rec);
                layers.push(layer);
                return Ok(prune.run(work, &layers, leaves)?.0);
            }
            let next_pairs = Buffer::zeroed(gpu, "pairs", children)?;
            rec.run(&self.emit, pairs.len(), &params, bind![nodes, pairs, masks, offsets, next_pairs])?;
            work.submit(rec);
            layers.push(std::mem::replace(&mut layer, Layer::new(gpu, next_pairs)?));
        }
        Err(GpuError::Driver("an octree without levels cannot be split".into()))
    }
}
