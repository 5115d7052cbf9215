//! Rigid bodies whose shapes are octrees.

mod mass;
mod world;

pub use mass::{MassProperties, mass_properties};
pub use world::{Body, BodyDef, BodyId, BodyState, StepReport, World, WorldSettings};
