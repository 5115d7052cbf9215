//! Overlaps of many pairs of octrees: by compute passes if possible, else on the CPU.
//!
//! In: the bodies. Out: one [`Overlap`] for each pair and plane that touch, in order of the queries.
//!
//! # Overlaps of pairs of any kind: each query goes to the measure of its shapes

use std::sync::Arc;

use rayon::prelude::*;

use super::{gpu::OverlapPasses, of_bodies, of_plane};
use crate::{
    bodies::{
        Body, LevelOfDetail, OnGpu, Overlap, Plane, WorldSettings,
        octrees::{self, Levels, OctreePair, SurfelBuffer, SurfelCache, cell_size},
    },
    gpu::{Gpu, GpuError},
    svo::Arena,
};

/// A pair or a body at a plane, by index of body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlapQuery {
    /// Two bodies.
    Pair([usize; 2]),
    /// A body and a plane, by number.
    Plane(usize, usize),
}

/// Cells of a pair may differ this much in size for the passes: the sums of a cell must stay within 32 bits.
const MOST_RATIO: f64 = 16.0;

/// A pair or a body at a plane: indices and levels, and for a plane its index.
#[derive(Clone, Copy)]
enum Task {
    Pair([usize; 2], [u32; 2]),
    Plane(usize, u32, usize),
}

/// Finds overlaps of octrees; keeps their samples, and its passes once they were needed.
#[derive(Default)]
pub struct OctreeOverlaps {
    cache: SurfelCache,
    passes: Option<(OverlapPasses, SurfelBuffer)>,
}

impl OctreeOverlaps {
    /// Maps `take` over the overlap of each query.
    fn each<T: Send>(
        &mut self,
        gpu: OnGpu<'_>,
        settings: &WorldSettings,
        (bodies, detail): (&[Body], LevelOfDetail<'_>),
        queries: &[OverlapQuery],
        take: impl Fn(Overlap) -> T + Sync,
    ) -> Result<Vec<Option<T>>, GpuError> {
        let (levels, planes) = (Levels::new(bodies, detail), settings.planes());
        let task = |query: &OverlapQuery| match *query {
            OverlapQuery::Pair([a, b]) => Task::Pair([a, b], levels.pair(a, b)),
            OverlapQuery::Plane(a, plane) => Task::Plane(a, levels.own(a), plane),
        };
        let tasks: Vec<Task> = queries.iter().map(task).collect();
        let gpu = gpu.filter(|(gpu, _)| settings.narrow.wants(gpu));
        self.work_out(gpu, bodies, &planes, &tasks, take)
    }

    /// The overlap of two bodies, on the lattice of the first, at the pair's level.
    pub fn of_pair(&mut self, bodies: &[Body], detail: LevelOfDetail<'_>, [i, j]: [usize; 2]) -> Overlap {
        let at = Levels::new(bodies, detail).pair(i, j);
        let both = [&bodies[i], &bodies[j]];
        let surfels = [0, 1].map(|s| self.cache.get(&both[s].def.octree().forest, at[s]).surfels.clone());
        of_bodies(both, at, surfels.each_ref().map(|s| &**s))
    }

    /// Drops the samples of forests that none of the bodies has.
    pub fn removed(&mut self, left: &[Body]) {
        self.cache.keep(|forest| left.iter().any(|b| Arc::ptr_eq(&b.def.octree().forest, forest)));
    }

    /// Pairs by the passes if there are any, else, or if they do not fit, on the CPU, with the same result; planes on
    /// the CPU, since they are few.
    fn work_out<T: Send>(
        &mut self,
        gpu: OnGpu<'_>,
        bodies: &[Body],
        planes: &[Plane],
        tasks: &[Task],
        take: impl Fn(Overlap) -> T + Sync,
    ) -> Result<Vec<Option<T>>, GpuError> {
        let by_passes = match gpu.map(|(gpu, arena)| self.on_gpu(gpu, arena, bodies, tasks)) {
            Some(Ok(found)) => found,
            None | Some(Err(GpuError::TooLarge { .. } | GpuError::OutOfMemory { .. })) => None,
            Some(Err(error)) => return Err(error),
        };
        let mut by_passes = by_passes.unwrap_or_default().into_iter();
        let known: Vec<Option<Overlap>> =
            tasks.iter().map(|task| if suits(bodies, task) { by_passes.next() } else { None }).collect();
        for task in tasks {
            let needed = match task {
                Task::Pair(pair, at) => vec![(pair[0], at[0]), (pair[1], at[1])],
                Task::Plane(a, at, _) => vec![(*a, *at)],
            };
            needed
                .into_iter()
                .for_each(|(k, level)| _ = self.cache.get(&bodies[k].def.octree().forest, level));
        }
        let cache = &self.cache;
        let surfels = |k: usize, level: u32| cache.known(&bodies[k].def.octree().forest, level);
        let of_task = |(task, known): (&Task, Option<Overlap>)| match task {
            Task::Pair(..) if known.is_some() => known,
            Task::Pair(pair, at) => {
                let both = [surfels(pair[0], at[0])?, surfels(pair[1], at[1])?];
                Some(of_bodies(pair.map(|k| &bodies[k]), *at, both))
            }
            Task::Plane(a, at, k) => Some(of_plane(&bodies[*a], *at, surfels(*a, *at)?, planes.get(*k)?)),
        };
        // One by one: a pair of large pieces takes as long as many small ones.
        let work = tasks.par_iter().zip(known).with_max_len(1);
        Ok(work.map(|task| of_task(task).map(&take)).collect())
    }

    /// All suitable pairs, sorted; `None` if the device does not have all of them.
    fn on_gpu(
        &mut self,
        gpu: &Gpu,
        arena: &Arena,
        bodies: &[Body],
        tasks: &[Task],
    ) -> Result<Option<Vec<Overlap>>, GpuError> {
        let pair = |task: &Task| match task {
            Task::Pair(pair, at) => Some(OctreePair::at(bodies, *pair, *at, 0.0)),
            Task::Plane(..) => None,
        };
        let pairs: Vec<OctreePair> =
            tasks.iter().filter(|task| suits(bodies, task)).filter_map(pair).collect();
        if !pairs.iter().all(|pair| pair.is_resident(bodies, arena)) {
            return Ok(None);
        }
        let (passes, surfels) = match &mut self.passes {
            Some(known) => known,
            none => none.insert((OverlapPasses::new(gpu)?, SurfelBuffer::new(gpu)?)),
        };
        let (found, _) = passes.find(gpu, arena, surfels, (&pairs, bodies, &mut self.cache))?;
        Ok(Some(found))
    }
}

/// Whether the passes can do it.
fn suits(bodies: &[Body], task: &Task) -> bool {
    match task {
        Task::Pair(pair, at) => {
            let [a, b] = [0, 1].map(|s| cell_size(&bodies[pair[s]], at[s]));
            a / b <= MOST_RATIO && b / a <= MOST_RATIO
        }
        Task::Plane(..) => false,
    }
}

impl OverlapQuery {
    /// Whether it involves only octrees and planes.
    fn is_of_octrees(self, bodies: &[Body]) -> bool {
        let is_octree = |k: usize| bodies[k].def.shape.as_octree().is_some();
        match self {
            Self::Pair([a, b]) => is_octree(a) && is_octree(b),
            Self::Plane(a, _) => is_octree(a),
        }
    }
}

/// Finds overlaps, and caches data of shapes. Only octrees overlap, with each other and with planes; for other shapes
/// there is no overlap.
#[derive(Default)]
pub struct Overlaps {
    octrees: OctreeOverlaps,
}

impl Overlaps {
    /// By body: how far beyond the bounds of its shape it may overlap, m.
    #[must_use]
    pub fn reach(&self, bodies: &[Body], detail: LevelOfDetail<'_>) -> Vec<f64> {
        octrees::reach(bodies, detail)
    }

