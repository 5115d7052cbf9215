//! A whole break, over one or more generations: what the exporters, the report and the checks read.
//!
//! In: the source octree and the fractures that were made of it and of its pieces. Out: the pieces that are left, numbered by
//! descending size.

use std::sync::Arc;

use crate::{
    fracture::{Fracture, Pattern, Piece, Recipe},
    svo::{Forest, Grid},
};

/// One fracture of one octree.
#[derive(Clone, Debug)]
pub struct BrokenStep {
    /// The piece that was broken; `None` for the source.
    pub parent: Option<PieceRef>,
    /// 1 for the source's own break.
    pub generation: u32,
    /// Number of this step's first seed in the list over all steps.
    pub first_seed: u32,
    /// Its seeds.
    pub pattern: Pattern,
    /// Level at which its islands were told apart.
    pub island_level: u32,
    /// How it was computed.
    pub recipe: Recipe,
    /// What came of it.
    pub fracture: Fracture,
}

/// Names a piece: index of a step, and of a piece of its fracture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PieceRef {
    /// Index in [`Broken::steps`].
    pub step: usize,
    /// Index in that step's [`Fracture::pieces`].
    pub piece: usize,
}

/// A source and everything that it was broken into.
#[derive(Clone, Debug)]
pub struct Broken {
    /// One tree.
    pub source: Arc<Forest>,
    /// Where the grid lies in the mesh.
    pub grid: Grid,
    /// In the order in which they were made; the first breaks the source.
    pub steps: Vec<BrokenStep>,
    /// The pieces that are left, by descending voxels; a piece's id is its index.
    pub pieces: Vec<PieceRef>,
    /// Pieces that were broken again. Their ids follow those of `pieces`.
    pub broken_again: Vec<PieceRef>,
}

impl Broken {
    /// The piece itself.
    #[must_use]
    pub fn piece(&self, at: PieceRef) -> &Piece {
        &self.steps[at.step].fracture.pieces[at.piece]
    }

    /// The forest that holds it.
    #[must_use]
    pub fn forest(&self, at: PieceRef) -> &Arc<Forest> {
        &self.steps[at.step].fracture.forest
    }

    /// Its Voronoi cell as a seed number over all steps; of a kept body the smallest of its seeds.
    #[must_use]
    pub fn cell(&self, at: PieceRef) -> u32 {
        self.steps[at.step].first_seed + self.piece(at).cell
    }

    /// The octree that `step` broke: forest and tree.
    #[must_use]
    pub fn source_of(&self, step: &BrokenStep) -> (&Arc<Forest>, u32) {
        step.parent.map_or((&self.source, 0), |at| (self.forest(at), self.piece(at).tree))
    }

    /// Id of a piece that was broken again.
    #[must_use]
    pub fn parent_id(&self, at: PieceRef) -> Option<usize> {
        let parent = self.steps[at.step].parent?;
        self.broken_again.iter().position(|p| *p == parent).map(|i| self.pieces.len() + i)
    }

    /// Leaf range of a piece in its forest.
    #[must_use]
    pub fn leaves(&self, at: PieceRef) -> std::ops::Range<usize> {
        let (forest, tree) = (self.forest(at), self.piece(at).tree as usize);
        forest.tree_start[tree] as usize..forest.tree_start[tree + 1] as usize
    }

    /// Sorts the pieces by descending voxels; equal ones stay in the order in which they were made.
    pub fn number_pieces(&mut self) {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.sort_by_key(|at| (std::cmp::Reverse(self.piece(*at).voxels), *at));
        self.pieces = pieces;
    }
}
