//! The passes against the sweep and the tree of the cores, on random boxes; with errors planted in the kernels; and a
//! world that steps the same with them and without.

use super::{
    super::{Asked, BroadPhase, Crowded, MANY, MOST_PAIRS, Motion, Obb, sweep, tree},
    NearPasses,
    hierarchy::{Hierarchy, HierarchyPasses},
    moving_box::MovingBoxes,
};
use crate::{
    BodyDef, BodyState, ContactsId, Family, Narrow, SoftStep, World, WorldSettings,
    gpu::{Buffer, Gpu, GpuError, Kernel, Recorder, primitives::Scan, shaders::planting::with_error},
    shape::{Convex, Look, Shape},
    solver::ActiveSolver,
    svo::{Arena, morton},
    testing,
    tests::digest,
};
use glam::{DMat3, DMat4, DQuat, DVec3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::{sync::Arc, time::Instant};

const DT: f64 = 0.01;

/// Boxes, who moves, and how fast.
#[derive(Clone, Default)]
struct Scene {
    boxes: Vec<Option<Obb>>,
    moves: Vec<bool>,
    motions: Vec<Motion>,
}

/// How boxes lie.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    /// Turned, in a box of this size, m; some in its middle.
    Heap(DVec3),
    /// As a heap that lies so far from the world's origin, m.
    Far(f64),
    /// So close together against the rest of the scene that all but one have one Morton code.
    OneCode,
    /// Edges of 1e-12 to 1e3 m.
    AllSizes,
    /// Along the axes, side by side: they touch, or miss each other by rounding.
    Touching,
    /// All the same.
    OnePlace,
}

impl Scene {
    fn asked(&self) -> Asked<'_> {
        Asked { boxes: &self.boxes, moves: &self.moves, motions: &self.motions, dt: DT }
    }

    /// Every 17th body has no box, every third cannot move.
    fn random(n: usize, lie: Lie, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut out = Self::default();
        for i in 0..n {
            let mut v = |low: f64| rng.random_range(low..1.0f64);
            let turn = DQuat::from_xyzw(v(-1.0), v(-1.0), v(-1.0), v(-1.0)).normalize();
            let place = DVec3::new(v(0.0), v(0.0), v(0.0));
            let half = DVec3::new(v(0.0), v(0.0), v(0.0));
            let heap = |size: DVec3| if i % 9 == 4 && i < 200 { size * 0.5 } else { place * size };
            // As dense whatever the number.
            let wide = (n.max(2) as f64 / 60.0).cbrt();
            let axes = DMat3::from_quat(turn);
            let obb = match lie {
                Lie::Heap(size) => Obb { centre: heap(size), axes, half: 0.02 + 0.1 * half, way: 0.0 },
                Lie::Far(at) => {
                    let centre = DVec3::new(at, -at, 0.3 * at) + heap(DVec3::splat(wide));
                    Obb { centre, axes, half: 0.02 + 0.1 * half, way: 0.0 }
                }
                Lie::OneCode => {
                    let centre = if i == 1 { DVec3::splat(1e5) } else { heap(DVec3::splat(wide)) };
                    Obb { centre, axes, half: 0.02 + 0.1 * half, way: 0.0 }
                }
                Lie::AllSizes => {
                    let size = if i == 11 { 1e3 } else { [1e-12, 1e-7, 1e-3, 0.03, 0.1, 0.05][i % 6] };
                    // The tiny ones lie close to each other.
                    let close = if i % 6 < 2 { 1.5 * size * (n as f64).cbrt() } else { wide };
                    Obb { centre: heap(DVec3::splat(close)), axes, half: (0.1 + half) * size, way: 0.0 }
                }
                Lie::Touching => {
                    let cell = [i % 10, i / 10 % 10, i / 100].map(|k| 0.1 * k as f64);
                    let nudge = 1e-9 * (place - 0.5);
                    let axes =
                        if i % 4 == 0 { DMat3::IDENTITY } else { DMat3::from_rotation_y(1e-9 * v(0.0)) };
                    Obb { centre: DVec3::from(cell) + nudge, axes, half: DVec3::splat(0.05), way: 0.0 }
                }
                Lie::OnePlace => {
                    Obb { centre: DVec3::ONE, axes: DMat3::IDENTITY, half: DVec3::ONE, way: 0.0 }
                }
            };
            let still = matches!(lie, Lie::Touching | Lie::OnePlace);
            let size = if lie == Lie::AllSizes { obb.half.min_element().min(1.0) } else { 0.1 };
            let fast = if i % 50 == 7 { 5.0 } else { 1.0 } * if still { 0.0 } else { size / DT };
            // Most of it they fall together.
            let fall = if still || lie == Lie::AllSizes { DVec3::ZERO } else { DVec3::new(0.0, -30.0, 0.0) };
            let velocity = fall + 0.1 * fast * DVec3::new(v(-1.0), v(-1.0), v(-1.0));
            let motion = Motion { velocity, spin: 0.1 * fast * v(0.0) };
            let obb = Obb { way: (motion.velocity.length() + motion.spin) * DT, ..obb };
            out.boxes.push((lie == Lie::OnePlace || i % 17 != 5).then_some(obb));
            out.moves.push(i % 3 != 0);
            out.motions.push(motion);
        }
        out
    }

    /// By the sweep, once seen to be what the tree says.
    fn wanted(&self) -> Vec<(u32, u32)> {
        let asked = self.asked();
        let closer = |i, j| asked.closer(i, j);
        let found = sweep(&self.boxes, &self.moves, closer);
        assert_eq!(found, tree::pairs(&self.boxes, &self.moves, closer));
        found.expect("not too many")
    }
}

