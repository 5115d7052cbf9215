//! The fracturable adaptive sphere tree of Glondu et al. 2012, sec. 5, and its self-adapting queries.
//!
//! In the order of the data: [`points`] samples a shape, `hierarchy` puts the points in maximum distance order,
//! [`forest`] makes a tree of them, `crack` finds the changes of the points in a fracture, [`fracture`]
//! makes the forests of the new fragments, [`query`] finds contacts against an implementation of the three elementary
//! queries of [`interior`], chosen by [`selection`], which also has the data for the next query and the floor. Tests compare
//! with the plain loops in `testing`.

mod crack;
pub mod forest;
pub mod fracture;
mod hierarchy;
#[cfg(test)]
mod octree_tests;
#[cfg(test)]
mod overhead_tests;
pub mod points;
pub mod query;
#[cfg(test)]
mod query_cache_tests;
pub mod selection;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use super::interior;

pub use forest::{ObjectPoint, SphereForest};
pub use fracture::{CrackPoint, Fate, Fracture, FractureMismatch};
pub use interior::{Depth, Interior};
pub use points::Sampling;
pub use query::{Counts, Scratch, TreeContact};
pub use selection::{Beyond, HalfSpace, Placement, QueryCache, Selection};
