//! Looking inside a fracture from the window: the pinned impact's, else the last break's, else that of the
//! blow aimed at last.
//!
//! In: what the view's [`InsideView`] asks for. Out: an overlay for the picture and figures for the panel. A
//! worker with octrees of its own breaks a copy of the body and reads back; the window's thread only places
//! and colours what came of it.

mod report;
#[cfg(test)]
mod tests;
mod worker;

use std::{
    sync::{Arc, Weak, mpsc},
    time::{Duration, Instant},
};

use glam::Mat4;

pub use report::{LabelReport, LookingReport, Subject};

use self::worker::{ToBreak, blueprint, read};
use super::{
    Aim, InsideView, KeptCells, Tuning,
    breaking::{BreakJob, local_from_world, world_from_local_matrix},
    jobs::Workshop,
    overlays::{Blueprint, Inside, Maker, Placing, Reading, overlay},
    stage::Stage,
};
use crate::{
    bodies::Body,
    fracture::{Break, FractureError, FractureParams, Fracturer, Recipe, VoronoiDetail},
    render::Overlay,
    svo::Forest,
};

/// What is asked for must stay the same this long before it is computed.
const SETTLED_AFTER: Duration = Duration::from_millis(250);

/// A fracture that is looked into; equal ones need not be computed again.
#[derive(Clone, PartialEq)]
struct Wanted {
    of: Of,
    reading: Reading,
}

#[derive(Clone, PartialEq)]
enum Of {
    /// A blow that has not fallen: its parameters, the cells that were painted to stay, and whether it is
    /// pinned.
    Aim(Aim, Box<FractureParams>, Option<Arc<KeptCells>>, bool),
    /// A break, by its number.
    Break(u64),
}

/// A break to look back at.
struct Last {
    number: u64,
    // Weak, or it would keep octrees alive that no undo step has any more.
    forest: Weak<Forest>,
    tree: u32,
    blueprint: Blueprint,
    world_from_grid: Mat4,
}

/// What was read, and where it belongs.
struct Shown {
    wanted: Wanted,
    inside: Inside,
}

struct Job {
    wanted: Wanted,
    started: Instant,
    receiver: mpsc::Receiver<Result<Inside, FractureError>>,
}

/// What the overlay was made of.
#[derive(Clone, Copy, PartialEq)]
struct Drawn {
    view: InsideView,
    /// From a grid of side 1.
    world_from_grid: Mat4,
}

/// What a look inside depends on.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub stage: &'a Stage,
    pub tuning: &'a Tuning,
    /// Whether a fracture is on its way, which must not be delayed.
    pub is_breaking: bool,
}

/// What is looked at, and what that needs.
#[derive(Default)]
pub(super) struct Looking {
    pin: Option<Aim>,
    hover: Option<Aim>,
    last: Option<Last>,
    breaks: u64,
    job: Option<Job>,
    /// What is asked for and since when.
    asked: Option<(Wanted, Instant)>,
    /// What failed: it is not tried again.
    failed: Option<Wanted>,
    shown: Option<Shown>,
    drawn: Option<Drawn>,
    overlay: Option<Arc<Overlay>>,
    report: LookingReport,
    revision: u64,
}

impl Looking {
    /// Tells what is aimed at: the pinned impact, and what the pointer is over.
    pub fn look_at(&mut self, pin: Option<Aim>, hover: Option<Aim>) {
        self.pin = pin;
        self.hover = hover.or(self.hover);
    }

    /// Whether something is computed or about to be.
    pub fn is_reading(&self) -> bool {
        self.job.is_some() || self.asked.is_some()
    }

    /// What is being read comes to nothing; it is asked for again.
    pub fn read_again(&mut self) {
        (self.job, self.failed) = (None, None);
    }

    /// What is drawn of it.
    pub fn overlay(&self) -> Option<&Arc<Overlay>> {
        self.overlay.as_ref()
    }

    /// What the panel shows.
    pub fn report(&self) -> &LookingReport {
        &self.report
    }

    /// Changes whenever what is drawn has changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// A new scene, or a world that was put back: nothing to look back at.
    pub fn forget(&mut self) {
        (self.pin, self.hover, self.last) = (None, None, None);
    }

    fn drop_shown(&mut self) {
        (self.shown, self.drawn, self.asked) = (None, None, None);
        self.revision += u64::from(self.overlay.take().is_some());
        self.report = LookingReport::default();
    }

    /// Keeps what a body breaks by, before it is gone.
    pub fn remember(&mut self, body: &Body, job: &BreakJob, broken: &Break) {
        let def = &body.def;
        // Only a break by Voronoi cells can be looked into.
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

    /// Brings the overlay up to date, or starts what that needs. Never waits.
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
        // What is shown stays until the next is there.
        let Some(shown) = self.shown.as_mut().filter(|shown| shown.wanted == wanted) else { return };
        let drawn = Drawn { view, world_from_grid };
        if self.drawn == Some(drawn) {
            return;
        }
        if let Some(steps) = &mut shown.inside.steps {
            steps.show(view.step as usize);
        }
        // Voxels of what was read may be larger than the body's.
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

    /// What is to be looked into, and where that stands: a grid of side 1 to the world.
    fn subject(&self, Context { stage, tuning, .. }: Context<'_>) -> Option<(Of, Mat4)> {
        let standing = |aim: &Aim| {
            let drawn = stage.drawn_at(stage.index(aim.body)?, tuning.view.explode)?;
            let level = stage.body(aim.body)?.def.shape.as_octree()?.level();
            Some(drawn * scale(f64::from(1u32 << level)))
        };
        let params = || Box::new(tuning.fracture.clone());
        if let Some(pin) = self.pin
            && let Some(matrix) = standing(&pin)
        {
            let tuned = tuning.pin.as_ref().filter(|tuned| tuned.aim == pin);
            let kept = tuned.and_then(|tuned| tuned.kept.clone());
            return Some((Of::Aim(pin, params(), kept, true), matrix));
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
        Some((Of::Aim(hover, params(), None, false), matrix))
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
        // Not compiled yet: the next frame asks again.
        if !tools.passes.is_settled::<Fracturer>() {
            return;
        }
        let Some((forest, tree, by)) = self.to_break(context.stage, &wanted) else { return };
        let (sender, receiver) = mpsc::channel();
        let passes = Arc::clone(tools.passes);
        let reading = wanted.reading;
        std::thread::spawn(move || {
            if let Some(fracturer) = passes.ready::<Fracturer>() {
                // The receiver goes where nobody asks any more.
                let _ = sender.send(read(&fracturer, &forest, tree, by, reading));
            }
        });
        self.asked = None;
        self.job = Some(Job { wanted, started: Instant::now(), receiver });
    }

    /// The octree to break, and by what.
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
        let result = match job.receiver.try_recv() {
            Err(mpsc::TryRecvError::Empty) => return,
            Err(mpsc::TryRecvError::Disconnected) => {
                Err(FractureError::Params("the worker stopped unexpectedly".into()))
            }
            Ok(result) => result,
        };
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
