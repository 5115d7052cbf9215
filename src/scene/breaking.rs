//! Breaking one body: from a blow in the world to pieces that move as the body moved.
//!
//! In: a body, a blow, parameters. Out: a fracture from a worker thread, then a body definition per piece, with
//! velocities that conserve momentum, angular momentum and energy (v + w x r).

use std::{
    path::Path,
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::Instant,
};

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::{
    bodies::{Body, BodyDef, BodyId, BodyState},
    compute::Compute,
    export::checks::{self, Check, Moving},
    fracture::{
        Break, BreakContext, Cancel, CancelOnDrop, CrackSection, FractureCounts, FractureError,
        FractureParams, Impact, KeptCells, Part, Passes, SeedSource, Solved, Strike, break_shape,
        crack_sections, voronoi::cells_of,
    },
    gpu::StageTiming,
    shape::Shape,
    svo::Arena,
    threads::Pending,
};

use super::{BondDamage, Cells, read_seeds};

/// What a fracture needs.
#[derive(Clone, Copy)]
pub(super) struct Workshop<'a> {
    /// The device.
    pub compute: &'a Compute,
    /// The octrees on the device.
    pub arena: &'a Arc<RwLock<Arena>>,
    /// The pipelines, compiled or being compiled.
    pub passes: &'a Arc<Passes>,
}

/// A blow in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blow {
    /// World position, m.
    pub point: DVec3,
    /// Unit direction in the world.
    pub direction: DVec3,
    /// Speed given to pieces at the point, m/s.
    pub speed: f64,
}

/// Where a break takes its seeds from.
pub(super) enum Seeds {
    /// The pattern of its parameters, since the body is a piece.
    Pattern,
    /// The file that the parameters name, or the pattern if they name none: the body is whole.
    File,
    /// The same blow on this body: the same whole object at another octree level. Drawn anew, seeds would be others
    /// there, since the bounds and the voxels that they are drawn in are others.
    Same(Box<BodyDef>),
}

impl Seeds {
    /// Those of a body that is whole, or a piece.
    pub(super) fn of(intact: bool) -> Self {
        if intact { Self::File } else { Self::Pattern }
    }
}

/// Summary of a fracture for the panels.
#[derive(Clone, Debug, Default)]
pub struct BreakSummary {
    /// Counts as the report names them.
    pub counts: FractureCounts,
    /// GPU time per stage.
    pub timings: Vec<StageTiming>,
    /// Wall-clock time of the worker, s.
    pub seconds: f64,
    /// Relative error of the mass: pieces, dust and dropped parts over the body, minus 1.
    pub mass_error: f64,
    /// Mass of the dust as a share of the body's.
    pub dust_share: f64,
    /// Mass dropped by the rule for small pieces, as a share of the body's.
    pub dropped_mass: f64,
    /// How a number of pieces was solved for.
    pub solved: Option<Solved>,
    /// The part that stayed together, if one was to.
    pub kept: Option<KeptSummary>,
    /// Momentum and angular momentum, compared when the pieces replaced the body.
    pub motion: Vec<Check>,
    /// Voxels, mass and components, once a worker has compared them; see [`super::Sandbox::check_breaks`].
    pub solid: Arc<OnceLock<Vec<Check>>>,
}

impl BreakSummary {
    /// What was compared so far of what there was and what there is.
    pub fn checks(&self) -> impl Iterator<Item = &Check> {
        self.solid.get().into_iter().flatten().chain(&self.motion)
    }

    /// Whether all of it was compared.
    #[must_use]
    pub fn is_checked(&self) -> bool {
        self.solid.get().is_some()
    }
}

/// The part of a broken body that stayed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSummary {
    /// Seeds of its cells, ascending.
    pub cells: Vec<u32>,
    /// Number of its pieces: one, unless its cells do not touch.
    pub pieces: usize,
}

