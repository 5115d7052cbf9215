//! Rough surfaces (2018, sec. 5.3): the planar descent down to the transition level, crack surfaces there, and from
//! there on a descent that follows them to the leaves.
//!
//! In: one source octree and the seeds. Out: as the planar descent, and the crossed voxels.

use crate::{
    fracture::{
        FractureError, Pattern,
        voronoi::descent::{Capacities, Descent, Layer, Report},
    },
    gpu::{Buffer, Gpu, GpuError, Kernel, Submissions, bind},
};

use super::{
    TransitionVoxel,
    cracking::Cracking,
    transition::{TransitionPass, read_voxels},
};

/// How much larger crack surfaces are than planes, in quarters, for the room that lists get.
pub(in crate::fracture) const ROUGHER: u64 = 1;

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

    /// Compiles the kernels by `kernel`: tests plant errors.
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

    /// Like [`RoughPass::with_kernels`].
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

    /// Walks from the root to the leaves and counts the copies. Out: the crossed voxels of the transition level; none
    /// if the leaves are the transition voxels.
    pub fn descend(
        &self,
        work: &mut Submissions<'_>,
        crack: &Cracking<'_>,
        (descent, capacities): (&mut Descent, &Capacities),
    ) -> Result<Option<Buffer<u32>>, GpuError> {
        let (source, transition) = (crack.source, crack.words.transition);
        if transition == source.forest.level {
            crack.planar(work, (descent, capacities), transition - 1)?;
            crack.passes.count_leaves(work, source, descent)?;
            return Ok(None);
        }
        crack.planar(work, (descent, capacities), transition)?;
        let records = self.transition.run(work, crack, descent, capacities.records)?;
        for child_level in transition + 1..source.forest.level {
            let mut rec = work.record("traverse");
            crack.count(&mut rec, work, &self.count, child_level, descent.layer(), &records)?;
            let room = capacities.pairs[child_level as usize];
            let next = Layer::new(work, room)?;
            descent.plan(&mut rec, work, &next.count, [room, u32::MAX])?;
            let Layer { pairs, masks, offsets, count } = descent.layer();
            let (nodes, shape) = (&source.arena.buffers()?.nodes, &crack.shape);
            let given =
                bind![size: count, nodes, shape, records, pairs, masks, offsets, next_pairs: next.pairs];
            rec.run_counted(&self.emit, count, &Layer::params(source, child_level), given)?;
            work.submit(rec);
            descent.layers.push(next);
        }
        let mut rec = work.record("traverse");
        crack.count(&mut rec, work, &self.leaves_count, source.forest.level, descent.layer(), &records)?;
        descent.plan_copies(&mut rec, work)?;
        work.submit(rec);
        Ok(Some(records))
    }

    /// Words of a crossed voxel.
    pub fn record_words(&self) -> usize {
        self.transition.words()
    }

    /// The kernel for attributes of copies below crossed voxels of the transition level.
    pub fn kernel(&self) -> &Kernel {
        &self.leaves_emit
    }

    /// The kernel for attributes of copies if the leaves are the transition voxels.
    pub fn leaf_voxel_kernel(&self) -> &Kernel {
        &self.leaf_voxels_emit
    }

    /// The crossed transition voxels. Empty if the leaves are the transition voxels, which are made one by one and not
    /// kept.
    pub fn voxels(
        &self,
        work: &mut Submissions<'_>,
        crack: &Cracking<'_>,
        pattern: &Pattern,
    ) -> Result<Vec<TransitionVoxel>, FractureError> {
        let transition = crack.words.transition;
        if transition == crack.source.forest.level {
            return Ok(Vec::new());
        }
        let mut capacities: Option<Capacities> = None;
        loop {
            let mut descent = Descent::new(work, crack.source, pattern, |_| true)?;
            let estimated =
                || Capacities::new(crack.source, pattern, descent.size(), ROUGHER).within(work.gpu);
            let capacities = capacities.get_or_insert_with(estimated);
            crack.planar(work, (&mut descent, capacities), transition)?;
            let records = self.transition.run(work, crack, &descent, capacities.records)?;
            let mut rec = work.record("transition");
            let report = descent.needs.staged(&mut rec);
            work.submit(rec);
            work.wait(&[&report])?;
            let report = Report::of(&report)?;
            if capacities.held(work.gpu, report.levels())?
                & capacities.held_records(work.gpu, report.records(), self.record_words())?
            {
                let pairs = report.levels()[transition as usize][0];
                return read_voxels(work.gpu, (&descent, pairs as usize), &records, &pattern.object_ids());
            }
            descent.give(work);
            work.give(records);
        }
    }
}
