//! What broke since the program started, so that an export can say where every piece comes from.
//!
//! In: every break that went through. Out: for a body its line of breaks, back to the whole object. Entries
//! are never taken out: undo and the timeline bring bodies back whose breaks then count again. No octree is
//! held here, so that memory stays what it was.

use std::sync::{Arc, Weak};

use glam::DVec3;

use super::{
    BodyInfo,
    breaking::{BreakJob, NamedPiece},
    stage::Stage,
};
use crate::{
    bodies::{Body, BodyId, BodyState},
    export::{Figures, InteriorReport, Placing},
    fracture::{Break, FractureCounts, FractureParams, Impact, Part, Pattern, Solved, Volume, VoronoiDetail},
    shape::{GridMass, Octree},
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
    /// How what broke lay and moved just before, world.
    pub state: BodyState,
    /// Speed that pieces at the point got, m/s.
    pub speed: f64,
    /// Wall-clock time of the fracture, s.
    pub seconds: f64,
    /// Where it was hit: shape space, m.
    pub impact: Impact,
    /// Parameters that give the same parts again.
    pub params: FractureParams,
    /// Its seeds, where it was by cells of seeds.
    pub pattern: Option<Pattern>,
    /// How many cells it drew.
    pub cell_count: u32,
    /// Cell of each part, below that number.
    pub cells: Vec<u32>,
    /// Of each part its cells' objects: one, or several where small parts joined it.
    pub objects: Vec<Vec<u32>>,
    /// What its crack faces show, where they show a volume.
    pub volume: Option<Volume>,
    /// Level at which islands were told apart, where that is known.
    pub island_level: Option<u32>,
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
    /// What that rule took away.
    pub dropped_parts: Vec<DroppedPart>,
    /// What broke: shape space, m.
    pub whole: Figures,
    /// Its grid, shape space, where it is an octree.
    pub grid: Option<Grid>,
    /// Where several parts of an earlier break were one again: number of that among [`BreakLog::joins`].
    pub joined: Option<usize>,
    /// Which tree of its forest it is.
    pub(super) tree: u32,
    /// Which trees of theirs its parts are, where they are octrees.
    pub(super) trees: Vec<u32>,
    /// The octrees of its parts, as long as one of them is there.
    parts: Weak<Forest>,
    /// Its octrees, as long as a body, undo or the timeline holds them.
    forest: Weak<Forest>,
}

impl BreakRecord {
    /// Of `body`, which broke at `time`.
    pub(super) fn new(
        body: &Body,
        info: &BodyInfo,
        job: &BreakJob,
        (broken, seconds): (&Break, f64),
        time: f64,
    ) -> Self {
        let (shape, detail) = (&body.def.shape, VoronoiDetail::of(broken));
        let octree = shape.as_octree();
        let place = |p: DVec3| octree.map_or(p, |octree| octree.grid.origin + octree.grid.h * p);
        let pattern = detail.and(broken.pattern.clone());
        let own = Figures::of(shape, &Placing::UNMOVED);
        let named = broken.parts.iter().map(|part| part.cell + 1).max().unwrap_or(0);
        Self {
            object: info.object,
            broken: info.origin,
            generation: info.generation + 1,
            time,
            state: body.state,
            speed: job.blow.speed,
            seconds,
            impact: Impact { point: place(job.impact.point), ..job.impact },
            params: broken.params.clone(),
            cell_count: pattern.as_ref().map_or(named, |pattern| pattern.seeds.len() as u32),
            pattern,
            cells: broken.parts.iter().map(|part| part.cell).collect(),
            objects: detail.map_or_else(Vec::new, |_| broken.objects.clone()),
            volume: detail.map(|detail| detail.fracture.volume),
            island_level: detail.map(|detail| detail.island_level),
            counts: broken.counts,
            solved: broken.solved,
            interior: InteriorReport::new(
                &broken.params.interior,
                shape.look().surface_color.unwrap_or_default(),
            ),
            dust: broken.lost.dust_m3,
            // An empty sum is -0.
            dropped: 0.0 + broken.lost.dropped.iter().map(|part| part.shape.mass().volume_m3).sum::<f64>(),
            dropped_parts: broken.lost.dropped.iter().map(DroppedPart::of).collect(),
            whole: broken.before_m3.map_or(own, |volume| Figures { volume, ..own }),
            grid: octree.map(|octree| octree.grid),
            joined: info.joined,
            tree: octree.map_or(0, |octree| octree.tree),
            trees: broken.parts.iter().filter_map(|part| Some(part.shape.as_octree()?.tree)).collect(),
            parts: {
                let first = broken.parts.first().and_then(|part| part.shape.as_octree());
                first.map_or_else(Weak::new, |octree| Arc::downgrade(&octree.forest))
            },
            forest: octree.map_or_else(Weak::new, |octree| Arc::downgrade(&octree.forest)),
        }
    }

