//! What stands in the world of an open scene: bodies, what is known of them, what is still to be thrown, and
//! their octrees on the GPU.
//!
//! In: bodies to add and to remove, values and settings to go by, steps of time. Out: bodies as they are, as
//! they are drawn, and as a ray meets them. It knows no scene file, no tuned value and no undo; [`Standing`]
//! is what those keep of it.

mod aim;
mod drawing;
mod hand;
mod octrees;
mod runs;
mod standing;
mod status;
mod surfaces;
#[cfg(test)]
pub(super) mod tests;

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use glam::DVec3;

pub use aim::{Aim, ScenePick};
pub(super) use drawing::Appearance;
pub(super) use runs::Runs;
pub(super) use standing::{Motion, Standing, motions};
pub use status::Status;
pub(super) use status::Statuses;

use super::{Origin, PairLevel, resting};
use crate::{
    bodies::{
        Body, BodyDef, BodyId, Contact, Narrow, Overlap, Push, StepReport, World, WorldSettings,
        all_pair_data,
    },
    compute::Compute,
    gpu::GpuError,
    svo::Arena,
};

/// What is known about a body beyond the physics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyInfo {
    /// Index into the objects.
    pub object: usize,
    /// Blows that led to it.
    pub generation: u32,
    /// Colouring identity, stable while it lives.
    pub color_id: u32,
    /// The break that it came of.
    pub origin: Option<Origin>,
    /// Where several parts of that break are one again: number of that among [`super::BreakLog::joins`]. The origin
    /// names the largest of them then.
    pub joined: Option<usize>,
}

impl BodyInfo {
    /// Whether the body is as it was imported.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.generation == 0
    }
}

/// What bodies are like to touch and to push.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Touch {
    /// kg/m^3.
    pub density: f64,
    /// Coulomb coefficient.
    pub friction: f64,
    /// 0 to 1.
    pub restitution: f64,
    /// Share of half the thickness.
    pub rolling_resistance: f64,
    /// Octree level; not limited to the levels that the body has.
    pub physics_level: u32,
}

/// A body that is still to be thrown.
#[derive(Clone)]
pub(super) struct Projectile {
    /// The body as it leaves the hand.
    pub def: BodyDef,
    /// The object that it is of.
    pub object: usize,
}

