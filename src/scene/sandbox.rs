//! The engine behind the window and the commands: octrees, bodies, fractures, time and undo. Knows neither window nor panel.
//!
//! In: scenes, blows, tuned values, steps of time. Out: bodies to draw, figures to show. Long work (imports, fractures) runs on
//! worker threads; [`Sandbox::poll`] takes the results in, and the frame in which it does so already shows the pieces.

mod drawing;
mod looking;
mod opening;
mod handling;
mod pinned;
mod playback;
mod previewing;
mod striking;
mod touching;
mod undo;
mod values;

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use glam::DVec3;

pub use looking::{LabelReport, LookingReport, Subject};

use super::{
    BreakJob, BreakLog, BreakSummary, Event, History, ImportError, ImportJob, Imported, Origin, ReadScene,
    Scene, SceneBody, Snapshot, Timeline, Tuning,
    breaking::{Blow, Cause, Waiting, local_from_world},
};
use crate::{
    bodies::{Body, BodyDef, BodyId, StepReport, World, WorldSettings},
    fracture::{FractureError, Passes},
    gpu::{Gpu, GpuError},
    mesh::{HealthReport, Mesh},
    svo::{Arena, Forest},
};

/// Bytes of octrees on the GPU above which old undo steps are forgotten.
const UNDO_BUDGET: u64 = 400 << 20;

/// What goes wrong while a sandbox works.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A file could not be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A fracture failed; nothing has changed.
    #[error(transparent)]
    Fracture(#[from] FractureError),
    /// The device failed.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The blow did not split anything.
    #[error("the blow made no crack here; use more seeds or larger radii, or hit elsewhere")]
    NoCrack,
}

/// An imported object as the panels show it.
#[derive(Clone, Debug)]
pub struct ObjectInfo {
    /// As the scene has it.
    pub scene: SceneBody,
    /// For people.
    pub name: String,
    /// Triangles in the file.
    pub triangles: usize,
    /// Boundary voxels.
    pub leaves: usize,
    /// Parent nodes.
    pub nodes: usize,
    /// Voxel edge, m.
    pub voxel_m: f64,
    /// Reading and voxelising, s.
    pub seconds: f64,
    /// Findings about the mesh.
    pub health: HealthReport,
    /// What the reader met.
    pub warnings: Vec<String>,
    /// Mean colour of the surface, sRGB.
    pub surface_color: [u8; 3],
    /// The mesh as it was imported, in its own units.
    pub mesh: Arc<Mesh>,
}

/// What the sandbox knows about a body beyond the physics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyInfo {
    /// Index into the objects.
    pub object: usize,
    /// Blows that led to it.
    pub generation: u32,
    /// Colouring identity, stable while it lives.
    pub color_id: u32,
    /// The break that it came of.
    pub origin: Option<Origin>,
}

/// What a ray through the picture met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScenePick {
    /// The body.
    pub body: BodyId,
    /// World position, m.
    pub point: DVec3,
    /// Distance along the ray, m.
    pub distance: f64,
    /// The voxel, leaf units of the body's grid, where the body has voxels.
    pub cell: Option<[u32; 3]>,
}

/// Everything that lives while a scene is open.
pub struct Sandbox {
    gpu: Gpu,
    arena: Arc<RwLock<Arena>>,
    passes: Arc<Passes>,
    world: World,
    info: BTreeMap<BodyId, BodyInfo>,
    objects: Vec<ObjectInfo>,
    scene: Scene,
    tuning: Tuning,
    editing: Option<&'static str>,
    history: History,
    first: Option<Arc<Snapshot>>,
    opening: Option<(Scene, ImportJob)>,
    imported: Option<Vec<Imported>>,
    carried: Option<pinned::Carried>,
    breaking: Option<BreakJob>,
    waiting: Vec<Waiting>,
    recoils: BTreeMap<BodyId, striking::Recoil>,
    next_event: usize,
    projectiles: Vec<(BodyDef, usize)>,
    throwing: handling::Throwing,
    timeline: Timeline,
    time: f64,
    next_color: u32,
    breaks: BreakLog,
    revision: u64,
    last_step: StepReport,
    last_break: Option<BreakSummary>,
    preview: previewing::Preview,
    looking: looking::Looking,
    touched: touching::Touched,
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
}

