//! The recipe of one step.
//!
//! # The contacts of the last step, for display

use glam::DVec3;
use rayon::prelude::*;

use super::{
    Body, BodyId, BodyState, LevelOfDetail, StepReport, World, WorldSettings,
    broad_phase::{self, Asked, Motion, NearPair, Obb},
    collide::{ContactQuery, Generators, Manifold, Point, Why, areas, most_searches},
    context::{FOLLOW, OnGpu, StageClock, StepContext, SubstepImpulses, add_ms},
    impacts::BlowContacts,
    integrate, sleep,
    snapshot::BeforeStep,
    structure_step::StructureContacts,
};
use crate::{
    gpu::{Gpu, GpuError},
    memory,
};

/// Contacts are looked for again before a point has come this far towards another body, as a share of the pair's
/// resolution.
const ROUND_SHARE: f64 = 0.5;
/// Fewer manifolds are not worth a second thread.
const MANY: usize = 4096;

/// Memory that a near pair takes until its contacts are found, bytes: up to eight of them, and what is known of the pair.
const PAIR_BYTES: u64 = 3000;
/// Memory that a contact takes when it is solved, bytes. Balls of 150 to 600 boxes in one place took 2,800 a contact in all, the
/// contact itself among them; heaps of pieces, whose contacts share their batches, take a fifth.
const CONTACT_BYTES: u64 = 2400;

/// Refuses lists of so many items of this size that would not fit into the free memory: their number grows with the square of
/// the bodies that lie in one place, and an allocation that fails ends the program.
pub(super) fn has_room(count: usize, bytes: u64) -> Result<(), GpuError> {
    memory::check((count as u64).saturating_mul(bytes))
        .map_err(|short| GpuError::NoRoom { count, short: short.to_string() })
}

/// One step of `world.settings.dt`. See [`World::step`].
pub fn step(world: &mut World, gpu: OnGpu<'_>) -> Result<StepReport, GpuError> {
    choose(world, gpu.map(|(gpu, _)| gpu))?;
    // A device may be lost, and on the cores, too, more bodies may be near each other than fit into a list.
    let mut start = BeforeStep::new(world);
    let stepped = advance(world, gpu, &mut start);
    if stepped.is_err() {
        start.put_back(world);
    }
    stepped
}

/// The step, when its generators and its response are ready. If it fails, `start` puts the world back.
fn advance(world: &mut World, gpu: OnGpu<'_>, start: &mut BeforeStep) -> Result<StepReport, GpuError> {
    let settings = world.settings.sane();
    let mut report = StepReport::default();
    let mut clock = StageClock::new();
    freeze_lost(&mut world.bodies);
    let good: Vec<BodyState> = world.bodies.iter().map(|b| b.state).collect();
    let h = settings.dt / f64::from(settings.substeps.max(1));
    world.drag =
        world.drag.filter(|hand| integrate::pull(&mut world.bodies, hand, settings.gravity, settings.dt));

    let mut near = near(world, gpu, &settings, None, &mut report, &mut clock)?;
    let rounds = rounds(&near, most_searches(&world.manifolds), &settings);
    let part = WorldSettings {
        dt: settings.dt / f64::from(rounds),
        substeps: settings.substeps.div_ceil(rounds),
        ..settings.clone()
    };
    let mut pushes = Pushes::default();
    let mut structures = StructureContacts::new(&world.bodies);
    let mut blows = BlowContacts::new(world.strengths.clone(), world.keeps_impacts);
    world.substep_contacts.clear();
    start.replace_contacts(world, gpu.is_some() || settings.measure_volume);
    for k in 0..rounds {
        let awake = |world: &World| world.bodies.iter().filter(|b| !b.asleep).count();
        let before = awake(world);
        let (last, share) = (k + 1 == rounds, 1.0 / f64::from(rounds));
        let now = Round { near: &near, substeps_before: k * part.substeps, last, share };
        round(world, gpu, &now, &part, (&mut structures, &mut blows), &mut report, &mut clock)?;
        pushes.add(&world.manifolds);
        for (body, good) in world.bodies.iter_mut().zip(&good) {
            integrate::freeze_if_lost(body, good);
        }
        // Who has been woken may meet sleepers, which nobody asked about before.
        if k + 1 < rounds && awake(world) != before {
            near = match self::near(world, gpu, &settings, Some(rounds), &mut report, &mut clock) {
                // The next step asks again, before anything has moved, and fails.
                Err(GpuError::Crowded { .. }) => near,
                found => found?,
            };
        }
    }

    world.pushes = pushes.list();
    (world.struck, world.impacts) = blows.list(&world.bodies);
    clock.lap(&mut report, "sleep and report");
    world.structure_steps = structures.respond(&world.bodies, &mut world.structure_memories, &settings);
    if !world.structure_steps.is_empty() {
        clock.lap(&mut report, "structures");
    }

    if settings.sleeping {
        sleep::fall_asleep(&mut world.bodies, &world.manifolds, &settings);
    }
    world.time += settings.dt;
    fill(&mut report, world, &settings);
    let of_step = world.bodies.iter().zip(&good).filter(|(body, _)| !body.is_static());
    report.cut = of_step.filter(|(body, before)| integrate::is_cut(before, &body.state, h)).count();
    clock.lap(&mut report, "sleep and report");
    measure(&mut report, world, gpu, &mut clock)?;
    let follow_ms = std::mem::take(&mut world.follow_ms);
    if follow_ms > 0.0 {
        add_ms(&mut report, FOLLOW, follow_ms);
    }
    Ok(report)
}

