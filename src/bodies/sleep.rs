//! Sleep: bodies that touch fall asleep together and wake together.
//!
//! In: bodies and the manifolds of a step. Out: who sleeps. A sleeping body stands like a rock and has no velocity at all.

use super::{Body, BodyId, collide::Manifold};
use glam::DVec3;

/// No point of a still body moves farther than this, m, or than this share of its radius; for a crumb, than this share of a
/// voxel. Way is measured and not speed: a piece that trembles on the spot is at rest.
const STILL_WAY: f64 = 0.01;
const STILL_SHARE: f64 = 0.06;
const STILL_VOXELS: f64 = 0.5;
/// How long a body must be still, s.
const STILL_SECS: f64 = 0.5;
/// After this time a body sleeps alone, s: one that will not settle must not keep a whole heap awake.
const ALONE_SECS: f64 = 1.0;
/// A body that is deeper in another than this, cells, is given more time to come out, s.
const DEEP_CELLS: f64 = 0.3;
const DEEP_SECS: f64 = 0.5;
/// What touches something and is slower than this for that long sleeps alone, m/s and s: wedged pieces can creep back and forth for ever.
const SLOW_SPEED: f64 = 0.1;
const SLOW_SECS: f64 = 2.0;
/// A body that has been still by way for longer than this trembles, s.
const TREMBLE_SECS: f64 = 0.25;
/// A sleeping body is woken by one that moves faster than this where they touch, m/s.
const WAKE_SPEED: f64 = 0.15;
/// A sleeping body is woken when what it pressed on leaves faster than this, m/s.
const LEAVE_SPEED: f64 = 0.05;

/// Fastest that any point of the body may move.
fn speed(body: &Body) -> f64 {
    body.state.linear_velocity.length() + body.state.angular_velocity.length() * body.def.radius()
}

/// Whether the body gets anywhere faster than `least` m/s. One that trembles between its neighbours has been still for a while by
/// way, whatever its speed, and must not keep them awake.
fn travels(body: &Body, least: f64) -> bool {
    !body.asleep && body.still_secs < TREMBLE_SECS && speed(body) > least
}

fn index(bodies: &[Body], id: BodyId) -> Option<usize> {
    bodies.binary_search_by(|b| b.id.cmp(&id)).ok()
}

/// Wakes whoever is touched by something that moves, or is left by what it touched, with all that sleeps with it.
/// Both lists are sorted.
pub fn wake_touched(bodies: &mut [Body], manifolds: &[Manifold], before: &[Manifold]) {
    let mut groups = Vec::new();
    for m in before {
        let Some(second) = m.second else { continue };
        let (Some(a), Some(b)) = (index(bodies, m.first), index(bodies, second)) else { continue };
        let parted = || manifolds.binary_search_by(|now| now.order().cmp(&m.order())).is_err();
        for (sleeper, mover) in [(a, b), (b, a)] {
            let leaves = travels(&bodies[mover], LEAVE_SPEED);
            if bodies[sleeper].asleep && leaves && m.presses() && parted() {
                groups.push(bodies[sleeper].sleep_group);
            }
        }
    }
    for m in manifolds {
        let Some(second) = m.second else { continue };
        let (Some(a), Some(b)) = (index(bodies, m.first), index(bodies, second)) else { continue };
        for (sleeper, mover) in [(a, b), (b, a)] {
            if bodies[sleeper].asleep && travels(&bodies[mover], WAKE_SPEED) {
                groups.push(bodies[sleeper].sleep_group);
            }
        }
    }
    if !groups.is_empty() {
        bodies.iter_mut().filter(|b| b.asleep && groups.contains(&b.sleep_group)).for_each(Body::wake);
    }
}

/// Puts islands to sleep all of whose bodies have been still for long enough.
pub fn fall_asleep(bodies: &mut [Body], manifolds: &[Manifold], dt: f64, next_group: &mut u32) {
    for body in bodies.iter_mut().filter(|b| !b.is_static() && !b.asleep) {
        let (position, rotation) = body.rest_pose;
        let radius = body.def.radius();
        let turned = body.state.rotation.angle_between(rotation);
        let way = (body.state.position - position).length() + turned * radius;
        let crumb = if body.def.is_crumb() { STILL_VOXELS * body.def.grid.h } else { 0.0 };
        if way < STILL_WAY.min((STILL_SHARE * radius).max(crumb)) {
            body.still_secs += dt;
        } else {
            body.still_secs = 0.0;
            body.rest_pose = (body.state.position, body.state.rotation);
        }
    }
    let mut touches = vec![false; bodies.len()];
    for m in manifolds.iter().filter(|m| m.presses()) {
        for i in [Some(m.first), m.second].into_iter().flatten().filter_map(|id| index(bodies, id)) {
            touches[i] = true;
        }
    }
    for (body, touches) in bodies.iter_mut().zip(touches).filter(|(b, _)| !b.is_static() && !b.asleep) {
        let slow = touches && speed(body) < SLOW_SPEED;
        body.slow_secs = if slow { body.slow_secs + dt } else { 0.0 };
    }
    let awake = |b: &Body| !b.is_static() && !b.asleep;
    let mut parent: Vec<usize> = (0..bodies.len()).collect();
    for m in manifolds {
        let Some(second) = m.second else { continue };
        if let (Some(a), Some(b)) = (index(bodies, m.first), index(bodies, second))
            && awake(&bodies[a])
            && awake(&bodies[b])
            && bodies[a].still_secs.min(bodies[b].still_secs) < ALONE_SECS
        {
            let (a, b) = (root(&mut parent, a), root(&mut parent, b));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut more = vec![0.0; bodies.len()];
    for m in manifolds {
        let deepest = m.points.iter().map(|p| -p.separation).fold(0.0, f64::max);
        for i in [Some(m.first), m.second].into_iter().flatten().filter_map(|id| index(bodies, id)) {
            let def = &bodies[i].def;
            let cell = def.grid.h * f64::from(1u32 << (def.forest.level - def.collision_level()));
            if deepest > DEEP_CELLS * cell {
                more[i] = DEEP_SECS;
            }
        }
    }
    let mut ready = vec![true; bodies.len()];
    for i in 0..bodies.len() {
        if awake(&bodies[i]) && bodies[i].still_secs < STILL_SECS + more[i] {
            ready[root(&mut parent, i)] = false;
        }
    }
    let first = *next_group;
    for (i, body) in bodies.iter_mut().enumerate() {
        let island = root(&mut parent, i);
        let alone = body.still_secs >= ALONE_SECS + more[i] || body.slow_secs >= SLOW_SECS;
        if awake(body) && (ready[island] || alone) {
            body.asleep = true;
            body.sleep_group = first.wrapping_add(island as u32);
            (body.state.linear_velocity, body.state.angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
        }
    }
    *next_group = first.wrapping_add(bodies.len() as u32);
}

fn root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}
