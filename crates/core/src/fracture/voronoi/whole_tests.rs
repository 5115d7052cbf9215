//! Whole fractures on the cores against those by passes, and what is collected against plain loops.

use std::sync::Arc;

use proptest::prelude::*;

use super::{
    collect::collect_native,
    octrees::{NO_LEAF, native::NativeOctrees},
    passes::{Broken, PassStages},
    stages::{Inputs, OctreeStages},
    testing::{Bench, SOLIDS, comb, random_seeds, random_solid, read, seeds},
};
use crate::{
    compute::Compute,
    fracture::{
        Fracture, FractureCounts, Fracturer, Labelling, Pattern, Recipe, Smallest, Source, Surface,
        crack::{CrackShape, Dusty},
        interior,
    },
    svo::Forest,
};

/// The first thing in which two fractures differ. Times may.
pub fn difference(a: &Fracture, b: &Fracture) -> Option<String> {
    let parts = [
        ("level starts", a.forest.level_start == b.forest.level_start),
        ("nodes", a.forest.nodes == b.forest.nodes),
        ("tree starts", a.forest.tree_start == b.forest.tree_start),
        ("keys", a.forest.leaves.keys == b.forest.leaves.keys),
        ("coverage", a.forest.leaves.coverage == b.forest.leaves.coverage),
        ("forests", a.forest == b.forest),
        ("pieces", a.pieces == b.pieces),
        ("counts", a.counts == b.counts),
        ("dust", a.dust_volume.to_bits() == b.dust_volume.to_bits()),
        ("small pieces", a.merges == b.merges && a.dropped.is_some() == b.dropped.is_some()),
    ];
    parts.iter().find(|(_, same)| !same).map(|(what, _)| format!("{what} differ"))
}

pub fn on_cores() -> Fracturer {
    Fracturer::new(Compute::Cpu).unwrap()
}

fn assert_same(forest: &Arc<Forest>, tree: u32, pattern: &Pattern, recipe: &Recipe, what: &str) -> Fracture {
    let bench = Bench::get();
    bench.with_source(forest, tree, |source| {
        let by_passes = bench.fracturer.fracture(source, pattern, recipe).unwrap();
        let by_cores = on_cores().fracture(source, pattern, recipe).unwrap();
        if let Some(found) = difference(&by_passes, &by_cores) {
            panic!("{what}: {found}");
        }
        by_cores
    })
}

