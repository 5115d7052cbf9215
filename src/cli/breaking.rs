//! From an octree and parameters to a whole break, over as many generations as were asked for.
//!
//! In: an object on the GPU, an impact, parameters. Out: a [`Broken`]. A generation breaks the largest eighth of the pieces
//! that are there (rounded up), each by a pattern round its own surface voxel nearest to the first impact, with as many seeds,
//! the same radii as fractions of the piece's own longest side, and a random seed derived from the first and from the number
//! of the break. A local radius holds for every break, a list of kept seeds for the first.

use std::sync::Arc;

use glam::DVec3;

use crate::{
    export::{Broken, BrokenStep, PieceRef},
    fracture::{
        FractureParams, Fracturer, Hidden, Impact, Pattern, PatternError, Source, Surface, hidden,
        interior::surface_color,
    },
    gpu::Gpu,
    svo::{Arena, Forest, morton, unpack_normal},
    voxelize::Progress,
};

use super::{CliError, input::Object, progress::Reporter};

/// Pieces with fewer voxels are left whole: a pattern would have nothing to cut.
const SMALLEST_TO_BREAK: u64 = 64;

/// What to do to an object.
pub struct Plan {
    /// Where the first blow lands, mesh units.
    pub impact: Impact,
    /// Pattern parameters.
    pub params: FractureParams,
    /// Seeds of the first break in mesh units, instead of spheres.
    pub seeds: Option<Vec<DVec3>>,
    /// How many times the largest pieces break.
    pub generations: u32,
}

/// Where the first blow lands when nobody says: where the axis that looks along -z through the centre of the bounds first meets
/// the object, else the surface voxel nearest to the centre. Found by a scan, since it happens once per object.
#[must_use]
pub fn default_impact(object: &Object) -> Impact {
    let centre = object.grid.from_mesh((object.bounds.0 + object.bounds.1) * 0.5);
    let leaves = &object.forest.leaves;
    let column = [centre.x, centre.y].map(|v| v.floor().max(0.0) as u32);
    let front = leaves
        .keys
        .iter()
        .enumerate()
        .map(|(i, key)| (i, morton::decode(*key)))
        .filter(|(_, cell)| [cell[0], cell[1]] == column)
        .max_by_key(|(_, cell)| cell[2]);
    if let Some((i, cell)) = front {
        // The leaf's surface plane, where the axis crosses it inside the voxel; else the voxel's middle.
        let (normal, middle) = (unpack_normal(leaves.normals[i]).as_dvec3(), voxel_centre(cell));
        let on_plane = middle + normal * f64::from(leaves.colors[i].offset());
        let along = (on_plane - DVec3::new(centre.x, centre.y, middle.z)).dot(normal) / normal.z;
        let z = if along.abs() <= 0.5 { middle.z + along } else { middle.z };
        let point = object.grid.origin + object.grid.h * DVec3::new(centre.x, centre.y, z);
        return Impact { point, direction: DVec3::NEG_Z };
    }
    let nearest = nearest_leaf(&object.forest, 0..leaves.len(), centre);
    let (point, direction) = nearest.map_or((centre, DVec3::NEG_Z), |i| {
        let normal = unpack_normal(leaves.normals[i]).as_dvec3();
        (
            voxel_centre(morton::decode(leaves.keys[i])) + normal * f64::from(leaves.colors[i].offset()),
            -normal,
        )
    });
    Impact { point: object.grid.origin + object.grid.h * point, direction }
}

fn voxel_centre(cell: [u32; 3]) -> DVec3 {
    DVec3::from_array(cell.map(|v| f64::from(v) + 0.5))
}

fn nearest_leaf(forest: &Forest, leaves: std::ops::Range<usize>, point: DVec3) -> Option<usize> {
    let distance = |i: &usize| voxel_centre(morton::decode(forest.leaves.keys[*i])).distance_squared(point);
    leaves.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// The pattern of the first break, before any number of pieces is solved for.
///
/// # Errors
/// [`CliError::Input`].
pub fn first_pattern(object: &Object, plan: &Plan) -> Result<Pattern, CliError> {
    Ok(draw_first(object, plan, &plan.params)?)
}

fn draw_first(object: &Object, plan: &Plan, params: &FractureParams) -> Result<Pattern, PatternError> {
    let grid = &object.grid;
    match &plan.seeds {
        Some(points) => {
            let in_grid: Vec<DVec3> = points.iter().map(|p| grid.from_mesh(*p)).collect();
            let (point, bounds) = first_place(object, plan);
            Pattern::from_points(&in_grid, grid.level)?.keep_far(params, point, bounds, grid.level)
        }
        None => {
            let (point, bounds) = first_place(object, plan);
            Pattern::at_impact(params, Impact { point, ..plan.impact }, bounds, &object.forest, 0)
        }
    }
}

/// Impact point and bounds in grid coordinates.
fn first_place(object: &Object, plan: &Plan) -> (DVec3, (DVec3, DVec3)) {
    let grid = &object.grid;
    let bounds = (grid.from_mesh(object.bounds.0), grid.from_mesh(object.bounds.1));
    (grid.from_mesh(plan.impact.point), bounds)
}

/// How many seeds of the first break stay together.
#[must_use]
pub fn kept_count(object: &Object, plan: &Plan, pattern: &Pattern) -> usize {
    let (point, bounds) = first_place(object, plan);
    plan.params.kept_seeds(pattern, point, bounds, object.grid.level).len()
}

/// Breaks `object`; every break's GPU times go to `reporter`.
///
/// # Errors
/// [`CliError`].
pub fn break_object(
    gpu: &Gpu,
    object: &Object,
    plan: &Plan,
    reporter: &Reporter,
) -> Result<Broken, CliError> {
    let (fracturer, mut arena) = reporter.stage("upload", |_| -> Result<_, CliError> {
        let fracturer = Fracturer::new(gpu)?;
        let mut arena = Arena::new(gpu)?;
        arena.insert(gpu, &object.forest)?;
        Ok((fracturer, arena))
    })?;
    let mut broken = Broken {
        source: Arc::clone(&object.forest),
        grid: object.grid,
        steps: Vec::new(),
        pieces: Vec::new(),
        broken_again: Vec::new(),
    };
    let surface_color = surface_color(&object.forest, 0);
    let mut work = Work { gpu, fracturer: &fracturer, plan, reporter, surface_color };
    reporter.stage("fracture", |progress| -> Result<(), CliError> {
        work.step(&mut broken, &arena, None, &plan.params, &|params| draw_first(object, plan, params))?;
        progress.set(1.0 / plan.generations as f32);
        for generation in 2..=plan.generations {
            work.generation(&mut broken, &mut arena, generation, progress)?;
        }
        Ok(())
    })?;
    Ok(broken)
}

struct Work<'a> {
    gpu: &'a Gpu,
    fracturer: &'a Fracturer,
    plan: &'a Plan,
    reporter: &'a Reporter,
    /// Of the whole object, so that all generations show one inside.
    surface_color: [u8; 3],
}