fn scenes(n: usize) -> [(Lie, Scene); 6] {
    let lies = [
        Lie::Heap(DVec3::splat((n.max(2) as f64 / 60.0).cbrt())),
        Lie::Heap(DVec3::new(0.1, 0.1, 0.04 * n as f64 + 0.1)),
        Lie::Far(1e6),
        Lie::OneCode,
        Lie::AllSizes,
        Lie::Touching,
    ];
    lies.map(|lie| (lie, Scene::random(n, lie, n as u64)))
}

/// Few that the host has to sort out; where boxes touch, or are tiny against the scene, rounding decides of many.
fn is_few(lie: Lie, said: usize, wanted: usize) -> bool {
    matches!(lie, Lie::Touching | Lie::AllSizes) || said <= wanted + wanted / 50 + 2
}

#[test]
fn the_passes_give_what_sweep_and_tree_give() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut by_network = NearPasses::new(&gpu);
    let mut by_digits = NearPasses::new(&gpu);
    by_digits.hierarchy.radix_from = 0;
    let (mut all, mut more) = (0, 0);
    for n in [0usize, 1, 2, 3, 64, 255, 256, 257, 513, 1000, 1025, 2100] {
        for (lie, scene) in scenes(n) {
            let (wanted, asked) = (scene.wanted(), scene.asked());
            for passes in [&mut by_network, &mut by_digits] {
                let said = passes.candidates(&gpu, &asked).unwrap().expect("room").len();
                assert!(is_few(lie, said, wanted.len()), "{n} {lie:?}: {said} for {}", wanted.len());
                let found = passes.pairs(&gpu, &asked).unwrap();
                assert_eq!(found.as_ref(), Some(&wanted), "{n} {lie:?}");
                more += said - wanted.len();
            }
            all += wanted.len();
        }
    }
    println!("{all} pairs; the passes say {more} more, asked twice");
    assert!(all > 10_000);
}