    /// The octrees that what broke belonged to, where somebody still holds them.
    #[must_use]
    pub fn forest(&self) -> Option<Arc<Forest>> {
        self.forest.upgrade()
    }

    /// The octrees of its parts, which lie in one forest, where somebody still holds them.
    pub(super) fn forest_of_parts(&self) -> Option<Arc<Forest>> {
        self.parts.upgrade().filter(|_| self.trees.len() == self.cells.len())
    }
}

/// A part that was too small to stay.
#[derive(Clone, Debug)]
pub struct DroppedPart {
    /// Its cell.
    pub cell: u32,
    octree: Option<(Weak<Forest>, u32, Grid, GridMass)>,
}

impl DroppedPart {
    fn of(part: &Part) -> Self {
        let octree = part.shape.as_octree();
        let weak = |o: &Octree| (Arc::downgrade(&o.forest), o.tree, o.grid, o.mass);
        Self { cell: part.cell, octree: octree.map(weak) }
    }

    /// Its octree, as long as the parts that stayed, undo or the timeline hold those of its break.
    #[must_use]
    pub fn octree(&self) -> Option<Octree> {
        let (forest, tree, grid, mass) = self.octree.as_ref()?;
        Some(Octree { forest: forest.upgrade()?, tree: *tree, grid: *grid, mass: *mass })
    }
}

/// All breaks, in the order in which they happened.
#[derive(Clone, Debug, Default)]
pub struct BreakLog {
    records: Vec<BreakRecord>,
    joins: Vec<Vec<usize>>,
}

impl BreakLog {
    /// Adds a break; its index.
    pub(super) fn push(&mut self, record: BreakRecord) -> usize {
        self.records.push(record);
        self.records.len() - 1
    }

    /// Several parts of a break are one again; the number of that.
    pub(super) fn join(&mut self, parts: Vec<usize>) -> usize {
        self.joins.push(parts);
        self.joins.len() - 1
    }

    /// Parts of a break that were made one again, ascending, each time that this was done.
    #[must_use]
    pub fn joins(&self) -> &[Vec<usize>] {
        &self.joins
    }

    /// Which parts of its break a body is.
    #[must_use]
    pub fn parts_of(&self, info: &BodyInfo) -> Vec<usize> {
        self.parts(info.origin, info.joined)
    }

    /// The same of what came so.
    pub(super) fn parts(&self, origin: Option<Origin>, joined: Option<usize>) -> Vec<usize> {
        match joined.and_then(|joined| self.joins.get(joined)) {
            Some(parts) => parts.clone(),
            None => origin.iter().map(|origin| origin.part).collect(),
        }
    }

    /// All of them.
    #[must_use]
    pub fn records(&self) -> &[BreakRecord] {
        &self.records
    }

    /// A break.
    #[must_use]
    pub fn get(&self, record: usize) -> Option<&BreakRecord> {
        self.records.get(record)
    }

    /// Which part of each break that led to a body it is, the first break first.
    #[must_use]
    pub fn parts_that_led_to(&self, origin: Option<Origin>) -> Vec<u32> {
        let mut parts: Vec<u32> = origin.iter().map(|origin| origin.part as u32).collect();
        parts.extend(self.line(origin).filter_map(|(_, record)| Some(record.broken?.part as u32)));
        parts.reverse();
        parts
    }

    /// The body that an event of a scene names, where it is there.
    pub(super) fn find(&self, piece: &NamedPiece, stage: &Stage) -> Option<BodyId> {
        let is_it = |id: BodyId| {
            let info = stage.info_or_whole(id);
            info.object == piece.object && self.parts_that_led_to(info.origin) == piece.parts
        };
        stage.bodies().iter().map(|body| body.id).find(|id| is_it(*id))
    }

    /// The breaks that led to a body, the last one first, with their indices.
    pub fn line(&self, origin: Option<Origin>) -> impl Iterator<Item = (usize, &BreakRecord)> {
        let at = |origin: Origin| Some((origin.record, self.get(origin.record)?));
        std::iter::successors(origin.and_then(at), move |(_, record)| record.broken.and_then(at))
    }
}
