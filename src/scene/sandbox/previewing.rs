//! The live preview: the blow that is aimed, computed on a coarse copy of the body whenever the aim or a parameter has moved.
//!
//! In: an [`Aim`], the tuned values. Out: seams for the picture, or coarse pieces in the body's place. It runs on the caller's thread
//! just before the picture: on a software adapter its waits would otherwise queue behind pictures. Only the coarse copy itself is made by
//! a worker, since a fine object takes a while.

mod coarse;
mod full;
mod painting;
#[cfg(test)]
mod painting_tests;
mod shown;
#[cfg(test)]
mod tests;

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use glam::{DVec3, Vec3};

use self::{
    coarse::{Coarse, CoarseJob},
    shown::{Shown, ShownPieces},
};
use super::{Sandbox, SandboxError, ScenePick};
use crate::{
    bodies::{Body, BodyDef, BodyId},
    fracture::{
        FractureError, FractureParams, Fracturer, Impact, Recipe, Seams, Source, Strike, Surface,
        voronoi::cells_of,
    },
    gpu::GpuError,
    scene::{
        Cells, KeptCells,
        breaking::{seeds_in_local, world_from_local},
        preview::{Aim, LevelControl, PreviewMode, PreviewReport},
    },
};

/// What "a second" of recomputations is.
const SECOND: Duration = Duration::from_secs(1);

/// The preview and what it keeps between frames.
#[derive(Default)]
pub(super) struct Preview {
    aim: Option<Aim>,
    /// What was computed last, also where that failed: the same is not tried twice.
    done: Option<Wanted>,
    shown: Option<Shown>,
    coarse: Option<Coarse>,
    coarsening: Option<CoarseJob>,
    control: LevelControl,
    report: PreviewReport,
    /// When it was computed during the last second.
    stamps: VecDeque<Instant>,
    /// The pinned impact's cells.
    pinned: Option<painting::PinnedCells>,
    /// The cell under the pointer, while cells are painted.
    hovered: Option<u32>,
    /// Octrees were dropped: their places are given back when nothing reads the arena.
    dropped: bool,
    /// The same at the body's own level, on its way, and the last one that was asked for.
    full: Option<full::FullJob>,
    asked: Option<Wanted>,
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

    /// As the body with its leaves at `full` would break, for its copy at this level: what counts in leaf voxels shrinks with them.
    fn recipe(&self, full: u32) -> Result<Recipe, FractureError> {
        self.params.recipe().coarsened(full, self.level)
    }

    /// Seeds from a file are for an `intact` body.
    fn cells(&self, def: &BodyDef, intact: bool) -> Result<Cells, FractureError> {
        cells(&self.aim, &self.params, self.kept.as_deref(), (def, intact))
    }
}

/// The cells of a blow that is aimed, as it would fall.
pub(super) fn cells(
    aim: &Aim,
    params: &FractureParams,
    painted: Option<&KeptCells>,
    (def, intact): (&BodyDef, bool),
) -> Result<Cells, FractureError> {
    let impact = Impact { point: aim.point_in_grid, direction: aim.direction_in_grid };
    let points = if intact { seeds_in_local(params, def)? } else { None };
    let strike = Strike { painted, points: points.as_deref(), ..Strike::new(impact, params) };
    Ok(cells_of(def.octree(), &strike).cells(params)?)
}

impl Sandbox {
    /// The blow that a pick means, along a ray.
    #[must_use]
    pub fn aim_at(&self, pick: &ScenePick, direction: Vec3) -> Option<Aim> {
        let body = self.body(pick.body)?;
        let state = &body.state;
        let point_in_grid = crate::scene::breaking::local_from_world(state, &body.def.shape, pick.point);
        let direction_in_grid = state.rotation.inverse() * direction.as_dvec3();
        Some(Aim { body: pick.body, point_in_grid, direction_in_grid })
    }

    /// Where an aimed blow falls and where to, m in the world; `None` when its body is gone.
    #[must_use]
    pub fn aimed(&self, aim: &Aim) -> Option<(DVec3, DVec3)> {
        let body = self.body(aim.body)?;
        let point = world_from_local(&body.state, &body.def.shape, aim.point_in_grid);
        Some((point, body.state.rotation * aim.direction_in_grid))
    }

