//! The engine behind the window and the commands: what is open, what stands there, what is on its way, and
//! what is shown of it. Knows neither window nor panel.
//!
//! In: scenes, blows, tuned values, steps of time. Out: bodies to draw, figures to show. Long work (imports,
//! fractures) runs on worker threads; [`Sandbox::poll`] takes the results in, and the frame in which it does
//! so already shows the pieces.
//!
//! Each part keeps to itself: the `Document` is plain data and knows no body, the `Stage` holds the bodies
//! and knows no scene file, `Jobs` changes neither, and what is shown (preview, looking, touched) reads both.
//! The sandbox is the recipe that hands one what it needs of the others.

mod beside;
mod generations;
mod merging;
#[cfg(test)]
mod mishap_tests;
mod opening;
mod past;
mod pieces;
#[cfg(test)]
mod pieces_tests;
mod remaking;
mod showing;
mod striking;
#[cfg(test)]
pub(super) mod testing;

use std::sync::{Arc, RwLock};

use glam::DVec3;

use generations::Generations;
pub use pieces::PieceEdit;
use remaking::Remaking;

use super::{
    BodyInfo, BreakSummary, Event, History, ObjectInfo, SandboxError, ScenePick, Selection, Timeline, Tuning,
    beside::Beside,
    document::Document,
    ghost::Ghost,
    jobs::{Jobs, Velocities, Workshop},
    looking::Looking,
    preview::Preview,
    stage::Stage,
    touching::Touched,
};
use crate::{
    bodies::{Body, BodyId, Contact, Narrow, Overlap, StepReport, World, WorldSettings},
    compute::Compute,
    fracture::{Fracturer, Passes},
    gpu::GpuError,
    render::Camera,
    svo::{Arena, Forest},
};

/// Everything that lives while a scene is open.
pub struct Sandbox {
    passes: Arc<Passes>,
    document: Document,
    stage: Stage,
    jobs: Jobs,
    history: History,
    timeline: Timeline,
    preview: Preview,
    looking: Looking,
    touched: Touched,
    ghost: Ghost,
    beside: Beside,
    selection: Selection,
    last_break: Option<Arc<BreakSummary>>,
    breaks: super::BreakLog,
    remaking: Option<Remaking>,
    generations: Option<Generations>,
}

/// What [`Sandbox::poll`] took in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// A scene is open.
    Opened,
    /// A body broke.
    Broke,
    /// A thrown body is there.
    Thrown,
    /// Pieces are one.
    Merged,
}

/// What fractures of a stage's bodies are computed with.
fn workshop<'a>(stage: &'a Stage, passes: &'a Arc<Passes>) -> Workshop<'a> {
    Workshop { compute: stage.compute(), arena: stage.arena(), passes }
}

