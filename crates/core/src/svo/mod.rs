//! Sparse voxel octrees: the format, building, queries, and checks.

mod arena;
mod build;
mod coarsen;
mod format;
mod gather;
mod grid;
mod key_array;
mod keys;
pub mod morton;
mod pick;
mod query;
mod resident_leaves;
mod samples;
mod validate;

pub use arena::{Arena, ArenaBuffers, Slot};
pub use build::{Inside, build};
pub use coarsen::coarsen;
pub use format::{
    Forest, LeafColor, Leaves, MAX_LEVEL, MAX_PASSES_LEVEL, Node, pack_cut, pack_normal, unpack_cut,
    unpack_normal,
};
pub use gather::gather;
pub use grid::Grid;
pub use key_array::KeyArray;
pub use keys::{KeyIter, KeySlice, KeySliceMut, Keys};
pub use morton::Key;
pub use pick::{VoxelHit, distance_to_forest, pick_forest};
pub use query::{NO_LEAF, Octant, RayHit, ray_cast};
#[cfg(test)]
pub(crate) use resident_leaves::TakeLeavesParams;
pub use resident_leaves::{OnDevice, ResidentLeaves, ResidentPart};
pub use samples::{leaf_plane, leaf_sample};
pub use validate::{inside_never_touches_outside, validate};
