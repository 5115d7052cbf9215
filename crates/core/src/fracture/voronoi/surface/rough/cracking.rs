//! A descent that cracks rough surfaces: what its passes share.

use super::CrackUniform;
use crate::{
    fracture::{
        Pattern, Source,
        voronoi::descent::{Capacities, Descent, DescentPass, Layer, Report},
    },
    gpu::{AnyReadback, Buffer, Gpu, GpuError, Kernel, Readback, Recorder, Submissions, Uniform, bind},
};

/// Common data of the steps of one descent.
pub(in crate::fracture) struct Cracking<'a> {
    pub passes: &'a DescentPass,
    pub source: &'a Source<'a>,
    pub words: CrackUniform,
    pub shape: Uniform<CrackUniform>,
}

impl<'a> Cracking<'a> {
    pub fn new(gpu: &Gpu, passes: &'a DescentPass, source: &'a Source<'a>, words: CrackUniform) -> Self {
        Self { passes, source, words, shape: Uniform::new(gpu, &words) }
    }

    pub fn planar(
        &self,
        work: &mut Submissions<'_>,
        descent: (&mut Descent, &Capacities),
        level: u32,
    ) -> Result<(), GpuError> {
        self.passes.descend(work, self.source, descent, level)
    }

    /// Counts the children of the next pairs, and the index of each pair's first.
    pub fn count(
        &self,
        rec: &mut Recorder<'_>,
        work: &Submissions<'_>,
        kernel: &Kernel,
        child_level: u32,
        layer: &Layer,
        records: &Buffer<u32>,
    ) -> Result<(), GpuError> {
        let Layer { pairs, masks, offsets, count } = layer;
        let (nodes, shape) = (&self.source.arena.buffers()?.nodes, &self.shape);
        let given = bind![size: count, nodes, shape, records, pairs, masks, counts: offsets];
        rec.run_counted(kernel, count, &Layer::params(self.source, child_level), given)?;
        work.scan.run(rec, offsets, count)
    }
}

/// Objects (by rank) that own a voxel with planar surfaces: a count in progress.
pub(in crate::fracture) struct PlanarObjects {
    gone: Vec<u32>,
    capacities: Capacities,
    holders: Readback<u32>,
    report: Readback<[u32; 2]>,
}

impl PlanarObjects {
    /// Starts the count for the objects in `gone`, in the present rooms. These are short, as most objects end soon.
    pub fn submit(
        work: &mut Submissions<'_>,
        crack: &Cracking<'_>,
        pattern: &Pattern,
        (gone, capacities): (Vec<u32>, Option<Capacities>),
    ) -> Result<Self, GpuError> {
        let wanted = |rank: u32| gone.binary_search(&rank).is_ok();
        let mut descent = Descent::new(work, crack.source, pattern, wanted)?;
        let leaf_level = crack.source.forest.level;
        let few = || Capacities::few(leaf_level, (descent.begun, descent.size().1));
        let capacities = capacities.unwrap_or_else(few).within(work.gpu);
        crack.planar(work, (&mut descent, &capacities), leaf_level - 1)?;
        crack.passes.count_leaves(work, crack.source, &descent)?;
        let objects = descent.size().0;
        let holders = crack.passes.holders(work, &descent, objects)?;
        let mut rec = work.record("traverse");
        let holders = Readback::copy(&mut rec, &holders, 0, objects);
        let report = descent.needs.staged(&mut rec);
        work.submit(rec);
        descent.give(work);
        Ok(Self { gone, capacities, holders, report })
    }

    /// Copies to wait for.
    pub fn copies(&self) -> [&dyn AnyReadback; 2] {
        [&self.holders, &self.report]
    }

    /// Number of objects that own a voxel; repeats the count, and waits, while there was too little room.
    pub fn found(
        self,
        work: &mut Submissions<'_>,
        crack: &Cracking<'_>,
        pattern: &Pattern,
    ) -> Result<usize, GpuError> {
        let mut asked = self;
        loop {
            let report = Report::of(&asked.report)?;
            if asked.capacities.held(work.gpu, report.levels())? {
                return Ok(asked.holders.view()?.iter().filter(|mark| **mark != 0).count());
            }
            asked = Self::submit(work, crack, pattern, (asked.gone, Some(asked.capacities)))?;
            work.wait(&asked.copies())?;
        }
    }
}
