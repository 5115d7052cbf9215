//! One octree per component, copied out of the cells' octrees by the same expand-and-prune as the descent.
//!
//! In: cells' octrees and their islands. Out: the components' octrees, in the order of the components, on the host.

use super::{
    LeavesReadback, Octrees,
    native::NativeOctrees,
    prune::{Numbering, PrunePass},
};
use crate::{
    fracture::voronoi::{
        descent::{Capacities, Layer, Needs, Pair, Report},
        islands::Islands,
    },
    gpu::{AnyReadback, Buffer, GpuError, Readback, Submissions, bind, kernels, shared},
    svo::Node,
};

kernels! {
    pub(in crate::fracture) struct SplitPass {
        range: "fracture/voronoi/octrees/split_range",
        count: "fracture/voronoi/octrees/split_count",
        emit: "fracture/voronoi/octrees/split_emit",
    }
}

shared! {
    pub(in crate::fracture) struct SplitRangeParams { first: u32, count: u32, level: u32, last: u32, island_last: u32 }

    pub(in crate::fracture) struct SplitParams { last: u32 }
}

/// Octrees of which islands are known.
pub(in crate::fracture) struct Labelled {
    pub nodes: Buffer<Node>,
    pub level_start: Vec<u32>,
    pub leaves: LeavesReadback,
}

impl Labelled {
    /// The parents of octrees; the second result is not needed any more.
    pub fn of(octrees: Octrees) -> (Self, Buffer<[u32; 2]>) {
        let Octrees { nodes, info, level_start, leaves } = octrees;
        (Self { nodes, level_start, leaves }, info)
    }
}

impl SplitPass {
    /// Splits in the given or estimated rooms. Waits once, and once more whenever the room for nodes of several
    /// components was too small.
    pub fn run(
        &self,
        work: &mut Submissions<'_>,
        prune: &PrunePass,
        cells: &Labelled,
        islands: &Islands,
        capacities: Option<Capacities>,
    ) -> Result<NativeOctrees, GpuError> {
        let levels = cells.level_start.len() - 1;
        let estimated = || Capacities::of_parts(&cells.level_start, islands.components.len());
        let mut capacities = capacities.unwrap_or_else(estimated).within(work.gpu);
        loop {
            let (layers, needs) = self.copy(work, cells, islands, &capacities)?;
            prune.keep(work, &layers, &needs)?;
            // Each level has its own stretch of memory: how many nodes stay is not known here.
            let mut stretch = vec![0u32];
            for layer in &layers {
                stretch.push(stretch[stretch.len() - 1].saturating_add(layer.room() as u32));
            }
            let numbering =
                Numbering { node_base: &stretch, children_from_start: false, moved: true, with_info: false };
            let (nodes, _) = prune.write(work, &layers, &numbering)?;
            let mut rec = work.record("split");
            let report = needs.staged(&mut rec);
            let copied = Readback::copy(&mut rec, &nodes, 0, nodes.len());
            work.submit(rec);
            layers.into_iter().for_each(|layer| layer.give(work));
            work.give(nodes);
            let copies = cells.leaves.copies().chain([&report as &dyn AnyReadback, &copied]);
            work.wait(&copies.collect::<Vec<_>>())?;
            let report = Report::of(&report)?;
            if capacities.held(work.gpu, report.levels())? {
                let level_start = report.level_start();
                let stretches = &copied.view()?;
                let mut nodes: Vec<Node> = Vec::with_capacity(level_start[levels] as usize);
                for l in 0..levels {
                    let count = level_start[l + 1] - level_start[l];
                    let own = stretches.get(stretch[l] as usize..(stretch[l] + count) as usize);
                    let children = if l + 1 < levels { level_start[l + 1] } else { 0 };
                    let numbered = |n: &Node| Node { child_base: n.child_base + children, ..*n };
                    nodes.extend(own.unwrap_or_default().iter().map(numbered));
                }
                return NativeOctrees::from_readback(nodes, level_start, &cells.leaves);
            }
        }
    }

    /// The pairs of all levels, and what they needed.
    fn copy(
        &self,
        work: &mut Submissions<'_>,
        cells: &Labelled,
        islands: &Islands,
        capacities: &Capacities,
    ) -> Result<(Vec<Layer>, Needs), GpuError> {
        let (nodes, labels) = (&cells.nodes, &islands.labels);
        let levels = cells.level_start.len() - 1;
        let ranges: Buffer<[u32; 2]> = work.room("label ranges", nodes.len())?;
        let mut rec = work.record("split");
        for l in (0..levels).rev() {
            let (first, count) = (cells.level_start[l], cells.level_start[l + 1] - cells.level_start[l]);
            let (level, last, island_last) = (l as u32, levels as u32 - 1, islands.last);
            let params = SplitRangeParams { first, count, level, last, island_last };
            rec.run(&self.range, count as usize, &params, bind![nodes, labels, ranges])?;
        }
        let needs = Needs::new(work, levels)?;
        let components = Buffer::from_slice(work.gpu, "components", &islands.components)?;
        let roots: Vec<Pair> = islands
            .components
            .iter()
            .enumerate()
            .map(|(rank, [_, tree])| Pair { source: *tree, object: rank as u32, ..Pair::default() })
            .collect();
        let mut layers: Vec<Layer> = Vec::with_capacity(levels);
        layers.push(Layer::roots(work, &roots)?);
        for l in 0..levels {
            let Layer { pairs, masks, offsets, count } = &layers[l];
            let params = SplitParams { last: u32::from(l + 1 == levels) };
            let given = bind![
                size: count, nodes, labels, ranges, components, pairs, masks, counts: offsets
            ];
            rec.run_counted(&self.count, count, &params, given)?;
            if l + 1 == levels {
                break;
            }
            work.scan.run(&mut rec, offsets, count)?;
            let room = capacities.pairs[l + 1];
            let next = Layer::new(work, room)?;
            let report = (&needs.words, l + 1);
            work.plan.run(&mut rec, (offsets, count), (&next.count, [room, u32::MAX]), report)?;
            let params = SplitParams { last: u32::from(l + 2 == levels) };
            let given = bind![size: count, nodes, pairs, masks, offsets, next_pairs: next.pairs];
            rec.run_counted(&self.emit, count, &params, given)?;
            layers.push(next);
        }
        work.submit(rec);
        work.give(ranges);
        Ok((layers, needs))
    }
}
