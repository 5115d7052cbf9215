//! Input and result of a break.

use std::{cmp::Reverse, collections::BTreeSet, sync::Arc};

use crate::{
    fracture::{Cancel, Cancelled},
    gpu::{GpuError, StageTiming},
    shape::{GridMass, Octree, grid_mass},
    svo::{Arena, Forest, Key, Slot, gather, morton},
};

use super::{Pattern, PatternError, Volume};

/// The octree that is to break: one tree of a forest, which compute passes want in the arena.
pub struct Source<'a> {
    /// Octrees where stages run.
    pub arena: &'a Arena,
    /// Where the forest is on the device; without one it is all there is.
    pub slot: Slot,
    /// In memory.
    pub forest: &'a Arc<Forest>,
    /// Which tree.
    pub tree: u32,
    /// Cancels the fracture.
    pub cancel: &'a Cancel,
}

impl<'a> Source<'a> {
    /// This source for a fracture that can be cancelled.
    #[must_use]
    pub fn unless(self, cancel: &'a Cancel) -> Self {
        Self { cancel, ..self }
    }

    /// Tree `tree` of a forest, which must be in the arena where stages run on a device; on the CPU it need not.
    ///
    /// # Errors
    /// [`GpuError::Driver`] where it is not.
    pub fn new(arena: &'a Arena, forest: &'a Arc<Forest>, tree: u32) -> Result<Self, GpuError> {
        let missing = || GpuError::Driver("the octree that is to break is not on the device".into());
        let in_memory = || {
            let (nodes, leaves) = (forest.nodes.len() as u32, forest.leaves.len() as u32);
            arena.buffers().is_err().then_some(Slot { node_base: 0, leaf_base: 0, nodes, leaves })
        };
        let slot = arena.slot(forest).or_else(in_memory).ok_or_else(missing)?;
        Ok(Self { arena, slot, forest, tree, cancel: Cancel::never() })
    }
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
    pub mass: GridMass,
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
    /// Solid leaf voxels of the source that no piece got any of: the gap of a dusty surface.
    pub dust_voxels: u64,
    /// Number of cells that would own a voxel with planar surfaces and own none with crack surfaces.
    pub swallowed: u64,
    /// Pieces that were too small and were taken away.
    #[serde(default)]
    pub dropped: u64,
    /// Pieces that were too small and joined another.
    #[serde(default)]
    pub merged: u64,
    /// Number of parts of a voxel's inside whose cell owns none of its corners, so that they went to other cells; reports
    /// count them for planar surfaces, a break does not. `None`: not counted.
    #[serde(default)]
    pub hidden: Option<u64>,
}

/// Small pieces that were taken away.
#[derive(Clone, Debug)]
pub struct Dropped {
    /// Their octrees, on the source's grid.
    pub forest: Arc<Forest>,
    /// By descending voxels; trees of [`Dropped::forest`].
    pub pieces: Vec<Piece>,
}

impl Dropped {
    /// Their volume, voxels.
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.mass.volume).sum()
    }
}

/// A piece that small ones joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    /// Index in [`Fracture::pieces`].
    pub piece: usize,
    /// Cells of all its parts, ascending.
    pub cells: Vec<u32>,
}

/// How a number of pieces was solved for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Solved {
    /// Wanted number of pieces.
    pub wanted: u32,
    /// Pieces that came out.
    pub reached: u32,
    /// Seeds that gave them.
    pub seeds: u32,
    /// Random seed of the result: the given one, unless no number of its seeds came near.
    pub rng: u64,
    /// Level of the preview that was tried first; 0 without one.
    pub preview_level: u32,
    /// Fractures of that preview.
    pub preview_trials: u32,
    /// Fractures at the full level.
    pub trials: u32,
}

/// A broken octree.
#[derive(Clone, Debug, Default)]
pub struct Fracture {
    /// All piece octrees, on the source's grid.
    pub forest: Arc<Forest>,
    /// By descending voxels; a piece's id is its index.
    pub pieces: Vec<Piece>,
    /// Counts.
    pub counts: FractureCounts,
    /// Solid that became dust, voxels: all of the dust voxels, and the dust's share of those that a gap only cuts into.
    pub dust_volume: f64,
    /// The material of its crack faces.
    pub volume: Volume,
    /// GPU time per stage.
    pub timings: Vec<StageTiming>,
    /// Pieces removed by the smallest-piece rule.
    pub dropped: Option<Dropped>,
    /// Pieces joined by that rule, by ascending piece.
    pub merges: Vec<Merge>,
}

impl Fracture {
    /// Pieces of an octree: each one's cell, and its own octree on the same grid.
    #[must_use]
    pub fn of_pieces(source: &Octree, pieces: &[(u32, Forest)]) -> Self {
        let pieces = || pieces.iter().filter(|(_, forest)| !forest.leaves.is_empty());
        let trees: Vec<(&Forest, usize)> = pieces().map(|(_, forest)| (forest, 0)).collect();
        let forest = gather(source.level(), &trees);
        let mut all: Vec<Piece> = (0..)
            .zip(pieces())
            .map(|(tree, (cell, _))| {
                let mass = grid_mass(&forest, tree as usize);
                Piece { tree, cell: *cell, voxels: mass.voxels, mass }
            })
            .collect();
        all.sort_by_key(|piece| (Reverse(piece.voxels), piece.tree));
        let inside = |key: &Key| source.forest.is_internal(source.tree as usize, morton::decode(*key));
        let cracks: BTreeSet<Key> = forest.leaves.keys.iter().filter(inside).collect();
        let cells: BTreeSet<u32> = all.iter().map(|piece| piece.cell).collect();
        let counts = FractureCounts {
            source_leaves: source.leaves().len() as u64,
            crack_voxels: cracks.len() as u64,
            fbs: forest.leaves.len() as u64,
            cells: cells.len() as u64,
            islands: (all.len() - cells.len()) as u64,
            pieces: all.len() as u64,
            ..FractureCounts::default()
        };
        Self { forest: Arc::new(forest), pieces: all, counts, ..Self::default() }
    }

    /// Of each piece its cells' objects: one, or several where small pieces joined it.
    #[must_use]
    pub fn objects(&self, pattern: &Pattern) -> Vec<Vec<u32>> {
        let object = |cell: &u32| pattern.objects.get(*cell as usize).copied().unwrap_or(*cell);
        let merged = |p: usize| self.merges.iter().find(|merge| merge.piece == p);
        let of = |(p, piece): (usize, &Piece)| {
            merged(p).map_or_else(|| vec![piece.cell], |merge| merge.cells.iter().map(object).collect())
        };
        self.pieces.iter().enumerate().map(of).collect()
    }

    /// Volume of all pieces and of what was taken away, voxels.
    #[must_use]
    pub fn volume(&self) -> f64 {
        let pieces: f64 = self.pieces.iter().map(|piece| piece.mass.volume).sum();
        pieces + self.dropped.as_ref().map_or(0.0, Dropped::volume)
    }
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
    /// The fracture was cancelled.
    #[error("the fracture was cancelled")]
    Cancelled,
}

impl FractureError {
    /// Whether the graphics device is lost.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::Gpu(error) if error.is_loss())
    }
}

impl From<Cancelled> for FractureError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<PatternError> for FractureError {
    fn from(error: PatternError) -> Self {
        Self::Params(error.to_string())
    }
}
