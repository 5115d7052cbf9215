//! The stages of a fracture in compute passes.

use std::time::Instant;

use super::{
    collect::collect_native,
    descent::{self, Capacities, Descent, Report},
    islands,
    octrees::{self, LeavesReadback, Octrees, native::NativeOctrees, prune::Numbering, split::Labelled},
    seams,
    stages::{Inputs, OctreeStages},
    surface::{
        boundary_set::{Attributes, BoundarySetPass},
        planar::PlanarPass,
        rough::{
            self, TransitionVoxel,
            cracking::{Cracking, PlanarObjects},
            pass::{ROUGHER, RoughPass},
        },
    },
};
use crate::{
    fracture::{Fracture, FractureError, Labelling, Pattern, Recipe, Source, Surface, Volume},
    gpu::{
        Buffer, Gpu, GpuError, Kernel, Named, Readback, StageTiming, Submissions, bind,
        primitives::{Plan, Scan},
    },
};

/// The compiled fracture passes.
pub(in crate::fracture) struct Passes {
    pub scan: Scan,
    pub plan: Plan,
    /// Initial rooms of lists instead of the estimated ones: tests make them too small.
    pub capacities: Option<Capacities>,
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
            plan: Plan::new(gpu),
            capacities: None,
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
    ) -> Result<Cracking<'a>, FractureError> {
        let transition = recipe.crack.transition(source.forest.level, recipe.surface)?;
        let words = rough::CrackUniform::new(&recipe.crack, recipe.rng, transition)
            .with_gap(&recipe.crack, source.forest.level);
        Ok(Cracking::new(gpu, &self.descent, source, words))
    }

    /// The crossed voxels of the transition level, for display.
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
        let mut work = Submissions::new(gpu, &self.scan, &self.plan);
        let crack = self.cracking(gpu, source, recipe)?;
        self.rough.voxels(&mut work, &crack, pattern)
    }
}

/// A fracture in progress. It waits three times: for the descent, for the islands, and for the pieces; and once more
/// whenever a list was too short.
pub(in crate::fracture) struct PassStages<'a> {
    gpu: &'a Gpu,
    passes: &'a Passes,
    of: Inputs<'a>,
    work: Submissions<'a>,
    /// Read with the cells, so that it needs no wait of its own.
    swallowed: Option<PlanarObjects>,
}

/// Octrees of objects on the device, or of components in memory.
pub(in crate::fracture) enum Broken {
    Cells(Octrees),
    Pieces(NativeOctrees),
}

/// Result of a descent.
struct Found {
    descent: Descent,
    records: Option<Buffer<u32>>,
    report: Report,
    /// By rank of the object.
    survived: Vec<bool>,
}

impl<'a> PassStages<'a> {
    /// Nothing submitted yet.
    pub fn new(gpu: &'a Gpu, passes: &'a Passes, of: Inputs<'a>) -> Self {
        let work = Submissions::new(gpu, &passes.scan, &passes.plan);
        Self { gpu, passes, of, work, swallowed: None }
    }

