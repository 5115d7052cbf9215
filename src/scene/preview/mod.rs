//! The live preview: the blow that is aimed, computed on a coarse copy of the body whenever the aim or a
//! parameter has moved.
//!
//! In: an [`Aim`], the body there, tuned values. Out: seams for the picture, or coarse pieces in the body's
//! place. It runs on the caller's thread just before the picture: on a software adapter its waits would
//! otherwise queue behind pictures. Only the coarse copy itself is made by a worker, since a fine object
//! takes a while, and so is the preview at the body's own level.

mod by_method;
mod coarse;
mod full;
mod level;
mod painting;
#[cfg(test)]
mod painting_tests;
mod shown;
mod solving;
#[cfg(test)]
mod tests;

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use self::{
    by_method::shows_itself,
    coarse::{Coarse, CoarseCopy},
    full::Full,
    painting::Painting,
    shown::{Shown, ShownPieces},
    solving::Solving,
};
use super::{Aim, Cells, KeptCells, Pin, SandboxError, jobs::Workshop, pinned::cells};
use crate::{
    bodies::{Body, BodyDef},
    fracture::{FractureError, FractureParams, Fracturer, Recipe, Seams, Solved, Source, Surface},
    gpu::GpuError,
};

pub(super) use by_method::has_cells;
pub use level::LevelControl;
pub(super) use painting::Stroke;
pub(super) use shown::Scenery;

/// What "a second" of recomputations is.
const SECOND: Duration = Duration::from_secs(1);

/// How the preview is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PreviewMode {
    /// Gold lines on the object, which stays whole.
    #[default]
    Seams,
    /// Coarse pieces in the object's place, drawn apart by the explode slider.
    Exploded,
    /// Not at all.
    Off,
}

/// What the preview does, for the panels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PreviewReport {
    /// What is shown just now; `None` while nothing is aimed at.
    pub showing: Option<PreviewMode>,
    /// Octree level of the last one.
    pub level: u32,
    /// Wall-clock time of the last one, ms.
    pub ms: f64,
    /// How often it was computed.
    pub recomputed: u64,
    /// How often during the last second.
    pub per_second: u32,
    /// Cells of the pinned impact that stay, and all of them; `None` without one.
    pub kept: Option<(u32, u32)>,
    /// Whether the object is just being coarsened for it.
    pub preparing: bool,
    /// How a number of pieces to aim at was solved for; `None` where there is none to aim at, or not yet.
    pub solved: Option<Solved>,
    /// Whether that is still to come.
    pub solving: bool,
    /// Changes whenever the picture of it may have changed.
    pub revision: u64,
}

/// A body that a blow is aimed at, and how it would break.
pub(super) struct Target<'a> {
    pub body: &'a Body,
    /// Whether it is as it was imported.
    pub intact: bool,
    pub params: FractureParams,
}

/// What is to be shown.
pub(super) struct Request<'a> {
    /// The body that is aimed at, while it is there.
    pub target: Option<Target<'a>>,
    /// The only body there is: it is made ready while nothing is aimed at.
    pub only: Option<&'a Body>,
    pub mode: PreviewMode,
    pub pin: Option<&'a Pin>,
    /// Whether nobody is changing a value by hand.
    pub resting: bool,
}

/// The preview and what it keeps between frames.
#[derive(Default)]
pub(super) struct Preview {
    aim: Option<Aim>,
    /// What was computed last, also where that failed: the same is not tried twice.
    done: Option<Wanted>,
    shown: Option<Shown>,
    coarse: CoarseCopy,
    control: LevelControl,
    report: PreviewReport,
    /// When it was computed during the last second.
    stamps: VecDeque<Instant>,
    painting: Painting,
    /// Octrees were dropped: their places are given back when nothing reads the arena.
    dropped: bool,
    full: Full,
    solving: Solving,
}

#[derive(Clone, PartialEq)]
struct Wanted {
    aim: Aim,
    params: FractureParams,
    /// Cells that were painted to stay.
    kept: Option<Arc<KeptCells>>,
    mode: PreviewMode,
    level: u32,
}

impl Wanted {
    /// Whether this, computed, answers `other`: the same blow, at least as finely.
    fn covers(&self, other: &Self) -> bool {
        let same = (self.aim, &self.params, self.mode) == (other.aim, &other.params, other.mode);
        same && self.kept == other.kept && self.level >= other.level
    }

    /// As the body with its leaves at `full` would break, for its copy at this level: what counts in leaf
    /// voxels shrinks with them.
    fn recipe(&self, full: u32) -> Result<Recipe, FractureError> {
        Ok(self.params.recipe().coarsened(full, self.level)?)
    }

    /// Seeds from a file are for an `intact` body.
    fn cells(&self, def: &BodyDef, intact: bool) -> Result<Cells, FractureError> {
        cells(&self.aim, &self.params, self.kept.as_deref(), (def, intact))
    }
}

impl Preview {
    /// Aims: what [`Preview::update`] shows from now on.
    pub fn set_aim(&mut self, aim: Option<Aim>) {
        self.aim = aim;
    }

