//! Sparse voxel octrees: the format, building, queries, and checks.

mod arena;
mod build;
mod format;
mod gather;
mod grid;
mod keys;
pub mod morton;
mod pick;
mod query;
mod validate;

pub use arena::{Arena, ArenaBuffers, Slot};
pub use build::{Inside, build, coarsen, leaf_plane, leaf_sample};
#[cfg(test)]
pub(crate) use format::TakeLeavesParams;
pub use format::{
    Forest, LeafColor, Leaves, MAX_LEVEL, MAX_PASSES_LEVEL, Node, OnDevice, ResidentLeaves, ResidentPart,
    pack_cut, pack_normal, unpack_cut, unpack_normal,
};
pub use gather::gather;
pub use grid::Grid;
pub use keys::{KeyArray, KeyIter, KeySlice, KeySliceMut, Keys};
pub use morton::Key;
pub use pick::{VoxelHit, distance_to_forest, pick_forest};
pub use query::{NO_LEAF, Octant, RayHit, ray_cast};
#[cfg(test)]
pub use validate::inside_never_touches_outside;
pub use validate::validate;
