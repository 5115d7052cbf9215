//! The contacts of the passes against those of the CPU, pair by pair and point by point, with errors planted in the
//! kernels.

use super::{
    super::{
        OctreeGenerator, brute,
        pair::SurfelBuffer,
        parity::{heap, insert},
        records::{Before, Record, Records},
    },
    ContactSearch,
    search::ContactPasses,
    shared::COUNTERS,
    upload::{Rounds, Upload},
};
use crate::{
    Body, Narrow, StepReport, Walls, World, WorldSettings,
    broad_phase::{self, NearPair, bounds, closer},
    collide::{ContactGenerator, ContactQuery, Manifold, Point, most_searches},
    context::{OnGpu, StageClock, StepContext},
    gpu::{Gpu, Kernel, shaders::planting::with_error},
    step,
    svo::Arena,
    testing::{block, body, by_octrees, grid, scattered, shattered_block, steps, world},
    tests::{digest, pile},
};
use glam::{DQuat, DVec3};
use std::{collections::BTreeMap, sync::Arc};

struct Bench {
    gpu: Gpu,
    arena: Arena,
}

impl Bench {
    fn new() -> Option<Self> {
        let gpu = Gpu::for_test()?;
        let arena = Arena::new(&gpu).expect("an arena");
        Some(Self { gpu, arena })
    }

    fn on(&self) -> OnGpu<'_> {
        Some((&self.gpu, &self.arena))
    }

    /// A generator with these passes.
    fn generator(&self, passes: ContactPasses) -> OctreeGenerator {
        let surfels = SurfelBuffer::new(&self.gpu).expect("room");
        let search = ContactSearch { passes, surfels, ahead: None };
        OctreeGenerator { passes: Some(search), ..OctreeGenerator::default() }
    }
}

/// What a generator found: near pairs, manifolds with their records, numbers of those that are carried.
#[derive(Debug, PartialEq)]
struct Seen {
    near: Vec<NearPair>,
    manifolds: Vec<(Manifold, Record)>,
    carried: Vec<usize>,
}

/// What a world looks like at the beginning of a step.
struct Moment {
    bodies: Vec<Body>,
    old: Vec<Manifold>,
    memory: crate::GeneratorMemory,
    settings: WorldSettings,
}

impl Moment {
    fn of(w: &World, memory: crate::GeneratorMemory) -> Self {
        Self { bodies: w.bodies.clone(), old: w.manifolds.clone(), memory, settings: w.settings.clone() }
    }

    /// What a generator says, as the recipe of a step asks it.
    fn ask(&self, generator: &mut OctreeGenerator, gpu: OnGpu<'_>) -> Seen {
        generator.recall(&self.memory);
        let narrow = if gpu.is_some() { Narrow::Gpu } else { Narrow::Cpu };
        let settings = WorldSettings { narrow, ..self.settings.clone() };
        let (bodies, none) = (&self.bodies, crate::PairLevels::default());
        let detail = crate::LevelOfDetail { pairs: &none, far: None };
        let reach = generator.reach(bodies, detail);
        let boxes_in = |dt: f64| -> Vec<_> {
            bodies.iter().zip(&reach).map(|(body, reach)| bounds(body, *reach, dt, DVec3::ZERO)).collect()
        };
        let (mut report, mut clock) = (StepReport::default(), StageClock::new());
        let mut cx = StepContext {
            gpu,
            settings: &settings,
            detail,
            report: &mut report,
            clock: &mut clock,
            substeps: None,
        };
        let (boxes, planes) = (boxes_in(settings.dt), settings.planes());
        let moves: Vec<bool> = bodies.iter().map(Body::moves).collect();
        let at_planes: Vec<usize> = (0..bodies.len()).filter(|&k| moves[k]).collect();
        let query = ContactQuery {
            bodies,
            pairs: &[],
            at_planes: &at_planes,
            planes: &planes,
            old: &self.old,
            boxes: &boxes,
            dt: settings.dt,
        };
        let near =
            generator.look_ahead(&mut cx, &query, None).expect("it looks ahead").unwrap_or_else(|| {
                let way = |i: usize, j: usize| closer(&bodies[i], &bodies[j], settings.dt);
                let pair = |(i, j): (u32, u32)| {
                    let bodies = [i as usize, j as usize];
                    NearPair { bodies, way: way(bodies[0], bodies[1]), resolution_m: f64::MAX }
                };
                let mut near: Vec<_> =
                    broad_phase::pairs(&boxes, &moves, way).unwrap().into_iter().map(pair).collect();
                generator.begin(bodies, &mut near, detail);
                near
            });
        let part = settings.dt / f64::from(step::rounds(&near, most_searches(&self.old), &settings));
        let (part_settings, boxes) = (WorldSettings { dt: part, ..settings.clone() }, boxes_in(part));
        let mut cx = StepContext { settings: &part_settings, ..cx };
        let found = generator
            .find(&mut cx, &ContactQuery { pairs: &near, boxes: &boxes, dt: part, ..query })
            .expect("found");
        let mut manifolds = found.manifolds;
        manifolds.sort_by_key(Manifold::order);
        let record = |m: Manifold| {
            let record = generator.records.get(m.first, m.second).expect("a record").clone();
            (m, record)
        };
        let mut carried = found.carried;
        carried.sort_unstable();
        Seen { near, manifolds: manifolds.into_iter().map(record).collect(), carried }
    }
}

