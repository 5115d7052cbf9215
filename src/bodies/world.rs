//! The bodies of a scene and their step.

use super::{
    Adaptive, PairLevels, Penalty, Response, Walls,
    collide::{GpuNarrow, GpuOverlap, Manifold, NearLists},
    hold::Hold,
    step,
    surfels::Shapes,
};
use crate::{
    gpu::{Gpu, GpuError, StageTiming},
    shape::{Octree, Shape},
    svo::{Arena, Grid, Leaves, build},
};
use glam::{DMat3, DMat4, DQuat, DVec3};
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

/// Names a body for the life of a world; only the same body, put back, has it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId(pub u32);

/// Names an object and all that it breaks into: pieces inherit it. Whoever makes a body of something new takes a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Family(pub(super) u64);

impl Family {
    /// One that no other body of this process has.
    #[must_use]
    pub fn unique() -> Self {
        // Only ever compared for equality, so the order in which they are handed out does not matter.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Pose and velocity. World space, metres, seconds; position is that of the centre of mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Centre of mass.
    pub position: DVec3,
    /// World from body axes (body axes = grid axes).
    pub rotation: DQuat,
    /// m/s.
    pub linear_velocity: DVec3,
    /// rad/s.
    pub angular_velocity: DVec3,
}

impl BodyState {
    /// At rest at `position`, unturned.
    #[must_use]
    pub fn at(position: DVec3) -> Self {
        Self {
            position,
            rotation: DQuat::IDENTITY,
            linear_velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
        }
    }

    /// Whether every number is one.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite()
            && self.rotation.is_finite()
            && self.linear_velocity.is_finite()
            && self.angular_velocity.is_finite()
    }
}

/// A body before it is in a world: its shape, what it is like to touch, and where it starts.
#[derive(Clone, Debug)]
pub struct BodyDef {
    /// What it is made of. Several bodies may share parts of it (pieces of one fracture share a forest).
    pub shape: Arc<Shape>,
    /// Metres for one unit of the mesh that the object was imported from.
    pub meters_per_unit: f64,
    /// Bodies of one family with equal grids are pieces of one object: what overlaps where their grids coincide pushes nobody.
    pub family: Family,
    /// Coulomb friction.
    pub friction: f64,
    /// Restitution.
    pub restitution: f64,
    /// Never moves.
    pub fixed: bool,
    /// Octree level at which it collides; clamped to the forest's.
    pub physics_level: u32,
    /// Where it starts.
    pub state: BodyState,
}

impl BodyDef {
    /// Its octree; of what is none, an octree without voxels, which touches nothing.
    #[must_use]
    pub fn octree(&self) -> &Octree {
        self.shape.as_octree().unwrap_or_else(|| nothing())
    }

    /// Gives it another density, kg/m^3.
    pub fn set_density(&mut self, density: f64) {
        self.shape = Arc::new(self.shape.with_density(density));
    }

    /// Whether both are pieces of one object.
    #[must_use]
    pub fn is_sibling(&self, other: &Self) -> bool {
        self.family == other.family && self.octree().grid == other.octree().grid
    }

    /// The geometry's own coordinates (voxels of an octree) to world metres for a body in `state`.
    #[must_use]
    pub fn world_from_grid(&self, state: &BodyState) -> DMat4 {
        self.shape.world_from_local(state.position, state.rotation)
    }

    /// The resting state in which the body lies exactly where its shape space says, moved by `world` (a rotation and translation).
    #[must_use]
    pub fn state_in_place(&self, world: DMat4) -> BodyState {
        let (_, rotation, _) = world.to_scale_rotation_translation();
        BodyState { rotation, ..BodyState::at(world.transform_point3(self.shape.mass().centre)) }
    }

    /// kg. Never zero, even for a body without voxels.
    #[must_use]
    pub fn mass_kg(&self) -> f64 {
        self.shape.mass_kg()
    }

    /// kg m^2 about the centre of mass, body axes.
    #[must_use]
    pub fn inertia(&self) -> DMat3 {
        self.shape.inertia()
    }

