//! Rough surfaces (2018, sec. 5.3): the planar descent down to the transition level, crack surfaces there, and from there on a descent that
//! follows them to the leaves.
//!
//! In: one source octree and the seeds. Out: as the planar descent.

use crate::{
    fracture::{
        FractureError, Pattern, Source,
        voronoi::{
            descent::{Descent, DescentPass, Layer},
            octrees::LeafBuffers,
            surface::boundary_set::{Attributes, BoundarySetPass},
        },
    },
    gpu::{Buffer, Gpu, GpuError, Kernel, Submissions, Uniform, bind},
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
        work: &mut Submissions<'_>,
        crack: &Cracking<'_>,
        boundary_set: &BoundarySetPass,
        pattern: &Pattern,
    ) -> Result<(Vec<Layer>, LeafBuffers), GpuError> {
        let source = crack.source;
        let mut descent = Descent::new(work.gpu, source, pattern, |_| true)?;
        let leaves = if crack.words.transition == source.forest.level {
            crack.planar(work, &mut descent, crack.words.transition - 1)?;
            let count = crack.passes.count_leaves(work, source, &descent)?;
            let surfaces = bind![shape: crack.shape, seeds: descent.seeds, candidates: descent.candidates];
            let attributes = Attributes { kernel: &self.leaf_voxels_emit, surfaces };
            boundary_set.emit(work, source, &descent.layer, count, &attributes)?
        } else {
            crack.planar(work, &mut descent, crack.words.transition)?;
            let records = self.transition.run(work, crack, &descent)?;
            self.descend(work, crack, &mut descent, &records)?;
            let count =
                crack.count(work, &self.leaves_count, source.forest.level, &descent.layer, &records)?;
            let surfaces = bind![shape: crack.shape, records];
            let attributes = Attributes { kernel: &self.leaves_emit, surfaces };
            boundary_set.emit(work, source, &descent.layer, count, &attributes)?
        };
        Ok((descent.into_layers(), leaves))
    }

    /// The crossed transition voxels. Where the leaves are the transition voxels they are made one by one and not kept: none.
    pub fn voxels(
        &self,
        work: &mut Submissions<'_>,
        crack: &Cracking<'_>,
        pattern: &Pattern,
    ) -> Result<Vec<TransitionVoxel>, FractureError> {
        if crack.words.transition == crack.source.forest.level {
            return Ok(Vec::new());
        }
        let mut descent = Descent::new(work.gpu, crack.source, pattern, |_| true)?;
        crack.planar(work, &mut descent, crack.words.transition)?;
        let records = self.transition.run(work, crack, &descent)?;
        read_voxels(work.gpu, &descent, &records, &pattern.object_ids())
    }

    /// From the transition level to the last parent level.
    fn descend(
        &self,
        work: &mut Submissions<'_>,
        crack: &Cracking<'_>,
        descent: &mut Descent,
        records: &Buffer<u32>,
    ) -> Result<(), GpuError> {
        for child_level in crack.words.transition + 1..crack.source.forest.level {
            let children = crack.count(work, &self.count, child_level, &descent.layer, records)?;
            let Layer { pairs, masks, offsets } = &descent.layer;
            let next_pairs = Buffer::zeroed(work.gpu, "pairs", children)?;
            let mut rec = work.record("traverse");
            let params = descent.layer.params(crack.source, child_level);
            let (nodes, shape) = (&crack.source.arena.nodes, &crack.shape);
            let given = bind![nodes, shape, records, pairs, masks, offsets, next_pairs];
            rec.run(&self.emit, pairs.len(), &params, given)?;
            work.submit(rec);
            descent.push(work.gpu, next_pairs)?;
        }
        Ok(())
    }
}

/// What the steps of one descent share.
pub(in crate::fracture) struct Cracking<'a> {
    passes: &'a DescentPass,
    pub source: &'a Source<'a>,
    pub words: NoiseWords,
    pub shape: Uniform<NoiseWords>,
}

impl<'a> Cracking<'a> {
    pub fn new(gpu: &Gpu, passes: &'a DescentPass, source: &'a Source<'a>, words: NoiseWords) -> Self {
        Self { passes, source, words, shape: Uniform::new(gpu, &words) }
    }

    fn planar(&self, work: &mut Submissions<'_>, descent: &mut Descent, level: u32) -> Result<(), GpuError> {
        self.passes.descend(work, self.source, descent, level)
    }

    /// Counts the children of the next pairs and where each one's begin; returns how many there are.
    fn count(
        &self,
        work: &mut Submissions<'_>,
        kernel: &Kernel,
        child_level: u32,
        layer: &Layer,
        records: &Buffer<u32>,
    ) -> Result<usize, GpuError> {
        let Layer { pairs, masks, offsets } = layer;
        let (nodes, shape) = (&self.source.arena.nodes, &self.shape);
        let mut rec = work.record("traverse");
        let params = layer.params(self.source, child_level);
        rec.run(kernel, layer.len(), &params, bind![nodes, shape, records, pairs, masks, counts: offsets])?;
        work.scan.run(&mut rec, offsets)?;
        work.submit(rec);
        Ok(layer.totals(work.gpu)?[0] as usize)
    }
}

/// Objects (by rank) of `wanted` that get a voxel when the surfaces are planar.
pub(in crate::fracture) fn planar_objects(
    work: &mut Submissions<'_>,
    crack: &Cracking<'_>,
    pattern: &Pattern,
    wanted: impl Fn(u32) -> bool,
) -> Result<usize, GpuError> {
    let mut descent = Descent::new(work.gpu, crack.source, pattern, wanted)?;
    let leaf_level = crack.source.forest.level;
    for level in 1..leaf_level {
        // Most of what is asked for comes to an end soon.
        if descent.layer.len() > 0 {
            crack.planar(work, &mut descent, level)?;
        }
    }
    if descent.layer.len() > 0 {
        crack.passes.count_leaves(work, crack.source, &descent)?;
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
