//! Structures: parts of one break that bonds hold together, so that they move as one body until bonds fail.
//!
//! In: parts with masses and nodes, the cracks between them, a [`Strength`], and in each step the loads on the body. Out:
//! the load of every bond, and the bonds that fail. Parts are rigid; a bond is a bed of springs spread over its crack
//! (rigid bodies and springs: Kawai 1978). Where the nodes are the seeds of Voronoi cells and the springs are as stiff
//! along the crack as across it, an even strain gives every bond the traction of the continuum (Bolander & Saito 1998).
//!
//! - `stiffness` solves for motions of the parts under loads;
//! - `response` compares the loads of bonds with their strength, step by step, until none fails;
//! - `supports` shares loads out among supports of which there are more than balance needs;
//! - `standing` keeps springs, masses and the factor from step to step, and bounds what bonds can bear;
//! - `coarse` moves groups of parts as rigid bodies in the preconditioner;
//! - `masses` has the inertia that balances loads;
//! - `whole` says from which energy a body without bonds breaks.

mod block;
mod coarse;
mod factor;
mod graph;
mod loads;
mod masses;
#[cfg(test)]
mod measurements;
mod response;
mod standing;
mod stiffness;
mod strength;
mod supports;
mod whole;
#[cfg(test)]
pub(crate) mod tests;

pub use graph::{Bond, Structure, StructurePart};
pub use loads::{Loads, PointLoad, SLOWEST, Support};
pub use response::{BondLoad, Failure, Memory, Mode, Response};
pub use strength::{Strength, StrengthMaterial};
pub use whole::{Resistance, resistance};
