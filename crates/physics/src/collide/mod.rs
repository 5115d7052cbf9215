//! Contact search. A generator is a [`ContactGenerator`]; `step.rs` uses only this trait, and `generators.rs` has the
//! table from which a generator is chosen.
//!
//! In: near pairs from the broad phase, bodies that can move and the planes, the manifolds of the last search. Out: a
//! [`Manifold`] of a few points for each pair that is near.

pub mod convex;
mod generator;
mod generators;
mod in_order;
mod manifold;
mod mixed;
pub(crate) mod octree;
mod overlap;
pub mod pairwise;
mod patch;
mod smooth;
mod why;
#[cfg(test)]
mod why_tests;

pub use generator::{
    ContactGenerator, ContactQuery, Found, GeneratorEntry, GeneratorMemory, MARGIN_CELLS, MakeGenerator,
    Partner,
};
pub use generators::{GeneratorMemories, Generators, generator_number, generators, register_generator};
pub use in_order::InOrder;
pub use manifold::{
    Ball, Manifold, Point, RelativePose, carry, carry_way, find, holds, inherit, most_searches, moved,
    reduce, speed_between, tangents,
};
pub use overlap::{CollisionPoint, Column, Overlap};
pub use pairwise::remembered;
pub use patch::areas;
pub use smooth::{SmoothSide, Touch, ball_over, hop, leave_to_ball, nearest};
pub use why::{ChosenAs, FoundAs, Persistence, Why};

use super::{Body, BodyId, LevelOfDetail, Plane};
