//! Invariants of a fracture on the built-in shapes, levels 5 to 7: exact boundary set and copies (F1), conserved mass over generations
//! (F2), labels equal to a plain flood fill (F4), equal results for equal seeds (F9).

#[path = "support/skip.rs"]
mod skip;

use std::{collections::BTreeMap, sync::Arc};

use glam::DVec3;
use kintsugi::{
    bodies::mass_properties,
    fracture::{
        Fracture, FractureParams, Fracturer, Pattern, Recipe, Source, Surface, crack::CrackShape, reference,
    },
    gpu::Gpu,
    mesh::builtin,
    svo::{Arena, Forest, morton, validate},
    voxelize::{Progress, voxelize},
};

const SHAPES: [&str; 3] = ["vase", "cavity", "shell"];

struct Bench {
    gpu: Gpu,
    fracturer: Fracturer,
    arena: Arena,
}

impl Bench {
    fn new() -> Option<Self> {
        let gpu = Gpu::headless().map_err(|error| skip::note(&error.to_string())).ok()?;
        let fracturer = Fracturer::new(&gpu).expect("the passes compile");
        let arena = Arena::new(&gpu).expect("an empty arena fits");
        Some(Self { gpu, fracturer, arena })
    }

    fn run(&mut self, forest: &Arc<Forest>, tree: u32, pattern: &Pattern) -> Fracture {
        self.run_by(forest, tree, pattern, &Recipe::default())
    }

    fn run_by(&mut self, forest: &Arc<Forest>, tree: u32, pattern: &Pattern, recipe: &Recipe) -> Fracture {
        let slot = self.arena.insert(&self.gpu, forest).expect("the forest fits");
        let source = Source { arena: &self.arena, slot, forest, tree };
        let fracture = self.fracturer.fracture(&self.gpu, &source, pattern, recipe).expect("it breaks");
        self.arena.remove(slot);
        fracture
    }
}

fn octree(name: &str, level: u32) -> Arc<Forest> {
    let mesh = builtin(name).expect("a built-in shape");
    Arc::new(voxelize(&mesh, level, &Progress::default()).expect("it voxelises").forest)
}

/// An impact on the front of the tree's bounds.
fn pattern(forest: &Forest, tree: u32, seeds: u32, rng: u64) -> Pattern {
    let params = FractureParams { seeds, rng, ..FractureParams::default() };
    let bounds = mass_properties(forest, tree as usize).bounds;
    let point = bounds.0 + DVec3::new(0.5, 0.6, 0.95) * (bounds.1 - bounds.0);
    Pattern::near_object(&params, point, bounds, forest, tree).expect("good parameters")
}

/// (cell, Morton code, crack) of all copies and per piece the (cell, Morton code) of all its solid voxels, sorted.
type Listed = (Vec<(u32, u32, bool)>, Vec<Vec<(u32, u32)>>);

fn listed(fracture: &Fracture) -> Listed {
    let forest = &fracture.forest;
    let cell_of: BTreeMap<usize, u32> = fracture.pieces.iter().map(|p| (p.tree as usize, p.cell)).collect();
    let mut copies = Vec::new();
    let mut pieces = vec![Vec::new(); forest.trees()];
    for tree in 0..forest.trees() {
        for i in forest.tree_start[tree] as usize..forest.tree_start[tree + 1] as usize {
            let key = forest.leaves.keys[i];
            copies.push((cell_of[&tree], key, forest.leaves.colors[i].crack()));
            pieces[tree].push((cell_of[&tree], key));
        }
    }
    forest.for_each_internal(|tree, low, size| {
        for i in 0..size.pow(3) {
            let p = [low[0] + i % size, low[1] + i / size % size, low[2] + i / size / size];
            pieces[tree].push((cell_of[&tree], morton::encode(p)));
        }
    });
    copies.sort_unstable();
    pieces.iter_mut().for_each(|piece| piece.sort_unstable());
    pieces.sort_unstable();
    (copies, pieces)
}

#[test]
fn f1_f4_copies_and_pieces_equal_the_brute_force() {
    let Some(mut bench) = Bench::new() else { return };
    for name in SHAPES {
        for level in 5..=7 {
            let forest = octree(name, level);
            for (seeds, rng) in [(7, 1), (40, 7), (90, 3)] {
                let pattern = pattern(&forest, 0, seeds, rng);
                let fracture = bench.run(&forest, 0, &pattern);
                let wanted = reference::fracture(&forest, 0, &pattern);
                let (copies, pieces) = listed(&fracture);
                println!(
                    "{name} level {level} seeds {seeds}: {} copies, {} crack voxels, {} pieces",
                    copies.len(),
                    fracture.counts.crack_voxels,
                    pieces.len()
                );
                assert!(copies == wanted.copies, "{name} {level} {seeds}: copies");
                assert!(pieces == wanted.pieces, "{name} {level} {seeds}: pieces");
                assert_eq!(fracture.counts.crack_voxels as usize, wanted.crack_voxels);
                assert_eq!(validate(&fracture.forest), Ok(()));
                // The reference must be able to disagree.
                let mut planted = wanted.copies.clone();
                planted.pop();
                assert!(copies != planted);
            }
        }
    }
}