    /// Level at which it collides.
    #[must_use]
    pub fn collision_level(&self) -> u32 {
        self.physics_level.clamp(1, self.octree().level().max(1))
    }

    /// Whether it has so few voxels that one sample a voxel says little about its shape.
    #[must_use]
    pub fn is_crumb(&self) -> bool {
        self.octree().mass.voxels <= 27
    }

    /// The shortest edge of the box with the same moments, m.
    #[must_use]
    pub fn thickness(&self) -> f64 {
        self.shape.thickness()
    }

    /// Metres from the centre of mass to the farthest corner of its bounds.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.shape.radius()
    }
}

/// The octree of what has none.
fn nothing() -> &'static Octree {
    static NOTHING: OnceLock<Octree> = OnceLock::new();
    NOTHING.get_or_init(|| {
        let forest = Arc::new(build(1, Leaves::default(), &|_: u32, _: u32| false));
        Octree::new(&forest, 0, Grid { level: 1, origin: DVec3::ZERO, h: 1.0 })
    })
}

/// A body in the world.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name.
    pub id: BodyId,
    /// What it is made of.
    pub def: BodyDef,
    /// Where it is now.
    pub state: BodyState,
    /// Resting, velocity exactly zero.
    pub asleep: bool,
    /// Taken out of the simulation because its numbers ran away; fixed at the last good pose.
    pub frozen: bool,
    /// How long it has been slow, s.
    pub still_secs: f64,
    /// How long it has touched something and been slow, s; a restored snapshot begins anew.
    pub slow_secs: f64,
    /// Where it was when it was last seen to move.
    pub(super) rest_pose: (DVec3, DQuat),
}

impl Body {
    /// Grid coordinates (voxels) to world metres.
    #[must_use]
    pub fn world_from_grid(&self) -> DMat4 {
        self.def.world_from_grid(&self.state)
    }

    /// Whether anything can push it.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.def.fixed || self.frozen
    }

    /// Wakes it.
    pub fn wake(&mut self) {
        self.asleep = false;
        self.still_secs = 0.0;
        self.slow_secs = 0.0;
    }

    /// Inertia about the centre of mass, world axes, kg m^2.
    #[must_use]
    pub fn inertia_in_world(&self) -> DMat3 {
        let r = DMat3::from_quat(self.state.rotation);
        r * self.def.inertia() * r.transpose()
    }
}

/// Which implementation looks for contacts. Both give the same ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Narrow {
    /// Compute passes, but the CPU where the adapter is only software (a third of the time there).
    #[default]
    Auto,
    /// Compute passes.
    Gpu,
    /// The plain reference, on all cores.
    Cpu,
}

impl Narrow {
    /// Whether the compute passes of this adapter do it.
    #[must_use]
    pub fn wants(self, gpu: &Gpu) -> bool {
        match self {
            Self::Auto => !gpu.is_software(),
            Self::Gpu => true,
            Self::Cpu => false,
        }
    }
}

/// Gravity, time step, floor.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct WorldSettings {
    /// m/s^2.
    pub gravity: DVec3,
    /// Time step, s.
    pub dt: f64,
    /// Substeps a step.
    pub substeps: u32,
    /// Height of the floor plane (y up), or none.
    pub floor: Option<f64>,
    /// A box that nothing leaves, or none.
    pub walls: Option<Walls>,
    /// How contacts are answered.
    pub response: Response,
    /// Constants of [`Response::Penalty`].
    pub penalty: Penalty,
    /// Coarser levels far from [`World::eye`]; none: levels stay.
    pub adaptive: Option<Adaptive>,
    /// Whether bodies at rest may sleep.
    pub sleeping: bool,
    /// Who looks for contacts.
    pub narrow: Narrow,
}

impl Default for WorldSettings {
    fn default() -> Self {
        Self {
            gravity: DVec3::new(0.0, -9.81, 0.0),
            dt: 0.01,
            substeps: 8,
            floor: Some(0.0),
            walls: None,
            response: Response::Soft,
            penalty: Penalty::default(),
            adaptive: None,
            sleeping: true,
            narrow: Narrow::Auto,
        }
    }
}

