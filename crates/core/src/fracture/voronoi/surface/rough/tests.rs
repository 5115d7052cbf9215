//! Crack surfaces against the brute-force reference, on shapes made here.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use glam::{DVec3, IVec3};
use proptest::prelude::*;

use super::{
    CrackNoise, CrackShape, CrackUniform, Displacement, Offset, Sides, TransitionVoxel,
    pass::RoughPass,
    reference::{CrackReference, LeafPlane},
};
use crate::{
    fracture::{
        Fracture, Fracturer, Pattern, Recipe, Surface,
        voronoi::reference,
        voronoi::testing::{
            self, Bench, SOLIDS, assert_parity, ball, cavity, difference, listed, random_seeds, random_solid,
            seeds, sheet, shell,
        },
    },
    shape::grid_mass,
    svo::{Forest, morton, unpack_cut, unpack_normal, validate},
};

fn recipe(crack: CrackShape) -> Recipe {
    Recipe { surface: Surface::Rough, crack, rng: 77, ..Recipe::default() }
}

fn at_level(transition: u32) -> CrackShape {
    CrackShape { transition_level: Some(transition), ..CrackShape::default() }
}

fn words(recipe: &Recipe, level: u32) -> CrackUniform {
    CrackUniform::new(&recipe.crack, recipe.rng, recipe.crack.transition(level, recipe.surface).unwrap())
}

#[test]
fn equals_the_reference_on_every_shape() {
    for (name, shape) in SOLIDS {
        for level in [3, 5, 6] {
            let forest = Arc::new(shape(level));
            // The finest level costs as much as all others: every second transition there.
            for transition in (2..=level).filter(|k| level < 6 || k % 2 == 0) {
                for (count, offset) in [(3, Offset::Plane), (25, Offset::Balance)] {
                    let crack = CrackShape { offset, ..at_level(transition) };
                    let pattern = seeds(level, count, 3 + count as u64);
                    let what = format!("{name} level {level} transition {transition} seeds {count}");
                    assert_parity(&forest, &pattern, &recipe(crack), &what);
                }
            }
        }
    }
    for level in [1, 2] {
        assert_parity(&Arc::new(ball(level)), &seeds(level, 5, 5), &recipe(CrackShape::default()), "small");
    }
}

#[test]
fn equals_the_reference_at_finer_levels() {
    let pattern = seeds(7, 40, 5);
    for transition in [2, 4, 6, 7] {
        let what = format!("shell level 7 transition {transition}");
        assert_parity(&Arc::new(shell(7)), &pattern, &recipe(at_level(transition)), &what);
    }
    assert_parity(&Arc::new(sheet(8)), &seeds(8, 30, 6), &recipe(at_level(4)), "sheet level 8");
}

#[test]
fn ties_coincident_seeds_and_merged_cells_are_the_same_on_both_sides() {
    let points: Vec<DVec3> = [[8, 8, 8], [24, 8, 8], [8, 24, 8], [24, 24, 24], [24, 24, 24], [8, 8, 24]]
        .map(|p: [i32; 3]| IVec3::from_array(p).as_dvec3())
        .to_vec();
    let mut pattern = Pattern::from_points(&points, 5).unwrap();
    let forest = Arc::new(ball(5));
    for transition in 2..=5 {
        for offset in [Offset::Plane, Offset::Balance] {
            let crack = CrackShape { offset, ..at_level(transition) };
            assert_parity(&forest, &pattern, &recipe(crack), "tied seeds");
        }
    }
    pattern.objects = vec![0, 1, 0, 3, 3, 1];
    for transition in 2..=5 {
        assert_parity(&forest, &pattern, &recipe(at_level(transition)), "merged cells");
    }
}

/// All transition voxels with a solid leaf and corners in several objects, by brute force.
fn wanted_voxels(forest: &Forest, pattern: &Pattern, words: CrackUniform) -> Vec<TransitionVoxel> {
    let shift = 3 * (forest.level - words.transition);
    let mut keys: Vec<morton::Key> = forest.leaves.keys.iter().map(|key| key >> shift).collect();
    forest.for_each_internal(|_, low, size| {
        for i in 0..size.pow(3) {
            let p = [low[0] + i % size, low[1] + i / size % size, low[2] + i / size / size];
            keys.push(morton::encode(p) >> shift);
        }
    });
    keys.sort_unstable();
    keys.dedup();
    let mut cracks = CrackReference::new(pattern, words, forest.level);
    keys.into_iter().filter_map(|key| cracks.voxel(morton::decode(key)).ok()).collect()
}