/// See [`World::figures`].
pub fn figures(world: &mut World, gpu: OnGpu<'_>) -> Result<StepReport, GpuError> {
    let settings = world.settings.sane();
    let (mut report, mut clock) = (StepReport::default(), StageClock::new());
    report.deepest = deepest(&world.manifolds);
    report.resting = world.manifolds.iter().map(|m| m.points.len()).sum();
    fill(&mut report, world, &settings);
    measure(&mut report, world, gpu, &mut clock)?;
    Ok(report)
}

/// The volume that bodies share, where the settings ask for it and the build can measure it.
fn measure(
    report: &mut StepReport,
    world: &mut World,
    gpu: OnGpu<'_>,
    clock: &mut StageClock,
) -> Result<(), GpuError> {
    if world.settings.measure_volume {
        let volume = world.with_measure(|measure, world| measure.shared_volume(world, gpu));
        report.intersection_volume = volume.transpose()?;
        clock.lap(report, "intersection volume");
    }
    Ok(())
}

/// Among the contacts that pressed, of those that rest, too, m.
fn deepest(manifolds: &[Manifold]) -> f64 {
    let presses = |m: &Manifold| {
        m.points.iter().filter(|p| p.total_impulse > 0.0).map(|p| -p.separation).fold(0.0, f64::max)
    };
    manifolds.par_iter().with_min_len(MANY).map(presses).reduce(|| 0.0, f64::max)
}

/// Makes whoever finds and answers contacts, as the settings name them. What another generator found holds
/// nobody any more.
pub(super) fn choose(world: &mut World, gpu: Option<&Gpu>) -> Result<(), GpuError> {
    if world.generators.prepare(world.settings.contacts, gpu, &world.bodies)? {
        world.manifolds.clear();
        world.wake_all();
    }
    let planes = world.settings.sane().planes();
    if planes != world.planes {
        // Who lies still keeps contacts with planes that are as they were, and would not ask about others.
        world.manifolds.retain(|m| m.second.is_some());
        world.planes = planes;
    }
    world.generators.set_options(&world.settings.options);
    world.responder.prepare(world.settings.response);
    Ok(())
}

/// Pairs that may meet in a step of `settings.dt`; `rounds` is how often contacts are looked for in it, where that is
/// settled.
fn near(
    world: &mut World,
    gpu: OnGpu<'_>,
    settings: &WorldSettings,
    rounds: Option<u32>,
    report: &mut StepReport,
    clock: &mut StageClock,
) -> Result<Vec<NearPair>, GpuError> {
    let dt = settings.dt;
    let reach = world.generators.reach(&world.bodies, world.detail());
    let (boxes, planes) = (boxes(&world.bodies, &reach, dt), settings.planes());
    let far = world.far();
    let World { bodies, broad_phase, generators, pair_levels, manifolds: old, .. } = world;
    let detail = LevelOfDetail { pairs: pair_levels, far };
    let at_planes: Vec<usize> = (0..bodies.len()).filter(|&k| bodies[k].moves()).collect();
    let query =
        ContactQuery { bodies, pairs: &[], at_planes: &at_planes, planes: &planes, old, boxes: &boxes, dt };
    let cx = &mut StepContext { gpu, settings, detail, report, clock, substeps: None };
    if let Some(near) = generators.look_ahead(cx, &query, rounds)? {
        has_room(near.len(), PAIR_BYTES)?;
        return Ok(near);
    }
    let moves: Vec<_> = bodies.iter().map(Body::moves).collect();
    let motions: Vec<_> = bodies.iter().map(Motion::of).collect();
    let asked = Asked { boxes: &boxes, moves: &moves, motions: &motions, dt };
    // Who asks again within the step does not wait for the device a second time.
    let device = gpu.map(|(gpu, _)| gpu).filter(|gpu| rounds.is_none() && settings.narrow.wants(gpu));
    let pairs = broad_phase.pairs(device, &asked)?;
    has_room(pairs.len(), PAIR_BYTES)?;
    let pairs = pairs
        .into_iter()
        .map(|(i, j)| [i as usize, j as usize])
        .map(|[i, j]| NearPair { bodies: [i, j], way: asked.closer(i, j), resolution_m: f64::MAX })
        .collect();
    Ok(generators.begin(bodies, pairs, detail))
}

