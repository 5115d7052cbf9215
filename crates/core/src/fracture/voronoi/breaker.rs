//! The octree methods as one entry of the table of methods: planar, rough and dusty Voronoi cells.

use std::sync::{Arc, OnceLock};

use super::{
    missed_fragments::{MissedFragments, missed_fragments},
    pattern::{CellSource, Pattern},
};
use crate::{
    compute::Compute,
    fracture::{
        Break, BreakContext, Breaker, CutSource, Cutter, Fracture, FractureError, FractureParams, Fracturer,
        MethodEntry, Passes, Pieces, PreviewTarget, Recipe, Seams, Source, Strike, Surface,
    },
    gpu::GpuError,
    memory,
    shape::{Geometry, Octree, Shape},
    svo::Forest,
};

/// The line in the table of methods.
pub const METHOD: MethodEntry = MethodEntry {
    name: "octree",
    label: "Voronoi cells",
    help: "Breaks an octree along the faces of Voronoi cells, flat, rough or with a gap of dust.",
    source: "Domaradzki & Martyn 2016, sec. 4, and 2018, sec. 5",
    by_seeds: true,
    of_voxels: true,
    options: &[],
    breaker: &OctreeBreaker,
};

/// Breaks octrees by Voronoi cells.
pub struct OctreeBreaker;

/// What a break by Voronoi cells knows beyond its parts.
#[derive(Clone, Debug)]
pub struct VoronoiDetail {
    /// How it was computed, with the random seed that was used in the end.
    pub recipe: Recipe,
    /// Level at which islands were told apart.
    pub island_level: u32,
    /// Parts of cells that the corners of voxels miss, once somebody counted them: see [`VoronoiDetail::hidden_in`].
    pub hidden: OnceLock<MissedFragments>,
    /// The fracture itself: part i of the break is piece i.
    pub fracture: Fracture,
}

impl VoronoiDetail {
    /// That of a break by Voronoi cells of an octree; `None` for another method.
    #[must_use]
    pub fn of(broken: &Break) -> Option<&Self> {
        broken.detail_as()
    }

    /// Parts of cells that the corners of voxels miss, in `tree` of `forest` that `pattern` broke. The first call finds them,
    /// which takes as long as the break. `None` for rough and dusty surfaces, which do not go by corners.
    #[must_use]
    pub fn hidden_in(&self, (forest, tree): (&Forest, u32), pattern: &Pattern) -> Option<&MissedFragments> {
        let is_planar = self.recipe.surface == Surface::Planar;
        is_planar.then(|| self.hidden.get_or_init(|| missed_fragments(forest, tree, pattern)))
    }
}

fn not_an_octree() -> FractureError {
    FractureError::Params("the method octree breaks octrees; this body is none".into())
}

/// The cells of a blow on a shape, whose octree (or what stands in for it) is `octree`.
#[must_use]
pub fn cells_of<'a>(shape: &'a Shape, octree: &'a Octree, strike: &Strike<'a>) -> CellSource<'a> {
    CellSource {
        shape,
        octree,
        bounds: strike.bounds.unwrap_or(octree.mass.bounds),
        impact: strike.impact,
        painted: strike.painted,
        seeds: strike.seeds,
    }
}

/// The recipe of a blow on an octree of `level`.
///
/// # Errors
/// [`FractureError::Params`] for a transition level that cannot be.
pub fn recipe_of(strike: &Strike<'_>, shape: &Shape, level: u32) -> Result<Recipe, FractureError> {
    let recipe = Recipe { surface_color: shape.look().surface_color, ..strike.params.recipe() };
    Ok(recipe.coarsened(strike.full_level.unwrap_or(level), level)?)
}

impl Breaker for OctreeBreaker {
    fn accepts(&self, geometry: &Geometry) -> bool {
        matches!(geometry, Geometry::Octree(_))
    }

    fn prepare(&self, passes: &Passes, compute: &Compute) -> Result<(), GpuError> {
        Fracturer::shared(passes, compute).map(|_| ())
    }

