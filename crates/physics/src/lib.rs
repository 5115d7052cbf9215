//! Rigid bodies.
//!
//! In: shapes with their materials. Out: poses after each step. [`World::step`] is the recipe: broad phase, contacts,
//! response, sleep (Domaradzki & Martyn 2016, sec. 5). contact generators and responses to them are methods of two
//! tables ([`generators`], [`solvers`]); the recipe depends on none of them.

#![deny(missing_docs)]
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests normalise vectors that they know not to be zero")
)]
#![recursion_limit = "256"]

use kintsugi_core::{compute, fracture, memory, parameter, registry, shape, svo};
use kintsugi_geometry as geometry;
use kintsugi_gpu as gpu;

mod body;
pub mod broad_phase;
mod by_shape;
mod clearance;
pub mod collide;
mod collision_level;
mod context;
mod impacts;
pub mod integrate;
mod measure;
mod planes;
mod report;
mod scale;
mod settings;
mod sleep;
mod snapshot;
mod solver;
mod step;
pub mod structure;
mod structure_step;
mod support;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod world;

pub use body::{Body, BodyDef, BodyId, BodyState, Family, index_of};
pub use broad_phase::{NearPair, Obb};
pub use collide::{
    Ball, ChosenAs, CollisionPoint, Column, ContactGenerator, ContactQuery, Found, FoundAs, GeneratorEntry,
    GeneratorMemory, MakeGenerator, Manifold, Overlap, Partner, Persistence, Point, Why, find,
    generator_number, generators, inherit, reduce, register_generator,
};
pub use collision_level::{Adaptive, LevelOfDetail, PairLevels};
pub use context::{FOLLOW, OnGpu, StageClock, StepContext, SubstepImpulses};
pub use impacts::{Impact, Struck};
pub use integrate::Drag;
pub use measure::{MakeMeasure, PairMeasure, all_pair_data, has_measure, pair_data, register_measure};
pub use planes::{Plane, Walls};
pub use report::StepReport;
pub use settings::{
    ContactsId, DENSITY, DT, FRICTION, GRAVITY, Narrow, Options, PHYSICS_LEVEL, RESTITUTION,
    ROLLING_RESISTANCE, ResponseId, SUBSTEPS, WorldSettings,
};
pub use snapshot::WorldSnapshot;
pub use solver::{ContactSolver, SoftStep, SolverEntry, register_solver, solvers};
pub use step::{Contact, Push};
pub use structure_step::StructureStep;
pub use world::World;

/// Octrees of bodies at the levels at which they collide: levels of pairs, surface samples, and where these are on a
/// device. For finders and measures in other crates.
pub mod octrees {
    pub use crate::collide::octree::{
        Cell, Levels, OctreePair, Surfel, SurfelBuffer, SurfelCache, Surfels, cell_size, cells_to_world,
        first_of_level, look_up, place_on_gpu, reach,
    };
}

/// All that the kernels share with Rust.
#[cfg(test)]
pub(crate) fn layouts() -> Vec<crate::gpu::Layout> {
    [broad_phase::passes::layouts(), collide::octree::layouts(), solver::layouts()].concat()
}

/// Dispatches every kernel of this folder.
#[cfg(test)]
pub(crate) fn run_every_kernel() {
    broad_phase::passes::run_every_kernel();
    collide::octree::run_every_kernel();
    solver::run_every_kernel();
}

#[cfg(test)]
mod kernel_tests;
