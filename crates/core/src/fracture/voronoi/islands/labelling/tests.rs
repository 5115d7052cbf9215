//! Both labellings against a plain union-find over cells, up to renaming, and the published one against its plain
//! loops, iteration by iteration.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use crate::geometry::Aabb;
use glam::{DVec3, IVec3};
use proptest::prelude::*;

use super::{IterativePass, IterativeRun, Labeller, NativeRun, Playback, Voxels, plain::Plain};
use crate::{
    fracture::{
        Cancel, Fracture, FractureParams, Fracturer, Labelling, Pattern, Recipe, Source,
        voronoi::{
            islands::{Islands, IslandsPass},
            testing::{forest_of, octrees_of},
        },
    },
    gpu::{
        Gpu, Submissions,
        primitives::{Plan, Scan},
    },
    svo::{Arena, Forest, Key, morton},
};

struct Bench {
    gpu: Gpu,
    scan: Scan,
    plan: Plan,
    union_find: IslandsPass,
    iterative: IterativePass,
    fracturer: Fracturer,
}

impl Bench {
    fn get() -> &'static Self {
        static BENCH: std::sync::OnceLock<Bench> = std::sync::OnceLock::new();
        BENCH.get_or_init(|| {
            let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
            let (union_find, iterative) = (IslandsPass::new(&gpu), IterativePass::new(&gpu));
            let fracturer = Fracturer::new(&gpu).unwrap();
            Self { scan: Scan::new(&gpu), plan: Plan::new(&gpu), gpu, union_find, iterative, fracturer }
        })
    }

    fn islands(&self, forest: &Forest, labelling: Labelling) -> Islands {
        let octrees = octrees_of(&self.gpu, forest);
        let mut work = Submissions::new(&self.gpu, &self.scan, &self.plan);
        match labelling {
            Labelling::UnionFind => self.union_find.run(&mut work, &octrees, forest.level, &[]),
            Labelling::Iterative => self.iterative.islands(&mut work, &octrees, forest.level),
        }
        .unwrap()
    }

    fn break_up(&self, forest: Forest, seeds: &[DVec3], recipe: &Recipe) -> Fracture {
        let forest = Arc::new(forest);
        let pattern = Pattern::from_points(seeds, forest.level).unwrap();
        let mut arena = Arena::new(&self.gpu).unwrap();
        let slot = arena.insert(&forest).unwrap();
        let source = Source { arena: &arena, slot, forest: &forest, tree: 0, cancel: Cancel::never() };
        self.fracturer.fracture(&source, &pattern, recipe).unwrap()
    }
}

/// Sets of cells (leaf level), sorted, by what `label` says of a (node, Morton code).
fn sets(forest: &Forest, label: impl Fn(u32, Key) -> u32) -> Vec<Vec<Key>> {
    let mut sets: BTreeMap<u32, Vec<Key>> = BTreeMap::new();
    for voxel in Voxels::of(forest, &vec![0; forest.trees()], true).list {
        for key in voxel.key..voxel.key + (1 << (3 * voxel.size_log2)) {
            sets.entry(label(voxel.node, key)).or_default().push(key);
        }
    }
    let mut sets: Vec<_> = sets.into_values().collect();
    sets.iter_mut().for_each(|set| set.sort_unstable());
    sets.sort_unstable();
    sets
}

/// Plain union-find over the cells of a solid, 26 neighbours each.
fn united(level: u32, solid: &HashSet<IVec3>) -> Vec<Vec<Key>> {
    let cells: Vec<IVec3> = solid.iter().copied().collect();
    let number: HashMap<IVec3, usize> = cells.iter().enumerate().map(|(i, p)| (*p, i)).collect();
    let mut parent: Vec<usize> = (0..cells.len()).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    for (i, p) in cells.iter().enumerate() {
        for n in 0..27 {
            if let Some(&j) = number.get(&(*p + IVec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1))) {
                let (a, b) = (root(&mut parent, i), root(&mut parent, j));
                parent[a] = b;
            }
        }
    }
    let mut sets: BTreeMap<usize, Vec<Key>> = BTreeMap::new();
    for (i, p) in cells.iter().enumerate() {
        assert!(p.max_element() < 1 << level);
        sets.entry(root(&mut parent, i)).or_default().push(morton::encode(p.as_uvec3().to_array()));
    }
    let mut sets: Vec<_> = sets.into_values().collect();
    sets.iter_mut().for_each(|set| set.sort_unstable());
    sets.sort_unstable();
    sets
}

fn cells_where(level: u32, solid: impl Fn(IVec3) -> bool) -> HashSet<IVec3> {
    let side = 1i32 << level;
    (0..side.pow(3))
        .map(|i| IVec3::new(i % side, i / side % side, i / side / side))
        .filter(|p| solid(*p))
        .collect()
}