    /// One [`Overlap`] for each of `queries` that has any columns, in their order. By compute passes if there is a
    /// device and the settings allow it.
    ///
    /// # Errors
    /// [`GpuError`] of the passes, but where something does not fit: then the CPU does it.
    pub fn find(
        &mut self,
        gpu: OnGpu<'_>,
        settings: &WorldSettings,
        bodies: &[Body],
        detail: LevelOfDetail<'_>,
        queries: &[OverlapQuery],
    ) -> Result<Vec<Overlap>, GpuError> {
        let queries: Vec<OverlapQuery> =
            queries.iter().copied().filter(|query| query.is_of_octrees(bodies)).collect();
        let found = self.octrees.each(gpu, settings, (bodies, detail), &queries, |overlap| overlap)?;
        Ok(found.into_iter().flatten().filter(|overlap| !overlap.columns.is_empty()).collect())
    }

    /// By query, the shared volume, m^3: 0 without columns, and for shapes without overlap.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn volumes(
        &mut self,
        gpu: OnGpu<'_>,
        settings: &WorldSettings,
        bodies: &[Body],
        detail: LevelOfDetail<'_>,
        queries: &[OverlapQuery],
    ) -> Result<Vec<f64>, GpuError> {
        let known: Vec<bool> = queries.iter().map(|query| query.is_of_octrees(bodies)).collect();
        let asked: Vec<OverlapQuery> =
            queries.iter().zip(&known).filter(|(_, known)| **known).map(|(query, _)| *query).collect();
        // The rest of each overlap is dropped at once.
        let volume = |overlap: Overlap| overlap.volume;
        let answers = self.octrees.each(gpu, settings, (bodies, detail), &asked, volume)?;
        let mut answers = answers.into_iter().map(|volume| volume.unwrap_or(0.0));
        Ok(known.into_iter().map(|known| if known { answers.next().unwrap_or(0.0) } else { 0.0 }).collect())
    }

    /// The overlap of two bodies, with its points even if there is no column; `None` for other shapes.
    pub fn of_pair(
        &mut self,
        bodies: &[Body],
        detail: LevelOfDetail<'_>,
        pair: [usize; 2],
    ) -> Option<Overlap> {
        let known = OverlapQuery::Pair(pair).is_of_octrees(bodies);
        known.then(|| self.octrees.of_pair(bodies, detail, pair))
    }

    /// Some bodies were removed; `left` are the remaining ones.
    pub fn removed(&mut self, left: &[Body]) {
        self.octrees.removed(left);
    }
}
