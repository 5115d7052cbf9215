//! The passes against the brute-force reference, on shapes made here.

use std::sync::Arc;

use crate::geometry::Aabb;
use glam::{DVec3, IVec3};
use proptest::prelude::*;

use super::{
    reference,
    testing::{
        Bench, SOLIDS, alone, assert_planar, ball, cavity, comb, listed, random_seeds, random_solid, seeds,
        sheet, shell,
    },
};
use crate::{
    fracture::{Cancel, FractureParams, Pattern, Recipe, Source},
    svo::{Arena, morton},
};

#[test]
fn equals_the_reference_on_every_shape() {
    for (name, shape) in SOLIDS {
        for level in [3, 5, 6] {
            for count in [1, 2, 17, 60] {
                let pattern = seeds(level, count, 3 + count as u64);
                assert_planar(shape(level), &pattern, &format!("{name} level {level} seeds {count}"));
            }
        }
    }
    assert_planar(shell(7), &seeds(7, 40, 5), "shell level 7");
    assert_planar(ball(1), &seeds(1, 3, 5), "ball level 1");
    assert_planar(ball(2), &seeds(2, 9, 5), "ball level 2");
}

#[test]
fn ties_and_coincident_seeds_belong_to_the_lowest_index() {
    // Symmetric seeds on lattice planes: whole planes of corners are tied, and two seeds coincide.
    let points: Vec<DVec3> = [[8, 8, 8], [24, 8, 8], [8, 24, 8], [24, 24, 24], [24, 24, 24], [8, 8, 24]]
        .map(|p: [i32; 3]| IVec3::from_array(p).as_dvec3())
        .to_vec();
    let pattern = Pattern::from_points(&points, 5).unwrap();
    assert_planar(ball(5), &pattern, "tied seeds");
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
        let before = crate::shape::grid_mass(&forest, tree as usize);
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
        assert_planar(alone(&result.forest, tree), &seeds(6, 9, 90), "piece of a piece");
        forest = Arc::clone(&result.forest);
    }
}

#[test]
fn crack_copies_have_partners_with_opposite_normals() {
    let bench = Bench::get();
    let forest = Arc::new(ball(6));
    let points = [DVec3::new(12.0, 30.0, 20.0), DVec3::new(50.0, 41.0, 37.0)];
    let result = bench.run(&forest, 0, &Pattern::from_points(&points, 6).unwrap(), None);
    let mut faces: std::collections::BTreeMap<crate::svo::Key, Vec<(glam::Vec3, f32)>> =
        std::collections::BTreeMap::new();
    for i in 0..result.forest.leaves.len() {
        let leaves = &result.forest.leaves;
        if leaves.colors[i].crack() {
            let surface = (crate::svo::unpack_normal(leaves.normals[i]), leaves.colors[i].offset());
            faces.entry(leaves.keys.at(i)).or_default().push(surface);
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
            let centre = glam::UVec3::from_array(morton::decode(leaves.keys.at(i))).as_dvec3() + 0.5;
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
    let slot = arena.insert(&forest).unwrap();
    let source = Source { arena: &arena, slot, forest: &forest, tree: 0, cancel: Cancel::never() };
    let empty = Pattern { seeds: Vec::new(), objects: Vec::new() };
    let too_fine = Recipe { island_level: Some(9), ..Recipe::default() };
    assert!(bench.fracturer.fracture(&source, &empty, &Recipe::default()).is_err());
    assert!(bench.fracturer.fracture(&source, &seeds(4, 3, 1), &too_fine).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equals_the_reference_on_random_solids(
        rng in 0u64..1_000_000, fill in 5u32..60, level in 3u32..6, count in 1usize..40, spread in 0.05f64..1.5
    ) {
        let pattern = random_seeds(level, count, rng, spread);
        let forest = random_solid(level, rng, fill);
        prop_assume!(!forest.leaves.is_empty());
        assert_planar(forest, &pattern, "random solid");
    }
}

#[test]
fn seeds_are_drawn_near_a_thin_object() {
    let forest = sheet(6);
    let params = FractureParams { seeds: 60, radii: vec![0.1, 0.25, 0.4], ..Default::default() };
    let bounds = Aabb::new(DVec3::ZERO, DVec3::splat(64.0));
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
