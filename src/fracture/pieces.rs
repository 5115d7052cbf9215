//! The result of a fracture.
use super::Pattern;
use crate::{
    bodies::MassProperties,
    gpu::{Gpu, GpuError, StageTiming},
    svo::{Arena, Forest, Slot},
};
use std::sync::Arc;
/// The octree that is to break: one tree of a forest that is in the arena.
pub struct Source<'a> {
    /// Octrees on the GPU.
    pub arena: &'a Arena,
    /// Where the forest is.
    pub slot: Slot,
    /// The same on the CPU.
    pub forest: &'a Arc<Forest>,
    /// Which tree.
    pub tree: u32,
}
/// One connected piece.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Tree of [`Fracture::forest`].
    pub tree: u32,
    /// Voronoi cell (seed index).
    pub cell: u32,
    /// Copies plus internal leaf cells.
    pub voxels: u64,
    /// Mass at density 1, centre, inertia, bounds; grid units.
    pub mass: MassProperties,
}
/// Counts of one fracture, as report.json names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FractureCounts {
    /// Boundary voxels of the source.
    pub source_leaves: u64,
    /// Internal voxels that became crack voxels, without copies.
    pub crack_voxels: u64,
    /// Boundary voxels of all pieces, with copies.
    pub fbs: u64,
    /// Cells that own a voxel.
    pub cells: u64,
    /// Pieces beyond one per cell.
    pub islands: u64,
    /// Pieces.
    pub pieces: u64,
}
/// A broken octree.
#[derive(Clone, Debug)]
pub struct Fracture {
    /// All piece octrees, on the source's grid.
    pub forest: Arc<Forest>,
    /// By descending voxels; a piece's id is its index.
    pub pieces: Vec<Piece>,
    /// Counts.
    pub counts: FractureCounts,
    /// GPU time per stage.
    pub timings: Vec<StageTiming>,
}
/// Why a fracture failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FractureError {
    /// Bad parameters.
    #[error("{0}")]
    Params(String),
    /// The device failed.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}
/// The compiled fracture passes.
pub struct Fracturer {}
impl Fracturer {
    /// Compiles the passes.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(_gpu: &Gpu) -> Result<Self, GpuError> {
        todo!()
    }
    /// Breaks `source` by `pattern`. Reads nothing else and changes nothing.
    ///
    /// # Errors
    /// [`FractureError`].
    pub fn fracture(
        &self,
        _gpu: &Gpu,
        _source: &Source<'_>,
        _pattern: &Pattern,
        _island_level: Option<u32>,
    ) -> Result<Fracture, FractureError> {
        todo!()
    }
}
