//! Dusty fractures against the brute-force reference, on shapes made here, and what becomes of the gap.

use std::{collections::HashSet, sync::Arc};

use glam::DVec3;
use proptest::prelude::*;

use super::voxel::DustReference;
use crate::{
    fracture::{
        Fracturer, Pattern, Recipe, Surface,
        voronoi::reference,
        voronoi::surface::rough::{CrackNoise, CrackShape, CrackUniform, Dusty, Offset, pass::RoughPass},
        voronoi::testing::{
            self, Bench, SOLIDS, assert_parity, ball, cavity, difference, dust, forest_of, random_seeds,
            random_solid, seeds, shell, solid,
        },
    },
    shape::grid_mass,
    svo::{Forest, morton, validate},
};

fn recipe(crack: CrackShape) -> Recipe {
    Recipe { surface: Surface::Dusty, crack, rng: 77, ..Recipe::default() }
}

/// A transition level, and a gap in leaf voxels.
fn gap(transition: u32, width: f64, irregularity: f64) -> CrackShape {
    CrackShape {
        transition_level: Some(transition),
        dusty: Dusty { width, irregularity },
        ..CrackShape::default()
    }
}

#[test]
fn equals_the_reference_on_every_shape() {
    for (name, shape) in SOLIDS {
        for level in [4, 6] {
            let forest = Arc::new(shape(level));
            // The finest level costs as much as all others: every second transition there.
            for transition in (2..=level).filter(|k| level < 6 || k % 2 == 0) {
                for (count, width) in [(3, 2.0), (25, 0.7)] {
                    let pattern = seeds(level, count, 3 + count as u64);
                    let what = format!("{name} level {level} transition {transition} seeds {count}");
                    assert_parity(&forest, &pattern, &recipe(gap(transition, width, 0.5)), &what);
                }
            }
        }
    }
    for level in [1, 2] {
        assert_parity(&Arc::new(ball(level)), &seeds(level, 5, 5), &recipe(CrackShape::default()), "small");
    }
}

#[test]
fn equals_the_reference_where_everything_is_tied() {
    // Edge points in the middle put leaf centres in line with sides of triangles.
    for width in [0.0, 1.0, 2.0, 4.0] {
        let noise = CrackNoise { amplitude: 0.0, ..CrackNoise::default() };
        let crack = CrackShape { strength: 0.0, noise, ..gap(3, width, 0.0) };
        assert_parity(&Arc::new(ball(6)), &seeds(6, 30, 4), &recipe(crack), "middle points");
    }
    let mut pattern = Pattern::from_points(
        &[[8.0, 8.0, 8.0], [24.0, 8.0, 8.0], [8.0, 24.0, 8.0], [24.0; 3], [24.0; 3], [8.0, 8.0, 24.0]]
            .map(DVec3::from_array),
        5,
    )
    .unwrap();
    for objects in [(0..6).collect(), vec![0, 1, 0, 3, 3, 1]] {
        pattern.objects = objects;
        for transition in 2..=5 {
            assert_parity(&Arc::new(ball(5)), &pattern, &recipe(gap(transition, 1.5, 0.3)), "tied seeds");
        }
    }
}