/// Cause of a break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The user's blow; recorded as an event of the scene, so that it happens again on playback.
    User,
    /// A later generation of the user's blow, part of the same undo step; also recorded as an event.
    Again,
    /// An event of the scene, which need not be recorded.
    Event,
    /// A collision, which happens again by itself on playback.
    Collision,
    /// A break that a scene lists as made before its start; neither an undo step nor an event.
    Opening,
}

/// A blow waiting to be computed.
pub(super) struct Waiting {
    pub body: BodyId,
    pub blow: Blow,
    pub params: FractureParams,
    /// Cells painted to stay.
    pub kept: Option<Arc<KeptCells>>,
    /// Cause; a user's blow advances the random seed when it has fallen, unless that is locked.
    pub cause: Cause,
    /// The blow in the body's local space, if that is more precise than the blow in the world.
    pub impact: Option<Impact>,
    /// For an event of a scene: the piece that it names, which may exist only when the event is due.
    pub piece: Option<NamedPiece>,
    /// Whether bonds hold the parts together.
    pub hold: Option<Hold>,
}

/// What bonds that hold the parts of a break start from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Hold {
    /// Bonds that have failed or lost strength already: their parts, and the damage, 0 to 1.
    pub damaged: Vec<BondDamage>,
    /// The lists of parts that still hold together, where not all of them do; a part in none of them is alone.
    pub together: Option<Vec<Vec<u32>>>,
}

/// Names a piece by its object and the part index at each break in its ancestry, the first break first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedPiece {
    pub object: usize,
    pub parts: Vec<u32>,
}

/// A fracture in progress.
pub struct BreakJob {
    /// The body that breaks.
    pub body: BodyId,
    /// The blow.
    pub blow: Blow,
    /// The requested parameters.
    pub params: FractureParams,
    /// The blow in the body's local space when the fracture started.
    pub(super) impact: Impact,
    /// Cause of the blow.
    pub(super) cause: Cause,
    /// Whether bonds hold the parts together.
    pub(super) hold: Option<Hold>,
    kept: Option<Arc<KeptCells>>,
    /// Cancels the fracture when the job is dropped.
    #[cfg_attr(not(test), expect(dead_code, reason = "it does its work when it is dropped"))]
    pub(super) waits: CancelOnDrop,
    /// The body's volume when it was struck, m^3.
    pub(super) source_volume: f64,
    timed: Pending<Result<TimedBreak, FractureError>>,
}

/// Result of a fracture, with its time.
pub(super) struct TimedBreak {
    pub broken: Break,
    /// Its cracks as sections, where bonds hold the parts together.
    pub sections: Vec<CrackSection>,
    /// Wall-clock time of the worker, s, without the wait for the next frame.
    pub seconds: f64,
}

impl BreakJob {
    /// Starts a worker that breaks a body in its present state.
    pub(super) fn start(
        arena: &Arc<RwLock<Arena>>,
        passes: &Arc<Passes>,
        (def, state, seeds): (&BodyDef, &BodyState, Seeds),
        waiting: Waiting,
    ) -> Self {
        let (arena, passes) = (Arc::clone(arena), Arc::clone(passes));
        let cancel = Cancel::possible();
        let waits = CancelOnDrop(cancel.clone());
        let Waiting { body, blow, params, kept, cause, impact, piece: _, hold } = waiting;
        let painted = kept.clone();
        let source_volume = def.shape.mass().volume_m3;
        let impact = impact.unwrap_or_else(|| Impact {
            point: local_from_world(state, &def.shape, blow.point),
            direction: state.rotation.inverse() * blow.direction,
        });
        let (def, params_there, holds) = (def.clone(), params.clone(), hold.is_some());
        let timed = Pending::start(move || {
            let start = Instant::now();
            let run = || {
                let painted = painted.as_deref();
                let (seeds, params, painted) = match &seeds {
                    Seeds::Pattern => (None, params_there, painted),
                    Seeds::File => (seeds_in_local(&params_there, &def)?, params_there, painted),
                    Seeds::Same(there) => seeds_of_same(there, &def, impact, params_there, painted)?,
                };
                let strike = Strike { painted, seeds: seeds.as_ref(), ..Strike::new(impact, &params) };
                // A clone of the buffers' handles suffices, so the lock is free for later changes.
                let arena = arena.read().unwrap_or_else(PoisonError::into_inner).clone();
                let context = BreakContext { arena: &arena, passes: &passes, cancel: &cancel };
                break_shape(&context, &def.shape, &strike)
            };
            let timed = |broken: Break| {
                let seconds = start.elapsed().as_secs_f64();
                // Pictures and slices of meshes need their trees, which take too long for the window's thread.
                broken.parts.par_iter().filter_map(|part| part.shape.as_mesh()).for_each(|solid| {
                    solid.tree();
                });
                let sections = if holds { crack_sections(&broken.parts) } else { Vec::new() };
                TimedBreak { sections, broken, seconds }
            };
            run().map(timed)
        });
        Self { body, blow, params, impact, cause, hold, kept, waits, source_volume, timed }
    }

