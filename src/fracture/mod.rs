//! Breaking an octree into pieces (Domaradzki & Martyn 2016, sec. 4).
//!
//! [`Pattern`] makes the seeds, [`Fracturer::fracture`] is the recipe, [`reference`] says the same on the whole grid without an
//! octree or a GPU, for tests.

mod hidden;
mod islands;
mod layers;
mod merge;
mod params;
mod pattern;
mod pieces;
mod polytope;
mod presets;
mod prune;
pub mod reference;
mod rivals;
#[cfg(test)]
mod shape_tests;
mod split;
mod smallest;
mod solve;
#[cfg(test)]
mod tests;
mod traverse;

pub use hidden::{Hidden, hidden};
pub use params::{FractureParams, Impact, ParamProblem, Preset, Recipe, SmallRule, Smallest, Surface};
pub use pattern::{MAX_SEEDS, Pattern, PatternError};
pub use pieces::{Dropped, Fracture, FractureCounts, FractureError, Merge, Piece, Solved, Source};

use crate::gpu::{Gpu, GpuError, StageTiming, primitives::Scan};

/// Colour of the material inside, until an object says otherwise: fired clay.
pub const INTERIOR: [u8; 3] = [196, 168, 142];

/// The compiled fracture passes.
pub struct Fracturer {
    scan: Scan,
    traverse: traverse::TraversePass,
    prune: prune::PrunePass,
    islands: islands::IslandsPass,
    split: split::SplitPass,
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
            prune: prune::PrunePass::new(gpu),
            islands: islands::IslandsPass::new(gpu),
            split: split::SplitPass::new(gpu),
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
        let level = source.forest.level;
        let island_level = recipe.island_level.unwrap_or(level);
        if pattern.seeds.is_empty() {
            return Err(FractureError::Params("a fracture needs at least one seed".into()));
        }
        if !(1..=level).contains(&island_level) {
            return Err(FractureError::Params(format!(
                "island level {island_level} is outside 1 to the leaf level {level}"
            )));
        }
        let mut clock = layers::Clock::default();
        let interior = crate::svo::LeafColor::new(INTERIOR, true, 0.0).0;

        let (layers, leaves) = self.traverse.run(gpu, &self.scan, source, pattern, interior, &mut clock)?;
        let (cells, survivors) = self.prune.run(gpu, &self.scan, &layers, leaves, &mut clock)?;
        drop(layers);
        let islands = self.islands.run(gpu, &self.scan, &cells, island_level, &mut clock)?;
        let tree_cells: Vec<u32> = (0..pattern.seeds.len())
            .filter(|&s| survivors[s + 1] != survivors[s])
            .map(|s| s as u32)
            .collect();
        if islands.components.len() == tree_cells.len() {
            let all = pieces::collect(gpu, source, &cells, tree_cells, clock)?;
            return Ok(finish(source, pattern, recipe, all));
        }
        let component_cells =
            islands.components.read(gpu)?.iter().map(|[_, tree]| tree_cells[*tree as usize]).collect();
        let split = self.split.run(gpu, &self.scan, &self.prune, &cells, &islands, &mut clock)?;
        let all = pieces::collect(gpu, source, &split, component_cells, clock)?;
        Ok(finish(source, pattern, recipe, all))
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