/// A path one cell wide that winds inwards, one cell apart from itself.
fn spiral(level: u32) -> HashSet<IVec3> {
    let mut at = IVec3::new(1, 3, 1);
    let mut path = HashSet::from([at]);
    let mut length = (1 << level) - 3;
    let turns = [IVec3::X, IVec3::Z, IVec3::NEG_X, IVec3::NEG_Z];
    for (side, d) in turns.iter().cycle().enumerate() {
        if side > 2 && side % 2 == 1 {
            length -= 2;
        }
        if length <= 0 {
            break;
        }
        for _ in 0..length {
            at += *d;
            path.insert(at);
        }
    }
    path
}

/// (name, level, cells, number of components).
fn shapes() -> Vec<(&'static str, u32, HashSet<IVec3>, usize)> {
    let diagonal = |steps: &[IVec3]| {
        let mut at = IVec3::splat(1);
        let mut cells = HashSet::from([at]);
        for d in steps {
            at += *d;
            cells.insert(at);
        }
        cells
    };
    let corner = vec![IVec3::ONE; 13];
    let edges = [IVec3::new(1, 1, 0), IVec3::new(0, 1, 1), IVec3::new(1, 0, 1)].repeat(4);
    let gaps = vec![IVec3::splat(2); 6];
    let block = |p: IVec3, half: i32| (2 * p + 1 - IVec3::splat(32)).abs().max_element() < 2 * half;
    vec![
        ("empty", 4, HashSet::new(), 0),
        ("single voxel", 4, HashSet::from([IVec3::new(7, 8, 3)]), 1),
        ("corner contacts", 4, diagonal(&corner), 1),
        ("edge contacts", 4, diagonal(&edges), 1),
        ("every other corner", 4, diagonal(&gaps), 7),
        ("comb", 5, cells_where(5, |p| p.y < 5 || (p.x % 3 == 0 && p.z % 3 == 0 && p.y < 30)), 1),
        ("teeth", 5, cells_where(5, |p| p.y > 4 && p.x % 3 == 0 && p.z % 3 == 0), 121),
        ("spiral", 5, spiral(5), 1),
        ("sealed cavity", 5, cells_where(5, |p| block(p, 13) && !block(p, 5)), 1),
        ("block in a cavity", 5, cells_where(5, |p| block(p, 15) && (!block(p, 9) || block(p, 4))), 2),
        ("checkerboard", 4, cells_where(4, |p| (p.x + p.y + p.z) % 2 == 0), 1),
        ("full grid", 4, cells_where(4, |_| true), 1),
        // More components than the list has room for at first.
        ("scattered", 6, cells_where(6, |p| p % 3 == IVec3::ZERO), 22usize.pow(3)),
    ]
}

/// Whether labels of a method split the forest as `wanted` does, and its list of components has their number.
fn agrees(forest: &Forest, islands: &Islands, labels: &[u32], wanted: &[Vec<Key>]) -> bool {
    sets(forest, |node, _| labels[node as usize]) == wanted && islands.components.len() == wanted.len()
}

fn check_both(level: u32, solid: &HashSet<IVec3>, what: &str) -> usize {
    let bench = Bench::get();
    let forest = forest_of(level, |p| solid.contains(&p));
    let wanted = united(level, solid);
    let mut lists = Vec::new();
    for labelling in [Labelling::UnionFind, Labelling::Iterative] {
        let islands = bench.islands(&forest, labelling);
        let labels = islands.labels.read(&bench.gpu).unwrap();
        assert!(agrees(&forest, &islands, &labels, &wanted), "{what}: {labelling:?}");
        lists.push((islands.components, labels));
    }
    assert!(lists[0] == lists[1], "{what}: the two methods name components alike");
    wanted.len()
}

#[test]
fn labels_equal_a_plain_union_find() {
    for (name, level, solid, components) in shapes() {
        let found = check_both(level, &solid, name);
        println!("{name}: {} cells, {found} components", solid.len());
        assert_eq!(found, components, "{name}");
    }
}

#[test]
fn a_planted_error_is_caught() {
    let bench = Bench::get();
    let (_, level, solid, _) = shapes().swap_remove(4);
    let forest = forest_of(level, |p| solid.contains(&p));
    let wanted = united(level, &solid);
    for labelling in [Labelling::UnionFind, Labelling::Iterative] {
        let islands = bench.islands(&forest, labelling);
        let labels = islands.labels.read(&bench.gpu).unwrap();
        assert!(agrees(&forest, &islands, &labels, &wanted));
        let last = *labels.last().unwrap();
        let mut joined = labels.clone();
        joined.iter_mut().filter(|label| **label == last).for_each(|label| *label = labels[labels.len() - 2]);
        assert!(!agrees(&forest, &islands, &joined, &wanted), "two components made one");
        // The union-find must not depend on the list alone either.
        let mut fewer = solid.clone();
        fewer.remove(&IVec3::splat(1));
        assert!(!agrees(&forest, &islands, &labels, &united(level, &fewer)), "a component lost");
    }
}

