//! The hierarchy against every pair of boxes, and against the sweep of the CPU; with errors planted in the kernels.

use super::{BroadPasses, Hierarchy};
use crate::{
    Body, BodyDef, Family, LevelOfDetail, Obb, PairLevels, World, WorldSettings,
    broad_phase::{self, bounds, closer},
    collide::octree::{
        Levels,
        passes::{
            shared::{ContactParams, NEAR},
            upload::Solids,
        },
        reach,
    },
    gpu::{Buffer, Gpu, Kernel, Recorder, primitives::Scan, shaders},
    svo::{Arena, morton},
    testing::{block, body, grid, world},
};
use glam::{DQuat, DVec3};
use rand::{RngExt, SeedableRng};
use std::sync::Arc;

const DT: f64 = 0.01;

/// Bodies of two shapes, some of them asleep or fixed, some fast, `spread` m apart; every seventh lies where the one
/// before it does, at zero `spread` all of them do.
fn scattered(count: usize, spread: f64, seed: u64) -> World {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let shapes = [Arc::new(block(3, [1; 3], [7; 3])), Arc::new(block(3, [3, 0, 2], [5, 8, 7]))];
    let defs = shapes.each_ref().map(|forest| body(forest, 0, grid(3, 1.0), 3, DVec3::ZERO));
    let mut w = world(WorldSettings::default());
    let mut state = defs[0].state;
    for k in 0..count {
        let mut part = |size: f64| DVec3::from([(); 3].map(|()| rng.random_range(-1.0..1.0))) * size;
        if k % 7 != 1 {
            state.position = part(spread);
            state.rotation = DQuat::from_scaled_axis(part(if spread > 0.0 { 3.0 } else { 0.0 }));
        }
        (state.linear_velocity, state.angular_velocity) = (part(20.0), part(5.0));
        let fixed = k % 5 == 3;
        w.add(BodyDef { state, fixed, family: Family::unique(), ..defs[k % 2].clone() });
        w.bodies[k].asleep = k % 3 == 0;
    }
    w
}

fn boxes(bodies: &[Body]) -> Vec<Option<Obb>> {
    let none = PairLevels::default();
    let reach = reach(bodies, LevelOfDetail { pairs: &none, far: None });
    let each = bodies.iter().zip(reach).enumerate();
    // Who has no box takes no part.
    each.map(|(k, (b, reach))| (k % 11 != 6).then(|| bounds(b, reach, DT, DVec3::ZERO)).flatten()).collect()
}

struct Bench {
    gpu: Gpu,
    arena: Arena,
}

/// What the passes say: sorted keys, and pairs of solids, ascending.
struct Said {
    keys: Vec<[u32; 2]>,
    pairs: Vec<(u32, u32)>,
}

impl Bench {
    fn new() -> Option<Self> {
        let gpu = Gpu::for_test()?;
        let arena = Arena::new(&gpu).expect("an arena");
        Some(Self { gpu, arena })
    }

    fn solids(&mut self, w: &World) -> Solids {
        for b in &w.bodies {
            self.arena.insert(&b.def.octree().forest).expect("room");
        }
        let none = PairLevels::default();
        let levels = Levels::new(&w.bodies, LevelOfDetail { pairs: &none, far: None });
        Solids::new(&w.bodies, &boxes(&w.bodies), &levels, &none, &self.arena).expect("all octrees are there")
    }

    fn ask(&self, passes: &BroadPasses, solids: &Solids, slack: f32) -> Said {
        let (gpu, n) = (&self.gpu, solids.items.len());
        let hierarchy = Hierarchy::new(gpu, n).expect("room");
        let room = n * n / 2 + 1;
        let near = Buffer::<u32>::zeroed(gpu, "near", 4 * room).expect("room");
        let counters = Buffer::<u32>::zeroed(gpu, "counters", 64).expect("room");
        let tables = Buffer::from_slice(gpu, "tables", &solids.tables(|_, _| [0, 0])).expect("room");
        let items = Buffer::from_slice(gpu, "solids", &solids.items).expect("room");
        let params = ContactParams {
            solids: n as u32,
            near_room: room as u32,
            dt: DT as f32,
            slack,
            ..ContactParams::default()
        };
        let mut rec = Recorder::new(gpu, "test");
        let given = [&tables, &counters];
        passes.record(&mut rec, (&hierarchy, &Scan::new(gpu)), &params, given, &items, &near).expect("bound");
        rec.submit();
        let count = counters.read(gpu).expect("counters")[NEAR] as usize;
        let mut pairs: Vec<(u32, u32)> = near.read(gpu).expect("pairs")[..4 * count.min(room)]
            .chunks_exact(4)
            .map(|pair| (pair[0], pair[1]))
            .collect();
        pairs.sort_unstable();
        let keys = hierarchy.keys.read(gpu).expect("keys")[..if n < 2 { 0 } else { n }].to_vec();
        Said { keys, pairs }
    }
}

/// Codes of all solids, in order; equal ones by number.
fn sorted_codes(solids: &Solids) -> Vec<[u32; 2]> {
    let code = |(k, s): (usize, &super::Solid)| {
        let middle: [u32; 3] = std::array::from_fn(|i| ((s.low[i] + s.high[i]) / 2) as u32 >> 10);
        [morton::encode(middle) as u32, k as u32]
    };
    let mut all: Vec<_> = solids.items.iter().enumerate().map(code).collect();
    all.sort_unstable();
    if all.len() < 2 { Vec::new() } else { all }
}

