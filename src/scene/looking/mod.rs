//! Shows a fracture's internals in the window: of the pinned impact, or else of the last break, or else of the blow
//! aimed at last.
//!
//! In: the view's [`InsideView`]. Out: an overlay for the picture and figures for the panel. A worker with octrees of
//! its own breaks a copy of the body and reads back; the window's thread only places and colours the result.

mod one_break;
mod report;
#[cfg(test)]
mod tests;
mod worker;

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use glam::Mat4;

pub(in crate::scene) use one_break::{BreakInside, OneBreak};
pub use report::{LabelReport, LookingReport, Subject};

use self::worker::{ToBreak, blueprint, read};
use super::{
    Aim, InsideView, KeptCells, Probe, Tuning,
    breaking::Workshop,
    breaking::{BreakJob, local_from_world, world_from_local_matrix},
    jobs::Worker,
    overlays::{Blueprint, Inside, Maker, Placing, Reading, overlay},
    stage::Stage,
};
use crate::{
    bodies::{Body, BodyId},
    fracture::{Break, FractureError, FractureParams, Fracturer, Recipe, VoronoiDetail},
    render::Overlay,
    svo::Forest,
};

/// The request must be unchanged for this long before it is computed.
const SETTLED_AFTER: Duration = Duration::from_millis(250);

/// Identifies a fracture to show; equal ones need not be computed again.
#[derive(Clone, PartialEq)]
struct Wanted {
    of: Of,
    reading: Reading,
}

#[derive(Clone, PartialEq)]
enum Of {
    /// A blow that has not fallen: its parameters, painted cells, and whether it is pinned.
    Aim(Aim, Box<FractureParams>, Option<Arc<KeptCells>>, bool),
    /// A break, by its number.
    Break(u64),
}

/// The last break.
struct Last {
    number: u64,
    // Weak, since it must not keep octrees alive that no undo step needs.
    forest: Weak<Forest>,
    tree: u32,
    blueprint: Blueprint,
    world_from_grid: Mat4,
}

/// The data read back, and the transform to the world.
struct Shown {
    wanted: Wanted,
    inside: Inside,
}

struct Job {
    wanted: Wanted,
    started: Instant,
    /// Without a result where the pipelines could not be made.
    worker: Worker<Option<Result<Inside, FractureError>>>,
}

/// What the overlay was made from.
#[derive(Clone, Copy, PartialEq)]
struct Drawn {
    view: InsideView,
    /// Transform from a grid of side 1.
    world_from_grid: Mat4,
}

/// What the overlay depends on.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub stage: &'a Stage,
    pub tuning: &'a Tuning,
    /// Whether a fracture is in progress, which must not be delayed.
    pub is_breaking: bool,
}

/// State of showing a fracture's internals.
#[derive(Default)]
pub(super) struct Looking {
    pin: Option<Aim>,
    hover: Option<Aim>,
    last: Option<Last>,
    breaks: u64,
    job: Option<Job>,
    /// The request and its time.
    asked: Option<(Wanted, Instant)>,
    /// A request that failed and is not tried again.
    failed: Option<Wanted>,
    shown: Option<Shown>,
    drawn: Option<Drawn>,
    overlay: Option<Arc<Overlay>>,
    report: LookingReport,
    revision: u64,
}

impl Looking {
    /// Sets the pinned impact and the blow under the pointer.
    pub fn look_at(&mut self, pin: Option<Aim>, hover: Option<Aim>) {
        self.pin = pin;
        self.hover = hover.or(self.hover);
    }

    /// Whether something is being computed, or will be.
    pub fn is_reading(&self) -> bool {
        self.job.is_some() || self.asked.is_some()
    }

    /// Discards the computation in progress; it is started again.
    pub fn read_again(&mut self) {
        (self.job, self.failed) = (None, None);
    }

    /// The overlay.
    pub fn overlay(&self) -> Option<&Arc<Overlay>> {
        self.overlay.as_ref()
    }

    /// Figures for the panel.
    pub fn report(&self) -> &LookingReport {
        &self.report
    }

    /// Changes whenever the overlay changes.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Forgets the last break, because the scene was opened or restored.
    pub fn forget(&mut self) {
        (self.pin, self.hover, self.last) = (None, None, None);
    }