#[test]
fn boxes_of_any_size_and_place_are_found() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut passes = NearPasses::new(&gpu);
    let unit = Obb { centre: DVec3::ZERO, axes: DMat3::IDENTITY, half: DVec3::ONE, way: 0.0 };
    let turned = DMat3::from_rotation_z(0.7);
    let sizes = [1e-300, 1e-30, 1e-9, 1.0, 1e9, 1e20, 1e200];
    let mut boxes = Vec::new();
    for size in sizes {
        for (k, axes) in [DMat3::IDENTITY, turned].into_iter().enumerate() {
            let centre = DVec3::new(1.5 * k as f64, 0.2, 0.0) * size;
            boxes.extend([Some(Obb { centre, axes, half: DVec3::splat(size), ..unit }), None]);
        }
    }
    for far in [1e12, 1e30] {
        boxes.extend([0.0, 1.9, 5.0].map(|x| Some(Obb { centre: DVec3::new(far + x, 0.0, 0.0), ..unit })));
    }
    let n = boxes.len();
    let motion = Motion { velocity: DVec3::new(1e30, 0.0, 0.0), spin: 1e-30 };
    for motion in [Motion::default(), motion] {
        let scene = Scene { boxes: boxes.clone(), moves: vec![true; n], motions: vec![motion; n] };
        let wanted = scene.wanted();
        assert!(wanted.len() > n / 2, "{}", wanted.len());
        assert_eq!(passes.pairs(&gpu, &scene.asked()).unwrap(), Some(wanted));
    }
}

#[test]
fn what_has_no_room_the_twin_knows_and_has_room_the_next_time() {
    let Some(gpu) = Gpu::for_test() else { return };
    let scene = Scene::random(1100, Lie::OnePlace, 1);
    let wanted = scene.wanted();
    let mut broad = BroadPhase::default();
    let _ = gpu.take_traffic();
    let waits = || gpu.take_traffic().iter().map(|(_, traffic)| traffic.waits).sum::<u64>();
    assert!(wanted.len() > 1100 * super::PAIRS_A_BOX);
    assert_eq!(broad.pairs(Some(&gpu), &scene.asked()).unwrap(), wanted);
    assert_eq!(waits(), 1);
    let passes = broad.passes.as_mut().expect("made by now");
    assert_eq!(passes.pairs(&gpu, &scene.asked()).unwrap(), Some(wanted), "by the passes alone");
    assert_eq!(waits(), 1);
}

/// More pairs than anybody looks at.
#[test]
fn what_lies_all_in_one_place_is_refused_by_the_passes_too() {
    let Some(gpu) = Gpu::for_test() else { return };
    let scene = Scene { moves: vec![true; 6000], ..Scene::random(6000, Lie::OnePlace, 1) };
    let mut broad = BroadPhase::default();
    for _ in 0..2 {
        let found = broad.pairs(Some(&gpu), &scene.asked());
        assert!(matches!(found, Err(GpuError::Crowded { most: MOST_PAIRS })));
    }
    assert_eq!(scene.asked().pairs(), Err(Crowded));
    let passes = broad.passes.as_ref().expect("made by now");
    assert!(passes.expected > MOST_PAIRS, "{}", passes.expected);
}

#[test]
fn few_bodies_and_no_device_are_for_the_cores() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut broad = BroadPhase::default();
    let few = Scene::random(MANY - 1, Lie::Heap(DVec3::ONE), 4);
    assert_eq!(broad.pairs(Some(&gpu), &few.asked()).unwrap(), few.wanted());
    let many = Scene::random(MANY, Lie::Heap(DVec3::splat(3.0)), 4);
    assert_eq!(broad.pairs(None, &many.asked()).unwrap(), many.wanted());
    assert!(broad.passes.is_none());
    assert_eq!(broad.pairs(Some(&gpu), &many.asked()).unwrap(), many.wanted());
    assert!(broad.passes.is_some());
}

