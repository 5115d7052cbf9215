//! Rough surfaces (2018, sec. 5.3): the planar descent down to the transition level, crack surfaces there, and from there on a descent that
//! follows them to the leaves.
//!
//! In: one source octree and the seeds. Out: as the planar descent.

use crate::{
    fracture::{
        FractureError, Pattern, Source,
        voronoi::{
            descent::{Descent, DescentPass, Layer, Params},
            octrees::LeafBuffers,
            surface::boundary_set::{Attributes, BoundarySetPass},
        },
    },
    gpu::{Buffer, Gpu, GpuError, Kernel, Recorder, Submissions, groups_for, primitives::Scan},
};

use super::{
    NoiseWords, TransitionVoxel,
    transition::{TransitionPass, read_voxels},
};

pub(in crate::fracture) struct RoughPass {
    transition: TransitionPass,
    count: Kernel,
    emit: Kernel,
    leaves_count: Kernel,
    leaves_emit: Kernel,
    leaf_voxels_emit: Kernel,
}

impl RoughPass {
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_kernels(&|path| Kernel::new(gpu, path))
    }

    /// With another way of compiling kernels: tests plant errors.
    pub fn with_kernels(kernel: &dyn Fn(&'static str) -> Kernel) -> Self {
        Self {
            transition: TransitionPass::with_kernels(kernel),
            count: kernel("fracture/voronoi/surface/rough/count"),
            emit: kernel("fracture/voronoi/surface/rough/emit"),
            leaves_count: kernel("fracture/voronoi/surface/rough/leaves_count"),
            leaves_emit: kernel("fracture/voronoi/surface/rough/leaves_emit"),
            leaf_voxels_emit: kernel("fracture/voronoi/surface/rough/leaf_voxels_emit"),
        }
    }

    /// The passes of a dusty surface: the same descent, with other kernels below the transition level.
    pub fn dusty(gpu: &Gpu) -> Self {
        Self::dusty_with_kernels(&|path| Kernel::new(gpu, path))
    }

    /// As [`RoughPass::with_kernels`].
    pub fn dusty_with_kernels(kernel: &dyn Fn(&'static str) -> Kernel) -> Self {
        Self {
            transition: TransitionPass::dusty(kernel),
            count: kernel("fracture/voronoi/surface/dusty/count"),
            emit: kernel("fracture/voronoi/surface/dusty/emit"),
            leaves_count: kernel("fracture/voronoi/surface/dusty/count"),
            leaves_emit: kernel("fracture/voronoi/surface/dusty/leaves_emit"),
            leaf_voxels_emit: kernel("fracture/voronoi/surface/dusty/leaf_voxels_emit"),
        }
    }

    /// Walks from the root to the leaves, whose colours are still missing.
    pub fn run(
        &self,
        work: &mut CrackWork<'_>,
        copies: &BoundarySetPass,
        pattern: &Pattern,
    ) -> Result<(Vec<Layer>, LeafBuffers), GpuError> {
        let (gpu, source) = (work.gpu, work.source);
        let mut descent = Descent::new(gpu, source, pattern, |_| true)?;
        let leaves = if work.words.transition == source.forest.level {
            work.planar(&mut descent, work.words.transition - 1)?;
            let count = work.traverse.count_leaves(gpu, work.scan, source, &descent, work.clock)?;
            let surfaces = &[&work.shape, descent.seeds.raw(), descent.candidates.raw()];
            let attributes = Attributes { kernel: &self.leaf_voxels_emit, surfaces };
            copies.emit(gpu, source, &descent.layer, count, &attributes, work.clock)?
        } else {
            work.planar(&mut descent, work.words.transition)?;
            let records = self.transition.run(gpu, work.scan, &work.words, &descent, work.clock)?;
            self.descend(work, &mut descent, &records)?;
            let count = self.count_leaves(work, &descent, &records)?;
            let attributes =
                Attributes { kernel: &self.leaves_emit, surfaces: &[&work.shape, records.raw()] };
            copies.emit(gpu, source, &descent.layer, count, &attributes, work.clock)?
        };
        Ok((descent.into_layers(), leaves))
    }

    /// The crossed transition voxels. Where the leaves are the transition voxels they are made one by one and not kept: none.
    pub fn voxels(
        &self,
        work: &mut CrackWork<'_>,
        pattern: &Pattern,
    ) -> Result<Vec<TransitionVoxel>, FractureError> {
        if work.words.transition == work.source.forest.level {
            return Ok(Vec::new());
        }
        let mut descent = Descent::new(work.gpu, work.source, pattern, |_| true)?;
        work.planar(&mut descent, work.words.transition)?;
        let records = self.transition.run(work.gpu, work.scan, &work.words, &descent, work.clock)?;
        read_voxels(work.gpu, &descent, &records, &pattern.object_ids())
    }

    /// From the transition level to the last parent level.
    fn descend(
        &self,
        work: &mut CrackWork<'_>,
        descent: &mut Descent,
        records: &Buffer<u32>,
    ) -> Result<(), GpuError> {
        let gpu = work.gpu;
        for child_level in work.words.transition + 1..work.source.forest.level {
            let params = gpu.uniform(&Params::new(work.source, descent.layer.len(), child_level));
            let children = work.count(&self.count, &params, descent, records)?;
            let next = Buffer::zeroed(gpu, "pairs", children)?;
            let mut rec = Recorder::new(gpu, "traverse");
            let inputs = work.inputs(&params, descent, records);
            let bound = self.emit.bind(gpu, &[&inputs[..], &[next.raw()]].concat());
            rec.dispatch(&self.emit, &bound, groups_for(descent.layer.len()));
            work.clock.submit(rec);
            descent.push(gpu, next)?;
        }
        Ok(())
    }

    fn count_leaves(
        &self,
        work: &mut CrackWork<'_>,
        descent: &Descent,
        records: &Buffer<u32>,
    ) -> Result<usize, GpuError> {
        let level = work.source.forest.level;
        let params = work.gpu.uniform(&Params::new(work.source, descent.layer.len(), level));
        work.count(&self.leaves_count, &params, descent, records)
    }
}

/// What the steps of one descent share.
pub(in crate::fracture) struct CrackWork<'a> {
    gpu: &'a Gpu,
    scan: &'a Scan,
    traverse: &'a DescentPass,
    source: &'a Source<'a>,
    words: NoiseWords,
    shape: wgpu::Buffer,
    clock: &'a mut Submissions,
}

