//! The solid of a break, processed in blocks of the grid: at level 10 the pieces have tens of millions of boundary
//! voxels, and each voxel's checks only need data at its place.
//!
//! In: the broken octree and its parts. Out: for each block its cubes and the copies of its voxels.

use rayon::prelude::*;

use crate::{
    Cells,
    fracture::{Fracture, Piece},
    svo::{Forest, morton::Key},
};

/// log2 of a block's largest edge in voxels, which limits the memory of the blocks in progress to a few megabytes.
const MOST_LOG_SIZE: u32 = 7;

/// A part's copy of a voxel, packed in one word. Morton codes have 36 bits, parts 28.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VoxelCopy(u64);

impl VoxelCopy {
    fn new(key: Key, part: u32) -> Self {
        Self(key << 28 | u64::from(part))
    }

    pub fn key(self) -> Key {
        self.0 >> 28
    }

    pub fn part(self) -> usize {
        (self.0 & 0xfff_ffff) as usize
    }
}

/// The broken octree and its parts: the pieces, then the dropped parts.
pub(super) struct Solids<'a> {
    /// The octree that was broken.
    pub source: (&'a Forest, usize),
    parts: Vec<(&'a Forest, usize)>,
    /// Number of parts that are pieces.
    pub kept: usize,
    /// Cells of each part, ascending: its own, and those of small pieces merged into it.
    pub cells: Vec<Vec<u32>>,
    /// Whether any small pieces were merged.
    merged: bool,
}

/// The part of all solids in one cube of the grid, to which larger cubes are clipped.
pub(super) struct Block<'a> {
    /// Cubes of the broken octree.
    pub source: Cells,
    /// Forest and cubes of each part in the block.
    pub parts: Vec<(&'a Forest, Cells)>,
    /// Copies of boundary voxels, by voxel, then by part.
    pub copies: Vec<VoxelCopy>,
}

impl<'a> Solids<'a> {
    pub fn of(source: (&'a Forest, u32), fracture: &'a Fracture) -> Self {
        let trees = |forest: &'a Forest, pieces: &'a [Piece]| {
            pieces.iter().map(move |piece| (forest, piece.tree as usize))
        };
        let mut parts: Vec<_> = trees(&fracture.forest, &fracture.pieces).collect();
        if let Some(dropped) = &fracture.dropped {
            parts.extend(trees(&dropped.forest, &dropped.pieces));
        }
        let dropped = fracture.dropped.iter().flat_map(|dropped| &dropped.pieces);
        let mut cells: Vec<Vec<u32>> =
            fracture.pieces.iter().chain(dropped).map(|piece| vec![piece.cell]).collect();
        for merge in &fracture.merges {
            if let Some(own) = cells.get_mut(merge.piece) {
                own.clone_from(&merge.cells);
            }
        }
        let merged = !fracture.merges.is_empty();
        Self { source: (source.0, source.1 as usize), parts, kept: fracture.pieces.len(), cells, merged }
    }

    /// The pieces.
    pub fn pieces(&self) -> &[(&'a Forest, usize)] {
        &self.parts[..self.kept]
    }

    /// Whether a voxel's copies belong to the `wanted` objects: one for each, or at least one if small pieces were
    /// merged.
    pub fn are_those_of(&self, own: &[VoxelCopy], wanted: &[u32]) -> bool {
        let held = |cell: &u32| own.iter().filter(|c| self.cells[c.part()].contains(cell)).count();
        wanted.iter().all(|cell| if self.merged { held(cell) > 0 } else { held(cell) == 1 })
            && own.iter().all(|c| self.cells[c.part()].iter().any(|cell| wanted.contains(cell)))
    }

    /// The octree level whose nodes are the blocks; even a coarse grid has several blocks, for all cores.
    fn block_level(&self) -> u32 {
        let level = self.source.0.level;
        level - level.saturating_sub(2).clamp(1, MOST_LOG_SIZE)
    }

    fn block(&self, key: Key, level: u32) -> Block<'a> {
        let source = Cells::within(self.source.0, self.source.1, (key, level));
        let (mut parts, mut copies) = (Vec::new(), Vec::new());
        for (part, (forest, tree)) in (0..).zip(&self.parts) {
            let cells = Cells::within(forest, *tree, (key, level));
            if !cells.is_empty() {
                let leaves = cells.starts.iter().zip(&cells.leaves).filter(|(_, leaf)| **leaf != u32::MAX);
                copies.extend(leaves.map(|(key, _)| VoxelCopy::new(key, part)));
                parts.push((*forest, cells));
            }
        }
        copies.sort_unstable();
        Block { source, parts, copies }
    }

    /// Results of `look` for every block of the grid with its number, in Morton order.
    pub fn in_blocks<T: Send>(&self, look: impl Fn(usize, &Block<'a>) -> T + Sync) -> Vec<T> {
        let level = self.block_level();
        (0..1usize << (3 * level))
            .into_par_iter()
            .with_max_len(1)
            .map(|key| look(key, &self.block(key as Key, level)))
            .collect()
    }
}

impl Block<'_> {
    /// The copies of each voxel that has any.
    pub fn voxels(&self) -> impl Iterator<Item = &[VoxelCopy]> {
        self.copies.chunk_by(|a, b| a.key() == b.key())
    }

    /// Whether a voxel was an internal cell of the broken octree; `None` if it was outside.
    pub fn was_inside(&self, key: Key) -> Option<bool> {
        self.source.find(key).map(|i| self.source.leaves[i] == u32::MAX)
    }
}