fn random_cells(level: u32, rng: u64, percent: u64, lump: i32) -> HashSet<IVec3> {
    cells_where(level, |p| {
        let q = p / lump;
        let mut h = (q.x as u64 | (q.y as u64) << 20 | (q.z as u64) << 40) ^ rng.rotate_left(17);
        for _ in 0..3 {
            h = (h ^ (h >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(rng);
        }
        (h >> 33) % 100 < percent
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn labels_equal_a_plain_union_find_on_random_cells(
        level in 3u32..6, rng: u64, percent in 5u64..51, lump in 1i32..4
    ) {
        check_both(level, &random_cells(level, rng, percent, lump), "random cells");
    }
}

/// Runs both to the end and compares every iteration; returns the number of iterations.
fn assert_parity(voxels: &Voxels, flatten: bool, what: &str) -> usize {
    let bench = Bench::get();
    let mut run = IterativeRun::new(&bench.gpu, voxels).unwrap();
    if !flatten {
        run = run.without_flattening();
    }
    let mut wanted = Plain::new(voxels);
    wanted.flatten = flatten;
    let mut native = NativeRun::new(voxels, flatten);
    let mut done = vec![false; voxels.cells.len()];
    let mut iterations = 0;
    while !run.finished() {
        let launched: u64 =
            voxels.ranges.iter().zip(&done).filter(|(_, d)| !**d).map(|([a, b], _)| u64::from(b - a)).sum();
        let step = run.step(&bench.gpu, &bench.iterative).unwrap();
        iterations += 1;
        assert_eq!(step.iteration as usize, iterations);
        assert_eq!(step.launched, launched, "{what}: groups at rest are not launched");
        assert_eq!(native.step(), step, "{what}: iteration {iterations} on the cores");
        assert!(native.labels() == run.labels(&bench.gpu).unwrap(), "{what}: labels on the cores");
        assert_eq!(step.changes, wanted.step(), "{what}: changes of iteration {iterations}");
        assert!(
            run.labels(&bench.gpu).unwrap() == wanted.labels,
            "{what}: labels after iteration {iterations}"
        );
        done = step.done;
    }
    assert!(native.finished(), "{what}: the cores have ended too");
    assert!(wanted.step().iter().all(|n| *n == 0), "{what}: the plain loops have ended too");
    iterations
}

fn seeds(level: u32, count: u32, rng: u64) -> Vec<DVec3> {
    let side = f64::from(1u32 << level);
    let params = FractureParams { seeds: count, radii: vec![0.2, 0.45], rng, ..Default::default() };
    let bounds = Aabb::new(DVec3::ZERO, DVec3::splat(side));
    let pattern = Pattern::on_spheres(&params, DVec3::splat(side / 2.0), bounds, level).unwrap();
    pattern.seeds_in_voxels(level).into_iter().map(DVec3::from_array).collect()
}

#[test]
fn every_iteration_equals_the_plain_loops() {
    let bench = Bench::get();
    for (name, level, solid, _) in shapes() {
        let forest = forest_of(level, |p| solid.contains(&p));
        for inside in [true, false] {
            let voxels = Voxels::of(&forest, &[0], inside);
            let (flat, steep) = (assert_parity(&voxels, true, name), assert_parity(&voxels, false, name));
            println!("{name}, inside {inside}: {flat} iterations, {steep} without flattening");
            assert!(flat <= steep);
        }
    }
    // Many groups that end at different times.
    let (_, level, solid, _) = shapes().swap_remove(5);
    let fracture =
        bench.break_up(forest_of(level, |p| solid.contains(&p)), &seeds(level, 12, 3), &Recipe::default());
    for inside in [true, false] {
        let voxels = Voxels::of_fracture(&fracture, inside);
        assert!(voxels.cells.len() > 5);
        assert!(assert_parity(&voxels, true, "broken comb") > 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_iteration_equals_the_plain_loops_on_random_cells(
        level in 3u32..6, rng: u64, percent in 5u64..51, lump in 1i32..4, inside: bool, flatten: bool
    ) {
        let solid = random_cells(level, rng, percent, lump);
        let forest = forest_of(level, |p| solid.contains(&p));
        assert_parity(&Voxels::of(&forest, &[0], inside), flatten, "random cells");
    }
}

#[test]
fn a_planted_label_is_caught() {
    // Cells that touch nothing, so that the error cannot heal.
    let (_, level, solid, _) = shapes().swap_remove(4);
    let voxels = Voxels::of(&forest_of(level, |p| solid.contains(&p)), &[0], true);
    let bench = Bench::get();
    let mut run = IterativeRun::new(&bench.gpu, &voxels).unwrap();
    let mut wanted = Plain::new(&voxels);
    wanted.labels[2] = 3;
    let step = run.step(&bench.gpu, &bench.iterative).unwrap();
    assert_eq!(step.changes, wanted.step());
    assert!(run.labels(&bench.gpu).unwrap() != wanted.labels);
}

/// Number of labels in all cells.
fn count(voxels: &Voxels) -> usize {
    let bench = Bench::get();
    bench.iterative.run(&bench.gpu, voxels).unwrap().into_iter().collect::<HashSet<_>>().len()
}

/// The published method labels boundary voxels alone; a sealed cavity's wall then comes out as a piece of its own.
#[test]
fn boundary_voxels_alone_make_a_sealed_cavity_a_piece() {
    let bench = Bench::get();
    let (name, level, solid, _) = shapes().swap_remove(8);
    assert_eq!(name, "sealed cavity");
    let forest = || forest_of(level, |p| solid.contains(&p));
    let whole = forest();
    assert_eq!(count(&Voxels::of(&whole, &[0], true)), 1);
    assert_eq!(count(&Voxels::of(&whole, &[0], false)), 2);
    // Two cells; the cavity lies wholly in one.
    let points = [DVec3::new(20.0, 16.0, 16.0), DVec3::new(-2.0, 16.0, 16.0)];
    let fracture = bench.break_up(forest(), &points, &Recipe::default());
    assert_eq!(fracture.counts.pieces, 2);
    assert_eq!(count(&Voxels::of_fracture(&fracture, true)), 2);
    assert_eq!(count(&Voxels::of_fracture(&fracture, false)), 3);
}

#[test]
fn both_labellings_give_the_same_fracture() {
    for (name, level, solid, _) in shapes().into_iter().filter(|shape| shape.2.len() > 500) {
        for island_level in [None, Some(2), Some(4)] {
            let recipe = |labelling| Recipe { island_level, labelling, ..Recipe::default() };
            let break_up = |labelling| {
                let forest = forest_of(level, |p| solid.contains(&p));
                Bench::get().break_up(forest, &seeds(level, 9, 5), &recipe(labelling))
            };
            let (a, b) = (break_up(Labelling::UnionFind), break_up(Labelling::Iterative));
            println!("{name}, island level {island_level:?}: {} pieces", a.pieces.len());
            assert!(*a.forest == *b.forest && a.pieces == b.pieces, "{name}, {island_level:?}");
            if island_level.is_none() {
                // One label a piece.
                let voxels = Voxels::of_fracture(&a, true);
                let bench = Bench::get();
                let labels = bench.iterative.run(&bench.gpu, &voxels).unwrap();
                let both: HashSet<_> = labels.iter().zip(&voxels.list).map(|(l, v)| (*l, v.tree)).collect();
                assert_eq!((both.len(), count(&voxels)), (a.pieces.len(), a.pieces.len()));
            }
        }
    }
}

#[test]
fn the_theatre_plays_backwards() {
    let bench = Bench::get();
    let (_, level, solid, _) = shapes().swap_remove(7);
    let voxels = Voxels::of(&forest_of(level, |p| solid.contains(&p)), &[0], true);
    let labellers = [Labeller::Native, Labeller::Passes(&bench.gpu, &bench.iterative)];
    let pasts = labellers.map(|labeller| play(&voxels, labeller));
    assert!(pasts[0] == pasts[1], "the same on the cores and in passes");
}

/// Plays a labelling to the end, back, and to the end again; returns the labels after every iteration.
fn play(voxels: &Voxels, labeller: Labeller<'_>) -> Vec<Vec<u32>> {
    let mut theatre = Playback::new(labeller, voxels, false).unwrap();
    let mut past = vec![theatre.labels().to_vec()];
    while theatre.forward(labeller).unwrap() {
        past.push(theatre.labels().to_vec());
    }
    assert!(theatre.at_end() && past.len() > 3);
    assert_eq!(theatre.steps().len() + 1, past.len());
    assert_eq!(theatre.steps().last().map(|s| s.total()), Some(0));
    for labels in past.iter().rev().skip(1) {
        assert!(theatre.back());
        assert!(theatre.labels() == labels);
    }
    assert!(!theatre.back() && theatre.at() == 0);
    for labels in &past[1..] {
        assert!(theatre.forward(labeller).unwrap());
        assert!(theatre.labels() == labels);
    }
    assert!(!theatre.forward(labeller).unwrap());
    past
}