    /// Whether the inside that is shown is that of the break of this tree of a forest.
    pub fn is_of_break(&self, forest: &Arc<Forest>, tree: u32) -> bool {
        let (Some(shown), Some(last)) = (&self.shown, &self.last) else { return false };
        // What is shown was made of a copy of the forest.
        let is_it = last.tree == tree && std::ptr::eq(last.forest.as_ptr(), Arc::as_ptr(forest));
        is_it && shown.wanted.of == Of::Break(last.number)
    }

    /// Whether it is that of a blow aimed at this body.
    pub fn is_of_aim_at(&self, body: BodyId) -> bool {
        let aim = self.shown.as_ref().map(|shown| &shown.wanted.of);
        matches!(aim, Some(Of::Aim(aim, ..)) if aim.body == body)
    }

    /// Adds to a probe what is shown of the inside, of the copy in a piece if one is given.
    pub fn probe(&mut self, probe: Probe, piece: Option<usize>) -> Probe {
        match &mut self.shown {
            Some(shown) => probe.with_inside_of(&mut shown.inside, piece),
            None => probe,
        }
    }

    fn drop_shown(&mut self) {
        (self.shown, self.drawn, self.asked) = (None, None, None);
        self.revision += u64::from(self.overlay.take().is_some());
        self.report = LookingReport::default();
    }

    /// Records a break's parameters before its body is replaced.
    pub fn remember(&mut self, body: &Body, job: &BreakJob, broken: &Break) {
        let def = &body.def;
        // Only breaks by Voronoi cells can be shown.
        let (Some(detail), Some(pattern)) = (VoronoiDetail::of(broken), broken.pattern.clone()) else {
            self.last = None;
            return;
        };
        let recipe = Recipe { surface_color: None, ..detail.recipe.clone() };
        let impact = local_from_world(&body.state, &def.shape, job.blow.point);
        self.breaks += 1;
        self.last = Some(Last {
            number: self.breaks,
            forest: Arc::downgrade(&def.octree().forest),
            tree: def.octree().tree,
            blueprint: blueprint(pattern, recipe, impact, &job.params, def.octree().mass.bounds),
            world_from_grid: world_from_local_matrix(&body.state, &def.shape),
        });
    }

    /// Updates the overlay, or starts the computation for it. Never waits.
    pub fn update(&mut self, tools: Workshop<'_>, context: Context<'_>) {
        let view = context.tuning.view.inside;
        let parts = view.parts();
        if parts.is_empty() {
            self.job = None;
            self.drop_shown();
            return;
        }
        let mut reading = Reading::of(&parts, context.tuning.field_level);
        // To the end: the slider goes there and back.
        reading.labels = reading.labels.map(|(flood, _)| (flood, None));
        let Some((of, world_from_grid)) = self.subject(context) else {
            self.job = None;
            self.drop_shown();
            return;
        };
        let wanted = Wanted { of, reading };
        self.take_read(&wanted);
        self.start_reading(tools, context, wanted.clone());
        self.report.is_reading = self.job.is_some() || self.asked.is_some();
        // The present overlay stays until the next is ready.
        let Some(shown) = self.shown.as_mut().filter(|shown| shown.wanted == wanted) else { return };
        let drawn = Drawn { view, world_from_grid };
        if self.drawn == Some(drawn) {
            return;
        }
        if let Some(steps) = &mut shown.inside.steps {
            steps.show(view.step as usize);
        }
        // The data's voxels may be larger than the body's.
        let voxel = scale(1.0 / f64::from(1u32 << shown.inside.forest.level));
        let placing = Placing::whole(world_from_grid * voxel);
        let made = overlay(&shown.inside, &parts, &placing, view.through);
        self.report.drawn = [made.lines.len(), made.points.len(), made.triangles.len()];
        self.report.labels = shown.inside.steps.as_ref().map(|s| LabelReport::of(s, &shown.inside));
        self.report.transition = shown.inside.transition;
        let most = |maker: Maker| Some((maker, (maker.number.as_ref()?.most)(&shown.inside)));
        self.report.most = Maker::ALL.into_iter().filter_map(most).collect();
        (self.overlay, self.drawn) = (Some(Arc::new(made)), Some(drawn));
        self.revision += 1;
    }

