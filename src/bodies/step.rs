//! The recipe of one step.

use super::{
    Body, BodyState, Levels, Narrow, Response, StepReport, World, WorldSettings,
    broad_phase::{self, Aabb},
    collide::{self, Hit, Manifold, Pair, Totals},
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

    let far = world.far();
    let pairs = find_pairs(&world.bodies, &Levels::new(&world.bodies, &world.pair_levels, far), settings.dt);
    clock.lap(&mut report, "broad phase");

    let hits = narrow(world, &pairs, gpu, &settings, &mut report)?;
    clock.lap(&mut report, "narrow phase");

    let (mut manifolds, totals) = contacts(world, &pairs, &hits, &settings);
    clock.lap(&mut report, "manifolds");

    sleep::wake_touched(&mut world.bodies, &manifolds, &world.manifolds);
    let method = method(world, &manifolds, &settings);
    method.advance(&mut world.bodies, &mut manifolds, &settings);
    clock.lap(&mut report, "solver");

    for (body, good) in world.bodies.iter_mut().zip(&good) {
        integrate::freeze_if_lost(body, good);
    }
    if settings.sleeping {
        sleep::fall_asleep(&mut world.bodies, &manifolds, settings.dt, &mut world.next_group);
    }
    world.time += settings.dt;
    fill(&mut report, world, &manifolds, totals, &settings);
    report.intersection_volume = method.intersection_volume().unwrap_or(totals.volume);
    report.pairs = pairs.len();
    world.manifolds = manifolds;
    clock.lap(&mut report, "sleep and report");
    Ok(report)
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

/// How contacts are answered, with what that needs.
fn method(world: &mut World, manifolds: &[Manifold], settings: &WorldSettings) -> Box<dyn Respond> {
    match settings.response {
        Response::Soft => Box::new(SoftStep::default()),
        Response::Penalty => {
            let far = world.far();
            let World { bodies, shapes, pair_levels, .. } = world;
            let levels = Levels::new(bodies, pair_levels, far);
            let overlaps = overlaps::find(bodies, &levels, shapes, manifolds, settings);
            Box::new(PenaltyStep { constants: settings.penalty, overlaps })
        }
    }
}

fn find_pairs(bodies: &[Body], levels: &Levels<'_>, dt: f64) -> Vec<Pair> {
    let boxes: Vec<_> = bodies.iter().enumerate().map(|(i, b)| bounds(b, levels.coarsest(i), dt)).collect();
    let moves: Vec<_> = bodies.iter().map(|b| !b.is_static() && !b.asleep).collect();
    broad_phase::pairs(&boxes, &moves)
        .into_iter()
        .map(|(i, j)| [i as usize, j as usize])
        .map(|[i, j]| Pair::at(bodies, [i, j], levels.pair(i, j), dt))
        .collect()
}

/// The world box of a body, grown by what it moves in a step and half a cell.
pub fn bounds(body: &Body, level: u32, dt: f64) -> Option<Aabb> {
    let (low, high) = body.def.mass.bounds;
    if body.def.mass.voxels == 0 || !body.state.is_finite() {
        return None;
    }
    let to_world = body.world_from_grid();
    let middle = to_world.transform_point3((low + high) * 0.5);
    let half = (high - low) * 0.5;
    let axes = DMat3::from_mat4(to_world);
    let reach = axes.x_axis.abs() * half.x + axes.y_axis.abs() * half.y + axes.z_axis.abs() * half.z;
    let cell = body.def.grid.h * f64::from(1u32 << body.def.forest.level.saturating_sub(level));
    let speed =
        body.state.linear_velocity.length() + body.state.angular_velocity.length() * body.def.radius();
    let reach = reach + DVec3::splat(0.5 * cell + speed * dt);
    Some(Aabb { low: middle - reach, high: middle + reach })
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
    let World { bodies, shapes, narrow, .. } = world;
    let chosen = gpu.filter(|(gpu, _)| match settings.narrow {
        Narrow::Auto => !gpu.is_software(),
        Narrow::Gpu => true,
        Narrow::Cpu => false,
    });
    if let (Some((gpu, arena)), Some(narrow)) = (chosen, narrow.as_mut()) {
        narrow.prepare(gpu, pairs, bodies, shapes)?;
        let directed: Vec<_> = pairs.iter().flat_map(|p| p.directed(bodies, shapes, settings.dt)).collect();
        let firsts: Vec<_> = pairs.iter().flat_map(|p| p.firsts(bodies)).collect();
        let (hits, timings) = narrow.find_hits(gpu, arena, &directed, &firsts)?;
        report.timings.extend(timings);
        return Ok(hits);
    }
    let directed: Vec<_> = pairs.iter().flat_map(|p| p.directed(bodies, shapes, settings.dt)).collect();
    Ok(collide::find_hits(pairs, &directed, bodies, shapes))
}

fn contacts(
    world: &mut World,
    pairs: &[Pair],
    hits: &[Hit],
    settings: &WorldSettings,
) -> (Vec<Manifold>, Totals) {
    let far = world.far();
    let World { bodies, shapes, manifolds: old, pair_levels, .. } = world;
    let mut totals = Totals::default();
    let mut manifolds = collide::pair_manifolds(pairs, hits, bodies, shapes, old, &mut totals);
    let levels = Levels::new(bodies, pair_levels, far);
    let own: Vec<u32> = (0..bodies.len()).map(|i| levels.own(i)).collect();
    let planes = planes(settings);
    let rest = collide::plane_manifolds(bodies, &own, &planes, settings.dt, shapes, old, &mut totals);
    manifolds.extend(rest);
    (manifolds, totals)
}

fn fill(
    report: &mut StepReport,
    world: &World,
    manifolds: &[Manifold],
    totals: Totals,
    settings: &WorldSettings,
) {
    report.time = world.time;
    report.awake = world.bodies.iter().filter(|b| !b.is_static() && !b.asleep).count();
    report.frozen = world.bodies.iter().filter(|b| b.frozen).count();
    report.collision_points = totals.points;
    report.deepest = totals.deepest;
    report.contacts = manifolds.iter().map(|m| m.points.len()).sum();
    let upright = |p: &&collide::Point| p.normal == DVec3::Y;
    for p in manifolds.iter().filter(|m| m.second.is_none()).flat_map(|m| &m.points).filter(upright) {
        report.floor_force += p.normal * (p.total_impulse / settings.dt);
    }
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
        report.timings.push(StageTiming { stage: stage.to_owned(), ms });
        self.0 = Instant::now();
    }
}