#[test]
fn separation_points_equal_the_reference() {
    let bench = Bench::get();
    let forest = Arc::new(shell(6));
    let pattern = seeds(6, 30, 9);
    for transition in 2..6 {
        for offset in [Offset::Plane, Offset::Balance] {
            let noise = CrackNoise { amplitude: 1.0, frequency: 37, octaves: 5 };
            let displacement = Displacement { face: 0.5, voxel: 0.33 };
            let crack = CrackShape { offset, strength: 0.6, noise, displacement, ..at_level(transition) };
            let recipe = recipe(crack);
            let got = bench
                .with_source(&forest, 0, |source| {
                    bench.fracturer.transition_voxels(source, &pattern, &recipe)
                })
                .unwrap();
            let wanted = wanted_voxels(&forest, &pattern, words(&recipe, 6));
            println!("transition {transition}: {} crossed voxels", got.len());
            let on_cores = Fracturer::new(crate::compute::Compute::Cpu).unwrap();
            let native = bench
                .with_source(&forest, 0, |source| on_cores.transition_voxels(source, &pattern, &recipe))
                .unwrap();
            assert!(native == got, "transition {transition}, {offset:?} on the cores");
            assert!(got.len() > 10 && got == wanted, "transition {transition}, {offset:?}");
            for voxel in &got {
                // 3 to 12 crossed edges; every separation point strictly inside its edge, face or voxel.
                let triangles = voxel.triangles().count();
                assert!((6..=24).contains(&triangles) && triangles % 2 == 0);
                assert!(voxel.voxel_point.iter().all(|v| (1..512).contains(v)));
                for (edge, point) in voxel.edge_points.iter().enumerate() {
                    assert!(point.is_none_or(|p| (1..512).contains(&p[edge / 4])));
                }
            }
        }
    }
}

/// Rough passes whose kernels have `from` replaced by `to`.
fn planted(from: &str, to: &str) -> Fracturer {
    testing::planted(from, to, |passes, kernels| passes.rough = RoughPass::with_kernels(kernels))
}

#[test]
fn planted_errors_are_caught() {
    let forest = Arc::new(shell(6));
    let pattern = seeds(6, 30, 9);
    let recipe = recipe(at_level(3));
    let sound = planted("let is_side", "let is_side");
    assert_eq!(difference(&sound, &forest, &pattern, &recipe), None);
    for (what, from, to) in [
        (
            "an edge point moved by a unit",
            "(shape.amplitude * difference) / 255i",
            "(shape.amplitude * difference) / 255i + 1i",
        ),
        (
            "a triangle dropped",
            "while left != 0u {\n        let bit = firstTrailingBit(left);\n        left &= left - 1u;\n        \
             let e = edge_point(bit >> 1u) - centre",
            "left &= ~(1u << 9u);\n    while left != 0u {\n        let bit = firstTrailingBit(left);\n        \
             left &= left - 1u;\n        let e = edge_point(bit >> 1u) - centre",
        ),
        ("a box that is too small", "> reach ||", "> reach - 2000i ||"),
        ("the wrong corner", "runs * reach > 0i", "runs * reach < 0i"),
        ("a face point that is not shared", "vec3<u32>(origin), shape.salt", "vec3<u32>(low), shape.salt"),
    ] {
        let fracturer = planted(from, to);
        let found = difference(&fracturer, &forest, &pattern, &recipe);
        println!("{what}: {found:?}");
        assert!(found.is_some(), "{what} went unnoticed");
    }
}

#[test]
fn whole_leaves_as_transition_voxels_are_the_planar_boundary_set() {
    let bench = Bench::get();
    let forest = Arc::new(shell(6));
    let pattern = seeds(6, 30, 9);
    let planar = listed(&bench.run_by(&forest, 0, &pattern, &Recipe::default()));
    let rough = listed(&bench.run_by(&forest, 0, &pattern, &recipe(at_level(6))));
    assert!(planar == rough);
    let coarser = listed(&bench.run_by(&forest, 0, &pattern, &recipe(at_level(4))));
    assert!(planar.copies != coarser.copies);
}

/// What must hold of a rough fracture by the passes.
fn assert_closed(forest: &Forest, pattern: &Pattern, recipe: &Recipe) {
    let forest = Arc::new(forest.clone());
    let fracture = Bench::get().run_by(&forest, 0, pattern, recipe);
    assert_matches(&forest, &fracture, pattern, recipe);
}