    /// The same blow, to be computed again.
    pub(super) fn again(self) -> Waiting {
        let Self { body, blow, params, impact, cause, hold, kept, .. } = self;
        Waiting { body, blow, params, kept, cause, impact: Some(impact), piece: None, hold }
    }

    pub(super) fn poll(&self) -> Option<Result<TimedBreak, FractureError>> {
        let stopped = "the fracture stopped unexpectedly; try fewer seeds";
        self.timed.poll(|| Err(FractureError::Params(stopped.into())))
    }
}

/// The seeds of the file that `params` name, in local space of `def`; `None` if they name no file.
///
/// # Errors
/// [`FractureError::Params`] for a file that cannot be read.
pub(super) fn seeds_in_local(
    params: &FractureParams,
    def: &BodyDef,
) -> Result<Option<SeedSource>, FractureError> {
    let Some(file) = &params.seeds_file else { return Ok(None) };
    let seeds = read_seeds(Path::new(file)).map_err(|error| FractureError::Params(error.message))?;
    let local = |p: DVec3| def.shape.as_octree().map_or(p, |octree| octree.grid.from_mesh(p));
    Ok(Some(seeds.placed(|p| local(p * def.meters_per_unit))))
}

/// Seeds, parameters and painted cells with which a blow cuts `def` along the cells of the same blow on `there`, which
/// is the same whole object at another octree level; `impact` in local space of `def`. Where the blow has no cells, or
/// a number of pieces is solved for, the blow draws its own.
fn seeds_of_same<'a>(
    there: &BodyDef,
    def: &BodyDef,
    impact: Impact,
    params: FractureParams,
    painted: Option<&'a KeptCells>,
) -> Result<(Option<SeedSource>, FractureParams, Option<&'a KeptCells>), FractureError> {
    if !has_cells(&params) || params.target_pieces.is_some() {
        return Ok((seeds_in_local(&params, def)?, params, painted));
    }
    let (from, to) = (there.octree().grid, def.octree().grid);
    let point = there.shape.local_from_shape(def.shape.shape_from_local(impact.point));
    let Cells { pattern, kept } = cells(Impact { point, ..impact }, &params, painted, (there, true))?;
    let place = |seed: [f64; 3]| to.from_mesh(from.origin + from.h * DVec3::from_array(seed));
    let seeds = pattern.seeds_in_voxels(from.level).into_iter().map(place).collect();
    let params = FractureParams { local: None, keep: kept, seeds_file: None, ..params };
    Ok((Some(SeedSource::Cells(seeds, pattern.objects)), params, None))
}

/// Whether a blow breaks by Voronoi cells of seeds, for which coarse previews and painting work.
pub(super) fn has_cells(params: &FractureParams) -> bool {
    params.method.entry().by_seeds
}

