//! What pairs share: points on both surfaces, columns from entry to exit, volume and its gradient (Domaradzki
//! & Martyn 2016, sec.
//! 5.1.2 and 5.1.3), for the paper's response, for the log and for drawing.

use super::octree::{self, OctreeOverlaps};
use crate::{Body, BodyId, Detail, WorldSettings, context::OnGpu, gpu::GpuError};
use glam::DVec3;

/// Averaged collision point of one cell and one of the two surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollisionPoint {
    /// World, m.
    pub position: DVec3,
    /// Out of the body whose surface it is; world, unit.
    pub normal: DVec3,
    /// Whose surface: 0 is the first body, 1 the other.
    pub owner: u32,
}

/// A stretch of one column of the lattice that lies inside both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Lattice axis along which it runs, 0 to 2.
    pub axis: u32,
    /// World direction of that axis, unit.
    pub direction: DVec3,
    /// Its middle, world, m.
    pub middle: DVec3,
    /// From entry to exit, m.
    pub length: f64,
    /// Cross-section, m^2: a cell's, and less along axes that overestimate the volume.
    pub area: f64,
    /// Whose surfaces are entry and exit.
    pub owners: [u32; 2],
    /// Mean of both surfaces' normals, out of the first; world, unit.
    pub normal: DVec3,
}

impl Column {
    /// How the length changes with the first body's motion along `direction`: 1, -1, or 0 where both ends are
    /// of one body.
    #[must_use]
    pub fn sign(&self) -> f64 {
        f64::from(self.owners[0]) - f64::from(self.owners[1])
    }
}

/// What a pair shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// The body whose lattice is used.
    pub first: BodyId,
    /// The other; none is a plane.
    pub second: Option<BodyId>,
    /// Levels at which they meet (of a plane: 0).
    pub levels: [u32; 2],
    /// Edge of a cell, m.
    pub cell: f64,
    /// Collision points, in order of cell.
    pub points: Vec<CollisionPoint>,
    /// Columns along all three axes.
    pub columns: Vec<Column>,
    /// Volume as the columns of each axis find it, m^3.
    pub volumes: [f64; 3],
    /// Volume by the axis with the most columns, m^3: across something thin, the others are as coarse as the
    /// cells.
    pub volume: f64,
    /// How the volume grows as the first body moves, m^2, world.
    pub gradient: DVec3,
}

/// What has to be looked at, by index of body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlapQuery {
    /// Two bodies.
    Pair([usize; 2]),
    /// A body and a plane, by number.
    Plane(usize, usize),
}

impl OverlapQuery {
    /// Whether only octrees and planes have a part in it.
    fn is_of_octrees(self, bodies: &[Body]) -> bool {
        let is_octree = |k: usize| bodies[k].def.shape.as_octree().is_some();
        match self {
            Self::Pair([a, b]) => is_octree(a) && is_octree(b),
            Self::Plane(a, _) => is_octree(a),
        }
    }
}

/// Finds what pairs share, and keeps what it makes of the shapes. Octrees with each other and with planes;
/// other kinds share nothing as far as it knows.
#[derive(Default)]
pub struct Overlaps {
    octrees: OctreeOverlaps,
}

impl Overlaps {
    /// By body: how far beyond the bounds of its shape it may share anything, m.
    #[must_use]
    pub fn reach(&self, bodies: &[Body], detail: Detail<'_>) -> Vec<f64> {
        octree::reach(bodies, detail)
    }

    /// One [`Overlap`] for each of `queries` that has any columns, in their order. By compute passes where
    /// there is a device and the settings allow.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn find(
        &mut self,
        gpu: OnGpu<'_>,
        settings: &WorldSettings,
        bodies: &[Body],
        detail: Detail<'_>,
        queries: &[OverlapQuery],
    ) -> Result<Vec<Overlap>, GpuError> {
        let queries: Vec<OverlapQuery> =
            queries.iter().copied().filter(|query| query.is_of_octrees(bodies)).collect();
        self.octrees.find(gpu, settings, bodies, detail, &queries)
    }

    /// By query, the volume that it shares, m^3: 0 where there are no columns, and where nobody knows.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn volumes(
        &mut self,
        gpu: OnGpu<'_>,
        settings: &WorldSettings,
        bodies: &[Body],
        detail: Detail<'_>,
        queries: &[OverlapQuery],
    ) -> Result<Vec<f64>, GpuError> {
        let known: Vec<bool> = queries.iter().map(|query| query.is_of_octrees(bodies)).collect();
        let asked: Vec<OverlapQuery> =
            queries.iter().zip(&known).filter(|(_, known)| **known).map(|(query, _)| *query).collect();
        let mut answers = self.octrees.volumes(gpu, settings, bodies, detail, &asked)?.into_iter();
        Ok(known.into_iter().map(|known| if known { answers.next().unwrap_or(0.0) } else { 0.0 }).collect())
    }

    /// What two bodies share, with its points even where there is no column; none where nobody knows.
    pub fn of_pair(&mut self, bodies: &[Body], detail: Detail<'_>, pair: [usize; 2]) -> Option<Overlap> {
        let known = OverlapQuery::Pair(pair).is_of_octrees(bodies);
        known.then(|| self.octrees.of_pair(bodies, detail, pair))
    }

    /// Some bodies are gone; `left` are still there.
    pub fn removed(&mut self, left: &[Body]) {
        self.octrees.removed(left);
    }
}
