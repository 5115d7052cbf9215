//! The passes against the brute-force reference, on shapes made here.

use std::sync::Arc;

use glam::{DVec3, IVec3};
use proptest::prelude::*;

use super::{Fracture, Fracturer, Pattern, Recipe, Source, crack::rough::RoughPass, reference};
use crate::{
    gpu::{Gpu, Kernel, shaders},
    svo::{Arena, Forest, LeafColor, Leaves, build, morton, pack_normal},
};

/// A forest from a solid's cells: those with an empty neighbour (26) are boundary, the others internal.
pub fn forest_of(level: u32, solid: impl Fn(IVec3) -> bool) -> Forest {
    let side = 1i32 << level;
    let filled = |p: IVec3| p.min_element() >= 0 && p.max_element() < side && solid(p);
    let mut keys = Vec::new();
    let mut inside = std::collections::HashSet::new();
    for z in 0..side {
        for y in 0..side {
            for x in 0..side {
                let p = IVec3::new(x, y, z);
                if !filled(p) {
                    continue;
                }
                let buried = (0..27).all(|n| filled(p + IVec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1)));
                let key = morton::encode(p.as_uvec3().to_array());
                if buried {
                    inside.insert(key);
                } else {
                    keys.push(key);
                }
            }
        }
    }
    keys.sort_unstable();
    let count = keys.len();
    let leaves = Leaves {
        keys,
        normals: vec![pack_normal(glam::Vec3::Y); count],
        colors: vec![LeafColor::new([200, 100, 50], false, 0.0); count],
        coverage: (0..count).map(|i| 0.25 + 0.5 * (i % 7) as f32 / 7.0).collect(),
        cuts: Vec::new(),
    };
    build(level, leaves, &|key: u32, l: u32| inside.contains(&(key << (3 * (level - l)))))
}

pub(super) fn ball(level: u32) -> Forest {
    let c = DVec3::splat(f64::from(1 << level) / 2.0);
    let r = f64::from(1 << level) * 0.45;
    forest_of(level, |p| (p.as_dvec3() + 0.5 - c).length() < r)
}

pub(super) fn shell(level: u32) -> Forest {
    let c = DVec3::splat(f64::from(1 << level) / 2.0);
    let n = f64::from(1 << level);
    forest_of(level, |p| ((p.as_dvec3() + 0.5 - c).length() / n - 0.36).abs() < 0.09)
}

/// A block with a sealed void.
pub(super) fn cavity(level: u32) -> Forest {
    let n = 1 << level;
    forest_of(level, |p| {
        let q = p - IVec3::splat(n / 2);
        q.abs().max_element() < n * 3 / 8 && q.abs().max_element() > n / 8
    })
}

/// Teeth on a bar: cells fall into many islands.
pub(super) fn comb(level: u32) -> Forest {
    let n = 1 << level;
    forest_of(level, |p| {
        p.min_element() > 0
            && p.max_element() < n - 1
            && (p.y < n / 6 || (p.x / 2 % 2 == 0 && p.z / 2 % 2 == 0))
    })
}

/// A sheet one voxel thick, on a slope.
pub(super) fn sheet(level: u32) -> Forest {
    forest_of(level, |p| p.x + p.y == (1 << level) - 2)
}

pub(super) fn seeds(level: u32, count: usize, rng: u64) -> Pattern {
    let params =
        super::FractureParams { seeds: count as u32, radii: vec![0.2, 0.4, 0.7], rng, ..Default::default() };
    let side = f64::from(1u32 << level);
    Pattern::on_spheres(&params, DVec3::new(0.8, 0.55, 0.4) * side, (DVec3::ZERO, DVec3::splat(side)), level)
        .unwrap()
}

