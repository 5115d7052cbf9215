//! From a shape and parameters to a whole break, over several generations, by any method.
//!
//! In: a source in the arena, an impact, parameters. Out: a [`BrokenObject`]. A generation breaks the largest eighth of
//! the present pieces (rounded up), each by a pattern round its own surface voxel nearest to the first impact, with as
//! many seeds, the same radii as fractions of the piece's own longest side, and a random seed derived from the first
//! and from the number of the break. A local radius holds for every break, a list of kept seeds for the first. Where
//! chips are wanted, the pieces lose them after the last generation, each by a break of its own.
//!
//! # A whole break, over one or more generations: the input of the exporters, the report and the checks
//!
//! In: the source and the breaks of it and of its parts. Out: the remaining pieces, numbered by descending size.

use std::sync::{Arc, OnceLock};

use glam::DVec3;

use super::{
    Break, BreakContext, FractureError, FractureParams, Impact, Part, Passes, Piece, Preset, SeedSource,
    Strike, break_shape,
    voronoi::pattern::{lengths_of_chips, shares_of_chips},
};
use crate::{
    fracture::Cancel,
    geometry::Aabb,
    gpu::StageTiming,
    shape::{Geometry, Octree, Shape},
    svo::{Arena, Forest, Grid, morton, unpack_normal},
};

/// Smaller parts are not broken again: a pattern would have nothing to cut.
pub const SMALLEST_TO_BREAK: u64 = 64;

/// How to break a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Where the first blow lands, shape space.
    pub impact: Impact,
    /// Parameters.
    pub params: FractureParams,
    /// Seeds of the first break in shape space, instead of the pattern's.
    pub seeds: Option<SeedSource>,
    /// Bounds of which the first break's radii are fractions, shape space; `None`: those of the shape.
    pub bounds: Option<Aabb>,
    /// How many times the largest pieces break.
    pub generations: u32,
}

/// Default point of the first blow, shape space: where the axis along -z through the centre of `bounds` first hits the
/// object, else the surface voxel nearest to the centre. Found by a scan, since it happens once per object.
#[must_use]
pub fn default_impact(shape: &Shape, bounds: Aabb) -> Impact {
    let middle = bounds.middle();
    let Some(octree) = shape.as_octree() else {
        let start = DVec3::new(middle.x, middle.y, bounds.high.z + bounds.size().max_element());
        let point = shape.pick(start, DVec3::NEG_Z).map_or(middle, |hit| start + DVec3::NEG_Z * hit.t);
        return Impact { point, direction: DVec3::NEG_Z };
    };
    let centre = octree.grid.from_mesh(middle);
    let leaves = &octree.forest.leaves;
    let column = [centre.x, centre.y].map(|v| v.floor().max(0.0) as u32);
    let front = leaves
        .keys
        .iter()
        .enumerate()
        .map(|(i, key)| (i, morton::decode(key)))
        .filter(|(_, cell)| [cell[0], cell[1]] == column)
        .max_by_key(|(_, cell)| cell[2]);
    if let Some((i, cell)) = front {
        // The leaf's surface plane, where the axis crosses it inside the voxel; else the voxel's middle.
        let (normal, middle) = (unpack_normal(leaves.normals[i]).as_dvec3(), voxel_centre(cell));
        let on_plane = middle + normal * f64::from(leaves.colors[i].offset());
        let along = (on_plane - DVec3::new(centre.x, centre.y, middle.z)).dot(normal) / normal.z;
        let z = if along.abs() <= 0.5 { middle.z + along } else { middle.z };
        let point = octree.grid.origin + octree.grid.h * DVec3::new(centre.x, centre.y, z);
        return Impact { point, direction: DVec3::NEG_Z };
    }
    let nearest = nearest_leaf(octree, 0..leaves.len(), centre);
    let (point, direction) = nearest.map_or((centre, DVec3::NEG_Z), |i| {
        let normal = unpack_normal(leaves.normals[i]).as_dvec3();
        (
            voxel_centre(morton::decode(leaves.keys.at(i))) + normal * f64::from(leaves.colors[i].offset()),
            -normal,
        )
    });
    Impact { point: octree.grid.origin + octree.grid.h * point, direction }
}

fn voxel_centre(cell: [u32; 3]) -> DVec3 {
    DVec3::from_array(cell.map(|v| f64::from(v) + 0.5))
}

