//! The live preview: the aimed blow, computed on a coarse copy of the body whenever the aim or a parameter changes.
//!
//! In: an [`Aim`], its body, tuned values. Out: seams for the picture, or coarse pieces in the body's place. Computed
//! on the caller's thread just before the picture: on a software adapter its waits would otherwise queue behind
//! pictures. Workers only make the coarse copy, since a fine object takes a while, and the preview at the body's own
//! level.

mod by_method;
mod coarse;
mod full;
mod level;
mod outlined;
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
    outlined::Outlined,
    painting::Painting,
    shown::{Shown, ShownPieces},
    solving::Solving,
};
use super::{
    Aim, Cells, KeptCells, Pin, PreviewMode, SandboxError,
    breaking::{Workshop, cells},
};
use crate::{
    bodies::{Body, BodyDef},
    fracture::{FractureError, FractureParams, Fracturer, Recipe, Seams, Solved, Source, Surface},
    gpu::GpuError,
};

pub use level::LevelControl;
pub(super) use painting::Stroke;
pub(super) use shown::Scenery;

/// Interval over which recomputations per second are counted.
const SECOND: Duration = Duration::from_secs(1);

/// State of the preview, for the panels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PreviewReport {
    /// The preview on display; `None` while nothing is aimed at.
    pub showing: Option<PreviewMode>,
    /// Octree level of the last preview.
    pub level: u32,
    /// Wall-clock time of the last preview, ms.
    pub ms: f64,
    /// Number of recomputations.
    pub recomputed: u64,
    /// Number of recomputations in the last second.
    pub per_second: u32,
    /// Number of cells of the pinned impact that stay, and of all its cells; `None` without a pin.
    pub kept: Option<(u32, u32)>,
    /// Whether a coarse copy is being made for it.
    pub preparing: bool,
    /// How the number of pieces was solved for; `None` if none is set or it is not solved yet.
    pub solved: Option<Solved>,
    /// Whether it is being solved for.
    pub solving: bool,
    /// Changes whenever the preview's picture may have changed.
    pub revision: u64,
}

/// The body aimed at, and its fracture parameters.
pub(super) struct Target<'a> {
    pub body: &'a Body,
    /// Whether it is as it was imported.
    pub intact: bool,
    pub params: FractureParams,
}

/// Request for a preview.
pub(super) struct Request<'a> {
    /// The body aimed at, while it exists.
    pub target: Option<Target<'a>>,
    /// The only body, prepared while nothing is aimed at.
    pub only: Option<&'a Body>,
    pub mode: PreviewMode,
    pub pin: Option<&'a Pin>,
    /// Whether the user is not changing a value.
    pub resting: bool,
}

/// The preview and its cached data.
#[derive(Default)]
pub(super) struct Preview {
    aim: Option<Aim>,
    /// The last request, including a failed one, so that it is not tried twice.
    done: Option<Wanted>,
    shown: Option<Shown>,
    coarse: CoarseCopy,
    control: LevelControl,
    report: PreviewReport,
    /// Times of the recomputations in the last second.
    stamps: VecDeque<Instant>,
    painting: Painting,
    /// Whether octrees were dropped whose memory must be freed once nothing reads the arena.
    dropped: bool,
    full: Full,
    solving: Solving,
    pub(in crate::scene) outlined: Outlined,
}

#[derive(Clone, PartialEq)]
struct Wanted {
    aim: Aim,
    params: FractureParams,
    /// Cells painted to stay.
    kept: Option<Arc<KeptCells>>,
    mode: PreviewMode,
    level: u32,
}

impl Wanted {
    /// Whether the result for this request also answers `other`: the same blow, at least as fine.
    fn covers(&self, other: &Self) -> bool {
        let same = (self.aim, &self.params, self.mode) == (other.aim, &other.params, other.mode);
        same && self.kept == other.kept && self.level >= other.level
    }

    /// The recipe for the copy at this level of a body with leaves at `full`: values in leaf voxels are scaled.
    fn recipe(&self, full: u32) -> Result<Recipe, FractureError> {
        Ok(self.params.recipe().coarsened(full, self.level)?)
    }

    /// Seeds from a file apply to an `intact` body only.
    fn cells(&self, def: &BodyDef, intact: bool) -> Result<Cells, FractureError> {
        cells(self.aim.impact(), &self.params, self.kept.as_deref(), (def, intact))
    }
}

impl Preview {
    /// Sets the aim for [`Preview::update`].
    pub fn set_aim(&mut self, aim: Option<Aim>) {
        self.aim = aim;
    }

    /// The present aim.
    pub fn aim(&self) -> Option<Aim> {
        self.aim
    }