/// The cells of a blow, as it would fall. Seeds from a file apply to an `intact` body only.
///
/// # Errors
/// [`FractureError::Params`] where the parameters give no pattern.
pub(super) fn cells(
    impact: Impact,
    params: &FractureParams,
    painted: Option<&KeptCells>,
    (def, intact): (&BodyDef, bool),
) -> Result<Cells, FractureError> {
    if !has_cells(params) {
        let text = format!("the method {} has no cells to choose or to look into", params.method);
        return Err(FractureError::Params(text));
    }
    let seeds = if intact { seeds_in_local(params, def)? } else { None };
    let strike = Strike { painted, seeds: seeds.as_ref(), ..Strike::new(impact, params) };
    Ok(cells_of(&def.shape, def.octree(), &strike).cells(params)?)
}

/// Transforms a world point to the local space of a body's shape (voxels for an octree).
#[must_use]
pub fn local_from_world(state: &BodyState, shape: &Shape, point: DVec3) -> DVec3 {
    shape.to_local(state.position, state.rotation, point)
}

/// Transforms a point of a body's local space to the world.
#[must_use]
pub fn world_from_local(state: &BodyState, shape: &Shape, point: DVec3) -> DVec3 {
    shape.to_world(state.position, state.rotation, point)
}

/// The renderer's transform from local space to the world.
#[must_use]
pub fn world_from_local_matrix(state: &BodyState, shape: &Shape) -> glam::Mat4 {
    let turn = state.rotation.as_quat();
    let origin = world_from_local(state, shape, DVec3::ZERO).as_vec3();
    glam::Mat4::from_scale_rotation_translation(Vec3::splat(shape.unit_m() as f32), turn, origin)
}

/// The state of a part of a rigid body: same rotation, same angular velocity, the velocity of its centre of mass as a
/// point of the body.
#[must_use]
pub fn part_state(whole: &BodyState, shape: &Shape, part: &Shape) -> BodyState {
    let position = world_from_local(whole, shape, shape.centre_of_part(part));
    let arm = position - whole.position;
    BodyState {
        position,
        rotation: whole.rotation,
        linear_velocity: whole.linear_velocity + whole.angular_velocity.cross(arm),
        angular_velocity: whole.angular_velocity,
    }
}

/// States of the parts of `body` after `blow`, and whether they stay fixed. `reach` in metres. The blow does not move
/// the part that is `kept`; if there is one, the parts that broke off a fixed body are free.
fn part_states(
    body: &Body,
    blow: &Blow,
    reach: f64,
    parts: &[Part],
    kept: Option<usize>,
) -> Vec<(BodyState, bool)> {
    let state_of = |(i, part): (usize, &Part)| {
        let mut state = part_state(&body.state, &body.def.shape, &part.shape);
        if Some(i) != kept {
            state.linear_velocity += push(blow, state.position, body.state.position, reach);
        }
        (state, body.def.fixed && (kept.is_none() || Some(i) == kept))
    };
    parts.iter().enumerate().map(state_of).collect()
}

/// Definitions of the parts of `body` after `blow`, in their order; `first_radius` is the blow's innermost radius as a
/// share of the body's longest side.
pub(super) fn part_bodies(body: &Body, blow: &Blow, first_radius: f64, broken: &Break) -> Vec<BodyDef> {
    let reach = reach(body, first_radius);
    let kept = broken.kept.as_ref().and_then(|kept| kept.part);
    let states = part_states(body, blow, reach, &broken.parts, kept);
    let parts = broken.parts.iter().zip(states);
    parts
        .map(|(part, (state, fixed))| {
            let shape = Arc::clone(&part.shape);
            let mut def = BodyDef { shape, state, fixed, structure: None, ..body.def.clone() };
            // The density may have changed while the fracture was computed.
            if def.shape.density() != body.def.shape.density() {
                def.set_density(body.def.shape.density());
            }
            def
        })
        .collect()
}