#[test]
fn errors_planted_in_the_passes_are_found() {
    let Some(gpu) = Gpu::for_test() else { return };
    let cases: Vec<_> = [2, 1200].into_iter().flat_map(scenes).collect();
    let wanted: Vec<_> = cases.iter().map(|(_, scene)| scene.wanted()).collect();
    // Kernels without an error are compiled once, as long as something holds them.
    let _held = NearPasses::new(&gpu);
    // Whether all comes out right, by the bitonic sort and by digits.
    let is_right = || {
        [usize::MAX, 0].into_iter().all(|radix_from| {
            let mut passes = NearPasses::new(&gpu);
            passes.hierarchy.radix_from = radix_from;
            let mut right = |((lie, scene), wanted): (&(Lie, Scene), &Vec<(u32, u32)>)| {
                let said = passes.candidates(&gpu, &scene.asked()).unwrap();
                let found = passes.pairs(&gpu, &scene.asked()).unwrap();
                said.is_some_and(|said| is_few(*lie, said.len(), wanted.len()))
                    && found.as_ref() == Some(wanted)
            };
            cases.iter().zip(&wanted).all(&mut right) && keys_are_right(&gpu, radix_from, &cases[6].1)
        })
    };
    assert!(is_right());
    for (name, from, to) in [
        ("codes", "params.words * id + 4u", "params.words * id"),
        ("codes", ">> vec3<u32>(10u)", ">> vec3<u32>(9u)"),
        ("codes", "id >= params.boxes", "id + 1u >= params.boxes"),
        ("sort_block", "is_after ==", "is_after !="),
        ("sort_step", "(low & params.size) == 0u", "true"),
        ("tree", "params.boxes - 1u + (child", "params.boxes + (child"),
        ("tree", "select(0u, LEAF, first == middle)", "LEAF"),
        ("boxes", "if !grew", "if true"),
        ("boxes", "params.words * id + 4u", "params.words * id"),
        ("pairs", "child > id", "child > id + 1u"),
        ("pairs", "branches[child].w > id", "branches[child].z > id"),
        ("pairs", "(a.moves | b.moves) == 0u", "(a.moves & b.moves) == 0u"),
        ("pairs", "any(b.low > a.high)", "any(b.low >= a.low)"),
        ("pairs", "let apart = closer(a, b)", "let apart = -closer(a, b)"),
        ("pairs", "let apart = closer(a, b)", "let apart = 10.0 * closer(a, b)"),
        ("pairs", "length(a.travel - b.travel) + spin", "length(a.travel - b.travel)"),
        ("pairs", "(b.centre - a.centre) +", "0.0 * b.centre +"),
        ("pairs", "ROUNDED * (length(way)", "-1000.0 * ROUNDED * (length(way)"),
        ("pairs", "dot(box.x, v)", "dot(box.y, v)"),
        ("pairs", "slot < params.room", "slot + 1u < params.room"),
    ] {
        let path: &'static str = format!("bodies/broad_phase/passes/{name}").leak();
        let right = with_error(path, (from, to), is_right);
        // A list is never quite full here: that one the next test finds.
        assert_eq!(right, name == "pairs" && to.starts_with("slot"), "{name} with '{to}'");
    }
}

/// As many pairs as there is room for, and one more.
#[test]
fn a_list_may_be_full_to_the_last_pair() {
    let Some(gpu) = Gpu::for_test() else { return };
    // 33 in one place, all moving: 528 pairs, and 16 times 33 are 528, too.
    let scene = |n: usize| Scene { moves: vec![true; n], ..Scene::random(n, Lie::OnePlace, 1) };
    let full = |gpu: &Gpu| {
        let full = scene(33);
        NearPasses::new(gpu).pairs(gpu, &full.asked()).unwrap() == Some(full.wanted())
    };
    assert!(full(&gpu));
    assert_eq!(NearPasses::new(&gpu).pairs(&gpu, &scene(34).asked()).unwrap(), None);
    let error = ("slot < params.room", "slot + 1u < params.room");
    assert!(!with_error("bodies/broad_phase/passes/pairs", error, || full(&gpu)));
}