/// How far two answers are apart.
#[derive(Clone, Copy, Debug, Default)]
struct Apart {
    /// Pairs, manifolds or levels that only one has.
    pairs: usize,
    /// Collision points that were let in.
    seen: usize,
    /// Those that only one has, or whose depths are more than a thousandth of a cell apart.
    odd: usize,
    /// The most that the depths of the others are apart, cells.
    depth: f64,
    /// Points of manifolds, and those that only one has. Where both have a point it is the same to the last bit, but
    /// for what it inherits.
    points: usize,
    lone: usize,
    /// Points that both have, chosen by another rule.
    reasons: usize,
}

impl Apart {
    fn plus(self, other: Self) -> Self {
        Self {
            pairs: self.pairs + other.pairs,
            seen: self.seen + other.seen,
            odd: self.odd + other.odd,
            depth: self.depth.max(other.depth),
            points: self.points + other.points,
            lone: self.lone + other.lone,
            reasons: self.reasons + other.reasons,
        }
    }

    /// Rounding may turn a hit, or which of two points holds a pair, at a threshold; more than this is an error. Shares
    /// of points, cells; `lone` is the share of points of manifolds. One hit that turns counts twice, and may always.
    fn is_error(&self, lone: f64) -> bool {
        self.pairs > 0
            || self.odd as f64 > (0.002 * self.seen as f64).max(2.0)
            || self.lone as f64 > lone * self.points as f64
            || self.reasons as f64 > lone * self.points as f64
    }
}

fn apart(want: &Seen, got: &Seen) -> Apart {
    let mut out = Apart { pairs: usize::from(want.near != got.near), ..Apart::default() };
    out.pairs += usize::from(want.carried != got.carried);
    let names =
        |seen: &Seen| -> Vec<_> { seen.manifolds.iter().map(|(m, r)| (m.order(), r.levels)).collect() };
    if names(want) != names(got) {
        out.pairs += 1;
        return out;
    }
    for ((m, r), (n, s)) in want.manifolds.iter().zip(&got.manifolds) {
        // At planes only their number is kept.
        let by_name = |r: &Record| -> BTreeMap<u64, f64> { r.seen.iter().copied().collect() };
        let (a, b) = (by_name(r), by_name(s));
        out.seen += r.collision_points + s.collision_points;
        out.odd += if m.second.is_none() { r.collision_points.abs_diff(s.collision_points) } else { 0 };
        out.odd += a.keys().filter(|key| !b.contains_key(key)).count();
        out.odd += b.keys().filter(|key| !a.contains_key(key)).count();
        for (key, depth) in &a {
            let apart = b.get(key).map_or(0.0, |other| (depth - other).abs() / m.resolution_m);
            if apart > 1e-3 {
                out.odd += 2;
            } else {
                out.depth = out.depth.max(apart);
            }
        }
        out.points += m.points.len() + n.points.len();
        let is = |p: &Point, q: &Point| {
            (p.key, p.position, p.normal, p.separation) == (q.key, q.position, q.normal, q.separation)
        };
        out.lone += m.points.iter().filter(|p| !n.points.iter().any(|q| is(p, q))).count();
        let is_otherwise = |p: &&Point| {
            n.points
                .iter()
                .any(|q| is(p, q) && (p.why.found_as, p.why.chosen_as) != (q.why.found_as, q.why.chosen_as))
        };
        out.reasons += m.points.iter().filter(is_otherwise).count();
        out.lone += n.points.iter().filter(|q| !m.points.iter().any(|p| is(p, q))).count();
    }
    out
}

