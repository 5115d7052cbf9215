//! The stages of a fracture on the processor's cores, and their times.

use std::time::Instant;

use super::{
    collect::collect_native,
    descent::native::{at_root, cells},
    islands::native::{NativeIslands, islands},
    octrees::{native::NativeOctrees, split_native::split},
    stages::OctreeStages,
    surface::{
        dusty::native::{DustyCracks, DustyLeaves},
        planar::native::PlanarCracks,
        rough::{
            CrackUniform,
            native::{Cracking, RoughCracks, RoughLeaves},
            swallowed::swallowed,
        },
    },
};
use crate::{
    fracture::{Fracture, FractureError, Labelling, Pattern, Recipe, Source, Surface, Volume},
    gpu::StageTiming,
};

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
        let ms = started.elapsed().as_secs_f64() * 1e3;
        match self.timings.iter_mut().find(|timing| timing.stage == stage) {
            Some(timing) => timing.ms += ms,
            None => self.timings.push(StageTiming { stage: stage.into(), ms }),
        }
    }

    /// In the order of first use.
    pub fn read(mut self) -> Vec<StageTiming> {
        self.stop();
        self.timings
    }
}

/// One fracture under way.
#[derive(Default)]
pub(in crate::fracture) struct NativeStages {
    watch: Stopwatch,
}

impl OctreeStages for NativeStages {
    type Cells = NativeOctrees;
    type Islands = NativeIslands;

    fn cells(
        &mut self,
        source: &Source<'_>,
        pattern: &Pattern,
        recipe: &Recipe,
        interior: Volume,
    ) -> Result<(NativeOctrees, Vec<bool>), FractureError> {
        let (forest, tree, seeds) = (source.forest, source.tree, at_root(pattern));
        let objects = pattern.object_ids().len();
        let watch = &mut self.watch;
        if recipe.surface == Surface::Planar {
            let cracks = PlanarCracks { source: forest, volume: interior };
            return Ok(cells(forest, tree, seeds, objects, &cracks, watch));
        }
        let transition = recipe.crack.transition(forest.level, recipe.surface)?;
        let words =
            CrackUniform::new(&recipe.crack, recipe.rng, transition).with_gap(&recipe.crack, forest.level);
        let crack = Cracking { source: forest, volume: interior, words };
        Ok(match (recipe.surface, transition == forest.level) {
            (Surface::Dusty, false) => cells(forest, tree, seeds, objects, &DustyCracks(crack), watch),
            (Surface::Dusty, true) => cells(forest, tree, seeds, objects, &DustyLeaves::new(crack), watch),
            (_, false) => cells(forest, tree, seeds, objects, &RoughCracks(crack), watch),
            (_, true) => cells(forest, tree, seeds, objects, &RoughLeaves::new(crack), watch),
        })
    }

    fn is_empty(cells: &NativeOctrees) -> bool {
        cells.nodes.is_empty()
    }

    /// Both labellings give the same islands; the published one is for watching (`islands/labelling/`).
    fn islands(
        &mut self,
        cells: &NativeOctrees,
        _labelling: Labelling,
        island_level: u32,
    ) -> Result<NativeIslands, FractureError> {
        self.watch.start("islands");
        Ok(islands(cells, island_level))
    }

    fn components(islands: &NativeIslands) -> &[[u32; 2]] {
        &islands.components
    }

    fn swallowed(
        &mut self,
        source: &Source<'_>,
        pattern: &Pattern,
        _recipe: &Recipe,
        survived: &[bool],
    ) -> Result<usize, FractureError> {
        self.watch.start("traverse");
        Ok(swallowed(source.forest, source.tree, &at_root(pattern), survived))
    }

    fn split(
        &mut self,
        cells: NativeOctrees,
        islands: &NativeIslands,
    ) -> Result<NativeOctrees, FractureError> {
        self.watch.start("split");
        Ok(split(cells, islands))
    }

    fn collect(
        mut self,
        source: &Source<'_>,
        octrees: NativeOctrees,
        tree_cells: Vec<u32>,
        volume: Volume,
    ) -> Result<Fracture, FractureError> {
        self.watch.start("readback and masses (CPU)");
        let mut fracture = collect_native(source, octrees, tree_cells, volume);
        fracture.timings = self.watch.read();
        Ok(fracture)
    }
}
