//! The result of a fracture, and its way back to the CPU.

use std::sync::Arc;

use crate::{
    gpu::{Gpu, GpuError, StageTiming, read_all},
    shape::{GridMass, grid_mass},
    svo::{Arena, Forest, LeafColor, Leaves, Slot},
};

use super::{
    PatternError, Volume,
    layers::{Clock, NO_LEAF, Octrees},
};

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

impl<'a> Source<'a> {
    /// Tree `tree` of a forest that is in the arena.
    ///
    /// # Errors
    /// [`GpuError::Driver`] where it is not.
    pub fn new(arena: &'a Arena, forest: &'a Arc<Forest>, tree: u32) -> Result<Self, GpuError> {
        let missing = || GpuError::Driver("the octree that is to break is not on the device".into());
        Ok(Self { arena, slot: arena.slot(forest).ok_or_else(missing)?, forest, tree })
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
    /// Cells that would own a voxel with planar surfaces and own none with crack surfaces.
    pub swallowed: u64,
    /// Pieces that were too small and were taken away.
    #[serde(default)]
    pub dropped: u64,
    /// Pieces that were too small and joined another.
    #[serde(default)]
    pub merged: u64,
    /// Parts of a voxel's inside whose cell owns none of its corners, so that they went to other cells; `None`: not counted.
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
    /// Pieces that were asked for.
    pub wanted: u32,
    /// Pieces that came out.
    pub reached: u32,
    /// Seeds that gave them.
    pub seeds: u32,
    /// Random seed that gave them: the one that was asked for, unless no number of its seeds came near.
    pub rng: u64,
    /// Level of the preview that was tried first; 0 where there was none.
    pub preview_level: u32,
    /// Fractures of that preview.
    pub preview_trials: u32,
    /// Fractures at the full level.
    pub trials: u32,
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
    /// Solid that became dust, voxels: all of the dust voxels, and the dust's share of those that a gap only cuts into.
    pub dust_volume: f64,
    /// What its crack faces show.
    pub volume: Volume,
    /// GPU time per stage.
    pub timings: Vec<StageTiming>,
    /// What the smallest-piece rule took away.
    pub dropped: Option<Dropped>,
    /// What it joined, by ascending piece.
    pub merges: Vec<Merge>,
    /// How the number of seeds was found, where a number of pieces was asked for.
    pub solved: Option<Solved>,
}

impl Fracture {
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
}

impl From<PatternError> for FractureError {
    fn from(error: PatternError) -> Self {
        Self::Params(error.to_string())
    }
}

/// Reads the octrees back and sums the pieces. `tree_cells` is the seed of each tree.
pub(super) fn collect(
    gpu: &Gpu,
    source: &Source<'_>,
    octrees: &Octrees,
    tree_cells: Vec<u32>,
    volume: Volume,
    clock: Clock,
) -> Result<Fracture, FractureError> {
    let mut timings = clock.read(gpu)?;
    let started = std::time::Instant::now();
    let nodes = octrees.nodes.read(gpu)?;
    let leaves = &octrees.leaves;
    let pairs = [(&leaves.place, 0, leaves.place.len()), (&leaves.surface, 0, leaves.surface.len())];
    let mut pairs = read_all(gpu, &pairs)?;
    let surface = pairs.pop().unwrap_or_default();
    let place = pairs.pop().unwrap_or_default();
    let cuts = leaves.cuts.read(gpu)?;
    gpu.check()?;

    // k cells share a leaf; 840 = lcm(1..=8) counts the shares of crack voxels exactly.
    let mut crack_shares = 0u64;
    let mut dust_volume = 0.0;
    let source_leaves = source.forest.tree_start[source.tree as usize] as usize
        ..source.forest.tree_start[source.tree as usize + 1] as usize;
    let mut is_taken = vec![false; source_leaves.len()];
    let mut leaves = Leaves { cuts, ..Leaves::default() };
    leaves.keys.reserve_exact(place.len());
    leaves.coverage.reserve_exact(place.len());
    for [key, origin] in &place {
        let Sharing { cells, parts } = Sharing::of(*origin);
        let leaf = (origin & NO_LEAF) as usize;
        let whole = if leaf == NO_LEAF as usize {
            crack_shares += u64::from(840 / cells);
            1.0
        } else {
            if let Some(taken) = leaf.checked_sub(source_leaves.start).and_then(|i| is_taken.get_mut(i)) {
                *taken = true;
            }
            source.forest.leaves.coverage[leaf]
        };
        if parts > cells {
            // The dust's part, which all copies of the leaf account for together.
            dust_volume += f64::from(whole) / f64::from(parts * cells);
        }
        leaves.keys.push(*key);
        leaves.coverage.push(whole / parts as f32);
    }
    let mut dust_voxels = 0u64;
    for leaf in source_leaves.clone().filter(|leaf| !is_taken[leaf - source_leaves.start]) {
        dust_voxels += 1;
        dust_volume += f64::from(source.forest.leaves.coverage[leaf]);
    }
    leaves.normals = surface.iter().map(|[normal, _]| *normal).collect();
    leaves.colors = surface.iter().map(|[_, color]| LeafColor(*color)).collect();

    let mut forest = Forest {
        level: source.forest.level,
        level_start: octrees.level_start.clone(),
        nodes,
        leaves,
        tree_start: Vec::new(),
    };
    forest.tree_start = tree_starts(&forest, tree_cells.len());

    use rayon::prelude::*;
    let mut pieces: Vec<Piece> = (0..tree_cells.len())
        .into_par_iter()
        .map(|tree| {
            let mass = grid_mass(&forest, tree);
            Piece { tree: tree as u32, cell: tree_cells[tree], voxels: mass.voxels, mass }
        })
        .collect();
    pieces.sort_by(|a, b| b.voxels.cmp(&a.voxels).then(a.tree.cmp(&b.tree)));

    let mut cells = tree_cells;
    cells.sort_unstable();
    cells.dedup();
    let crack_voxels = crack_shares / 840;
    let mut inside = 0u64;
    source.forest.visit_internal(source.tree as usize, &mut |_, _, size| inside += u64::from(size).pow(3));
    let inside_pieces = pieces.iter().map(|piece| piece.voxels).sum::<u64>() - place.len() as u64;
    let inside_dust = inside.saturating_sub(inside_pieces + crack_voxels);
    let counts = FractureCounts {
        source_leaves: source_leaves.len() as u64,
        crack_voxels,
        fbs: place.len() as u64,
        cells: cells.len() as u64,
        islands: (pieces.len() - cells.len()) as u64,
        pieces: pieces.len() as u64,
        dropped: 0,
        merged: 0,
        hidden: None,
        dust_voxels: dust_voxels + inside_dust,
        swallowed: 0,
    };
    dust_volume += inside_dust as f64;
    timings.push(StageTiming {
        stage: "readback and masses (CPU)".into(),
        ms: started.elapsed().as_secs_f64() * 1e3,
    });
    Ok(Fracture {
        forest: Arc::new(forest),
        pieces,
        counts,
        dust_volume,
        volume,
        timings,
        dropped: None,
        merges: Vec::new(),
        solved: None,
    })
}

/// How a leaf is divided, from the high bits of its origin: below 8 the number of its cells less one, all of it theirs; from 8 on the
/// same number, and one more part is dust.
struct Sharing {
    cells: u32,
    parts: u32,
}

impl Sharing {
    fn of(origin: u32) -> Self {
        let code = origin >> 28;
        let cells = code % 8 + 1;
        Self { cells, parts: cells + code / 8 }
    }
}

/// Leaf ranges per tree: a tree's nodes are contiguous on every level, so its children are too.
fn tree_starts(forest: &Forest, trees: usize) -> Vec<u32> {
    let mut ends: Vec<u32> = (0..=trees as u32).collect();
    for l in 0..forest.level as usize {
        let level = &forest.nodes[forest.level_start[l] as usize..forest.level_start[l + 1] as usize];
        let mut children = 0;
        let mut at = 0;
        for end in &mut ends {
            while at < *end as usize {
                children += u32::from(level[at].valid()).count_ones();
                at += 1;
            }
            *end = children;
        }
    }
    ends
}
