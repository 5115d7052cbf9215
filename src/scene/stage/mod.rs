//! The stage: the bodies of an open scene with their data, bodies still to be thrown, and their octrees on the backend.
//!
//! In: bodies to add and to remove, values and settings, steps. Out: bodies, also for the renderer and for picking. It
//! does not depend on scene files, tuned values or undo; undo stores a [`Standing`].

mod aim;
mod drawing;
mod hand;
mod octrees;
mod runs;
mod standing;
mod status;
mod structures;
mod surfaces;
#[cfg(test)]
pub(super) mod tests;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, PoisonError, RwLock},
};

use glam::{DQuat, DVec3};

pub use aim::{Aim, ScenePick};
pub(super) use drawing::{Appearance, drawn_parts, drawn_shapes};
pub(super) use hand::Hand;
pub(super) use runs::Runs;
pub(super) use standing::{Motion, Standing, motions};
pub use status::Status;
pub(super) use status::Statuses;
pub(super) use structures::PartOfSplit;

use super::{PairLevel, resting};
use crate::{
    bodies::{
        Body, BodyDef, BodyId, BodyState, Contact, Family, Narrow, Overlap, Push, StepReport, World,
        WorldSettings, all_pair_data, structure::Strength,
    },
    compute::Compute,
    gpu::GpuError,
    svo::Arena,
};

/// The break that produced a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// Index in the [`super::BreakLog`].
    pub record: usize,
    /// Index of the part in that break.
    pub part: usize,
}

/// Data of a body beyond the physics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyInfo {
    /// Index into the objects.
    pub object: usize,
    /// Number of breaks in its ancestry.
    pub generation: u32,
    /// Colour number, constant for the body's lifetime.
    pub color_id: u32,
    /// The break that produced it.
    pub origin: Option<Origin>,
    /// If it was merged from several parts of that break: the index of the merge in [`super::BreakLog`]. The origin then
    /// names the largest part.
    pub joined: Option<usize>,
}

impl BodyInfo {
    /// Whether the body is as imported.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.generation == 0
    }
}

/// Material properties of bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Touch {
    /// Density, kg/m^3.
    pub density: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Restitution, 0 to 1.
    pub restitution: f64,
    /// Rolling resistance, share of half the thickness.
    pub rolling_resistance: f64,
    /// Octree level for contacts; not limited to the body's levels.
    pub physics_level: u32,
}

impl Touch {
    /// Octree level for contacts of a body.
    fn level_of(&self, def: &BodyDef) -> u32 {
        self.physics_level.clamp(1, def.octree().level().max(1))
    }

    /// Whether a body has these properties.
    fn is_of(&self, def: &BodyDef) -> bool {
        let own = (def.shape.density(), def.friction, def.restitution, def.rolling_resistance);
        own == (self.density, self.friction, self.restitution, self.rolling_resistance)
            && def.physics_level == self.level_of(def)
    }

    /// Gives a body these properties.
    fn give(&self, def: &mut BodyDef) {
        if def.shape.density() != self.density {
            def.set_density(self.density);
        }
        def.friction = self.friction;
        def.restitution = self.restitution;
        def.rolling_resistance = self.rolling_resistance;
        def.physics_level = self.level_of(def);
    }
}

/// A body still to be thrown.
#[derive(Clone)]
pub(super) struct Projectile {
    /// The body at the start of the throw.
    pub def: BodyDef,
    /// Index of its object.
    pub object: usize,
}

/// Bodies and their data.
pub(super) struct Stage {
    compute: Compute,
    narrow: Narrow,
    arena: Arc<RwLock<Arena>>,
    world: World,
    surfaces: surfaces::HeldSurfaces,
    info: BTreeMap<BodyId, BodyInfo>,
    statuses: Statuses,
    projectiles: Vec<Arc<Projectile>>,
    time: f64,
    next_color: u32,
    revision: u64,
    last_step: StepReport,
    /// The revision that the last step's report describes.
    told: u64,
}

