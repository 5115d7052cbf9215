//! Islands on the cores, and the octrees split by them, against the passes: every label, every word of every octree.

use std::sync::Arc;

use glam::IVec3;
use proptest::prelude::*;

use super::native::{NativeIslands, SEVERAL, islands, islands_by};
use crate::{
    fracture::{
        Cancel, Cancelled, Pattern,
        voronoi::{
            octrees::{
                native::{LeafRun, LeavesToCome, NativeCells, NativeLeaves, NativeOctrees, Trees},
                split::Labelled,
                split_native,
            },
            testing::{Bench, SOLIDS, forest_of, octrees_of, random_solid, read, seeds, unsplit_cells},
        },
    },
    gpu::Submissions,
    svo::{Forest, Keys},
};

/// The label of every node, as the passes write them.
fn labels(octrees: &NativeOctrees, islands: &NativeIslands) -> Vec<u32> {
    let start = &octrees.level_start;
    // What all below a node is called, if it is one.
    let mut whole: Vec<Option<u32>> = vec![None; octrees.nodes.len()];
    let mut labels: Vec<u32> = (0..octrees.nodes.len() as u32).collect();
    for l in 0..start.len() - 1 {
        for i in start[l] as usize..start[l + 1] as usize {
            let node = octrees.nodes[i];
            let word = if l > islands.last as usize { SEVERAL } else { islands.parts[i] };
            let label = whole[i].unwrap_or(word & !SEVERAL);
            if word & SEVERAL == 0 {
                whole[i] = Some(label);
            }
            if l >= islands.last as usize || node.internal() != 0 {
                labels[i] = label;
            }
            if l + 2 < start.len() {
                for c in (0..8).filter(|c| node.valid() >> c & 1 == 1) {
                    whole[node.child(c) as usize] = whole[i];
                }
            }
        }
    }
    labels
}

/// Leaves that the passes wrote, in another order.
impl LeavesToCome for NativeLeaves {
    fn write(self: Box<Self>, runs: &[LeafRun], _cancel: &Cancel) -> Result<NativeLeaves, Cancelled> {
        let gathered = |words: &[u32]| -> Vec<u32> {
            let of_run = |run: &LeafRun| &words[run.first as usize..(run.first + run.count) as usize];
            runs.iter().flat_map(of_run).copied().collect()
        };
        Ok(NativeLeaves {
            keys: Keys::narrow(gathered(self.keys.as_slice().words().expect("codes of 32 bits"))),
            origins: gathered(&self.origins),
            normals: gathered(&self.normals),
            colors: gathered(&self.colors),
            cuts: gathered(&self.cuts),
        })
    }
}

fn trees(octrees: &NativeOctrees) -> Trees<'_> {
    let NativeOctrees { nodes, level_start, leaves, .. } = octrees;
    Trees { nodes, level_start, leaves: leaves.keys.len() }
}

fn cells_of(octrees: NativeOctrees) -> NativeCells {
    let NativeOctrees { nodes, level_start, leaves, .. } = octrees;
    let runs = vec![LeafRun { first: 0, count: leaves.keys.len() as u32 }];
    NativeCells { nodes, level_start, runs, leaves: Box::new(leaves) }
}

/// Words below a node that is one part mean nothing: how far their paths were shortened depends on the threads.
fn mean_the_same(octrees: &NativeOctrees, a: &NativeIslands, b: &NativeIslands) -> bool {
    a.last == b.last && a.components == b.components && labels(octrees, a) == labels(octrees, b)
}

fn first_difference(a: &NativeOctrees, b: &NativeOctrees) -> Option<&'static str> {
    let parts = [
        ("level starts", a.level_start == b.level_start),
        ("nodes", a.nodes == b.nodes),
        ("keys", a.leaves.keys == b.leaves.keys),
        ("origins", a.leaves.origins == b.leaves.origins),
        ("normals", a.leaves.normals == b.leaves.normals),
        ("colours", a.leaves.colors == b.leaves.colors),
        ("cuts", a.leaves.cuts == b.leaves.cuts),
    ];
    parts.iter().find(|(_, same)| !same).map(|(what, _)| *what)
}