/// Every pair of boxes on the lattice.
fn brute_force(solids: &Solids) -> Vec<(u32, u32)> {
    let all = &solids.items;
    let meet = |i: usize, j: usize| {
        (all[i].moves | all[j].moves) != 0
            && (0..3).all(|k| all[i].low[k] <= all[j].high[k] && all[j].low[k] <= all[i].high[k])
    };
    let each = (0..all.len()).flat_map(|i| (i + 1..all.len()).map(move |j| (i, j)));
    each.filter(|&(i, j)| meet(i, j)).map(|(i, j)| (i as u32, j as u32)).collect()
}

/// The sweep of the CPU, and what the passes say after the host has sorted it out.
fn both(w: &World, solids: &Solids, pairs: &[(u32, u32)]) -> [Vec<(u32, u32)>; 2] {
    let (boxes, bodies) = (boxes(&w.bodies), &w.bodies);
    let moves: Vec<bool> = bodies.iter().map(Body::moves).collect();
    let want = broad_phase::pairs(&boxes, &moves, |i, j| closer(&bodies[i], &bodies[j], DT)).unwrap();
    let body = |solid: u32| solids.bodies[solid as usize];
    let near = |(a, b): &(u32, u32)| {
        let [i, j] = [body(*a), body(*b)];
        let [Some(a), Some(b)] = [&boxes[i], &boxes[j]] else { return false };
        a.may_meet(b, closer(&bodies[i], &bodies[j], DT))
    };
    let got = pairs.iter().filter(|pair| near(pair)).map(|(a, b)| (body(*a) as u32, body(*b) as u32));
    [want, got.collect()]
}

const ANY_TURN: f32 = 1e30;

/// P14 for the passes: sizes round those of workgroups and of blocks of the sort.
#[test]
fn the_hierarchy_finds_the_brute_force_pairs() {
    let Some(mut bench) = Bench::new() else { return };
    let passes = BroadPasses::compiled(&|path| Kernel::new(&bench.gpu, path));
    let (mut near, mut meet) = (0, 0);
    for n in [0usize, 1, 2, 3, 60, 255, 256, 257, 564, 565, 1200] {
        for spread in [0.0, 2.0, 8.0] {
            let w = scattered(if spread == 0.0 { n.min(120) } else { n }, spread, n as u64);
            let solids = bench.solids(&w);
            let wide = bench.ask(&passes, &solids, ANY_TURN);
            assert_eq!(wide.keys, sorted_codes(&solids), "{n} bodies, {spread} m apart");
            assert_eq!(wide.pairs, brute_force(&solids), "{n} bodies, {spread} m apart");
            let said = bench.ask(&passes, &solids, 0.0);
            let [want, got] = both(&w, &solids, &said.pairs);
            assert_eq!(got, want, "{n} bodies, {spread} m apart");
            // Few that the host has to sort out.
            assert!(
                said.pairs.len() <= want.len() + want.len() / 100 + 1,
                "{} {}",
                said.pairs.len(),
                want.len()
            );
            (near, meet) = (near + wide.pairs.len(), meet + want.len());
        }
    }
    println!("{near} pairs of boxes, {meet} of them as they are turned");
    assert!(meet > 5000 && near > meet + 1000);
}

#[test]
fn errors_planted_in_the_hierarchy_are_found() {
    let Some(mut bench) = Bench::new() else { return };
    let w = scattered(1200, 4.0, 1);
    let solids = bench.solids(&w);
    // Kernels without an error are compiled once, as long as something holds them.
    let _held = BroadPasses::compiled(&|path| Kernel::new(&bench.gpu, path));
    let planted = [
        ("codes", ">> vec3<u32>(10u)", ">> vec3<u32>(9u)"),
        ("sort_block", "is_after ==", "is_after !="),
        ("sort_step", "(low & params.size) == 0u", "true"),
        ("tree", "params.boxes - 1u + (child", "params.boxes + (child"),
        ("tree", "select(0u, LEAF, first == middle)", "LEAF"),
        (
            "boxes",
            "atomicMax(&bounds[BOX_WORDS * node + 3u + k], high[k])",
            "atomicMax(&bounds[BOX_WORDS * node + 3u + k], low[k])",
        ),
        ("boxes", "if !grew", "if true"),
        ("pairs", "child > id", "child > id + 1u"),
        ("pairs", "branches[child].w > id", "branches[child].z > id"),
        ("pairs", "(a.moves | b.moves) == 0u", "(a.moves & b.moves) == 0u"),
        ("pairs", "any(b.low > a.high)", "b.low.x > a.high.x"),
        ("pairs", "way + params.slack", "params.slack - way"),
        ("pairs", "turned(b, middle_b) - turned(a, middle_a)", "turned(b, middle_b)"),
    ];
    for (name, text, error) in planted {
        let kernel = |path: &'static str| {
            let source = shaders::source(path);
            if !path.ends_with(&format!("/{name}")) {
                return Kernel::new(&bench.gpu, path);
            }
            assert!(source.contains(text), "{path} has no '{text}'");
            Kernel::from_text(&bench.gpu, path, source.replace(text, error))
        };
        let passes = BroadPasses::compiled(&kernel);
        let wide = bench.ask(&passes, &solids, ANY_TURN);
        let said = bench.ask(&passes, &solids, 0.0);
        let [want, got] = both(&w, &solids, &said.pairs);
        let many = said.pairs.len() > want.len() + want.len() / 100 + 1;
        let right =
            wide.keys == sorted_codes(&solids) && wide.pairs == brute_force(&solids) && want == got && !many;
        assert!(!right, "{name} with '{error}' goes unnoticed");
    }
}