    pub(super) fn body(&self, id: BodyId) -> Option<&Body> {
        self.world.bodies.iter().find(|b| b.id == id)
    }

    /// Whether a body stands still, so that a preview of it is worth while.
    #[must_use]
    pub fn is_at_rest(&self, id: BodyId) -> bool {
        self.body(id).is_some_and(|b| b.asleep || b.def.fixed)
    }

    /// Aims: what [`Sandbox::update_preview`] shows from now on.
    pub fn set_aim(&mut self, aim: Option<Aim>) {
        self.preview.aim = aim;
    }

    /// Tells how much of a frame's time is left to previews, ms: their level follows it.
    pub fn leave_room_for_preview(&mut self, ms: f64) {
        self.preview.control.leave_room(ms);
    }

    /// What the preview does.
    #[must_use]
    pub fn preview(&self) -> PreviewReport {
        let preview = &self.preview;
        let lately = preview.stamps.iter().filter(|t| t.elapsed() < SECOND).count();
        PreviewReport {
            per_second: lately as u32,
            kept: preview.pinned.as_ref().map(painting::PinnedCells::counts),
            preparing: preview.coarsening.is_some(),
            ..preview.report
        }
    }

    /// Brings the preview up to date; `true` when it has changed. While a fracture is on its way, what is shown stays.
    ///
    /// # Errors
    /// [`SandboxError`]; nothing is shown then, and the same is not tried again.
    pub fn update_preview(&mut self) -> Result<bool, SandboxError> {
        if self.is_breaking() {
            return Ok(false);
        }
        self.give_back();
        self.refresh_pinned();
        let mode = self.tuning.view.preview;
        let aimed = self.preview.aim.filter(|_| mode != PreviewMode::Off);
        let Some((aim, body)) = aimed.and_then(|aim| Some((aim, self.body(aim.body)?.clone()))) else {
            self.prepare_only_body()?;
            return Ok(self.drop_shown());
        };
        let object_level = body.def.octree().forest.level;
        let passes = Arc::clone(&self.passes);
        // Not compiled yet: the next frame asks again.
        let Some(fracturer) = passes.ready() else {
            return Ok(self.drop_shown());
        };
        let at_best = self.preview.control.level(object_level);
        let Some(level) = self.refresh_coarse(&body.def.octree().forest, body.def.octree().tree, at_best)?
        else {
            return Ok(self.drop_shown());
        };
        let kept = self.tuning.pin.as_ref().filter(|pin| pin.aim == aim).and_then(|pin| pin.kept.clone());
        let wanted = Wanted { aim, params: self.params_for(aim.body), kept, mode, level };
        let taken = self.take_full(&wanted);
        if self.preview.done.as_ref().is_some_and(|done| done.covers(&wanted)) {
            self.start_full(object_level);
            return Ok(taken);
        }
        match self.compute(fracturer, &body, &wanted) {
            Ok(Some(shown)) => {
                self.replace(Some(shown));
                self.preview.done = Some(wanted);
                self.preview.report.showing = Some(mode);
                self.preview.report.revision += 1;
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(
                SandboxError::Gpu(GpuError::TooLarge { .. })
                | SandboxError::Fracture(FractureError::Gpu(GpuError::TooLarge { .. })),
            ) if level > 5 => {
                self.preview.control.refused(level);
                Ok(false)
            }
            Err(error) => {
                self.drop_shown();
                self.preview.done = Some(wanted);
                Err(error)
            }
        }
    }

    /// `None` where the octrees are being read elsewhere just now.
    fn compute(
        &mut self,
        fracturer: &Fracturer,
        body: &Body,
        wanted: &Wanted,
    ) -> Result<Option<Shown>, SandboxError> {
        let def = &body.def;
        let start = Instant::now();
        let cells = match self.preview.pinned.as_ref().filter(|pinned| pinned.answers(wanted)) {
            Some(pinned) => pinned.cells.clone(),
            None => wanted.cells(def, self.is_intact(body.id))?,
        };
        let planar = wanted.params.surface == Surface::Planar;
        let shown = match wanted.mode {
            PreviewMode::Off => return Ok(None),
            PreviewMode::Seams if planar => {
                let Some(coarse) = &self.preview.coarse else {
                    return Ok(None);
                };
                let seams = fracturer.seams(&self.gpu, &coarse.keys, wanted.level, &cells.pattern)?;
                // Waited for, so that what is measured is the preview and not the picture after it.
                let waited = self.gpu.device.poll(wgpu::PollType::wait_indefinitely());
                waited.map_err(|error| GpuError::Driver(error.to_string()))?;
                let (first, kept) = (coarse.first_voxel(&def.octree().forest), cells.kept.first().copied());
                Shown::Seams { body: body.id, seams, first, kept }
            }
            PreviewMode::Seams | PreviewMode::Exploded => {
                match self.break_coarse(fracturer, body, wanted, &cells)? {
                    Some(shown) => shown,
                    None => return Ok(None),
                }
            }
        };
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let preview = &mut self.preview;
        // Until the coarse copy of another level is there, the old one says nothing about it.
        if preview.control.level(def.octree().forest.level) == wanted.level {
            preview.control.measured(def.octree().forest.level, ms);
        }
        preview.report.recomputed += 1;
        preview.stamps.retain(|t| t.elapsed() < SECOND);
        preview.stamps.push_back(Instant::now());
        (preview.report.level, preview.report.ms) = (wanted.level, ms);
        Ok(Some(shown))
    }

    /// Breaks the coarse octree as a click would break the body: its pieces, or the seams that they have.
    fn break_coarse(
        &mut self,
        fracturer: &Fracturer,
        body: &Body,
        wanted: &Wanted,
        cells: &Cells,
    ) -> Result<Option<Shown>, SandboxError> {
        let shared = Arc::clone(&self.arena);
        let (Some(coarse), Ok(mut arena)) = (&mut self.preview.coarse, shared.try_write()) else {
            return Ok(None);
        };
        arena.insert(&self.gpu, &coarse.forest)?;
        let source = Source::new(&arena, &coarse.forest, coarse.tree)?;
        let recipe = wanted.recipe(body.def.octree().forest.level)?;
        let fracture = fracturer.fracture(&self.gpu, &source, &cells.pattern, &recipe)?;
        if wanted.mode == PreviewMode::Seams {
            let seams = Seams::of_fracture(&self.gpu, coarse.voxels(), &fracture, &cells.pattern)?;
            let (first, kept) = (coarse.first_voxel(&body.def.octree().forest), cells.kept.first().copied());
            return Ok(Some(Shown::Seams { body: body.id, seams, first, kept }));
        }
        // The last preview's octrees go first, so that the arena does not grow.
        if let Some(Shown::Pieces(old)) = self.preview.shown.take() {
            drop(old);
            arena.collect();
        }
        arena.insert(&self.gpu, &fracture.forest)?;
        Ok(Some(Shown::Pieces(ShownPieces::new(&self.gpu, body, &fracture, cells)?)))
    }

    fn replace(&mut self, shown: Option<Shown>) {
        let old = std::mem::replace(&mut self.preview.shown, shown);
        self.preview.dropped |= matches!(old, Some(Shown::Pieces(_)));
    }

    /// Shows nothing any more; `true` when something was shown.
    fn drop_shown(&mut self) -> bool {
        let was = self.preview.shown.is_some();
        self.replace(None);
        if self.preview.aim.is_none_or(|aim| self.body(aim.body).is_none()) {
            self.preview.dropped |= self.preview.coarse.take_if(Coarse::is_idle).is_some();
        }
        // A full one that is on its way has nobody to answer.
        (self.preview.done, self.preview.full, self.preview.asked) = (None, None, None);
        self.preview.report.showing = None;
        self.preview.report.revision += u64::from(was);
        was
    }

    fn give_back(&mut self) {
        if self.preview.dropped
            && let Ok(mut arena) = self.arena.try_write()
        {
            arena.collect();
            self.preview.dropped = false;
        }
    }
}