#[test]
fn whole_fractures_are_the_same() {
    for (name, solid) in SOLIDS {
        let forest = Arc::new(solid(6));
        for island_level in [None, Some(1), Some(3), Some(5)] {
            for labelling in [Labelling::UnionFind, Labelling::Iterative] {
                let recipe = Recipe { island_level, labelling, ..Recipe::default() };
                let what = format!("{name}, {island_level:?}, {labelling:?}");
                let fracture = assert_same(&forest, 0, &seeds(6, 24, 3), &recipe, &what);
                println!("{what}: {} pieces", fracture.pieces.len());
            }
        }
        let mut local = seeds(6, 24, 5);
        local.objects.iter_mut().skip(4).for_each(|object| *object = 4);
        let fracture = assert_same(&forest, 0, &local, &Recipe::default(), name);
        // A piece of the result breaks in turn.
        let tree = fracture.pieces[0].tree;
        let again = assert_same(&fracture.forest, tree, &seeds(6, 9, 8), &Recipe::default(), name);
        let smallest = Some(Smallest { voxels: 40, ..Smallest::default() });
        let recipe = Recipe { smallest, ..Recipe::default() };
        assert_same(&again.forest, again.pieces[0].tree, &seeds(6, 40, 2), &recipe, name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whole_fractures_of_random_solids_are_the_same(
        rng in 0u64..1_000_000, fill in 5u32..60, level in 3u32..7, count in 1usize..120,
        spread in 0.05f64..1.5, below in 0u32..4,
    ) {
        let pattern = random_seeds(level, count, rng, spread);
        let forest = Arc::new(random_solid(level, rng, fill));
        let recipe = Recipe { island_level: Some(level.saturating_sub(below).max(1)), ..Recipe::default() };
        assert_same(&forest, 0, &pattern, &recipe, "random solid");
    }
}

/// Counts, dust and coverages in one loop over the leaves, as they are defined.
fn plain(source: &Source<'_>, octrees: &NativeOctrees) -> (FractureCounts, f64, Vec<f32>) {
    let leaves = source.forest.tree_start[source.tree as usize] as usize
        ..source.forest.tree_start[source.tree as usize + 1] as usize;
    let mut taken = vec![false; source.forest.leaves.len()];
    let (mut crack_shares, mut dust_volume, mut coverage) = (0, 0.0, Vec::new());
    for origin in &octrees.leaves.origins {
        let (cells, dust) = ((origin >> 28) % 8 + 1, origin >> 31);
        let mut whole = 1.0;
        match (origin & NO_LEAF) as usize {
            leaf if leaf == NO_LEAF as usize => crack_shares += 840 / u64::from(cells),
            leaf => {
                taken[leaf] = true;
                whole = source.forest.leaves.coverage[leaf];
            }
        }
        if dust == 1 {
            dust_volume += f64::from(whole) / f64::from((cells + 1) * cells);
        }
        coverage.push(whole / (cells + dust) as f32);
    }
    let mut dust_voxels = 0;
    for leaf in leaves.clone().filter(|leaf| !taken[*leaf]) {
        dust_voxels += 1;
        dust_volume += f64::from(source.forest.leaves.coverage[leaf]);
    }
    let mut inside = 0;
    source.forest.visit_internal(source.tree as usize, &mut |_, _, size| inside += u64::from(size).pow(3));
    let level = source.forest.level;
    for l in 0..level as usize {
        let [first, end] = [octrees.level_start[l] as usize, octrees.level_start[l + 1] as usize];
        for node in &octrees.nodes[first..end] {
            inside -= u64::from(node.internal().count_ones()) << (3 * (level - l as u32 - 1));
        }
    }
    inside -= crack_shares / 840;
    let counts = FractureCounts {
        source_leaves: leaves.len() as u64,
        crack_voxels: crack_shares / 840,
        fbs: coverage.len() as u64,
        dust_voxels: dust_voxels + inside,
        ..FractureCounts::default()
    };
    (counts, dust_volume + inside as f64, coverage)
}

#[test]
fn what_is_collected_is_what_plain_loops_find() {
    let bench = Bench::get();
    let (gpu, passes) = bench.fracturer.passes().unwrap();
    let mut with_dust = 0;
    for (name, solid) in SOLIDS {
        for surface in [Surface::Planar, Surface::Rough, Surface::Dusty] {
            let forest = Arc::new(solid(6));
            let dusty = Dusty { width: 3.0, irregularity: 0.5 };
            let crack = CrackShape { transition_level: Some(4), dusty, ..CrackShape::default() };
            let recipe = Recipe { surface, crack, ..Recipe::default() };
            let volume = recipe.interior.volume(interior::surface_color(&forest, 0));
            bench.with_source(&forest, 0, |source| {
                let of = Inputs { source, pattern: &seeds(6, 12, 3), recipe: &recipe };
                let mut stages = PassStages::new(gpu, passes, of);
                let (cells, _) = stages.cells(volume).unwrap();
                let Broken::Cells(cells) = cells else { panic!("nothing was split") };
                let octrees = read(&cells);
                let (counts, dust_volume, coverage) = plain(source, &octrees);
                let trees: Vec<u32> = (0..octrees.level_start[1]).collect();
                let fracture = collect_native(source, octrees, trees, volume).unwrap();
                let found = &fracture.counts;
                with_dust += usize::from(found.dust_voxels > 0);
                println!("{name}, {surface:?}: {} leaves, dust {dust_volume}", found.fbs);
                assert_eq!(fracture.dust_volume.to_bits(), dust_volume.to_bits(), "{name}");
                assert!(fracture.forest.leaves.coverage == coverage, "{name}");
                let found = [found.source_leaves, found.crack_voxels, found.fbs, found.dust_voxels];
                let wanted = [counts.source_leaves, counts.crack_voxels, counts.fbs, counts.dust_voxels];
                assert_eq!(found, wanted, "{name}");
                assert_eq!(crate::svo::validate(&fracture.forest), Ok(()), "{name}");
            });
        }
    }
    assert!(with_dust > 2);
}

#[test]
fn planted_differences_are_found() {
    let bench = Bench::get();
    bench.with_source(&Arc::new(comb(5)), 0, |source| {
        let recipe = Recipe::default();
        let fracture = on_cores().fracture(source, &seeds(5, 9, 3), &recipe).unwrap();
        let spoiled = |spoil: &dyn Fn(&mut Fracture)| {
            let mut other = fracture.clone();
            spoil(&mut other);
            difference(&fracture, &other).unwrap_or_default()
        };
        assert_eq!(spoiled(&|_| {}), "");
        let forest = |spoil: fn(&mut Forest)| spoiled(&|f| spoil(Arc::make_mut(&mut f.forest)));
        assert!(forest(|f| f.leaves.coverage[9] *= 0.999_999).contains("coverage"));
        assert!(forest(|f| f.tree_start[1] += 1).contains("tree starts"));
        assert!(forest(|f| f.leaves.cuts[3] ^= 1).contains("forests"));
        assert!(spoiled(&|f| f.pieces.swap(0, 1)).contains("pieces"));
        assert!(spoiled(&|f| f.dust_volume += 1e-9).contains("dust"));
    });
}
