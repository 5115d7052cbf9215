//! The native twins against the passes: the same bytes.

use std::sync::Arc;

use glam::{DVec3, IVec3};
use proptest::prelude::*;

use super::{
    native::NativeStages,
    octrees::native::NativeOctrees,
    passes::{Broken, PassStages},
    stages::{Inputs, OctreeStages},
    testing::{Bench, SOLIDS, ball, comb, random_seeds, random_solid, read, seeds, shell},
};
use crate::{
    fracture::{Cancel, Interior, Material, Pattern, Recipe, interior},
    svo::{Forest, Keys},
};

/// Octrees of all objects and which have one, by the passes and by the twins.
pub(in crate::fracture) fn both(
    forest: &Arc<Forest>,
    tree: u32,
    pattern: &Pattern,
    recipe: &Recipe,
) -> [(NativeOctrees, Vec<bool>); 2] {
    let bench = Bench::get();
    bench.with_source(forest, tree, |source| {
        let surface = interior::surface_color(forest, tree);
        let volume = recipe.interior.volume(surface);
        let (gpu, passes) = bench.fracturer.passes().unwrap();
        let of = Inputs { source, pattern, recipe };
        let (cells, survived) = PassStages::new(gpu, passes, of).cells(volume).unwrap();
        let Broken::Cells(octrees) = cells else { panic!("nothing was split") };
        let by_passes = read(&octrees);
        let (cells, by_twins) = NativeStages::new(of).cells(volume).unwrap();
        [(by_passes, survived), (cells.complete(Cancel::never()).unwrap(), by_twins)]
    })
}

/// Keys as the passes have them, all of each.
fn low_words(keys: &Keys) -> Vec<u32> {
    keys.as_slice().words().expect("a level that passes go to").to_vec()
}

/// The first thing in which the two differ.
pub(in crate::fracture) fn difference([a, b]: &[(NativeOctrees, Vec<bool>); 2]) -> Option<String> {
    let words = |what: &str, a: &[u32], b: &[u32]| {
        if a.len() != b.len() {
            return Some(format!("{} {what} instead of {}", b.len(), a.len()));
        }
        let at = a.iter().zip(b).position(|(a, b)| a != b)?;
        let wrong = a.iter().zip(b).filter(|(a, b)| a != b).count();
        Some(format!("{what} {at} of {}: {:x} instead of {:x}; {wrong} differ", a.len(), b[at], a[at]))
    };
    if a.1 != b.1 {
        return Some(format!("objects {:?} instead of {:?}", b.1, a.1));
    }
    let (a, b) = (&a.0, &b.0);
    words("level starts", &a.level_start, &b.level_start)
        .or_else(|| words("nodes", bytemuck::cast_slice(&a.nodes), bytemuck::cast_slice(&b.nodes)))
        .or_else(|| words("keys", &low_words(&a.leaves.keys), &low_words(&b.leaves.keys)))
        .or_else(|| words("origins", &a.leaves.origins, &b.leaves.origins))
        .or_else(|| words("colours", &a.leaves.colors, &b.leaves.colors))
        .or_else(|| words("normals", &a.leaves.normals, &b.leaves.normals))
        .or_else(|| words("cuts", &a.leaves.cuts, &b.leaves.cuts))
}

pub(in crate::fracture) fn assert_same(
    forest: &Arc<Forest>,
    tree: u32,
    pattern: &Pattern,
    recipe: &Recipe,
    what: &str,
) {
    if let Some(found) = difference(&both(forest, tree, pattern, recipe)) {
        panic!("{what}: {found}");
    }
}

