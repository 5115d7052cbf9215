//! The common part of all responses that solve contacts one by one: the solver's bodies and points of a heap, in parts
//! that several threads may solve at once, and a pass over all of them.
//!
//! In: bodies and manifolds at the start of a step. Out: bodies at its end, and the impulses in the manifolds. The work
//! in between belongs to the response.

mod ballistic;
mod batch;
mod contact_constraint;
mod island_split;
mod lanes;
mod manifold_constraint;
mod rolling_constraint;
mod solver_bodies;
mod spin_pool;

use crate::{
    Body, WorldSettings, body::index_of, collide::Manifold, context::SubstepImpulses, integrate, scale::Scale,
};
use ballistic::is_ballistic;
#[cfg(test)]
pub(super) use ballistic::stays_apart;
pub(super) use batch::Batch;
use contact_constraint::ContactConstraint;
pub(super) use contact_constraint::{Parting, Soft, Surface, WARM_SPEED, WEIGHT};
use glam::DVec3;
use island_split::divide;
pub(super) use island_split::{ContactEdge, IslandSplit, batches};
use lanes::LANES;
#[cfg(test)]
pub use manifold_constraint::STAY;
pub(super) use manifold_constraint::{ManifoldConstraint, Pass, Sweep};
use rayon::prelude::*;
use rolling_constraint::RollingConstraint;
pub(super) use solver_bodies::{BodiesMut, Carried, Frame, Motion, SolverBodies};
pub(super) use spin_pool::with_helpers;
use std::sync::{Mutex, PoisonError};

/// Shorter lists of manifolds are not worth a second thread.
const FEW: usize = 256;

/// Fewer batches of groups are not worth a second thread.
const FEW_BATCHES: usize = 96;

/// Rows of the last step, for reuse: new memory would cost as much as filling them.
static SPARE: Mutex<Vec<ContactConstraint>> = Mutex::new(Vec::new());

/// Larger row lists are not reused.
const MOST_SPARE: usize = 1 << 17;

/// Calls `work` for every item, on all cores if that pays.
fn for_all<T: Send>(items: &mut [T], work: impl Fn(&mut T) + Send + Sync) {
    for_many(items, FEW, work);
}

fn for_many<T: Send>(items: &mut [T], few: usize, work: impl Fn(&mut T) + Send + Sync) {
    if items.len() < few {
        items.iter_mut().for_each(work);
    } else {
        items.par_iter_mut().with_min_len(few / 4).for_each(work);
    }
}

