//! The common part of all responses that solve contacts one by one: the solver's bodies and points of a heap, in parts
//! that several threads may solve at once, and a pass over all of them.
//!
//! In: bodies and manifolds at the start of a step. Out: bodies at its end, and the impulses in the manifolds. The work
//! in between belongs to the response.

mod batch;
mod group;
mod helpers;
mod mover;
mod parts;
mod quiet;
mod rolling;
mod row;

use crate::{Body, WorldSettings, body::index_of, collide::Manifold, integrate, scale::Scale};
use batch::LANES;
pub(super) use batch::{Batch, Sweep};
use glam::DVec3;
#[cfg(test)]
pub use group::STAY;
pub(super) use group::{Group, Pass};
use helpers::with_helpers;
pub(super) use mover::{Movers, Share};
pub(super) use parts::Part;
use parts::{Touch, batches, divide};
use quiet::is_quiet;
#[cfg(test)]
pub(super) use quiet::stays_apart;
use rayon::prelude::*;
use rolling::Roll;
pub(super) use row::{Parting, Soft};
use row::{Row, Surface};
use std::sync::{Mutex, PoisonError};

/// Shorter lists of manifolds are not worth a second thread.
const FEW: usize = 256;

/// Fewer batches of groups are not worth a second thread.
const FEW_BATCHES: usize = 96;