fn nearest_leaf(octree: &Octree, leaves: std::ops::Range<usize>, point: DVec3) -> Option<usize> {
    let distance =
        |i: &usize| voxel_centre(morton::decode(octree.forest.leaves.keys.at(*i))).distance_squared(point);
    leaves.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Where to hit a piece that breaks again, in its local space: at its surface voxel nearest to `point`, towards its
/// centre; along `direction` if that is the same place.
#[must_use]
pub fn impact_on_piece(shape: &Shape, point: DVec3, direction: DVec3) -> Impact {
    let point = match shape.as_octree() {
        Some(octree) => nearest_leaf(octree, octree.leaves(), point)
            .map_or(octree.mass.centre, |i| voxel_centre(morton::decode(octree.forest.leaves.keys.at(i)))),
        None => {
            let Aabb { low, high } = shape.bounds();
            point.clamp(low, high)
        }
    };
    Impact { point, direction: (shape.centre() - point).normalize_or(direction) }
}

/// The random seed of a later break, the `number`th, of a blow that began with `first`.
#[must_use]
pub fn random_number_again(first: u64, number: u64) -> u64 {
    // An odd constant of the golden ratio spreads consecutive numbers over all bits.
    first.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The first blow of a plan as `shape` sees it, with what it borrows.
pub struct FirstStrike {
    impact: Impact,
    bounds: Option<Aabb>,
    seeds: Option<SeedSource>,
}

impl FirstStrike {
    /// In the local space of `shape`.
    #[must_use]
    pub fn new(shape: &Shape, plan: &Plan) -> Self {
        let local = |p: DVec3| shape.as_octree().map_or(p, |octree| octree.grid.from_mesh(p));
        Self {
            impact: Impact { point: local(plan.impact.point), ..plan.impact },
            bounds: plan.bounds.map(|bounds| bounds.placed(local)),
            seeds: plan.seeds.as_ref().map(|seeds| seeds.placed(local)),
        }
    }

    /// The blow, for parameters.
    #[must_use]
    pub fn strike<'a>(&'a self, params: &'a FractureParams) -> Strike<'a> {
        Strike { bounds: self.bounds, seeds: self.seeds.as_ref(), ..Strike::new(self.impact, params) }
    }
}

/// Breaks `source`, which is in the arena, by `plan`. After every break `watch` is called with the progress, 0 to 1,
/// and the break's times.
///
/// # Errors
/// [`FractureError`].
pub fn break_object(
    arena: &mut Arena,
    passes: &Passes,
    source: &Arc<Shape>,
    plan: &Plan,
    watch: &mut dyn FnMut(f32, &[StageTiming]),
) -> Result<BrokenObject, FractureError> {
    break_object_until(arena, passes, source, plan, Cancel::never(), watch)
}

/// Like [`break_object`], for work that may be cancelled.
///
/// # Errors
/// [`FractureError`]; [`FractureError::Cancelled`].
pub fn break_object_until(
    arena: &mut Arena,
    passes: &Passes,
    source: &Arc<Shape>,
    plan: &Plan,
    cancel: &Cancel,
    watch: &mut dyn FnMut(f32, &[StageTiming]),
) -> Result<BrokenObject, FractureError> {
    let object = BrokenObject {
        source: Arc::clone(source),
        steps: Vec::new(),
        pieces: Vec::new(),
        broken_again: Vec::new(),
    };
    let chips = plan.params.chips_follow();
    if let Some(octree) = source.as_octree().filter(|_| chips) {
        // Refused before anything breaks.
        lengths_of_chips(&plan.params, &octree.grid)?;
    }
    let rounds = (plan.generations + u32::from(chips)) as f32;
    let mut work = Generations { passes, plan, cancel, object, watch, rounds };
    let first = FirstStrike::new(source, plan);
    work.step(arena, None, &first.strike(&plan.params), 1.0 / rounds)?;
    for generation in 2..=plan.generations {
        work.generation(arena, generation)?;
    }
    if chips {
        work.chip(arena)?;
    }
    Ok(work.object)
}

struct Generations<'a> {
    passes: &'a Passes,
    plan: &'a Plan,
    cancel: &'a Cancel,
    object: BrokenObject,
    watch: &'a mut dyn FnMut(f32, &[StageTiming]),
    /// Generations, and one more for chips.
    rounds: f32,
}

impl Generations<'_> {
    /// Breaks the source (no parent) or a piece, and puts the new pieces in its place.
    fn step(
        &mut self,
        arena: &Arena,
        parent: Option<PieceRef>,
        strike: &Strike<'_>,
        progress: f32,
    ) -> Result<(), FractureError> {
        let object = &mut self.object;
        let shape = parent.map_or(&object.source, |at| &object.part(at).shape);
        let context = BreakContext { arena, passes: self.passes, cancel: self.cancel };
        let result: Break = break_shape(&context, shape, strike)?;
        (self.watch)(progress, &result.timings);
        let step = object.steps.len();
        let pieces = (0..result.parts.len()).map(|piece| PieceRef { step, piece });
        object.pieces.retain(|at| Some(*at) != parent);
        object.broken_again.extend(parent);
        object.pieces.extend(pieces);
        object.steps.push(BreakStep {
            parent,
            generation: parent.map_or(1, |at| object.steps[at.step].generation + 1),
            first_cell: object.steps.last().map_or(0, |s| s.first_cell + s.cells()),
            result,
        });
        object.number_pieces();
        Ok(())
    }

    /// Breaks the largest eighth of the pieces.
    fn generation(&mut self, arena: &mut Arena, generation: u32) -> Result<(), FractureError> {
        let wanted = self.object.pieces.len().div_ceil(8);
        let worth = |at: &PieceRef| self.object.part(*at).size >= SMALLEST_TO_BREAK;
        let large: Vec<PieceRef> = self.object.pieces.iter().take(wanted).copied().filter(worth).collect();
        for (done, &at) in large.iter().enumerate() {
            // The pieces of one break share a forest, which is uploaded once.
            if let Some(octree) = self.object.part(at).shape.as_octree() {
                arena.insert(&octree.forest)?;
            }
            let (params, impact) = self.blow(at);
            let part = (done + 1) as f32 / large.len() as f32;
            let progress = (generation as f32 - 1.0 + part) / self.rounds;
            self.step(arena, Some(at), &Strike::new(impact, &params), progress)?;
        }
        for at in &large {
            arena.remove(self.object.forest(*at));
        }
        Ok(())
    }

    /// Breaks chips out of the pieces, each of which has a share by the length of its edges.
    fn chip(&mut self, arena: &mut Arena) -> Result<(), FractureError> {
        let plan = self.plan;
        let pieces = self.object.pieces.clone();
        let shares = shares_of_chips(&plan.params, pieces.iter().map(|at| &*self.object.part(*at).shape))?;
        let chosen: Vec<(PieceRef, u32)> =
            pieces.into_iter().zip(shares).filter(|(_, share)| *share > 0).collect();
        for (done, (at, share)) in chosen.iter().enumerate() {
            if let Some(octree) = self.object.part(*at).shape.as_octree() {
                arena.insert(&octree.forest)?;
            }
            let (params, impact) = (plan.params.chipping(*share, self.rng()), self.impact(*at));
            let progress = 1.0 - (chosen.len() - done - 1) as f32 / chosen.len() as f32 / self.rounds;
            self.step(arena, Some(*at), &Strike::new(impact, &params), progress)?;
        }
        for (at, _) in &chosen {
            arena.remove(self.object.forest(*at));
        }
        Ok(())
    }

    /// How and where a piece is hit, its local space.
    fn blow(&self, at: PieceRef) -> (FractureParams, Impact) {
        // The list of kept seeds refers to those of the first break.
        let params = FractureParams { rng: self.rng(), keep: Vec::new(), ..self.plan.params.clone() };
        (params, self.impact(at))
    }

    /// The surface voxel of a piece nearest to the first impact, towards the piece's centre; local space.
    fn impact(&self, at: PieceRef) -> Impact {
        let shape = &self.object.part(at).shape;
        let blow = self.plan.impact.point;
        let blow = shape.as_octree().map_or(blow, |octree| octree.grid.from_mesh(blow));
        impact_on_piece(shape, blow, self.plan.impact.direction)
    }

    /// The random seed of the next break.
    fn rng(&self) -> u64 {
        random_number_again(self.plan.params.rng, self.object.steps.len() as u64)
    }
}

