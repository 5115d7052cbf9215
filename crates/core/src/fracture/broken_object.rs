//! A whole break, over one or more generations: the input of the exporters, the report and the checks.
//!
//! In: the source and the breaks of it and of its parts. Out: the remaining pieces, numbered by descending size.

use std::sync::{Arc, OnceLock};

use super::{Break, Part, Piece};
use crate::{
    shape::{Geometry, Octree, Shape},
    svo::{Forest, Grid},
};

/// One break of one shape.
#[derive(Clone)]
pub struct BreakStep {
    /// The piece that was broken; `None` for the source.
    pub parent: Option<PieceRef>,
    /// 1 for the source's own break.
    pub generation: u32,
    /// Number of this step's first cell in the list over all steps.
    pub first_cell: u32,
    /// Its result.
    pub result: Break,
}

impl BreakStep {
    /// Cells that the break drew: seeds of a pattern, or as many as its parts name.
    #[must_use]
    pub fn cells(&self) -> u32 {
        let named = || self.result.parts.iter().map(|part| part.cell + 1).max().unwrap_or(0);
        self.result.pattern.as_ref().map_or_else(named, |pattern| pattern.seeds.len() as u32)
    }
}

/// Id of a piece: index of a step, and of a piece of its fracture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PieceRef {
    /// Index in [`BrokenObject::steps`].
    pub step: usize,
    /// Index in that step's [`Break::parts`].
    pub piece: usize,
}

/// A source and everything that it was broken into.
#[derive(Clone)]
pub struct BrokenObject {
    /// The broken shape, in the mesh's own units.
    pub source: Arc<Shape>,
    /// In the order in which they were made; the first breaks the source.
    pub steps: Vec<BreakStep>,
    /// The remaining pieces, by descending size; a piece's id is its index.
    pub pieces: Vec<PieceRef>,
    /// Pieces that were broken again. Their ids follow those of `pieces`.
    pub broken_again: Vec<PieceRef>,
}

/// The octree of other shapes: no voxels.
fn no_octree() -> &'static Octree {
    static NONE: OnceLock<Octree> = OnceLock::new();
    NONE.get_or_init(|| {
        let forest = Arc::new(Forest { level: 1, tree_start: vec![0], ..Forest::default() });
        Octree::new(&forest, 0, Grid { level: 1, origin: glam::DVec3::ZERO, h: 1.0 })
    })
}

impl BrokenObject {
    /// The source's octree; one without voxels for other shapes.
    #[must_use]
    pub fn source_octree(&self) -> &Octree {
        self.source.as_octree().unwrap_or_else(|| no_octree())
    }

    /// Where the source's grid lies, mesh units.
    #[must_use]
    pub fn grid(&self) -> Grid {
        self.source_octree().grid
    }

    /// The piece itself.
    #[must_use]
    pub fn part(&self, at: PieceRef) -> &Part {
        &self.steps[at.step].result.parts[at.piece]
    }

    /// Its octree; one without voxels for other shapes, even if they have voxels for contacts.
    #[must_use]
    pub fn octree(&self, at: PieceRef) -> &Octree {
        match self.part(at).shape.geometry() {
            Geometry::Octree(octree) => octree,
            Geometry::Mesh(_) | Geometry::Convex(_) => no_octree(),
        }
    }

    /// The piece as the octree methods describe pieces.
    #[must_use]
    pub fn piece(&self, at: PieceRef) -> Piece {
        let (part, octree) = (self.part(at), self.octree(at));
        Piece { tree: octree.tree, cell: part.cell, voxels: part.size, mass: octree.mass }
    }

    /// The forest that contains it.
    #[must_use]
    pub fn forest(&self, at: PieceRef) -> &Arc<Forest> {
        &self.octree(at).forest
    }

    /// Index of its cell over all steps; for a kept body the smallest of its cells.
    #[must_use]
    pub fn cell(&self, at: PieceRef) -> u32 {
        self.steps[at.step].first_cell + self.part(at).cell
    }

    /// The octree that `step` broke: forest and tree.
    #[must_use]
    pub fn source_of(&self, step: &BreakStep) -> (&Arc<Forest>, u32) {
        let octree = step.parent.map_or(self.source_octree(), |at| self.octree(at));
        (&octree.forest, octree.tree)
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
        self.octree(at).leaves()
    }

    /// Whether there is one piece only, from which nothing was cut off.
    #[must_use]
    pub fn stayed_whole(&self) -> bool {
        self.steps.first().is_none_or(|step| step.result.stayed_whole())
    }

    /// Sorts the pieces by descending size; equal ones stay in the order in which they were made.
    pub fn number_pieces(&mut self) {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.sort_by_key(|at| (std::cmp::Reverse(self.part(*at).size), *at));
        self.pieces = pieces;
    }
}
