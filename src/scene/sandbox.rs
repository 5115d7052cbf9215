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
mod undo;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use glam::DVec3;

pub use looking::{LabelReport, LookingReport, Subject};

use super::{
    BreakJob, BreakSummary, Event, History, ImportError, ImportJob, Imported, KeptCells, Scene, SceneBody,
    Snapshot, Timeline, Tuning,
    breaking::{Blow, Broken, Cause, SharedFracturer, Waiting, grid_from_world, parts},
    history::Step,
    pick::pick_forest,
};
use crate::{
    bodies::{Body, BodyDef, BodyId, StepReport, World, WorldSettings},
    fracture::{Dropped, FractureError, FractureParams, Fracturer},
    gpu::{Gpu, GpuError},
    mesh::HealthReport,
    svo::{Arena, Forest, Slot},
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
    /// The voxel, leaf units of the body's grid.
    pub cell: [u32; 3],
}

/// Everything that lives while a scene is open.
pub struct Sandbox {
    gpu: Gpu,
    arena: Arc<RwLock<Arena>>,
    fracturer: SharedFracturer,
    world: World,
    info: BTreeMap<BodyId, BodyInfo>,
    forests: Vec<(Arc<Forest>, Slot)>,
    objects: Vec<ObjectInfo>,
    scene: Scene,
    tuning: Tuning,
    editing: Option<&'static str>,
    history: History,
    first: Option<Snapshot>,
    opening: Option<(Scene, ImportJob)>,
    imported: Option<Vec<Imported>>,
    carried: Option<pinned::Carried>,
    breaking: Option<BreakJob>,
    waiting: Vec<Waiting>,
    next_event: usize,
    projectiles: Vec<(BodyDef, usize)>,
    throwing: handling::Throwing,
    timeline: Timeline,
    time: f64,
    next_color: u32,
    revision: u64,
    last_step: StepReport,
    last_break: Option<BreakSummary>,
    preview: previewing::Preview,
    looking: looking::Looking,
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
            fracturer: Arc::new(OnceLock::new()),
            world: World::new(gpu, WorldSettings::default())?,
            info: BTreeMap::new(),
            forests: Vec::new(),
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
            next_event: 0,
            projectiles: Vec::new(),
            throwing: handling::Throwing::default(),
            timeline: Timeline::default(),
            time: 0.0,
            next_color: 0,
            revision: 0,
            last_step: StepReport::default(),
            last_break: None,
            preview: previewing::Preview::default(),
            looking: looking::Looking::default(),
        })
    }

    /// Opens one mesh file standing on the floor; the result arrives through [`Sandbox::poll`].
    pub fn open(&mut self, file: &str, level: u32) {
        self.open_scene(Scene::of_mesh(file, level));
    }

    /// Opens a scene; what is open stays until everything is imported.
    pub fn open_scene(&mut self, scene: Scene) {
        let mut bodies = scene.bodies.clone();
        bodies.extend(scene.events.iter().filter_map(|event| match event {
            Event::Projectile { body, .. } => Some((**body).clone()),
            Event::Impact { .. } => None,
        }));
        self.cancel_open();
        let job = ImportJob::start(&bodies);
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

    fn insert(&mut self, arena: &mut Arena, forest: &Forest) -> Result<Slot, GpuError> {
        loop {
            let over = arena.bytes() > UNDO_BUDGET;
            if over && self.forget_some() {
                self.collect(arena);
            }
            match arena.insert(&self.gpu, forest) {
                Err(GpuError::TooLarge { .. }) if self.forget_some() => self.collect(arena),
                result => return result,
            }
        }
    }

    /// Forgets old undo steps, then old recorded states; false when there was nothing to forget.
    fn forget_some(&mut self) -> bool {
        self.history.shrink() || self.timeline.shrink()
    }

    /// Gives back the octrees that neither a body nor an undo step holds.
    fn collect(&mut self, arena: &mut Arena) {
        self.forests.retain(|(forest, slot)| {
            let used = Arc::strong_count(forest) > 1;
            if !used {
                arena.remove(*slot);
            }
            used
        });
    }

    fn add(&mut self, def: BodyDef, object: usize, generation: u32) -> BodyId {
        let id = self.world.add(def);
        self.info.insert(id, BodyInfo { object, generation, color_id: self.next_color });
        self.next_color = self.next_color.wrapping_add(1);
        id
    }

    fn clear_world(&mut self) {
        let ids: Vec<BodyId> = self.world.bodies.iter().map(|b| b.id).collect();
        for id in ids {
            self.world.remove(id);
        }
        self.info.clear();
    }

    /// Breaks a body with the tuned parameters; the pieces arrive through [`Sandbox::poll`].
    pub fn break_at(&mut self, body: BodyId, point: DVec3, direction: DVec3) {
        let params = self.params_for(body);
        self.strike(body, (point, direction), params, None);
    }

    /// Lets the pinned impact fall: breaks off just the cells that are not kept. `false` without one.
    pub fn break_pin(&mut self) -> bool {
        let Some(pin) = self.tuning.pin.clone() else {
            return false;
        };
        let Some(blow) = self.aimed(&pin.aim) else {
            return false;
        };
        let params = self.params_for(pin.aim.body);
        self.strike(pin.aim.body, blow, params, pin.kept);
        true
    }

    fn strike(
        &mut self,
        body: BodyId,
        (point, direction): (DVec3, DVec3),
        params: FractureParams,
        kept: Option<Arc<KeptCells>>,
    ) {
        let blow =
            Blow { point, direction: direction.normalize_or(DVec3::NEG_Y), speed: self.tuning.blow_speed };
        self.waiting.push(Waiting { body, blow, params, kept, cause: Cause::User });
        self.start_waiting();
    }

    /// The tuned values for a blow on a body. A list of kept seeds counts in the pattern of the whole object, not of its pieces.
    fn params_for(&self, body: BodyId) -> FractureParams {
        let mut params = self.tuning.fracture.clone();
        if !self.is_intact(body) {
            params.keep.clear();
        }
        params
    }

    fn is_intact(&self, body: BodyId) -> bool {
        self.info.get(&body).is_none_or(|info| info.generation == 0)
    }

    fn start_waiting(&mut self) {
        // What its pieces run into must not break a scene into ever more of them.
        let full = self.world.bodies.len() >= self.scene.break_pieces as usize;
        self.waiting.retain(|w| !(full && w.cause == Cause::Collision));
        if self.breaking.is_some() || self.waiting.is_empty() {
            return;
        }
        let mut next = self.waiting.remove(0);
        if let Some(body) = self.world.bodies.iter().find(|b| b.id == next.body) {
            let object = self.info.get(&next.body).map_or(0, |info| info.object);
            next.params.interior = self.interior_of(object);
            if next.cause == Cause::User && !self.tuning.lock_rng {
                // An earlier blow that waited too has taken its number meanwhile.
                next.params.rng = self.tuning.fracture.rng;
            }
            let surface_color = self.objects.get(object).map(|o| o.surface_color);
            let body = (body, self.is_intact(next.body), surface_color);
            self.breaking = Some(BreakJob::start(&self.gpu, &self.arena, &self.fracturer, body, next));
        }
    }

    fn commit_break(
        &mut self,
        arena: &mut Arena,
        job: &BreakJob,
        broken: Broken,
    ) -> Result<(), SandboxError> {
        let Some(body) = self.world.bodies.iter().find(|b| b.id == job.body).cloned() else {
            return Ok(());
        };
        if broken.fracture.pieces.len() < 2 && broken.fracture.dropped.is_none() {
            return Err(SandboxError::NoCrack);
        }
        self.remember_break(&body, job, &broken);
        let info =
            self.info.get(&body.id).copied().unwrap_or(BodyInfo { object: 0, generation: 0, color_id: 0 });
        let slot = self.insert(arena, &broken.fracture.forest)?;
        let step = Step { label: "break".into(), tuning: self.tuning.clone(), world: Some(self.snapshot()) };
        self.history.push(step);
        // Only now: what failed is tried again with the same number, and undo goes back to the one that broke.
        if job.cause == Cause::User && !self.tuning.lock_rng {
            self.tuning.fracture.rng = (self.tuning.fracture.rng + 1) & i64::MAX as u64;
        }
        if self.tuning.pin.as_ref().is_some_and(|pin| pin.aim.body == job.body) {
            self.tuning.pin = None;
        }
        self.forests.push((Arc::clone(&broken.fracture.forest), slot));
        self.world.remove(body.id);
        self.info.remove(&body.id);
        let (low, high) = body.def.mass.bounds;
        let longest_m = (high - low).max_element() * body.def.grid.h;
        let first_radius = job.params.radii.first().copied().unwrap_or(0.1);
        let reach = longest_m * (2.0 * first_radius).clamp(0.05, 0.6);
        let parts = parts(&body, &job.blow, reach, &broken);
        let kept = broken.summary();
        let fracture = broken.fracture;
        for (piece, (state, fixed)) in fracture.pieces.iter().zip(parts) {
            let def = BodyDef {
                forest: Arc::clone(&fracture.forest),
                slot,
                tree: piece.tree,
                mass: piece.mass,
                state,
                fixed,
                ..body.def.clone()
            };
            self.add(def, info.object, info.generation + 1);
        }
        if job.cause == Cause::User {
            self.happened(Event::Impact {
                time: self.time,
                point: job.blow.point,
                direction: job.blow.direction,
                speed: job.blow.speed,
                fracture: Some(broken.params),
            });
        }
        self.world.wake_all();
        let whole = job.source_volume.max(f64::MIN_POSITIVE);
        self.last_break = Some(BreakSummary {
            counts: fracture.counts,
            mass_error: (fracture.volume() + fracture.dust_volume) / whole - 1.0,
            dust_share: fracture.dust_volume / whole,
            dropped_mass: fracture.dropped.as_ref().map_or(0.0, Dropped::volume) / whole,
            solved: fracture.solved,
            kept,
            timings: fracture.timings,
            seconds: job.started.elapsed().as_secs_f64(),
        });
        self.revision += 1;
        Ok(())
    }

    /// Keeps what the user did in the scene, before what has not happened yet.
    fn happened(&mut self, event: Event) {
        let at = self.next_event.min(self.scene.events.len());
        self.scene.events.insert(at, event);
        self.next_event = at + 1;
    }

    /// One step of time.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn step(&mut self) -> Result<(), GpuError> {
        self.record_first();
        self.start_events();
        if self.world.hold.is_none() && self.awake() == 0 {
            self.time += self.world.settings.dt;
            self.last_step.time = self.time;
            self.last_step.awake = 0;
            self.record();
            return Ok(());
        }
        let arena = Arc::clone(&self.arena);
        let arena = arena.read().unwrap_or_else(PoisonError::into_inner);
        let fragile = self.fragile();
        self.last_step = self.world.step(&self.gpu, &arena)?;
        drop(arena);
        self.time += self.world.settings.dt;
        self.revision += 1;
        self.record();
        self.break_fragile(fragile);
        Ok(())
    }

    /// Compiles the fracture passes on a thread of their own, so that the first blow need not wait for them.
    pub fn warm_up(&self) {
        let (gpu, fracturer) = (self.gpu.clone(), Arc::clone(&self.fracturer));
        std::thread::spawn(move || {
            fracturer.get_or_init(|| Fracturer::new(&gpu));
        });
    }

    /// Bodies that break by themselves, with their velocity before the step and the threshold.
    fn fragile(&self) -> Vec<(BodyId, DVec3, f64)> {
        let threshold = |info: &BodyInfo| self.objects.get(info.object)?.scene.break_threshold;
        self.world
            .bodies
            .iter()
            .filter(|b| !b.asleep && !b.is_static())
            .filter_map(|b| {
                let info =
                    self.info.get(&b.id).filter(|info| info.generation < self.scene.break_generations)?;
                Some((b.id, b.state.linear_velocity, threshold(info)?))
            })
            .collect()
    }

    /// Breaks what was stopped or struck harder than it bears: where the push on it came in.
    fn break_fragile(&mut self, before: Vec<(BodyId, DVec3, f64)>) {
        let fallen = self.world.settings.gravity * self.world.settings.dt;
        for (id, velocity, threshold) in before {
            let Some(body) = self.world.bodies.iter().find(|b| b.id == id) else {
                continue;
            };
            let kick = body.state.linear_velocity - velocity - fallen;
            if kick.length() <= threshold {
                continue;
            }
            let (h, way) = (body.def.grid.h, kick.normalize_or(DVec3::Y));
            let start = body.state.position - way * (h * f64::from(body.def.grid.side()) * 2.0);
            let from = grid_from_world(&body.state, &body.def.mass, h, start);
            let along = body.state.rotation.inverse() * way / h;
            let reach = pick_forest(&body.def.forest, body.def.tree, from, along).map_or(0.0, |hit| hit.t);
            let point = if reach > 0.0 { start + way * reach } else { body.state.position };
            let object = self.info.get(&id).and_then(|info| self.objects.get(info.object));
            let params = object.map_or_else(|| self.tuning.fracture.clone(), |o| o.scene.fracture.clone());
            let blow = Blow { point, direction: way, speed: 0.0 };
            self.waiting.push(Waiting { body: id, blow, params, kept: None, cause: Cause::Collision });
        }
        self.start_waiting();
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
                let params = fracture.unwrap_or_else(|| self.tuning.fracture.clone());
                let blow = Blow { point, direction: direction.normalize_or(DVec3::NEG_Y), speed };
                self.waiting.push(Waiting { body: id, blow, params, kept: None, cause: Cause::Event });
                self.start_waiting();
            }
        }
    }

    /// The body whose bounds are nearest to a world point.
    #[must_use]
    pub fn nearest_body(&self, point: DVec3) -> Option<BodyId> {
        let distance = |body: &&Body| {
            let p = grid_from_world(&body.state, &body.def.mass, body.def.grid.h, point);
            let (low, high) = body.def.mass.bounds;
            p.clamp(low, high).distance(p) * body.def.grid.h + 1e-6 * body.state.position.distance(point)
        };
        self.world
            .bodies
            .iter()
            .filter(|b| !b.def.fixed)
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .map(|b| b.id)
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
            || self.world.hold.is_some()
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