/// Figures of one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Simulated time after the step, s.
    pub time: f64,
    /// Bodies awake.
    pub awake: usize,
    /// Bodies frozen because their numbers ran away.
    pub frozen: usize,
    /// Pairs whose octrees were walked; contacts of pairs that hardly moved are carried along.
    pub pairs: usize,
    /// Collision points found, before they are reduced to manifolds.
    pub collision_points: usize,
    /// Contact points that were solved.
    pub contacts: usize,
    /// Summed intersection volume, m^3.
    pub intersection_volume: f64,
    /// Deepest penetration among the contacts that pressed, as the step began, m.
    pub deepest: f64,
    /// Mean force of the floor during the step, N.
    pub floor_force: DVec3,
    /// J.
    pub kinetic: f64,
    /// J, above y = 0.
    pub potential: f64,
    /// kg m/s.
    pub momentum: DVec3,
    /// kg m^2/s about the origin.
    pub angular_momentum: DVec3,
    /// GPU (and CPU solver) time per stage.
    pub timings: Vec<StageTiming>,
}

/// Poses, velocities and sleep of all bodies at one moment, for reset, undo and recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    time: f64,
    bodies: Vec<BodySnapshot>,
    manifolds: Vec<Manifold>,
}

#[derive(Clone, Debug, PartialEq)]
struct BodySnapshot {
    id: BodyId,
    state: BodyState,
    asleep: bool,
    frozen: bool,
    still_secs: f64,
    rest_pose: (DVec3, DQuat),
}

/// All bodies.
pub struct World {
    /// Settings; may be changed between steps.
    pub settings: WorldSettings,
    /// In order of creation.
    pub bodies: Vec<Body>,
    /// Levels given to pairs.
    pub pair_levels: PairLevels,
    /// Where [`WorldSettings::adaptive`] looks from, m.
    pub eye: Option<DVec3>,
    /// A body that is dragged.
    pub hold: Option<Hold>,
    pub(super) time: f64,
    pub(super) shapes: Shapes,
    /// Contacts of the last step, for warm starting.
    pub(super) manifolds: Vec<Manifold>,
    pub(super) narrow: Option<GpuNarrow>,
    /// What the plain narrow phase need not look for again.
    pub(super) near: NearLists,
    /// Compiled when it is first asked for.
    pub(super) overlap: Option<GpuOverlap>,
    next_id: u32,
}