fn boxes(bodies: &[Body], reach: &[f64], dt: f64) -> Vec<Option<Obb>> {
    let common = broad_phase::common_velocity(bodies);
    let bounds = |(body, reach): (&Body, &f64)| broad_phase::bounds(body, *reach, dt, common);
    bodies.par_iter().zip(reach).with_min_len(MANY / 16).map(bounds).collect()
}

/// How often contacts are looked for in a step: once, or more often while bodies near each other move fast
/// for their resolution; at most `most` ([`most_searches`]).
pub(super) fn rounds(near: &[NearPair], most: u32, settings: &WorldSettings) -> u32 {
    let fastest = near.iter().map(|pair| pair.way / pair.resolution_m).fold(0.0, f64::max);
    let wanted = (fastest / ROUND_SHARE).ceil().clamp(1.0, f64::from(most)) as u32;
    wanted.next_power_of_two().min(settings.substeps)
}

/// A search for contacts within a step.
struct Round<'a> {
    near: &'a [NearPair],
    /// Substeps of the step's earlier searches; 0: it is the first one.
    substeps_before: u32,
    /// Whether it is the last one of the step.
    last: bool,
    /// Its share of the step.
    share: f64,
}

/// Finds contacts and answers them over `settings.dt`.
fn round(
    world: &mut World,
    gpu: OnGpu<'_>,
    Round { near, substeps_before, last, share }: &Round<'_>,
    settings: &WorldSettings,
    (structures, blows): (&mut StructureContacts, &mut BlowContacts),
    report: &mut StepReport,
    clock: &mut StageClock,
) -> Result<(), GpuError> {
    let reach = world.generators.reach(&world.bodies, world.detail());
    let (boxes, planes) = (boxes(&world.bodies, &reach, settings.dt), settings.planes());
    let far = world.far();
    let mut record = world.contact_substeps.then(SubstepImpulses::default);
    let World {
        bodies,
        pair_levels,
        clearances,
        generators,
        responder,
        manifolds: old,
        substep_contacts: rows,
        ..
    } = world;
    let detail = LevelOfDetail { pairs: pair_levels, far };
    let cx = &mut StepContext { gpu, settings, detail, report, clock, substeps: record.as_mut() };

    // A body may have been frozen since the pairs were found.
    let near: Vec<NearPair> =
        near.iter().filter(|pair| pair.bodies.iter().any(|&k| bodies[k].moves())).copied().collect();
    let near = clearances.narrow(bodies, near, &reach, settings.dt);
    let at_planes: Vec<usize> = (0..bodies.len()).filter(|&k| bodies[k].moves()).collect();
    let query = ContactQuery {
        bodies,
        pairs: &near,
        at_planes: &at_planes,
        planes: &planes,
        old,
        boxes: &boxes,
        dt: settings.dt,
    };
    let found = generators.find(cx, &query)?;
    let pressed: Vec<_> = match bodies.iter().any(|body| body.asleep) {
        true => old.iter().filter_map(|m| sleep::Pressed::new(m, bodies, settings)).collect(),
        false => Vec::new(),
    };
    // Those that rest are not solved.
    let solved = found.manifolds.iter().chain(found.carried.iter().map(|k| &old[*k]));
    has_room(solved.map(|m| m.points.len()).sum(), CONTACT_BYTES)?;
    let mut manifolds = found.with_old(std::mem::take(old), bodies);
    cx.lap("manifolds");

    // What an earlier search of this step solved; whoever slept until now has sums of another step.
    let goes_on: Vec<bool> = manifolds.iter().map(|m| *substeps_before > 0 && !m.rests(bodies)).collect();
    sleep::wake_touched(bodies, &manifolds, &pressed, settings);
    let live: Vec<bool> = manifolds.iter().map(|m| !m.rests(bodies)).collect();
    structures.before(bodies, &manifolds);
    blows.before(bodies, &manifolds, &live);
    if let Some(record) = &mut cx.substeps {
        record.begin(manifolds.iter().map(|m| m.points.len()));
    }
    responder.advance(cx, bodies, &mut manifolds)?;
    structures.after(bodies, &manifolds, (&live, *share, settings.substeps));
    blows.after(bodies, &manifolds);
    add_up(&mut manifolds, live.iter().zip(&goes_on));
    if let Some(record) = &cx.substeps {
        for (k, (manifold, live)) in (0u32..).zip(manifolds.iter().zip(&live)) {
            let contacts = contacts_of(manifold, generators, bodies);
            // Bodies at rest are solved in no substep: their contacts have one row in a step.
            let substeps = if *live { record.substeps() } else { 0 };
            for (point, contact) in (0u32..).zip(&contacts) {
                rows.extend((0..substeps).map(|substep| {
                    let (substep_impulse, substep_friction) = record.get(substep, [k, point]);
                    let substep = Some(substeps_before + substep);
                    Contact { substep, substep_impulse, substep_friction, ..*contact }
                }));
            }
            if substeps == 0 && *last {
                rows.extend(contacts);
            }
        }
    }
    cx.lap("solver");

    let solved: Vec<_> = manifolds.iter().zip(live).filter_map(|(m, live)| live.then_some(m)).collect();
    sum_up(cx.report, generators, &solved, *last);
    cx.report.resting = manifolds.iter().map(|m| m.points.len()).sum::<usize>() - cx.report.contacts;
    cx.report.deepest = deepest(&manifolds).max(cx.report.deepest);
    *old = manifolds;
    Ok(())
}