impl Work<'_> {
    /// Breaks the source (no parent) or a piece, and puts the new pieces in its place.
    fn step(
        &mut self,
        broken: &mut Broken,
        arena: &Arena,
        parent: Option<PieceRef>,
        params: &FractureParams,
        draw: &dyn Fn(&FractureParams) -> Result<Pattern, PatternError>,
    ) -> Result<(), CliError> {
        let (forest, tree) =
            parent.map_or((&broken.source, 0), |at| (broken.forest(at), broken.piece(at).tree));
        let source = Source::new(arena, forest, tree)?;
        let mut recipe = params.recipe();
        recipe.surface_color = Some(self.surface_color);
        let (pattern, mut fracture) =
            self.fracturer.fracture_as(self.gpu, &source, params, recipe.surface_color, draw)?;
        recipe.rng = fracture.solved.map_or(recipe.rng, |solved| solved.rng);
        // Rough and dusty surfaces do not go by corners.
        let hidden = match recipe.surface {
            Surface::Planar => hidden(forest, tree, &pattern),
            Surface::Rough | Surface::Dusty => Hidden::default(),
        };
        fracture.counts.hidden = (recipe.surface == Surface::Planar).then_some(hidden.parts.len() as u64);
        self.reporter.add("gpu: ", &fracture.timings);
        let step = broken.steps.len();
        let pieces = (0..fracture.pieces.len()).map(|piece| PieceRef { step, piece });
        broken.pieces.retain(|at| Some(*at) != parent);
        broken.broken_again.extend(parent);
        broken.pieces.extend(pieces);
        broken.steps.push(BrokenStep {
            parent,
            generation: parent.map_or(1, |at| broken.steps[at.step].generation + 1),
            first_seed: broken.steps.last().map_or(0, |s| s.first_seed + s.pattern.seeds.len() as u32),
            pattern,
            island_level: recipe.island_level.unwrap_or(broken.grid.level),
            recipe,
            hidden,
            fracture,
        });
        broken.number_pieces();
        Ok(())
    }

    /// Breaks the largest eighth of the pieces.
    fn generation(
        &mut self,
        broken: &mut Broken,
        arena: &mut Arena,
        generation: u32,
        progress: &Progress,
    ) -> Result<(), CliError> {
        let wanted = broken.pieces.len().div_ceil(8);
        let large: Vec<PieceRef> =
            broken.pieces.iter().take(wanted).copied().filter(|at| self.worth(broken, *at)).collect();
        for (done, &at) in large.iter().enumerate() {
            // The pieces of one break share a forest, which is uploaded once.
            arena.insert(self.gpu, broken.forest(at))?;
            let (params, impact) = self.blow(broken, at);
            let (forest, piece) = (Arc::clone(broken.forest(at)), broken.piece(at).clone());
            let draw = |params: &FractureParams| {
                Pattern::at_impact(params, impact, piece.mass.bounds, &forest, piece.tree)
            };
            self.step(broken, arena, Some(at), &params, &draw)?;
            let part = (done + 1) as f32 / large.len() as f32;
            progress.set((generation as f32 - 1.0 + part) / self.plan.generations as f32);
        }
        for at in &large {
            arena.remove(broken.forest(*at));
        }
        Ok(())
    }

    fn worth(&self, broken: &Broken, at: PieceRef) -> bool {
        broken.piece(at).voxels >= SMALLEST_TO_BREAK
    }

    /// How and where a piece is hit: its surface voxel nearest to the first impact, towards its centre.
    fn blow(&self, broken: &Broken, at: PieceRef) -> (FractureParams, Impact) {
        let (forest, piece) = (broken.forest(at), broken.piece(at));
        let blow = broken.grid.from_mesh(self.plan.impact.point);
        let point = nearest_leaf(forest, broken.leaves(at), blow)
            .map_or(piece.mass.centre, |i| voxel_centre(morton::decode(forest.leaves.keys[i])));
        let number = broken.steps.len() as u64;
        let first = &self.plan.params;
        // An odd constant of the golden ratio spreads consecutive numbers over all bits.
        let rng = first.rng.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let direction = (piece.mass.centre - point).normalize_or(self.plan.impact.direction);
        // The list of kept seeds names those of the first break.
        (FractureParams { rng, keep: Vec::new(), ..first.clone() }, Impact { point, direction })
    }
}