/// The cells of a fracture, or a forest's own trees where there is no pattern, told apart at a level by both; returns
/// the number of trees and of components, or what differs. `spoil` may change what the cores found.
fn compare(
    forest: &Arc<Forest>,
    pattern: Option<&Pattern>,
    island_level: u32,
    spoil: impl Fn(&mut NativeIslands, &mut NativeOctrees),
) -> Result<(usize, usize), String> {
    let bench = Bench::get();
    let (gpu, passes) = bench.fracturer.passes().unwrap();
    let octrees = match pattern {
        Some(pattern) => unsplit_cells(forest, pattern),
        None => octrees_of(gpu, forest),
    };
    let cells = read(&octrees);
    let mut work = Submissions::new(gpu, &passes.scan, &passes.plan);
    let wanted = passes.islands.run(&mut work, &octrees, island_level, &[]).unwrap();
    let labelled = Labelled::of(octrees).0;
    let wanted_split = passes.split.run(&mut work, &passes.prune, &labelled, &wanted, None);
    let serial = islands_by(trees(&cells), island_level, usize::MAX, Cancel::never()).unwrap();
    let mut found = islands_by(trees(&cells), island_level, 0, Cancel::never()).unwrap();
    let same = |other| mean_the_same(&cells, &found, other);
    if !same(&serial) || !same(&islands(trees(&cells), island_level, Cancel::never()).unwrap()) {
        return Err("it depends on the number of threads".into());
    }
    let size = (cells.level_start[1] as usize, wanted.components.len());
    let labels_found = labels(&cells, &found);
    let parts = found.parts.clone();
    let pieces = split_native::split(cells_of(cells), &found, Cancel::never()).unwrap();
    let mut pieces = pieces.complete(Cancel::never()).unwrap();
    found.parts = parts;
    spoil(&mut found, &mut pieces);
    if found.components != wanted.components {
        return Err(format!(
            "{} components, not {}, or others",
            found.components.len(),
            wanted.components.len()
        ));
    }
    if found.last != wanted.last {
        return Err("another level".into());
    }
    if labels_found != wanted.labels.read(gpu).unwrap() {
        return Err("labels".into());
    }
    match first_difference(&pieces, &wanted_split.unwrap()) {
        Some(what) => Err(what.into()),
        None => Ok(size),
    }
}

fn check(forest: &Arc<Forest>, pattern: Option<&Pattern>, island_level: u32, what: &str) -> (usize, usize) {
    match compare(forest, pattern, island_level, |_, _| {}) {
        Ok(size) => size,
        Err(difference) => panic!("{what}, islands at level {island_level}: {difference}"),
    }
}

type Inside = fn(IVec3, i32) -> bool;

/// Solids that make islands hard to tell apart.
fn hard_solids() -> Vec<(&'static str, Inside)> {
    fn turn(p: IVec3, n: i32) -> bool {
        // A wall that winds to the middle, on every second floor; floors meet at one end.
        let ring = p.x.min(p.z).min(n - 1 - p.x).min(n - 1 - p.z);
        let gap = p.x == p.z && p.x < n / 2;
        (ring % 2 == 0 && !gap) || (ring % 2 == 1 && p.x == p.z + 1 && p.x < n / 2)
    }
    vec![
        ("spiral", |p, n| p.y % 4 != 3 && turn(p, n) || p.y % 4 == 3 && p.x == 0 && p.z == 3),
        ("corners only", |p, _| p % 4 == IVec3::ZERO || p % 4 == IVec3::ONE),
        ("edges only", |p, _| p.x % 2 == p.y % 2 && p.z % 3 == 0),
        ("corner chain", |p, _| p.x == p.y && p.y == p.z),
        ("dots", |p, _| p % 3 == IVec3::ZERO),
        ("shells in shells", |p, n| {
            let r = (p - IVec3::splat(n / 2)).abs().max_element();
            r < n / 2 && r % 4 < 2
        }),
        ("thick shells in shells", |p, n| {
            let r = (p - IVec3::splat(n / 2)).abs().max_element();
            r < n / 2 && r % 8 < 6
        }),
        ("plates one apart", |p, _| p.x % 2 == 0),
        ("plates that a rod joins", |p, n| p.x % 2 == 0 || p.y == n / 2 && p.z == n / 2),
        ("comb", |p, n| p.y < 3 || p.x % 2 == 0 && p.z % 2 == 0 && p.y < n - 1),
        ("blocks at edges", |p, n| {
            (p.x / (n / 4).max(1) + p.y / (n / 4).max(1) + p.z / (n / 4).max(1)) % 2 == 0
        }),
        ("everything", |_, _| true),
        ("one cell", |p, n| p == IVec3::splat(n / 2)),
    ]
}