/// How the passes of a kind of surface are made from a way of compiling kernels.
pub(super) type Maker = fn(&dyn Fn(&'static str) -> Kernel) -> RoughPass;

/// The passes that `make` makes, every kernel with `from` replaced by `to`.
pub(super) fn planted(gpu: &Gpu, make: Maker, from: &str, to: &str) -> RoughPass {
    let hits = std::cell::Cell::new(0);
    let pass = make(&|path| {
        let text = shaders::source(path);
        hits.set(hits.get() + usize::from(text.contains(from)));
        Kernel::from_text(gpu, path, text.replace(from, to))
    });
    assert!(hits.get() > 0, "nothing to replace");
    pass
}

pub(super) struct Bench {
    pub gpu: Gpu,
    pub fracturer: Fracturer,
}

impl Bench {
    /// One device for all tests: opening it and compiling the passes takes longer than most of them.
    pub fn get() -> &'static Self {
        static BENCH: std::sync::OnceLock<Bench> = std::sync::OnceLock::new();
        BENCH.get_or_init(|| {
            let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
            let fracturer = Fracturer::new(&gpu).unwrap();
            Self { gpu, fracturer }
        })
    }

    pub fn run(
        &self,
        forest: &Arc<Forest>,
        tree: u32,
        pattern: &Pattern,
        island_level: Option<u32>,
    ) -> Fracture {
        self.run_by(forest, tree, pattern, &Recipe { island_level, ..Recipe::default() })
    }

    pub fn run_by(&self, forest: &Arc<Forest>, tree: u32, pattern: &Pattern, recipe: &Recipe) -> Fracture {
        self.with_source(forest, tree, |source| {
            self.fracturer.fracture(&self.gpu, source, pattern, recipe).unwrap()
        })
    }

    pub fn with_source<T>(&self, forest: &Arc<Forest>, tree: u32, work: impl FnOnce(&Source<'_>) -> T) -> T {
        let mut arena = Arena::new(&self.gpu).unwrap();
        // Something in front, so that a slot's base that is forgotten shows.
        arena.insert(&self.gpu, &ball(3)).unwrap();
        let slot = arena.insert(&self.gpu, forest).unwrap();
        work(&Source { arena: &arena, slot, forest, tree })
    }
}

/// A fracture as the reference writes it.
pub(super) fn listed(fracture: &Fracture) -> reference::Reference {
    let mut out = reference::Reference::default();
    let forest = &fracture.forest;
    let mut pieces = vec![Vec::new(); forest.trees()];
    let cell_of: std::collections::HashMap<u32, u32> =
        fracture.pieces.iter().map(|p| (p.tree, p.cell)).collect();
    for tree in 0..forest.trees() {
        let cell = cell_of[&(tree as u32)];
        for i in forest.tree_start[tree] as usize..forest.tree_start[tree + 1] as usize {
            let key = forest.leaves.keys[i];
            out.copies.push((cell, key, forest.leaves.colors[i].crack()));
            pieces[tree].push((cell, key));
        }
    }
    forest.for_each_internal(|tree, low, size| {
        for z in low[2]..low[2] + size {
            for y in low[1]..low[1] + size {
                for x in low[0]..low[0] + size {
                    let voxel = (cell_of[&(tree as u32)], morton::encode([x, y, z]));
                    out.internal.push(voxel);
                    pieces[tree].push(voxel);
                }
            }
        }
    });
    out.copies.sort_unstable();
    out.internal.sort_unstable();
    for piece in &mut pieces {
        piece.sort_unstable();
    }
    pieces.sort_unstable();
    out.pieces = pieces;
    out.crack_voxels = fracture.counts.crack_voxels as usize;
    out.swallowed = fracture.counts.swallowed as usize;
    out
}

pub fn assert_parity(bench: &Bench, forest: Forest, pattern: &Pattern, what: &str) {
    let forest = Arc::new(forest);
    let got = listed(&bench.run(&forest, 0, pattern, None));
    let wanted = reference::fracture(&forest, 0, pattern);
    assert_eq!(got.copies.len(), wanted.copies.len(), "{what}: copies");
    assert!(got.copies == wanted.copies, "{what}: copies differ");
    assert!(got.internal == wanted.internal, "{what}: internal voxels differ");
    assert_eq!(got.crack_voxels, wanted.crack_voxels, "{what}: crack voxels");
    assert_eq!(got.pieces.len(), wanted.pieces.len(), "{what}: number of pieces");
    assert!(got.pieces == wanted.pieces, "{what}: pieces differ");
}

#[test]
fn equals_the_reference_on_every_shape() {
    let bench = Bench::get();
    for (name, shape) in [
        ("ball", ball as fn(u32) -> Forest),
        ("shell", shell),
        ("cavity", cavity),
        ("comb", comb),
        ("sheet", sheet),
    ] {
        for level in [3, 5, 6] {
            for count in [1, 2, 17, 60] {
                let pattern = seeds(level, count, 3 + count as u64);
                assert_parity(bench, shape(level), &pattern, &format!("{name} level {level} seeds {count}"));
            }
        }
    }
    assert_parity(bench, shell(7), &seeds(7, 40, 5), "shell level 7");
    assert_parity(bench, ball(1), &seeds(1, 3, 5), "ball level 1");
    assert_parity(bench, ball(2), &seeds(2, 9, 5), "ball level 2");
}

#[test]
fn ties_and_coincident_seeds_belong_to_the_lowest_index() {
    let bench = Bench::get();
    // Symmetric seeds on lattice planes: whole planes of corners are tied, and two seeds coincide.
    let points: Vec<DVec3> = [[8, 8, 8], [24, 8, 8], [8, 24, 8], [24, 24, 24], [24, 24, 24], [8, 8, 24]]
        .map(|p: [i32; 3]| IVec3::from_array(p).as_dvec3())
        .to_vec();
    let pattern = Pattern::from_points(&points, 5).unwrap();
    assert_parity(bench, ball(5), &pattern, "tied seeds");
}

#[test]
fn a_planted_error_is_caught() {
    let bench = Bench::get();
    let forest = Arc::new(ball(5));
    let pattern = seeds(5, 12, 1);
    let mut moved = pattern.clone();
    moved.seeds[4][0] += 700;
    let got = listed(&bench.run(&forest, 0, &moved, None));
    assert!(got != reference::fracture(&forest, 0, &pattern));
}

#[test]
fn a_sealed_cavity_beside_the_cut_gives_two_pieces() {
    let bench = Bench::get();
    let forest = Arc::new(cavity(6));
    // The void spans 24..40; the cut at x = 48 passes beside it.
    let points = [DVec3::new(36.0, 32.0, 32.0), DVec3::new(60.0, 32.0, 32.0)];
    let result = bench.run(&forest, 0, &Pattern::from_points(&points, 6).unwrap(), None);
    assert_eq!(result.counts.pieces, 2);
}

#[test]
fn one_seed_leaves_the_object_whole() {
    let bench = Bench::get();
    let forest = Arc::new(shell(6));
    let result = bench.run(&forest, 0, &seeds(6, 1, 1), None);
    assert_eq!((result.counts.pieces, result.counts.crack_voxels), (1, 0));
    assert_eq!(*result.forest, *forest, "octree, attributes and coverage are those of the source");
}

#[test]
fn mass_is_conserved_over_three_generations_and_bytes_repeat() {
    let bench = Bench::get();
    let mut forest = Arc::new(shell(6));
    let mut tree = 0;
    for generation in 0..3u64 {
        let pattern = seeds(6, 12, 40 + generation);
        let result = bench.run(&forest, tree, &pattern, None);
        let before = crate::bodies::mass_properties(&forest, tree as usize);
        let after: f64 = result.pieces.iter().map(|p| p.mass.volume).sum();
        println!(
            "generation {generation}: {} pieces, {} before, {after} after",
            result.pieces.len(),
            before.volume
        );
        assert!((after / before.volume - 1.0).abs() < 1e-6);
        assert!(result.pieces.is_sorted_by(|a, b| a.voxels >= b.voxels));
        let again = bench.run(&forest, tree, &pattern, None);
        assert_eq!(*again.forest, *result.forest);
        tree = result.pieces[0].tree;
        assert_parity(
            bench,
            single(&forest_single(&result.forest, tree)),
            &seeds(6, 9, 90),
            "piece of a piece",
        );
        forest = Arc::clone(&result.forest);
    }
}

/// One tree of a forest as a forest of its own.
pub(super) fn forest_single(forest: &Forest, tree: u32) -> (u32, Leaves, std::collections::HashSet<u32>) {
    let range = forest.tree_start[tree as usize] as usize..forest.tree_start[tree as usize + 1] as usize;
    let leaves = Leaves {
        keys: forest.leaves.keys[range.clone()].to_vec(),
        normals: forest.leaves.normals[range.clone()].to_vec(),
        // As a source, cracks of earlier generations are plain boundary; the test tells new cracks by the flag.
        colors: forest.leaves.colors[range.clone()].iter().map(|c| LeafColor(c.0 & !(1 << 24))).collect(),
        coverage: forest.leaves.coverage[range.clone()].to_vec(),
        cuts: forest.leaves.cuts[range].to_vec(),
    };
    let mut inside = std::collections::HashSet::new();
    forest.visit_internal(tree as usize, &mut |_, low, size| {
        for i in 0..size.pow(3) {
            inside.insert(morton::encode([
                low[0] + i % size,
                low[1] + i / size % size,
                low[2] + i / size / size,
            ]));
        }
    });
    (forest.level, leaves, inside)
}

pub(super) fn single((level, leaves, inside): &(u32, Leaves, std::collections::HashSet<u32>)) -> Forest {
    build(*level, leaves.clone(), &|key: u32, l: u32| inside.contains(&(key << (3 * (level - l)))))
}

#[test]
fn crack_copies_have_partners_with_opposite_normals() {
    let bench = Bench::get();
    let forest = Arc::new(ball(6));
    let points = [DVec3::new(12.0, 30.0, 20.0), DVec3::new(50.0, 41.0, 37.0)];
    let result = bench.run(&forest, 0, &Pattern::from_points(&points, 6).unwrap(), None);
    let mut faces: std::collections::BTreeMap<u32, Vec<(glam::Vec3, f32)>> =
        std::collections::BTreeMap::new();
    for i in 0..result.forest.leaves.len() {
        let leaves = &result.forest.leaves;
        if leaves.colors[i].crack() {
            let surface = (crate::svo::unpack_normal(leaves.normals[i]), leaves.colors[i].offset());
            faces.entry(leaves.keys[i]).or_default().push(surface);
        }
    }
    assert!(faces.len() > 1000);
    for (key, copies) in faces {
        assert_eq!(copies.len(), 2, "voxel {key}");
        assert!(copies[0].0.dot(copies[1].0) < -0.9999);
        assert!((copies[0].1 + copies[1].1).abs() < 1e-6, "the two surfaces coincide");
    }
}

#[test]
fn boundary_leaves_that_a_crack_crosses_are_cut_along_it() {
    let bench = Bench::get();
    let forest = Arc::new(ball(6));
    let (a, b) = (DVec3::new(12.0, 30.0, 20.0), DVec3::new(50.0, 41.0, 37.0));
    let result = bench.run(&forest, 0, &Pattern::from_points(&[a, b], 6).unwrap(), None);
    let leaves = &result.forest.leaves;
    let mut cut = 0;
    for piece in &result.pieces {
        let (own, other) = if piece.cell == 0 { (a, b) } else { (b, a) };
        let towards = (other - own).normalize();
        let tree = piece.tree as usize;
        for i in result.forest.tree_start[tree] as usize..result.forest.tree_start[tree + 1] as usize {
            let centre = glam::UVec3::from_array(morton::decode(leaves.keys[i])).as_dvec3() + 0.5;
            let distance = ((own + other) / 2.0 - centre).dot(towards);
            match crate::svo::unpack_cut(leaves.cuts[i]) {
                Some((normal, offset)) => {
                    cut += 1;
                    assert!(!leaves.colors[i].crack());
                    assert!(normal.as_dvec3().dot(towards) > 0.999_99);
                    assert!((f64::from(offset) - distance).abs() < 0.005, "{offset} for {distance}");
                }
                // A leaf that is not crossed lies on its own side by more than half its diagonal at least in part.
                None => assert!(leaves.colors[i].crack() || distance > 0.4, "uncut at {distance}"),
            }
        }
    }
    println!("{cut} cut leaves");
    assert!(cut > 100);
}

#[test]
fn a_coarser_island_level_joins_what_is_near() {
    let bench = Bench::get();
    let forest = Arc::new(comb(6));
    let pattern = seeds(6, 10, 2);
    let fine = bench.run(&forest, 0, &pattern, None).counts;
    let coarse = bench.run(&forest, 0, &pattern, Some(3)).counts;
    println!("islands {} at level 6, {} at level 3", fine.islands, coarse.islands);
    assert!(fine.islands > coarse.islands);
    assert_eq!(fine.fbs, coarse.fbs);
}

#[test]
fn bad_parameters_are_refused() {
    let bench = Bench::get();
    let forest = Arc::new(ball(4));
    let mut arena = Arena::new(&bench.gpu).unwrap();
    let slot = arena.insert(&bench.gpu, &forest).unwrap();
    let source = Source { arena: &arena, slot, forest: &forest, tree: 0 };
    let empty = Pattern { seeds: Vec::new(), objects: Vec::new() };
    let too_fine = Recipe { island_level: Some(9), ..Recipe::default() };
    assert!(bench.fracturer.fracture(&bench.gpu, &source, &empty, &Recipe::default()).is_err());
    assert!(bench.fracturer.fracture(&bench.gpu, &source, &seeds(4, 3, 1), &too_fine).is_err());
}

/// A random solid of blobs and noise.
pub(super) fn random_solid(level: u32, rng: u64, fill: u32) -> Forest {
    let hash = move |p: IVec3| {
        let mut h = (p.x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (p.y as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
            ^ (p.z as u64).wrapping_mul(0x1656_67b1_9e37_79f9)
            ^ rng.wrapping_mul(0xd6e8_feb8_6659_fd93);
        h ^= h >> 32;
        h = h.wrapping_mul(0xd6e8_feb8_6659_fd93);
        (h >> 40) % 100
    };
    forest_of(level, move |p| hash(p / 4) < u64::from(fill) && hash(p + 1000) < 90 || hash(p + 5000) < 2)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equals_the_reference_on_random_solids(
        rng in 0u64..1_000_000, fill in 5u32..60, level in 3u32..6, count in 1usize..40, spread in 0.05f64..1.5
    ) {
        let bench = Bench::get();
        let params = super::FractureParams { seeds: count as u32, radii: vec![spread / 3.0, spread], rng, ..Default::default() };
        let side = f64::from(1u32 << level);
        let pattern = Pattern::on_spheres(&params, DVec3::splat(side * 0.4), (DVec3::ZERO, DVec3::splat(side)), level).unwrap();
        let forest = random_solid(level, rng, fill);
        prop_assume!(!forest.leaves.is_empty());
        assert_parity(bench, forest, &pattern, "random solid");
    }
}

#[test]
fn seeds_are_drawn_near_a_thin_object() {
    let forest = sheet(6);
    let params = super::FractureParams { seeds: 60, radii: vec![0.1, 0.25, 0.4], ..Default::default() };
    let bounds = (DVec3::ZERO, DVec3::splat(64.0));
    let point = DVec3::new(31.0, 31.0, 31.0);
    // The sheet is x + y = 62.
    let far = |pattern: &Pattern| {
        pattern.seeds_in_voxels(6).iter().filter(|s| (s[0] + s[1] - 62.0).abs() > 2f64.sqrt() * 10.0).count()
    };
    let near_ones = Pattern::near_object(&params, point, bounds, &forest, 0).unwrap();
    let anywhere = Pattern::on_spheres(&params, point, bounds, 6).unwrap();
    println!("{} and {} of 60 far from the sheet", far(&near_ones), far(&anywhere));
    assert!(far(&near_ones) == 0 && far(&anywhere) > 5);
}
