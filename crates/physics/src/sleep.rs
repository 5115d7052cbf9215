//! Sleep: touching bodies fall asleep together; a disturbed body wakes with its neighbours.
//!
//! In: bodies and the manifolds of a step. Out: which bodies sleep. A sleeping body does not move and has no velocity.

use super::{
    Body, BodyId, WorldSettings,
    body::index_of,
    collide::{Manifold, find},
    integrate::angle_between,
    scale::Scale,
};
use crate::geometry::UnionFind;
use glam::DVec3;

// Lengths, times and speeds are those of objects of a metre on the Earth ([`Scale`]); for two bodies, the sleeper's
// size counts.

/// No point of a still body moves farther than this, m, or than this share of its radius; for a crumb, than
/// this share of a voxel. Way is measured and not speed: a piece that trembles on the spot is at rest.
const STILL_WAY: f64 = 0.01;
const STILL_SHARE: f64 = 0.08;
const STILL_VOXELS: f64 = 0.5;
/// How long a body must be still, s.
const STILL_SECS: f64 = 0.5;
/// After this time a body sleeps alone, s: one that will not settle must not keep a whole heap awake.
const ALONE_SECS: f64 = 1.0;
/// A body that overlaps another by more than this, cells, gets more time to come out, s.
const DEEP_CELLS: f64 = 0.3;
const DEEP_SECS: f64 = 0.5;
/// A body in contact that is slower than this for that long sleeps alone, m/s and s: wedged pieces can creep back and
/// forth for ever.
const SLOW_SPEED: f64 = 0.1;
const SLOW_SECS: f64 = 2.0;
/// A woken body that stays slow sleeps again after this time, s.
const AGAIN_SECS: f64 = 0.5;
/// A body leans on another that carries at least this share of its weight.
const LEAN_SHARE: f64 = 0.1;
/// A body that has covered no distance for longer than this trembles, s.
const TREMBLE_SECS: f64 = 0.25;
/// A sleeping body is woken by one that would make it faster than this, m/s.
const WAKE_SPEED: f64 = 0.075;
/// A sleeping body is woken when what it pressed on leaves faster than this, m/s.
const LEAVE_SPEED: f64 = 0.05;
/// A support has left a sleeper if no point of their contact is nearer than this, cells: a step or two after it began
/// to fall, while the points still exist.
const APART_CELLS: f64 = 0.2;
/// A contact supports a sleeper if its normal towards the sleeper is at least this much against gravity.
const UPWARD: f64 = 0.3;

/// Fastest that any point of the body may move.
fn speed(body: &Body) -> f64 {
    body.state.linear_velocity.length() + body.state.angular_velocity.length() * body.def.radius()
}

/// Whether the body moves away faster than `least` m/s. A body that trembles between its neighbours has covered no
/// distance for a while, whatever its speed, and must not keep them awake.
fn travels(body: &Body, least: f64, gravity: DVec3) -> bool {
    let tremble = TREMBLE_SECS * Scale::of(&body.def, gravity).time;
    !body.asleep && body.still_secs < tremble && speed(body) > least
}

/// Two bodies that pressed on each other, and how hard in a round, N s; or one of which falls away from beneath the
/// other, which sleeps.
#[derive(Clone, Copy, Debug)]
pub struct Pressed {
    first: BodyId,
    second: BodyId,
    impulse: f64,
    drops: bool,
}

impl Pressed {
    /// Support of a manifold of the last search. `None` if it carried nothing and does not fall away, or is of the
    /// floor.
    #[must_use]
    pub fn new(manifold: &Manifold, bodies: &[Body], settings: &WorldSettings) -> Option<Self> {
        let impulse: f64 = manifold.points.iter().map(|p| p.total_impulse).sum();
        let (first, second) = (manifold.first, manifold.second?);
        // A support whose contacts are searched within a fraction of a cell loses them a step after it began to fall,
        // and has no impulse by then.
        let drops = || {
            let [a, b] = [first, second].map(|id| index_of(bodies, id).map(|k| &bodies[k]));
            let (a, b) = (a?, b?);
            let (sleeper, mover, way) = if a.asleep { (a, b, 1.0) } else { (b, a, -1.0) };
            let least = LEAVE_SPEED * Scale::of(&sleeper.def, settings.gravity).speed;
            let is_one = a.asleep != b.asleep && !manifold.points.is_empty();
            Some(is_one && drops(mover, manifold, way, least, settings))
        };
        let drops = impulse <= 0.0 && drops() == Some(true);
        (impulse > 0.0 || drops).then_some(Self { first, second, impulse, drops })
    }
}

