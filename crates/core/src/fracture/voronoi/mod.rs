//! Breaking an octree by Voronoi cells (Domaradzki & Martyn 2016, sec. 4; crack surfaces and dust: 2018, sec. 5).
//!
//! The folders in the order of the data: [`pattern`] makes the seeds, `descent` finds the nodes of each cell,
//! `surface` writes the voxels on the cracks, `octrees` makes octrees of them, `islands` finds connected
//! components, `collect` reads the pieces back. [`Fracturer::fracture`] is the recipe; `reference.rs` computes the
//! same on the whole grid without an octree or a GPU, for tests.

mod breaker;
#[cfg(test)]
mod cancel_tests;
mod collect;
pub(in crate::fracture) mod descent;
pub mod faces;
pub mod islands;
pub mod missed_fragments;
mod native;
pub(in crate::fracture) mod octrees;
#[cfg(test)]
mod parity_tests;
mod passes;
pub mod pattern;
#[cfg(test)]
mod planted_tests;
#[cfg(test)]
mod recipe_tests;
#[cfg(any(test, feature = "testing"))]
pub mod reference;
#[cfg(test)]
mod resident_tests;
pub mod seams;
mod stages;
pub mod surface;
#[cfg(test)]
pub(in crate::fracture) mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod waits_tests;
#[cfg(test)]
mod whole_tests;

pub use breaker::{METHOD, OctreeBreaker, VoronoiDetail, bisector_seams, cells_of, recipe_of};

use std::sync::Arc;

use self::{
    islands::labelling::Labeller,
    native::NativeStages,
    passes::{PassStages, Passes},
    stages::{Inputs, OctreeStages},
    surface::rough::TransitionVoxel,
};
use crate::{
    compute::Compute,
    fracture::{self, Fracture, FractureError, Pattern, Recipe, Source, Surface, interior, small},
    gpu::{Gpu, GpuError},
};

/// Breaks octrees by Voronoi cells, where its stages run.
pub struct Fracturer {
    compute: Compute,
    /// Compiled, where the stages are compute passes.
    passes: Option<Box<Passes>>,
}

impl Fracturer {
    /// Stages on that backend; compiles them if they are compute passes.
    ///
    /// # Errors
    /// [`GpuError`] if the driver refuses one.
    pub fn new(compute: impl Into<Compute>) -> Result<Self, GpuError> {
        let compute = compute.into();
        let passes = compute.gpu().map(Passes::new).transpose()?;
        Ok(Self { compute, passes: passes.map(Box::new) })
    }

    /// The fracturer that all methods of a program share; the first call compiles it.
    ///
    /// # Errors
    /// See [`Fracturer::new`]; the next call tries again.
    pub fn shared(all: &fracture::Passes, compute: impl Into<Compute>) -> Result<Arc<Self>, GpuError> {
        all.prepared(|| Self::new(compute))
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
    pub(in crate::fracture) fn passes(&self) -> Result<(&Gpu, &Passes), GpuError> {
        Ok((self.compute.device()?, self.passes.as_deref().ok_or(GpuError::NoPasses)?))
    }

    /// The compute passes, to plant errors in.
    #[cfg(test)]
    pub(in crate::fracture) fn passes_mut(&mut self) -> Option<&mut Passes> {
        self.passes.as_deref_mut()
    }

    /// Breaks `source` by `pattern` and `recipe`. Does not change the source, so a failure loses nothing.
    ///
    /// # Errors
    /// [`FractureError::Params`] for an empty pattern or a level out of range, [`FractureError::Gpu`] for the device's.
    pub fn fracture(
        &self,
        source: &Source<'_>,
        pattern: &Pattern,
        recipe: &Recipe,
    ) -> Result<Fracture, FractureError> {
        let fracture = self.cut(source, pattern, recipe)?;
        let work = small::Work { source: (source.forest, source.tree), pattern, cancel: source.cancel };
        Ok(small::apply(&work, fracture, recipe.smallest.as_ref())?)
    }

    /// Like [`Fracturer::fracture`], with all pieces, however small.
    pub(super) fn cut(
        &self,
        source: &Source<'_>,
        pattern: &Pattern,
        recipe: &Recipe,
    ) -> Result<Fracture, FractureError> {
        let of = Inputs { source, pattern, recipe };
        match &self.compute {
            Compute::Gpu(_) => {
                let (gpu, passes) = self.passes()?;
                fracture_by(PassStages::new(gpu, passes, of), of)
            }
            Compute::Cpu => fracture_by(NativeStages::new(of), of),
        }
    }

    /// The crossed voxels of the transition level with their separation points and triangles, in Morton order, for
    /// display. Empty if the leaves are the transition voxels.
    ///
    /// # Errors
    /// See [`Fracturer::fracture`].
    pub fn transition_voxels(
        &self,
        source: &Source<'_>,
        pattern: &Pattern,
        recipe: &Recipe,
    ) -> Result<Vec<TransitionVoxel>, FractureError> {
        check(source, pattern, recipe)?;
        if let Ok((gpu, passes)) = self.passes() {
            return passes.transition_voxels(gpu, source, pattern, recipe);
        }
        native::transition_voxels(source, pattern, recipe)
    }

    /// Where the published labelling runs, to watch it.
    #[must_use]
    pub fn labelling(&self) -> Labeller<'_> {
        match self.passes() {
            Ok((gpu, passes)) => Labeller::Passes(gpu, &passes.iterative),
            Err(_) => Labeller::Native,
        }
    }
}

/// The recipe, for any backend.
fn fracture_by<S: OctreeStages>(mut stages: S, of: Inputs<'_>) -> Result<Fracture, FractureError> {
    let Inputs { source, pattern, recipe } = of;
    let island_level = check(source, pattern, recipe)?;
    let surface = recipe.surface_color;
    let surface = surface.unwrap_or_else(|| interior::surface_color(source.forest, source.tree));
    let interior = recipe.interior.volume(surface);

    let cancel = source.cancel;
    cancel.check()?;
    let (cells, survived) = stages.cells(interior)?;
    if S::is_empty(&cells) {
        return Err(FractureError::Params(
            "the gap would leave nothing but dust; a narrower gap or a finer transition level leaves pieces"
                .into(),
        ));
    }
    cancel.check()?;
    let islands = stages.islands(&cells, (recipe.labelling, island_level))?;
    let swallowed = match recipe.surface {
        Surface::Planar => 0,
        Surface::Rough | Surface::Dusty => stages.swallowed(&survived)?,
    };
    // One root for each object, by ascending id.
    let ids = pattern.object_ids().into_iter().zip(survived);
    let mut tree_cells: Vec<u32> = ids.filter(|(_, survived)| *survived).map(|(id, _)| id).collect();
    let components = S::components(&islands);
    let octrees = if components.len() == tree_cells.len() {
        cells
    } else {
        tree_cells = components.iter().map(|[_, tree]| tree_cells[*tree as usize]).collect();
        cancel.check()?;
        stages.split(cells, &islands)?
    };
    cancel.check()?;
    let mut fracture = stages.collect(octrees, tree_cells, interior)?;
    fracture.counts.swallowed = swallowed as u64;
    Ok(fracture)
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