    /// Walks down to the leaves, counts, and drops empty nodes; waits for the counts, and begins again if lists were
    /// too short.
    fn descend(&mut self, crack: Option<(&RoughPass, &Cracking<'_>)>) -> Result<Found, FractureError> {
        let Inputs { source, pattern, .. } = self.of;
        let Self { passes, work, .. } = self;
        let mut capacities: Option<Capacities> = passes.capacities.clone();
        loop {
            source.cancel.check()?;
            let mut descent = match crack {
                None => Descent::planar(work, source, pattern)?,
                Some(_) => Descent::new(work, source, pattern, |_| true)?,
            };
            let rougher = if crack.is_some() { ROUGHER } else { 0 };
            let estimated = || Capacities::new(source, pattern, descent.size(), rougher).within(work.gpu);
            let capacities = capacities.get_or_insert_with(estimated);
            let records = match crack {
                None => {
                    passes.planar.descend(work, &passes.descent, source, (&mut descent, capacities))?;
                    None
                }
                Some((pass, crack)) => pass.descend(work, crack, (&mut descent, capacities))?,
            };
            passes.prune.keep(work, &descent.layers, &descent.needs)?;
            let mut rec = work.record("octrees");
            let report = descent.needs.staged(&mut rec);
            let roots = Readback::copy(&mut rec, &descent.layers[0].offsets, 0, descent.begun + 1);
            work.submit(rec);
            work.wait(&[&report, &roots])?;
            let report = Report::of(&report)?;
            let held_records = match crack {
                None => true,
                Some((pass, _)) => {
                    capacities.held_records(work.gpu, report.records(), pass.record_words())?
                }
            };
            if capacities.held(work.gpu, report.levels())? && held_records {
                let survived = roots.view()?.windows(2).map(|pair| pair[0][1] != pair[1][1]).collect();
                return Ok(Found { descent, records, report, survived });
            }
            descent.give(work);
            records.into_iter().for_each(|records| work.give(records));
        }
    }

    /// The leaves of all objects with their attributes.
    fn leaves(
        &mut self,
        found: &Found,
        crack: Option<(&RoughPass, &Cracking<'_>)>,
        interior: Volume,
    ) -> Result<LeavesReadback, GpuError> {
        let Inputs { source, .. } = self.of;
        let Self { gpu, passes, work, .. } = self;
        let Found { descent, records, report, .. } = found;
        let Descent { seeds, candidates, .. } = descent;
        let (layer, copies) = (descent.layer(), report.copies() as usize);
        let mut emit = |kernel: &Kernel, surfaces: &[Named<'_>]| {
            let attributes = Attributes { kernel, surfaces };
            passes.boundary_set.emit(work, source, layer, copies, (&attributes, interior))
        };
        match (crack, records) {
            (None, _) => emit(passes.planar.kernel(gpu, descent), bind![seeds, candidates]),
            (Some((pass, crack)), Some(records)) => emit(pass.kernel(), bind![shape: crack.shape, records]),
            (Some((pass, crack)), None) => {
                emit(pass.leaf_voxel_kernel(), bind![shape: crack.shape, seeds, candidates])
            }
        }
    }

    /// The octrees of what a descent found, which is needed no more.
    fn octrees(&mut self, found: Found, leaves: LeavesReadback) -> Result<Octrees, GpuError> {
        let Self { passes, work, .. } = self;
        let Found { mut descent, records, report, .. } = found;
        records.into_iter().for_each(|records| work.give(records));
        work.give(std::mem::replace(&mut descent.candidates, Buffer::zeroed(work.gpu, "none", 0)?));
        let level_start = report.level_start();
        let numbering =
            Numbering { node_base: &level_start, children_from_start: true, moved: false, with_info: true };
        let (nodes, info) = passes.prune.write(work, &descent.layers, &numbering)?;
        descent.give(work);
        Ok(Octrees { nodes, info, level_start, leaves })
    }
}

impl OctreeStages for PassStages<'_> {
    type Cells = Broken;
    type Islands = islands::Islands;

    fn cells(&mut self, interior: Volume) -> Result<(Broken, Vec<bool>), FractureError> {
        let Inputs { source, pattern, recipe } = self.of;
        let pass = match recipe.surface {
            Surface::Planar => None,
            Surface::Rough => Some(&self.passes.rough),
            Surface::Dusty => Some(&self.passes.dusty),
        };
        let crack = pass.map(|_| self.passes.cracking(self.gpu, source, recipe)).transpose()?;
        let crack = pass.zip(crack.as_ref());
        let found = self.descend(crack)?;
        let leaves = self.leaves(&found, crack, interior)?;
        let survived = found.survived.clone();
        let octrees = self.octrees(found, leaves)?;
        if let Some((_, crack)) = crack
            && survived.contains(&false)
        {
            // An object without a voxel would have had one if the planar descent finds one.
            let gone = (0u32..).zip(&survived).filter(|(_, survived)| !**survived).map(|(rank, _)| rank);
            let capacities = self.passes.capacities.clone();
            let asked = PlanarObjects::submit(&mut self.work, crack, pattern, (gone.collect(), capacities))?;
            self.swallowed = Some(asked);
        }
        Ok((Broken::Cells(octrees), survived))
    }

    fn is_empty(cells: &Broken) -> bool {
        match cells {
            Broken::Cells(octrees) => octrees.nodes.is_empty(),
            Broken::Pieces(octrees) => octrees.nodes.is_empty(),
        }
    }

    fn islands(
        &mut self,
        cells: &Broken,
        (labelling, island_level): (Labelling, u32),
    ) -> Result<islands::Islands, FractureError> {
        let Self { passes, work, swallowed, .. } = self;
        let Broken::Cells(cells) = cells else { return Err(out_of_order().into()) };
        let also = swallowed.as_ref().map(PlanarObjects::copies);
        let islands = match labelling {
            Labelling::UnionFind => {
                passes.islands.run(work, cells, island_level, also.as_ref().map_or(&[], |also| also))?
            }
            Labelling::Iterative => passes.iterative.islands(work, cells, island_level)?,
        };
        Ok(islands)
    }

    fn components(islands: &islands::Islands) -> &[[u32; 2]] {
        &islands.components
    }

    fn swallowed(&mut self, _survived: &[bool]) -> Result<usize, FractureError> {
        let Inputs { source, pattern, recipe } = self.of;
        let Some(asked) = self.swallowed.take() else { return Ok(0) };
        let crack = self.passes.cracking(self.gpu, source, recipe)?;
        if recipe.labelling == Labelling::Iterative {
            self.work.wait(&asked.copies())?;
        }
        Ok(asked.found(&mut self.work, &crack, pattern)?)
    }

    fn split(&mut self, cells: Broken, islands: &islands::Islands) -> Result<Broken, FractureError> {
        let Broken::Cells(cells) = cells else { return Err(out_of_order().into()) };
        let Self { passes, work, .. } = self;
        let (cells, info) = Labelled::of(cells);
        work.give(info);
        Ok(Broken::Pieces(passes.split.run(
            work,
            &passes.prune,
            &cells,
            islands,
            passes.capacities.clone(),
        )?))
    }

    fn collect(
        mut self,
        octrees: Broken,
        tree_cells: Vec<u32>,
        volume: Volume,
    ) -> Result<Fracture, FractureError> {
        let octrees = match octrees {
            Broken::Pieces(octrees) => octrees,
            Broken::Cells(octrees) => NativeOctrees::read(&mut self.work, &octrees)?,
        };
        let started = Instant::now();
        let mut fracture = collect_native(self.of.source, octrees, tree_cells, volume)?;
        let ms = started.elapsed().as_secs_f64() * 1e3;
        fracture.timings = self.work.timings();
        fracture.timings.push(StageTiming { stage: "readback and masses (CPU)".into(), ms });
        Ok(fracture)
    }
}

/// The stages were called in another order than that of the recipe: an error in the program.
fn out_of_order() -> GpuError {
    GpuError::Driver("internal error: split() called twice; please report this".into())
}
