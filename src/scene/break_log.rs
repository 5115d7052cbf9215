//! Log of breaks, so that an export can tell where every piece comes from.
//!
//! In: every completed break. Out: for a body its ancestry of breaks, back to the whole object. Undo and the timeline
//! can bring bodies back, so a break stays as long as a body that they hold comes of it. The log holds no strong
//! reference to octrees, so it does not keep memory alive.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Weak},
};

use glam::DVec3;

use super::{
    BodyInfo, Origin,
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

/// One break.
#[derive(Clone, Debug)]
pub struct BreakRecord {
    /// Whether bonds held its parts together.
    pub holds: bool,
    /// Index of the object.
    pub object: usize,
    /// Origin of the broken body; `None` for a whole object.
    pub broken: Option<Origin>,
    /// Breaks from the whole object to its parts, including this one.
    pub generation: u32,
    /// Simulated time, s.
    pub time: f64,
    /// State of the broken body just before, world space.
    pub state: BodyState,
    /// Speed given to pieces at the point, m/s.
    pub speed: f64,
    /// Wall-clock time of the fracture, s.
    pub seconds: f64,
    /// Point and direction of the blow: shape space, m.
    pub impact: Impact,
    /// Parameters that reproduce the same parts.
    pub params: FractureParams,
    /// Its seeds, if the method uses seeds and cuts octrees.
    pub pattern: Option<Pattern>,
    /// Its seeds, of methods that cut meshes, too.
    pub seeds: Option<Pattern>,
    /// Number of cells of its pattern.
    pub cell_count: u32,
    /// Cell of each part, below that number.
    pub cells: Vec<u32>,
    /// Objects of each part's cells: one, or several if small parts were merged into it.
    pub objects: Vec<Vec<u32>>,
    /// Material volume on its crack faces, if its seeds cut octrees.
    pub volume: Option<Volume>,
    /// Material volume inside the pieces as far as this break opened them, of any method.
    pub inside: Volume,
    /// Level of island detection, if the method has one.
    pub island_level: Option<u32>,
    /// Counts.
    pub counts: FractureCounts,
    /// How a number of pieces was solved for.
    pub solved: Option<Solved>,
    /// What its crack faces show.
    pub interior: InteriorReport,
    /// Volume that became dust, m^3.
    pub dust: f64,
    /// Volume dropped by the rule for small pieces, m^3.
    pub dropped: f64,
    /// Parts dropped by that rule.
    pub dropped_parts: Vec<DroppedPart>,
    /// Mass properties of the broken body: shape space, m.
    pub whole: Figures,
    /// Grid of the broken body in shape space, if it is an octree.
    pub grid: Option<Grid>,
    /// If the broken body was merged from several parts: the index of the merge in [`BreakLog`].
    pub joined: Option<usize>,
    /// The broken body's tree in its forest.
    pub(super) tree: u32,
    /// The parts' trees in their forest, if they are octrees.
    pub(super) trees: Vec<u32>,
    /// The parts' octrees, while any owner keeps them alive.
    parts: Weak<Forest>,
    /// The broken body's octree, while any owner (body, undo, timeline) keeps it alive.
    forest: Weak<Forest>,
}

impl BreakRecord {
    /// The record of a break of `body` at `time`.
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
            holds: false,
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
            seeds: broken.pattern.clone().filter(|_| broken.params.method.entry().by_seeds),
            cells: broken.parts.iter().map(|part| part.cell).collect(),
            objects: detail.map_or_else(Vec::new, |_| broken.objects.clone()),
            volume: detail.map(|detail| detail.fracture.volume),
            inside: detail.map_or_else(
                || broken.params.interior.volume(shape.look().surface_color.unwrap_or(crate::shape::CLAY)),
                |detail| detail.fracture.volume,
            ),
            island_level: detail.map(|detail| detail.island_level),
            counts: broken.counts,
            solved: broken.solved,
            interior: InteriorReport::new(
                &broken.params.interior,
                shape.look().surface_color.unwrap_or(crate::shape::CLAY),
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

    /// The broken body's forest, if it is still alive.
    #[must_use]
    pub fn forest(&self) -> Option<Arc<Forest>> {
        self.forest.upgrade()
    }

    /// The parts' common forest, if it is still alive.
    pub(super) fn forest_of_parts(&self) -> Option<Arc<Forest>> {
        self.parts.upgrade().filter(|_| self.trees.len() == self.cells.len())
    }
}

/// A part dropped because it was too small.
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

    /// Its octree, if the forest of its break is still alive.
    #[must_use]
    pub fn octree(&self) -> Option<Octree> {
        let (forest, tree, grid, mass) = self.octree.as_ref()?;
        Some(Octree { forest: forest.upgrade()?, tree: *tree, grid: *grid, mass: *mass })
    }
}

/// Fewer breaks than this are not looked through.
const FEW: usize = 64;

/// Breaks in the order in which they happened, by an index that no later break gets.
#[derive(Clone, Debug, Default)]
pub struct BreakLog {
    /// Shared with copies of the log, so that these are made in no time.
    records: BTreeMap<usize, Arc<BreakRecord>>,
    joins: BTreeMap<usize, Vec<usize>>,
    /// Breaks and merges so far.
    made: usize,
    /// Breaks that were left by the last [`BreakLog::keep`].
    kept: usize,
}

impl BreakLog {
    /// Appends a break; returns its index.
    pub(super) fn push(&mut self, record: BreakRecord) -> usize {
        self.records.insert(self.made, Arc::new(record));
        self.made += 1;
        self.made - 1
    }

    /// Records that parts of a break were merged; returns the index of the merge.
    pub(super) fn join(&mut self, parts: Vec<usize>) -> usize {
        self.joins.insert(self.made, parts);
        self.made += 1;
        self.made - 1
    }

    /// Whether there are twice as many breaks as [`BreakLog::keep`] left, so that a break costs little on average.
    pub(super) fn has_doubled(&self) -> bool {
        self.records.len() >= FEW.max(2 * self.kept)
    }

    /// Removes all breaks and merges but those in the ancestry of these bodies.
    pub(super) fn keep<'a>(&mut self, bodies: impl Iterator<Item = &'a BodyInfo>) {
        let (mut breaks, mut joins) = (BTreeSet::new(), BTreeSet::new());
        for info in bodies {
            joins.extend(info.joined);
            let mut next = info.origin;
            while let Some(at) = next.filter(|at| breaks.insert(at.record)) {
                let record = self.records.get(&at.record);
                joins.extend(record.and_then(|record| record.joined));
                next = record.and_then(|record| record.broken);
            }
        }
        self.records.retain(|at, _| breaks.contains(at));
        self.joins.retain(|at, _| joins.contains(at));
        self.kept = self.records.len();
    }

    /// The parts of its break that a body consists of.
    #[must_use]
    pub fn parts_of(&self, info: &BodyInfo) -> Vec<usize> {
        self.parts(info.origin, info.joined)
    }

    /// The parts that a body with this origin and merge consists of.
    pub(super) fn parts(&self, origin: Option<Origin>, joined: Option<usize>) -> Vec<usize> {
        match joined.and_then(|joined| self.joins.get(&joined)) {
            Some(parts) => parts.clone(),
            None => origin.iter().map(|origin| origin.part).collect(),
        }
    }

    /// The breaks with their indices, in the order in which they happened.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = (usize, &BreakRecord)> {
        self.records.iter().map(|(at, record)| (*at, &**record))
    }

    /// A break.
    #[must_use]
    pub fn get(&self, record: usize) -> Option<&BreakRecord> {
        self.records.get(&record).map(Arc::as_ref)
    }

    /// The part index at each break in a body's ancestry, the first break first.
    #[must_use]
    pub fn parts_that_led_to(&self, origin: Option<Origin>) -> Vec<u32> {
        let mut parts: Vec<u32> = origin.iter().map(|origin| origin.part as u32).collect();
        parts.extend(self.line(origin).filter_map(|(_, record)| Some(record.broken?.part as u32)));
        parts.reverse();
        parts
    }

    /// The body that an event of a scene names, if it exists.
    pub(super) fn find(&self, piece: &NamedPiece, stage: &Stage) -> Option<BodyId> {
        let is_it = |id: BodyId| {
            let info = stage.info_or_whole(id);
            info.object == piece.object && self.parts_that_led_to(info.origin) == piece.parts
        };
        stage.bodies().iter().map(|body| body.id).find(|id| is_it(*id))
    }

    /// The breaks in a body's ancestry with their indices, the last one first.
    pub fn line(&self, origin: Option<Origin>) -> impl Iterator<Item = (usize, &BreakRecord)> {
        let at = |origin: Origin| Some((origin.record, self.get(origin.record)?));
        std::iter::successors(origin.and_then(at), move |(_, record)| record.broken.and_then(at))
    }
}