/// One break of one shape.
#[derive(Clone)]
pub struct BreakStep {
    /// The piece that was broken; `None` for the source.
    pub parent: Option<PieceRef>,
    /// 1 for the source's own break.
    pub generation: u32,
    /// Number of this step's first cell in the list over all steps.
    pub first_cell: u32,
    /// Its result.
    pub result: Break,
}

impl BreakStep {
    /// Cells that the break drew: seeds of a pattern, or as many as its parts name.
    #[must_use]
    pub fn cells(&self) -> u32 {
        let named = || self.result.parts.iter().map(|part| part.cell + 1).max().unwrap_or(0);
        self.result.pattern.as_ref().map_or_else(named, |pattern| pattern.seeds.len() as u32)
    }
}

/// Id of a piece: index of a step, and of a piece of its fracture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PieceRef {
    /// Index in [`BrokenObject::steps`].
    pub step: usize,
    /// Index in that step's [`Break::parts`].
    pub piece: usize,
}

/// A source and everything that it was broken into.
#[derive(Clone)]
pub struct BrokenObject {
    /// The broken shape, in the mesh's own units.
    pub source: Arc<Shape>,
    /// In the order in which they were made; the first breaks the source.
    pub steps: Vec<BreakStep>,
    /// The remaining pieces, by descending size; a piece's id is its index.
    pub pieces: Vec<PieceRef>,
    /// Pieces that were broken again. Their ids follow those of `pieces`.
    pub broken_again: Vec<PieceRef>,
}

