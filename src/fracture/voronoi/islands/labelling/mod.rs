//! Which connected-component labelling tells islands apart, and the published one (2016, sec. 4.5) as a method that
//! can be watched.
//!
//! In: the voxels of broken cells, grouped by cell ([`Voxels`]). Out: a label per voxel, iteration by iteration.
//!
//! [`Labelling::UnionFind`] lives in the folder above. [`Labelling::Iterative`] is here: voxels begin with
//! consecutive numbers as labels, the largest label of a neighbourhood spreads, chains of labels are flattened, and
//! groups in which nothing changed rest. It differs from the paper's text in two points. An iteration reads only
//! the labels before it, so that it gives the same on every device and can be shown forwards and backwards; the
//! paper's threads also loop until their own neighbourhood is even. And it can be given the inside as well, as
//! internal nodes of any size (`solid`): boundary voxels alone turn the wall of a sealed cavity into a false piece.

pub(in crate::fracture) mod iterative;
pub mod plain;
mod playback;
#[cfg(test)]
mod tests;
mod voxels;

pub use iterative::{IterativePass, IterativeRun, Step};
pub use playback::Playback;
pub use voxels::{Voxel, Voxels};

/// How islands are told apart. Both give the same pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Labelling {
    /// Lock-free union-find over octree nodes.
    #[default]
    UnionFind,
    /// The published iteration (2016, sec. 4.5). Much slower.
    Iterative,
}