/// Pieces that a fracture left, crumbs among them, in a box with walls, thrown together; with a thin plate.
fn boxful(seed: f64) -> World {
    let walls = Walls { low: DVec3::new(-0.5, 0.0, -0.52), high: DVec3::new(0.55, 3.0, 0.51) };
    let mut w = by_octrees(world(WorldSettings { walls: Some(walls), ..WorldSettings::default() }));
    let (low, high) = ([6; 3], [26; 3]);
    let pieces = Arc::new(shattered_block(5, low, high, &scattered(low, high, 14)));
    for tree in 0..pieces.trees() as u32 {
        w.add(body(&pieces, tree, grid(5, 1.0), 4, DVec3::Y * -0.15));
    }
    let crumb = Arc::new(block(5, [8; 3], [10, 11, 10]));
    let plate = Arc::new(block(6, [4, 30, 4], [60, 33, 60]));
    w.add(body(&crumb, 0, grid(5, 1.0), 4, DVec3::new(0.1, -0.23, 0.1)));
    w.add(body(&plate, 0, grid(6, 0.7), 4, DVec3::new(0.02, 0.52, 0.01)));
    for (k, b) in w.bodies.iter_mut().enumerate() {
        let angle = seed + 2.4 * k as f64;
        b.state.linear_velocity = DVec3::new(angle.cos(), 0.2 * angle.sin(), (1.3 * angle).sin()) * 1.5;
        b.state.rotation = DQuat::from_scaled_axis(DVec3::new(angle.sin(), 0.3, angle.cos()) * 0.05);
    }
    w
}

/// So many points of manifolds may be others, as a share; and so many where samples of unmoved pieces coincide, so that
/// nothing but rounding says which of them is deepest.
const LONE: f64 = 0.02;
const LONE_AT_BIRTH: f64 = 0.3;

/// Worlds, how many steps of them are compared, and which share of points of manifolds may be others.
fn worlds() -> Vec<(&'static str, World, usize, f64)> {
    vec![("coincident pieces", by_octrees(pile(5, 5, 3)), 4, LONE_AT_BIRTH)]
}

/// Compares a world step by step, while the CPU plays it.
fn compare(bench: &mut Bench, by_passes: &mut OctreeGenerator, w: &mut World, steps: usize) -> Apart {
    insert(w, &mut bench.arena);
    let mut by_cpu = OctreeGenerator::default();
    let mut sum = Apart::default();
    for _ in 0..steps {
        let moment = Moment::of(w, w.generators.memory_of("octree"));
        sum = sum.plus(apart(&moment.ask(&mut by_cpu, None), &moment.ask(by_passes, bench.on())));
        w.step_on_cpu();
    }
    sum
}

/// Dispatches every kernel of this folder.
pub(crate) fn run_every_kernel() {
    let Some(mut bench) = Bench::new() else { return };
    let mut w = boxful(0.0);
    // More bodies than a block of the sort has keys.
    let crumb = Arc::new(block(3, [1; 3], [2; 3]));
    for k in 0..600 {
        w.add(body(&crumb, 0, grid(3, 0.1), 3, DVec3::new(f64::from(k), 5.0, 0.0)));
    }
    let mut generator = bench.generator(ContactPasses::new(&bench.gpu).expect("kernels"));
    compare(&mut bench, &mut generator, &mut w, 1);
}

#[test]
fn the_passes_find_the_contacts_of_the_cpu() {
    let Some(mut bench) = Bench::new() else { return };
    let mut generator = bench.generator(ContactPasses::new(&bench.gpu).expect("kernels"));
    let (mut all, mut bad) = (Apart::default(), Vec::new());
    for (name, mut w, steps, lone) in worlds() {
        let off = compare(&mut bench, &mut generator, &mut w, steps);
        println!("{name}: {off:?}");
        bad.extend(off.is_error(lone).then_some(name));
        all = all.plus(off);
        generator.cleared();
        drop(w);
        bench.arena.collect();
    }
    assert!(bad.is_empty(), "{bad:?}");
    assert!(all.seen > 5_000 && all.points > 500, "{all:?}");
}

/// The rule by which each point was chosen is that of the cores. Seen to fail where the passes call every point the deepest
/// of its group.
#[test]
fn the_passes_choose_for_the_reasons_of_the_cpu() {
    let compared = || {
        let mut bench = Bench::new()?;
        let mut generator = bench.generator(ContactPasses::new(&bench.gpu).expect("kernels"));
        let mut w = boxful(0.7);
        steps(&mut w, 0.3);
        Some(compare(&mut bench, &mut generator, &mut w, 8))
    };
    let Some(off) = compared() else { return };
    println!("{off:?}");
    assert!(!off.is_error(LONE) && off.points > 500, "{off:?}");
    let rule = ("slot | (kept[k] & AS_DEEPEST)", "slot | AS_DEEPEST");
    let spoiled = with_error("bodies/collide/octree/passes/reduce", rule, compared).expect("a device");
    assert!(spoiled.is_error(LONE) && spoiled.reasons > 100, "{spoiled:?}");
}

