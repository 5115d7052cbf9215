//! The search on the CPU and the one in compute passes against brute force, and each other.

use super::{
    OctreePair, SurfelCache,
    brute::{Answers, answers},
    find_hits,
    gpu::SearchPasses,
    pair::{Hit, SurfelBuffer},
};
use crate::{
    BodyDef, Narrow, World, WorldSettings,
    collide::Generators,
    gpu::{
        Gpu, Kernel,
        shaders::{self, planting::with_error},
    },
    svo::Arena,
    testing::{ball, block, body, by_octrees, grid, steps},
    tests::{digest, pile},
};
use glam::{DQuat, DVec3, EulerRot, Vec3};
use std::sync::Arc;

/// Share of samples of which the search says another thing than brute force.
fn off(want: &Answers, got: &[Hit]) -> f64 {
    let mut missing: Answers = want.clone();
    let mut wrong = 0;
    for hit in got {
        let right = missing.remove(&(hit.pair, hit.a)).is_some_and(|answers| answers.contains(&hit.b));
        wrong += usize::from(!right);
    }
    (wrong + missing.len()) as f64 / (want.len() + got.len()).max(1) as f64
}

/// Pieces of a block in a heap, and a ball of another grid that flies into it; or is in it, where `speed` is
/// zero.
pub(super) fn heap(level: u32, physics_level: u32, parts: u32, seconds: f64, speed: f64) -> World {
    let mut w = by_octrees(pile(level, physics_level, parts));
    let ball = Arc::new(ball(5, Vec3::splat(16.0), 12.0));
    let mut def = body(&ball, 0, grid(5, 0.5), 4, DVec3::new(0.1, 0.7, 0.0));
    def.state.linear_velocity.x = -speed;
    let ball = w.add(def);
    steps(&mut w, seconds);
    // Again just before it, or in it: what flies so fast has passed by.
    let near = w.bodies[0].state.position;
    if let Some(ball) = w.body_mut(ball).filter(|_| speed == 0.0 || speed > 10.0) {
        let away = if speed > 0.0 { DVec3::new(0.55, 0.05, 0.03) } else { DVec3::new(0.05, 0.1, 0.02) };
        ball.state.position = near + away;
        ball.state.linear_velocity = DVec3::NEG_X * speed;
    }
    w
}

fn all_pairs(w: &World) -> Vec<OctreePair> {
    let n = w.bodies.len();
    let both = (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j]));
    both.map(|[i, j]| OctreePair::new(&w.bodies, i, j, 0.01)).collect()
}

/// Puts the forests of all bodies on the GPU.
pub(super) fn insert(w: &World, arena: &mut Arena) {
    for b in &w.bodies {
        arena.insert(&b.def.octree().forest).expect("room");
    }
}

fn by_passes(
    passes: &mut SearchPasses,
    w: &World,
    gpu: &Gpu,
    arena: &Arena,
    pairs: &[OctreePair],
) -> Vec<Hit> {
    let (mut cache, mut surfels) = (SurfelCache::default(), SurfelBuffer::new(gpu).expect("room"));
    surfels.prepare(gpu, pairs, &w.bodies, &mut cache).expect("surfels");
    let directed: Vec<_> =
        pairs.iter().flat_map(|p| p.directed(&w.bodies, arena, &mut cache, 0.01)).collect();
    let firsts: Vec<_> = pairs.iter().flat_map(|p| p.firsts(&w.bodies)).collect();
    passes.find_hits(gpu, arena, &surfels, &directed, &firsts)
}

/// Heaps whose pairs brute force can do: level, physics level, pieces along an edge, time, speed of the ball.
const SMALL: [(u32, u32, u32, f64, f64); 6] = [
    (5, 5, 2, 0.0, 6.0),
    (5, 4, 3, 0.4, 6.0),
    (6, 4, 3, 0.2, 6.0),
    // So fast that samples look ahead.
    (5, 3, 3, 0.1, 30.0),
    (5, 4, 2, 0.1, 60.0),
    // So deep that they look for the way out.
    (5, 5, 2, 0.1, 0.0),
];

#[test]
fn the_search_on_the_cpu_finds_what_brute_force_finds() {
    for (level, physics_level, parts, seconds, speed) in SMALL {
        let w = heap(level, physics_level, parts, seconds, speed);
        let pairs = all_pairs(&w);
        let want = answers(&pairs, &w.bodies, 0.01);
        let find = |w: &World| find_hits(&pairs, &w.bodies, &mut SurfelCache::default(), 0.01, None);
        let (got, share) = (find(&w), off(&want, &find(&w)));
        println!(
            "level {level}/{physics_level}: {} samples meet, {share:.6} of {} hits are off",
            want.len(),
            got.len()
        );
        assert!(want.len() > 50 && share < TOLERANCE, "{share}");
        // Planted: another sample, one direction left out, a body that lies elsewhere.
        let mut wrong = got.clone();
        wrong.iter_mut().step_by(100).for_each(|hit| hit.b ^= 1);
        assert!(off(&want, &wrong) > TOLERANCE);
        wrong = got.iter().copied().filter(|hit| hit.pair % 2 == 0).collect();
        assert!(off(&want, &wrong) > TOLERANCE);
        let mut moved = World::on_cpu(w.settings);
        w.bodies.iter().for_each(|b| _ = moved.add(BodyDef { state: b.state, ..b.def.clone() }));
        moved.bodies[1].state.position += DVec3::new(0.3, 0.7, 0.2) / f64::from(1u32 << physics_level);
        assert!(off(&want, &find(&moved)) > TOLERANCE);
    }
}