    /// What is aimed at.
    pub fn aim(&self) -> Option<Aim> {
        self.aim
    }

    /// Tells how much of a frame's time is left to previews, ms: their level follows it.
    pub fn leave_room(&mut self, ms: f64) {
        self.control.leave_room(ms);
    }

    /// What the preview does.
    pub fn report(&self) -> PreviewReport {
        let lately = self.stamps.iter().filter(|t| t.elapsed() < SECOND).count();
        PreviewReport {
            per_second: lately as u32,
            kept: self.painting.counts(),
            preparing: self.is_preparing(),
            solved: self.solving.solved(),
            solving: self.solving.is_on_its_way(),
            revision: self.report.revision + self.painting.revision(),
            ..self.report
        }
    }

    /// Whether a coarse copy, or a number of seeds, is on its way: the next frame should ask again soon.
    pub fn is_preparing(&self) -> bool {
        self.coarse.is_on_its_way() || self.solving.is_on_its_way()
    }

    /// Whether the preview at the body's own level is on its way.
    pub fn is_refining(&self) -> bool {
        self.full.is_on_its_way()
    }

    /// Has the seeds looked for that give the number of pieces to aim at, where a blow on `target` names one.
    pub fn look_for_seeds(
        &mut self,
        tools: Workshop<'_>,
        aim: Aim,
        target: &Target<'_>,
        kept: Option<Arc<KeptCells>>,
        resting: bool,
    ) {
        self.solving.update(tools, aim, target, kept, resting);
    }

    /// Nothing is aimed at: no seeds are looked for.
    pub fn forget_seeds(&mut self) {
        self.solving.forget();
    }

    /// The parameters of a blow, with seeds in the place of a number of pieces to aim at.
    pub fn with_seeds(&self, aim: &Aim, params: FractureParams) -> FractureParams {
        self.solving.with_seeds(aim, params)
    }

