//! The same fracture on the whole grid, by brute force: every corner against every seed, its object, every solid
//! voxel, flood fill. No octree, no pruning, no code shared with the passes. For tests, up to level 8.
//!
//! In: one tree and a pattern. Out: sorted lists that the passes' result must equal.

use std::collections::BTreeSet;

use super::surface::{
    dusty::voxel::DustReference,
    rough::{CrackUniform, reference::CrackReference},
};
use crate::{
    fracture::{Pattern, PatternError, Recipe, Surface, UNIT_BITS},
    svo::{
        Forest,
        morton::{self, Key},
    },
};

/// A fracture as plain lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// (cell, Morton code, is crack) of every copy, sorted.
    pub copies: Vec<(u32, Key, bool)>,
    /// (cell, Morton code) of every leaf cell that stays internal, sorted.
    pub internal: Vec<(u32, Key)>,
    /// Per piece the sorted (cell, Morton code) of all its solid voxels; pieces sorted.
    pub pieces: Vec<Vec<(u32, Key)>>,
    /// Internal voxels that became crack voxels, without copies.
    pub crack_voxels: usize,
    /// (Morton code, parts) of every leaf of which one of so many equal parts is dust, sorted; 1 where no object
    /// gets any of it.
    pub dust: Vec<(Key, u32)>,
    /// Cells that would get a voxel with planar surfaces and get none with these.
    pub swallowed: usize,
}

/// Breaks `tree` of `forest` by `pattern` as `recipe` says; islands at the leaf level.
///
/// # Errors
/// [`PatternError`] for a crack shape out of range.
pub fn fracture_by(
    forest: &Forest,
    tree: usize,
    pattern: &Pattern,
    recipe: &Recipe,
) -> Result<Reference, PatternError> {
    match recipe.surface {
        Surface::Planar => Ok(fracture(forest, tree, pattern)),
        Surface::Rough => rough(forest, tree, pattern, recipe),
        Surface::Dusty => dusty(forest, tree, pattern, recipe),
    }
}

/// Crack surfaces with a gap (2018, sec. 5.3).
fn dusty(
    forest: &Forest,
    tree: usize,
    pattern: &Pattern,
    recipe: &Recipe,
) -> Result<Reference, PatternError> {
    recipe.crack.check()?;
    let transition = recipe.crack.transition(forest.level, recipe.surface)?;
    let words =
        CrackUniform::new(&recipe.crack, recipe.rng, transition).with_gap(&recipe.crack, forest.level);
    let mut dust = DustReference::new(pattern, words, forest.level);
    let mut out = Reference::default();
    for_each_solid(forest, tree, &mut |p, internal| {
        let shares = dust.leaf(p);
        let key = morton::encode(p);
        if !shares.filled {
            out.dust.push((key, shares.objects.len() as u32 + 1));
        }
        if !shares.objects.is_empty() {
            out.add(key, internal, internal && !shares.touched, &shares.objects);
        }
    });
    out.dust.sort_unstable();
    out.finish(forest.level);
    out.swallowed = cells(&fracture(forest, tree, pattern)).difference(&cells(&out)).count();
    Ok(out)
}

/// Crack surfaces without a gap (2018).
fn rough(
    forest: &Forest,
    tree: usize,
    pattern: &Pattern,
    recipe: &Recipe,
) -> Result<Reference, PatternError> {
    recipe.crack.check()?;
    let transition = recipe.crack.transition(forest.level, recipe.surface)?;
    let words = CrackUniform::new(&recipe.crack, recipe.rng, transition);
    let mut cracks = CrackReference::new(pattern, words, forest.level);
    let mut out = Reference::default();
    for_each_solid(forest, tree, &mut |p, internal| {
        let fate = cracks.leaf(p, internal);
        out.add(morton::encode(p), internal, internal && !fate.touched, &fate.objects);
    });
    out.finish(forest.level);
    out.swallowed = cells(&fracture(forest, tree, pattern)).difference(&cells(&out)).count();
    Ok(out)
}

/// The cells that own a voxel.
fn cells(reference: &Reference) -> BTreeSet<u32> {
    reference.pieces.iter().filter_map(|piece| piece.first()).map(|voxel| voxel.0).collect()
}