#[test]
fn any_number_of_bodies_will_do() {
    let Some(mut bench) = Bench::new() else { return };
    let mut generator = bench.generator(ContactPasses::new(&bench.gpu).expect("kernels"));
    for count in [0, 1, 2, 3, 26, 27] {
        let mut w = by_octrees(pile(5, 4, 3));
        steps(&mut w, 0.35);
        w.bodies.truncate(count);
        let off = compare(&mut bench, &mut generator, &mut w, 2);
        assert!(!off.is_error(LONE), "{count}: {off:?}");
    }
}

#[test]
fn lists_grow_and_the_same_contacts_come_again() {
    let Some(mut bench) = Bench::new() else { return };
    let mut w = boxful(1.0);
    steps(&mut w, 0.1);
    insert(&w, &mut bench.arena);
    let kernel = |path| Kernel::new(&bench.gpu, path);
    let mut generator = bench.generator(ContactPasses::new(&bench.gpu).expect("kernels"));
    let small = ContactPasses::with(&bench.gpu, [1; COUNTERS], &kernel).expect("kernels");
    let mut small = bench.generator(small);
    let moment = Moment::of(&w, w.generators.memory_of("octree"));
    let want = moment.ask(&mut generator, bench.on());
    assert!(want.manifolds.len() > 10);
    assert_eq!(want, moment.ask(&mut small, bench.on()), "lists that are too short grow");
    for _ in 0..5 {
        assert_eq!(want, moment.ask(&mut generator, bench.on()), "the same question has the same answer");
    }
}

/// Steps with contacts from passes.
fn play(bench: &Bench, w: &mut World, steps: usize) {
    w.settings.narrow = Narrow::Gpu;
    for _ in 0..steps {
        w.step(bench.on()).expect("a step");
    }
}

#[test]
fn a_search_waits_once() {
    let Some(mut bench) = Bench::new() else { return };
    // Pieces that drift apart, so slowly that contacts are looked for once a step.
    let mut w = by_octrees(pile(5, 4, 3));
    w.settings.gravity = DVec3::NEG_Y * 0.3;
    for (k, b) in w.bodies.iter_mut().enumerate() {
        let angle = 2.4 * k as f64;
        b.state.linear_velocity = DVec3::new(angle.cos(), angle.sin(), (1.3 * angle).sin()) * 0.05;
    }
    insert(&w, &mut bench.arena);
    let waits =
        |bench: &Bench| -> u64 { bench.gpu.take_traffic().iter().map(|(_, traffic)| traffic.waits).sum() };
    let then = w.snapshot();
    play(&bench, &mut w, 60);
    println!("{} waits while samples are made and lists grow", waits(&bench));
    // The same again: all that was missing is there.
    w.restore(&then);
    for _ in 0..60 {
        play(&bench, &mut w, 1);
        assert_eq!(waits(&bench), 1, "after {:.2} s", w.time());
    }
    assert!(w.bodies.iter().any(Body::moves) && w.manifolds.iter().any(|m| m.points.len() > 3));
}

/// Cubes that fall apart on the floor, by the default finder: hulls are the surface of all of them.
#[test]
fn a_search_for_nothing_waits_for_nothing() {
    let Some(mut bench) = Bench::new() else { return };
    let mut w = pile(5, 4, 2);
    insert(&w, &mut bench.arena);
    let mut cores = pile(5, 4, 2);
    let waits =
        |bench: &Bench| -> u64 { bench.gpu.take_traffic().iter().map(|(_, traffic)| traffic.waits).sum() };
    waits(&bench);
    play(&bench, &mut w, 40);
    assert_eq!(waits(&bench), 0);
    steps(&mut cores, 0.4);
    assert!(w.manifolds.iter().any(|m| m.points.len() > 3) && digest(&w) == digest(&cores));
    // The same by octrees has something to wait for.
    let mut w = by_octrees(w);
    play(&bench, &mut w, 1);
    assert!(waits(&bench) > 0);
}

