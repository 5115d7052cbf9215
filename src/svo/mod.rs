//! Sparse voxel octrees: the word layout, building them, asking them, checking them.

mod arena;
mod build;
mod format;
mod grid;
pub mod morton;

pub use arena::{Arena, Slot};
pub use build::{Inside, build};
pub use format::{Forest, LeafColor, Leaves, MAX_LEVEL, Node, pack_normal, unpack_normal};
pub use grid::Grid;
