//! Rough and dusty surfaces on the processor's cores against the passes: the same bytes.

use std::sync::Arc;

use glam::{DVec3, IVec3};
use proptest::prelude::*;

use super::{CrackNoise, CrackShape, Displacement, Dusty, Offset, Sides, pass::RoughPass};
use crate::{
    compute::Compute,
    fracture::{
        Fracturer, Pattern, Recipe, Surface,
        voronoi::{
            parity_tests::{assert_same, both, difference},
            testing::{self, Bench, SOLIDS, ball, random_seeds, random_solid, seeds, shell},
        },
    },
    svo::Forest,
};

const SURFACES: [Surface; 2] = [Surface::Rough, Surface::Dusty];

fn recipe(surface: Surface, crack: CrackShape) -> Recipe {
    Recipe { surface, crack, rng: 77, ..Recipe::default() }
}

fn at_level(transition: u32) -> CrackShape {
    CrackShape { transition_level: Some(transition), ..CrackShape::default() }
}

#[test]
fn octrees_are_the_same_on_every_shape() {
    for (k, (name, shape)) in SOLIDS.into_iter().enumerate() {
        for level in [3, 5, 6] {
            let forest = Arc::new(shape(level));
            // The finest level costs as much as all others: every second transition there.
            for transition in (2..=level).filter(|k| level < 6 || k % 2 == 0) {
                let ways = [
                    (3, Offset::Plane, Sides::Cone, 0.0),
                    (25, Offset::Balance, Sides::Votes, 1.5),
                    (60, Offset::Plane, Sides::Votes, 6.0),
                ];
                // At finer levels one way each: every one meets every transition on some shape.
                let turn = k + transition as usize / (level as usize / 3);
                let is_due = |(way, _): &(usize, _)| level == 3 || *way == turn % 3;
                for (_, (count, offset, sides, width)) in ways.into_iter().enumerate().filter(is_due) {
                    let dusty = Dusty { width, ..Dusty::default() };
                    let crack = CrackShape { offset, sides, dusty, ..at_level(transition) };
                    let pattern = seeds(level, count, 3 + count as u64);
                    for surface in SURFACES {
                        let what =
                            format!("{surface:?} {name} level {level} transition {transition} seeds {count}");
                        assert_same(&forest, 0, &pattern, &recipe(surface, crack), &what);
                    }
                }
            }
        }
    }
    for surface in SURFACES {
        for level in [1, 2] {
            let crack = CrackShape::default();
            assert_same(&Arc::new(ball(level)), 0, &seeds(level, 5, 5), &recipe(surface, crack), "small");
        }
    }
}

#[test]
fn octrees_are_the_same_at_finer_levels() {
    let forest = Arc::new(shell(7));
    let pattern = seeds(7, 90, 5);
    for surface in SURFACES {
        for (transition, sides) in
            [(2, Sides::Cone), (4, Sides::Votes), (5, Sides::Cone), (6, Sides::Votes), (7, Sides::Cone)]
        {
            let crack = CrackShape { sides, ..at_level(transition) };
            let what = format!("{surface:?}, transition {transition}");
            assert_same(&forest, 0, &pattern, &recipe(surface, crack), &what);
        }
    }
}

#[test]
fn ties_coincident_seeds_and_merged_cells_are_the_same() {
    let points: Vec<DVec3> = [[8, 8, 8], [24, 8, 8], [8, 24, 8], [24, 24, 24], [24, 24, 24], [8, 8, 24]]
        .map(|p: [i32; 3]| IVec3::from_array(p).as_dvec3())
        .to_vec();
    let mut pattern = Pattern::from_points(&points, 5).unwrap();
    let forest = Arc::new(ball(5));
    for merged in [[0, 1, 2, 3, 4, 5], [0, 1, 0, 3, 3, 1], [0, 0, 0, 0, 4, 5], [0; 6]] {
        pattern.objects = merged.to_vec();
        for surface in SURFACES {
            for transition in 2..=5 {
                for offset in [Offset::Plane, Offset::Balance] {
                    let crack = CrackShape { offset, ..at_level(transition) };
                    let what = format!("{surface:?}, {merged:?}, transition {transition}");
                    assert_same(&forest, 0, &pattern, &recipe(surface, crack), &what);
                }
            }
        }
    }
}

#[test]
fn generations_are_the_same() {
    let bench = Bench::get();
    let mut forest: Arc<Forest> = Arc::new(shell(6));
    let mut tree = 0;
    for generation in 0..5u64 {
        let pattern = seeds(6, 14, 40 + generation);
        for surface in SURFACES {
            for transition in [3, 5, 6] {
                let what = format!("generation {generation}, {surface:?}, transition {transition}");
                assert_same(&forest, tree, &pattern, &recipe(surface, at_level(transition)), &what);
            }
        }
        let surface = [Surface::Planar, Surface::Rough, Surface::Dusty][generation as usize % 3];
        let result = bench.run_by(&forest, tree, &pattern, &recipe(surface, at_level(3)));
        tree = result.pieces[0].tree;
        forest = result.forest;
    }
}

