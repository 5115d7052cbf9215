//! F4: the pieces are the 26-connected components of each object at the island level, as a plain union-find
//! has them, whichever labelling found them. (What is special for a labelling, spirals and diagonal contacts
//! among it, is in `labelling/tests.rs`.)

use std::collections::HashMap;

use kintsugi::{
    fracture::{Labelling, Recipe},
    svo::morton::{self, Key},
};

use super::{
    bed::{Bed, Bench, Outcome},
    cases::plain_pattern,
    shapes::{SIX, Shape},
};

fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        parent[i as usize] = parent[parent[i as usize] as usize];
        i = parent[i as usize];
    }
    i
}

/// A component for each of the cells, of one object, sorted: cells of the grid of `level` that touch are in
/// one. `at` is scratch of u32::MAX, one a cell of that grid.
fn components(cells: &[Key], level: u32, at: &mut [u32]) -> Vec<u32> {
    let side = 1i64 << level;
    for (i, key) in (0u32..).zip(cells) {
        at[*key as usize] = i;
    }
    let mut parent: Vec<u32> = (0..cells.len() as u32).collect();
    for (i, key) in (0u32..).zip(cells) {
        let p = morton::decode(*key).map(i64::from);
        // Half of the 26 directions; the other half sees the same pairs from the other side.
        for n in 14..27 {
            let q = [p[0] + n % 3 - 1, p[1] + n / 3 % 3 - 1, p[2] + n / 9 - 1];
            if q.iter().all(|v| (0..side).contains(v)) {
                let other = at[morton::encode(q.map(|v| v as u32)) as usize];
                if other != u32::MAX {
                    let (a, b) = (root(&mut parent, i), root(&mut parent, other));
                    parent[a.max(b) as usize] = a.min(b);
                }
            }
        }
    }
    cells.iter().for_each(|key| at[*key as usize] = u32::MAX);
    (0..cells.len() as u32).map(|i| root(&mut parent, i)).collect()
}

pub fn pieces(bed: &Bed, got: &Outcome) -> Result<(), String> {
    let level = bed.recipe.island_level.unwrap_or(bed.level);
    let drop = 3 * (bed.level - level);
    let mut at = vec![u32::MAX; 1 << (3 * level)];
    // (object, component) to piece, and back.
    let (mut piece_of, mut component_of) = (HashMap::new(), HashMap::new());
    let solid = got.solid();
    for same in solid.chunk_by(|a, b| a.0 == b.0) {
        let object = same[0].0;
        let mut cells: Vec<Key> = same.iter().map(|(_, key, _)| key >> drop).collect();
        cells.dedup();
        let labels = components(&cells, level, &mut at);
        for (_, key, piece) in same {
            let label = labels[cells.partition_point(|cell| *cell < key >> drop)];
            let known = *piece_of.entry((object, label)).or_insert(*piece);
            if known != *piece {
                return Err(format!("pieces {known} and {piece} of object {object} touch at voxel {key}"));
            }
            let component = *component_of.entry(*piece).or_insert((object, label));
            if component != (object, label) {
                return Err(format!("piece {piece} is not connected: {component:?}, and voxel {key}"));
            }
        }
    }
    if component_of.len() != got.pieces.len() {
        return Err(format!("{} components, {} pieces", component_of.len(), got.pieces.len()));
    }
    if bed.recipe.island_level.is_none() && bed.wanted.pieces.len() != got.pieces.len() {
        return Err(format!("flood fill finds {} pieces, not {}", bed.wanted.pieces.len(), got.pieces.len()));
    }
    Ok(())
}

/// Both labellings give the same bytes on the six shapes; on a comb, islands.
#[test]
fn the_published_labelling_finds_the_same_pieces_on_the_six_shapes() {
    let Some(bench) = Bench::get() else { return };
    let mut islands = 0;
    for name in SIX {
        for (level, island_level) in [(5, None), (6, None), (6, Some(4))] {
            let forest = Shape::Named(name.into()).octree(level);
            let pattern = plain_pattern(&forest, 0, 18, 5);
            let of = |labelling| {
                let recipe = Recipe { labelling, island_level, ..Recipe::default() };
                bench.run(&forest, 0, &pattern, &recipe).expect("it breaks")
            };
            let (first, second) = (of(Labelling::UnionFind), of(Labelling::Iterative));
            println!(
                "{name} level {level}, islands at {island_level:?}: {} pieces, {} islands",
                first.pieces.len(),
                first.counts.islands
            );
            assert!(*first.forest == *second.forest && first.pieces == second.pieces, "{name} {level}");
            assert_eq!(first.counts, second.counts);
            islands += first.counts.islands;
        }
    }
    assert!(islands > 50, "{islands}");
}
