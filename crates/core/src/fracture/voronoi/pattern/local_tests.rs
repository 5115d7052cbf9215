//! Local fracture (2016, sec. 4.7) against the brute-force reference, and what it must leave alone (F7).

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use glam::{DVec3, Vec3};
use proptest::prelude::*;

use crate::fracture::{
    Cancel, Fracture, Pattern, Recipe, Source, UNIT_BITS,
    voronoi::reference,
    voronoi::testing::{Bench, SOLIDS, assert_planar, ball, cavity, listed, random_solid, seeds, shell},
};
use crate::svo::{Forest, morton, unpack_normal, validate};

/// Gives seeds the same object id where `group` gives them the same number.
fn merged(mut pattern: Pattern, group: impl Fn(usize) -> usize) -> Pattern {
    let mut first = HashMap::new();
    pattern.objects = (0..pattern.seeds.len()).map(|s| *first.entry(group(s)).or_insert(s as u32)).collect();
    pattern
}

/// Seeds farther than `radius` grid sides from the first stay together.
fn local(pattern: Pattern, radius: f64) -> Pattern {
    let side = f64::from(1 << UNIT_BITS);
    let far: Vec<bool> = pattern
        .seeds
        .iter()
        .map(|s| {
            let apart: f64 = (0..3).map(|a| f64::from(s[a] - pattern.seeds[0][a]).powi(2)).sum();
            apart.sqrt() > radius * side
        })
        .collect();
    merged(pattern, |s| if far[s] { usize::MAX } else { s })
}

#[test]
fn merged_cells_equal_the_reference_on_every_shape() {
    for (name, shape) in SOLIDS {
        for level in [3, 5, 6] {
            for count in [2, 17, 60] {
                let plain = || seeds(level, count, 5 + count as u64);
                let what = |kind| format!("{name} level {level} seeds {count}: {kind}");
                assert_planar(shape(level), &merged(plain(), |s| s % 3), &what("three objects"));
                assert_planar(shape(level), &local(plain(), 0.3), &what("local"));
            }
        }
    }
    assert_planar(ball(4), &merged(seeds(4, 40, 5), |s| s / 4), "ball level 4");
    assert_planar(shell(7), &local(seeds(7, 40, 5), 0.35), "shell level 7");
    assert_planar(ball(1), &merged(seeds(1, 5, 5), |s| s / 2), "ball level 1");
}

#[test]
fn tied_seeds_of_several_objects_equal_the_reference() {
    // Whole planes of corners are tied, within an object and between two; two pairs coincide.
    let points: Vec<DVec3> =
        [[8, 8, 8], [24, 8, 8], [8, 24, 8], [24, 24, 24], [24, 24, 24], [8, 8, 24], [24, 8, 8], [24, 24, 8]]
            .map(|p: [i32; 3]| glam::IVec3::from_array(p).as_dvec3())
            .to_vec();
    let pattern = Pattern::from_points(&points, 5).unwrap();
    for divisor in 2..5 {
        assert_planar(ball(5), &merged(pattern.clone(), |s| s % divisor), "tied seeds, by remainder");
        assert_planar(ball(5), &merged(pattern.clone(), |s| s / divisor), "tied seeds, by quotient");
    }
}

#[test]
fn planted_object_errors_are_caught() {
    let bench = Bench::get();
    let forest = Arc::new(ball(5));
    let pattern = local(seeds(5, 30, 1), 0.3);
    let wanted = reference::fracture(&forest, 0, &pattern);
    let kept =
        *pattern.objects.iter().find(|o| pattern.objects.iter().filter(|p| p == o).count() > 1).unwrap();
    // One seed that should stay breaks off; all seeds break off.
    let mut one_off = pattern.clone();
    let last = (0..one_off.seeds.len()).rev().find(|s| one_off.objects[*s] == kept).unwrap();
    one_off.objects[last] = last as u32;
    let all_off = merged(pattern.clone(), |s| s);
    for wrong in [one_off, all_off] {
        assert!(listed(&bench.run(&forest, 0, &wrong, None)) != wanted);
    }
    assert!(listed(&bench.run(&forest, 0, &pattern, None)) == wanted);
}

#[test]
fn seeds_of_one_object_leave_it_whole() {
    let bench = Bench::get();
    for shape in [shell as fn(u32) -> Forest, cavity, ball] {
        let forest = Arc::new(shape(6));
        let result = bench.run(&forest, 0, &merged(seeds(6, 40, 1), |_| 0), None);
        assert_eq!((result.counts.pieces, result.counts.crack_voxels), (1, 0));
        assert_eq!(*result.forest, *forest, "octree, attributes and coverage are those of the source");
    }
}

#[test]
fn wrong_object_ids_are_refused() {
    let bench = Bench::get();
    let forest = Arc::new(ball(4));
    let mut arena = crate::svo::Arena::new(&bench.gpu).unwrap();
    let slot = arena.insert(&forest).unwrap();
    let source = Source { arena: &arena, slot, forest: &forest, tree: 0, cancel: Cancel::never() };
    let plain = seeds(4, 4, 1);
    for objects in [vec![0, 1, 2], vec![0, 2, 2, 3], vec![0, 0, 1, 3], vec![0, 1, 2, 9]] {
        let pattern = Pattern { objects, ..plain.clone() };
        let result = bench.fracturer.fracture(&source, &pattern, &Recipe::default());
        assert!(result.is_err(), "{:?}", pattern.objects);
    }
}

/// Leaf index in the source by Morton code.
fn source_leaves(forest: &Forest) -> HashMap<morton::Key, usize> {
    forest.leaves.keys.iter().enumerate().map(|(i, key)| (key, i)).collect()
}