    fn cutter<'a>(&'a self, source: &'a CutSource<'a>) -> Result<Box<dyn Cutter + 'a>, FractureError> {
        let octree = source.shape.as_octree().ok_or_else(not_an_octree)?;
        let BreakContext { arena, passes, cancel } = source.context;
        let stages = Fracturer::shared(passes, arena.compute())?;
        let input = Source::new(arena, &octree.forest, octree.tree)?.unless(cancel);
        let recipe = recipe_of(&source.strike, source.shape, octree.level())?;
        Ok(Box::new(OctreeCutter { stages, input, octree, recipe }))
    }

    /// Planar cracks are bisectors, which are drawn without breaking anything; others are found by breaking.
    fn seams(
        &self,
        context: &BreakContext<'_>,
        target: &PreviewTarget<'_>,
        strike: &Strike<'_>,
    ) -> Result<Option<Seams>, FractureError> {
        if strike.params.surface == Surface::Planar {
            return Ok(Some(bisector_seams(context, target, strike)?));
        }
        let octree = target.octree;
        let passes = Fracturer::shared(context.passes, context.arena.compute())?;
        let pattern = cells_of(target.shape, octree, strike).cells(strike.params)?.pattern;
        let source = Source::new(context.arena, &octree.forest, octree.tree)?.unless(context.cancel);
        let recipe =
            strike.params.recipe().coarsened(strike.full_level.unwrap_or(octree.level()), octree.level())?;
        let fracture = passes.fracture(&source, &pattern, &recipe)?;
        let keys = octree.forest.leaves.keys.slice(octree.leaves());
        Ok(Some(Seams::of_fracture(context.arena.compute(), keys, &fracture, &pattern)?))
    }
}

/// Leaves on a voxel's face of crack, seen from both sides.
const CRACK_LEAVES: f64 = 1.5;
/// Memory of a leaf of the pieces during a fracture, bytes: 62 were measured for the statue at level 10.
const LEAF_BYTES: f64 = 70.0;

/// The stages, ready for one octree.
struct OctreeCutter<'a> {
    stages: Arc<Fracturer>,
    input: Source<'a>,
    octree: &'a Octree,
    recipe: Recipe,
}

impl OctreeCutter<'_> {
    /// Refuses what does not fit into the free memory.
    fn check_memory(&self, pattern: &Pattern) -> Result<(), FractureError> {
        let (voxels, cells) = (self.octree.mass.voxels as f64, pattern.object_ids().len() as f64);
        // Voronoi cells of n random points in a volume V have 5.82 n^(1/3) V^(2/3) of surface.
        let crack = CRACK_LEAVES * 5.82 * libm::cbrt(cells) * libm::pow(voxels, 2.0 / 3.0);
        let leaves = crack + self.octree.leaves().len() as f64;
        memory::check((leaves * LEAF_BYTES) as u64).map_err(|short| {
            FractureError::Params(format!(
                "for the fracture {short}; choose a lower level or fewer seeds, or close other programs"
            ))
        })
    }
}

impl Cutter for OctreeCutter<'_> {
    fn cut(&self, pattern: &Pattern, params: &FractureParams) -> Result<Pieces, FractureError> {
        self.check_memory(pattern)?;
        let recipe = Recipe { rng: params.rng, ..self.recipe.clone() };
        Ok(Pieces::Octrees(self.stages.cut(&self.input, pattern, &recipe)?))
    }

    fn finish(&self, done: &mut Break, octrees: Option<Fracture>) {
        let Some(fracture) = octrees.filter(|_| done.pattern.is_some()) else { return };
        let rng = done.solved.map_or(self.recipe.rng, |solved| solved.rng);
        let recipe = Recipe { rng, ..self.recipe.clone() };
        let island_level = recipe.island_level.unwrap_or(self.octree.level());
        let fracture = Fracture { counts: done.counts, ..fracture };
        done.detail =
            Some(Arc::new(VoronoiDetail { recipe, island_level, hidden: OnceLock::new(), fracture }));
    }
}

/// The cracks of flat cells, which are bisectors of their seeds whatever is cut along them.
///
/// # Errors
/// As [`Breaker::cutter`].
pub fn bisector_seams(
    context: &BreakContext<'_>,
    target: &PreviewTarget<'_>,
    strike: &Strike<'_>,
) -> Result<Seams, FractureError> {
    let passes = Fracturer::shared(context.passes, context.arena.compute())?;
    let pattern = cells_of(target.shape, target.octree, strike).cells(strike.params)?.pattern;
    passes.seams(target.voxels, target.octree.level(), &pattern)
}
