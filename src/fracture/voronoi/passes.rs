//! The stages of a fracture in compute passes.

use super::{
    collect, descent, islands,
    octrees::{self, Octrees},
    seams,
    stages::OctreeStages,
    surface::{
        boundary_set::BoundarySetPass,
        planar::PlanarPass,
        rough::{self, TransitionVoxel, cracking, pass::RoughPass},
    },
};
use crate::{
    fracture::{Fracture, FractureError, Labelling, Pattern, Recipe, Source, Surface, Volume},
    gpu::{Gpu, GpuError, Submissions, primitives::Scan},
};

/// The compiled fracture passes.
pub(in crate::fracture) struct Passes {
    pub scan: Scan,
    pub descent: descent::DescentPass,
    pub boundary_set: BoundarySetPass,
    pub planar: PlanarPass,
    pub rough: RoughPass,
    pub dusty: RoughPass,
    pub prune: octrees::prune::PrunePass,
    pub islands: islands::IslandsPass,
    pub iterative: islands::labelling::IterativePass,
    pub split: octrees::split::SplitPass,
    pub seams: seams::SeamsPass,
}

impl Passes {
    /// Compiles them.
    ///
    /// # Errors
    /// [`GpuError`] when the driver refuses one.
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let passes = Self {
            scan: Scan::new(gpu),
            descent: descent::DescentPass::new(gpu),
            boundary_set: BoundarySetPass::new(gpu),
            planar: PlanarPass::new(gpu),
            rough: RoughPass::new(gpu),
            dusty: RoughPass::dusty(gpu),
            prune: octrees::prune::PrunePass::new(gpu),
            islands: islands::IslandsPass::new(gpu),
            iterative: islands::labelling::IterativePass::new(gpu),
            split: octrees::split::SplitPass::new(gpu),
            seams: seams::SeamsPass::new(gpu),
        };
        gpu.check()?;
        Ok(passes)
    }

    fn cracking<'a>(
        &'a self,
        gpu: &Gpu,
        source: &'a Source<'a>,
        recipe: &Recipe,
    ) -> Result<cracking::Cracking<'a>, FractureError> {
        let transition = recipe.crack.transition(source.forest.level, recipe.surface)?;
        let words = rough::CrackUniform::new(&recipe.crack, recipe.rng, transition)
            .with_gap(&recipe.crack, source.forest.level);
        Ok(cracking::Cracking::new(gpu, &self.descent, source, words))
    }

    /// The crossed voxels of the transition level, to look at.
    ///
    /// # Errors
    /// [`FractureError::Gpu`].
    pub fn transition_voxels(
        &self,
        gpu: &Gpu,
        source: &Source<'_>,
        pattern: &Pattern,
        recipe: &Recipe,
    ) -> Result<Vec<TransitionVoxel>, FractureError> {
        let mut work = Submissions::new(gpu, &self.scan);
        let crack = self.cracking(gpu, source, recipe)?;
        self.rough.voxels(&mut work, &crack, pattern)
    }
}

/// One fracture under way.
pub(in crate::fracture) struct PassStages<'a> {
    gpu: &'a Gpu,
    passes: &'a Passes,
    work: Submissions<'a>,
}

impl<'a> PassStages<'a> {
    /// Nothing submitted yet.
    pub fn new(gpu: &'a Gpu, passes: &'a Passes) -> Self {
        Self { gpu, passes, work: Submissions::new(gpu, &passes.scan) }
    }
}

impl OctreeStages for PassStages<'_> {
    type Cells = Octrees;
    type Islands = islands::Islands;

    fn cells(
        &mut self,
        source: &Source<'_>,
        pattern: &Pattern,
        recipe: &Recipe,
        interior: Volume,
    ) -> Result<(Octrees, Vec<bool>), FractureError> {
        let Self { gpu, passes, work } = self;
        let (layers, leaves) = match recipe.surface {
            Surface::Planar => {
                let descent = (&passes.descent, &passes.boundary_set);
                passes.planar.run(work, descent, source, pattern)?
            }
            Surface::Rough => {
                let crack = passes.cracking(gpu, source, recipe)?;
                passes.rough.run(work, &crack, &passes.boundary_set, pattern)?
            }
            Surface::Dusty => {
                let crack = passes.cracking(gpu, source, recipe)?;
                passes.dusty.run(work, &crack, &passes.boundary_set, pattern)?
            }
        };
        passes.boundary_set.paint(work, &leaves, source.forest.level, interior)?;
        let (cells, survivors) = passes.prune.run(work, &layers, leaves)?;
        Ok((cells, survivors.windows(2).map(|pair| pair[0] != pair[1]).collect()))
    }

    fn is_empty(cells: &Octrees) -> bool {
        cells.nodes.is_empty()
    }

    fn islands(
        &mut self,
        cells: &Octrees,
        labelling: Labelling,
        island_level: u32,
    ) -> Result<islands::Islands, FractureError> {
        let islands = match labelling {
            Labelling::UnionFind => self.passes.islands.run(&mut self.work, cells, island_level)?,
            Labelling::Iterative => self.passes.iterative.islands(&mut self.work, cells, island_level)?,
        };
        Ok(islands)
    }

    fn components(islands: &islands::Islands) -> &[[u32; 2]] {
        &islands.components
    }

    fn swallowed(
        &mut self,
        source: &Source<'_>,
        pattern: &Pattern,
        recipe: &Recipe,
        survived: &[bool],
    ) -> Result<usize, FractureError> {
        let crack = self.passes.cracking(self.gpu, source, recipe)?;
        // What has no voxel would have had one if the planar descent finds it one.
        let gone = |rank: u32| !survived[rank as usize];
        Ok(cracking::planar_objects(&mut self.work, &crack, pattern, gone)?)
    }

    fn split(&mut self, cells: Octrees, islands: &islands::Islands) -> Result<Octrees, FractureError> {
        Ok(self.passes.split.run(&mut self.work, &self.passes.prune, &cells, islands)?)
    }

    fn collect(
        self,
        source: &Source<'_>,
        octrees: Octrees,
        tree_cells: Vec<u32>,
        volume: Volume,
    ) -> Result<Fracture, FractureError> {
        collect::collect(self.work, source, &octrees, tree_cells, volume)
    }
}
