//! What broke since the program started, so that an export can say where every piece comes from.
//!
//! In: every break that went through. Out: for a body its line of breaks, back to the whole object. Entries are never taken out: undo and
//! the timeline bring bodies back whose breaks then count again. No octree is held here, so that memory stays what it was.

use std::sync::{Arc, Weak};

use super::{
    breaking::{BreakJob, Broken},
    sandbox::BodyInfo,
};
use crate::{
    bodies::Body,
    export::{Figures, InteriorReport, Placing},
    fracture::{Dropped, FractureCounts, FractureParams, Impact, Pattern, Solved},
    svo::{Forest, Grid},
};

/// The break that a body came of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// Index in [`BreakLog::records`].
    pub record: usize,
    /// Which of its parts.
    pub part: usize,
}

/// One break.
#[derive(Clone, Debug)]
pub struct BreakRecord {
    /// Index of the object.
    pub object: usize,
    /// Where what broke came from; `None` for a whole object.
    pub broken: Option<Origin>,
    /// Breaks that led to its parts, this one included.
    pub generation: u32,
    /// Simulated time, s.
    pub time: f64,
    /// Where it was hit: shape space, m.
    pub impact: Impact,
    /// Parameters that give the same parts again.
    pub params: FractureParams,
    /// The seeds.
    pub pattern: Pattern,
    /// Cell of each part: an index of the pattern's seeds.
    pub cells: Vec<u32>,
    /// Level at which islands were told apart.
    pub island_level: u32,
    /// Counts.
    pub counts: FractureCounts,
    /// How a number of pieces was solved for.
    pub solved: Option<Solved>,
    /// What its crack faces show.
    pub interior: InteriorReport,
    /// Volume that became dust, m^3.
    pub dust: f64,
    /// Volume that the rule for small pieces took away, m^3.
    pub dropped: f64,
    /// What broke: shape space, m.
    pub whole: Figures,
    /// Its grid, shape space.
    pub grid: Grid,
    /// Its octrees, as long as a body, undo or the timeline holds them.
    forest: Weak<Forest>,
}

impl BreakRecord {
    /// Of `body`, which broke at `time`.
    pub(super) fn new(body: &Body, info: &BodyInfo, job: &BreakJob, broken: &Broken, time: f64) -> Self {
        let (octree, fracture) = (body.def.octree(), &broken.fracture);
        let (grid, voxel) = (octree.grid, octree.grid.h.powi(3));
        let hit = Impact { point: grid.origin + grid.h * job.impact.point, ..job.impact };
        Self {
            object: info.object,
            broken: info.origin,
            generation: info.generation + 1,
            time,
            impact: hit,
            params: broken.params.clone(),
            pattern: broken.pattern.clone(),
            cells: fracture.pieces.iter().map(|piece| piece.cell).collect(),
            island_level: broken.params.island_level.unwrap_or(octree.level()),
            counts: fracture.counts,
            solved: fracture.solved,
            interior: InteriorReport::new(&broken.params.interior, &fracture.volume),
            dust: fracture.dust_volume * voxel,
            dropped: fracture.dropped.as_ref().map_or(0.0, Dropped::volume) * voxel,
            whole: Figures::of(&body.def.shape, &Placing::UNMOVED),
            grid,
            forest: Arc::downgrade(&octree.forest),
        }
    }

    /// The octrees that what broke belonged to, where somebody still holds them.
    #[must_use]
    pub fn forest(&self) -> Option<Arc<Forest>> {
        self.forest.upgrade()
    }
}

/// All breaks, in the order in which they happened.
#[derive(Clone, Debug, Default)]
pub struct BreakLog {
    records: Vec<BreakRecord>,
}

impl BreakLog {
    /// Adds a break; its index.
    pub(super) fn push(&mut self, record: BreakRecord) -> usize {
        self.records.push(record);
        self.records.len() - 1
    }

    /// A break.
    #[must_use]
    pub fn get(&self, record: usize) -> Option<&BreakRecord> {
        self.records.get(record)
    }

    /// The breaks that led to a body, the last one first, with their indices.
    pub fn line(&self, origin: Option<Origin>) -> impl Iterator<Item = (usize, &BreakRecord)> {
        let at = |origin: Origin| Some((origin.record, self.get(origin.record)?));
        std::iter::successors(origin.and_then(at), move |(_, record)| record.broken.and_then(at))
    }
}
