//! Breaking an octree by Voronoi cells (Domaradzki & Martyn 2016, sec. 4; crack surfaces and dust: 2018, sec. 5).
//!
//! The folders stand in the order of the data: [`pattern`] makes the seeds, `descent` finds what each cell owns,
//! `surface` writes the voxels on the cracks, `octrees` makes octrees of them, `islands` tells apart what does not
//! hang together, `collect` reads the pieces back. [`Fracturer::fracture`] is the recipe; [`reference`] says the
//! same on the whole grid without an octree or a GPU, for tests.

mod breaker;
mod collect;
pub(in crate::fracture) mod descent;
pub mod faces;
pub mod hidden;
pub mod islands;
pub(in crate::fracture) mod octrees;
pub mod pattern;
#[cfg(test)]
mod recipe_tests;
pub mod reference;
pub mod seams;
pub mod surface;
#[cfg(test)]
pub(in crate::fracture) mod testing;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use breaker::parts_of;
pub use breaker::{METHOD, OctreeBreaker, VoronoiDetail, cells_of, recipe_of};

use self::surface::{
    boundary_set::BoundarySetPass,
    planar::PlanarPass,
    rough::{self, TransitionVoxel, cracking, pass::RoughPass},
};
use crate::{
    compute::Compute,
    fracture::{Fracture, FractureError, Labelling, Pattern, Recipe, Source, Surface, interior, small},
    gpu::{Gpu, GpuError, StageTiming, Submissions, primitives::Scan},
};

/// Breaks octrees by Voronoi cells, where its stages run.
pub struct Fracturer {
    compute: Compute,
    stages: Stages,
}

/// How its stages run.
enum Stages {
    Passes(Box<PassStages>),
    Native,
}

/// The compiled fracture passes.
pub(in crate::fracture) struct PassStages {
    scan: Scan,
    descent: descent::DescentPass,
    boundary_set: BoundarySetPass,
    planar: PlanarPass,
    rough: RoughPass,
    dusty: RoughPass,
    prune: octrees::prune::PrunePass,
    pub islands: islands::IslandsPass,
    iterative: islands::labelling::IterativePass,
    split: octrees::split::SplitPass,
    seams: seams::SeamsPass,
}

impl PassStages {
    fn new(gpu: &Gpu) -> Result<Self, GpuError> {
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
}

impl Fracturer {
    /// Stages that run there; compiles them where they are compute passes.
    ///
    /// # Errors
    /// [`GpuError`] when the driver refuses one.
    pub fn new(compute: impl Into<Compute>) -> Result<Self, GpuError> {
        let compute = compute.into();
        let stages = match &compute {
            Compute::Gpu(gpu) => Stages::Passes(Box::new(PassStages::new(gpu)?)),
            Compute::Cpu => Stages::Native,
        };
        Ok(Self { compute, stages })
    }

    /// Where they run.
    #[must_use]
    pub fn compute(&self) -> &Compute {
        &self.compute
    }

    /// The compute passes.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] where the stages run on the CPU.
    pub(in crate::fracture) fn passes(&self) -> Result<(&Gpu, &PassStages), GpuError> {
        match (&self.compute, &self.stages) {
            (Compute::Gpu(gpu), Stages::Passes(passes)) => Ok((gpu, passes)),
            _ => Err(GpuError::NoPasses),
        }
    }

    /// The compute passes, to plant errors in.
    #[cfg(test)]
    pub(in crate::fracture) fn passes_mut(&mut self) -> Option<&mut PassStages> {
        match &mut self.stages {
            Stages::Passes(passes) => Some(passes),
            Stages::Native => None,
        }
    }