    /// Brings the preview up to date; `true` when it has changed.
    ///
    /// # Errors
    /// [`SandboxError`]; nothing is shown then, and the same is not tried again.
    pub fn update(&mut self, tools: Workshop<'_>, request: Request<'_>) -> Result<bool, SandboxError> {
        self.give_back(tools);
        let is_there = request.target.is_some();
        let (Some(aim), Some(target)) =
            (self.aim, request.target.filter(|_| request.mode != PreviewMode::Off))
        else {
            self.prepare_only(tools, &request.only, request.mode)?;
            return Ok(self.drop_shown(is_there));
        };
        let octree = target.body.def.octree();
        let object_level = octree.level();
        let kept = request.pin.filter(|pin| pin.aim == aim).and_then(|pin| pin.kept.clone());
        if shows_itself(&target.params, request.mode) {
            let (params, mode) = (target.params.clone(), request.mode);
            let wanted = Wanted { aim, params, kept, mode, level: object_level };
            return self.update_by_method(tools, &target, wanted);
        }
        // Not compiled yet: the next frame asks again.
        let Some(fracturer) = tools.passes.ready::<Fracturer>() else {
            return Ok(self.drop_shown(is_there));
        };
        let at_best = self.control.level(object_level);
        let Some(level) = self.coarse.refresh(tools.compute, &octree.forest, octree.tree, at_best)? else {
            return Ok(self.drop_shown(is_there));
        };
        let wanted = Wanted { aim, params: target.params.clone(), kept, mode: request.mode, level };
        let taken = self.take_full(tools, target.body, &wanted);
        if self.done.as_ref().is_some_and(|done| done.covers(&wanted)) {
            if request.resting {
                self.start_full(tools, &target);
            }
            return Ok(taken);
        }
        match self.compute(tools, &fracturer, &target, &wanted) {
            Ok(Some(shown)) => {
                self.replace(Some(shown));
                self.done = Some(wanted);
                self.report.showing = Some(request.mode);
                self.report.revision += 1;
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(SandboxError::Gpu(error) | SandboxError::Fracture(FractureError::Gpu(error)))
                if error.is_about_memory() && level > 5 =>
            {
                self.control.refused(level);
                Ok(false)
            }
            Err(error) => {
                self.drop_shown(is_there);
                self.done = Some(wanted);
                Err(error)
            }
        }
    }

    /// While nothing is aimed at: the object that will be. Where there are several, what was begun for one of
    /// them is given up.
    fn prepare_only(
        &mut self,
        tools: Workshop<'_>,
        only: &Option<&Body>,
        mode: PreviewMode,
    ) -> Result<(), GpuError> {
        if let Some(body) = only.filter(|_| mode != PreviewMode::Off) {
            let octree = body.def.octree();
            let level = self.control.level(octree.level());
            // An object that serves as its own copy has nothing to make ready.
            if level < octree.level() {
                self.coarse.refresh(tools.compute, &octree.forest, octree.tree, level)?;
                return Ok(());
            }
        }
        self.coarse.give_up();
        Ok(())
    }

    /// `None` where the octrees are being read elsewhere just now.
    fn compute(
        &mut self,
        tools: Workshop<'_>,
        fracturer: &Fracturer,
        target: &Target<'_>,
        wanted: &Wanted,
    ) -> Result<Option<Shown>, SandboxError> {
        let def = &target.body.def;
        let start = Instant::now();
        let cells = match self.painting.cells_of(wanted) {
            Some(cells) => cells.clone(),
            None => wanted.cells(def, target.intact)?,
        };
        let planar = wanted.params.surface == Surface::Planar;
        let shown = match wanted.mode {
            PreviewMode::Off => return Ok(None),
            PreviewMode::Seams if planar => {
                let Some(coarse) = self.coarse.there() else {
                    return Ok(None);
                };
                let seams = fracturer.seams(&coarse.keys, wanted.level, &cells.pattern)?;
                // Waited for, so that what is measured is the preview and not the picture after it.
                tools.compute.wait()?;
                seams_of(target.body, coarse, seams, &cells)
            }
            PreviewMode::Seams | PreviewMode::Exploded => {
                match self.break_coarse(tools, fracturer, target.body, wanted, &cells)? {
                    Some(shown) => shown,
                    None => return Ok(None),
                }
            }
        };
        let ms = start.elapsed().as_secs_f64() * 1e3;
        // Until the coarse copy of another level is there, the old one says nothing about it.
        let level = def.octree().level();
        if self.control.level(level) == wanted.level {
            self.control.measured(level, ms);
        }
        self.count(wanted.level, start);
        Ok(Some(shown))
    }

    /// Counts a preview at `level` that was begun at `start`.
    fn count(&mut self, level: u32, start: Instant) {
        self.report.recomputed += 1;
        self.stamps.retain(|t| t.elapsed() < SECOND);
        self.stamps.push_back(Instant::now());
        (self.report.level, self.report.ms) = (level, start.elapsed().as_secs_f64() * 1e3);
    }

    /// Breaks the coarse octree as a click would break the body: its pieces, or the seams that they have.
    fn break_coarse(
        &mut self,
        tools: Workshop<'_>,
        fracturer: &Fracturer,
        body: &Body,
        wanted: &Wanted,
        cells: &Cells,
    ) -> Result<Option<Shown>, SandboxError> {
        let (Some(coarse), Ok(mut arena)) = (self.coarse.there(), tools.arena.try_write()) else {
            return Ok(None);
        };
        arena.insert(&coarse.forest)?;
        let source = Source::new(&arena, &coarse.forest, coarse.tree)?;
        let recipe = wanted.recipe(body.def.octree().level())?;
        let fracture = fracturer.fracture(&source, &cells.pattern, &recipe)?;
        if wanted.mode == PreviewMode::Seams {
            let seams = Seams::of_fracture(tools.compute, coarse.voxels(), &fracture, &cells.pattern)?;
            return Ok(Some(seams_of(body, coarse, seams, cells)));
        }
        // The last preview's octrees go first, so that the arena does not grow.
        if let Some(Shown::Pieces(old)) = self.shown.take() {
            drop(old);
            arena.collect();
        }
        arena.insert(&fracture.forest)?;
        Ok(Some(Shown::Pieces(ShownPieces::new(tools.compute, body, &fracture, cells)?)))
    }

    fn replace(&mut self, shown: Option<Shown>) {
        let old = std::mem::replace(&mut self.shown, shown);
        self.dropped |= matches!(old, Some(Shown::Pieces(_) | Shown::Parts(_)));
    }

    /// Shows nothing any more; `true` when something was shown. The coarse copy stays while the body that is
    /// aimed at `is_there`.
    fn drop_shown(&mut self, is_there: bool) -> bool {
        let was = self.shown.is_some();
        self.replace(None);
        if !is_there {
            self.coarse.drop_idle();
        }
        // A full one that is on its way has nobody to answer.
        self.done = None;
        self.full.forget();
        self.report.showing = None;
        self.report.revision += u64::from(was);
        was
    }

    /// Whether a worker computes something for it.
    pub fn is_busy(&self) -> bool {
        self.coarse.is_on_its_way() || self.full.is_on_its_way() || self.solving.is_on_its_way()
    }

    /// Everything that was computed is for other stages than those to come.
    pub fn forget(&mut self) {
        self.drop_shown(true);
        self.coarse = CoarseCopy::default();
        self.solving = Solving::default();
    }

    fn give_back(&mut self, tools: Workshop<'_>) {
        self.dropped |= self.coarse.take_dropped();
        if self.dropped
            && let Ok(mut arena) = tools.arena.try_write()
        {
            arena.collect();
            self.dropped = false;
        }
    }
}

/// Seams of a coarse copy, on the body that it was made of.
fn seams_of(body: &Body, coarse: &Coarse, seams: Seams, cells: &Cells) -> Shown {
    let first = coarse.first_voxel(&body.def.octree().forest);
    Shown::Seams { body: body.id, seams, first, kept: cells.kept.first().copied() }
}