    /// Sets the time that a frame leaves to previews, ms; the level follows it.
    pub fn leave_room(&mut self, ms: f64) {
        self.control.leave_room(ms);
    }

    /// State of the preview.
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

    /// Whether a coarse copy or a number of seeds is being computed, so that the next frame should update the preview.
    pub fn is_preparing(&self) -> bool {
        self.coarse.is_on_its_way() || self.solving.is_on_its_way() || self.outlined.is_on_its_way()
    }

    /// Whether the preview at the body's own level is being computed.
    pub fn is_refining(&self) -> bool {
        self.full.is_on_its_way()
    }

    /// Starts solving for the number of seeds, if a blow on `target` sets a number of pieces.
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

    /// Cancels the solving, because nothing is aimed at.
    pub fn forget_seeds(&mut self) {
        self.solving.forget();
    }

    /// The parameters of a blow, with a number of seeds in place of a number of pieces.
    pub fn with_seeds(&self, aim: &Aim, params: FractureParams) -> FractureParams {
        self.solving.with_seeds(aim, params)
    }

    /// Updates the preview; returns whether it has changed.
    ///
    /// # Errors
    /// [`SandboxError`]; nothing is shown then, and the same is not tried again.
    pub fn update(&mut self, tools: Workshop<'_>, request: Request<'_>) -> Result<bool, SandboxError> {
        self.give_back(tools);
        self.outlined.poll();
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
        // The pipelines are not compiled yet: tried again in the next frame.
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

    /// Prepares the only object while nothing is aimed at. If there are several objects, a copy being made for one of
    /// them is cancelled.
    fn prepare_only(
        &mut self,
        tools: Workshop<'_>,
        only: &Option<&Body>,
        mode: PreviewMode,
    ) -> Result<(), GpuError> {
        if let Some(body) = only.filter(|_| mode != PreviewMode::Off) {
            let octree = body.def.octree();
            let level = self.control.level(octree.level());
            // An object at its own level needs no copy.
            if level < octree.level() {
                self.coarse.refresh(tools.compute, &octree.forest, octree.tree, level)?;
                return Ok(());
            }
        }
        self.coarse.give_up();
        Ok(())
    }

    /// `None` while another thread has the octrees locked.
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
                // Waits, so that the measurement covers the preview and not the next picture.
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
        // A copy of another level than requested says nothing about the requested one's time.
        let level = def.octree().level();
        if self.control.level(level) == wanted.level {
            self.control.measured(level, ms);
        }
        self.count(wanted.level, start);
        Ok(Some(shown))
    }

    /// Records a preview at `level` that started at `start`.
    fn count(&mut self, level: u32, start: Instant) {
        self.report.recomputed += 1;
        self.stamps.retain(|t| t.elapsed() < SECOND);
        self.stamps.push_back(Instant::now());
        (self.report.level, self.report.ms) = (level, start.elapsed().as_secs_f64() * 1e3);
    }

    /// Breaks the coarse octree as a click would break the body; returns its pieces, or their seams.
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
        // The last preview's octrees are freed first, so that the arena does not grow.
        if let Some(Shown::Pieces(old)) = self.shown.take() {
            drop(old);
            arena.collect();
        }
        arena.insert(&fracture.forest)?;
        Ok(Some(Shown::Pieces(ShownPieces::new(tools.compute, body, &fracture, cells)?)))
    }

    fn replace(&mut self, shown: Option<Shown>) {
        self.outlined.hide();
        let old = std::mem::replace(&mut self.shown, shown);
        self.dropped |= matches!(old, Some(Shown::Pieces(_) | Shown::Parts(_)));
    }

    /// Clears the preview; returns whether anything was on display. The coarse copy is kept while its body `is_there`.
    fn drop_shown(&mut self, is_there: bool) -> bool {
        let was = self.shown.is_some() || self.outlined.is_shown();
        self.replace(None);
        if !is_there {
            self.coarse.drop_idle();
        }
        // A full preview being computed would answer no request.
        self.done = None;
        self.full.forget();
        self.report.showing = None;
        self.report.revision += u64::from(was);
        was
    }

    /// Whether a worker is computing something for it.
    pub fn is_busy(&self) -> bool {
        self.is_preparing() || self.full.is_on_its_way()
    }

    /// Drops everything computed, because the stages move to another backend.
    pub fn forget(&mut self) {
        self.drop_shown(true);
        self.coarse = CoarseCopy::default();
        self.solving = Solving::default();
        self.outlined = Outlined::default();
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

/// Converts the seams of a coarse copy for the body.
fn seams_of(body: &Body, coarse: &Coarse, seams: Seams, cells: &Cells) -> Shown {
    let first = coarse.first_voxel(&body.def.octree().forest);
    Shown::Seams { body: body.id, seams, first, kept: cells.kept.first().copied() }
}