impl Sandbox {
    /// An empty sandbox.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(compute: impl Into<Compute>) -> Result<Self, GpuError> {
        let compute = compute.into();
        let mut tuning = Tuning::default();
        // Smoother would be too coarse to see anything.
        if compute.is_software() {
            tuning.view.target_fps = if compute.gpu().is_some() { 15.0 } else { 20.0 };
        }
        Ok(Self {
            passes: Arc::new(Passes::default()),
            document: Document::new(tuning),
            stage: Stage::new(compute)?,
            jobs: Jobs::default(),
            history: History::default(),
            timeline: Timeline::default(),
            preview: Preview::default(),
            looking: Looking::default(),
            touched: Touched::default(),
            ghost: Ghost::default(),
            beside: Beside::default(),
            selection: Selection::default(),
            last_break: None,
            breaks: super::BreakLog::default(),
            remaking: None,
            generations: None,
        })
    }

    /// Compiles the fracture passes on a thread of their own, so that the first blow need not wait for them.
    pub fn warm_up(&self) {
        let (compute, passes) = (self.stage.compute().clone(), Arc::clone(&self.passes));
        std::thread::spawn(move || {
            // An error is told by the first blow.
            let _ = Fracturer::shared(&passes, &compute);
        });
    }

    /// Where its stages run.
    #[must_use]
    pub fn compute(&self) -> &Compute {
        self.stage.compute()
    }

    /// Stages run there from now on. Bodies, motion, undo and timeline stay as they are; results are the same.
    ///
    /// # Errors
    /// [`SandboxError::Busy`] while workers are computing; [`GpuError`] where octrees or passes cannot be had there.
    /// Nothing has changed then.
    pub fn run_on(&mut self, compute: &Compute) -> Result<(), SandboxError> {
        if self.is_busy() || self.preview.is_busy() || self.looking.is_reading() {
            return Err(SandboxError::Busy);
        }
        self.begin_on(compute)?;
        self.warm_up();
        Ok(())
    }

    /// The device was lost, and stages run there from now on. Document, bodies in motion, undo and timeline stay as they
    /// are; fractures on their way begin again.
    ///
    /// # Errors
    /// [`GpuError`] where octrees or passes cannot be had there; another place can be tried then.
    pub fn recover_on(&mut self, compute: &Compute) -> Result<(), GpuError> {
        self.jobs.breaking.begin_again();
        self.looking.read_again();
        self.begin_on(compute)
    }

    fn begin_on(&mut self, compute: &Compute) -> Result<(), GpuError> {
        self.stage.run_on(compute)?;
        self.passes = Arc::new(Passes::default());
        self.preview.forget();
        self.beside.begin_on(compute)
    }

    /// Who looks for contacts from now on: a software adapter only where it is told to.
    pub fn look_for_contacts(&mut self, narrow: Narrow) {
        self.stage.look_for_contacts(narrow);
    }

    /// Whether steps measure what bodies share, from now on: see [`StepReport::intersection_volume`].
    pub fn measure_volume(&mut self, measured: bool) {
        self.stage.measure_volume(measured);
    }

    /// Whether a worker thread is busy for this sandbox.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.jobs.is_busy() || self.remaking.is_some() || self.generations.is_some()
    }

    /// Whether a fracture or a merge is being computed or about to be taken in.
    #[must_use]
    pub fn is_breaking(&self) -> bool {
        self.jobs.is_changing_pieces() || self.remaking.is_some() || self.generations.is_some()
    }

    /// Whether it is a merge.
    #[must_use]
    pub fn is_merging(&self) -> bool {
        self.jobs.merging.is_busy()
    }

    /// Takes in what the workers finished.
    ///
    /// # Errors
    /// [`SandboxError`]; the world is then as before.
    pub fn poll(&mut self) -> Result<Option<Arrived>, SandboxError> {
        // Before an import that would come to nothing.
        let finest = self.jobs.opening.scene().and_then(|scene| scene.objects().map(|body| body.level).max());
        if let Some(Err(error)) = finest.map(|level| self.stage.compute().takes(level)) {
            self.jobs.opening.cancel();
            return Err(error.into());
        }
        self.jobs.opening.poll()?;
        // Whoever draws holds the arena for reading; what arrives meanwhile waits for a later frame instead of
        // for the lock.
        let arena = Arc::clone(self.stage.arena());
        let Ok(mut arena) = arena.try_write() else {
            return Ok(None);
        };
        if let Some(ready) = self.jobs.opening.take() {
            self.take_in_scene(&mut arena, ready)?;
            return Ok(Some(Arrived::Opened));
        }
        match self.take_in_break(&mut arena) {
            Ok(false) => {}
            Ok(true) => {
                // The step of undo that it is may have pushed out an old one, with its pieces.
                arena.collect();
                return Ok(Some(Arrived::Broke));
            }
            Err(error) => {
                if !error.is_loss() {
                    // The breaks after it have nothing to break.
                    (self.remaking, self.generations) = (None, None);
                }
                // Pieces that have no body.
                arena.collect();
                return Err(error);
            }
        }
        match self.take_in_merged(&mut arena) {
            Ok(false) => {}
            Ok(true) => return Ok(Some(Arrived::Merged)),
            Err(error) => {
                if !error.is_loss() {
                    self.remaking = None;
                }
                arena.collect();
                return Err(error);
            }
        }
        if self.take_in_thrown(&mut arena)? {
            return Ok(Some(Arrived::Thrown));
        }
        drop(arena);
        self.remake()?;
        self.break_again();
        self.start_breaking();
        Ok(None)
    }

    /// Takes in the fracture that was computed, if one was.
    fn take_in_break(&mut self, arena: &mut Arena) -> Result<bool, SandboxError> {
        let Some((job, broken)) = self.jobs.breaking.poll()? else { return Ok(false) };
        self.take_in_pieces(arena, &job, broken)?;
        Ok(true)
    }

    /// Takes in an octree, for which old undo steps, then old recorded states may be forgotten.
    fn take_in(&mut self, arena: &mut Arena, forest: &Arc<Forest>) -> Result<(), GpuError> {
        self.stage.take_in(arena, forest, || self.history.shrink() || self.timeline.shrink())
    }

    /// One step of time.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn step(&mut self) -> Result<(), GpuError> {
        // Nothing that breaks again, or is to be one, moves meanwhile.
        if self.remaking.is_some() || self.generations.is_some() || self.is_merging() {
            return Ok(());
        }
        self.record_first();
        let dt = self.stage.settings().dt;
        while let Some((event, thrown)) = self.document.next_due(self.stage.time(), dt) {
            self.play_event(event, thrown);
        }
        if !self.stage.has_motion() {
            self.stage.pass_time()?;
            self.record();
            return Ok(());
        }
        let before = Velocities::of(&self.stage, self.document.is_fragile());
        self.stage.step()?;
        self.record();
        self.jobs.breaking.push_collisions(&before, &self.stage, &self.document, &self.breaks);
        self.start_breaking();
        Ok(())
    }

    /// The body whose solid is nearest to a world point; of several that hold it, the one whose centre is
    /// nearest.
    #[must_use]
    pub fn nearest_body(&self, point: DVec3) -> Option<BodyId> {
        self.stage.nearest_body(point)
    }

    /// The octrees, to draw from; `None` for a moment while they are being replaced.
    #[must_use]
    pub fn arena(&self) -> &Arc<RwLock<Arena>> {
        self.stage.arena()
    }

    /// Bodies.
    #[must_use]
    pub fn bodies(&self) -> &[Body] {
        self.stage.bodies()
    }

    /// What is known about a body.
    #[must_use]
    pub fn info(&self, id: BodyId) -> Option<&BodyInfo> {
        self.stage.info(id)
    }

    /// Imported objects.
    #[must_use]
    pub fn objects(&self) -> &[Arc<ObjectInfo>] {
        self.document.objects()
    }

    /// How many of the objects are bodies of the scene; what is thrown comes after them.
    #[must_use]
    pub fn bodies_of_scene(&self) -> usize {
        self.document.scene().bodies.len()
    }

    /// The tuned values.
    #[must_use]
    pub fn tuning(&self) -> &Tuning {
        self.document.tuning()
    }

    /// The world's settings.
    #[must_use]
    pub fn settings(&self) -> &WorldSettings {
        self.stage.settings()
    }

    /// Figures of the last step.
    #[must_use]
    pub fn last_step(&self) -> &StepReport {
        self.stage.last_step()
    }

    /// The same, in which energies, momenta and what is shared are those of the bodies that are there now: what broke,
    /// was thrown or struck since that step counts.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn report_now(&mut self) -> Result<StepReport, GpuError> {
        self.stage.report_now()
    }

    /// The last fracture.
    #[must_use]
    pub fn last_break(&self) -> Option<&BreakSummary> {
        self.last_break.as_deref()
    }

    /// Every break so far.
    #[must_use]
    pub fn breaks(&self) -> &super::BreakLog {
        &self.breaks
    }

    /// Simulated time, s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.stage.time()
    }

    /// Bodies that move.
    #[must_use]
    pub fn awake(&self) -> usize {
        self.stage.awake()
    }

    /// Bodies that were taken out of the simulation because their numbers ran away.
    #[must_use]
    pub fn frozen(&self) -> usize {
        self.stage.frozen()
    }

    /// Whether a step of time would change anything.
    #[must_use]
    pub fn has_motion(&self) -> bool {
        self.stage.has_motion() || self.document.has_events_left()
    }

    /// When the last event of the open scene happens, s; `None` where it has none left.
    #[must_use]
    pub fn last_event(&self) -> Option<f64> {
        self.document.events_left().map(Event::time).max_by(f64::total_cmp)
    }

    /// The camera that the open scene asks for.
    #[must_use]
    pub fn saved_camera(&self) -> Option<Camera> {
        self.document.scene().camera
    }

    /// Changes whenever the picture may have changed.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.stage.revision()
    }

    /// All contacts of the last step, those between sleepers too.
    #[must_use]
    pub fn contacts(&self) -> Vec<Contact> {
        self.stage.contacts()
    }

    /// What each touching pair shares now, and each body with the floor and the walls: collision points,
    /// columns, volume and gradient (Domaradzki & Martyn 2016, sec. 5.1).
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn pair_data(&mut self) -> Result<Vec<Overlap>, GpuError> {
        self.stage.pair_data()
    }

    /// The world.
    #[must_use]
    pub fn world(&self) -> &World {
        self.stage.world()
    }

    /// Takes hold of a body where a ray met it, which is a step of undo. Nothing happens to one that cannot move.
    pub fn grab(&mut self, pick: &ScenePick) {
        if !self.stage.can_be_held(pick) {
            return;
        }
        self.keep_step("move by hand");
        self.document.take_by_hand();
        self.stage.grab(pick);
    }

    /// Where the hand is now, m.
    pub fn drag(&mut self, target: DVec3) {
        self.stage.drag(target);
    }

    /// Lets go.
    pub fn release(&mut self) {
        self.stage.release();
    }

    /// The point that is held, and where it should be, m.
    #[must_use]
    pub fn held(&self) -> Option<(DVec3, DVec3)> {
        self.stage.held()
    }

    /// Where levels that follow the distance look from, m.
    pub fn set_eye(&mut self, eye: DVec3) {
        self.stage.set_eye(Some(eye));
    }
}