#[test]
fn the_passes_find_what_brute_force_finds() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut arena = Arena::new(&gpu).expect("an arena");
    // Kernels without an error are compiled once, as long as something holds them.
    let mut passes = SearchPasses::new(&gpu);
    for (level, physics_level, parts, seconds, speed) in SMALL {
        let w = heap(level, physics_level, parts, seconds, speed);
        insert(&w, &mut arena);
        let pairs = all_pairs(&w);
        let want = answers(&pairs, &w.bodies, 0.01);
        let share = off(&want, &by_passes(&mut passes, &w, &gpu, &arena, &pairs));
        println!("level {level}/{physics_level}: {} samples meet, {share:.6} are off", want.len());
        assert!(want.len() > 50 && share < TOLERANCE, "{share}");
        drop(w);
        arena.collect();
    }
    // Planted in the shaders.
    let planted = [
        ("hits", "const BESIDE: f32 = 1.0;", "const BESIDE: f32 = 0.5;"),
        ("hits", "const OPPOSING: f32 = -0.1;", "const OPPOSING: f32 = 0.9;"),
        ("hits", "const MARCH: u32 = 6u;", "const MARCH: u32 = 0u;"),
        ("hits", "const AHEAD: u32 = 128u;", "const AHEAD: u32 = 1u;"),
        ("hits", "floor(probe.p - 0.5)", "floor(probe.p)"),
        ("hits", "normalize(normal - probe.n)", "normal"),
        ("hits", "(pair_index & 1u) == 1u && s.sharp == 0u", "s.sharp == 0u"),
        ("hits", "f32(k) / reach", "2.0 * f32(k) / reach"),
        ("descend", "(0.867 * size + 0.5) * scale", "0.1 * size * scale"),
    ];
    let heaps = [heap(5, 5, 2, 0.1, 0.0), heap(5, 4, 2, 0.1, 60.0)];
    heaps.iter().for_each(|w| insert(w, &mut arena));
    let want = heaps.each_ref().map(|w| answers(&all_pairs(w), &w.bodies, 0.01));
    for (name, text, error) in planted {
        let path = match name {
            "hits" => "bodies/collide/octree/hits",
            _ => "bodies/collide/octree/descend",
        };
        let source = shaders::source(path);
        assert!(source.contains(text), "{path} has no '{text}'");
        let kernel = Kernel::from_text(&gpu, path, source.replace(text, error));
        let mut passes = SearchPasses::new(&gpu);
        *passes.kernel(name) = kernel;
        let share = |(w, want)| off(want, &by_passes(&mut passes, w, &gpu, &arena, &all_pairs(w)));
        // One heap that shows the error is enough.
        let share = heaps.iter().zip(&want).map(share).find(|share| *share > TOLERANCE).unwrap_or(0.0);
        println!("{name} with '{error}': {share:.4} are off");
        assert!(share > TOLERANCE, "{path} with '{error}' is only {share} off");
    }
}

/// Share of hits that only one of two lists has.
fn difference(a: &[Hit], b: &[Hit]) -> f64 {
    let alone = |x: &[Hit], y: &[Hit]| x.iter().filter(|h| y.binary_search(h).is_err()).count();
    (alone(a, b) + alone(b, a)) as f64 / (a.len() + b.len()).max(1) as f64
}

/// Rounding may turn a hit at a threshold; more than this is an error.
const TOLERANCE: f64 = 0.002;

#[test]
fn the_passes_find_the_hits_of_the_cpu() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut arena = Arena::new(&gpu).expect("an arena");
    let mut passes = SearchPasses::new(&gpu);
    let surfels = SurfelBuffer::new(&gpu).expect("room");
    // Two forests, so that neither begins at node 0; the second has another size and level.
    for (level, physics_level, parts, seconds) in
        [(5, 5, 2, 0.0), (6, 4, 3, 0.4), (6, 6, 3, 0.7), (5, 3, 3, 0.2)]
    {
        let w = heap(level, physics_level, parts, seconds, 6.0);
        insert(&w, &mut arena);
        let pairs = all_pairs(&w);
        let want = find_hits(&pairs, &w.bodies, &mut SurfelCache::default(), 0.01, None);
        let got = by_passes(&mut passes, &w, &gpu, &arena, &pairs);
        let off = difference(&want, &got);
        println!(
            "level {level}/{physics_level}: {} hits, {} by the GPU, {off:.6} differ",
            want.len(),
            got.len()
        );
        assert!(want.len() > 50 && off < TOLERANCE);
        // A planted error must not pass.
        let mut wrong = got.clone();
        wrong.iter_mut().step_by(100).for_each(|h| h.b ^= 1);
        wrong.sort_unstable();
        assert!(difference(&want, &wrong) > TOLERANCE);
        drop(w);
        arena.collect();
    }
    let none = passes.find_hits(&gpu, &arena, &surfels, &[], &[]);
    assert!(none.is_empty());
}