impl World {
    /// An empty world.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu, settings: WorldSettings) -> Result<Self, GpuError> {
        let narrow = GpuNarrow::new(gpu)?;
        Ok(Self { narrow: Some(narrow), ..Self::on_cpu(settings) })
    }

    /// An empty world that looks for contacts on the CPU; see [`World::step_on_cpu`].
    #[must_use]
    pub fn on_cpu(settings: WorldSettings) -> Self {
        Self {
            settings,
            bodies: Vec::new(),
            pair_levels: PairLevels::default(),
            eye: None,
            hold: None,
            time: 0.0,
            shapes: Shapes::default(),
            manifolds: Vec::new(),
            narrow: None,
            near: NearLists::default(),
            overlap: None,
            next_id: 0,
        }
    }

    /// Adds a body.
    pub fn add(&mut self, def: BodyDef) -> BodyId {
        let id = BodyId(self.next_id);
        self.next_id += 1;
        let mut state = def.state;
        state.rotation = state.rotation.normalize();
        let frozen = !state.is_finite();
        if frozen {
            state = BodyState::at(DVec3::ZERO);
        }
        let rest_pose = (state.position, state.rotation);
        let body = Body { id, def, state, asleep: false, frozen, still_secs: 0.0, slow_secs: 0.0, rest_pose };
        self.bodies.push(body);
        id
    }

    /// Adds a body under the name of one that was removed, to take the removal back; under a new one where the name is in use.
    pub fn add_as(&mut self, id: BodyId, def: BodyDef) -> BodyId {
        let taken = self.body(id).is_some();
        let new = self.add(def);
        let Some(mut body) = self.bodies.pop_if(|_| !taken) else {
            return new;
        };
        body.id = id;
        self.next_id = self.next_id.max(id.0.saturating_add(1));
        // Bodies are looked up by bisection: they stay in ascending order of their names.
        let at = self.bodies.partition_point(|b| b.id < id);
        self.bodies.insert(at, body);
        id
    }

    /// Removes a body. What may have rested on it wakes.
    pub fn remove(&mut self, id: BodyId) -> Option<Body> {
        let at = self.index(id)?;
        let body = self.bodies.remove(at);
        let bodies = &mut self.bodies;
        for m in &self.manifolds {
            if m.touches(id) && !m.points.is_empty() {
                let others = bodies.iter_mut().filter(|b| m.touches(b.id));
                others.for_each(Body::wake);
            }
        }
        self.manifolds.retain(|m| !m.touches(id));
        self.near.forget(id);
        let bodies = &self.bodies;
        self.shapes.keep(|forest| bodies.iter().any(|b| Arc::ptr_eq(&b.def.octree().forest, forest)));
        Some(body)
    }

    /// Removes all bodies.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.manifolds.clear();
        self.near = NearLists::default();
        self.shapes.keep(|_| false);
    }

    /// A body by name.
    #[must_use]
    pub fn body(&self, id: BodyId) -> Option<&Body> {
        self.index(id).map(|k| &self.bodies[k])
    }

    /// Bodies are kept in ascending order of their names.
    fn index(&self, id: BodyId) -> Option<usize> {
        self.bodies.binary_search_by_key(&id, |b| b.id).ok()
    }

    /// A body by name; call [`Body::wake`] after changing it.
    pub fn body_mut(&mut self, id: BodyId) -> Option<&mut Body> {
        self.index(id).map(|k| &mut self.bodies[k])
    }

    /// Simulated time, s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Pushes a body: `impulse` in N s at `point_in_world`. Wakes it. Ignored where a number is not finite.
    pub fn apply_impulse(&mut self, id: BodyId, point_in_world: DVec3, impulse: DVec3) {
        if !point_in_world.is_finite() || !impulse.is_finite() {
            return;
        }
        if let Some(body) = self.body_mut(id)
            && !body.is_static()
        {
            body.wake();
            let turn = (point_in_world - body.state.position).cross(impulse);
            body.state.linear_velocity += impulse / body.def.mass_kg();
            body.state.angular_velocity += super::integrate::inverse(body.inertia_in_world()) * turn;
        }
    }

    /// One step of `settings.dt`.
    ///
    /// # Errors
    /// [`GpuError`]; the bodies are then as before the step.
    pub fn step(&mut self, gpu: &Gpu, arena: &Arena) -> Result<StepReport, GpuError> {
        step::step(self, Some((gpu, arena)))
    }

    /// As [`World::step`], with no GPU.
    pub fn step_on_cpu(&mut self) -> StepReport {
        // Without a GPU nothing can fail; an empty report would be the answer if it did.
        step::step(self, None).unwrap_or_default()
    }

    /// Wakes everything (after an edit).
    pub fn wake_all(&mut self) {
        self.bodies.iter_mut().for_each(Body::wake);
    }

    /// The state of everything.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let state = |b: &Body| BodySnapshot {
            id: b.id,
            state: b.state,
            asleep: b.asleep,
            frozen: b.frozen,
            still_secs: b.still_secs,
            rest_pose: b.rest_pose,
        };
        Snapshot {
            time: self.time,
            bodies: self.bodies.iter().map(state).collect(),
            manifolds: self.manifolds.clone(),
        }
    }

    /// Puts the bodies that still exist back; others are left alone.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.time = snapshot.time;
        self.manifolds.clone_from(&snapshot.manifolds);
        for then in &snapshot.bodies {
            if let Some(body) = self.body_mut(then.id) {
                (body.state, body.asleep, body.frozen) = (then.state, then.asleep, then.frozen);
                body.still_secs = then.still_secs;
                body.slow_secs = 0.0;
                body.rest_pose = then.rest_pose;
            }
        }
    }
}