impl Sandbox {
    /// An empty sandbox.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let mut tuning = Tuning::default();
        if gpu.is_software() {
            // Smoother would be too coarse to see anything.
            tuning.view.target_fps = 15.0;
        }
        Ok(Self {
            gpu: gpu.clone(),
            arena: Arc::new(RwLock::new(Arena::new(gpu)?)),
            passes: Arc::new(Passes::default()),
            world: World::new(gpu, WorldSettings::default())?,
            info: BTreeMap::new(),
            objects: Vec::new(),
            scene: Scene::default(),
            tuning,
            editing: None,
            history: History::default(),
            first: None,
            opening: None,
            imported: None,
            carried: None,
            breaking: None,
            waiting: Vec::new(),
            recoils: BTreeMap::new(),
            next_event: 0,
            projectiles: Vec::new(),
            throwing: handling::Throwing::default(),
            timeline: Timeline::default(),
            time: 0.0,
            next_color: 0,
            breaks: BreakLog::default(),
            revision: 0,
            last_step: StepReport::default(),
            last_break: None,
            preview: previewing::Preview::default(),
            looking: looking::Looking::default(),
            touched: touching::Touched::default(),
        })
    }

    /// Opens one mesh file standing on the floor; the result arrives through [`Sandbox::poll`].
    pub fn open(&mut self, file: &str, level: u32) {
        self.open_scene(Scene::of_mesh(file, level));
    }

    /// Opens a scene; what is open stays until everything is imported. Meshes that were read already are not read again.
    pub fn open_scene(&mut self, scene: impl Into<ReadScene>) {
        let ReadScene { scene, meshes } = scene.into();
        let bodies: Vec<SceneBody> = scene.objects().cloned().collect();
        self.cancel_open();
        let job = ImportJob::start(&bodies, meshes);
        self.opening = Some((scene, job));
    }

    /// Stops an import that is on its way.
    pub fn cancel_open(&mut self) {
        if let Some((_, job)) = self.opening.take() {
            job.progress.cancel();
        }
        self.carried = None;
        self.imported = None;
    }

    /// The scene that is being imported.
    #[must_use]
    pub fn scene_on_its_way(&self) -> Option<&Scene> {
        self.opening.as_ref().map(|(scene, _)| scene)
    }

    /// The import on its way: label, fraction done.
    #[must_use]
    pub fn opening(&self) -> Option<(&str, f32)> {
        self.opening.as_ref().map(|(_, job)| (job.label.as_str(), job.progress.get()))
    }

    /// Whether a worker thread is busy for this sandbox.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.opening.is_some() || self.is_breaking() || self.throwing.is_busy()
    }

    /// Whether a fracture is being computed or about to be taken in.
    #[must_use]
    pub fn is_breaking(&self) -> bool {
        self.breaking.is_some() || !self.waiting.is_empty()
    }

    /// Takes in what the workers finished.
    ///
    /// # Errors
    /// [`SandboxError`]; the world is then as before.
    pub fn poll(&mut self) -> Result<Option<Arrived>, SandboxError> {
        if self.imported.is_none()
            && let Some(result) = self.opening.as_ref().and_then(|(_, job)| job.poll())
        {
            match result {
                Ok(imported) => self.imported = Some(imported),
                Err(error) => {
                    self.opening = None;
                    return Err(error.into());
                }
            }
        }
        // A fracture holds the arena for reading; what arrives meanwhile waits for a later frame instead of for the lock.
        let arena = Arc::clone(&self.arena);
        let Ok(mut arena) = arena.try_write() else {
            return Ok(None);
        };
        if let Some(imported) = self.imported.take()
            && let Some((scene, _)) = self.opening.take()
        {
            self.commit_scene(&mut arena, scene, &imported)?;
            return Ok(Some(Arrived::Opened));
        }
        if let Some(result) = self.breaking.as_ref().and_then(BreakJob::poll)
            && let Some(job) = self.breaking.take()
        {
            self.commit_break(&mut arena, &job, result?)?;
            return Ok(Some(Arrived::Broke));
        }
        if self.commit_throw(&mut arena)? {
            return Ok(Some(Arrived::Thrown));
        }
        drop(arena);
        self.start_waiting();
        Ok(None)
    }

    fn insert(&mut self, arena: &mut Arena, forest: &Arc<Forest>) -> Result<(), GpuError> {
        loop {
            let over = arena.bytes() > UNDO_BUDGET;
            if over && self.forget_some() {
                arena.collect();
            }
            match arena.insert(&self.gpu, forest) {
                Err(GpuError::TooLarge { .. }) if self.forget_some() => arena.collect(),
                result => return result.map(|_| ()),
            }
        }
    }

    /// Forgets old undo steps, then old recorded states; false when there was nothing to forget.
    fn forget_some(&mut self) -> bool {
        self.history.shrink() || self.timeline.shrink()
    }

    fn add(&mut self, def: BodyDef, object: usize, generation: u32) -> BodyId {
        let id = self.world.add(def);
        self.info.insert(id, BodyInfo { object, generation, color_id: self.next_color, origin: None });
        self.next_color = self.next_color.wrapping_add(1);
        id
    }

    fn clear_world(&mut self) {
        self.world.clear();
        self.info.clear();
    }

    /// One step of time.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn step(&mut self) -> Result<(), GpuError> {
        self.record_first();
        self.start_events();
        if self.world.drag.is_none() && self.awake() == 0 {
            self.time += self.world.settings.dt;
            self.last_step.time = self.time;
            self.last_step.awake = 0;
            self.record();
            return Ok(());
        }
        let arena = Arc::clone(&self.arena);
        let arena = arena.read().unwrap_or_else(PoisonError::into_inner);
        let before = self.before_step();
        self.last_step = self.world.step(&self.gpu, &arena)?;
        drop(arena);
        self.time += self.world.settings.dt;
        self.revision += 1;
        self.record();
        self.break_fragile(&before);
        Ok(())
    }

    /// Compiles the fracture passes on a thread of their own, so that the first blow need not wait for them.
    pub fn warm_up(&self) {
        let (gpu, passes) = (self.gpu.clone(), Arc::clone(&self.passes));
        std::thread::spawn(move || {
            // An error is told by the first blow.
            let _ = passes.compiled(&gpu);
        });
    }

    fn start_events(&mut self) {
        while let Some(event) =
            self.scene.events.get(self.next_event).filter(|e| e.time() <= self.time).cloned()
        {
            let thrown = self.scene.events[..self.next_event]
                .iter()
                .filter(|e| matches!(e, Event::Projectile { .. }))
                .count();
            self.next_event += 1;
            if matches!(event, Event::Projectile { .. })
                && let Some((def, object)) = self.projectiles.get(thrown).cloned()
            {
                self.add(def, object, 0);
                self.revision += 1;
            }
            if let Event::Impact { point, direction, speed, fracture, .. } = event
                && let Some(id) = self.nearest_body(point)
            {
                let params = fracture.unwrap_or_else(|| self.own_params(id));
                let blow = Blow { point, direction: direction.normalize_or(DVec3::NEG_Y), speed };
                self.waiting.push(Waiting { body: id, blow, params, kept: None, cause: Cause::Event });
                self.start_waiting();
            }
        }
    }

    /// The body whose voxels are nearest to a world point; of several that hold it, the one whose centre is nearest.
    #[must_use]
    pub fn nearest_body(&self, point: DVec3) -> Option<BodyId> {
        let local = |body: &Body| local_from_world(&body.state, &body.def.shape, point);
        // No nearer than this: most bodies are not looked into.
        let at_least = |body: &Body| {
            let (p, (low, high)) = (local(body), body.def.shape.bounds());
            p.clamp(low, high).distance(p) * body.def.shape.unit_m()
        };
        let mut order: Vec<(f64, &Body)> = self.world.bodies.iter().map(|b| (at_least(b), b)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best: Option<(f64, f64, BodyId)> = None;
        for (least, body) in order {
            if best.is_some_and(|(distance, ..)| least > distance) {
                break;
            }
            let shape = &body.def.shape;
            let distance = shape.distance(local(body)) * shape.unit_m();
            let centre = body.state.position.distance(point);
            if best.is_none_or(|(d, c, _)| (distance, centre) < (d, c)) {
                best = Some((distance, centre, body.id));
            }
        }
        best.map(|(.., id)| id)
    }

    /// The octrees, to draw from; `None` for a moment while they are being replaced.
    #[must_use]
    pub fn arena(&self) -> &Arc<RwLock<Arena>> {
        &self.arena
    }

    /// Bodies.
    #[must_use]
    pub fn bodies(&self) -> &[Body] {
        &self.world.bodies
    }

    /// What is known about a body.
    #[must_use]
    pub fn info(&self, id: BodyId) -> Option<&BodyInfo> {
        self.info.get(&id)
    }

    /// Imported objects.
    #[must_use]
    pub fn objects(&self) -> &[ObjectInfo] {
        &self.objects
    }

    /// The tuned values.
    #[must_use]
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// The world's settings.
    #[must_use]
    pub fn settings(&self) -> &WorldSettings {
        &self.world.settings
    }

    /// Undo steps.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Figures of the last step.
    #[must_use]
    pub fn last_step(&self) -> &StepReport {
        &self.last_step
    }

    /// The last fracture.
    #[must_use]
    pub fn last_break(&self) -> Option<&BreakSummary> {
        self.last_break.as_ref()
    }

    /// Every break so far.
    #[must_use]
    pub fn breaks(&self) -> &BreakLog {
        &self.breaks
    }

    /// Simulated time, s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Bodies that move.
    #[must_use]
    pub fn awake(&self) -> usize {
        self.world.bodies.iter().filter(|b| !b.asleep && !b.is_static()).count()
    }

    /// Bodies that were taken out of the simulation because their numbers ran away.
    #[must_use]
    pub fn frozen(&self) -> usize {
        self.world.bodies.iter().filter(|b| b.frozen).count()
    }

    /// Whether a step of time would change anything.
    #[must_use]
    pub fn has_motion(&self) -> bool {
        self.awake() > 0
            || self.world.drag.is_some()
            || (!self.objects.is_empty() && self.next_event < self.scene.events.len())
    }

    /// The camera that the open scene asks for.
    #[must_use]
    pub fn saved_camera(&self) -> Option<crate::render::Camera> {
        self.scene.camera
    }

    /// Changes whenever the picture may have changed.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }
}