/// Whether the codes of all boxes come in order, equal ones by number.
fn keys_are_right(gpu: &Gpu, radix_from: usize, scene: &Scene) -> bool {
    let mut passes = HierarchyPasses::compiled(&|path| Kernel::new(gpu, path));
    passes.radix_from = radix_from;
    let boxes = MovingBoxes::new(&scene.asked());
    let count = boxes.items.len();
    let code = |(k, b): (usize, &super::MovingBox)| {
        let middle: [u32; 3] = std::array::from_fn(|i| ((b.low[i] + b.high[i]) / 2) as u32 >> 10);
        [morton::encode(middle) as u32, k as u32]
    };
    let mut wanted: Vec<_> = boxes.items.iter().enumerate().map(code).collect();
    wanted.sort_unstable();
    let (hierarchy, items) = keyed(gpu, &boxes);
    let mut rec = Recorder::new(gpu, "test");
    passes.record_keys(&mut rec, &Scan::new(gpu), &hierarchy, &items, count).unwrap();
    rec.submit();
    hierarchy.keys.read_range(gpu, 0, count).unwrap() == wanted
}

#[test]
fn both_sorts_give_the_same_keys() {
    let Some(gpu) = Gpu::for_test() else { return };
    for (n, lie) in [(2, Lie::OneCode), (1000, Lie::OneCode), (3000, Lie::Heap(DVec3::ONE))] {
        let scene = Scene::random(n, lie, 2);
        for radix_from in [usize::MAX, 0] {
            assert!(keys_are_right(&gpu, radix_from, &scene), "{n} {lie:?} {radix_from}");
        }
    }
}

fn keyed(gpu: &Gpu, boxes: &MovingBoxes) -> (Hierarchy, Buffer<super::MovingBox>) {
    let hierarchy = Hierarchy::new(gpu, boxes.items.len()).unwrap();
    (hierarchy, Buffer::from_slice(gpu, "boxes", &boxes.items).unwrap())
}

/// A heap of `n` cuboids, on their way down onto a floor and onto each other.
fn cuboids(n: usize, narrow: Narrow) -> World {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let contacts = ContactsId::named("hull").expect("it is in the table");
    let mut world = testing::world(WorldSettings { contacts, narrow, ..WorldSettings::default() });
    // Answered on the cores, since contacts that a device answers differ in the last bits.
    world.responder = ActiveSolver::of(world.settings.response, Box::new(SoftStep::default()));
    let corners = (0..8u32).map(|c| 0.1 * DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from)));
    let faces: [[u32; 4]; 6] =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let convex = Convex::new(corners.collect(), faces.map(Vec::from).into()).expect("a cuboid");
    let shape = Arc::new(Shape::convex(convex, 1000.0, Look::default()));
    for k in 0..n {
        let mut v = || rng.random_range(-1.0..1.0f64);
        let mut def = BodyDef {
            shape: Arc::clone(&shape),
            meters_per_unit: 1.0,
            object_size_m: 0.1,
            family: Family::unique(),
            friction: 0.6,
            restitution: 0.0,
            rolling_resistance: 0.0,
            fixed: k % 40 == 0,
            physics_level: 5,
            structure: None,
            state: BodyState::at(DVec3::ZERO),
        };
        let at = [k % 10, k / 100, k / 10 % 10].map(|i| 0.11 * i as f64);
        let place = DMat4::from_translation(DVec3::from(at) + DVec3::new(0.0, 0.005, 0.0));
        def.state = def.state_in_place(place * DMat4::from_rotation_y(0.05 * v()));
        def.state.linear_velocity = DVec3::new(v(), v() - 1.0, v());
        def.state.angular_velocity = DVec3::new(v(), v(), v());
        world.add(def);
    }
    world
}

#[test]
fn a_thousand_hulls_step_the_same_with_passes_and_without() {
    let Some(gpu) = Gpu::for_test() else { return };
    let arena = Arena::new(&gpu).expect("an arena");
    let [mut by_passes, mut by_cores] = [Narrow::Gpu, Narrow::Cpu].map(|narrow| cuboids(1100, narrow));
    let _ = gpu.take_all_traffic();
    for step in 0..15 {
        let reports = [&mut by_passes, &mut by_cores].map(|world| {
            let report = world.step(Some((&gpu, &arena))).expect("a step");
            let traffic = gpu.take_all_traffic();
            let sought = [report.pairs, report.collision_points, report.contacts];
            (sought, [traffic.waits, traffic.submissions])
        });
        let [(by_passes, asked), (by_cores, none)] = reports;
        assert_eq!(by_passes, by_cores, "step {step}");
        // The pairs, and the copy of what was found.
        assert_eq!((asked, none), ([1, 2], [0, 0]), "step {step}");
    }
    assert!(by_passes.manifolds.len() > 1000, "{}", by_passes.manifolds.len());
    assert_eq!(digest(&by_passes), digest(&by_cores));
}