/// What must hold of any rough fracture, from the result alone: insides of two pieces never meet, not even at a
/// corner; a crack voxel has copies in several objects; planes of copies fit together.
pub(super) fn assert_matches(forest: &Forest, fracture: &Fracture, pattern: &Pattern, recipe: &Recipe) {
    assert_eq!(validate(&fracture.forest), Ok(()));
    let list = listed(fracture);
    let inside: HashMap<morton::Key, u32> =
        list.internal.iter().map(|(object, key)| (*key, *object)).collect();
    assert_eq!(inside.len(), list.internal.len(), "an internal voxel belongs to one object");
    let side = 1i64 << forest.level;
    for (key, object) in &inside {
        let p = morton::decode(*key).map(i64::from);
        for n in 0..27 {
            let q = [p[0] + n % 3 - 1, p[1] + n / 3 % 3 - 1, p[2] + n / 9 - 1];
            if q.iter().all(|v| (0..side).contains(v)) {
                let other = inside.get(&morton::encode(q.map(|v| v as u32)));
                assert!(other.is_none_or(|other| other == object), "insides meet at {p:?}");
            }
        }
    }
    let object_of: HashMap<usize, u32> = fracture.pieces.iter().map(|p| (p.tree as usize, p.cell)).collect();
    let pieces = &fracture.forest;
    // Object, normal, offset, cut.
    type Shown = (u32, DVec3, f64, Option<(DVec3, f64)>);
    let mut faces: BTreeMap<morton::Key, Vec<Shown>> = BTreeMap::new();
    for tree in 0..pieces.trees() {
        for i in pieces.tree_start[tree] as usize..pieces.tree_start[tree + 1] as usize {
            if pieces.leaves.colors[i].crack() {
                let normal = unpack_normal(pieces.leaves.normals[i]).as_dvec3();
                let cut = unpack_cut(pieces.leaves.cuts[i]);
                let cut = cut.map(|(normal, offset)| (normal.as_dvec3(), f64::from(offset)));
                let plane = (object_of[&tree], normal, f64::from(pieces.leaves.colors[i].offset()), cut);
                faces.entry(pieces.leaves.keys.at(i)).or_default().push(plane);
            }
        }
    }
    let mut cracks = CrackReference::new(pattern, words(recipe, forest.level), forest.level);
    let (mut pairs, mut corners) = (0, 0);
    for (key, copies) in &faces {
        let objects: HashSet<u32> = copies.iter().map(|copy| copy.0).collect();
        assert!(objects.len() == copies.len() && copies.len() > 1, "voxel {key} has no partner");
        if let [a, b] = copies[..] {
            pairs += 1;
            assert!(a.1.dot(b.1) < -0.9999, "voxel {key}: {} and {}", a.1, b.1);
            assert!((a.2 + b.2).abs() < 1e-6, "voxel {key}: the two surfaces coincide");
        } else {
            corners += 1;
        }
        for (object, normal, offset, cut) in copies {
            let planes = cracks.planes(morton::decode(*key), *object);
            let nearest = planes.iter().map(|plane| plane.distance).fold(f64::INFINITY, f64::min);
            // Facets may lie in one plane: one of them explains what the copy shows.
            let close = |plane: &LeafPlane, normal: &DVec3, offset: &f64| {
                plane.normal.dot(*normal) > 0.999 && (plane.offset - offset).abs() < 0.02
            };
            let fits = planes.iter().any(|shown| {
                let mut ridges = planes.iter().filter(|plane| plane.makes_ridge_with(shown));
                shown.distance < nearest + 1e-3
                    && close(shown, normal, offset)
                    && match cut {
                        Some((normal, offset)) => ridges.any(|plane| close(plane, normal, offset)),
                        None => ridges.next().is_none(),
                    }
            });
            assert!(fits, "voxel {key}, object {object}: {normal} {offset} {cut:?} of {planes:?}");
        }
    }
    println!("{pairs} crack voxels of two pieces, {corners} of more");
    assert!(pairs > 100);
}

#[test]
fn rough_surfaces_match_without_a_gap() {
    for (name, shape) in SOLIDS {
        for transition in [2, 3, 5, 6] {
            println!("{name} transition {transition}");
            if name == "sheet" {
                continue;
            }
            assert_closed(&shape(6), &seeds(6, 20, 31), &recipe(at_level(transition)));
        }
    }
}

