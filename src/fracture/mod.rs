//! Breaking an octree into pieces (Domaradzki & Martyn 2016, sec. 4).
//!
//! [`Pattern`] makes the seeds, [`Fracturer::fracture`] is the recipe, [`reference`] says the same on the whole grid without an
//! octree or a GPU, for tests.

mod copies;
pub mod crack;
pub mod dust;
mod faces;
mod hidden;
pub mod interior;
mod islands;
pub mod labelling;
mod layers;
mod local;
#[cfg(test)]
mod local_tests;
mod merge;
mod params;
mod pattern;
mod pieces;
mod polytope;
mod presets;
mod prune;
pub mod reference;
mod rivals;
mod seams;
#[cfg(test)]
mod shape_tests;
#[cfg(test)]
mod splinters;
mod split;
mod smallest;
mod solve;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod traverse;

pub use faces::{VoronoiFace, voronoi_faces};
pub use hidden::{Hidden, hidden};
pub use interior::{Interior, Material, Volume};
pub use labelling::Labelling;
pub use params::{FractureParams, Impact, ParamProblem, Preset, Recipe, SmallRule, Smallest, Surface};
pub use pattern::{MAX_SEEDS, Pattern, PatternError};
pub use pieces::{Dropped, Fracture, FractureCounts, FractureError, Merge, Piece, Solved, Source};
pub use seams::Seams;

use self::crack::rough::{self, RoughPass};
use crate::gpu::{Gpu, GpuError, StageTiming, primitives::Scan};

/// The compiled fracture passes.
pub struct Fracturer {
    scan: Scan,
    traverse: traverse::TraversePass,
    copies: copies::CopiesPass,
    rough: RoughPass,
    dusty: RoughPass,
    prune: prune::PrunePass,
    islands: islands::IslandsPass,
    iterative: labelling::IterativePass,
    split: split::SplitPass,
    seams: seams::SeamsPass,
}