/// The octree of other shapes: no voxels.
fn no_octree() -> &'static Octree {
    static NONE: OnceLock<Octree> = OnceLock::new();
    NONE.get_or_init(|| {
        let forest = Arc::new(Forest { level: 1, tree_start: vec![0], ..Forest::default() });
        Octree::new(&forest, 0, Grid { level: 1, origin: glam::DVec3::ZERO, h: 1.0 })
    })
}

impl BrokenObject {
    /// A single break of `source`.
    #[must_use]
    pub fn of_one(source: Arc<Shape>, result: Break) -> Self {
        let pieces = (0..result.parts.len()).map(|piece| PieceRef { step: 0, piece }).collect();
        let step = BreakStep { parent: None, generation: 1, first_cell: 0, result };
        let mut object = Self { source, steps: vec![step], pieces, broken_again: Vec::new() };
        object.number_pieces();
        object
    }

    /// The source's octree; one without voxels for other shapes.
    #[must_use]
    pub fn source_octree(&self) -> &Octree {
        self.source.as_octree().unwrap_or_else(|| no_octree())
    }

    /// Where the source's grid lies, mesh units.
    #[must_use]
    pub fn grid(&self) -> Grid {
        self.source_octree().grid
    }

    /// The piece itself.
    #[must_use]
    pub fn part(&self, at: PieceRef) -> &Part {
        &self.steps[at.step].result.parts[at.piece]
    }

    /// Its octree; one without voxels for other shapes, even if they have voxels for contacts.
    #[must_use]
    pub fn octree(&self, at: PieceRef) -> &Octree {
        match self.part(at).shape.geometry() {
            Geometry::Octree(octree) => octree,
            Geometry::Mesh(_) | Geometry::Convex(_) => no_octree(),
        }
    }

    /// The piece as the octree methods describe pieces.
    #[must_use]
    pub fn piece(&self, at: PieceRef) -> Piece {
        let (part, octree) = (self.part(at), self.octree(at));
        Piece { tree: octree.tree, cell: part.cell, voxels: part.size, mass: octree.mass }
    }

    /// The forest that contains it.
    #[must_use]
    pub fn forest(&self, at: PieceRef) -> &Arc<Forest> {
        &self.octree(at).forest
    }

    /// Index of its cell over all steps; for a kept body the smallest of its cells.
    #[must_use]
    pub fn cell(&self, at: PieceRef) -> u32 {
        self.steps[at.step].first_cell + self.part(at).cell
    }

    /// The octree that `step` broke: forest and tree.
    #[must_use]
    pub fn source_of(&self, step: &BreakStep) -> (&Arc<Forest>, u32) {
        let octree = step.parent.map_or(self.source_octree(), |at| self.octree(at));
        (&octree.forest, octree.tree)
    }

    /// Id of a piece that was broken again.
    #[must_use]
    pub fn parent_id(&self, at: PieceRef) -> Option<usize> {
        let parent = self.steps[at.step].parent?;
        self.broken_again.iter().position(|p| *p == parent).map(|i| self.pieces.len() + i)
    }

    /// Leaf range of a piece in its forest.
    #[must_use]
    pub fn leaves(&self, at: PieceRef) -> std::ops::Range<usize> {
        self.octree(at).leaves()
    }

    /// Whether there is one piece only, from which nothing was cut off.
    #[must_use]
    pub fn stayed_whole(&self) -> bool {
        self.steps.first().is_none_or(|step| step.result.stayed_whole())
    }

    /// Chips that broke out of its pieces, where these lost some after the break.
    #[must_use]
    pub fn chips(&self) -> usize {
        let chipped = self.steps.iter().filter(|step| step.result.params.preset == Preset::Chips);
        let patterns = chipped.filter_map(|step| step.result.pattern.as_ref());
        // One object is the rest of the piece.
        patterns.map(|pattern| pattern.object_ids().len().saturating_sub(1)).sum()
    }

    /// Sorts the pieces by descending size; equal ones stay in the order in which they were made.
    pub fn number_pieces(&mut self) {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.sort_by_key(|at| (std::cmp::Reverse(self.part(*at).size), *at));
        self.pieces = pieces;
    }
}