/// Wakes bodies that are hit by a moving body, or have lost their support, and the bodies that lean on those.
/// `manifolds` are sorted; `pressed` are the impulses before. Not the whole heap: a body that does not move sleeps
/// again soon, and a shock dies out where it moves nothing.
pub fn wake_touched(
    bodies: &mut [Body],
    manifolds: &[Manifold],
    pressed: &[Pressed],
    settings: &WorldSettings,
) {
    if !bodies.iter().any(|body| body.asleep) {
        return;
    }
    let mut woken = vec![false; bodies.len()];
    let fall = settings.gravity.length() * settings.dt;
    let leans = |body: &Body, p: &Pressed| p.impulse > LEAN_SHARE * body.def.mass_kg() * fall;
    let scale = |body: &Body| Scale::of(&body.def, settings.gravity);
    let both = |bodies: &[Body], p: &Pressed| Some((index_of(bodies, p.first)?, index_of(bodies, p.second)?));
    for p in pressed {
        let Some((a, b)) = both(&*bodies, p) else { continue };
        if bodies[a].asleep == bodies[b].asleep {
            continue;
        }
        let (sleeper, mover) = if bodies[a].asleep { (a, b) } else { (b, a) };
        let parted =
            || find(manifolds, p.first, Some(p.second)).is_none_or(|k| manifolds[k].points.is_empty());
        let least = LEAVE_SPEED * scale(&bodies[sleeper]).speed;
        let leaves = travels(&bodies[mover], least, settings.gravity) && leans(&bodies[sleeper], p);
        woken[sleeper] |= (leaves || p.drops) && parted();
    }
    for m in manifolds.iter().filter(|m| !m.points.is_empty()) {
        let (Some(a), Some(b)) = (index_of(bodies, m.first), m.second.and_then(|id| index_of(bodies, id)))
        else {
            continue;
        };
        for (sleeper, mover) in [(a, b), (b, a)] {
            let (sleeper_kg, mover_kg) = (bodies[sleeper].def.mass_kg(), bodies[mover].def.mass_kg());
            // A crumb does not move a slab.
            let unit = scale(&bodies[sleeper]).speed;
            let least = WAKE_SPEED * unit * (1.0 + sleeper_kg / mover_kg);
            woken[sleeper] |= bodies[sleeper].asleep && travels(&bodies[mover], least, settings.gravity);
            let way = if sleeper == a { 1.0 } else { -1.0 };
            woken[sleeper] |= bodies[sleeper].asleep
                && drops(&bodies[mover], m, way, LEAVE_SPEED * unit, settings)
                && cells_apart(m) > APART_CELLS;
        }
    }
    let mut all = woken.clone();
    for p in pressed {
        if let Some((a, b)) = both(&*bodies, p) {
            all[a] |= woken[b] && leans(&bodies[a], p);
            all[b] |= woken[a] && leans(&bodies[b], p);
        }
    }
    for (body, _) in bodies.iter_mut().zip(all).filter(|(b, woken)| b.asleep && *woken) {
        body.wake();
        // Until it has covered a distance it only trembles, and wakes no other body; and if it stays slow it soon
        // sleeps again.
        let unit = Scale::of(&body.def, settings.gravity).time;
        body.still_secs = TREMBLE_SECS * unit;
        body.slow_secs = (SLOW_SECS - AGAIN_SECS) * unit;
    }
}