impl Fracturer {
    /// Compiles the passes.
    ///
    /// # Errors
    /// [`GpuError`] when the driver refuses one.
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let passes = Self {
            scan: Scan::new(gpu),
            traverse: traverse::TraversePass::new(gpu),
            copies: copies::CopiesPass::new(gpu),
            rough: RoughPass::new(gpu),
            dusty: RoughPass::dusty(gpu),
            prune: prune::PrunePass::new(gpu),
            islands: islands::IslandsPass::new(gpu),
            iterative: labelling::IterativePass::new(gpu),
            split: split::SplitPass::new(gpu),
            seams: seams::SeamsPass::new(gpu),
        };
        gpu.check()?;
        Ok(passes)
    }

    /// Breaks `source` by `pattern` as `recipe` says. Reads the source and changes nothing, so a failure loses nothing.
    ///
    /// # Errors
    /// [`FractureError::Params`] for an empty pattern or a level out of range, [`FractureError::Gpu`] for the device's.
    pub fn fracture(
        &self,
        gpu: &Gpu,
        source: &Source<'_>,
        pattern: &Pattern,
        recipe: &Recipe,
    ) -> Result<Fracture, FractureError> {
        let island_level = check(source, pattern, recipe)?;
        let mut clock = layers::Clock::default();
        let surface = recipe.surface_color;
        let surface = surface.unwrap_or_else(|| interior::surface_color(source.forest, source.tree));
        let interior = recipe.interior.volume(surface);

        let (layers, leaves) = match recipe.surface {
            Surface::Planar => {
                self.traverse.run(gpu, &self.scan, &self.copies, source, pattern, &mut clock)?
            }
            Surface::Rough => {
                self.rough.run(&mut self.work(gpu, source, recipe, &mut clock)?, &self.copies, pattern)?
            }
            Surface::Dusty => {
                self.dusty.run(&mut self.work(gpu, source, recipe, &mut clock)?, &self.copies, pattern)?
            }
        };
        self.copies.paint(gpu, &leaves, source.forest.level, interior, &mut clock);
        let (cells, survivors) = self.prune.run(gpu, &self.scan, &layers, leaves, &mut clock)?;
        drop(layers);
        if cells.nodes.is_empty() {
            return Err(FractureError::Params(
                "the gap would leave nothing but dust; a narrower gap or a finer transition level leaves pieces".into(),
            ));
        }
        let islands = match recipe.labelling {
            Labelling::UnionFind => self.islands.run(gpu, &cells, island_level, &mut clock)?,
            Labelling::Iterative => self.iterative.islands(gpu, &cells, island_level, &mut clock)?,
        };
        let has_voxels = |rank: u32| survivors[rank as usize] != survivors[rank as usize + 1];
        let swallowed = match recipe.surface {
            Surface::Planar => 0,
            // What has no voxel would have had one if the planar descent finds it one.
            _ => rough::planar_objects(&mut self.work(gpu, source, recipe, &mut clock)?, pattern, |rank| {
                !has_voxels(rank)
            })?,
        };
        // One root for each object, by ascending id.
        let tree_cells: Vec<u32> =
            (0..).zip(pattern.object_ids()).filter(|(rank, _)| has_voxels(*rank)).map(|(_, id)| id).collect();
        let mut fracture = if islands.components.len() == tree_cells.len() {
            pieces::collect(gpu, source, &cells, tree_cells, interior, clock)?
        } else {
            let component_cells =
                islands.components.iter().map(|[_, tree]| tree_cells[*tree as usize]).collect();
            let split = self.split.run(gpu, &self.scan, &self.prune, &cells, &islands, &mut clock)?;
            pieces::collect(gpu, source, &split, component_cells, interior, clock)?
        };
        fracture.counts.swallowed = swallowed as u64;
        Ok(finish(source, pattern, recipe, fracture))
    }

    /// The crossed voxels of the transition level with their separation points and triangles, in Morton order, to look at. None where the
    /// leaves are the transition voxels.
    ///
    /// # Errors
    /// As [`Fracturer::fracture`].
    pub fn transition_voxels(
        &self,
        gpu: &Gpu,
        source: &Source<'_>,
        pattern: &Pattern,
        recipe: &Recipe,
    ) -> Result<Vec<crack::TransitionVoxel>, FractureError> {
        check(source, pattern, recipe)?;
        let mut clock = layers::Clock::default();
        self.rough.voxels(&mut self.work(gpu, source, recipe, &mut clock)?, pattern)
    }

    /// The passes of the published labelling, to watch it.
    #[must_use]
    pub fn labelling(&self) -> &labelling::IterativePass {
        &self.iterative
    }

    fn work<'a>(
        &'a self,
        gpu: &'a Gpu,
        source: &'a Source<'a>,
        recipe: &Recipe,
        clock: &'a mut layers::Clock,
    ) -> Result<rough::Work<'a>, FractureError> {
        let transition = recipe.crack.transition(source.forest.level, recipe.surface)?;
        let words = crack::NoiseWords::new(&recipe.crack, recipe.rng, transition)
            .with_gap(&recipe.crack, source.forest.level);
        Ok(rough::Work::new(gpu, &self.scan, &self.traverse, source, words, clock))
    }
}

/// What is left to do on the CPU.
fn finish(source: &Source<'_>, pattern: &Pattern, recipe: &Recipe, mut fracture: Fracture) -> Fracture {
    let Some(rule) = &recipe.smallest else { return fracture };
    let started = std::time::Instant::now();
    fracture = smallest::apply((source.forest, source.tree), pattern, fracture, rule);
    let ms = started.elapsed().as_secs_f64() * 1e3;
    fracture.timings.push(StageTiming { stage: "smallest pieces (CPU)".into(), ms });
    fracture
}

/// Refuses what cannot be computed; returns the island level.
fn check(source: &Source<'_>, pattern: &Pattern, recipe: &Recipe) -> Result<u32, FractureError> {
    let level = source.forest.level;
    if pattern.seeds.is_empty() {
        return Err(FractureError::Params("a fracture needs at least one seed".into()));
    }
    if !pattern.objects_are_sound() {
        return Err(FractureError::Params(
            "every seed needs an object id, the smallest index of the seeds that share it".into(),
        ));
    }
    let island_level = recipe.island_level.unwrap_or(level);
    if !(1..=level).contains(&island_level) {
        return Err(FractureError::Params(format!(
            "island level {island_level} is outside 1 to the leaf level {level}"
        )));
    }
    if recipe.surface != Surface::Planar {
        recipe.crack.check()?;
        recipe.crack.transition(level, recipe.surface)?;
    }
    Ok(island_level)
}
