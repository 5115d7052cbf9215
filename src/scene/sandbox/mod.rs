//! The engine behind the window and the commands: the document, the stage, work in progress, and overlays. Does not
//! depend on window or panels.
//!
//! In: scenes, blows, tuned values, steps. Out: bodies to draw, figures to show. Long work (imports, fractures) runs on
//! worker threads; [`Sandbox::poll`] applies the results, and the frame that does so already shows the pieces.
//!
//! The parts are independent: the `Document` is plain data without bodies, the `Stage` holds the bodies and has no
//! scene file, `Jobs` changes neither, and displays (preview, looking, touched) read both. The sandbox passes each part
//! what it needs of the others.

mod beside;
mod bonds;
mod brushing;
mod debris;
mod generations;
mod hand;
mod holding;
#[cfg(test)]
mod holding_loads_tests;
#[cfg(test)]
mod holding_tests;
mod home;
mod merging;
#[cfg(test)]
mod conserving_tests;
#[cfg(test)]
mod forgetting_tests;
#[cfg(test)]
mod mishap_tests;
mod opening;
mod past;
mod pieces;
#[cfg(test)]
mod pieces_tests;
mod placing;
mod probing;
#[cfg(test)]
mod placing_tests;
mod remaking;
#[cfg(test)]
mod insides_tests;
#[cfg(test)]
mod saved_tests;
mod showing;
mod striking;
#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod stress_tests;
#[cfg(test)]
mod trace_tests;

use std::{
    collections::BTreeSet,
    sync::{Arc, RwLock},
};

use glam::DVec3;

use bonds::{BondRecord, BondTakes};
pub use bonds::{LoadedBond, WhyItFell};
use generations::Generations;
pub use pieces::PieceEdit;
pub use placing::{Foot, Pose};
use remaking::Remaking;
pub use striking::{HardPush, NotedImpact};

use super::{
    BodyInfo, BreakSummary, History, Probed, SandboxError, Selection, Timeline, Tuning,
    beside::Beside,
    breaking::Workshop,
    debris_view::DebrisView,
    difference_view::DifferenceView,
    document::Document,
    field_view::FieldView,
    ghost::Ghost,
    jobs::{Jobs, Velocities, strengths},
    leaf_view::LeafView,
    looking::Looking,
    painted::Painted,
    preview::Preview,
    slices::SliceView,
    stage::{Hand, Stage},
    step_trace::StepTrace,
    stress::StressView,
    touching::Touched,
};
use crate::{
    bodies::{Body, BodyId, Contact, Narrow, Overlap, StepReport, World, WorldSettings},
    compute::Compute,
    fracture::{Dab, Fracturer, Passes},
    gpu::GpuError,
    svo::{Arena, Forest},
};

/// The engine's state.
pub struct Sandbox {
    passes: Arc<Passes>,
    document: Document,
    stage: Stage,
    jobs: Jobs,
    history: History,
    timeline: Timeline,
    preview: Preview,
    looking: Looking,
    stress: StressView,
    touched: Touched,
    debris_view: DebrisView,
    painted: Painted,
    /// The last dab of the stroke that is being painted.
    stroke: Option<Dab>,
    ghost: Ghost,
    difference_view: DifferenceView,
    slices: SliceView,
    leaves: LeafView,
    fields: FieldView,
    beside: Beside,
    selection: Selection,
    last_break: Option<Arc<BreakSummary>>,
    breaks: super::BreakLog,
    remaking: Option<Remaking>,
    generations: Option<Generations>,
    bonds: BondRecord,
    bond_takes: BondTakes,
    trace: StepTrace,
    /// How many times the present step was taken back.
    taken_back: u32,
    /// Whether a step was not taken yet because an event breaks a body before it.
    waits_for_pieces: bool,
    hand: Hand,
    push: Option<HardPush>,
    /// Impacts that [`Sandbox::take_impacts`] has not given yet.
    impacts: Vec<NotedImpact>,
    /// What went wrong where no caller could hear of it; the next [`Sandbox::poll`] returns it.
    failed: Option<SandboxError>,
    /// The voxel that was probed last.
    probed: Option<Probed>,
    /// The bodies that the user is moving.
    placing: Option<BTreeSet<BodyId>>,
}