/// Figures of a round: what was found, and what the floor carried.
fn sum_up(report: &mut StepReport, generators: &Generators, solved: &[&Manifold], last: bool) {
    // Only those of the last search are told.
    if last {
        let points = solved.par_iter().with_min_len(MANY / 16).map(|m| generators.collision_points(m));
        report.collision_points = points.sum();
    }
    report.contacts = solved.iter().map(|m| m.points.len()).sum();
    let upright = |p: &&Point| p.normal == DVec3::Y;
    for p in solved.iter().filter(|m| m.second.is_none()).flat_map(|m| &m.points).filter(upright) {
        report.floor_force += p.normal * p.total_impulse;
    }
}

/// Adds the impulses of a search to the sums of the step. Of each manifold: whether the response solved it, and whether
/// it did so in an earlier search of the step.
fn add_up<'a>(manifolds: &mut [Manifold], solved: impl Iterator<Item = (&'a bool, &'a bool)>) {
    for (manifold, (_, goes_on)) in manifolds.iter_mut().zip(solved).filter(|(_, (live, _))| **live) {
        for p in &mut manifold.points {
            let before = if *goes_on { (p.step_impulse, p.step_friction) } else { (0.0, DVec3::ZERO) };
            (p.step_impulse, p.step_friction) = (before.0 + p.total_impulse, before.1 + p.total_friction);
        }
    }
}

/// The contacts of a manifold whose bodies are in the world.
pub(super) fn contacts_of(manifold: &Manifold, generators: &Generators, bodies: &[Body]) -> Vec<Contact> {
    let found_by = generators.finder(manifold, bodies);
    let candidates = generators.collision_points(manifold);
    let areas = areas(&manifold.points, manifold.resolution_m);
    let contact = |(p, area): (&Point, f64)| Contact {
        bodies: (manifold.first, manifold.second),
        position: p.position,
        normal: p.normal,
        separation: p.separation,
        key: p.key,
        area,
        cell: manifold.resolution_m,
        impulse: p.total_impulse,
        step_impulse: p.step_impulse,
        step_friction: p.step_friction,
        substep: None,
        substep_impulse: p.normal_impulse,
        substep_friction: p.friction_impulse,
        found_by,
        why: p.why,
        candidates,
        touches_later: p.follows.is_some(),
    };
    manifold.points.iter().zip(areas).map(contact).collect()
}

