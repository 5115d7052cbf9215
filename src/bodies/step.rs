//! The recipe of one step.

use super::{
    Body, BodyState, Levels, Response, StepReport, World, WorldSettings,
    broad_phase::{self, Obb},
    collide::{self, Hit, Manifold, Pair},
    hold, integrate, overlaps,
    planes::{Walls, planes},
    respond::{PenaltyStep, Respond, SoftStep},
    sleep,
};
use crate::{
    gpu::{Gpu, GpuError, StageTiming},
    svo::Arena,
};
use glam::{DMat3, DVec3};
use std::time::Instant;

/// Contacts are looked for again before a point has come this far towards another body, cells, but at most so often in a step.
const ROUND_CELLS: f64 = 0.5;
const MOST_ROUNDS: u32 = 4;

/// One step of `world.settings.dt`.
///
/// # Errors
/// [`GpuError`]; the bodies are then as before the step.
pub fn step(world: &mut World, gpu: Option<(&Gpu, &Arena)>) -> Result<StepReport, GpuError> {
    let settings = sane(world.settings);
    let mut report = StepReport::default();
    let mut clock = Clock::new();
    freeze_lost(&mut world.bodies);
    let good: Vec<BodyState> = world.bodies.iter().map(|b| b.state).collect();
    world.hold = world.hold.filter(|held| hold::pull(&mut world.bodies, held, settings.gravity, settings.dt));

    let mut near = near(world, settings.dt);
    let rounds = rounds(&near, &settings);
    let part = WorldSettings {
        dt: settings.dt / f64::from(rounds),
        substeps: settings.substeps.div_ceil(rounds),
        ..settings
    };
    for k in 0..rounds {
        let awake = |world: &World| world.bodies.iter().filter(|b| !b.asleep).count();
        let before = awake(world);
        if let Err(error) = round(world, gpu, &near, &part, &mut report, &mut clock) {
            world.bodies.iter_mut().zip(&good).for_each(|(body, good)| body.state = *good);
            return Err(error);
        }
        for (body, good) in world.bodies.iter_mut().zip(&good) {
            integrate::freeze_if_lost(body, good);
        }
        // Who has been woken may meet sleepers, which nobody asked about before.
        if k + 1 < rounds && awake(world) != before {
            near = self::near(world, settings.dt);
        }
    }

    if settings.sleeping {
        sleep::fall_asleep(&mut world.bodies, &world.manifolds, settings.dt);
    }
    world.time += settings.dt;
    fill(&mut report, world, &settings);
    clock.lap(&mut report, "sleep and report");
    Ok(report)
}

/// Pairs that may meet in a step.
fn near(world: &World, dt: f64) -> Vec<Pair> {
    let bodies = &world.bodies;
    let levels = Levels::new(bodies, &world.pair_levels, world.far());
    let boxes = boxes(bodies, &levels, dt);
    let moves: Vec<_> = bodies.iter().map(|b| !b.is_static() && !b.asleep).collect();
    broad_phase::pairs(&boxes, &moves, |i, j| collide::closer(&bodies[i], &bodies[j], dt))
        .into_iter()
        .map(|(i, j)| [i as usize, j as usize])
        .map(|[i, j]| Pair::at(bodies, [i, j], levels.pair(i, j), dt))
        .collect()
}

fn boxes(bodies: &[Body], levels: &Levels<'_>, dt: f64) -> Vec<Option<Obb>> {
    bodies.iter().enumerate().map(|(i, b)| bounds(b, levels.coarsest(i), dt)).collect()
}

/// How often contacts are looked for in a step: once, or more often while bodies near each other move fast for their cells.
fn rounds(near: &[Pair], settings: &WorldSettings) -> u32 {
    let fastest = near.iter().map(|pair| pair.way / pair.cell).fold(0.0, f64::max);
    let wanted = (fastest / ROUND_CELLS).ceil().clamp(1.0, f64::from(MOST_ROUNDS)) as u32;
    wanted.next_power_of_two().min(settings.substeps)
}

