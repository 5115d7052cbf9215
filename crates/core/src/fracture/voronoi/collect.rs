//! The octrees of a fracture become pieces: coverage, masses, counts.
//!
//! In: one octree a piece. Out: a [`Fracture`].

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use rayon::prelude::*;

use super::octrees::{
    NO_LEAF,
    native::{NativeLeaves, NativeOctrees},
    split_native::TreeRanges,
};
use crate::{
    fracture::{Cancelled, Fracture, FractureCounts, Piece, Source, Volume},
    shape::grid_mass,
    svo::{Forest, LeafColor, Leaves},
};

/// The pieces of octrees in memory, without any times. `tree_cells` is the seed of each tree.
///
/// # Errors
/// [`Cancelled`].
pub(in crate::fracture) fn collect_native(
    source: &Source<'_>,
    octrees: NativeOctrees,
    tree_cells: Vec<u32>,
    volume: Volume,
) -> Result<Fracture, Cancelled> {
    let NativeOctrees { nodes, level_start, leaves, on_device } = octrees;
    let NativeLeaves { keys, mut origins, normals, colors, cuts } = leaves;
    let fbs = keys.len() as u64;
    let Shares { crack_voxels, dust_leaves, mut dust_volume } = share_out(source, &mut origins)?;
    let tree_start = TreeRanges::of(&nodes, &level_start, keys.len()).tree_start().to_vec();
    // In place: elements of one size.
    let coverage = origins.into_iter().map(f32::from_bits).collect();
    let colors = colors.into_iter().map(LeafColor).collect();
    let leaves = Leaves { keys, normals, colors, coverage, cuts };
    let forest = Forest { level: source.forest.level, level_start, nodes, leaves, tree_start, on_device };

    let mut pieces = (0..tree_cells.len())
        .into_par_iter()
        .map(|tree| {
            source.cancel.check()?;
            let mass = grid_mass(&forest, tree);
            Ok(Piece { tree: tree as u32, cell: tree_cells[tree], voxels: mass.voxels, mass })
        })
        .collect::<Result<Vec<Piece>, Cancelled>>()?;
    pieces.sort_by(|a, b| b.voxels.cmp(&a.voxels).then(a.tree.cmp(&b.tree)));

    let mut cells = tree_cells;
    cells.sort_unstable();
    cells.dedup();
    let inside_pieces = pieces.iter().map(|piece| piece.voxels).sum::<u64>() - fbs;
    let inside_dust = internal_voxels(source).saturating_sub(inside_pieces + crack_voxels);
    let tree = source.tree as usize;
    let counts = FractureCounts {
        source_leaves: u64::from(source.forest.tree_start[tree + 1] - source.forest.tree_start[tree]),
        crack_voxels,
        fbs,
        cells: cells.len() as u64,
        islands: (pieces.len() - cells.len()) as u64,
        pieces: pieces.len() as u64,
        dropped: 0,
        merged: 0,
        hidden: None,
        dust_voxels: dust_leaves + inside_dust,
        swallowed: 0,
    };
    dust_volume += inside_dust as f64;
    Ok(Fracture {
        forest: Arc::new(forest),
        pieces,
        counts,
        dust_volume,
        volume,
        timings: Vec::new(),
        dropped: None,
        merges: Vec::new(),
    })
}

/// Number of leaves processed together, and in one task.
const BLOCK: usize = 1 << 20;
const CHUNK: usize = 1 << 14;

/// 840 by the number of cells that share a leaf, less one.
const SHARES: [u64; 8] = [840, 420, 280, 210, 168, 140, 120, 105];

/// Sums of the source's voxels, by the share of every leaf.
struct Shares {
    crack_voxels: u64,
    /// Leaves of the source that no piece got any of.
    dust_leaves: u64,
    /// Volume of dust in the source's leaves, voxels: summed in the order of the pieces' leaves, then of the source's.
    dust_volume: f64,
}

/// The origins of leaves become their coverages, as bits.
fn share_out(source: &Source<'_>, origins: &mut [u32]) -> Result<Shares, Cancelled> {
    let forest = &source.forest;
    let of_tree = forest.tree_start[source.tree as usize] as usize
        ..forest.tree_start[source.tree as usize + 1] as usize;
    let is_taken: Vec<AtomicBool> = of_tree.clone().map(|_| AtomicBool::new(false)).collect();
    let share_out = |origins: &mut [u32]| {
        source.cancel.check()?;
        // k cells share a leaf; 840 = lcm(1..=8) counts the shares of crack voxels exactly.
        let (mut crack_shares, mut dust) = (0u64, Vec::new());
        for origin in origins {
            let Sharing { cells, parts } = Sharing::of(*origin);
            let leaf = (*origin & NO_LEAF) as usize;
            let whole = if leaf == NO_LEAF as usize {
                crack_shares += SHARES[cells as usize - 1];
                1.0
            } else {
                if let Some(taken) = leaf.checked_sub(of_tree.start).and_then(|i| is_taken.get(i)) {
                    taken.store(true, Relaxed);
                }
                forest.leaves.coverage[leaf]
            };
            if parts > cells {
                // The dust's part, which all copies of the leaf account for together.
                dust.push(f64::from(whole) / f64::from(parts * cells));
            }
            *origin = (whole / parts as f32).to_bits();
        }
        Ok((crack_shares, dust))
    };
    let (mut crack_shares, mut dust_volume) = (0u64, 0.0);
    for block in origins.chunks_mut(BLOCK) {
        let found =
            block.par_chunks_mut(CHUNK).map(share_out).collect::<Result<Vec<(u64, Vec<f64>)>, Cancelled>>();
        for (shares, dust) in found? {
            crack_shares += shares;
            dust.iter().for_each(|part| dust_volume += part);
        }
    }
    let mut dust_leaves = 0;
    for (taken, coverage) in is_taken.iter().zip(&forest.leaves.coverage[of_tree]) {
        if !taken.load(Relaxed) {
            dust_leaves += 1;
            dust_volume += f64::from(*coverage);
        }
    }
    Ok(Shares { crack_voxels: crack_shares / 840, dust_leaves, dust_volume })
}

/// Leaf cells inside the source.
fn internal_voxels(source: &Source<'_>) -> u64 {
    let forest = &source.forest;
    let ranges = TreeRanges::of(&forest.nodes, &forest.level_start, forest.leaves.len());
    (0..forest.level)
        .map(|l| {
            let nodes = &forest.nodes[ranges.nodes(source.tree as usize, l as usize)];
            let octants: u64 = nodes.par_iter().map(|node| u64::from(node.internal().count_ones())).sum();
            octants << (3 * (forest.level - l - 1))
        })
        .sum()
}

/// How a leaf is divided, from the high bits of its origin: the lower three are the number of its cells less one, the
/// fourth means that one more part is dust.
struct Sharing {
    cells: u32,
    parts: u32,
}

impl Sharing {
    fn of(origin: u32) -> Self {
        let code = origin >> 28;
        let cells = code % 8 + 1;
        Self { cells, parts: cells + code / 8 }
    }
}