    /// The fracture to show, and the transform from a grid of side 1 to the world.
    fn subject(&self, Context { stage, tuning, .. }: Context<'_>) -> Option<(Of, Mat4)> {
        let standing = |aim: &Aim| {
            let drawn = stage.drawn_at(stage.index(aim.body)?, tuning.view.explode)?;
            let level = stage.body(aim.body)?.def.shape.as_octree()?.level();
            Some(drawn * scale(f64::from(1u32 << level)))
        };
        let params = |aim: &Aim| {
            let object = stage.info_or_whole(aim.body).object;
            let mut params = tuning.fracture.clone();
            params.paint.retain(|dab| dab.body as usize == object);
            Box::new(params)
        };
        if let Some(pin) = self.pin
            && let Some(matrix) = standing(&pin)
        {
            let tuned = tuning.pin.as_ref().filter(|tuned| tuned.aim == pin);
            let kept = tuned.and_then(|tuned| tuned.kept.clone());
            return Some((Of::Aim(pin, params(&pin), kept, true), matrix));
        }
        if let Some(last) = &self.last
            && let Some(forest) = last.forest.upgrade()
        {
            return Some((
                Of::Break(last.number),
                last.world_from_grid * scale(f64::from(1u32 << forest.level)),
            ));
        }
        let hover = self.hover?;
        let matrix = standing(&hover)?;
        Some((Of::Aim(hover, params(&hover), None, false), matrix))
    }

    fn start_reading(&mut self, tools: Workshop<'_>, context: Context<'_>, wanted: Wanted) {
        let is_there = self.shown.as_ref().is_some_and(|shown| shown.wanted == wanted);
        if is_there || self.failed.as_ref() == Some(&wanted) {
            self.asked = None;
            return;
        }
        let since = match self.asked.take() {
            Some((asked, since)) if asked == wanted => since,
            _ => Instant::now(),
        };
        self.asked = Some((wanted.clone(), since));
        if self.job.is_some() || since.elapsed() < SETTLED_AFTER || context.is_breaking {
            return;
        }
        // The pipelines are not compiled yet: tried again in the next frame.
        if !tools.passes.is_settled::<Fracturer>() {
            return;
        }
        let Some((forest, tree, by)) = self.to_break(context.stage, &wanted) else { return };
        let passes = Arc::clone(tools.passes);
        let reading = wanted.reading;
        let worker = Worker::start(move |_| {
            let fracturer = passes.ready::<Fracturer>()?;
            Some(read(&fracturer, &forest, tree, by, reading))
        });
        self.asked = None;
        self.job = Some(Job { wanted, started: Instant::now(), worker });
    }

    /// The octree to break, and the parameters.
    fn to_break(&self, stage: &Stage, wanted: &Wanted) -> Option<(Arc<Forest>, u32, ToBreak)> {
        match &wanted.of {
            Of::Aim(aim, params, kept, _) => {
                let def = stage.body(aim.body)?.def.clone();
                let (forest, tree, intact) = (
                    Arc::clone(&def.octree().forest),
                    def.octree().tree,
                    stage.info_or_whole(aim.body).is_intact(),
                );
                let (params, kept) = (params.clone(), kept.clone());
                Some((forest, tree, ToBreak::Aimed { aim: *aim, params, kept, def: Box::new(def), intact }))
            }
            Of::Break(number) => {
                let last = self.last.as_ref().filter(|last| last.number == *number)?;
                Some((last.forest.upgrade()?, last.tree, ToBreak::Known(last.blueprint.clone())))
            }
        }
    }

    fn take_read(&mut self, wanted: &Wanted) {
        let Some(job) = &self.job else { return };
        let Some(ended) = job.worker.ended() else { return };
        let stopped = || Err(FractureError::Params("the worker stopped unexpectedly".into()));
        let result = ended.flatten().unwrap_or_else(stopped);
        let Some(job) = self.job.take() else { return };
        if job.wanted != *wanted {
            return;
        }
        self.drop_shown();
        self.report.subject = Some(match wanted.of {
            Of::Aim(.., true) => Subject::Pin,
            Of::Aim(.., false) => Subject::Hover,
            Of::Break(_) => Subject::LastBreak,
        });
        match result {
            Ok(inside) => {
                self.report.level = inside.forest.level;
                self.report.ms = job.started.elapsed().as_secs_f64() * 1e3;
                self.shown = Some(Shown { wanted: job.wanted, inside });
            }
            Err(error) => {
                self.report.problem = Some(error.to_string());
                self.failed = Some(job.wanted);
            }
        }
    }
}

fn scale(factor: f64) -> Mat4 {
    Mat4::from_scale(glam::Vec3::splat(factor as f32))
}