#[test]
fn a_gpu_world_moves_as_a_cpu_world_and_twice_the_same() {
    let Some(gpu) = Gpu::for_test() else { return };
    let run = || {
        let mut w = by_octrees(pile(5, 5, 3));
        let mut arena = Arena::new(&gpu).expect("an arena");
        arena.insert(&w.bodies[0].def.octree().forest).expect("room");
        w.generators = Generators::new(w.settings.contacts, Some(&gpu)).expect("kernels");
        w.settings.narrow = Narrow::Gpu;
        for _ in 0..45 {
            w.step(Some((&gpu, &arena))).expect("a step");
        }
        w
    };
    let (a, b) = (run(), run());
    let mut c = by_octrees(pile(5, 5, 3));
    steps(&mut c, 0.45);
    let place = |w: &World, i: usize| w.bodies[i].state.position;
    let apart = (0..27).map(|i| (place(&a, i) - place(&c, i)).length()).fold(0.0, f64::max);
    let middle = |w: &World| (0..27).map(|i| place(w, i)).sum::<DVec3>() / 27.0;
    let shifted = (middle(&a) - middle(&c)).length();
    println!(
        "GPU {:016x} {:016x}, CPU apart by {apart:.2e} m, the middle by {shifted:.2e} m",
        digest(&a),
        digest(&b)
    );
    assert_eq!(digest(&a), digest(&b));
    // Where samples of pieces coincide, rounding chooses which of them hold the pair, and the heap falls apart in
    // another way: by less than a tenth of itself.
    assert!(apart < 0.1 && shifted < 0.05);
}

/// A ball and boxes, turned and in motion, that meet each other, the floor and a fixed block where no samples coincide.
fn turned() -> World {
    let mut w = by_octrees(World::on_cpu(WorldSettings { sleeping: false, ..WorldSettings::default() }));
    let cube = Arc::new(block(5, [8; 3], [24; 3]));
    let round = Arc::new(ball(5, Vec3::splat(16.0), 8.0));
    let places = [
        (&cube, DVec3::new(0.0, 0.1, 0.0), DQuat::from_rotation_y(0.3), true),
        (&cube, DVec3::new(0.13, 0.75, 0.05), DQuat::from_euler(EulerRot::XYZ, 0.2, 0.4, 0.1), false),
        (&round, DVec3::new(-0.31, 0.86, 0.12), DQuat::from_rotation_x(0.4), false),
        (&cube, DVec3::new(0.71, 0.02, -0.1), DQuat::from_euler(EulerRot::XYZ, 0.3, 0.1, 0.25), false),
    ];
    for (forest, lift, rotation, fixed) in places {
        let mut def = body(forest, 0, grid(5, 1.0), 5, lift);
        (def.state.rotation, def.fixed) = (rotation, fixed);
        w.add(def);
    }
    w
}

#[test]
fn turned_bodies_move_alike_whoever_looks_for_contacts() {
    let Some(gpu) = Gpu::for_test() else { return };
    let by_passes = || {
        let mut w = turned();
        let mut arena = Arena::new(&gpu).expect("an arena");
        insert(&w, &mut arena);
        w.generators = Generators::new(w.settings.contacts, Some(&gpu)).expect("kernels");
        w.settings.narrow = Narrow::Gpu;
        for _ in 0..60 {
            w.step(Some((&gpu, &arena))).expect("a step");
        }
        w
    };
    let (start, mut on_cores) = (turned(), turned());
    steps(&mut on_cores, 0.6);
    let apart = |a: &World, b: &World| {
        let both = a.bodies.iter().zip(&b.bodies);
        both.map(|(a, b)| a.state.position.distance(b.state.position)).fold(0.0, f64::max)
    };
    let (moved, off) = (apart(&start, &on_cores), apart(&by_passes(), &on_cores));
    let gap = "dot(q - centre, normal)";
    let spoiled =
        with_error("bodies/collide/octree/passes/points", (gap, "dot(q - centre, normal) + 0.6"), by_passes);
    println!("{moved:.3} m moved; {off:.1e} m apart, with an error {:.1e} m", apart(&spoiled, &on_cores));
    // A hundredth of a cell, of 31 mm.
    assert!(moved > 0.1 && off < 0.0003 && apart(&spoiled, &on_cores) > 0.0003);
}