#[test]
fn f2_mass_is_conserved_for_five_generations() {
    let Some(mut bench) = Bench::new() else { return };
    for name in SHAPES {
        let level = 6;
        let (mut forest, mut tree) = (octree(name, level), 0);
        for generation in 0..5 {
            let before = mass_properties(&forest, tree as usize);
            let fracture = bench.run(&forest, tree, &pattern(&forest, tree, 12, 20 + generation));
            let after: f64 = fracture.pieces.iter().map(|p| p.mass.volume).sum();
            let moment: DVec3 = fracture.pieces.iter().map(|p| p.mass.centre * p.mass.volume).sum();
            let drift = (moment / after - before.centre).length();
            println!(
                "{name} generation {generation}: {} pieces, mass off by {:.1e}, centre by {drift:.1e} voxels",
                fracture.pieces.len(),
                after / before.volume - 1.0
            );
            assert!((after / before.volume - 1.0).abs() < 1e-6);
            assert!(drift < 1e-4);
            tree = fracture.pieces[0].tree;
            forest = fracture.forest;
        }
    }
}

#[test]
fn f9_equal_seeds_give_equal_pieces() {
    let Some(mut bench) = Bench::new() else { return };
    for name in SHAPES {
        let forest = octree(name, 6);
        let first = bench.run(&forest, 0, &pattern(&forest, 0, 40, 7));
        // Another slot in the arena, and a second device.
        let _shift = bench.arena.insert(&bench.gpu, &octree("box", 4)).expect("fits");
        let second = bench.run(&forest, 0, &pattern(&forest, 0, 40, 7));
        let Some(mut another) = Bench::new() else { return };
        let third = another.run(&forest, 0, &pattern(&forest, 0, 40, 7));
        assert!(*first.forest == *second.forest && first.pieces == second.pieces, "{name}: same device");
        assert!(*first.forest == *third.forest && first.pieces == third.pieces, "{name}: other device");
        let other = bench.run(&forest, 0, &pattern(&forest, 0, 40, 8));
        assert!(*first.forest != *other.forest, "{name}: another seed gives other pieces");
    }
}

fn rough(transition: u32) -> Recipe {
    let crack = CrackShape { transition_level: Some(transition), ..CrackShape::default() };
    Recipe { surface: Surface::Rough, crack, rng: 5, ..Recipe::default() }
}

#[test]
fn f1_f4_rough_copies_and_pieces_equal_the_brute_force() {
    let Some(mut bench) = Bench::new() else { return };
    for (name, level, transition) in
        [("vase", 5, 2), ("vase", 6, 3), ("vase", 7, 5), ("cavity", 6, 4), ("shell", 6, 2), ("statue", 7, 3)]
    {
        let forest = octree(name, level);
        for (seeds, rng) in [(7, 1), (40, 7)] {
            let pattern = pattern(&forest, 0, seeds, rng);
            let recipe = rough(transition);
            let fracture = bench.run_by(&forest, 0, &pattern, &recipe);
            let wanted = reference::fracture_by(&forest, 0, &pattern, &recipe).expect("good parameters");
            let (copies, pieces) = listed(&fracture);
            println!("{name} level {level} transition {transition} seeds {seeds}: {:?}", fracture.counts);
            assert!(copies == wanted.copies, "{name} {level} {seeds}: copies");
            assert!(pieces == wanted.pieces, "{name} {level} {seeds}: pieces");
            assert_eq!(fracture.counts.crack_voxels as usize, wanted.crack_voxels);
            assert_eq!(fracture.counts.swallowed as usize, wanted.swallowed);
            assert_eq!(validate(&fracture.forest), Ok(()));
        }
    }
}

#[test]
fn f2_f9_rough_pieces_of_pieces_keep_their_mass_and_repeat() {
    let Some(mut bench) = Bench::new() else { return };
    for name in SHAPES {
        let (mut forest, mut tree) = (octree(name, 6), 0);
        for generation in 0..5 {
            let before = mass_properties(&forest, tree as usize).volume;
            let pattern = pattern(&forest, tree, 12, 20 + generation);
            let fracture = bench.run_by(&forest, tree, &pattern, &rough(3));
            let again = bench.run_by(&forest, tree, &pattern, &rough(3));
            assert!(*fracture.forest == *again.forest && fracture.pieces == again.pieces);
            let after: f64 = fracture.pieces.iter().map(|p| p.mass.volume).sum();
            println!(
                "{name} generation {generation}: {} pieces, mass off by {:.1e}",
                fracture.pieces.len(),
                after / before - 1.0
            );
            assert!((after / before - 1.0).abs() < 1e-6);
            tree = fracture.pieces[0].tree;
            forest = fracture.forest;
        }
    }
}