#[test]
fn hard_solids_fall_into_the_same_components() {
    for (name, inside) in hard_solids() {
        for level in [1, 2, 3, 5] {
            let n = 1 << level;
            let forest = Arc::new(forest_of(level, |p| inside(p, n)));
            for island_level in 1..=level {
                let (trees, components) = check(&forest, None, island_level, name);
                assert_eq!(trees, 1);
                if island_level == level {
                    println!("{name}, level {level}: {components}");
                }
            }
        }
    }
}

/// Threads that list the components shorten the same paths while others write labels over them: what a word means
/// must not depend on who was first.
#[test]
fn threads_leave_the_same_labels_every_time() {
    let pattern = seeds(6, 24, 3);
    for (name, solid) in SOLIDS {
        let cells = read(&unsplit_cells(&Arc::new(solid(6)), &pattern));
        let serial = islands_by(trees(&cells), 6, usize::MAX, Cancel::never()).unwrap();
        for walk in 0..400 {
            assert!(
                mean_the_same(&cells, &islands_by(trees(&cells), 6, 0, Cancel::never()).unwrap(), &serial),
                "{name}, walk {walk}"
            );
        }
    }
}

#[test]
fn cells_of_every_solid_fall_into_the_same_components() {
    for (name, solid) in SOLIDS {
        for (level, count) in [(3, 1), (4, 5), (6, 24)] {
            let forest = Arc::new(solid(level));
            for island_level in 1..=level {
                let pattern = seeds(level, count, 3);
                let (trees, components) = check(&forest, Some(&pattern), island_level, name);
                println!("{name}, level {level}, {island_level}: {trees} trees, {components} components");
            }
        }
    }
    // A local fracture: one large tree.
    let mut pattern = seeds(6, 24, 5);
    pattern.objects.iter_mut().skip(4).for_each(|object| *object = 4);
    for (name, solid) in SOLIDS {
        check(&Arc::new(solid(6)), Some(&pattern), 6, name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_solids_fall_into_the_same_components(
        level in 2u32..6, below in 0u32..5, rng: u64, fill in 5u32..51, count in 0usize..20
    ) {
        let forest = Arc::new(random_solid(level, rng, fill));
        prop_assume!(!forest.leaves.is_empty());
        let island_level = level.saturating_sub(below).max(1);
        let pattern = (count > 0).then(|| seeds(level, count, rng));
        check(&forest, pattern.as_ref(), island_level, "random cells");
    }

    #[test]
    fn random_cells_fall_into_the_same_components(
        level in 2u32..6, below in 0u32..5, rng: u64, fill in 5u64..51
    ) {
        let forest = Arc::new(forest_of(level, |p| {
            let mut h = rng ^ (p.x as u64 | (p.y as u64) << 20 | (p.z as u64) << 40);
            for _ in 0..3 {
                h = (h ^ (h >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(rng);
            }
            (h >> 33) % 100 < fill
        }));
        prop_assume!(!forest.leaves.is_empty());
        check(&forest, None, level.saturating_sub(below).max(1), "random cells");
    }
}

#[test]
fn planted_differences_are_found() {
    let forest = Arc::new((SOLIDS[3].1)(5));
    let pattern = seeds(5, 9, 3);
    let spoiled = |spoil: fn(&mut NativeIslands, &mut NativeOctrees)| {
        compare(&forest, Some(&pattern), 5, spoil).expect_err("it is found")
    };
    assert!(compare(&forest, Some(&pattern), 5, |_, _| {}).is_ok());
    assert!(spoiled(|islands, _| islands.components.truncate(1)).contains("components"));
    assert_eq!(spoiled(|_, pieces| pieces.nodes[7].masks ^= 1), "nodes");
    assert_eq!(spoiled(|_, pieces| pieces.nodes[0].child_base += 1), "nodes");
    assert_eq!(
        spoiled(|_, pieces| pieces.leaves.keys = pieces.leaves.keys.iter().map(|key| key ^ 1).collect()),
        "keys"
    );
    assert_eq!(spoiled(|_, pieces| pieces.leaves.cuts[5] ^= 1), "cuts");
    assert_eq!(spoiled(|_, pieces| pieces.leaves.origins[5] ^= 1), "origins");
}
