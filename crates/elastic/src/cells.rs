//! The solid cells of an octree at a level.
//!
//! In: one tree of a forest and a level, no finer than its own. Out: the cells that have solid in them, in Morton order,
//! each with the share of it that is solid.

use kintsugi_core::{
    memory,
    shape::Octree,
    svo::{Key, morton},
};
use rayon::prelude::*;

use crate::ElasticError;

/// The finest level of cells: a full grid of the next would have 134 million.
pub(crate) const FINEST: u32 = 8;

/// What a body and a solver hold for each cell, bytes, with half-full chunks.
const BYTES_OF_CELL: u64 = 700;

/// Cells with less solid than this are left out.
const LEAST_FILL: f64 = 0.01;

/// Morton codes, strictly ascending, and the solid share of each.
pub(crate) type Cells = Vec<(Key, f32)>;

/// The cells of an octree at `level`.
pub(crate) fn cells_of(octree: &Octree, level: u32) -> Result<Cells, ElasticError> {
    let (forest, tree) = (&*octree.forest, octree.tree as usize);
    let most = forest.level.min(FINEST);
    if !(1..=most).contains(&level) {
        return Err(ElasticError::Level { level, most });
    }
    let up = forest.level - level;
    // How many cells there are at most, before any of them is made.
    let mut count = octree.leaves().len() as u64;
    if tree < forest.trees() {
        forest.visit_internal(tree, &mut |_, _, size| count += u64::from((size >> up).max(1)).pow(3));
    }
    let count = count.min(1 << (3 * level));
    memory::check(count * BYTES_OF_CELL).map_err(|short| ElasticError::Memory { cells: count, short })?;

    let share = 1.0 / f64::from(1u32 << up).powi(3);
    let mut shares: Vec<(Key, f64)> = Vec::new();
    let mut add = |key: Key, volume: f64| match shares.last_mut() {
        Some((last, sum)) if *last == key => *sum += volume,
        _ => shares.push((key, volume)),
    };
    for leaf in octree.leaves() {
        let coverage = forest.leaves.coverage.get(leaf).map_or(1.0, |coverage| f64::from(*coverage));
        let volume = if coverage.is_finite() { coverage.clamp(0.0, 1.0) } else { 0.0 };
        add(forest.leaves.keys.at(leaf) >> (3 * up), volume * share);
    }
    if tree < forest.trees() {
        forest.visit_internal(tree, &mut |_, low, size| {
            let key = morton::encode(low) >> (3 * up);
            if size >> up == 0 {
                add(key, f64::from(size).powi(3) * share);
            } else {
                (0..u64::from(size >> up).pow(3)).for_each(|below| add(key + below, 1.0));
            }
        });
    }
    // The two runs are in Morton order each; a stable sort keeps the order of sums.
    shares.par_sort_by_key(|(key, _)| *key);
    let cells = joined(shares).into_iter().filter(|(_, fill)| *fill >= LEAST_FILL);
    let cells: Cells = cells.map(|(key, fill)| (key, fill.min(1.0) as f32)).collect();
    if cells.is_empty() { Err(ElasticError::Empty { level }) } else { Ok(cells) }
}

/// Adds up what ascending keys have in common.
fn joined(shares: Vec<(Key, f64)>) -> Vec<(Key, f64)> {
    let mut out: Vec<(Key, f64)> = Vec::with_capacity(shares.len());
    for (key, fill) in shares {
        match out.last_mut() {
            Some((last, sum)) if *last == key => *sum += fill,
            _ => out.push((key, fill)),
        }
    }
    out
}

/// The cells one level up, whose fill is the mean of their eight octants.
pub(crate) fn coarser(cells: &Cells) -> Cells {
    let shares = cells.iter().map(|(key, fill)| (key >> 3, f64::from(*fill) / 8.0)).collect();
    joined(shares).into_iter().map(|(key, fill)| (key, fill as f32)).collect()
}

/// The largest set of cells that hang together by faces, by volume; the first of equal ones. Cells that touch along an
/// edge or at a corner only would be a hinge without any stiffness.
pub(crate) fn largest_part(cells: &Cells) -> Cells {
    let mut sets = kintsugi_geometry::UnionFind::new(cells.len());
    for (i, (key, _)) in cells.iter().enumerate() {
        for axis in 0..3 {
            let mut next = morton::decode(*key);
            next[axis] += 1;
            if let Ok(j) = cells.binary_search_by_key(&morton::encode(next), |(key, _)| *key) {
                sets.join(i as u32, j as u32);
            }
        }
    }
    let roots: Vec<usize> = (0..cells.len()).map(|i| sets.find(i as u32) as usize).collect();
    let mut volumes = vec![0.0; cells.len()];
    roots.iter().zip(cells).for_each(|(root, (_, fill))| volumes[*root] += f64::from(*fill));
    let largest = (0..cells.len()).fold(0, |best, i| if volumes[i] > volumes[best] { i } else { best });
    cells.iter().zip(&roots).filter(|(_, root)| **root == largest).map(|(cell, _)| *cell).collect()
}