/// Another device, or none, from now on.
#[test]
fn passes_go_with_their_device() {
    let Some(gpu) = Gpu::for_test() else { return };
    let arena = Arena::new(&gpu).expect("an arena");
    let [mut world, mut by_cores] = [Narrow::Gpu, Narrow::Cpu].map(|narrow| cuboids(1000, narrow));
    let both = |world: &mut World, by_cores: &mut World, gpu: &Gpu, arena: &Arena| {
        world.step(Some((gpu, arena))).expect("a step");
        by_cores.step_on_cpu();
        assert_eq!(digest(world), digest(by_cores));
    };
    both(&mut world, &mut by_cores, &gpu, &arena);
    let other = Gpu::headless().expect("there is one");
    let arena = Arena::new(&other).expect("an arena");
    world.run_on(Some(&other)).expect("passes");
    both(&mut world, &mut by_cores, &other, &arena);
}

/// Dispatches every kernel of this folder.
pub(crate) fn run_every_kernel() {
    let Some(gpu) = Gpu::for_test() else { return };
    // More boxes than a block of the bitonic sort has keys.
    let scene = Scene::random(1200, Lie::Heap(DVec3::splat(3.0)), 1);
    NearPasses::new(&gpu).pairs(&gpu, &scene.asked()).expect("bound");
}

/// Milliseconds of the middle one of some runs.
fn median_ms(runs: usize, mut work: impl FnMut()) -> f64 {
    work();
    let mut all: Vec<f64> = (0..runs)
        .map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all[runs / 2]
}

#[test]
#[ignore = "measures time: run it alone, on a machine with nothing else to do"]
fn sorts_and_near_pairs_are_measured() {
    let Some(gpu) = Gpu::for_test() else { return };
    println!("{}", gpu.describe());
    let mut passes = HierarchyPasses::compiled(&|path| Kernel::new(&gpu, path));
    let scan = Scan::new(&gpu);
    println!("| Boxes | bitonic, ms | by digits, ms |");
    for n in [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000] {
        let lie = Lie::Heap(DVec3::splat((f64::from(n) / 60.0).cbrt()));
        let boxes = MovingBoxes::new(&Scene::random(n as usize, lie, 1).asked());
        let (hierarchy, items) = keyed(&gpu, &boxes);
        let times = [usize::MAX, 0].map(|radix_from| {
            passes.radix_from = radix_from;
            median_ms(15, || {
                let mut rec = Recorder::with_room(&gpu, "test", 0);
                passes.record_keys(&mut rec, &scan, &hierarchy, &items, boxes.items.len()).unwrap();
                rec.submit();
                gpu.wait().unwrap();
            })
        });
        println!("| {n} | {:.2} | {:.2} |", times[0], times[1]);
    }
    println!("| Boxes | Pairs | Sweep, ms | Tree, ms | Passes, ms |");
    let mut passes = NearPasses::new(&gpu);
    for n in [1000, 3000, 5000, 20_000] {
        let lie = Lie::Heap(DVec3::splat((f64::from(n) / 60.0).cbrt()));
        let scene = Scene::random(n as usize, lie, 1);
        let asked = scene.asked();
        let pairs = scene.wanted().len();
        let swept = median_ms(5, || _ = sweep(&scene.boxes, &scene.moves, |i, j| asked.closer(i, j)));
        let by_tree = median_ms(5, || _ = tree::pairs(&scene.boxes, &scene.moves, |i, j| asked.closer(i, j)));
        let by_passes = median_ms(5, || _ = passes.pairs(&gpu, &asked).unwrap());
        println!("| {n} | {pairs} | {swept:.1} | {by_tree:.1} | {by_passes:.1} |");
    }
}
