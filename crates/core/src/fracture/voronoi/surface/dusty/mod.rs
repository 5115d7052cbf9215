//! Crack surfaces with a gap of dust between them (2018, sec. 5.3, last paragraph).
//!
//! The edge separation points of a transition voxel are split and moved apart, and every object's side of it becomes a
//! marching-cubes surface of its own. The rest is dust: it is removed and accounted for.

pub(in crate::fracture) mod fans;
pub mod marching_cases;
pub(in crate::fracture) mod native;
#[cfg(test)]
mod tests;
pub mod voxel;

pub use voxel::{DustTriangle, DustVoxel, Shares};
