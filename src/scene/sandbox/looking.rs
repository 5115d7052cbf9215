//! Looking inside a fracture from the window: the pinned impact's, else the last break's, else that of the blow aimed at last.
//!
//! In: what the view's [`InsideView`] asks for. Out: an overlay for the picture and figures for the panel. A worker with octrees of its own
//! breaks a copy of the body and reads back; the window's thread only places and colours what came of it.

#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, Weak, mpsc},
    time::{Duration, Instant},
};

use glam::Mat4;

use super::{Sandbox, previewing::cells};
use crate::{
    bodies::{Body, BodyDef},
    fracture::{Break, FractureError, FractureParams, Fracturer, Pattern, Recipe, Source, VoronoiDetail},
    gpu::Gpu,
    render::Overlay,
    scene::{
        Aim, InsideView, KeptCells,
        breaking::{BreakJob, local_from_world, world_from_local_matrix},
        overlays::{Blueprint, Inside, LabelSteps, Part, Placing, overlay},
    },
    svo::{Arena, Forest, coarsen},
};

/// Finest level that is looked into: finer, and the labelling takes too long to wait for.
const MOST_LEVEL: u32 = 7;
/// What is asked for must stay the same this long before it is computed.
const SETTLED_AFTER: Duration = Duration::from_millis(250);

/// Whose fracture is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The impact that is pinned.
    Pin,
    /// The last break, where the body stood.
    LastBreak,
    /// The blow that was aimed at last.
    Hover,
}

/// What the panel shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookingReport {
    /// Whose fracture is shown.
    pub subject: Option<Subject>,
    /// Whether it is being computed.
    pub is_reading: bool,
    /// Octree level it was computed at.
    pub level: u32,
    /// Wall-clock time that took, ms.
    pub ms: f64,
    /// Lines, points, triangles drawn.
    pub drawn: [usize; 3],
    /// Level of crack surfaces; `None` where they are planar.
    pub transition: Option<u32>,
    /// The labelling that is watched.
    pub labels: Option<LabelReport>,
    /// Why there is nothing to see.
    pub problem: Option<String>,
}

/// One iteration of the published labelling, and all of them in figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelReport {
    /// Iteration that is shown, 0 before the first.
    pub at: usize,
    /// Labels that changed in each iteration.
    pub changes: Vec<u64>,
    /// Voxels.
    pub voxels: usize,
    /// Cells at rest after the iteration, and all.
    pub resting: [usize; 2],
    /// Different labels that are shown.
    pub distinct: usize,
    /// Islands that the union-find found.
    pub islands: usize,
    /// Whether labels and islands are the same but for their names.
    pub agrees: bool,
}

/// A fracture that is looked into; equal ones need not be computed again.
#[derive(Clone, PartialEq)]
struct Wanted {
    of: Of,
    /// Whether the labelling is watched, and without flattening.
    labels: Option<bool>,
}

#[derive(Clone, PartialEq)]
enum Of {
    /// A blow that has not fallen: its parameters, the cells that were painted to stay, and whether it is pinned.
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
    /// Whether something is computed or about to be.
    pub(super) fn is_reading(&self) -> bool {
        self.job.is_some() || self.asked.is_some()
    }

    /// What is drawn of it.
    pub(super) fn overlay(&self) -> Option<&Arc<Overlay>> {
        self.overlay.as_ref()
    }

    /// Changes whenever that has changed.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// A new scene, or a world that was put back: nothing to look back at.
    pub(super) fn forget(&mut self) {
        (self.pin, self.hover, self.last) = (None, None, None);
    }

    fn drop_shown(&mut self) {
        (self.shown, self.drawn, self.asked) = (None, None, None);
        self.revision += u64::from(self.overlay.take().is_some());
        self.report = LookingReport::default();
    }
}

impl Sandbox {
    /// Tells what is aimed at: the pinned impact, and what the pointer is over.
    pub fn look_at(&mut self, pin: Option<Aim>, hover: Option<Aim>) {
        self.looking.pin = pin;
        self.looking.hover = hover.or(self.looking.hover);
    }

    /// What is drawn over the picture.
    #[must_use]
    pub fn inside_overlay(&self) -> Option<&Arc<Overlay>> {
        self.touched.overlay().or(self.looking.overlay.as_ref())
    }

    /// What is shown of the inside.
    #[must_use]
    pub fn looking(&self) -> &LookingReport {
        &self.looking.report
    }

    /// Changes whenever the overlay has changed.
    #[must_use]
    pub fn looking_revision(&self) -> u64 {
        self.looking.revision + self.touched.revision()
    }

    /// Keeps what a body breaks by, before it is gone.
    pub(super) fn remember_break(&mut self, body: &Body, job: &BreakJob, broken: &Break) {
        let def = &body.def;
        // Only a break by Voronoi cells can be looked into.
        let Some(detail) = broken.detail_as::<VoronoiDetail>() else {
            self.looking.last = None;
            return;
        };
        let recipe = Recipe { surface_color: None, ..detail.recipe.clone() };
        let impact = local_from_world(&body.state, &def.shape, job.blow.point);
        let pattern = detail.pattern.clone();
        self.looking.breaks += 1;
        self.looking.last = Some(Last {
            number: self.looking.breaks,
            forest: Arc::downgrade(&def.octree().forest),
            tree: def.octree().tree,
            blueprint: blueprint(pattern, recipe, impact, &job.params, def.octree().mass.bounds),
            world_from_grid: world_from_local_matrix(&body.state, &def.shape),
        });
    }

