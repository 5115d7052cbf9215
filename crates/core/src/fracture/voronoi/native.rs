//! The stages of a fracture on the processor's cores, and their times.

use std::sync::Arc;

use super::{
    collect::collect_native,
    descent::native::{at_root, cells, planar_objects},
    islands::{self, native::NativeIslands},
    octrees::{NO_LEAF, native::NativeCells, split_native},
    stages::{Inputs, OctreeStages, Stopwatch},
    surface::{
        dusty::native::{DustyCracks, DustyLeaves},
        planar::native::PlanarCracks,
        rough::{
            CrackUniform, TransitionVoxel,
            native::{RoughCracks, RoughLeaves},
            points::{Cracking, crossed_voxels},
        },
    },
};
use crate::fracture::{
    Fracture, FractureError, Labelling, Pattern, Recipe, Source, Surface, Volume, interior::VolumeGrid,
};

fn words(recipe: &Recipe, level: u32) -> Result<CrackUniform, FractureError> {
    let transition = recipe.crack.transition(level, recipe.surface)?;
    Ok(CrackUniform::new(&recipe.crack, recipe.rng, transition).with_gap(&recipe.crack, level))
}

/// The crossed voxels of the transition level, for display; empty if the leaves are such voxels.
///
/// # Errors
/// [`FractureError::Params`] for an invalid transition level.
pub(in crate::fracture) fn transition_voxels(
    source: &Source<'_>,
    pattern: &Pattern,
    recipe: &Recipe,
) -> Result<Vec<TransitionVoxel>, FractureError> {
    let words = words(recipe, source.forest.level)?;
    if words.transition == source.forest.level {
        return Ok(Vec::new());
    }
    let ids = pattern.object_ids();
    Ok(crossed_voxels(source.forest, source.tree, &at_root(pattern), &words, &ids))
}

/// A fracture in progress.
pub(in crate::fracture) struct NativeStages<'a> {
    of: Inputs<'a>,
    watch: Stopwatch,
}

impl<'a> NativeStages<'a> {
    pub fn new(of: Inputs<'a>) -> Self {
        Self { of, watch: Stopwatch::default() }
    }
}

impl OctreeStages for NativeStages<'_> {
    type Cells = NativeCells;
    type Islands = NativeIslands;

    fn cells(&mut self, interior: Volume) -> Result<(NativeCells, Vec<bool>), FractureError> {
        let Inputs { source, pattern, recipe } = self.of;
        // The word of a leaf's index also has its division.
        if source.forest.leaves.len() >= NO_LEAF as usize {
            return Err(FractureError::Params(format!(
                "the octree has {} boundary voxels, and {NO_LEAF} are the most that can be broken; take a lower level",
                source.forest.leaves.len()
            )));
        }
        let seeds = at_root(pattern);
        let objects = pattern.object_ids().len();
        let forest = source.forest;
        let volume = Arc::new(VolumeGrid::new(interior, forest.level));
        let watch = &mut self.watch;
        if recipe.surface == Surface::Planar {
            let cracks = PlanarCracks { source: Arc::clone(forest), volume };
            return cells(source, seeds, objects, cracks, watch);
        }
        let words = words(recipe, forest.level)?;
        let transition = words.transition;
        let crack = Cracking { source: Arc::clone(forest), volume, words };
        match (recipe.surface, transition == forest.level) {
            (Surface::Dusty, false) => cells(source, seeds, objects, DustyCracks::new(crack), watch),
            (Surface::Dusty, true) => cells(source, seeds, objects, DustyLeaves::new(crack), watch),
            (_, false) => cells(source, seeds, objects, RoughCracks::new(crack), watch),
            (_, true) => cells(source, seeds, objects, RoughLeaves::new(crack), watch),
        }
    }

    fn is_empty(cells: &NativeCells) -> bool {
        cells.nodes.is_empty()
    }

    /// Both labellings give the same islands; the published one is for display (`islands/labelling/`).
    fn islands(
        &mut self,
        cells: &NativeCells,
        (labelling, island_level): (Labelling, u32),
    ) -> Result<NativeIslands, FractureError> {
        self.watch.start("islands");
        Ok(match labelling {
            Labelling::UnionFind => {
                islands::native::islands(cells.trees(), island_level, self.of.source.cancel)?
            }
            Labelling::Iterative => islands::labelling::native::islands(cells.trees(), island_level),
        })
    }

    fn components(islands: &NativeIslands) -> &[[u32; 2]] {
        &islands.components
    }

    fn swallowed(&mut self, survived: &[bool]) -> Result<usize, FractureError> {
        let Inputs { source, pattern, .. } = self.of;
        if survived.iter().all(|survived| *survived) {
            return Ok(0);
        }
        self.watch.start("traverse");
        let gone = survived.iter().map(|survived| !survived).collect();
        Ok(planar_objects(source.forest, source.tree, &at_root(pattern), gone))
    }

    fn split(&mut self, cells: NativeCells, islands: &NativeIslands) -> Result<NativeCells, FractureError> {
        self.watch.start("split");
        Ok(split_native::split(cells, islands, self.of.source.cancel)?)
    }

    fn collect(
        mut self,
        octrees: NativeCells,
        tree_cells: Vec<u32>,
        volume: Volume,
    ) -> Result<Fracture, FractureError> {
        self.watch.start("boundary set");
        let octrees = octrees.complete(self.of.source.cancel)?;
        self.watch.start("readback and masses (CPU)");
        let mut fracture = collect_native(self.of.source, octrees, tree_cells, volume)?;
        fracture.timings = self.watch.read();
        Ok(fracture)
    }
}