#[test]
fn mass_is_conserved_while_pieces_of_pieces_break() {
    let bench = Bench::get();
    for shape in [shell as fn(u32) -> Forest, cavity] {
        let (mut forest, mut tree) = (Arc::new(shape(6)), 0);
        for generation in 0..5u64 {
            let pattern = seeds(6, 12, 40 + generation);
            let surface = if generation == 2 { Surface::Planar } else { Surface::Rough };
            let recipe = Recipe { surface, ..recipe(at_level(3)) };
            let result = bench.run_by(&forest, tree, &pattern, &recipe);
            let before = grid_mass(&forest, tree as usize).volume;
            let after: f64 = result.pieces.iter().map(|p| p.mass.volume).sum();
            println!(
                "generation {generation}: {} pieces, {before} before, {after} after",
                result.pieces.len()
            );
            assert!((after / before - 1.0).abs() < 1e-6);
            let again = bench.run_by(&forest, tree, &pattern, &recipe);
            assert_eq!(*again.forest, *result.forest);
            tree = result.pieces[0].tree;
            forest = Arc::clone(&result.forest);
        }
    }
}

#[test]
fn a_coarse_transition_level_swallows_cells_and_says_so() {
    let bench = Bench::get();
    let forest = Arc::new(ball(6));
    let pattern = seeds(6, 60, 12);
    let swallowed = |transition| {
        let fracture = bench.run_by(&forest, 0, &pattern, &recipe(at_level(transition)));
        println!("transition {transition}: {:?}", fracture.counts);
        fracture.counts.swallowed
    };
    assert!(swallowed(2) > swallowed(4));
    assert_eq!(swallowed(6), 0);
}

#[test]
fn votes_equal_the_reference_and_miss_some_leaves() {
    let bench = Bench::get();
    let (mut differ, mut untouched) = (0, 0);
    for (name, shape) in SOLIDS {
        let forest = Arc::new(shape(6));
        for (transition, count) in [(2, 12), (3, 25), (4, 40)] {
            let pattern = seeds(6, count, 7);
            let cone = recipe(at_level(transition));
            let votes = recipe(CrackShape { sides: Sides::Votes, ..at_level(transition) });
            let got = listed(&bench.run_by(&forest, 0, &pattern, &votes));
            let wanted = reference::fracture_by(&forest, 0, &pattern, &votes).unwrap();
            assert!(got.copies == wanted.copies, "{name}: copies");
            assert!(got.internal == wanted.internal, "{name}: internal voxels");
            assert!(got.pieces == wanted.pieces, "{name}: pieces");

            let mut cracks = CrackReference::new(&pattern, words(&cone, 6), 6);
            let mut elect = CrackReference::new(&pattern, words(&votes, 6), 6);
            for key in &forest.leaves.keys {
                let place = morton::decode(key);
                let fate = cracks.leaf(place, false);
                if !fate.touched && cracks.voxel(place.map(|v| v >> (6 - transition))).is_ok() {
                    untouched += 1;
                    differ += usize::from(elect.leaf(place, false) != fate);
                }
            }
        }
    }
    let share = f64::from(differ as u32) / f64::from(untouched);
    println!(
        "votes differ on {differ} of {untouched} untouched leaves of crossed voxels: {:.2} %",
        100.0 * share
    );
    assert!(share > 0.001 && share < 0.1);
}

#[test]
fn bad_shapes_are_refused() {
    let bench = Bench::get();
    let forest = Arc::new(ball(4));
    let refused = |crack: CrackShape| {
        bench
            .with_source(&forest, 0, |source| {
                bench.fracturer.fracture(source, &seeds(4, 3, 1), &recipe(crack))
            })
            .expect_err("out of range")
            .to_string()
    };
    assert!(refused(at_level(5)).contains("transition level 5"));
    assert!(refused(CrackShape { strength: f64::NAN, ..at_level(3) }).contains("strength"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equals_the_reference_on_random_solids(
        rng in 0u64..1_000_000, fill in 5u32..60, level in 3u32..6, step in 0u32..4, count in 1usize..40, spread in 0.05f64..1.5,
        plane in any::<bool>(), strength in 0f64..=1.0, amplitude in 0f64..=1.0, frequency in 1u32..200,
        octaves in 1u32..=5, stray in 0f64..=0.5
    ) {
        let bench = Bench::get();
        let pattern = random_seeds(level, count, rng, spread);
        let forest = Arc::new(random_solid(level, rng, fill));
        prop_assume!(!forest.leaves.is_empty());
        let crack = CrackShape {
            transition_level: Some((2 + step).min(level)),
            offset: if plane { Offset::Plane } else { Offset::Balance },
            strength,
            noise: CrackNoise { amplitude, frequency, octaves },
            displacement: Displacement { face: stray, voxel: stray },
            ..CrackShape::default()
        };
        let recipe = Recipe { rng, ..recipe(crack) };
        prop_assert_eq!(difference(&bench.fracturer, &forest, &pattern, &recipe), None);
    }
}