fn on_cores() -> Fracturer {
    Fracturer::new(Compute::Cpu).unwrap()
}

#[test]
fn the_same_cells_are_swallowed() {
    let bench = Bench::get();
    let mut most = 0;
    for (name, shape) in SOLIDS {
        let forest = Arc::new(shape(6));
        for (count, merged) in [(60, false), (200, false), (200, true)] {
            let mut pattern = seeds(6, count, 12);
            if merged {
                pattern.objects.iter_mut().filter(|object| **object % 3 == 0).for_each(|object| *object = 0);
            }
            for transition in [2, 3, 6] {
                let recipe = recipe(Surface::Rough, at_level(transition));
                let [a, b] = [&bench.fracturer, &on_cores()].map(|fracturer| {
                    bench.with_source(&forest, 0, |source| fracturer.fracture(source, &pattern, &recipe))
                });
                let (a, b) = (a.unwrap(), b.unwrap());
                let what = format!("{name}, {count} seeds, merged {merged}, transition {transition}");
                assert_eq!(b.counts, a.counts, "{what}");
                most = most.max(a.counts.swallowed);
            }
        }
    }
    println!("up to {most} cells are swallowed");
    assert!(most > 20);
}

#[test]
fn errors_planted_in_the_passes_are_found() {
    let bench = Bench::get();
    let forest = Arc::new(shell(6));
    let pattern = seeds(6, 40, 9);
    let cores = on_cores();
    let same = |fracturer: &Fracturer, recipe: &Recipe| {
        let run = |fracturer: &Fracturer| {
            bench.with_source(&forest, 0, |source| fracturer.fracture(source, &pattern, recipe)).unwrap()
        };
        let (a, b) = (run(fracturer), run(&cores));
        *a.forest == *b.forest && a.counts == b.counts
    };
    let dusty = CrackShape { dusty: Dusty { width: 1.5, irregularity: 0.5 }, ..at_level(3) };
    let recipes = [recipe(Surface::Rough, at_level(3)), recipe(Surface::Dusty, dusty)];
    for (surface, what, from, to) in [
        (0, "nothing", "if d < least", "if d < least"),
        (0, "the last of equal triangles", "if d < least", "if d <= least"),
        (0, "a second plane that makes no ridge", "b.x <= 0i", "b.x <= 1000000i"),
        (1, "nothing", "distance < nearest", "distance < nearest"),
        (1, "the last of equal borders", "distance < nearest", "distance <= nearest"),
        (1, "a border at half its distance", "dot(normal, a), bits);", "dot(normal, a), bits + 1u);"),
        (1, "a share too few", "return objects + 7u;", "return objects + 6u;"),
    ] {
        let planted = testing::planted(from, to, |passes, kernels| match surface {
            0 => passes.rough = RoughPass::with_kernels(kernels),
            _ => passes.dusty = RoughPass::dusty_with_kernels(kernels),
        });
        assert_eq!(same(&planted, &recipes[surface]), what == "nothing", "{what}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn octrees_are_the_same_on_random_solids(
        rng in 0u64..1_000_000, fill in 5u32..60, level in 3u32..7, step in 0u32..5, count in 1usize..80,
        spread in 0.05f64..1.5, flags in 0u32..8, strength in 0f64..=1.0, amplitude in 0f64..=1.0,
        frequency in 1u32..200, octaves in 1u32..=5, stray in 0f64..=0.5, width in 0f64..8.0,
        irregularity in 0f64..=1.0,
    ) {
        let pattern = random_seeds(level, count, rng, spread);
        let forest = Arc::new(random_solid(level, rng, fill));
        prop_assume!(!forest.leaves.is_empty());
        let crack = CrackShape {
            transition_level: Some((2 + step).min(level)),
            offset: if flags & 1 == 0 { Offset::Plane } else { Offset::Balance },
            strength,
            noise: CrackNoise { amplitude, frequency, octaves },
            displacement: Displacement { face: stray, voxel: stray },
            sides: if flags & 2 == 0 { Sides::Cone } else { Sides::Votes },
            dusty: Dusty { width, irregularity },
        };
        let recipe = Recipe { rng, ..recipe(SURFACES[flags as usize >> 2], crack) };
        let found = difference(&both(&forest, 0, &pattern, &recipe));
        prop_assert_eq!(found, None);
    }
}