/// Momentum of `body` as it was just before the break, against that of the bodies `after`, which the stage has in its place:
/// the parts in their order, or, where bonds hold them, the body itself. What a collision took back
/// (`jobs::collisions`) is in `body` already, and the velocity that the blow gave to each part is subtracted.
///
/// Hidden parts, and small ones that were merged, are within the parts. Dropped parts, dust, parts that cannot move (fixed,
/// anchored, locked), and the voxels that stood in for a mesh that was cut are in no free part: their share is the
/// difference of the moments. A later generation of a blow, and what comes loose when bonds fail, is not compared.
pub(super) fn motion_checks(
    body: &Body,
    after: &[&Body],
    (blow, first_radius): (&Blow, f64),
    broken: &Break,
) -> Vec<Check> {
    let reach = reach(body, first_radius);
    let kept = broken.kept.as_ref().and_then(|kept| kept.part);
    let free = after.iter().enumerate().filter(|(_, piece)| !piece.is_static());
    let pushed = |(i, piece): (usize, &&Body)| {
        let still = Some(i) == kept;
        let push =
            if still { DVec3::ZERO } else { push(blow, piece.state.position, body.state.position, reach) };
        (Moving::of(piece), push)
    };
    let pieces: Vec<(Moving, DVec3)> = free.map(pushed).collect();
    let is_lost = broken.lost.dust_m3 != 0.0 || !broken.lost.dropped.is_empty();
    let all_there = pieces.len() == after.len() && !is_lost && broken.before_m3.is_none();
    checks::momentum(&Moving::of(body), &pieces, all_there).into()
}

/// How far from its point a blow pushes parts, m; `first_radius` as in [`part_bodies`].
fn reach(body: &Body, first_radius: f64) -> f64 {
    body.def.shape.longest_side_m() * (2.0 * first_radius).clamp(0.05, 0.6)
}

/// Innermost radius of a blow, as a share of the body's longest side.
pub(super) fn first_radius(params: &FractureParams) -> f64 {
    params.radii.first().copied().unwrap_or(0.1)
}

/// Velocity that the blow adds to a piece at `position` of a body with centre `centre`: along the blow near the point,
/// fading over `reach` metres; farther away partly outwards, without which a shell's pieces would lock like an arch.
#[must_use]
pub fn push(blow: &Blow, position: DVec3, centre: DVec3, reach: f64) -> DVec3 {
    let distance = position.distance(blow.point) / reach.max(1e-9);
    let near = libm::exp(-distance * distance);
    let far = (1.0 - near) * libm::exp(-distance * distance / 9.0);
    let outward = (position - centre).normalize_or_zero();
    (blow.direction * near + outward * (BURST * far)) * blow.speed
}