/// Calls `work` for every batch of a part, in parallel for its halves. Returns the largest result.
fn sweep(
    part: &IslandSplit,
    batches: &mut [Batch<'_, '_>],
    share: &mut BodiesMut<'_>,
    work: &(impl Fn(&mut Batch<'_, '_>, &mut BodiesMut<'_>) -> f64 + Sync),
) -> f64 {
    let (mut most, mut own) = (0.0, batches);
    if let Some(halves) = &part.halves {
        let [low, high] = &**halves;
        let [mut below, mut above] = share.split(low.bodies.len());
        let (first, rest) = own.split_at_mut(low.batches.len());
        let (second, across) = rest.split_at_mut(high.batches.len());
        let (a, b) =
            rayon::join(|| sweep(low, first, &mut below, work), || sweep(high, second, &mut above, work));
        (most, own) = (f64::max(a, b), across);
    }
    own.iter_mut().fold(most, |most, batch| f64::max(most, work(batch, share)))
}

/// Calls `work` for the groups of every batch of a part. Returns the largest result.
pub(super) fn sweep_groups(
    part: &IslandSplit,
    batches: &mut [Batch<'_, '_>],
    share: &mut BodiesMut<'_>,
    work: &(impl Fn(&mut ManifoldConstraint<'_>, &mut BodiesMut<'_>) -> f64 + Sync),
) -> f64 {
    sweep(part, batches, share, &|batch, share| {
        batch.groups.iter_mut().fold(0.0, |most, group| f64::max(most, work(group, share)))
    })
}

/// Calls `work` for all groups that are not deactivated.
pub(super) fn each(
    part: &IslandSplit,
    batches: &mut [Batch<'_, '_>],
    share: &mut BodiesMut<'_>,
    work: impl Fn(&mut ManifoldConstraint<'_>, &mut BodiesMut<'_>) + Sync,
) {
    sweep(part, batches, share, &|batch, share| {
        batch.each(|group| work(group, share));
        0.0
    });
}

/// Like [`each`], on all cores if that pays, for work that does not touch bodies.
pub(super) fn for_groups(
    batches: &mut [Batch<'_, '_>],
    work: impl Fn(&mut ManifoldConstraint<'_>) + Send + Sync,
) {
    for_many(batches, FEW_BATCHES, |batch| batch.each(&work));
}

/// Notes the impulses of all contacts in a substep, where there is a record of them.
pub(super) fn note(batches: &[Batch<'_, '_>], substep: u32, record: Option<&mut SubstepImpulses>) {
    let Some(record) = record else { return };
    record.open(substep);
    let groups = batches.iter().flat_map(|batch| &*batch.groups);
    for row in groups.flat_map(|group| group.rows.iter()) {
        record.note(substep, [row.manifold, row.point], (row.normal_impulse, row.friction_impulse));
    }
}

/// Calls `work` for every group, after which others may be deactivated.
pub(super) fn look(batches: &mut [Batch<'_, '_>], work: impl Fn(&mut ManifoldConstraint<'_>) + Send + Sync) {
    for_many(batches, FEW_BATCHES, |batch| batch.look(&work));
}

/// Iterates over all contacts, at most `rounds` times, until none changes a speed by `settled` (m/s for objects of a
/// metre).
pub(super) fn rounds(
    whole: &IslandSplit,
    batches: &mut [Batch<'_, '_>],
    solver_bodies: &mut SolverBodies,
    about: Sweep,
    (rounds, settled): (u32, f64),
) {
    solver_bodies.motions.iter_mut().for_each(|motion| motion.total_change = [0.0; 2]);
    let all = &mut solver_bodies.share();
    for round in 0..rounds {
        let pressed = sweep(whole, batches, all, &|batch, share| batch.press(share, about, round));
        // Rolling and friction come once all normal impulses of a round are known, which would undo them.
        let dragged = sweep(whole, batches, all, &|batch, share| batch.drag(share, about, round));
        if pressed.max(dragged) < settled {
            break;
        }
    }
    for_many(batches, FEW_BATCHES, Batch::end);
}

/// The length of a substep, s.
pub(super) fn substep_secs(settings: &WorldSettings) -> f64 {
    settings.dt / f64::from(settings.substeps.clamp(1, 64))
}

/// The contacts of a heap, or none if none of them can press in the step.
pub(super) fn pressing(
    bodies: &[Body],
    manifolds: &mut [Manifold],
    settings: &WorldSettings,
) -> Vec<ContactEdge> {
    let h = substep_secs(settings);
    let all = edges(bodies, manifolds);
    if !is_ballistic(bodies, manifolds, &all, settings, h) {
        return all;
    }
    for edge in all {
        for p in &mut manifolds[edge.manifold].points {
            (p.total_impulse, p.total_friction, p.slid) = (0.0, DVec3::ZERO, true);
        }
    }
    Vec::new()
}

/// Moves the bodies of a heap through a step: `solve` gets its parts, its contacts and its bodies. `springs` are those
/// of contacts between objects of a size.
pub(super) fn solved(
    (bodies, manifolds, all): (&mut [Body], &mut [Manifold], Vec<ContactEdge>),
    settings: &WorldSettings,
    springs: impl Fn(Scale, f64) -> Soft + Send + Sync,
    solve: impl FnOnce(&IslandSplit, &mut [Batch<'_, '_>], &mut SolverBodies) + Send,
) {
    let h = substep_secs(settings);
    let (mut whole, moving, mut edges) = parts(bodies, all);
    let sizes = batches(&mut whole, &mut edges, LANES);
    let (fixed, points) = (&*bodies, &*manifolds);
    let prepare = || {
        let solver_bodies = SolverBodies::new(fixed, &moving, settings.gravity, h);
        let rows = rows(fixed, points, &edges, &solver_bodies);
        (solver_bodies, rows)
    };
    let mut solved = None;
    with_helpers(whole.leaves() - 1, prepare, |(mut solver_bodies, mut rows)| {
        let mut groups = groups(&mut rows, fixed, points, &solver_bodies, |scale| springs(scale, h));
        let mut rest = &mut groups[..];
        let batch = |size: &usize| {
            let (own, later) = std::mem::take(&mut rest).split_at_mut(*size);
            rest = later;
            Batch::new(own)
        };
        let mut batches: Vec<Batch<'_, '_>> = sizes.iter().map(batch).collect();
        solve(&whole, &mut batches, &mut solver_bodies);
        drop(batches);
        let impulses: Vec<_> = groups.iter().map(|group| (group.manifold, group.roll.impulse)).collect();
        solved = Some((solver_bodies, rows, impulses));
    });
    let Some((solver_bodies, rows, impulses)) = solved else { return };
    for (m, impulse) in impulses {
        manifolds[m].rolling_impulse = impulse;
    }
    for row in &rows {
        let p = &mut manifolds[row.manifold as usize].points[row.point as usize];
        p.normal_impulse = row.normal_impulse;
        p.friction_impulse = row.friction_impulse;
        p.total_impulse = row.total_impulse;
        p.total_friction = row.total_friction;
        p.slid = row.slid || row.total_impulse == 0.0;
    }
    for (k, state) in solver_bodies.states() {
        bodies[k].state = state;
        integrate::velocity(&mut bodies[k].state, DVec3::ZERO, h);
    }
    if rows.len() <= MOST_SPARE {
        *SPARE.lock().unwrap_or_else(PoisonError::into_inner) = rows;
    }
}

/// One for each manifold that has rows.
fn groups<'a>(
    mut rest: &'a mut [ContactConstraint],
    bodies: &[Body],
    manifolds: &[Manifold],
    solver_bodies: &SolverBodies,
    springs: impl Fn(Scale) -> Soft,
) -> Vec<ManifoldConstraint<'a>> {
    let arms = RollingArms::new(bodies, solver_bodies);
    let mut groups = Vec::new();
    while let Some(first) = rest.first() {
        let (pair, m) = (first.pair(), first.manifold as usize);
        let (rows, later) = rest.split_at_mut(manifolds[m].points.len());
        rest = later;
        let roll = RollingConstraint::new(
            pair,
            arms.between(pair, manifolds[m].resolution_m),
            manifolds[m].rolling_impulse,
        );
        let scale = solver_bodies.frames[pair[0]].scale.smaller(solver_bodies.frames[pair[1]].scale);
        groups.push(ManifoldConstraint::new(m, rows, roll, scale, springs(scale)));
    }
    groups
}

/// The surface of two bodies, of which the first exists.
pub(super) fn surface(bodies: &[Body], [a, b]: [usize; 2]) -> Surface {
    let (a, b) = (&bodies[a].def, &bodies.get(b).unwrap_or(&bodies[a]).def);
    Surface {
        friction: (a.friction * b.friction).max(0.0).sqrt(),
        restitution: a.restitution.max(b.restitution).clamp(0.0, 1.0),
        size: a.radius().min(b.radius()),
    }
}

/// What bodies resist rolling with: by solver body, half the thickness (m), without end of the floor, and the coefficient.
pub(super) struct RollingArms(Vec<(f64, Option<f64>)>);

impl RollingArms {
    pub fn new(bodies: &[Body], solver_bodies: &SolverBodies) -> Self {
        let of = |frame: &Frame| match bodies.get(frame.body) {
            Some(body) => (body.def.thickness() * 0.5, Some(body.def.rolling_resistance.max(0.0))),
            None => (f64::MAX, None),
        };
        Self(solver_bodies.frames.iter().map(of).collect())
    }

    /// Torque between two of them for a newton of load, N m: half the thickness of the thinner one times their
    /// coefficient, at most a `cell` of the pair (m), for the rounding of voxels; it must not support leaning bodies.
    pub fn between(&self, pair: [usize; 2], cell: f64) -> f64 {
        let [(half_a, a), (half_b, b)] = pair.map(|k| self.0[k]);
        let share = (a.or(b).unwrap_or(0.0) * b.or(a).unwrap_or(0.0)).sqrt();
        (share * half_a.min(half_b)).min(cell)
    }
}

/// Indices of a manifold's bodies; `bodies.len()` is the floor. `None` if one does not exist.
pub(super) fn pair(bodies: &[Body], manifold: &Manifold) -> Option<[usize; 2]> {
    let find = |id| index_of(bodies, id);
    Some([find(manifold.first)?, manifold.second.map_or(Some(bodies.len()), find)?])
}

/// The manifolds with points of which one body can move.
fn edges(bodies: &[Body], manifolds: &[Manifold]) -> Vec<ContactEdge> {
    let moves: Vec<bool> = bodies.iter().map(Body::moves).collect();
    let moves = |k: usize| moves.get(k).copied().unwrap_or(false);
    let edge = |(m, manifold): (usize, &Manifold)| {
        let [a, b] = pair(bodies, manifold)?;
        let (a_or_b, b_or_a) = (if moves(a) { a } else { b }, if moves(b) { b } else { a });
        let points = manifold.points.len();
        let counts = moves(a_or_b) && points > 0;
        counts.then_some(ContactEdge { manifold: m, bodies: [a_or_b, b_or_a], points })
    };
    manifolds.par_iter().enumerate().with_min_len(FEW).filter_map(edge).collect()
}

/// The heap in parts: what moves, and what touches.
pub(super) fn parts(bodies: &[Body], edges: Vec<ContactEdge>) -> (IslandSplit, Vec<usize>, Vec<ContactEdge>) {
    let positions: Vec<DVec3> = bodies.iter().map(|body| body.state.position).collect();
    divide(&positions, (0..bodies.len()).filter(|&k| bodies[k].moves()).collect(), edges)
}

/// In how many parts that are not halved a heap is solved.
#[cfg(test)]
pub fn parts_of(bodies: &[Body], manifolds: &[Manifold]) -> usize {
    parts(bodies, edges(bodies, manifolds)).0.leaves()
}

/// One for each point of the manifolds that `edges` names, in that order.
fn rows(
    bodies: &[Body],
    manifolds: &[Manifold],
    edges: &[ContactEdge],
    solver_bodies: &SolverBodies,
) -> Vec<ContactConstraint> {
    let mut rows = std::mem::take(&mut *SPARE.lock().unwrap_or_else(PoisonError::into_inner));
    rows.resize(edges.iter().map(|edge| edge.points).sum(), ContactConstraint::BLANK);
    let mut rest = &mut rows[..];
    let split = |edge: &ContactEdge| {
        let (own, later) = std::mem::take(&mut rest).split_at_mut(edge.points);
        rest = later;
        (edge.manifold, own)
    };
    let mut slices: Vec<(usize, &mut [ContactConstraint])> = edges.iter().map(split).collect();
    for_all(&mut slices, |(m, rows)| {
        let manifold = &manifolds[*m];
        // A body that does not exist has no touches.
        let Some([a, b]) = pair(bodies, manifold) else { return };
        let surface = surface(bodies, [a, b]);
        let places = [a, b].map(|k| solver_bodies.place(k));
        for (i, (row, p)) in rows.iter_mut().zip(&manifold.points).enumerate() {
            *row = ContactConstraint::new([*m, i], p, places, solver_bodies, surface);
        }
    });
    rows
}