#[test]
fn only_manifolds_of_pairs_that_are_searched_are_sent() {
    let Some(mut bench) = Bench::new() else { return };
    let mut w = boxful(0.3);
    steps(&mut w, 0.3);
    insert(&w, &mut bench.arena);
    let none = crate::PairLevels::default();
    let detail = crate::LevelOfDetail { pairs: &none, far: None };
    let boxes: Vec<_> = w.bodies.iter().map(|body| bounds(body, 0.05, 0.01, DVec3::ZERO)).collect();
    let index = |id| w.bodies.iter().position(|body| body.id == id).expect("it is there");
    let near = |bodies| NearPair { bodies, way: 0.0, resolution_m: 0.1 };
    let touching = w.manifolds.iter().filter_map(|m| Some([index(m.first), index(m.second?)]));
    let pairs: Vec<NearPair> = touching.map(near).collect();
    let sent = |pairs: &[NearPair], finds_pairs: bool| {
        let (records, record_of) = (Records::default(), vec![None; w.manifolds.len()]);
        let before = Before::new(&w.manifolds, &records, &record_of);
        let query = ContactQuery {
            bodies: &w.bodies,
            pairs,
            at_planes: &[],
            planes: &[],
            old: &w.manifolds,
            boxes: &boxes,
            dt: 0.01,
        };
        let upload = Upload::new(&query, before, detail, &bench.arena, (finds_pairs, Rounds::Known(1)));
        upload.expect("all octrees are there").wanted.old.len()
    };
    assert!(pairs.len() > 10);
    assert_eq!(sent(&pairs, false), pairs.len());
    assert_eq!(sent(&pairs[..7], false), 7);
    assert_eq!(sent(&[], true), pairs.len(), "the passes find pairs that nobody named");
}

#[test]
fn a_moment_that_is_put_back_goes_on_as_before() {
    let Some(mut bench) = Bench::new() else { return };
    let mut w = boxful(0.3);
    insert(&w, &mut bench.arena);
    play(&bench, &mut w, 12);
    let then = w.snapshot();
    play(&bench, &mut w, 12);
    let want = digest(&w);
    w.restore(&then);
    play(&bench, &mut w, 12);
    assert_eq!(digest(&w), want);
    // Made anew for another device, it knows what it knew.
    w.restore(&then);
    w.run_on(Some(&bench.gpu)).expect("passes");
    play(&bench, &mut w, 12);
    assert_eq!(digest(&w), want);
    // On the cores it goes on, too.
    w.restore(&then);
    w.run_on(None).expect("no passes");
    (0..12).for_each(|_| _ = w.step_on_cpu());
    assert!(w.bodies.iter().all(|b| b.state.is_finite() && b.state.position.y > -0.05));
}

#[test]
fn a_device_that_is_gone_is_an_error_and_moves_nobody() {
    let Some(mut bench) = Bench::new() else { return };
    let mut w = boxful(0.3);
    insert(&w, &mut bench.arena);
    play(&bench, &mut w, 3);
    let then: Vec<_> = w.bodies.iter().map(|b| b.state).collect();
    bench.gpu.device.destroy();
    assert!(w.step(bench.on()).is_err());
    assert!(w.bodies.iter().zip(&then).all(|(b, then)| b.state == *then));
}

/// Brute force is compared with the CPU's search elsewhere (`parity.rs`); this only says that what is compared here is
/// not nothing.
#[test]
fn what_brute_force_finds_is_let_in() {
    let Some(mut bench) = Bench::new() else { return };
    let w = heap(5, 4, 3, 0.4, 6.0);
    insert(&w, &mut bench.arena);
    let pairs: Vec<_> = (0..w.bodies.len())
        .flat_map(|i| (i + 1..w.bodies.len()).map(move |j| [i, j]))
        .map(|[i, j]| super::super::OctreePair::new(&w.bodies, i, j, 0.01))
        .collect();
    let answers = brute::answers(&pairs, &w.bodies, 0.01);
    let moment = Moment { old: Vec::new(), memory: None, ..Moment::of(&w, None) };
    let mut generator = bench.generator(ContactPasses::new(&bench.gpu).expect("kernels"));
    let said = moment.ask(&mut generator, bench.on());
    let (mut missing, mut all) = (0, 0);
    for (m, record) in said.manifolds.iter().filter(|(m, _)| m.second.is_some()) {
        let of = |p: &super::super::OctreePair| {
            let ids = p.bodies.map(|k| w.bodies[k].id);
            ids[0] == m.first && Some(ids[1]) == m.second
        };
        let k = pairs.iter().position(of).expect("a pair") as u32;
        for (key, _) in &record.seen {
            let name = (2 * k + (key >> 32) as u32, *key as u32);
            missing += usize::from(!answers.contains_key(&name));
            all += 1;
        }
    }
    println!("{all} contacts, {missing} of them not by brute force, of {} samples that meet", answers.len());
    assert!(all > 100 && missing as f64 <= 0.002 * all as f64);
}
