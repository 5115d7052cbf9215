//! Rigid bodies whose shapes are octrees.
//!
//! In: pieces, with what they are made of. Out: where they are after each step. [`World::step`] is the recipe: broad phase,
//! octree pairs, manifolds, response, sleep (Domaradzki & Martyn 2016, sec. 5).

#[cfg(test)]
mod bad_cases;
mod broad_phase;
mod collide;
mod contacts;
mod dense;
mod hold;
mod integrate;
mod levels;
mod overlaps;
mod planes;
mod respond;
mod sleep;
mod step;
mod surfels;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod world;

#[cfg(test)]
pub(crate) use collide::{layouts, run_every_kernel};

use levels::Levels;

pub use collide::{CollisionPoint, Column, Overlap};
pub use contacts::Contact;
pub use hold::Hold;
pub use levels::{Adaptive, PairLevels};
pub use planes::{Plane, Walls};
pub use respond::{Penalty, Response};
pub use world::{
    Body, BodyDef, BodyId, BodyState, Family, Narrow, Snapshot, StepReport, World, WorldSettings,
};