#[test]
fn octrees_are_the_same_on_every_shape() {
    for (name, shape) in SOLIDS {
        for level in [3, 5, 6] {
            for count in [1, 2, 17, 60] {
                let pattern = seeds(level, count, 3 + count as u64);
                let what = format!("{name} level {level} seeds {count}");
                assert_same(&Arc::new(shape(level)), 0, &pattern, &Recipe::default(), &what);
            }
        }
    }
    assert_same(&Arc::new(shell(7)), 0, &seeds(7, 300, 5), &Recipe::default(), "shell level 7");
    assert_same(&Arc::new(ball(1)), 0, &seeds(1, 3, 5), &Recipe::default(), "ball level 1");
    assert_same(&Arc::new(ball(2)), 0, &seeds(2, 9, 5), &Recipe::default(), "ball level 2");
}

#[test]
fn ties_and_coincident_seeds_are_the_same() {
    let points: Vec<DVec3> = [[8, 8, 8], [24, 8, 8], [8, 24, 8], [24, 24, 24], [24, 24, 24], [8, 8, 24]]
        .map(|p: [i32; 3]| IVec3::from_array(p).as_dvec3())
        .to_vec();
    let mut pattern = Pattern::from_points(&points, 5).unwrap();
    assert_same(&Arc::new(ball(5)), 0, &pattern, &Recipe::default(), "tied seeds");
    for merged in [[0, 0, 2, 3, 4, 2], [0, 1, 2, 3, 3, 1], [0, 0, 0, 0, 4, 5], [0; 6]] {
        pattern.objects = merged.to_vec();
        assert_same(&Arc::new(ball(5)), 0, &pattern, &Recipe::default(), "tied and merged seeds");
    }
}

#[test]
fn every_material_is_the_same() {
    for (scale, material) in [0.1, 0.3, 1.0, 3.0, 10.0].into_iter().cycle().zip(Material::ALL) {
        let interior = Interior { material, scale, seed: 77, ..Interior::default() };
        let recipe = Recipe { interior, ..Recipe::default() };
        assert_same(&Arc::new(ball(6)), 0, &seeds(6, 30, 5), &recipe, material.name());
    }
}

#[test]
fn generations_are_the_same() {
    let bench = Bench::get();
    let mut forest = Arc::new(shell(6));
    let mut tree = 0;
    for generation in 0..4u64 {
        let mut pattern = seeds(6, 14, 40 + generation);
        if generation == 2 {
            pattern.objects.iter_mut().filter(|object| **object % 3 == 0).for_each(|object| *object = 0);
        }
        assert_same(&forest, tree, &pattern, &Recipe::default(), &format!("generation {generation}"));
        let result = bench.run(&forest, tree, &pattern, None);
        tree = result.pieces[0].tree;
        forest = result.forest;
    }
}

#[test]
fn a_planted_error_is_found() {
    let pattern = seeds(5, 12, 1);
    let mut pair = both(&Arc::new(comb(5)), 0, &pattern, &Recipe::default());
    assert_eq!(difference(&pair), None);
    let middle = pair[1].0.leaves.cuts.len() / 2;
    pair[1].0.leaves.cuts[middle] ^= 1;
    assert!(difference(&pair).unwrap().contains("cuts"));
    let middle = pair[1].0.nodes.len() / 2;
    pair[1].0.nodes[middle].masks ^= 1;
    assert!(difference(&pair).unwrap().contains("nodes"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn octrees_are_the_same_on_random_solids(
        rng in 0u64..1_000_000, fill in 5u32..60, level in 3u32..7, count in 1usize..300,
        spread in 0.05f64..1.5, objects in 1u32..6,
    ) {
        let mut pattern = random_seeds(level, count, rng, spread);
        // Of every so many objects two become one; 1: none.
        if objects > 1 {
            for s in 0..count {
                let other = s - s % objects as usize;
                pattern.objects[s] = if s % 3 == 0 { pattern.objects[other] } else { pattern.objects[s] };
            }
        }
        prop_assume!(pattern.objects_are_sound());
        let forest = Arc::new(random_solid(level, rng, fill));
        let found = difference(&both(&forest, 0, &pattern, &Recipe::default()));
        prop_assert_eq!(found, None);
    }
}