/// Whether `mover` falls away from beneath a sleeper, faster than `least` m/s; the sleeper is the first body of `m`
/// where `way` is 1, else the second.
fn drops(mover: &Body, m: &Manifold, way: f64, least: f64, settings: &WorldSettings) -> bool {
    let up = -settings.gravity.normalize_or_zero();
    !mover.asleep
        && m.points.iter().all(|p| {
            let to_sleeper = p.normal * way;
            let arm = p.position - mover.state.position;
            let speed = mover.state.linear_velocity + mover.state.angular_velocity.cross(arm);
            to_sleeper.dot(up) > UPWARD && speed.dot(to_sleeper) < -least
        })
}

/// Distance of two bodies at their nearest points, cells of the coarser.
fn cells_apart(m: &Manifold) -> f64 {
    m.points.iter().map(|p| p.separation).fold(f64::MAX, f64::min) / m.resolution_m
}

/// Puts islands to sleep all of whose bodies have been still for long enough.
pub fn fall_asleep(bodies: &mut [Body], manifolds: &[Manifold], settings: &WorldSettings) {
    let dt = settings.dt;
    let scales: Vec<Scale> = bodies.iter().map(|body| Scale::of(&body.def, settings.gravity)).collect();
    for (body, scale) in bodies.iter_mut().zip(&scales).filter(|(b, _)| b.moves()) {
        let (position, rotation) = body.rest_pose;
        let radius = body.def.radius();
        let turned = angle_between(body.state.rotation, rotation);
        let way = (body.state.position - position).length() + turned * radius;
        let crumb = if body.def.is_crumb() { STILL_VOXELS * body.def.grain_m() } else { 0.0 };
        if way < (STILL_WAY * scale.length).min((STILL_SHARE * radius).max(crumb)) {
            body.still_secs += dt;
        } else {
            body.still_secs = 0.0;
            body.rest_pose = (body.state.position, body.state.rotation);
        }
    }
    let mut touches = vec![false; bodies.len()];
    for m in manifolds.iter().filter(|m| m.presses()) {
        for i in [Some(m.first), m.second].into_iter().flatten().filter_map(|id| index_of(bodies, id)) {
            touches[i] = true;
        }
    }
    let touching = bodies.iter_mut().zip(touches).zip(&scales);
    for ((body, touches), scale) in touching.filter(|((b, _), _)| b.moves()) {
        let slow = touches && speed(body) < SLOW_SPEED * scale.speed;
        // A start now and then does not count.
        let change = if slow { dt } else { -4.0 * dt };
        body.slow_secs = (body.slow_secs + change).max(0.0);
    }
    let awake = Body::moves;
    let still = |bodies: &[Body], i: usize| bodies[i].still_secs / scales[i].time;
    let mut islands = UnionFind::new(bodies.len());
    for m in manifolds.iter().filter(|m| !m.points.is_empty()) {
        let Some(second) = m.second else { continue };
        if let (Some(a), Some(b)) = (index_of(bodies, m.first), index_of(bodies, second))
            && awake(&bodies[a])
            && awake(&bodies[b])
            && (still(bodies, a) < ALONE_SECS || still(bodies, b) < ALONE_SECS)
        {
            islands.join(a as u32, b as u32);
        }
    }
    let mut more = vec![0.0; bodies.len()];
    for m in manifolds {
        let deepest = m.points.iter().map(|p| -p.separation).fold(0.0, f64::max);
        for i in [Some(m.first), m.second].into_iter().flatten().filter_map(|id| index_of(bodies, id)) {
            if deepest > DEEP_CELLS * bodies[i].def.resolution_m() {
                more[i] = DEEP_SECS;
            }
        }
    }
    let mut ready = vec![true; bodies.len()];
    for i in 0..bodies.len() {
        if awake(&bodies[i]) && still(bodies, i) < STILL_SECS + more[i] {
            ready[islands.find(i as u32) as usize] = false;
        }
    }
    for (i, body) in bodies.iter_mut().enumerate() {
        let island = islands.find(i as u32) as usize;
        let unit = scales[i].time;
        let alone = body.still_secs >= (ALONE_SECS + more[i]) * unit || body.slow_secs >= SLOW_SECS * unit;
        if awake(body) && (ready[island] || alone) {
            body.asleep = true;
            (body.state.linear_velocity, body.state.angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
        }
    }
}
