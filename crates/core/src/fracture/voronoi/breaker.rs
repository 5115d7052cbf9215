//! The octree methods as one entry of the table of methods: planar, rough and dusty Voronoi cells.

use std::sync::Arc;

use super::{
    hidden::{Hidden, hidden},
    pattern::{CellSource, Pattern},
};
use crate::{
    fracture::{
        Break, BreakContext, Breaker, Fracture, FractureError, Fracturer, Kept, Lost, MethodEntry, Part,
        Piece, PreviewTarget, Recipe, Seams, Source, Strike, Surface,
    },
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
    /// Its seeds.
    pub pattern: Pattern,
    /// How it was computed, with the random seed that was used in the end.
    pub recipe: Recipe,
    /// Level at which islands were told apart.
    pub island_level: u32,
    /// Parts of cells that the corners of voxels miss; empty where they were not counted.
    pub hidden: Hidden,
    /// The fracture itself: part i of the break is piece i.
    pub fracture: Fracture,
}

impl VoronoiDetail {
    /// Of each of the break's `parts` its cells' objects: one, or several where small parts joined it.
    #[must_use]
    pub fn objects_of_parts(&self, parts: &[Part]) -> Vec<Vec<u32>> {
        let merged = |part: usize| self.fracture.merges.iter().find(|merge| merge.piece == part);
        let object = |cell: &u32| self.pattern.objects.get(*cell as usize).copied().unwrap_or(*cell);
        let of = |(i, part): (usize, &Part)| {
            merged(i).map_or_else(|| vec![part.cell], |merge| merge.cells.iter().map(object).collect())
        };
        parts.iter().enumerate().map(of).collect()
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
        points: strike.points,
    }
}

/// The recipe of a blow on an octree of `level`.
///
/// # Errors
/// [`FractureError::Params`] for a transition level that cannot be.
pub fn recipe_of(strike: &Strike<'_>, shape: &Shape, level: u32) -> Result<Recipe, FractureError> {
    let recipe = Recipe { surface_color: shape.look().surface_color, ..strike.params.recipe() };
    recipe.coarsened(strike.full_level.unwrap_or(level), level)
}

impl Breaker for OctreeBreaker {
    fn accepts(&self, geometry: &Geometry) -> bool {
        matches!(geometry, Geometry::Octree(_))
    }

    fn fracture(
        &self,
        context: &BreakContext<'_>,
        shape: &Shape,
        strike: &Strike<'_>,
    ) -> Result<Break, FractureError> {
        let octree = shape.as_octree().ok_or_else(not_an_octree)?;
        let passes = context.passes.compiled(context.arena.compute())?;
        let source = Source::new(context.arena, &octree.forest, octree.tree)?.unless(context.cancel);
        let cells = cells_of(shape, octree, strike);
        let mut recipe = recipe_of(strike, shape, octree.level())?;
        let (pattern, mut fracture) = if strike.preview {
            let pattern = cells.cells(strike.params)?.pattern;
            let fracture = passes.fracture(&source, &pattern, &recipe)?;
            (pattern, fracture)
        } else {
            let draw = |params: &_| Ok(cells.draw(params)?.0);
            passes.fracture_as(&source, strike.params, &recipe, &draw)?
        };
        recipe.rng = fracture.solved.map_or(recipe.rng, |solved| solved.rng);

        let mut params = strike.params.clone();
        if let Some(painted) = strike.painted {
            params.keep = painted.among(&pattern.seeds);
            // Cells are named by number, so the number of seeds must not be solved for again.
            if let Some(solved) = &fracture.solved {
                (params.target_pieces, params.seeds, params.rng) = (None, solved.seeds, solved.rng);
            }
        }
        // Rough and dusty surfaces do not go by corners.
        let counted = strike.count_hidden && recipe.surface == Surface::Planar;
        let hidden = if counted { hidden(&octree.forest, octree.tree, &pattern) } else { Hidden::default() };
        if strike.count_hidden {
            fracture.counts.hidden = counted.then_some(hidden.parts.len() as u64);
        }

        let parts = parts_of(shape, octree, &fracture.forest, &fracture.pieces);
        let kept_cells = cells.kept(&pattern, &params);
        let kept = kept_cells.first().copied().map(|object| Kept {
            part: fracture.pieces.iter().position(|piece| piece.cell == object),
            parts: fracture.pieces.iter().filter(|piece| piece.cell == object).count(),
            cells: kept_cells,
        });
        let dropped = fracture.dropped.as_ref();
        Ok(Break {
            parts,
            lost: Lost {
                dust_m3: fracture.dust_volume * octree.grid.h.powi(3),
                dropped: dropped.map_or(Vec::new(), |all| parts_of(shape, octree, &all.forest, &all.pieces)),
            },
            before_m3: None,
            counts: fracture.counts,
            timings: fracture.timings.clone(),
            solved: fracture.solved,
            params,
            kept,
            detail: Some(Arc::new(VoronoiDetail {
                pattern,
                island_level: recipe.island_level.unwrap_or(octree.level()),
                recipe,
                hidden,
                fracture,
            })),
        })
    }

    /// Planar cracks are bisectors, which are drawn without breaking anything; others are found by breaking.
    fn seams(
        &self,
        context: &BreakContext<'_>,
        target: &PreviewTarget<'_>,
        strike: &Strike<'_>,
    ) -> Result<Option<Seams>, FractureError> {
        let octree = target.octree;
        let passes: &Fracturer = context.passes.compiled(context.arena.compute())?;
        let pattern = cells_of(target.shape, octree, strike).cells(strike.params)?.pattern;
        if strike.params.surface == Surface::Planar {
            return Ok(Some(passes.seams(target.voxels, octree.level(), &pattern)?));
        }
        let source = Source::new(context.arena, &octree.forest, octree.tree)?.unless(context.cancel);
        let recipe =
            strike.params.recipe().coarsened(strike.full_level.unwrap_or(octree.level()), octree.level())?;
        let fracture = passes.fracture(&source, &pattern, &recipe)?;
        let keys = octree.forest.leaves.keys.slice(octree.leaves());
        Ok(Some(Seams::of_fracture(context.arena.compute(), keys, &fracture, &pattern)?))
    }
}

/// Pieces as parts: they keep the whole's grid, density and look.
pub fn parts_of(shape: &Shape, whole: &Octree, forest: &Arc<Forest>, pieces: &[Piece]) -> Vec<Part> {
    let part = |piece: &Piece| {
        let octree =
            Octree { forest: Arc::clone(forest), tree: piece.tree, grid: whole.grid, mass: piece.mass };
        let shape = Arc::new(Shape::octree(octree, shape.density(), *shape.look()));
        Part { shape, cell: piece.cell, size: piece.voxels }
    };
    pieces.iter().map(part).collect()
}