impl Stage {
    /// An empty stage.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(compute: impl Into<Compute>) -> Result<Self, GpuError> {
        let compute = compute.into();
        Ok(Self {
            arena: Arc::new(RwLock::new(Arena::new(&compute)?)),
            world: World::new(compute.gpu(), WorldSettings::default())?,
            surfaces: surfaces::HeldSurfaces::default(),
            compute,
            narrow: Narrow::default(),
            info: BTreeMap::new(),
            statuses: Statuses::default(),
            projectiles: Vec::new(),
            time: 0.0,
            next_color: 0,
            revision: 0,
            last_step: StepReport::default(),
            told: 0,
        })
    }

    /// The backend of the stages.
    pub fn compute(&self) -> &Compute {
        &self.compute
    }

    /// Moves the stages to another backend, with the octrees and contact caches. Workers that read the octrees keep the
    /// old copy.
    ///
    /// # Errors
    /// [`GpuError`]; nothing has changed then.
    pub fn run_on(&mut self, compute: &Compute) -> Result<(), GpuError> {
        let moved = self.arena.read().unwrap_or_else(PoisonError::into_inner).moved_to(compute)?;
        self.world.run_on(compute.gpu())?;
        self.arena = Arc::new(RwLock::new(moved));
        self.compute = compute.clone();
        self.revision += 1;
        Ok(())
    }

    /// Chooses the backend that finds contacts.
    pub fn look_for_contacts(&mut self, narrow: Narrow) {
        self.narrow = narrow;
        self.world.settings.narrow = narrow;
    }

    /// Sets whether steps measure shared volumes.
    pub fn measure_volume(&mut self, measured: bool) {
        self.world.settings.measure_volume = measured;
    }

    /// The octrees on the backend.
    pub fn arena(&self) -> &Arc<RwLock<Arena>> {
        &self.arena
    }

    /// Bodies in ascending order of their ids.
    pub fn bodies(&self) -> &[Body] {
        &self.world.bodies
    }

    /// A body by id.
    pub fn body(&self, id: BodyId) -> Option<&Body> {
        self.world.body(id)
    }

    /// A body by id, for changes; call [`Body::wake`] afterwards.
    pub fn body_mut(&mut self, id: BodyId) -> Option<&mut Body> {
        self.world.body_mut(id)
    }

    /// The body of an object that is still to be thrown, or was thrown.
    pub fn projectile_of(&self, object: usize) -> Option<&BodyDef> {
        self.projectiles.iter().find(|thrown| thrown.object == object).map(|thrown| &thrown.def)
    }

    /// The first body of an object.
    pub fn body_of(&self, object: usize) -> Option<&Body> {
        let of = |body: &&Body| self.info.get(&body.id).is_some_and(|info| info.object == object);
        self.world.bodies.iter().find(of)
    }

    /// Index among the bodies.
    pub fn index(&self, id: BodyId) -> Option<usize> {
        self.world.bodies.iter().position(|b| b.id == id)
    }

    /// Data of a body that exists.
    pub fn info(&self, id: BodyId) -> Option<&BodyInfo> {
        self.info.get(&id)
    }

    /// What is known of all bodies.
    pub fn infos(&self) -> impl Iterator<Item = &BodyInfo> {
        self.info.values()
    }

    /// Data of a body; for one that does not exist, those of a whole body of the first object.
    pub fn info_or_whole(&self, id: BodyId) -> BodyInfo {
        self.info.get(&id).copied().unwrap_or_default()
    }

    /// The world's settings.
    pub fn settings(&self) -> &WorldSettings {
        &self.world.settings
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Report of the last step.
    pub fn last_step(&self) -> &StepReport {
        &self.last_step
    }

    /// Changes whenever the picture may have changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Number of moving bodies.
    pub fn awake(&self) -> usize {
        self.world.bodies.iter().filter(|b| !b.asleep && !b.is_static()).count()
    }

    /// Number of bodies frozen because their numbers diverged.
    pub fn frozen(&self) -> usize {
        self.world.bodies.iter().filter(|b| b.frozen).count()
    }

    /// Whether a step would change anything.
    pub fn has_motion(&self) -> bool {
        self.awake() > 0 || self.world.drag.is_some() || self.world.has_unloaded_structures()
    }

    /// Colour number of the next body.
    pub fn next_color(&self) -> u32 {
        self.next_color
    }

    /// Adds a body of an object, with the number of breaks in its ancestry.
    pub fn add(&mut self, def: BodyDef, object: usize, generation: u32) -> BodyId {
        let id = self.world.add(def);
        let color_id = self.next_color;
        self.info.insert(id, BodyInfo { object, generation, color_id, ..BodyInfo::default() });
        self.next_color = self.next_color.wrapping_add(1);
        self.revision += 1;
        id
    }

    /// Replaces a broken body by its parts; `record` is the index of the break. Wakes everything.
    pub fn break_up(&mut self, id: BodyId, parts: Vec<BodyDef>, record: usize) {
        let whole = self.info_or_whole(id);
        if let Err(error) = self.world.get_ready(self.compute.gpu()) {
            // The next step fails with the same error and reports it.
            tracing::debug!("contacts could not be updated after a break: {error}");
        }
        let parts = self.world.break_up(id, parts);
        for (number, part) in parts.iter().enumerate() {
            let color_id = self.next_color;
            let origin = Some(Origin { record, part: number });
            let (generation, joined) = (whole.generation + 1, None);
            self.info.insert(*part, BodyInfo { generation, color_id, origin, joined, ..whole });
            self.next_color = self.next_color.wrapping_add(1);
        }
        self.inherit_status(id, &parts);
        self.info.remove(&id);
        self.world.wake_all();
        self.revision += 1;
    }

    /// Sets a body's pose: position of its centre of mass (m) and rotation. It is at rest there.
    pub fn place(&mut self, id: BodyId, position: DVec3, rotation: DQuat) {
        let is_finite = position.is_finite() && rotation.is_finite() && rotation.length() > 1e-9;
        if let Some(body) = self.world.body_mut(id).filter(|_| is_finite) {
            let (linear_velocity, angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
            // To normalise a unit quaternion again would change its last bits.
            let rotation = if rotation.is_normalized() { rotation } else { rotation.normalize() };
            body.state = BodyState { position, rotation, linear_velocity, angular_velocity };
            body.wake();
            self.revision += 1;
        }
    }

    /// Gives objects other numbers, of their bodies and of those that are still to be thrown.
    pub fn renumber(&mut self, number: impl Fn(usize) -> usize) {
        self.info.values_mut().for_each(|info| info.object = number(info.object));
        for thrown in &mut self.projectiles {
            let object = number(thrown.object);
            Arc::make_mut(thrown).object = object;
        }
    }

    /// Removes a body; bodies that may have rested on it wake.
    pub fn remove(&mut self, id: BodyId) {
        if self.world.drag.is_some_and(|drag| drag.body == id) {
            self.world.drag = None;
        }
        self.world.remove(id);
        self.info.remove(&id);
        self.revision += 1;
    }

    /// Replaces several bodies by one, with a colour of theirs. Wakes everything.
    pub fn unite(&mut self, ids: &[BodyId], def: BodyDef, info: BodyInfo) -> BodyId {
        let status = ids.iter().map(|id| self.status(*id)).fold(Status::default(), |a, b| Status {
            hidden: a.hidden || b.hidden,
            locked: a.locked || b.locked,
        });
        ids.iter().for_each(|id| self.remove(*id));
        let id = self.world.add(def);
        self.info.insert(id, info);
        if status != Status::default() {
            Arc::make_mut(&mut self.statuses).insert(id, status);
            self.hold_what_is_locked();
        }
        self.world.wake_all();
        self.revision += 1;
        id
    }

    /// Notes that bodies look different.
    pub fn changed_look(&mut self) {
        self.revision += 1;
    }

    /// Wakes every body.
    pub fn wake_all(&mut self) {
        self.world.wake_all();
    }

    /// Puts those of the `placed` bodies to sleep that stand still on the floor and touch no other body.
    pub fn lull_what_stands(&mut self, placed: &[BodyId]) {
        let placed: HashSet<BodyId> = placed.iter().copied().collect();
        let alone = resting::alone(self.world.bodies.iter().map(|body| resting::bounds(&body.def)).collect());
        let settings = &self.world.settings;
        for (body, alone) in self.world.bodies.iter_mut().zip(alone) {
            if alone && placed.contains(&body.id) && resting::stands_still(&body.def, settings) {
                body.asleep = true;
            }
        }
    }

    /// Removes everything for another scene; time restarts at zero.
    pub fn clear(&mut self) {
        self.clear_bodies();
        self.world.drag = None;
        self.projectiles.clear();
        self.time = 0.0;
        self.last_step = StepReport::default();
        self.revision += 1;
    }

    fn clear_bodies(&mut self) {
        self.world.clear();
        self.info.clear();
    }

    /// Stores the body that is the `at`th to be thrown.
    pub fn prepare_throw(&mut self, at: usize, projectile: Projectile) {
        self.projectiles.insert(at.min(self.projectiles.len()), Arc::new(projectile));
    }

    /// Throws the body that is the `at`th, if there is one.
    pub fn throw(&mut self, at: usize) {
        if let Some(thrown) = self.projectiles.get(at).cloned() {
            self.add(thrown.def.clone(), thrown.object, 0);
        }
    }

    /// Sets the contact levels of pairs of objects and all their pieces. Family ids are never reused, so entries of
    /// earlier scenes do no harm.
    pub fn set_pair_levels(&mut self, pairs: impl IntoIterator<Item = PairLevel>) {
        let thrown = self.projectiles.iter().map(|thrown| (thrown.object, thrown.def.family));
        let of_bodies = self.world.bodies.iter();
        let there = of_bodies.filter_map(|body| Some((self.info.get(&body.id)?.object, body.def.family)));
        // Bodies count before what is still to be thrown, and of the bodies of an object the first.
        let mut family: HashMap<usize, Family> = thrown.collect();
        family.extend(there.collect::<Vec<_>>().into_iter().rev());
        for PairLevel { bodies: [a, b], level } in pairs {
            if let (Some(a), Some(b)) = (family.get(&a), family.get(&b)) {
                self.world.pair_levels.set(*a, *b, level);
            }
        }
    }

    /// Sets the contact levels of pairs among the first `count` objects, and removes all others.
    pub fn set_pairs(&mut self, count: usize, pairs: &[PairLevel]) {
        let of_bodies = self.world.bodies.iter();
        let objects = of_bodies.filter_map(|body| Some((self.info.get(&body.id)?.object, body.def.family)));
        let families: std::collections::BTreeSet<_> =
            objects.filter(|(object, _)| *object < count).map(|(_, family)| family).collect();
        let all: Vec<_> = self.world.pair_levels.all().collect();
        for (a, b, _) in all {
            if families.contains(&a) && families.contains(&b) {
                self.world.pair_levels.clear(a, b);
            }
        }
        self.set_pair_levels(pairs.iter().copied());
    }

    /// Sets the world's settings, and the material properties of the bodies of each object, those still to be thrown
    /// included.
    pub fn go_by(&mut self, settings: WorldSettings, touches: &[Touch]) {
        let measure_volume = self.world.settings.measure_volume;
        self.world.settings = WorldSettings { narrow: self.narrow, measure_volume, ..settings };
        for body in &mut self.world.bodies {
            let object = self.info.get(&body.id).map_or(0, |info| info.object);
            if let Some(touch) = touches.get(object) {
                touch.give(&mut body.def);
            }
        }
        for thrown in &mut self.projectiles {
            // Snapshots share a projectile, which a change copies.
            if let Some(touch) = touches.get(thrown.object).filter(|touch| !touch.is_of(&thrown.def)) {
                touch.give(&mut Arc::make_mut(thrown).def);
            }
        }
        self.revision += 1;
    }

    /// Sets the eye position for levels that depend on distance, m.
    pub fn set_eye(&mut self, eye: Option<DVec3>) {
        self.world.eye = eye;
    }

    /// The eye position for levels that depend on distance, m.
    pub fn eye(&self) -> Option<DVec3> {
        self.world.eye
    }

    /// Advances the time by a step in which nothing moves.
    ///
    /// # Errors
    /// [`GpuError`]; everything is then as before it.
    pub fn pass_time(&mut self) -> Result<(), GpuError> {
        self.last_step = self.figures()?;
        self.time += self.world.settings.dt;
        self.last_step.time = self.time;
        self.told = self.revision;
        Ok(())
    }

    /// Report of the last step, with energies, momenta and shared volumes of the present bodies, including those
    /// broken, thrown or struck since.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn report_now(&mut self) -> Result<StepReport, GpuError> {
        if self.told == self.revision {
            return Ok(self.last_step.clone());
        }
        let last = &self.last_step;
        let (pairs, contacts, resting) = (last.pairs, last.contacts, last.resting);
        let collision_points = last.collision_points;
        let (deepest, floor_force, timings) = (last.deepest, last.floor_force, last.timings.clone());
        let now = self.figures()?;
        Ok(StepReport {
            time: self.time,
            pairs,
            contacts,
            resting,
            collision_points,
            deepest,
            floor_force,
            timings,
            ..now
        })
    }

    fn figures(&mut self) -> Result<StepReport, GpuError> {
        let arena = self.arena.read().unwrap_or_else(PoisonError::into_inner);
        self.world.figures(self.compute.gpu().map(|gpu| (gpu, &*arena)))
    }

    /// Takes one simulation step.
    ///
    /// # Errors
    /// [`GpuError`]; everything is then as before it.
    pub fn step(&mut self) -> Result<(), GpuError> {
        let arena = self.arena.read().unwrap_or_else(PoisonError::into_inner);
        self.last_step = self.world.step(self.compute.gpu().map(|gpu| (gpu, &*arena)))?;
        drop(arena);
        self.time += self.world.settings.dt;
        self.revision += 1;
        self.told = self.revision;
        Ok(())
    }

    /// All contacts of the last step, including those between sleeping bodies.
    pub fn contacts(&self) -> Vec<Contact> {
        self.world.contacts()
    }

    /// Sets whether steps keep the impulses of each substep.
    pub fn keep_substeps(&mut self, kept: bool) {
        self.world.contact_substeps = kept;
    }

    /// Sets by which strengths bodies break that no bonds hold.
    pub fn set_strengths(&mut self, strengths: BTreeMap<BodyId, Strength>) {
        self.world.strengths = strengths;
    }

    /// Sets whether steps note their impacts.
    pub fn keep_impacts(&mut self, kept: bool) {
        self.world.keeps_impacts = kept;
    }

    /// See [`World::substep_contacts`].
    pub fn substep_contacts(&self) -> &[Contact] {
        self.world.substep_contacts()
    }

    /// See [`World::pushes`].
    pub fn pushes(&self) -> &[Push] {
        self.world.pushes()
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Data of each touching pair, and of each body with the floor and the walls.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn pair_data(&mut self) -> Result<Vec<Overlap>, GpuError> {
        let arena = self.arena.read().unwrap_or_else(PoisonError::into_inner);
        all_pair_data(&mut self.world, self.compute.gpu().map(|gpu| (gpu, &*arena)))
    }
}