/// What [`Sandbox::poll`] applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// A scene was opened.
    Opened,
    /// A body was broken.
    Broke,
    /// A thrown body was added.
    Thrown,
    /// An object of the user's was added.
    Added,
    /// Pieces were merged.
    Merged,
    /// A body whose bonds failed came apart.
    Split,
}

/// What computing fractures of a stage's bodies needs.
fn workshop<'a>(stage: &'a Stage, passes: &'a Arc<Passes>) -> Workshop<'a> {
    Workshop { compute: stage.compute(), arena: stage.arena(), passes }
}

impl Sandbox {
    /// An empty sandbox.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(compute: impl Into<Compute>) -> Result<Self, GpuError> {
        crate::papers::register();
        let compute = compute.into();
        let mut tuning = Tuning::default();
        // At a higher frame rate the picture would be too coarse to see anything.
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
            stress: StressView::default(),
            touched: Touched::default(),
            debris_view: DebrisView::default(),
            painted: Painted::default(),
            stroke: None,
            ghost: Ghost::default(),
            difference_view: DifferenceView::default(),
            slices: SliceView::default(),
            leaves: LeafView::default(),
            fields: FieldView::default(),
            beside: Beside::default(),
            selection: Selection::default(),
            last_break: None,
            breaks: super::BreakLog::default(),
            remaking: None,
            generations: None,
            bonds: BondRecord::default(),
            bond_takes: BondTakes::new(),
            trace: StepTrace::default(),
            impacts: Vec::new(),
            taken_back: 0,
            waits_for_pieces: false,
            hand: Hand::Free,
            push: None,
            failed: None,
            probed: None,
            placing: None,
        })
    }

    /// Starts compiling the fracture pipelines on a thread, so that the first blow need not wait for them.
    pub fn warm_up(&self) {
        let (compute, passes) = (self.stage.compute().clone(), Arc::clone(&self.passes));
        std::thread::spawn(move || {
            // The first blow reports an error.
            let _ = Fracturer::shared(&passes, &compute);
        });
    }

    /// The backend of the stages.
    #[must_use]
    pub fn compute(&self) -> &Compute {
        self.stage.compute()
    }

    /// Moves the stages to another backend. Bodies, motion, undo and timeline stay; results are the same.
    ///
    /// # Errors
    /// [`SandboxError::Busy`] while workers are computing; [`GpuError`] if octrees or pipelines cannot be created
    /// there. Nothing has changed then.
    pub fn run_on(&mut self, compute: &Compute) -> Result<(), SandboxError> {
        if self.is_busy() || self.preview.is_busy() || self.looking.is_reading() {
            return Err(SandboxError::Busy);
        }
        self.begin_on(compute)?;
        self.warm_up();
        Ok(())
    }

    /// Moves the stages to another backend after the device was lost. Document, bodies, undo and timeline stay;
    /// fractures in progress start again.
    ///
    /// # Errors
    /// [`GpuError`] if octrees or pipelines cannot be created there; another backend can be tried then.
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

    /// Chooses the backend that finds contacts; a software adapter is used only if told to.
    pub fn look_for_contacts(&mut self, narrow: Narrow) {
        self.stage.look_for_contacts(narrow);
    }

    /// Sets whether steps measure shared volumes: see [`StepReport::intersection_volume`].
    pub fn measure_volume(&mut self, measured: bool) {
        self.stage.measure_volume(measured);
    }

    /// Whether a worker thread is busy for this sandbox.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.jobs.is_busy() || self.remaking.is_some() || self.generations.is_some()
    }

    /// Whether a fracture or a merge is being computed or waits to be applied, or an error of one waits for
    /// [`Sandbox::poll`].
    #[must_use]
    pub fn is_breaking(&self) -> bool {
        let is_remade = self.remaking.is_some() || self.generations.is_some();
        is_remade || self.jobs.is_changing_pieces() || self.failed.is_some()
    }

    /// Whether a merge is.
    #[must_use]
    pub fn is_merging(&self) -> bool {
        self.jobs.merging.is_busy()
    }

    /// Applies the workers' results.
    ///
    /// # Errors
    /// [`SandboxError`]; the world is then as before.
    pub fn poll(&mut self) -> Result<Option<Arrived>, SandboxError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.jobs.checking.go_on();
        // Checked before an import that would be in vain.
        let finest = self.jobs.opening.scene().and_then(|scene| scene.objects().map(|body| body.level).max());
        if let Some(Err(error)) = finest.map(|level| self.stage.compute().takes(level)) {
            self.jobs.opening.cancel();
            return Err(error.into());
        }
        // Taken in at the next poll, so that the document that makes way can be kept before.
        let is_ready = self.jobs.opening.is_ready();
        self.jobs.opening.poll()?;
        // The renderer may hold the arena's lock; results then wait for a later frame instead of for the lock.
        let arena = Arc::clone(self.stage.arena());
        let Ok(mut arena) = arena.try_write() else {
            return Ok(None);
        };
        if is_ready && let Some(ready) = self.jobs.opening.take() {
            self.take_in_scene(&mut arena, ready)?;
            return Ok(Some(Arrived::Opened));
        }
        match self.take_in_break(&mut arena) {
            Ok(false) => {}
            Ok(true) => {
                // The new undo step may have dropped an old one with its pieces.
                arena.collect();
                return Ok(Some(Arrived::Broke));
            }
            Err(error) => {
                if !error.is_loss() {
                    // The remaining breaks of the scene have no pieces to break.
                    (self.remaking, self.generations) = (None, None);
                }
                // Frees pieces that have no body.
                arena.collect();
                return Err(error);
            }
        }
        let came = match self.take_in_merged(&mut arena) {
            Ok(false) => self.take_in_split(&mut arena).map(|came| came.then_some(Arrived::Split)),
            merged => merged.map(|_| Some(Arrived::Merged)),
        };
        match came {
            Ok(None) => {}
            Ok(came) => return Ok(came),
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
        if self.take_in_added(&mut arena)? {
            return Ok(Some(Arrived::Added));
        }
        drop(arena);
        self.remake()?;
        self.break_again();
        self.start_breaking();
        Ok(None)
    }

    /// Uploads an octree, dropping old undo steps, then old recorded states, if memory requires it.
    fn take_in(&mut self, arena: &mut Arena, forest: &Arc<Forest>) -> Result<(), GpuError> {
        self.stage.take_in(arena, forest, || self.history.shrink() || self.timeline.shrink())
    }

    /// Takes one simulation step.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn step(&mut self) -> Result<(), GpuError> {
        // Nothing moves while bodies are to break again, to be merged or to come apart.
        let is_splitting = self.jobs.splitting.is_busy();
        if self.remaking.is_some() || self.generations.is_some() || self.is_merging() || is_splitting {
            return Ok(());
        }
        if self.placing.is_some() {
            return Ok(());
        }
        self.record_first();
        let dt = self.stage.settings().dt;
        let mut is_at_once = false;
        // A piece can be moved only once the blow before has made it.
        while !(is_at_once && self.jobs.breaking.is_busy() && self.document.moves_next())
            && let Some((event, thrown)) = self.document.next_due(self.stage.time(), dt)
        {
            is_at_once |= event.breaks_at_once();
            self.play_event(event, thrown);
        }
        self.waits_for_pieces = is_at_once && self.jobs.breaking.is_busy();
        if self.waits_for_pieces {
            return Ok(());
        }
        self.lead_hand();
        if !self.stage.has_motion() {
            self.stage.pass_time()?;
            self.trace.note(self.stage.time(), self.stage.last_step());
            self.record();
            return Ok(());
        }
        if self.taken_back == 0 {
            self.forget_later_bonds();
        }
        let before = Velocities::of(&self.stage);
        let start = self.stage.has_structures().then(|| self.stage.begin());
        let fragile = self.document.is_fragile();
        let known = fragile.then(|| strengths(&self.stage, &self.document));
        self.stage.set_strengths(known.unwrap_or_default());
        self.stage.step()?;
        let time = self.stage.time();
        // What is struck and comes apart stops nothing: its parts meet what struck them, from where both were.
        if let Some(start) = start.filter(|_| self.comes_apart_by_blow()) {
            self.note_impacts(time, true);
            self.stage.take_back(&start);
            self.taken_back += 1;
            // The recording has the parts from the start of the step on, so that is when the bonds failed.
            let settled = self.let_bonds_fail(self.stage.time());
            self.keep_error(settled);
            return Ok(());
        }
        self.taken_back = 0;
        self.note_loads();
        self.trace.note(time, self.stage.last_step());
        self.record();
        self.note_push(&before, time);
        if fragile {
            self.jobs.breaking.push_collisions(&before, &self.stage, &self.document, &self.breaks);
        }
        self.note_impacts(time, false);
        let settled = self.let_bonds_fail(time);
        self.keep_error(settled);
        self.start_breaking();
        Ok(())
    }

    /// The body whose solid is nearest to a world point; if several contain it, the one with the nearest centre.
    #[must_use]
    pub fn nearest_body(&self, point: DVec3) -> Option<BodyId> {
        self.stage.nearest_body(point)
    }

    /// The octrees for the renderer; `None` for a moment while they are being replaced.
    #[must_use]
    pub fn arena(&self) -> &Arc<RwLock<Arena>> {
        self.stage.arena()
    }

    /// Bodies.
    #[must_use]
    pub fn bodies(&self) -> &[Body] {
        self.stage.bodies()
    }

    /// Data of a body.
    #[must_use]
    pub fn info(&self, id: BodyId) -> Option<&BodyInfo> {
        self.stage.info(id)
    }

    /// The world's settings.
    #[must_use]
    pub fn settings(&self) -> &WorldSettings {
        self.stage.settings()
    }

    /// Report of the last step.
    #[must_use]
    pub fn last_step(&self) -> &StepReport {
        self.stage.last_step()
    }

    /// The same report, with energies, momenta and shared volumes of the present bodies, including those broken, thrown
    /// or struck since the last step.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn report_now(&mut self) -> Result<StepReport, GpuError> {
        self.stage.report_now()
    }

    /// Summary of the last fracture.
    #[must_use]
    pub fn last_break(&self) -> Option<&BreakSummary> {
        self.last_break.as_deref()
    }

    /// The log of all breaks.
    #[must_use]
    pub fn breaks(&self) -> &super::BreakLog {
        &self.breaks
    }

    /// Simulated time, s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.stage.time()
    }

    /// Number of moving bodies.
    #[must_use]
    pub fn awake(&self) -> usize {
        self.stage.awake()
    }

    /// Number of bodies frozen because their numbers diverged.
    #[must_use]
    pub fn frozen(&self) -> usize {
        self.stage.frozen()
    }

    /// Whether a step would change anything, were it only dust in the air.
    #[must_use]
    pub fn has_motion(&self) -> bool {
        self.stage.has_motion() || self.document.has_events_left() || self.has_flying_debris()
    }

    /// Changes whenever the picture may have changed.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.stage.revision()
    }

    /// All contacts of the last step, including those between sleeping bodies.
    #[must_use]
    pub fn contacts(&self) -> Vec<Contact> {
        self.stage.contacts()
    }

    /// Sets whether steps keep the impulses of each substep; bodies move the same either way.
    pub fn keep_substeps(&mut self, kept: bool) {
        self.stage.keep_substeps(kept);
    }

    /// Sets whether steps note their impacts for [`Sandbox::take_impacts`]; bodies move the same either way.
    pub fn keep_impacts(&mut self, kept: bool) {
        self.stage.keep_impacts(kept);
    }

    /// Contacts of the last step with a row for each substep: see
    /// [`World::substep_contacts`](crate::bodies::World::substep_contacts).
    #[must_use]
    pub fn substep_contacts(&self) -> &[Contact] {
        self.stage.substep_contacts()
    }

    /// Data of each touching pair, and of each body with the floor and the walls: collision points, columns, volume and
    /// gradient (Domaradzki & Martyn 2016, sec. 5.1).
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

    /// Sets the eye position for levels that depend on distance, m.
    pub fn set_eye(&mut self, eye: DVec3) {
        self.stage.set_eye(Some(eye));
    }
}