    /// Brings the overlay up to date, or starts what that needs. Never waits.
    pub fn update_looking(&mut self) {
        let view = self.tuning.view.inside;
        let parts = view.parts();
        if parts.is_empty() {
            self.looking.job = None;
            self.looking.drop_shown();
            return;
        }
        let labels = parts.iter().find_map(|part| match part {
            Part::Labels(Some(_)) => Some(false),
            Part::Flood(_) => Some(true),
            _ => None,
        });
        let Some((of, world_from_grid)) = self.subject() else {
            self.looking.job = None;
            self.looking.drop_shown();
            return;
        };
        let wanted = Wanted { of, labels };
        self.take_read(&wanted);
        self.start_reading(wanted.clone());
        let looking = &mut self.looking;
        looking.report.is_reading = looking.job.is_some() || looking.asked.is_some();
        // What is shown stays until the next is there.
        let Some(shown) = looking.shown.as_mut().filter(|shown| shown.wanted == wanted) else { return };
        let drawn = Drawn { view, world_from_grid };
        if looking.drawn == Some(drawn) {
            return;
        }
        if let Some(steps) = &mut shown.inside.steps {
            steps.show(view.step as usize);
        }
        // Voxels of what was read may be larger than the body's.
        let voxel = scale(1.0 / f64::from(1u32 << shown.inside.forest.level));
        let placing = Placing::whole(world_from_grid * voxel);
        let made = overlay(&shown.inside, &parts, &placing, view.through);
        looking.report.drawn = [made.lines.len(), made.points.len(), made.triangles.len()];
        looking.report.labels = shown.inside.steps.as_ref().map(|s| label_report(s, &shown.inside));
        looking.report.transition = shown.inside.transition;
        (looking.overlay, looking.drawn) = (Some(Arc::new(made)), Some(drawn));
        looking.revision += 1;
    }

    /// What is to be looked into, and where that stands: a grid of side 1 to the world.
    fn subject(&self) -> Option<(Of, Mat4)> {
        let standing = |sandbox: &Self, aim: &Aim| {
            let body = sandbox.world.bodies.iter().position(|b| b.id == aim.body)?;
            let drawn = sandbox.render_bodies(None).into_iter().nth(body)?;
            Some(drawn.world_from_local * scale(f64::from(1u32 << drawn.shape.as_octree()?.level())))
        };
        let params = || Box::new(self.tuning.fracture.clone());
        if let Some(pin) = self.looking.pin
            && let Some(matrix) = standing(self, &pin)
        {
            let tuned = self.tuning.pin.as_ref().filter(|tuned| tuned.aim == pin);
            let kept = tuned.and_then(|tuned| tuned.kept.clone());
            return Some((Of::Aim(pin, params(), kept, true), matrix));
        }
        if let Some(last) = &self.looking.last
            && let Some(forest) = last.forest.upgrade()
        {
            return Some((
                Of::Break(last.number),
                last.world_from_grid * scale(f64::from(1u32 << forest.level)),
            ));
        }
        let hover = self.looking.hover?;
        let matrix = standing(self, &hover)?;
        Some((Of::Aim(hover, params(), None, false), matrix))
    }

    fn start_reading(&mut self, wanted: Wanted) {
        let looking = &mut self.looking;
        let is_there = looking.shown.as_ref().is_some_and(|shown| shown.wanted == wanted);
        if is_there || looking.failed.as_ref() == Some(&wanted) {
            looking.asked = None;
            return;
        }
        let since = match looking.asked.take() {
            Some((asked, since)) if asked == wanted => since,
            _ => Instant::now(),
        };
        looking.asked = Some((wanted.clone(), since));
        if looking.job.is_some() || since.elapsed() < SETTLED_AFTER || self.is_breaking() {
            return;
        }
        // Not compiled yet: the next frame asks again.
        if !self.passes.is_settled() {
            return;
        }
        let Some((forest, tree, work)) = self.work_for(&wanted) else { return };
        let (sender, receiver) = mpsc::channel();
        let (gpu, passes) = (self.gpu.clone(), Arc::clone(&self.passes));
        let parts = match wanted.labels {
            Some(true) => vec![Part::Flood(None)],
            Some(false) => vec![Part::Labels(Some(u32::MAX))],
            None => Vec::new(),
        };
        std::thread::spawn(move || {
            if let Some(fracturer) = passes.ready() {
                // The receiver goes where nobody asks any more.
                let _ = sender.send(read(&gpu, fracturer, &forest, tree, work, &parts));
            }
        });
        self.looking.asked = None;
        self.looking.job = Some(Job { wanted, started: Instant::now(), receiver });
    }