/// Objects of a voxel's eight corners: the nearest seed's, of equal ones the lowest's.
fn corner_objects(key: morton::Key, pattern: &Pattern, level: u32) -> BTreeSet<u32> {
    let low = morton::decode(key);
    (0..8u32)
        .map(|c| {
            let at = [0, 1, 2].map(|k| i64::from(low[k] + (c >> k & 1)) << (UNIT_BITS - level));
            let distance = |s: &[i32; 3]| (0..3).map(|k| (i64::from(s[k]) - at[k]).pow(2)).sum::<i64>();
            let nearest = pattern.seeds.iter().enumerate().min_by_key(|(_, s)| distance(s)).unwrap().0;
            pattern.objects[nearest]
        })
        .collect()
}

/// Leaves that a break touched or made, in the object `kept`: (untouched, cracks, inner faces, changed though
/// untouched).
fn audit(source: &Forest, result: &Fracture, pattern: &Pattern, kept: u32) -> [usize; 4] {
    let index = source_leaves(source);
    let leaves = &result.forest.leaves;
    let mut counts = [0; 4];
    for piece in result.pieces.iter().filter(|p| p.cell == kept) {
        let tree = piece.tree as usize;
        for i in result.forest.tree_start[tree] as usize..result.forest.tree_start[tree + 1] as usize {
            let key = leaves.keys.at(i);
            let alone = corner_objects(key, pattern, source.level).len() == 1;
            match index.get(&key) {
                Some(&s) if alone => {
                    counts[0] += 1;
                    let own = &source.leaves;
                    let same = leaves.normals[i] == own.normals[s]
                        && leaves.colors[i] == own.colors[s]
                        && leaves.coverage[i].to_bits() == own.coverage[s].to_bits()
                        && leaves.cuts[i] == own.cuts[s];
                    counts[3] += usize::from(!same);
                }
                Some(_) => {}
                None => {
                    counts[1] += 1;
                    counts[2] += usize::from(alone);
                }
            }
        }
    }
    counts
}

fn kept_of(pattern: &Pattern) -> u32 {
    let shared = |o: &&u32| pattern.objects.iter().filter(|p| p == o).count() > 1;
    *pattern.objects.iter().find(shared).expect("some seeds stay together")
}

#[test]
fn f7_the_kept_body_is_untouched_and_has_no_inner_faces() {
    let bench = Bench::get();
    for (name, shape) in [("ball", ball as fn(u32) -> Forest), ("shell", shell), ("cavity", cavity)] {
        for level in 3..=7 {
            let forest = Arc::new(shape(level));
            let pattern = local(seeds(level, 40, 9), 0.35);
            let kept = kept_of(&pattern);
            let result = bench.run(&forest, 0, &pattern, None);
            let [untouched, cracks, inner, changed] = audit(&forest, &result, &pattern, kept);
            let before = crate::shape::grid_mass(&forest, 0).volume;
            let after: f64 = result.pieces.iter().map(|p| p.mass.volume).sum();
            println!(
                "{name} level {level}: {} pieces, kept body {untouched} leaves untouched, {cracks} crack voxels, mass {:.1e}",
                result.pieces.len(),
                after / before - 1.0
            );
            assert!(untouched > 0 && inner == 0 && changed == 0, "{inner} inner, {changed} changed");
            assert!(level < 5 || cracks > 20);
            assert!((after / before - 1.0).abs() < 1e-6);
            assert_eq!(validate(&result.forest), Ok(()));
        }
    }
}

#[test]
fn the_audit_sees_inner_faces_and_changed_leaves() {
    let bench = Bench::get();
    let forest = Arc::new(ball(5));
    let pattern = local(seeds(5, 40, 9), 0.35);
    let kept = kept_of(&pattern);
    // Broken without objects, the kept part has faces inside.
    let mut cells = bench.run(&forest, 0, &merged(pattern.clone(), |s| s), None);
    for piece in &mut cells.pieces {
        piece.cell = pattern.objects[piece.cell as usize];
    }
    let [_, _, inner, changed] = audit(&forest, &cells, &pattern, kept);
    println!("{inner} inner faces, {changed} leaves changed");
    assert!(inner > 100 && changed > 10);
}

#[test]
fn a_kept_body_and_its_neighbour_share_the_plane_between_them() {
    let bench = Bench::get();
    let forest = Arc::new(ball(6));
    let pattern = local(seeds(6, 40, 9), 0.35);
    let result = bench.run(&forest, 0, &pattern, None);
    let leaves = &result.forest.leaves;
    let mut faces: HashMap<morton::Key, Vec<(Vec3, f32)>> = HashMap::new();
    for i in 0..leaves.len() {
        if leaves.colors[i].crack() {
            faces
                .entry(leaves.keys.at(i))
                .or_default()
                .push((unpack_normal(leaves.normals[i]), leaves.colors[i].offset()));
        }
    }
    let mut pairs = 0;
    for copies in faces.values().filter(|c| c.len() == 2) {
        pairs += 1;
        assert!(copies[0].0.dot(copies[1].0) < -0.999);
        assert!((copies[0].1 + copies[1].1).abs() < 0.02, "{copies:?}");
    }
    println!("{pairs} crack voxels between two objects");
    assert!(pairs > 500);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_merges_equal_the_reference(
        rng in 0u64..1_000_000, fill in 5u32..60, level in 3u32..6, count in 2usize..40, groups in 1usize..12
    ) {
        let forest = random_solid(level, rng, fill);
        prop_assume!(!forest.leaves.is_empty());
        let pick = |s: usize| (s as u64 + 1).wrapping_mul(rng | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize;
        let pattern = merged(seeds(level, count, rng), |s| (pick(s) >> 40) % groups);
        assert_planar(forest, &pattern, "random merge");
    }
}
