//! Breaks a copy of a body to show its internals, on a worker with octrees of its own.

use std::sync::Arc;

use crate::geometry::Aabb;
use crate::{
    bodies::BodyDef,
    fracture::{FractureError, FractureParams, Fracturer, Pattern, Recipe, Source},
    scene::{
        Aim, KeptCells,
        breaking::cells,
        overlays::{Blueprint, Inside, Reading},
    },
    svo::{Arena, Forest, coarsen},
};

/// Finest level; at finer ones the labelling takes too long.
const MOST_LEVEL: u32 = 7;

/// Input for breaking a copy of the body.
pub(super) enum ToBreak {
    Aimed {
        aim: Aim,
        params: Box<FractureParams>,
        kept: Option<Arc<KeptCells>>,
        def: Box<BodyDef>,
        /// Whether the body is as imported; seeds from a file apply only then.
        intact: bool,
    },
    Known(Blueprint),
}

/// The parameters of the fracture, with radii as shares of the bounds' longest side.
pub(super) fn blueprint(
    pattern: Pattern,
    recipe: Recipe,
    impact: glam::DVec3,
    params: &FractureParams,
    bounds: Aabb,
) -> Blueprint {
    let longest = bounds.size().max_element();
    let has_spheres = params.seeds_file.is_none() && params.preset.has_radii();
    Blueprint {
        pattern,
        recipe,
        impact,
        spheres: params.radii.iter().filter(|_| has_spheres).map(|r| r * longest).collect(),
        local: params.local.map(|r| r * longest),
    }
}

/// Breaks tree `tree` of a copy of `forest`, no finer than [`MOST_LEVEL`], and reads the chosen data back.
pub(super) fn read(
    fracturer: &Fracturer,
    forest: &Arc<Forest>,
    tree: u32,
    by: ToBreak,
    reading: Reading,
) -> Result<Inside, FractureError> {
    let mut blueprint = match by {
        ToBreak::Known(blueprint) => blueprint,
        ToBreak::Aimed { aim, params, kept, def, intact } => {
            let pattern = cells(aim.impact(), &params, kept.as_deref(), (&def, intact))?.pattern;
            blueprint(pattern, params.recipe(), aim.point_in_grid, &params, def.octree().mass.bounds)
        }
    };
    let level = forest.level.min(MOST_LEVEL);
    let ratio = f64::from(1u32 << (forest.level - level));
    blueprint.recipe = blueprint.recipe.coarsened(forest.level, level)?;
    blueprint.impact /= ratio;
    blueprint.spheres.iter_mut().chain(&mut blueprint.local).for_each(|radius| *radius /= ratio);
    // A copy, since it must not keep octrees alive that no body needs.
    let copy = Arc::new(coarsen(forest, level));
    let mut arena = Arena::new(fracturer.compute())?;
    arena.insert(&copy)?;
    let source = Source::new(&arena, &copy, tree)?;
    Inside::read(fracturer, &source, blueprint, None, reading)
}