impl Reference {
    /// One solid voxel: whole inside one cell, or copied to each of `cells`.
    fn add(&mut self, key: Key, internal: bool, whole: bool, cells: &[u32]) {
        if whole {
            self.internal.extend(cells.iter().map(|cell| (*cell, key)));
            return;
        }
        self.crack_voxels += usize::from(internal);
        self.copies.extend(cells.iter().map(|&cell| (cell, key, internal)));
    }

    /// Sorts and finds the pieces.
    fn finish(&mut self, level: u32) {
        self.copies.sort_unstable();
        self.internal.sort_unstable();
        let voxels: Vec<(u32, Key)> = self
            .copies
            .iter()
            .map(|&(cell, key, _)| (cell, key))
            .chain(self.internal.iter().copied())
            .collect();
        self.pieces = components(&voxels, 1 << level);
    }
}

/// Calls `visit` for every solid leaf cell: its place, and whether it is internal.
fn for_each_solid(forest: &Forest, tree: usize, visit: &mut impl FnMut([u32; 3], bool)) {
    for key in
        forest.leaves.keys.slice(forest.tree_start[tree] as usize..forest.tree_start[tree + 1] as usize)
    {
        visit(morton::decode(key), false);
    }
    forest.visit_internal(tree, &mut |_, low, size| {
        for i in 0..size.pow(3) {
            visit([low[0] + i % size, low[1] + i / size % size, low[2] + i / size / size], true);
        }
    });
}

/// Breaks `tree` of `forest` by `pattern`; islands at the leaf level.
#[must_use]
pub fn fracture(forest: &Forest, tree: usize, pattern: &Pattern) -> Reference {
    let side = 1usize << forest.level;
    let unit = 1i64 << (UNIT_BITS - forest.level);
    let owners = corner_owners(side, unit, pattern);

    let mut out = Reference::default();
    for_each_solid(forest, tree, &mut |p, internal| {
        let mut cells: Vec<u32> = (0..8)
            .map(|c| {
                let [x, y, z] = [0, 1, 2].map(|a| p[a] as usize + (c >> a & 1));
                pattern.objects[owners[(z * (side + 1) + y) * (side + 1) + x] as usize]
            })
            .collect();
        cells.sort_unstable();
        cells.dedup();
        out.add(morton::encode(p), internal, internal && cells.len() == 1, &cells);
    });
    out.finish(forest.level);
    out
}

/// Nearest seed of every grid corner, the lowest index where several are.
fn corner_owners(side: usize, unit: i64, pattern: &Pattern) -> Vec<u32> {
    use rayon::prelude::*;
    let n = side + 1;
    (0..n * n * n)
        .into_par_iter()
        .map(|i| {
            let p = [i % n, i / n % n, i / n / n].map(|v| v as i64 * unit);
            let mut best = (i64::MAX, 0);
            for (s, seed) in pattern.seeds.iter().enumerate() {
                let d: i64 = (0..3).map(|a| (p[a] - i64::from(seed[a])).pow(2)).sum();
                if d < best.0 {
                    best = (d, s as u32);
                }
            }
            best.1
        })
        .collect()
}

/// 26-connected components of voxels of the same cell, by flood fill. `voxels` are (cell, Morton code), `side` the
/// grid's.
#[must_use]
pub fn components(voxels: &[(u32, Key)], side: i64) -> Vec<Vec<(u32, Key)>> {
    let mut sorted = voxels.to_vec();
    sorted.sort_unstable();
    // Which voxels of the cell at hand are still to be reached, for the whole grid: all false again when a cell is
    // done.
    let mut open = vec![false; (side * side * side) as usize];
    let mut pieces = Vec::new();
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        same.iter().for_each(|(_, key)| open[*key as usize] = true);
        for &(cell, start) in same {
            if !std::mem::take(&mut open[start as usize]) {
                continue;
            }
            let mut piece = vec![(cell, start)];
            let mut next = 0;
            while next < piece.len() {
                let p = morton::decode(piece[next].1).map(i64::from);
                next += 1;
                for n in 0..27 {
                    let q = [p[0] + n % 3 - 1, p[1] + n / 3 % 3 - 1, p[2] + n / 9 - 1];
                    if q.iter().any(|v| *v < 0 || *v >= side) {
                        continue;
                    }
                    let neighbour = morton::encode(q.map(|v| v as u32));
                    if std::mem::take(&mut open[neighbour as usize]) {
                        piece.push((cell, neighbour));
                    }
                }
            }
            piece.sort_unstable();
            pieces.push(piece);
        }
    }
    pieces.sort_unstable();
    pieces
}
