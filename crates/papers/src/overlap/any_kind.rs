//! Overlaps of pairs of any kind: each query goes to the measure of its shapes.

use super::queries::{OctreeOverlaps, OverlapQuery};
use crate::{
    bodies::{Body, LevelOfDetail, OnGpu, Overlap, WorldSettings, octrees},
    gpu::GpuError,
};

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
    /// [`GpuError`].
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
        self.octrees.find(gpu, settings, bodies, detail, &queries)
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
        let mut answers = self.octrees.volumes(gpu, settings, bodies, detail, &asked)?.into_iter();
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