/// Callers may have written anything into a state, too.
fn freeze_lost(bodies: &mut [Body]) {
    for body in bodies.iter_mut().filter(|b| !b.frozen) {
        let good = if body.def.state.is_finite() { body.def.state } else { BodyState::at(DVec3::ZERO) };
        integrate::freeze_if_lost(body, &good);
    }
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
        report.kinetic += body.kinetic_energy();
        report.potential -= mass * settings.gravity.dot(state.position);
        report.momentum += linear;
        report.angular_momentum += state.position.cross(linear) + spin;
    }
}

/// A contact point of two bodies, or of one and a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The bodies; the second is absent for the floor and the walls.
    pub bodies: (BodyId, Option<BodyId>),
    /// World, m.
    pub position: DVec3,
    /// From the second body to the first; world, unit.
    pub normal: DVec3,
    /// Distance of the surfaces, m; negative for overlap.
    pub separation: f64,
    /// Names the point in its pair: as long as the same point touches, the number is the same.
    pub key: u64,
    /// The point's share of the area of its patch, m^2: see [`areas`](crate::collide::areas).
    pub area: f64,
    /// Size of the search's cells, m: for octrees the edge of a cell of the coarser level of the pair.
    pub cell: f64,
    /// Normal impulses of all substeps since the last search for contacts, in sum, N s. A step has one search, or up to
    /// four where bodies move fast.
    pub impulse: f64,
    /// Normal impulses of all substeps of the step in which the contact was this one, in sum, N s.
    pub step_impulse: f64,
    /// Friction impulses on the first body of the same substeps, in sum, world, N s.
    pub step_friction: DVec3,
    /// The substep, counted from 0 over the whole step, of which the following two are. `None`: the contact's last.
    pub substep: Option<u32>,
    /// Normal impulse of the substep, N s.
    pub substep_impulse: f64,
    /// Friction impulse of the substep, on the first body, world, N s.
    pub substep_friction: DVec3,
    /// Name of the generator that found it, as in settings; of "mixed" the one of both that it used for the pair. Empty
    /// if the world has no such generator any more.
    pub found_by: &'static str,
    /// Why it is a contact, as of the last search of the step.
    pub why: Why,
    /// Candidates from which the contacts of the two bodies were chosen, at floor and walls those of all planes together.
    pub candidates: usize,
    /// Whether the surfaces touch only later in the step, where the search advanced the bodies.
    pub touches_later: bool,
}

/// The impulse between two bodies, or a body and floor or walls, in the whole of the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// The bodies; the second is absent for the floor and the walls.
    pub bodies: (BodyId, Option<BodyId>),
    /// On the first body, by the normals of its contacts alone, N s.
    pub impulse: DVec3,
    /// Where it acted: the mean of its contacts by impulse, world, m.
    pub position: DVec3,
}

/// Sums up pushes over the rounds of a step.
#[derive(Debug, Default)]
pub(super) struct Pushes {
    /// By ascending manifold: impulse, impulse as a vector, place times impulse.
    sums: Vec<(Order, [f64; 7])>,
}

/// Sort key of manifolds.
type Order = (bool, BodyId, Option<BodyId>);

impl Pushes {
    /// Adds the impulses of a round's manifolds.
    pub fn add(&mut self, manifolds: &[Manifold]) {
        let mut new = Vec::new();
        let mut known = self.sums.iter_mut().peekable();
        for m in manifolds.iter().filter(|m| m.presses()) {
            let order = m.order();
            while known.next_if(|(name, _)| *name < order).is_some() {}
            let sum = match known.next_if(|(name, _)| *name == order) {
                Some((_, sum)) => sum,
                None => {
                    new.push((order, [0.0; 7]));
                    let last = new.len() - 1;
                    &mut new[last].1
                }
            };
            for p in &m.points {
                let (push, place) = (p.normal * p.total_impulse, p.position * p.total_impulse);
                let all = [p.total_impulse, push.x, push.y, push.z, place.x, place.y, place.z];
                sum.iter_mut().zip(all).for_each(|(sum, more)| *sum += more);
            }
        }
        if !new.is_empty() {
            self.sums.extend(new);
            // Two ascending runs, which the sort merges.
            self.sums.sort_by_key(|(order, _)| *order);
        }
    }

    /// By ascending pair.
    pub fn list(self) -> Vec<Push> {
        let push = |((_, first, second), [weight, a, b, c, x, y, z]): (Order, [f64; 7])| Push {
            bodies: (first, second),
            impulse: DVec3::new(a, b, c),
            position: DVec3::new(x, y, z) / weight,
        };
        let mut out: Vec<Push> = self.sums.into_iter().map(push).collect();
        out.sort_by_key(|push| push.bodies);
        out
    }
}