/// Share of the blow's speed that points outwards.
const BURST: f64 = 0.4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        shape::{GridMass, Look, Octree},
        svo::{Forest, Grid},
    };
    use glam::{DMat3, DQuat};

    /// A solid box of voxels at density 1.
    fn solid(low: DVec3, high: DVec3) -> GridMass {
        let s = high - low;
        let volume = s.x * s.y * s.z;
        let i = |a: f64, b: f64| volume / 12.0 * (a * a + b * b);
        GridMass {
            volume,
            centre: (low + high) / 2.0,
            inertia: DMat3::from_diagonal(DVec3::new(i(s.y, s.z), i(s.x, s.z), i(s.x, s.y))),
            bounds: crate::geometry::Aabb::new(low, high),
            thickness: s.min_element(),
            voxels: volume as u64,
        }
    }

    fn shape(mass: GridMass, grid: Grid) -> Shape {
        let octree = Octree { forest: Arc::new(Forest::default()), tree: 0, grid, mass };
        Shape::octree(octree, 1.0, Look::default())
    }

    /// Momentum, angular momentum about the origin, kinetic energy; metres, density 1.
    fn totals(state: &BodyState, mass: &GridMass, h: f64) -> (DVec3, DVec3, f64) {
        let m = mass.volume * h.powi(3);
        let turn = DMat3::from_quat(state.rotation);
        let inertia = turn * (mass.inertia * h.powi(5)) * turn.transpose();
        let spin = inertia * state.angular_velocity;
        (
            state.linear_velocity * m,
            state.position.cross(state.linear_velocity * m) + spin,
            0.5 * m * state.linear_velocity.length_squared() + 0.5 * state.angular_velocity.dot(spin),
        )
    }

    #[test]
    fn splitting_conserves_momentum_spin_and_energy() {
        let grid = Grid { level: 6, origin: DVec3::new(0.3, -1.0, 2.0), h: 0.017 };
        let whole = solid(DVec3::new(3.0, 4.0, 5.0), DVec3::new(33.0, 44.0, 25.0));
        let parts = [
            solid(DVec3::new(3.0, 4.0, 5.0), DVec3::new(13.0, 44.0, 25.0)),
            solid(DVec3::new(13.0, 4.0, 5.0), DVec3::new(33.0, 14.0, 25.0)),
            solid(DVec3::new(13.0, 14.0, 5.0), DVec3::new(33.0, 44.0, 25.0)),
        ];
        let state = BodyState {
            position: DVec3::new(1.0, 2.0, -0.5),
            rotation: DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.1, 2.0),
            linear_velocity: DVec3::new(0.7, -2.0, 0.1),
            angular_velocity: DVec3::new(3.0, -5.0, 8.0),
        };
        let before = totals(&state, &whole, grid.h);
        let mut after = (DVec3::ZERO, DVec3::ZERO, 0.0);
        for part in &parts {
            let (p, l, e) =
                totals(&part_state(&state, &shape(whole, grid), &shape(*part, grid)), part, grid.h);
            after = (after.0 + p, after.1 + l, after.2 + e);
        }
        assert!(before.0.distance(after.0) <= 1e-9 * before.0.length(), "{before:?} {after:?}");
        assert!(before.1.distance(after.1) <= 1e-9 * before.1.length(), "{before:?} {after:?}");
        assert!((before.2 - after.2).abs() <= 1e-9 * before.2, "{before:?} {after:?}");
    }

    #[test]
    fn grid_and_world_are_inverse() {
        let mass = solid(DVec3::ONE, DVec3::splat(9.0));
        let state = BodyState {
            position: DVec3::new(4.0, 5.0, 6.0),
            rotation: DQuat::from_rotation_y(0.7),
            linear_velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
        };
        let point = DVec3::new(2.0, 7.0, 3.0);
        let shape = shape(mass, Grid { level: 4, origin: DVec3::ONE, h: 0.1 });
        let world = world_from_local(&state, &shape, point);
        assert!(local_from_world(&state, &shape, world).distance(point) < 1e-9);
        let drawn = world_from_local_matrix(&state, &shape).transform_point3(point.as_vec3());
        assert!(drawn.as_dvec3().distance(world) < 1e-5);
    }

    #[test]
    fn the_push_fades_and_no_blow_pushes_nothing() {
        let blow = Blow { point: DVec3::ZERO, direction: DVec3::X, speed: 2.0 };
        let centre = DVec3::new(1.0, 0.0, 0.0);
        assert_eq!(push(&blow, DVec3::ZERO, centre, 0.5), DVec3::new(2.0, 0.0, 0.0));
        assert!(push(&blow, DVec3::Y * 3.0, centre, 0.5).length() < 0.02);
        let aside = push(&blow, DVec3::new(1.0, 0.6, 0.0), centre, 0.5);
        assert!(aside.y > 0.1, "a piece beside the point goes outwards: {aside}");
        let none = Blow { speed: 0.0, ..blow };
        assert_eq!(push(&none, DVec3::new(0.1, 0.2, 0.3), centre, 0.5), DVec3::ZERO);
    }
}