    /// Breaks `source` by `pattern` as `recipe` says. Reads the source and changes nothing, so a failure loses nothing.
    ///
    /// # Errors
    /// [`FractureError::Params`] for an empty pattern or a level out of range, [`FractureError::Gpu`] for the device's.
    pub fn fracture(
        &self,
        source: &Source<'_>,
        pattern: &Pattern,
        recipe: &Recipe,
    ) -> Result<Fracture, FractureError> {
        let island_level = check(source, pattern, recipe)?;
        let (gpu, passes) = self.passes()?;
        let mut work = Submissions::new(gpu, &passes.scan);
        let surface = recipe.surface_color;
        let surface = surface.unwrap_or_else(|| interior::surface_color(source.forest, source.tree));
        let interior = recipe.interior.volume(surface);

        let (layers, leaves) = match recipe.surface {
            Surface::Planar => {
                let descent = (&passes.descent, &passes.boundary_set);
                passes.planar.run(&mut work, descent, source, pattern)?
            }
            Surface::Rough => {
                let crack = passes.cracking(gpu, source, recipe)?;
                passes.rough.run(&mut work, &crack, &passes.boundary_set, pattern)?
            }
            Surface::Dusty => {
                let crack = passes.cracking(gpu, source, recipe)?;
                passes.dusty.run(&mut work, &crack, &passes.boundary_set, pattern)?
            }
        };
        passes.boundary_set.paint(&mut work, &leaves, source.forest.level, interior)?;
        let (cells, survivors) = passes.prune.run(&mut work, &layers, leaves)?;
        drop(layers);
        if cells.nodes.is_empty() {
            return Err(FractureError::Params(
                "the gap would leave nothing but dust; a narrower gap or a finer transition level leaves pieces".into(),
            ));
        }
        let islands = match recipe.labelling {
            Labelling::UnionFind => passes.islands.run(&mut work, &cells, island_level)?,
            Labelling::Iterative => passes.iterative.islands(&mut work, &cells, island_level)?,
        };
        let has_voxels = |rank: u32| survivors[rank as usize] != survivors[rank as usize + 1];
        let swallowed = match recipe.surface {
            Surface::Planar => 0,
            // What has no voxel would have had one if the planar descent finds it one.
            _ => {
                let crack = passes.cracking(gpu, source, recipe)?;
                cracking::planar_objects(&mut work, &crack, pattern, |rank| !has_voxels(rank))?
            }
        };
        // One root for each object, by ascending id.
        let tree_cells: Vec<u32> =
            (0..).zip(pattern.object_ids()).filter(|(rank, _)| has_voxels(*rank)).map(|(_, id)| id).collect();
        let mut fracture = if islands.components.len() == tree_cells.len() {
            collect::collect(work, source, &cells, tree_cells, interior)?
        } else {
            let component_cells =
                islands.components.iter().map(|[_, tree]| tree_cells[*tree as usize]).collect();
            let split = passes.split.run(&mut work, &passes.prune, &cells, &islands)?;
            collect::collect(work, source, &split, component_cells, interior)?
        };
        fracture.counts.swallowed = swallowed as u64;
        Ok(finish(source, pattern, recipe, fracture))
    }

    /// The crossed voxels of the transition level with their separation points and triangles, in Morton order, to
    /// look at. None where the leaves are the transition voxels.
    ///
    /// # Errors
    /// As [`Fracturer::fracture`].
    pub fn transition_voxels(
        &self,
        source: &Source<'_>,
        pattern: &Pattern,
        recipe: &Recipe,
    ) -> Result<Vec<TransitionVoxel>, FractureError> {
        check(source, pattern, recipe)?;
        let (gpu, passes) = self.passes()?;
        let mut work = Submissions::new(gpu, &passes.scan);
        let crack = passes.cracking(gpu, source, recipe)?;
        passes.rough.voxels(&mut work, &crack, pattern)
    }

    /// The passes of the published labelling, to watch it.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] where the stages run on the CPU.
    pub fn labelling(&self) -> Result<&islands::labelling::IterativePass, GpuError> {
        Ok(&self.passes()?.1.iterative)
    }
}

/// What is left to do on the CPU.
fn finish(source: &Source<'_>, pattern: &Pattern, recipe: &Recipe, mut fracture: Fracture) -> Fracture {
    let Some(rule) = &recipe.smallest else { return fracture };
    let started = std::time::Instant::now();
    fracture = small::apply((source.forest, source.tree), pattern, fracture, rule);
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
