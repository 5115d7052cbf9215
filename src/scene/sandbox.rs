//! The engine behind the window and the commands: octrees, bodies, fractures, time and undo. Knows neither window nor panel.
//!
//! In: scenes, blows, tuned values, steps of time. Out: bodies to draw, figures to show. Long work (imports, fractures) runs on
//! worker threads; [`Sandbox::poll`] takes the results in, and the frame in which it does so already shows the pieces.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use glam::{DMat4, DQuat, DVec3, Vec3};

use super::{
    BreakJob, BreakSummary, Event, History, ImportError, ImportJob, Imported, Scene, SceneBody, Snapshot,
    Tuning,
    breaking::{Blow, SharedFracturer, grid_from_world, part_state, push, world_from_grid_matrix},
    history::Step,
    import::display_name,
    pick::pick_forest,
};
use crate::{
    bodies::{Body, BodyDef, BodyId, BodyState, StepReport, World, WorldSettings},
    fracture::{Fracture, FractureError, FractureParams},
    gpu::{Gpu, GpuError},
    mesh::HealthReport,
    render::RenderBody,
    svo::{Arena, Forest, Grid, Slot},
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
    breaking: Option<BreakJob>,
    waiting: Vec<(BodyId, Blow, FractureParams)>,
    next_event: usize,
    time: f64,
    next_color: u32,
    revision: u64,
    last_step: StepReport,
    last_break: Option<BreakSummary>,
}

/// What [`Sandbox::poll`] took in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// A scene is open.
    Opened,
    /// A body broke.
    Broke,
}