impl<'a> CrackWork<'a> {
    pub fn new(
        gpu: &'a Gpu,
        scan: &'a Scan,
        traverse: &'a DescentPass,
        source: &'a Source<'a>,
        words: NoiseWords,
        clock: &'a mut Submissions,
    ) -> Self {
        Self { gpu, scan, traverse, source, words, shape: gpu.uniform(&words), clock }
    }

    fn planar(&mut self, descent: &mut Descent, level: u32) -> Result<(), GpuError> {
        self.traverse.descend(self.gpu, self.scan, self.source, descent, level, self.clock)
    }

    /// What the kernels below the transition level read, bindings 0 to 6.
    fn inputs<'b>(
        &'b self,
        params: &'b wgpu::Buffer,
        descent: &'b Descent,
        records: &'b Buffer<u32>,
    ) -> [&'b wgpu::Buffer; 7] {
        [
            params,
            &self.shape,
            self.source.arena.nodes.raw(),
            records.raw(),
            descent.layer.pairs.raw(),
            descent.layer.masks.raw(),
            descent.layer.offsets.raw(),
        ]
    }

    /// Counts the children of the next pairs and where each one's begin; returns how many there are.
    fn count(
        &mut self,
        kernel: &Kernel,
        params: &wgpu::Buffer,
        descent: &Descent,
        records: &Buffer<u32>,
    ) -> Result<usize, GpuError> {
        let mut rec = Recorder::new(self.gpu, "traverse");
        let bound = kernel.bind(self.gpu, &self.inputs(params, descent, records));
        rec.dispatch(kernel, &bound, groups_for(descent.layer.len()));
        self.scan.run(&mut rec, &descent.layer.offsets)?;
        self.clock.submit(rec);
        Ok(descent.layer.totals(self.gpu)?[0] as usize)
    }
}

/// Objects (by rank) of `wanted` that get a voxel when the surfaces are planar.
pub(in crate::fracture) fn planar_objects(
    work: &mut CrackWork<'_>,
    pattern: &Pattern,
    wanted: impl Fn(u32) -> bool,
) -> Result<usize, GpuError> {
    let mut descent = Descent::new(work.gpu, work.source, pattern, wanted)?;
    let leaf_level = work.source.forest.level;
    for level in 1..leaf_level {
        // Most of what is asked for comes to an end soon.
        if descent.layer.len() > 0 {
            work.planar(&mut descent, level)?;
        }
    }
    if descent.layer.len() > 0 {
        work.traverse.count_leaves(work.gpu, work.scan, work.source, &descent, work.clock)?;
    }
    let mut objects = std::collections::BTreeSet::new();
    let last = leaf_level as usize - 1;
    for (level, layer) in descent.layers.iter().chain([&descent.layer]).enumerate() {
        // A stored octant counts at the leaves only: above, it may turn out to hold nothing.
        let octants = if level == last { 0xffff } else { 0xff00 };
        let (pairs, masks) = (layer.pairs.read(work.gpu)?, layer.masks.read(work.gpu)?);
        let holding = pairs.iter().zip(masks).filter(|(_, mask)| mask & octants != 0);
        objects.extend(holding.map(|(pair, _)| pair.object));
    }
    Ok(objects.len())
}