    /// The octree to break, and by what.
    fn work_for(&self, wanted: &Wanted) -> Option<(Arc<Forest>, u32, Work)> {
        match &wanted.of {
            Of::Aim(aim, params, kept, _) => {
                let def = self.world.bodies.iter().find(|b| b.id == aim.body)?.def.clone();
                let (forest, tree, intact) =
                    (Arc::clone(&def.octree().forest), def.octree().tree, self.is_intact(aim.body));
                let (params, kept) = (params.clone(), kept.clone());
                Some((forest, tree, Work::Aimed { aim: *aim, params, kept, def: Box::new(def), intact }))
            }
            Of::Break(number) => {
                let last = self.looking.last.as_ref().filter(|last| last.number == *number)?;
                Some((last.forest.upgrade()?, last.tree, Work::Known(last.blueprint.clone())))
            }
        }
    }

    fn take_read(&mut self, wanted: &Wanted) {
        let looking = &mut self.looking;
        let Some(job) = &looking.job else { return };
        let result = match job.receiver.try_recv() {
            Err(mpsc::TryRecvError::Empty) => return,
            Err(mpsc::TryRecvError::Disconnected) => {
                Err(FractureError::Params("the worker stopped unexpectedly".into()))
            }
            Ok(result) => result,
        };
        let Some(job) = looking.job.take() else { return };
        if job.wanted != *wanted {
            return;
        }
        looking.drop_shown();
        looking.report.subject = Some(match wanted.of {
            Of::Aim(.., true) => Subject::Pin,
            Of::Aim(.., false) => Subject::Hover,
            Of::Break(_) => Subject::LastBreak,
        });
        match result {
            Ok(inside) => {
                looking.report.level = inside.forest.level;
                looking.report.ms = job.started.elapsed().as_secs_f64() * 1e3;
                looking.shown = Some(Shown { wanted: job.wanted, inside });
            }
            Err(error) => {
                looking.report.problem = Some(error.to_string());
                looking.failed = Some(job.wanted);
            }
        }
    }
}

/// What a worker breaks a copy of the body by.
enum Work {
    Aimed {
        aim: Aim,
        params: Box<FractureParams>,
        kept: Option<Arc<KeptCells>>,
        def: Box<BodyDef>,
        /// Whether the body is as it was imported: seeds of a file are for it alone.
        intact: bool,
    },
    Known(Blueprint),
}

/// Radii count in the longest side of the bounds.
fn blueprint(
    pattern: Pattern,
    recipe: Recipe,
    impact: glam::DVec3,
    params: &FractureParams,
    (low, high): (glam::DVec3, glam::DVec3),
) -> Blueprint {
    let longest = (high - low).max_element();
    let has_spheres = params.seeds_file.is_none() && params.preset.has_radii();
    Blueprint {
        pattern,
        recipe,
        impact,
        spheres: params.radii.iter().filter(|_| has_spheres).map(|r| r * longest).collect(),
        local: params.local.map(|r| r * longest),
    }
}

fn read(
    gpu: &Gpu,
    fracturer: &Fracturer,
    forest: &Arc<Forest>,
    tree: u32,
    work: Work,
    parts: &[Part],
) -> Result<Inside, FractureError> {
    let mut blueprint = match work {
        Work::Known(blueprint) => blueprint,
        Work::Aimed { aim, params, kept, def, intact } => {
            let pattern = cells(&aim, &params, kept.as_deref(), (&def, intact))?.pattern;
            blueprint(pattern, params.recipe(), aim.point_in_grid, &params, def.octree().mass.bounds)
        }
    };
    let level = forest.level.min(MOST_LEVEL);
    let ratio = f64::from(1u32 << (forest.level - level));
    blueprint.recipe = blueprint.recipe.coarsened(forest.level, level)?;
    blueprint.impact /= ratio;
    blueprint.spheres.iter_mut().chain(&mut blueprint.local).for_each(|radius| *radius /= ratio);
    // A copy, or it would keep octrees alive that no body has any more.
    let copy = Arc::new(coarsen(forest, level));
    let mut arena = Arena::new(gpu)?;
    arena.insert(gpu, &copy)?;
    let source = Source::new(&arena, &copy, tree)?;
    Inside::read(gpu, fracturer, &source, blueprint, None, parts)
}

fn label_report(steps: &LabelSteps, inside: &Inside) -> LabelReport {
    let did = steps.at().checked_sub(1).and_then(|i| steps.steps().get(i));
    let resting = did.map_or(0, |step| step.done.iter().filter(|done| **done).count());
    LabelReport {
        at: steps.at(),
        changes: steps.steps().iter().map(crate::fracture::labelling::Step::total).collect(),
        voxels: steps.voxels.len(),
        resting: [resting, steps.voxels.cells.len()],
        distinct: steps.distinct(),
        islands: inside.fracture.pieces.len(),
        agrees: steps.agrees_with_union_find(),
    }
}

fn scale(factor: f64) -> Mat4 {
    Mat4::from_scale(glam::Vec3::splat(factor as f32))
}
