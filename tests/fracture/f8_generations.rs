//! F8: five generations of pieces of pieces keep every check, on planar, rough and dusty surfaces and a
//! mixture; over all of them the mass is that of the first object to 1e-6.

use std::sync::Arc;

use kintsugi::{
    fracture::{Surface, missed_fragments},
    shape::grid_mass,
};

use super::{
    bed::Bench,
    cases::{Case, Crack, plain},
    checks::Figures,
    f2_mass::MASS,
    f6_hidden::{Parts, solid},
    f9_bytes::difference,
    shapes::SIX,
};

const GENERATIONS: usize = 5;

/// Breaks a piece of every generation: the largest, and of the third the one of middle size, which has cracks
/// all round.
fn generations(bench: &Bench, name: &str, surfaces: [Surface; GENERATIONS]) -> Figures {
    let mut sum = Figures::default();
    let first = plain(name, 6, surfaces[0], 12, 0);
    let (mut forest, mut tree) = (first.shape.octree(6), 0);
    let whole = grid_mass(&forest, 0).volume;
    // What is no longer broken.
    let mut aside = 0.0;
    for (generation, surface) in surfaces.into_iter().enumerate() {
        let case = Case {
            surface,
            rng: 20 + generation as u64,
            local: (generation == 3).then_some(40),
            crack: Crack { above: 2 + generation as u32 % 2, gap: 12, ..Crack::default() },
            ..first.clone()
        };
        let (figures, fracture) = case
            .examine_tree(bench, &forest, tree)
            .unwrap_or_else(|found| panic!("{name}, generation {generation}: {found}\n{case:?}"));
        let fracture = fracture.expect("a piece this large is not all dust");
        let (pattern, recipe) = case.parts(&forest, tree);
        if surface == Surface::Planar {
            let parts = Parts::of(&solid(&forest, tree as usize), 6, &pattern);
            let found = missed_fragments(&forest, tree, &pattern).parts;
            assert_eq!(parts.differ_from(&found), None, "{name}, generation {generation}");
        }
        if generation + 1 == GENERATIONS {
            let again = bench.run(&forest, tree, &pattern, &recipe).expect("it breaks again");
            assert_eq!(difference(&fracture, &again), None, "{name}, generation {generation}");
        }
        let next = if generation == 2 { fracture.pieces.len() / 2 } else { 0 };
        let volume: f64 = fracture.pieces.iter().map(|piece| piece.mass.volume).sum();
        let error = (aside + volume + fracture.dust_volume) / whole - 1.0;
        println!(
            "{name} {surface:?} generation {generation}: {} pieces, {} copies, {:.1} dust, mass off by {error:.1e}",
            figures.pieces, figures.copies, fracture.dust_volume
        );
        assert!(error.abs() < MASS, "{name}, generation {generation}: {error}");
        aside += volume + fracture.dust_volume - fracture.pieces[next].mass.volume;
        tree = fracture.pieces[next].tree;
        forest = Arc::clone(&fracture.forest);
        sum += figures;
    }
    sum
}

fn run(of: impl Fn(&str) -> [Surface; GENERATIONS]) {
    let Some(bench) = Bench::get() else { return };
    let mut sum = Figures::default();
    SIX.iter().for_each(|name| sum += generations(bench, name, of(name)));
    println!("{sum:?}");
    assert_eq!(sum.cases as usize, SIX.len() * GENERATIONS);
    assert!(sum.pieces > 150, "{sum:?}");
}

#[test]
fn five_planar_generations() {
    run(|_| [Surface::Planar; GENERATIONS]);
}

#[test]
fn five_rough_generations() {
    run(|_| [Surface::Rough; GENERATIONS]);
}

#[test]
fn five_dusty_generations() {
    run(|_| [Surface::Dusty; GENERATIONS]);
}

#[test]
fn five_generations_of_all_three() {
    use Surface::{Dusty, Planar, Rough};
    run(|name| match name {
        "vase" | "comb" => [Rough, Dusty, Planar, Dusty, Rough],
        "cavity" | "cup" => [Dusty, Planar, Rough, Rough, Planar],
        _ => [Planar, Rough, Dusty, Planar, Dusty],
    });
}