/// Rows of the last step, for reuse: new memory would cost as much as filling them.
static SPARE: Mutex<Vec<Row>> = Mutex::new(Vec::new());

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
    part: &Part,
    batches: &mut [Batch<'_, '_>],
    share: &mut Share<'_>,
    work: &(impl Fn(&mut Batch<'_, '_>, &mut Share<'_>) -> f64 + Sync),
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
    part: &Part,
    batches: &mut [Batch<'_, '_>],
    share: &mut Share<'_>,
    work: &(impl Fn(&mut Group<'_>, &mut Share<'_>) -> f64 + Sync),
) -> f64 {
    sweep(part, batches, share, &|batch, share| {
        batch.groups.iter_mut().fold(0.0, |most, group| f64::max(most, work(group, share)))
    })
}

/// Calls `work` for all groups that are not deactivated.
pub(super) fn each(
    part: &Part,
    batches: &mut [Batch<'_, '_>],
    share: &mut Share<'_>,
    work: impl Fn(&mut Group<'_>, &mut Share<'_>) + Sync,
) {
    sweep(part, batches, share, &|batch, share| {
        batch.each(|group| work(group, share));
        0.0
    });
}

/// Like [`each`], on all cores if that pays, for work that does not touch bodies.
pub(super) fn for_groups(batches: &mut [Batch<'_, '_>], work: impl Fn(&mut Group<'_>) + Send + Sync) {
    for_many(batches, FEW_BATCHES, |batch| batch.each(&work));
}

/// Calls `work` for every group, after which others may be deactivated.
pub(super) fn look(batches: &mut [Batch<'_, '_>], work: impl Fn(&mut Group<'_>) + Send + Sync) {
    for_many(batches, FEW_BATCHES, |batch| batch.look(&work));
}

/// Iterates over all contacts, at most `rounds` times, until none changes a speed by `settled` (m/s for objects of a
/// metre).
pub(super) fn rounds(
    whole: &Part,
    batches: &mut [Batch<'_, '_>],
    movers: &mut Movers,
    about: Sweep,
    (rounds, settled): (u32, f64),
) {
    movers.motions.iter_mut().for_each(|motion| motion.stir = [0.0; 2]);
    let all = &mut movers.share();
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

/// Moves the bodies of a heap through a step: `solve` gets its parts, its contacts and its bodies. `springs` are those
/// of contacts between objects of a size.
pub(super) fn solved(
    bodies: &mut [Body],
    manifolds: &mut [Manifold],
    settings: &WorldSettings,
    springs: impl Fn(Scale, f64) -> Soft + Send + Sync,
    solve: impl FnOnce(&Part, &mut [Batch<'_, '_>], &mut Movers) + Send,
) {
    let h = substep_secs(settings);
    let mut all = touches(bodies, manifolds);
    let mut quiet = Vec::new();
    if is_quiet(bodies, manifolds, &all, settings, h) {
        std::mem::swap(&mut quiet, &mut all);
    }
    let (mut whole, moving, mut touches) = parts(bodies, all);
    let sizes = batches(&mut whole, &mut touches, LANES);
    let (fixed, points) = (&*bodies, &*manifolds);
    let prepare = || {
        let movers = Movers::new(fixed, &moving, settings.gravity, h);
        let rows = rows(fixed, points, &touches, &movers);
        (movers, rows)
    };
    let mut solved = None;
    with_helpers(whole.leaves() - 1, prepare, |(mut movers, mut rows)| {
        let mut groups = groups(&mut rows, fixed, points, &movers, |scale| springs(scale, h));
        let mut rest = &mut groups[..];
        let batch = |size: &usize| {
            let (own, later) = std::mem::take(&mut rest).split_at_mut(*size);
            rest = later;
            Batch::new(own)
        };
        let mut batches: Vec<Batch<'_, '_>> = sizes.iter().map(batch).collect();
        solve(&whole, &mut batches, &mut movers);
        drop(batches);
        let impulses: Vec<_> = groups.iter().map(|group| (group.manifold, group.roll.impulse)).collect();
        solved = Some((movers, rows, impulses));
    });
    let Some((movers, rows, impulses)) = solved else { return };
    for (m, impulse) in impulses {
        manifolds[m].rolling_impulse = impulse;
    }
    for touch in quiet {
        for p in &mut manifolds[touch.manifold].points {
            (p.total_impulse, p.slid) = (0.0, true);
        }
    }
    for row in &rows {
        let p = &mut manifolds[row.manifold as usize].points[row.point as usize];
        p.normal_impulse = row.normal_impulse;
        p.friction_impulse = row.friction_impulse;
        p.total_impulse = row.total_impulse;
        p.slid = row.slid || row.total_impulse == 0.0;
    }
    for (k, state) in movers.states() {
        bodies[k].state = state;
        integrate::velocity(&mut bodies[k].state, DVec3::ZERO, h);
    }
    if rows.len() <= MOST_SPARE {
        *SPARE.lock().unwrap_or_else(PoisonError::into_inner) = rows;
    }
}

/// One for each manifold that has rows.
fn groups<'a>(
    mut rest: &'a mut [Row],
    bodies: &[Body],
    manifolds: &[Manifold],
    movers: &Movers,
    springs: impl Fn(Scale) -> Soft,
) -> Vec<Group<'a>> {
    let body = |mover: usize| bodies.get(movers.frames[mover].body);
    // The floor has no end.
    let half = |mover| body(mover).map_or(f64::MAX, |body: &Body| body.def.thickness() * 0.5);
    let half: Vec<f64> = (0..movers.frames.len()).map(half).collect();
    // Half the thickness of the thinner body, at most a cell of the pair: for the rounding of voxels; it must not
    // support leaning bodies.
    let arm = |pair: [usize; 2], cell: f64| {
        let [a, b] = pair.map(|k| body(k).map(|body| body.def.rolling_resistance.max(0.0)));
        let share = (a.or(b).unwrap_or(0.0) * b.or(a).unwrap_or(0.0)).sqrt();
        (share * half[pair[0]].min(half[pair[1]])).min(cell)
    };
    let mut groups = Vec::new();
    while let Some(first) = rest.first() {
        let (pair, m) = (first.pair(), first.manifold as usize);
        let (rows, later) = rest.split_at_mut(manifolds[m].points.len());
        rest = later;
        let roll = Roll::new(pair, arm(pair, manifolds[m].resolution_m), manifolds[m].rolling_impulse);
        let scale = movers.frames[pair[0]].scale.smaller(movers.frames[pair[1]].scale);
        groups.push(Group::new(m, rows, roll, scale, springs(scale)));
    }
    groups
}

/// Indices of a manifold's bodies; `bodies.len()` is the floor. `None` if one does not exist.
fn pair(bodies: &[Body], manifold: &Manifold) -> Option<[usize; 2]> {
    let find = |id| index_of(bodies, id);
    Some([find(manifold.first)?, manifold.second.map_or(Some(bodies.len()), find)?])
}

/// The manifolds with points of which one body can move.
fn touches(bodies: &[Body], manifolds: &[Manifold]) -> Vec<Touch> {
    let moves: Vec<bool> = bodies.iter().map(Body::moves).collect();
    let moves = |k: usize| moves.get(k).copied().unwrap_or(false);
    let touch = |(m, manifold): (usize, &Manifold)| {
        let [a, b] = pair(bodies, manifold)?;
        let (a_or_b, b_or_a) = (if moves(a) { a } else { b }, if moves(b) { b } else { a });
        let points = manifold.points.len();
        let counts = moves(a_or_b) && points > 0;
        counts.then_some(Touch { manifold: m, bodies: [a_or_b, b_or_a], points })
    };
    manifolds.par_iter().enumerate().with_min_len(FEW).filter_map(touch).collect()
}

/// The heap in parts: what moves, and what touches.
fn parts(bodies: &[Body], touches: Vec<Touch>) -> (Part, Vec<usize>, Vec<Touch>) {
    let positions: Vec<DVec3> = bodies.iter().map(|body| body.state.position).collect();
    divide(&positions, (0..bodies.len()).filter(|&k| bodies[k].moves()).collect(), touches)
}

/// In how many parts that are not halved a heap is solved.
#[cfg(test)]
pub fn parts_of(bodies: &[Body], manifolds: &[Manifold]) -> usize {
    parts(bodies, touches(bodies, manifolds)).0.leaves()
}

/// One for each point of the manifolds that `touches` names, in that order.
fn rows(bodies: &[Body], manifolds: &[Manifold], touches: &[Touch], movers: &Movers) -> Vec<Row> {
    let mut rows = std::mem::take(&mut *SPARE.lock().unwrap_or_else(PoisonError::into_inner));
    rows.resize(touches.iter().map(|touch| touch.points).sum(), Row::BLANK);
    let mut rest = &mut rows[..];
    let split = |touch: &Touch| {
        let (own, later) = std::mem::take(&mut rest).split_at_mut(touch.points);
        rest = later;
        (touch.manifold, own)
    };
    let mut slices: Vec<(usize, &mut [Row])> = touches.iter().map(split).collect();
    for_all(&mut slices, |(m, rows)| {
        let manifold = &manifolds[*m];
        // A body that does not exist has no touches.
        let Some([a, b]) = pair(bodies, manifold) else { return };
        let (sa, sb) = (&bodies[a].def, &bodies.get(b).unwrap_or(&bodies[a]).def);
        let surface = Surface {
            friction: (sa.friction * sb.friction).max(0.0).sqrt(),
            restitution: sa.restitution.max(sb.restitution).clamp(0.0, 1.0),
            size: sa.radius().min(sb.radius()),
        };
        let places = [a, b].map(|k| movers.place(k));
        for (i, (row, p)) in rows.iter_mut().zip(&manifold.points).enumerate() {
            *row = Row::new([*m, i], p, places, movers, surface);
        }
    });
    rows
}
