//! The stages of a fracture on a backend: compute passes (`passes.rs`) or the processor's cores (`native.rs`). Both
//! give the same bytes.

use std::time::Instant;

use crate::{
    fracture::{Fracture, FractureError, Labelling, Pattern, Recipe, Source, Volume},
    gpu::StageTiming,
};

/// What a fracture starts from.
#[derive(Clone, Copy)]
pub(in crate::fracture) struct Inputs<'a> {
    pub source: &'a Source<'a>,
    pub pattern: &'a Pattern,
    pub recipe: &'a Recipe,
}

/// The stages of one fracture, in the order of the recipe.
pub(in crate::fracture) trait OctreeStages {
    /// One octree an object, then one a component.
    type Cells;
    /// The components of the objects' octrees.
    type Islands;

    /// The octrees of all objects that get a voxel, and which do, by rank of the object.
    ///
    /// # Errors
    /// [`FractureError`], also where the surface cannot be had there.
    fn cells(&mut self, interior: Volume) -> Result<(Self::Cells, Vec<bool>), FractureError>;

    /// Whether all cells are empty.
    fn is_empty(cells: &Self::Cells) -> bool;

    /// The connected components of every octree, by a labelling, at an island level.
    ///
    /// # Errors
    /// [`FractureError::Gpu`].
    fn islands(&mut self, cells: &Self::Cells, how: (Labelling, u32))
    -> Result<Self::Islands, FractureError>;

    /// (label, tree) of every component, by ascending label.
    fn components(islands: &Self::Islands) -> &[[u32; 2]];

    /// How many of the objects that got no voxel would have one with planar cracks.
    ///
    /// # Errors
    /// [`FractureError::Gpu`].
    fn swallowed(&mut self, survived: &[bool]) -> Result<usize, FractureError>;

    /// One octree a component.
    ///
    /// # Errors
    /// [`FractureError::Gpu`].
    fn split(&mut self, cells: Self::Cells, islands: &Self::Islands) -> Result<Self::Cells, FractureError>;

    /// The pieces with their sums; `tree_cells` is the seed of each tree.
    ///
    /// # Errors
    /// [`FractureError::Gpu`].
    fn collect(
        self,
        octrees: Self::Cells,
        tree_cells: Vec<u32>,
        volume: Volume,
    ) -> Result<Fracture, FractureError>;
}

/// Times of stages by the clock.
#[derive(Default)]
pub(in crate::fracture) struct Stopwatch {
    timings: Vec<StageTiming>,
    running: Option<(&'static str, Instant)>,
}

impl Stopwatch {
    /// Ends the stage that runs and starts another, which may have run before.
    pub fn start(&mut self, stage: &'static str) {
        self.stop();
        self.running = Some((stage, Instant::now()));
    }

    /// Ends the stage that runs.
    pub fn stop(&mut self) {
        let Some((stage, started)) = self.running.take() else { return };
        StageTiming::since(stage, started).add_to(&mut self.timings);
    }

    /// In the order of first use.
    pub fn read(mut self) -> Vec<StageTiming> {
        self.stop();
        self.timings
    }
}