/// Bodies, and what belongs to them.
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
    /// The revision that it tells of.
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

    /// Where stages run.
    pub fn compute(&self) -> &Compute {
        &self.compute
    }

    /// Stages run there from now on; its octrees and what is known of contacts go along. Workers that read the octrees
    /// keep them where they were.
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

    /// Who looks for contacts from now on.
    pub fn look_for_contacts(&mut self, narrow: Narrow) {
        self.narrow = narrow;
        self.world.settings.narrow = narrow;
    }

    /// Whether steps measure what bodies share, from now on.
    pub fn measure_volume(&mut self, measured: bool) {
        self.world.settings.measure_volume = measured;
    }

    /// The octrees where stages run.
    pub fn arena(&self) -> &Arc<RwLock<Arena>> {
        &self.arena
    }

    /// Bodies, in ascending order of their names.
    pub fn bodies(&self) -> &[Body] {
        &self.world.bodies
    }

    /// A body by name.
    pub fn body(&self, id: BodyId) -> Option<&Body> {
        self.world.body(id)
    }

    /// The same, to be changed; call [`Body::wake`] afterwards.
    pub fn body_mut(&mut self, id: BodyId) -> Option<&mut Body> {
        self.world.body_mut(id)
    }

    /// What of an object is still to be thrown, or was.
    pub fn projectile_of(&self, object: usize) -> Option<&BodyDef> {
        self.projectiles.iter().find(|thrown| thrown.object == object).map(|thrown| &thrown.def)
    }

    /// The first body of an object.
    pub fn body_of(&self, object: usize) -> Option<&Body> {
        let of = |body: &&Body| self.info.get(&body.id).is_some_and(|info| info.object == object);
        self.world.bodies.iter().find(of)
    }

    /// Its place among the bodies.
    pub fn index(&self, id: BodyId) -> Option<usize> {
        self.world.bodies.iter().position(|b| b.id == id)
    }

    /// What is known about a body that lives.
    pub fn info(&self, id: BodyId) -> Option<&BodyInfo> {
        self.info.get(&id)
    }

    /// The same; what is said of one that is gone is that it is a whole body of the first object.
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

    /// Figures of the last step.
    pub fn last_step(&self) -> &StepReport {
        &self.last_step
    }

    /// Changes whenever the picture may have changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Bodies that move.
    pub fn awake(&self) -> usize {
        self.world.bodies.iter().filter(|b| !b.asleep && !b.is_static()).count()
    }

    /// Bodies that were taken out of the simulation because their numbers ran away.
    pub fn frozen(&self) -> usize {
        self.world.bodies.iter().filter(|b| b.frozen).count()
    }

    /// Whether a step of time would change anything.
    pub fn has_motion(&self) -> bool {
        self.awake() > 0 || self.world.drag.is_some()
    }

    /// The identity that the next body is coloured by.
    pub fn next_color(&self) -> u32 {
        self.next_color
    }

    /// Adds a body of an object, after so many blows.
    pub fn add(&mut self, def: BodyDef, object: usize, generation: u32) -> BodyId {
        let id = self.world.add(def);
        let color_id = self.next_color;
        self.info.insert(id, BodyInfo { object, generation, color_id, ..BodyInfo::default() });
        self.next_color = self.next_color.wrapping_add(1);
        self.revision += 1;
        id
    }

    /// Puts parts in the place of a body that breaks, which number `record` of the breaks tells of; everything
    /// wakes.
    pub fn break_up(&mut self, id: BodyId, parts: Vec<BodyDef>, record: usize) {
        let whole = self.info_or_whole(id);
        if let Err(error) = self.world.get_ready(self.compute.gpu()) {
            // The next step fails by the same, and says so.
            tracing::debug!("contacts do not follow a break: {error}");
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

    /// Takes a body away; what may have rested on it wakes.
    pub fn remove(&mut self, id: BodyId) {
        if self.world.drag.is_some_and(|drag| drag.body == id) {
            self.world.drag = None;
        }
        self.world.remove(id);
        self.info.remove(&id);
        self.revision += 1;
    }

    /// Puts one body in the place of several, as which it is coloured; everything wakes.
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

    /// Bodies are to be drawn otherwise.
    pub fn changed_look(&mut self) {
        self.revision += 1;
    }

    /// Wakes every body.
    pub fn wake_all(&mut self) {
        self.world.wake_all();
    }

    /// Lets those bodies sleep that stand on the floor, touch no other, and would not move.
    pub fn lull_what_stands(&mut self, placed: &[BodyId]) {
        let bodies = &self.world.bodies;
        let boxes: Vec<_> = bodies.iter().map(|body| resting::bounds(&body.def)).collect();
        let alone = |at: usize| {
            let others = boxes.iter().enumerate().filter(|(other, _)| *other != at);
            others.into_iter().all(|(_, other)| !boxes[at].meets(other))
        };
        let stands = |(at, body): &(usize, &Body)| {
            placed.contains(&body.id) && alone(*at) && resting::stands_still(&body.def, &self.world.settings)
        };
        let still: Vec<BodyId> = bodies.iter().enumerate().filter(stands).map(|(_, body)| body.id).collect();
        for body in self.world.bodies.iter_mut().filter(|body| still.contains(&body.id)) {
            body.asleep = true;
        }
    }

    /// Removes everything for another scene; time begins anew.
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

    /// Keeps a body ready that is the `at`th to be thrown.
    pub fn prepare_throw(&mut self, at: usize, projectile: Projectile) {
        self.projectiles.insert(at.min(self.projectiles.len()), Arc::new(projectile));
    }

    /// Throws the body that is the `at`th, where there is one.
    pub fn throw(&mut self, at: usize) {
        if let Some(thrown) = self.projectiles.get(at).cloned() {
            self.add(thrown.def.clone(), thrown.object, 0);
        }
    }

    /// Gives a pair of objects, and whatever their bodies break into, a level to meet at. Families are never
    /// used again, so pairs of earlier scenes do no harm.
    pub fn set_pair_level(&mut self, objects: [usize; 2], level: u32) {
        let family = |object: usize| {
            let there = self.body_of(object).map(|body| body.def.family);
            there.or(self.projectiles.iter().find(|p| p.object == object).map(|p| p.def.family))
        };
        if let (Some(a), Some(b)) = (family(objects[0]), family(objects[1])) {
            self.world.pair_levels.set(a, b, level);
        }
    }

    /// Gives those pairs of the first `count` objects their levels, and no others of those objects.
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
        for pair in pairs {
            self.set_pair_level(pair.bodies, pair.level);
        }
    }

    /// Settings for the world from now on, and for the bodies of each object what they are like to touch.
    pub fn go_by(&mut self, settings: WorldSettings, touches: &[Touch]) {
        let measure_volume = self.world.settings.measure_volume;
        self.world.settings = WorldSettings { narrow: self.narrow, measure_volume, ..settings };
        for body in &mut self.world.bodies {
            let object = self.info.get(&body.id).map_or(0, |info| info.object);
            let Some(touch) = touches.get(object) else { continue };
            if body.def.shape.density() != touch.density {
                body.def.set_density(touch.density);
            }
            body.def.friction = touch.friction;
            body.def.restitution = touch.restitution;
            body.def.rolling_resistance = touch.rolling_resistance;
            body.def.physics_level = touch.physics_level.clamp(1, body.def.octree().level().max(1));
        }
        self.revision += 1;
    }

    /// Where levels that follow the distance look from, m.
    pub fn set_eye(&mut self, eye: Option<DVec3>) {
        self.world.eye = eye;
    }

    /// The same.
    pub fn eye(&self) -> Option<DVec3> {
        self.world.eye
    }

    /// One step of time in which nothing moves.
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

    /// Figures of the last step, in which energies, momenta and what is shared are those of the bodies that are there
    /// now: what broke, was thrown or struck since counts.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn report_now(&mut self) -> Result<StepReport, GpuError> {
        if self.told == self.revision {
            return Ok(self.last_step.clone());
        }
        let last = &self.last_step;
        let (pairs, contacts, collision_points) = (last.pairs, last.contacts, last.collision_points);
        let (deepest, floor_force, timings) = (last.deepest, last.floor_force, last.timings.clone());
        let now = self.figures()?;
        Ok(StepReport {
            time: self.time,
            pairs,
            contacts,
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

    /// One step of time.
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

    /// All contacts of the last step, those between sleepers too.
    pub fn contacts(&self) -> Vec<Contact> {
        self.world.contacts()
    }

    /// See [`World::pushes`].
    pub fn pushes(&self) -> &[Push] {
        self.world.pushes()
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// What each touching pair shares now, and each body with the floor and the walls.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn pair_data(&mut self) -> Result<Vec<Overlap>, GpuError> {
        let arena = self.arena.read().unwrap_or_else(PoisonError::into_inner);
        all_pair_data(&mut self.world, self.compute.gpu().map(|gpu| (gpu, &*arena)))
    }
}