impl Sandbox {
    /// An empty sandbox.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        Ok(Self {
            gpu: gpu.clone(),
            arena: Arc::new(RwLock::new(Arena::new(gpu)?)),
            fracturer: Arc::new(OnceLock::new()),
            world: World::new(gpu, WorldSettings::default())?,
            info: BTreeMap::new(),
            forests: Vec::new(),
            objects: Vec::new(),
            scene: Scene::default(),
            tuning: Tuning::default(),
            editing: None,
            history: History::default(),
            first: None,
            opening: None,
            imported: None,
            breaking: None,
            waiting: Vec::new(),
            next_event: 0,
            time: 0.0,
            next_color: 0,
            revision: 0,
            last_step: StepReport::default(),
            last_break: None,
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
        self.opening.is_some() || self.is_breaking()
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
        drop(arena);
        self.start_waiting();
        Ok(None)
    }

    fn commit_scene(
        &mut self,
        arena: &mut Arena,
        scene: Scene,
        imported: &[Imported],
    ) -> Result<(), SandboxError> {
        let mut slots: Vec<(Arc<Forest>, Slot)> = Vec::new();
        for one in imported {
            if !slots.iter().any(|(forest, _)| Arc::ptr_eq(forest, &one.forest)) {
                match self.insert(arena, &one.forest) {
                    Ok(slot) => slots.push((Arc::clone(&one.forest), slot)),
                    Err(error) => {
                        slots.iter().for_each(|(_, slot)| arena.remove(*slot));
                        return Err(error.into());
                    }
                }
            }
        }
        if !self.objects.is_empty() {
            let world = Some(self.snapshot());
            self.history.push(Step {
                label: format!("open {}", scene.name),
                tuning: self.tuning.clone(),
                world,
            });
        }
        self.breaking = None;
        self.waiting.clear();
        self.clear_world();
        self.objects = imported
            .iter()
            .zip(scene_bodies(&scene))
            .map(|(one, body)| object_info(one, body, scene.meters_per_unit))
            .collect();
        self.world.settings = WorldSettings {
            gravity: scene.gravity,
            dt: scene.dt,
            substeps: scene.substeps,
            floor: scene.floor.then_some(scene.floor_height),
            ..self.world.settings
        };
        self.tuning.gravity = -scene.gravity.y;
        self.tuning.view.color_by = scene.view.color_by;
        self.tuning.view.explode = scene.view.explode;
        if let Some(body) = scene.bodies.first() {
            self.tuning.fracture = body.fracture.clone();
            self.tuning.friction = body.friction;
            self.tuning.restitution = body.restitution;
            self.tuning.physics_level = body.collision_level();
        }
        self.time = 0.0;
        self.next_event = 0;
        self.last_step = StepReport::default();
        self.last_break = None;
        self.forests.extend(slots.iter().cloned());
        for (object, (body, one)) in scene.bodies.iter().zip(imported).enumerate() {
            if let Some((_, slot)) = slots.iter().find(|(forest, _)| Arc::ptr_eq(forest, &one.forest)) {
                let def = placed(one, *slot, body, &scene);
                let at_rest = body.on_floor && !body.fixed && def.state.linear_velocity == DVec3::ZERO;
                let id = self.add(def, object, 0);
                if at_rest && let Some(body) = self.world.bodies.iter_mut().find(|b| b.id == id) {
                    body.asleep = true;
                }
            }
        }
        self.scene = scene;
        self.first = Some(self.snapshot());
        self.collect(arena);
        self.revision += 1;
        Ok(())
    }

    fn insert(&mut self, arena: &mut Arena, forest: &Forest) -> Result<Slot, GpuError> {
        loop {
            let over = arena.bytes() > UNDO_BUDGET;
            if over && self.history.shrink() {
                self.collect(arena);
            }
            match arena.insert(&self.gpu, forest) {
                Err(GpuError::TooLarge { .. }) if self.history.shrink() => self.collect(arena),
                result => return result,
            }
        }
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
        let blow =
            Blow { point, direction: direction.normalize_or(DVec3::NEG_Y), speed: self.tuning.blow_speed };
        let params = self.tuning.fracture.clone();
        if !self.tuning.lock_rng {
            self.tuning.fracture.rng = (params.rng + 1) & i64::MAX as u64;
        }
        self.waiting.push((body, blow, params));
        self.start_waiting();
    }

    fn start_waiting(&mut self) {
        if self.breaking.is_some() || self.waiting.is_empty() {
            return;
        }
        let (id, blow, params) = self.waiting.remove(0);
        if let Some(body) = self.world.bodies.iter().find(|b| b.id == id) {
            self.breaking =
                Some(BreakJob::start(&self.gpu, &self.arena, &self.fracturer, body, blow, &params));
        }
    }

    fn commit_break(
        &mut self,
        arena: &mut Arena,
        job: &BreakJob,
        fracture: Fracture,
    ) -> Result<(), SandboxError> {
        let Some(body) = self.world.bodies.iter().find(|b| b.id == job.body).cloned() else {
            return Ok(());
        };
        if fracture.pieces.len() < 2 {
            return Err(SandboxError::NoCrack);
        }
        let info =
            self.info.get(&body.id).copied().unwrap_or(BodyInfo { object: 0, generation: 0, color_id: 0 });
        let slot = self.insert(arena, &fracture.forest)?;
        let step = Step { label: "break".into(), tuning: self.tuning.clone(), world: Some(self.snapshot()) };
        self.history.push(step);
        self.forests.push((Arc::clone(&fracture.forest), slot));
        self.world.remove(body.id);
        self.info.remove(&body.id);
        let (low, high) = body.def.mass.bounds;
        let longest_m = (high - low).max_element() * body.def.grid.h;
        let first_radius = job.params.radii.first().copied().unwrap_or(0.1);
        let reach = longest_m * (1.5 * first_radius).clamp(0.05, 0.6);
        let mut volume = 0.0;
        for piece in &fracture.pieces {
            volume += piece.mass.volume;
            let mut state = part_state(&body.state, &body.def.mass, &piece.mass, &body.def.grid);
            state.linear_velocity += push(&job.blow, state.position, reach);
            let def = BodyDef {
                forest: Arc::clone(&fracture.forest),
                slot,
                tree: piece.tree,
                mass: piece.mass,
                state,
                ..body.def.clone()
            };
            self.add(def, info.object, info.generation + 1);
        }
        self.scene.events.push(Event::Impact {
            time: self.time,
            point: job.blow.point,
            direction: job.blow.direction,
            speed: job.blow.speed,
            fracture: Some(job.params.clone()),
        });
        self.next_event = self.scene.events.len();
        self.world.wake_all();
        self.last_break = Some(BreakSummary {
            counts: fracture.counts,
            timings: fracture.timings,
            seconds: job.started.elapsed().as_secs_f64(),
            mass_error: if job.source_volume > 0.0 { volume / job.source_volume - 1.0 } else { 0.0 },
        });
        self.revision += 1;
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        let bodies =
            self.world.bodies.iter().filter_map(|b| Some((b.clone(), *self.info.get(&b.id)?))).collect();
        Snapshot {
            bodies,
            objects: self.objects.clone(),
            scene: self.scene.clone(),
            time: self.time,
            next_event: self.next_event,
        }
    }

    fn restore(&mut self, snapshot: &Snapshot) {
        self.breaking = None;
        self.waiting.clear();
        self.clear_world();
        for (body, info) in &snapshot.bodies {
            let id = self.world.add(BodyDef { state: body.state, ..body.def.clone() });
            if let Some(new) = self.world.bodies.iter_mut().find(|b| b.id == id) {
                new.asleep = body.asleep;
            }
            self.info.insert(id, *info);
        }
        self.objects = snapshot.objects.clone();
        self.scene = snapshot.scene.clone();
        self.time = snapshot.time;
        self.next_event = snapshot.next_event;
        self.last_step = StepReport::default();
        self.last_break = None;
        self.revision += 1;
    }

    /// Takes back the last step; its name, or `None`.
    pub fn undo(&mut self) -> Option<String> {
        let (tuning, now) = (self.tuning.clone(), self.snapshot());
        let step = self.history.undo(|step| mirrored(step, tuning, now))?;
        Some(self.apply(step))
    }

    /// Does again what was taken back; its name, or `None`.
    pub fn redo(&mut self) -> Option<String> {
        let (tuning, now) = (self.tuning.clone(), self.snapshot());
        let step = self.history.redo(|step| mirrored(step, tuning, now))?;
        Some(self.apply(step))
    }

    fn apply(&mut self, step: Step) -> String {
        if let Some(snapshot) = &step.world {
            self.restore(snapshot);
        }
        self.editing = None;
        self.set_tuning(step.tuning);
        step.label
    }

    /// Back to the first moment of the open scene.
    pub fn reset(&mut self) {
        if let Some(first) = self.first.clone() {
            let step =
                Step { label: "reset".into(), tuning: self.tuning.clone(), world: Some(self.snapshot()) };
            self.history.push(step);
            self.restore(&first);
            self.set_tuning(self.tuning.clone());
        }
    }

    /// Changes the tuned values. Calls with one `gesture` until [`Sandbox::end_gesture`] are one undo step.
    pub fn tune(&mut self, gesture: &'static str, tuning: Tuning) {
        if tuning == self.tuning {
            return;
        }
        if self.editing != Some(gesture) {
            self.history.push(Step { label: gesture.into(), tuning: self.tuning.clone(), world: None });
            self.editing = Some(gesture);
        }
        self.set_tuning(tuning);
    }

    /// The mouse button was released.
    pub fn end_gesture(&mut self) {
        self.editing = None;
    }

    fn set_tuning(&mut self, tuning: Tuning) {
        let moved = tuning.gravity != self.tuning.gravity
            || tuning.friction != self.tuning.friction
            || tuning.physics_level != self.tuning.physics_level;
        self.tuning = tuning;
        self.world.settings.gravity.y = -self.tuning.gravity;
        for body in &mut self.world.bodies {
            body.def.friction = self.tuning.friction;
            body.def.restitution = self.tuning.restitution;
            body.def.physics_level = self.tuning.physics_level.clamp(1, body.def.forest.level.max(1));
        }
        if moved {
            self.world.wake_all();
        }
        self.revision += 1;
    }

    /// One step of time.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn step(&mut self) -> Result<(), GpuError> {
        self.start_events();
        if self.world.bodies.iter().all(|b| b.asleep || b.def.fixed) {
            self.time += self.world.settings.dt;
            self.last_step.time = self.time;
            self.last_step.awake = 0;
            return Ok(());
        }
        let arena = Arc::clone(&self.arena);
        let arena = arena.read().unwrap_or_else(PoisonError::into_inner);
        self.last_step = self.world.step(&self.gpu, &arena)?;
        self.time += self.world.settings.dt;
        self.revision += 1;
        Ok(())
    }

    fn start_events(&mut self) {
        while let Some(event) =
            self.scene.events.get(self.next_event).filter(|e| e.time() <= self.time).cloned()
        {
            self.next_event += 1;
            if let Event::Impact { point, direction, speed, fracture, .. } = event
                && let Some(id) = self.nearest_body(point)
            {
                let params = fracture.unwrap_or_else(|| self.tuning.fracture.clone());
                let blow = Blow { point, direction: direction.normalize_or(DVec3::NEG_Y), speed };
                self.waiting.push((id, blow, params));
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

    /// The nearest body on a ray as drawn (pieces apart by the explode slider).
    #[must_use]
    pub fn pick(&self, origin: Vec3, direction: Vec3) -> Option<ScenePick> {
        let (origin, direction) = (origin.as_dvec3(), direction.as_dvec3());
        let offsets = self.explode_offsets();
        let mut best: Option<ScenePick> = None;
        for (body, offset) in self.world.bodies.iter().zip(&offsets) {
            let h = body.def.grid.h;
            let from = grid_from_world(&body.state, &body.def.mass, h, origin - *offset);
            let along = body.state.rotation.inverse() * direction / h;
            if let Some(hit) = pick_forest(&body.def.forest, body.def.tree, from, along)
                && best.is_none_or(|b| hit.t < b.distance)
            {
                best = Some(ScenePick {
                    body: body.id,
                    point: origin + direction * hit.t - *offset,
                    distance: hit.t,
                    cell: hit.cell,
                });
            }
        }
        best
    }

    /// How far each body is drawn from where it is, m.
    fn explode_offsets(&self) -> Vec<DVec3> {
        let bodies = &self.world.bodies;
        let amount = self.tuning.view.explode;
        if amount == 0.0 || bodies.len() < 2 {
            return vec![DVec3::ZERO; bodies.len()];
        }
        let mut sums: BTreeMap<usize, (DVec3, f64, f64)> = BTreeMap::new();
        let object = |id: &BodyId| self.info.get(id).map_or(0, |info| info.object);
        for body in bodies {
            let m = body.def.mass.volume * body.def.grid.h.powi(3);
            let sum = sums.entry(object(&body.id)).or_insert((DVec3::ZERO, 0.0, f64::INFINITY));
            *sum = (sum.0 + body.state.position * m, sum.1 + m, sum.2.min(body.state.position.y));
        }
        bodies
            .iter()
            .map(|body| match sums.get(&object(&body.id)) {
                Some((sum, m, lowest)) if *m > 0.0 => {
                    let centre = *sum / *m;
                    // Apart from the foot upwards, so that nothing is drawn below the floor.
                    (body.state.position - DVec3::new(centre.x, *lowest, centre.z)) * amount
                }
                _ => DVec3::ZERO,
            })
            .collect()
    }

    /// Bodies as the renderer wants them; `selected` is drawn highlighted.
    #[must_use]
    pub fn render_bodies(&self, selected: Option<BodyId>) -> Vec<RenderBody> {
        let offsets = self.explode_offsets();
        self.world
            .bodies
            .iter()
            .zip(offsets)
            .map(|(body, offset)| {
                let matrix = world_from_grid_matrix(&body.state, &body.def.mass, body.def.grid.h);
                let (low, high) = body.def.mass.bounds;
                RenderBody {
                    slot: body.def.slot,
                    root: body.def.tree,
                    level: body.def.forest.level,
                    world_from_grid: glam::Mat4::from_translation(offset.as_vec3()) * matrix,
                    bounds: (low.as_vec3(), high.as_vec3()),
                    id: self.info.get(&body.id).map_or(body.id.0, |info| info.color_id),
                    selected: selected == Some(body.id),
                }
            })
            .collect()
    }

    /// World bounds of what is drawn, or of one body.
    #[must_use]
    pub fn bounds(&self, only: Option<BodyId>) -> Option<(Vec3, Vec3)> {
        let mut all: Option<(Vec3, Vec3)> = None;
        for (body, drawn) in self.world.bodies.iter().zip(self.render_bodies(None)) {
            if only.is_some_and(|id| id != body.id) {
                continue;
            }
            let (low, high) = drawn.bounds;
            for c in 0..8u32 {
                let corner = Vec3::new(
                    if c & 1 == 0 { low.x } else { high.x },
                    if c & 2 == 0 { low.y } else { high.y },
                    if c & 4 == 0 { low.z } else { high.z },
                );
                let p = drawn.world_from_grid.transform_point3(corner);
                all = Some(all.map_or((p, p), |(a, b)| (a.min(p), b.max(p))));
            }
        }
        all
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
        self.world.bodies.iter().filter(|b| !b.asleep && !b.def.fixed).count()
    }

    /// Whether a step of time would change anything.
    #[must_use]
    pub fn has_motion(&self) -> bool {
        self.awake() > 0 || (!self.objects.is_empty() && self.next_event < self.scene.events.len())
    }

    /// The camera that the open scene asks for.
    #[must_use]
    pub fn saved_camera(&self) -> Option<crate::render::Camera> {
        self.scene.camera
    }

    /// Longest side of a body's bounds, m.
    #[must_use]
    pub fn longest_side(&self, id: BodyId) -> Option<f64> {
        let body = self.world.bodies.iter().find(|b| b.id == id)?;
        let (low, high) = body.def.mass.bounds;
        Some((high - low).max_element() * body.def.grid.h)
    }

    /// Imports the open objects again at another leaf level; the eye stays where it is.
    pub fn set_level(&mut self, level: u32, camera: crate::render::Camera) {
        let mut scene = self.scene(camera);
        // Blows were made on the old voxels; they would not fall the same way again.
        scene.events.retain(|event| matches!(event, Event::Projectile { .. }));
        for body in &mut scene.bodies {
            body.level = level;
            body.physics_level = Some(self.tuning.physics_level.clamp(1, level));
        }
        if !scene.bodies.is_empty() {
            self.open_scene(scene);
        }
    }

    /// Changes whenever the picture may have changed.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The open scene with its tuned values, to save.
    #[must_use]
    pub fn scene(&self, camera: crate::render::Camera) -> Scene {
        let mut scene = self.scene.clone();
        scene.gravity.y = -self.tuning.gravity;
        scene.camera = Some(camera);
        scene.view.color_by = self.tuning.view.color_by;
        scene.view.explode = self.tuning.view.explode;
        for body in &mut scene.bodies {
            body.friction = self.tuning.friction;
            body.restitution = self.tuning.restitution;
            body.physics_level = Some(self.tuning.physics_level.clamp(1, body.level));
            body.fracture = self.tuning.fracture.clone();
        }
        scene
    }
}

fn mirrored(step: &Step, tuning: Tuning, now: Snapshot) -> Step {
    Step { label: step.label.clone(), tuning, world: step.world.is_some().then_some(now) }
}

/// The bodies in the order of import: the scene's own, then the projectiles.
fn scene_bodies(scene: &Scene) -> impl Iterator<Item = &SceneBody> {
    scene.bodies.iter().chain(scene.events.iter().filter_map(|event| match event {
        Event::Projectile { body, .. } => Some(&**body),
        Event::Impact { .. } => None,
    }))
}

/// Metres for one mesh unit of a body.
fn scale_of(one: &Imported, body: &SceneBody, meters_per_unit: f64) -> f64 {
    match body.size {
        // The grid has one free voxel all round: the longest side is two cells short of the whole.
        Some(size) => size / (one.grid.h * f64::from(one.grid.side().saturating_sub(2).max(1))),
        None => meters_per_unit,
    }
}

fn object_info(one: &Imported, body: &SceneBody, meters_per_unit: f64) -> ObjectInfo {
    ObjectInfo {
        scene: body.clone(),
        name: display_name(&one.file),
        triangles: one.triangles,
        leaves: one.forest.leaves.len(),
        nodes: one.forest.nodes.len(),
        voxel_m: one.grid.h * scale_of(one, body, meters_per_unit),
        seconds: one.seconds,
        health: one.health.clone(),
        warnings: one.warnings.clone(),
    }
}

/// Where a scene's body starts.
fn placed(one: &Imported, slot: Slot, body: &SceneBody, scene: &Scene) -> BodyDef {
    let scale = scale_of(one, body, scene.meters_per_unit);
    let grid = Grid { level: one.grid.level, origin: one.grid.origin * scale, h: one.grid.h * scale };
    let rotation = if body.rotation.length() > 1e-9 { body.rotation.normalize() } else { DQuat::IDENTITY };
    let pose = DMat4::from_rotation_translation(rotation, body.position) * grid.to_mesh();
    let mut position = pose.transform_point3(one.mass.centre);
    if body.on_floor {
        let (low, high) = one.mass.bounds;
        let lowest = (0..8u32)
            .map(|c| {
                let pick = |bit: u32, a: f64, b: f64| if c & bit == 0 { a } else { b };
                let corner =
                    DVec3::new(pick(1, low.x, high.x), pick(2, low.y, high.y), pick(4, low.z, high.z));
                pose.transform_point3(corner).y
            })
            .fold(f64::INFINITY, f64::min);
        position.y += scene.floor_height - lowest;
        // Standing objects also come to the middle, as their own origin may be anywhere.
        let middle = pose.transform_point3((low + high) / 2.0);
        position.x += body.position.x - middle.x;
        position.z += body.position.z - middle.z;
    }
    BodyDef {
        forest: Arc::clone(&one.forest),
        slot,
        tree: 0,
        grid,
        mass: one.mass,
        density: body.density,
        friction: body.friction,
        restitution: body.restitution,
        fixed: body.fixed,
        physics_level: body.collision_level(),
        state: BodyState {
            position,
            rotation,
            linear_velocity: body.linear_velocity,
            angular_velocity: body.angular_velocity,
        },
    }
}
