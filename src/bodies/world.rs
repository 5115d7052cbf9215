//! The bodies of a scene and their step.
use super::MassProperties;
use crate::{
    gpu::{Gpu, GpuError, StageTiming},
    svo::{Arena, Forest, Grid, Slot},
};
use glam::{DQuat, DVec3};
use std::sync::Arc;
/// Names a body for the life of a world; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId(pub u32);
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
/// What a body is made of. Several bodies may share one forest (pieces of one fracture) and one slot.
#[derive(Clone, Debug)]
pub struct BodyDef {
    /// The forest.
    pub forest: Arc<Forest>,
    /// Its place on the GPU.
    pub slot: Slot,
    /// Which tree of it.
    pub tree: u32,
    /// The grid in metres (mesh grid times meters_per_unit).
    pub grid: Grid,
    /// From [`super::mass_properties`], so that callers who know it need not sum again.
    pub mass: MassProperties,
    /// kg/m^3.
    pub density: f64,
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
}
/// Gravity, time step, floor.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct WorldSettings {
    /// m/s^2.
    pub gravity: DVec3,
    /// Time step, s.
    pub dt: f64,
    /// Substeps a step.
    pub substeps: u32,
    /// Height of the floor plane (y up), or none.
    pub floor: Option<f64>,
    /// Whether bodies at rest may sleep.
    pub sleeping: bool,
}
/// Figures of one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Simulated time after the step, s.
    pub time: f64,
    /// Bodies awake.
    pub awake: usize,
    /// Pairs whose octrees were walked.
    pub pairs: usize,
    /// Contact points.
    pub contacts: usize,
    /// Summed intersection volume, m^3.
    pub intersection_volume: f64,
    /// Deepest penetration, m.
    pub deepest: f64,
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
/// All bodies.
pub struct World {
    /// Settings; may be changed between steps.
    pub settings: WorldSettings,
    /// In order of creation.
    pub bodies: Vec<Body>,
}
impl World {
    /// An empty world.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(_gpu: &Gpu, _settings: WorldSettings) -> Result<Self, GpuError> {
        todo!()
    }
    /// Adds a body.
    pub fn add(&mut self, _def: BodyDef) -> BodyId {
        todo!()
    }
    /// Removes a body.
    pub fn remove(&mut self, _id: BodyId) -> Option<Body> {
        todo!()
    }
    /// One step of `settings.dt`.
    ///
    /// # Errors
    /// [`GpuError`]; the bodies are then as before the step.
    pub fn step(&mut self, _gpu: &Gpu, _arena: &Arena) -> Result<StepReport, GpuError> {
        todo!()
    }
    /// Wakes everything (after an edit).
    pub fn wake_all(&mut self) {
        todo!()
    }
}
impl Default for WorldSettings {
    fn default() -> Self {
        Self { gravity: DVec3::new(0.0, -9.81, 0.0), dt: 0.01, substeps: 4, floor: Some(0.0), sleeping: true }
    }
}
