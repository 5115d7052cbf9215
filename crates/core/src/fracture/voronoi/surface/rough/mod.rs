//! Crack surfaces (Domaradzki & Martyn 2018, sec. 5): below the transition level a fracture follows triangles made
//! inside the voxels of that level instead of the Voronoi cells.
//!
//! Lengths inside a transition voxel are whole numbers of 1/512 of its edge, at every level, so that a GPU, this
//! file and [`mod@reference`] decide every point alike. [`CrackShape`] is what the user tunes, [`TransitionVoxel`] one
//! voxel's surface.

pub(in crate::fracture) mod cracking;
pub(in crate::fracture) mod edges;
#[cfg(test)]
mod edges_tests;
pub mod facets;
#[cfg(test)]
mod fine_tests;
pub(in crate::fracture) mod native;
#[cfg(test)]
mod native_tests;
pub(in crate::fracture) mod points;
pub mod reference;
pub(in crate::fracture) mod pass;
#[cfg(test)]
mod tests;
pub(in crate::fracture) mod touch;
pub(in crate::fracture) mod transition;

pub use crate::fracture::params::{CrackNoise, CrackShape, Displacement, Dusty, Offset, Sides, UNITS};
pub use edges::{CrossedEdge, crossed_edges};
pub use native::{CrackTriangle, TransitionVoxel, edge_corners};
pub use points::CrackUniform;