/// Finds contacts and answers them over `settings.dt`.
fn round(
    world: &mut World,
    gpu: Option<(&Gpu, &Arena)>,
    near: &[Pair],
    settings: &WorldSettings,
    report: &mut StepReport,
    clock: &mut Clock,
) -> Result<(), GpuError> {
    let (pairs, stays) = sort_out(world, near, settings.dt);
    clock.lap(report, "broad phase");

    let hits = narrow(world, &pairs, gpu, settings, report)?;
    clock.lap(report, "narrow phase");

    let pressed: Vec<_> = world.manifolds.iter().filter_map(sleep::Pressed::new).collect();
    let mut manifolds = contacts(world, &pairs, &hits, &stays, settings);
    clock.lap(report, "manifolds");

    sleep::wake_touched(&mut world.bodies, &manifolds, &pressed, settings);
    let live: Vec<bool> = manifolds.iter().map(|m| !rests(&world.bodies, m)).collect();
    let method = method(world, gpu, &manifolds, settings);
    method.advance(&mut world.bodies, &mut manifolds, settings);
    clock.lap(report, "solver");

    let solved: Vec<_> = manifolds.iter().zip(live).filter_map(|(m, live)| live.then_some(m)).collect();
    report.pairs += pairs.len();
    report.collision_points = solved.iter().map(|m| m.totals.points).sum();
    let volume = || solved.iter().map(|m| m.totals.volume).sum::<f64>();
    report.intersection_volume = method.intersection_volume().unwrap_or_else(volume);
    report.contacts = solved.iter().map(|m| m.points.len()).sum();
    // Of those that rest, too.
    let presses = manifolds.iter().flat_map(|m| &m.points).filter(|p| p.total_impulse > 0.0);
    report.deepest = presses.map(|p| -p.separation).fold(report.deepest, f64::max);
    let upright = |p: &&collide::Point| p.normal == DVec3::Y;
    for p in solved.iter().filter(|m| m.second.is_none()).flat_map(|m| &m.points).filter(upright) {
        report.floor_force += p.normal * p.total_impulse;
    }
    world.manifolds = manifolds;
    Ok(())
}

/// Settings with which a step is defined: a user may type anything.
fn sane(mut settings: WorldSettings) -> WorldSettings {
    let finite = |v: f64, fallback: f64| if v.is_finite() { v } else { fallback };
    settings.dt = finite(settings.dt, 0.01).clamp(1e-6, 0.1);
    settings.substeps = settings.substeps.clamp(1, 64);
    if !settings.gravity.is_finite() {
        settings.gravity = DVec3::ZERO;
    }
    settings.floor = settings.floor.filter(|height| height.is_finite());
    settings.walls = settings.walls.filter(Walls::is_sound);
    settings.penalty.stiffness = finite(settings.penalty.stiffness, 0.0).max(0.0);
    settings.penalty.friction = finite(settings.penalty.friction, 0.0).max(0.0);
    settings
}

/// Callers may have written anything into a state, too.
fn freeze_lost(bodies: &mut [Body]) {
    for body in bodies.iter_mut().filter(|b| !b.frozen) {
        let good = if body.def.state.is_finite() { body.def.state } else { BodyState::at(DVec3::ZERO) };
        integrate::freeze_if_lost(body, &good);
    }
}

/// Pairs to be looked at, and which manifolds of the last step stay: of pairs that have hardly moved, and of those that rest. Those that
/// come near each other only later in the step are left for then.
fn sort_out(world: &World, near: &[Pair], dt: f64) -> (Vec<Pair>, Vec<bool>) {
    let bodies = &world.bodies;
    let boxes = boxes(bodies, &Levels::new(bodies, &world.pair_levels, world.far()), dt);
    let meet = |pair: &Pair| match pair.bodies.map(|k| &boxes[k]) {
        [Some(a), Some(b)] => a.overlaps(b, pair.way),
        _ => false,
    };
    let mut stays: Vec<bool> = world.manifolds.iter().map(|m| rests(bodies, m)).collect();
    let mut pairs = Vec::new();
    for pair in near {
        let [a, b] = pair.bodies.map(|k| &bodies[k]);
        let known = collide::find(&world.manifolds, a.id, Some(b.id));
        match known.filter(|&k| collide::holds(&world.manifolds[k], a, Some(b), pair.levels, dt)) {
            Some(k) => stays[k] = true,
            None => {
                let now = Pair::at(bodies, pair.bodies, pair.levels, dt);
                if meet(&now) {
                    pairs.push(now);
                }
            }
        }
    }
    (pairs, stays)
}

/// Whether nobody of a manifold can move. It is kept as it is for when they wake.
fn rests(bodies: &[Body], manifold: &Manifold) -> bool {
    let moves = |id| {
        let body = bodies.binary_search_by(|b| b.id.cmp(&id)).map(|i| &bodies[i]);
        body.is_ok_and(|b| !b.is_static() && !b.asleep)
    };
    !moves(manifold.first) && !manifold.second.is_some_and(moves)
}

/// How contacts are answered, with what that needs.
fn method(
    world: &mut World,
    gpu: Option<(&Gpu, &Arena)>,
    manifolds: &[Manifold],
    settings: &WorldSettings,
) -> Box<dyn Respond> {
    match settings.response {
        Response::Soft => Box::new(SoftStep::default()),
        Response::Penalty => {
            let far = world.far();
            let World { bodies, shapes, pair_levels, narrow, overlap, .. } = world;
            let levels = Levels::new(bodies, pair_levels, far);
            let passes = overlaps::Passes::new(gpu, settings, narrow.as_mut(), overlap);
            let overlaps = overlaps::find(bodies, &levels, shapes, manifolds, settings, passes);
            Box::new(PenaltyStep { constants: settings.penalty, overlaps })
        }
    }
}