#[test]
fn equals_the_reference_at_level_7() {
    for (transition, width) in [(2, 9.0), (4, 2.0), (6, 1.0)] {
        let what = format!("shell level 7 transition {transition}");
        assert_parity(&Arc::new(shell(7)), &seeds(7, 40, 5), &recipe(gap(transition, width, 0.5)), &what);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equals_the_reference_on_random_solids(
        rng in 0u64..1_000_000, fill in 5u32..60, level in 3u32..6, step in 0u32..4, count in 1usize..40,
        spread in 0.05f64..1.5, plane in any::<bool>(), strength in 0f64..=1.0, amplitude in 0f64..=1.0,
        frequency in 1u32..200, octaves in 1u32..=5, width in 0f64..=6.0, irregularity in 0f64..=1.0
    ) {
        let pattern = random_seeds(level, count, rng, spread);
        let forest = Arc::new(random_solid(level, rng, fill));
        prop_assume!(!forest.leaves.is_empty());
        let crack = CrackShape {
            offset: if plane { Offset::Plane } else { Offset::Balance },
            strength,
            noise: CrackNoise { amplitude, frequency, octaves },
            ..gap((2 + step).min(level), width, irregularity)
        };
        let recipe = Recipe { rng, ..recipe(crack) };
        prop_assert_eq!(difference(&Bench::get().fracturer, &forest, &pattern, &recipe), None);
    }
}

/// Dusty passes whose kernels have `from` replaced by `to`.
fn planted(from: &str, to: &str) -> Fracturer {
    testing::planted(from, to, |passes, kernels| passes.dusty = RoughPass::dusty_with_kernels(kernels))
}

#[test]
fn planted_errors_are_caught() {
    let forest = Arc::new(ball(6));
    let pattern = seeds(6, 30, 9);
    let noise = CrackNoise { amplitude: 0.0, ..CrackNoise::default() };
    let tied = CrackShape { strength: 0.0, noise, ..gap(3, 2.0, 0.0) };
    let recipes = [recipe(gap(3, 2.0, 0.6)), recipe(tied)];
    let caught = |fracturer: &Fracturer| {
        recipes.iter().find_map(|recipe| difference(fracturer, &forest, &pattern, recipe))
    };
    assert_eq!(caught(&planted("fn dust_code", "fn dust_code")), None);
    for (what, from, to) in [
        (
            "diagonal corners joined",
            "if dust_object(second) != object {",
            "if dust_object(second) != object && dust_object(third) != object {",
        ),
        ("the gap on one side only", "within_edge(at + halves[b])", "within_edge(at)"),
        ("a gap that knows no noise", "shape.irregularity * noise", "0i * noise"),
        ("a triangle dropped", "let t = firstTrailingBit(left);", "let t = firstTrailingBit(left | 512u);"),
        ("walls forgotten", "if a.x == CRACK_EDGE && b.x == CRACK_EDGE {", "if false {"),
        ("a tie that knows no step", "select(h > 0i, step > 0i, h == 0i)", "h > 0i"),
        ("crossings behind the point", "sign(normal.x) > 0i)", "sign(normal.x) != 0i)"),
        ("no part for the dust", "return objects + 7u;", "return objects - 1u;"),
    ] {
        let found = caught(&planted(from, to));
        println!("{what}: {found:?}");
        assert!(found.is_some(), "{what} went unnoticed");
    }
}

/// A flat gap across the x axis: what is gone is known without any of the code above.
#[test]
fn f10_the_removed_voxels_are_exactly_the_gap() {
    let bench = Bench::get();
    let forest = Arc::new(ball(6));
    let source = solid(&forest, 0);
    // The bisector lies at x = 33.5, in a transition voxel that spans 32..40.
    let pattern =
        Pattern::from_points(&[DVec3::new(13.5, 30.0, 31.0), DVec3::new(53.5, 30.0, 31.0)], 6).unwrap();
    let noise = CrackNoise { amplitude: 0.0, ..CrackNoise::default() };
    for width in [0.0, 0.5, 1.0, 2.5, 2.75] {
        let crack = CrackShape { noise, ..gap(3, width, 0.0) };
        let fracture = bench.run_by(&forest, 0, &pattern, &recipe(crack));
        let (low, high) = (33.5 - width / 2.0, 33.5 + width / 2.0);
        let mut wanted = Vec::new();
        for key in source.keys() {
            let x = f64::from(morton::decode(*key)[0]);
            // The borders of the two halves, in closed voxels.
            let touching = [low, high].iter().filter(|border| (x..=x + 1.0).contains(border)).count();
            if touching > 0 {
                wanted.push((*key, touching as u32 + 1));
            } else if low < x && x + 1.0 < high {
                wanted.push((*key, 1));
            }
        }
        assert!(dust(&source, &fracture).as_ref() == Some(&wanted), "width {width}");
        let volume: f64 = wanted.iter().map(|(key, parts)| f64::from(source[key]) / f64::from(*parts)).sum();
        let voxels = wanted.iter().filter(|(_, parts)| *parts == 1).count();
        println!("gap of {width}: {voxels} voxels are dust, {volume:.1} in all");
        assert_eq!(fracture.counts.dust_voxels, voxels as u64);
        assert!((fracture.dust_volume / volume - 1.0).abs() < 1e-9);
        assert_eq!(fracture.counts.pieces, 2);
    }
}

/// For any gap: a leaf is dust if and only if no object's border touches it and none has its centre inside.
#[test]
fn f10_dust_is_what_lies_in_no_object() {
    let bench = Bench::get();
    for (name, shape) in SOLIDS {
        let forest = Arc::new(shape(6));
        let pattern = seeds(6, 25, 8);
        for width in [0.0, 1.5, 4.0] {
            let crack = gap(3, width, 0.5);
            let recipe = recipe(crack);
            let fracture = bench.run_by(&forest, 0, &pattern, &recipe);
            assert_eq!(validate(&fracture.forest), Ok(()));
            let gone: HashSet<morton::Key> = dust(&solid(&forest, 0), &fracture)
                .unwrap()
                .iter()
                .filter(|d| d.1 == 1)
                .map(|d| d.0)
                .collect();
            let words = CrackUniform::new(&crack, recipe.rng, 3).with_gap(&crack, 6);
            let mut voxels = DustReference::new(&pattern, words, 6);
            for key in solid(&forest, 0).keys() {
                let at = morton::decode(*key);
                let in_gap = voxels.voxel(at.map(|v| v >> 3)).as_ref().is_ok_and(|voxel| {
                    let low = at.map(|v| i64::from(v % 8) * 64);
                    voxel.winds_round_none(low, low.map(|v| v + 64))
                });
                assert_eq!(gone.contains(key), in_gap, "{name} width {width} at {at:?}");
            }
            println!(
                "{name} width {width}: {} voxels are dust, {:.1} in all",
                gone.len(),
                fracture.dust_volume
            );
        }
    }
}

#[test]
fn masses_and_dust_are_the_source_while_pieces_of_pieces_break() {
    let bench = Bench::get();
    for shape in [shell as fn(u32) -> Forest, cavity] {
        let (mut forest, mut tree) = (Arc::new(shape(6)), 0);
        for generation in 0..5u64 {
            let pattern = seeds(6, 10, 40 + generation);
            let surface = if generation == 2 { Surface::Rough } else { Surface::Dusty };
            let recipe = Recipe { surface, ..recipe(gap(3, 1.5, 0.5)) };
            let result = bench.run_by(&forest, tree, &pattern, &recipe);
            let before = grid_mass(&forest, tree as usize).volume;
            let after: f64 = result.pieces.iter().map(|p| p.mass.volume).sum();
            println!(
                "generation {generation}: {} pieces, {before} before, {after} after, {} dust",
                result.pieces.len(),
                result.dust_volume
            );
            assert!(((after + result.dust_volume) / before - 1.0).abs() < 1e-6);
            assert_eq!(result.dust_volume > 0.0, surface == Surface::Dusty);
            assert_eq!(validate(&result.forest), Ok(()));
            let again = bench.run_by(&forest, tree, &pattern, &recipe);
            assert_eq!(*again.forest, *result.forest);
            tree = result.pieces[0].tree;
            forest = Arc::clone(&result.forest);
        }
    }
}

#[test]
fn a_wider_gap_makes_more_dust_and_irregularity_less() {
    let bench = Bench::get();
    let forest = Arc::new(shell(6));
    let pattern = seeds(6, 25, 8);
    let lost = |width, irregularity| {
        let fracture = bench.run_by(&forest, 0, &pattern, &recipe(gap(3, width, irregularity)));
        println!(
            "width {width}, irregularity {irregularity}: {} voxels, {:.1} in all",
            fracture.counts.dust_voxels, fracture.dust_volume
        );
        (fracture.counts.dust_voxels, fracture.dust_volume)
    };
    let even: Vec<_> = [0.0, 1.0, 2.0, 4.0].map(|width| lost(width, 0.0)).to_vec();
    assert!(even.is_sorted_by(|a, b| a.0 <= b.0 && a.1 < b.1));
    let (voxels, volume) = lost(4.0, 1.0);
    assert!(voxels < even[3].0 && volume < even[3].1);
}

#[test]
fn an_object_that_would_all_be_dust_is_refused() {
    let bench = Bench::get();
    // In a gap from x = 16 to 32.
    let crumb = Arc::new(forest_of(6, |p| (p - 24).abs().max_element() < 3));
    let pattern =
        Pattern::from_points(&[DVec3::new(14.0, 24.0, 24.0), DVec3::new(34.0, 24.0, 24.0)], 6).unwrap();
    let noise = CrackNoise { amplitude: 0.0, ..CrackNoise::default() };
    let recipe = recipe(CrackShape { noise, ..gap(2, 16.0, 0.0) });
    let wanted = reference::fracture_by(&crumb, 0, &pattern, &recipe).unwrap();
    assert!(wanted.copies.is_empty() && wanted.internal.is_empty());
    let refused = bench.with_source(&crumb, 0, |source| bench.fracturer.fracture(source, &pattern, &recipe));
    assert!(refused.is_err_and(|e| e.to_string().contains("nothing but dust")));
}
