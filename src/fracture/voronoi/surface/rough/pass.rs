//! Rough surfaces (2018, sec. 5.3): the planar descent down to the transition level, crack surfaces there, and from
//! there on a descent that follows them to the leaves.
//!
//! In: one source octree and the seeds. Out: as the planar descent.

use crate::{
    fracture::{
        FractureError, Pattern,
        voronoi::{
            descent::{Descent, Layer},
            octrees::LeafBuffers,
            surface::boundary_set::{Attributes, BoundarySetPass},
        },
    },
    gpu::{Buffer, Gpu, GpuError, Kernel, Submissions, bind},
};

use super::{
    TransitionVoxel,
    cracking::Cracking,
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

    /// The crossed transition voxels. Where the leaves are the transition voxels they are made one by one and not
    /// kept: none.
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
            let (nodes, shape) = (&crack.source.arena.buffers()?.nodes, &crack.shape);
            let given = bind![nodes, shape, records, pairs, masks, offsets, next_pairs];
            rec.run(&self.emit, pairs.len(), &params, given)?;
            work.submit(rec);
            descent.push(work.gpu, next_pairs)?;
        }
        Ok(())
    }
}
