//! The descent (2016, sec. 4.1, 4.3, 4.4): every Voronoi cell walks the source octree and keeps the nodes it may own a point of.
//!
//! In: one source octree and the seeds. Out: the pairs of every parent level and the fracture boundary set, both cell-major and in
//! Morton order inside a cell. The order follows from stable expansion, so neither of the paper's sorts is needed.

use crate::{
    gpu::{Buffer, Gpu, GpuError, Kernel, Recorder, groups_for, primitives::Scan},
    svo::Slot,
};

use super::{
    Pattern,
    layers::{Clock, Layer, LeafBuffers, Pair},
    pieces::Source,
    rivals,
};

pub(super) struct TraversePass {
    count: Kernel,
    emit: Kernel,
    leaves_count: Kernel,
    leaves_emit: Kernel,
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    pairs: u32,
    child_level: u32,
    node_base: u32,
    leaf_base: u32,
    interior: u32,
    pad: [u32; 3],
}

impl TraversePass {
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            count: Kernel::new(gpu, "fracture/traverse_count"),
            emit: Kernel::new(gpu, "fracture/traverse_emit"),
            leaves_count: Kernel::new(gpu, "fracture/leaves_count"),
            leaves_emit: Kernel::new(gpu, "fracture/leaves_emit"),
        }
    }

    /// Walks from the root to the leaves. `interior` is the colour word of the material inside.
    pub fn run(
        &self,
        gpu: &Gpu,
        scan: &Scan,
        source: &Source<'_>,
        pattern: &Pattern,
        interior: u32,
        clock: &mut Clock,
    ) -> Result<(Vec<Layer>, LeafBuffers), GpuError> {
        let level = source.forest.level;
        let Slot { node_base, leaf_base, .. } = source.slot;
        let words: Vec<[i32; 4]> = pattern.seeds.iter().map(|s| [s[0], s[1], s[2], 0]).collect();
        let seeds = Buffer::from_slice(gpu, "seeds", &words)?;
        let first_rivals = rivals::at_root(pattern, level);
        let mut rivals = Buffer::from_slice(gpu, "rivals", &first_rivals.list)?;
        let roots: Vec<Pair> = (0..)
            .zip(first_rivals.ranges)
            .map(|(cell, (rival_first, rival_count))| Pair {
                source: source.tree,
                cell,
                key: 0,
                rival_first,
                rival_count,
            })
            .collect();
        let mut layer = Layer::new(gpu, Buffer::from_slice(gpu, "pairs", &roots)?)?;
        let mut layers = Vec::with_capacity(level as usize);

        for child_level in 1..level {
            let params = gpu.uniform(&Params {
                pairs: layer.len() as u32,
                child_level,
                node_base,
                leaf_base,
                interior,
                pad: [0; 3],
            });
            let mut rec = Recorder::new(gpu, "traverse");
            let bound = self.count.bind(gpu, &inputs(&params, source, &seeds, &layer, &rivals));
            rec.dispatch(&self.count, &bound, groups_for(layer.len()));
            scan.run(&mut rec, &layer.offsets)?;
            clock.submit(rec);

            let [children, listed] = layer.totals(gpu)?;
            let next_pairs = Buffer::zeroed(gpu, "pairs", children as usize)?;
            let next_rivals = Buffer::zeroed(gpu, "rivals", listed as usize)?;
            let mut rec = Recorder::new(gpu, "traverse");
            let bound = self.emit.bind(
                gpu,
                &[
                    &inputs(&params, source, &seeds, &layer, &rivals)[..],
                    &[next_pairs.raw(), next_rivals.raw()],
                ]
                .concat(),
            );
            rec.dispatch(&self.emit, &bound, groups_for(layer.len()));
            clock.submit(rec);
            layers.push(std::mem::replace(&mut layer, Layer::new(gpu, next_pairs)?));
            rivals = next_rivals;
        }

        let params = gpu.uniform(&Params {
            pairs: layer.len() as u32,
            child_level: level,
            node_base,
            leaf_base,
            interior,
            pad: [0; 3],
        });
        let mut rec = Recorder::new(gpu, "boundary set");
        let bound = self.leaves_count.bind(gpu, &inputs(&params, source, &seeds, &layer, &rivals));
        rec.dispatch(&self.leaves_count, &bound, groups_for(layer.len()));
        scan.run(&mut rec, &layer.offsets)?;
        clock.submit(rec);

        let [copies, _] = layer.totals(gpu)?;
        let leaves = LeafBuffers::new(gpu, copies as usize)?;
        let mut rec = Recorder::new(gpu, "boundary set");
        let bound = self.leaves_emit.bind(
            gpu,
            &[
                &inputs(&params, source, &seeds, &layer, &rivals)[..],
                &[
                    source.arena.normals.raw(),
                    source.arena.colors.raw(),
                    source.arena.cuts.raw(),
                    leaves.place.raw(),
                    leaves.surface.raw(),
                    leaves.cuts.raw(),
                ],
            ]
            .concat(),
        );
        rec.dispatch(&self.leaves_emit, &bound, groups_for(layer.len()));
        clock.submit(rec);
        layers.push(layer);
        Ok((layers, leaves))
    }
}

/// What every kernel of the descent reads, bindings 0 to 6.
fn inputs<'b>(
    params: &'b wgpu::Buffer,
    source: &'b Source<'_>,
    seeds: &'b Buffer<[i32; 4]>,
    layer: &'b Layer,
    rivals: &'b Buffer<u32>,
) -> [&'b wgpu::Buffer; 7] {
    [
        params,
        source.arena.nodes.raw(),
        seeds.raw(),
        layer.pairs.raw(),
        rivals.raw(),
        layer.masks.raw(),
        layer.offsets.raw(),
    ]
}