/// The box of a body, grown by half a cell, and how far it moves in a step.
pub fn bounds(body: &Body, level: u32, dt: f64) -> Option<Obb> {
    let (low, high) = body.def.octree().mass.bounds;
    if body.def.octree().mass.voxels == 0 || !body.state.is_finite() {
        return None;
    }
    let centre = body.world_from_grid().transform_point3((low + high) * 0.5);
    let cell =
        body.def.octree().grid.h * f64::from(1u32 << body.def.octree().forest.level.saturating_sub(level));
    let speed =
        body.state.linear_velocity.length() + body.state.angular_velocity.length() * body.def.radius();
    let half = (high - low) * (0.5 * body.def.octree().grid.h) + 0.5 * cell;
    Some(Obb { centre, axes: DMat3::from_quat(body.state.rotation), half, way: speed * dt })
}

fn narrow(
    world: &mut World,
    pairs: &[Pair],
    gpu: Option<(&Gpu, &Arena)>,
    settings: &WorldSettings,
    report: &mut StepReport,
) -> Result<Vec<Hit>, GpuError> {
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let World { bodies, shapes, narrow, near, .. } = world;
    let chosen = gpu.filter(|(gpu, arena)| {
        settings.narrow.wants(gpu) && pairs.iter().all(|pair| pair.is_resident(bodies, arena))
    });
    if let (Some((gpu, arena)), Some(narrow)) = (chosen, narrow.as_mut()) {
        narrow.prepare(gpu, pairs, bodies, shapes)?;
        let directed: Vec<_> =
            pairs.iter().flat_map(|p| p.directed(bodies, arena, shapes, settings.dt)).collect();
        let firsts: Vec<_> = pairs.iter().flat_map(|p| p.firsts(bodies)).collect();
        let (hits, timings) = narrow.find_hits(gpu, arena, &directed, &firsts)?;
        report.timings.extend(timings);
        return Ok(hits);
    }
    Ok(collide::find_hits(pairs, bodies, shapes, settings.dt, Some(near)))
}

/// All manifolds of the coming round, sorted.
fn contacts(
    world: &mut World,
    pairs: &[Pair],
    hits: &[Hit],
    stays: &[bool],
    settings: &WorldSettings,
) -> Vec<Manifold> {
    let far = world.far();
    let World { bodies, shapes, manifolds: old, pair_levels, .. } = world;
    let mut manifolds = collide::pair_manifolds(pairs, hits, bodies, shapes, old);
    let levels = Levels::new(bodies, pair_levels, far);
    let own: Vec<u32> = (0..bodies.len()).map(|i| levels.own(i)).collect();
    let planes = planes(settings);
    manifolds.extend(collide::plane_manifolds(bodies, &own, &planes, settings.dt, shapes, old));
    for (mut manifold, _) in std::mem::take(old).into_iter().zip(stays).filter(|(_, stays)| **stays) {
        if !rests(bodies, &manifold) {
            collide::carry(&mut manifold, bodies);
        }
        manifolds.push(manifold);
    }
    manifolds.sort_by_key(Manifold::order);
    manifolds
}

fn fill(report: &mut StepReport, world: &World, settings: &WorldSettings) {
    report.time = world.time;
    report.awake = world.bodies.iter().filter(|b| !b.is_static() && !b.asleep).count();
    report.frozen = world.bodies.iter().filter(|b| b.frozen).count();
    report.floor_force /= settings.dt;
    for body in world.bodies.iter().filter(|b| !b.is_static()) {
        let (mass, state) = (body.def.mass_kg(), &body.state);
        let spin = body.inertia_in_world() * state.angular_velocity;
        let linear = mass * state.linear_velocity;
        report.kinetic += 0.5 * (linear.dot(state.linear_velocity) + spin.dot(state.angular_velocity));
        report.potential -= mass * settings.gravity.dot(state.position);
        report.momentum += linear;
        report.angular_momentum += state.position.cross(linear) + spin;
    }
}

/// Wall-clock time of the stages.
struct Clock(Instant);

impl Clock {
    fn new() -> Self {
        Self(Instant::now())
    }

    fn lap(&mut self, report: &mut StepReport, stage: &str) {
        let ms = self.0.elapsed().as_secs_f64() * 1e3;
        match report.timings.iter_mut().find(|t| t.stage == stage) {
            Some(timing) => timing.ms += ms,
            None => report.timings.push(StageTiming { stage: stage.to_owned(), ms }),
        }
        self.0 = Instant::now();
    }
}
