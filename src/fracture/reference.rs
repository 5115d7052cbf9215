//! The same fracture on the whole grid, by brute force: every corner against every seed, its object, every solid voxel, flood fill. No octree, no
//! pruning, no code shared with the passes. For tests, up to level 7.
//!
//! In: one tree and a pattern. Out: sorted lists that the passes' result must equal.

use std::collections::HashMap;

use crate::svo::{Forest, morton};

use super::Pattern;

/// A fracture as plain lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// (cell, Morton code, is crack) of every copy, sorted.
    pub copies: Vec<(u32, u32, bool)>,
    /// (cell, Morton code) of every leaf cell that stays internal, sorted.
    pub internal: Vec<(u32, u32)>,
    /// Per piece the sorted (cell, Morton code) of all its solid voxels; pieces sorted.
    pub pieces: Vec<Vec<(u32, u32)>>,
    /// Internal voxels whose corners lie in several cells, without copies.
    pub crack_voxels: usize,
}

/// Breaks `tree` of `forest` by `pattern`; islands at the leaf level.
#[must_use]
pub fn fracture(forest: &Forest, tree: usize, pattern: &Pattern) -> Reference {
    let side = 1usize << forest.level;
    let unit = 1i64 << (super::layers::UNIT_BITS - forest.level);
    let owners = corner_owners(side, unit, pattern);

    // 0 empty, 1 boundary, 2 internal
    let mut solid = vec![0u8; side * side * side];
    let at = |p: [u32; 3]| (p[2] as usize * side + p[1] as usize) * side + p[0] as usize;
    let (first, end) = (forest.tree_start[tree] as usize, forest.tree_start[tree + 1] as usize);
    for key in &forest.leaves.keys[first..end] {
        solid[at(morton::decode(*key))] = 1;
    }
    forest.visit_internal(tree, &mut |_, low, size| {
        for z in low[2]..low[2] + size {
            for y in low[1]..low[1] + size {
                for x in low[0]..low[0] + size {
                    solid[at([x, y, z])] = 2;
                }
            }
        }
    });

    let mut out = Reference::default();
    for z in 0..side {
        for y in 0..side {
            for x in 0..side {
                let p = [x as u32, y as u32, z as u32];
                let state = solid[at(p)];
                if state == 0 {
                    continue;
                }
                let mut cells: Vec<u32> = (0..8)
                    .map(|c| {
                        let (cx, cy, cz) = (x + (c & 1), y + (c >> 1 & 1), z + (c >> 2));
                        pattern.objects[owners[(cz * (side + 1) + cy) * (side + 1) + cx] as usize]
                    })
                    .collect();
                cells.sort_unstable();
                cells.dedup();
                let key = morton::encode(p);
                if state == 2 && cells.len() == 1 {
                    out.internal.push((cells[0], key));
                    continue;
                }
                out.crack_voxels += usize::from(state == 2);
                out.copies.extend(cells.iter().map(|&cell| (cell, key, state == 2)));
            }
        }
    }
    out.copies.sort_unstable();
    out.internal.sort_unstable();
    let voxels: Vec<(u32, u32)> =
        out.copies.iter().map(|&(cell, key, _)| (cell, key)).chain(out.internal.iter().copied()).collect();
    out.pieces = components(&voxels, side as i64);
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

/// 26-connected components of voxels of the same cell, by flood fill.
#[must_use]
pub fn components(voxels: &[(u32, u32)], side: i64) -> Vec<Vec<(u32, u32)>> {
    let mut open: HashMap<(u32, u32), bool> = voxels.iter().map(|v| (*v, true)).collect();
    let mut pieces = Vec::new();
    for &start in voxels {
        if open.insert(start, false) != Some(true) {
            continue;
        }
        let mut piece = vec![start];
        let mut next = 0;
        while next < piece.len() {
            let (cell, key) = piece[next];
            next += 1;
            let p = morton::decode(key).map(i64::from);
            for n in 0..27 {
                let q = [p[0] + n % 3 - 1, p[1] + n / 3 % 3 - 1, p[2] + n / 9 - 1];
                if q.iter().any(|v| *v < 0 || *v >= side) {
                    continue;
                }
                let neighbour = (cell, morton::encode(q.map(|v| v as u32)));
                if let Some(is_open) = open.get_mut(&neighbour)
                    && std::mem::take(is_open)
                {
                    piece.push(neighbour);
                }
            }
        }
        piece.sort_unstable();
        pieces.push(piece);
    }
    pieces.sort_unstable();
    pieces
}
