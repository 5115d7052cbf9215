//! The fracturable adaptive sphere tree of Glondu et al. 2012, sec. 5, and its self-adapting queries.
//!
//! In the order of the data: [`points`] samples a shape, `order` puts the points in maximum distance order (with
//! `hierarchy`), [`forest`] makes a tree of them, `crack` finds the changes of the points in a fracture, [`fracture`]
//! makes the forests of the new fragments, [`query`] finds contacts against an implementation of the three elementary
//! queries of [`interior`], chosen by [`selection`]; `kept` is its data for the next query; [`planes`] is the floor.
//! Tests compare with `brute` and `check`.

mod brute;
mod check;
mod crack;
pub mod forest;
pub mod fracture;
mod hierarchy;
mod nearest;
#[cfg(test)]
mod octree_tests;
mod order;
#[cfg(test)]
mod overhead_tests;
pub mod planes;
mod planted;
pub mod points;
pub mod query;
mod query_cache;
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
pub use planes::HalfSpace;
pub use points::Sampling;
pub use query::{Counts, Scratch, TreeContact};
pub use query_cache::QueryCache;
pub use selection::{Beyond, Placement, Selection};
