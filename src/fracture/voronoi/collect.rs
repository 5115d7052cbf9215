//! The way of a fracture's octrees back to the CPU, and their sums.
//!
//! In: one octree a piece, on the GPU. Out: a [`Fracture`].

use std::sync::Arc;

use super::octrees::{NO_LEAF, Octrees};
use crate::{
    fracture::{Fracture, FractureCounts, FractureError, Piece, Source, Volume},
    gpu::{StageTiming, Submissions, read_all},
    shape::grid_mass,
    svo::{Forest, LeafColor, Leaves},
};

/// Reads the octrees back and sums the pieces. `tree_cells` is the seed of each tree.
pub(in crate::fracture) fn collect(
    work: Submissions<'_>,
    source: &Source<'_>,
    octrees: &Octrees,
    tree_cells: Vec<u32>,
    volume: Volume,
) -> Result<Fracture, FractureError> {
    let gpu = work.gpu;
    let mut timings = work.read()?;
    let started = std::time::Instant::now();
    let nodes = octrees.nodes.read(gpu)?;
    let leaves = &octrees.leaves;
    let pairs = [(&leaves.place, 0, leaves.place.len()), (&leaves.surface, 0, leaves.surface.len())];
    let mut pairs = read_all(gpu, &pairs)?;
    let surface = pairs.pop().unwrap_or_default();
    let place = pairs.pop().unwrap_or_default();
    let cuts = leaves.cuts.read(gpu)?;
    gpu.check()?;

    // k cells share a leaf; 840 = lcm(1..=8) counts the shares of crack voxels exactly.
    let mut crack_shares = 0u64;
    let mut dust_volume = 0.0;
    let source_leaves = source.forest.tree_start[source.tree as usize] as usize
        ..source.forest.tree_start[source.tree as usize + 1] as usize;
    let mut is_taken = vec![false; source_leaves.len()];
    let mut leaves = Leaves { cuts, ..Leaves::default() };
    leaves.keys.reserve_exact(place.len());
    leaves.coverage.reserve_exact(place.len());
    for [key, origin] in &place {
        let Sharing { cells, parts } = Sharing::of(*origin);
        let leaf = (origin & NO_LEAF) as usize;
        let whole = if leaf == NO_LEAF as usize {
            crack_shares += u64::from(840 / cells);
            1.0
        } else {
            if let Some(taken) = leaf.checked_sub(source_leaves.start).and_then(|i| is_taken.get_mut(i)) {
                *taken = true;
            }
            source.forest.leaves.coverage[leaf]
        };
        if parts > cells {
            // The dust's part, which all copies of the leaf account for together.
            dust_volume += f64::from(whole) / f64::from(parts * cells);
        }
        leaves.keys.push(*key);
        leaves.coverage.push(whole / parts as f32);
    }
    let mut dust_voxels = 0u64;
    for leaf in source_leaves.clone().filter(|leaf| !is_taken[leaf - source_leaves.start]) {
        dust_voxels += 1;
        dust_volume += f64::from(source.forest.leaves.coverage[leaf]);
    }
    leaves.normals = surface.iter().map(|[normal, _]| *normal).collect();
    leaves.colors = surface.iter().map(|[_, color]| LeafColor(*color)).collect();

    let mut forest = Forest {
        level: source.forest.level,
        level_start: octrees.level_start.clone(),
        nodes,
        leaves,
        tree_start: Vec::new(),
    };
    forest.tree_start = tree_starts(&forest, tree_cells.len());

    use rayon::prelude::*;
    let mut pieces: Vec<Piece> = (0..tree_cells.len())
        .into_par_iter()
        .map(|tree| {
            let mass = grid_mass(&forest, tree);
            Piece { tree: tree as u32, cell: tree_cells[tree], voxels: mass.voxels, mass }
        })
        .collect();
    pieces.sort_by(|a, b| b.voxels.cmp(&a.voxels).then(a.tree.cmp(&b.tree)));

    let mut cells = tree_cells;
    cells.sort_unstable();
    cells.dedup();
    let crack_voxels = crack_shares / 840;
    let mut inside = 0u64;
    source.forest.visit_internal(source.tree as usize, &mut |_, _, size| inside += u64::from(size).pow(3));
    let inside_pieces = pieces.iter().map(|piece| piece.voxels).sum::<u64>() - place.len() as u64;
    let inside_dust = inside.saturating_sub(inside_pieces + crack_voxels);
    let counts = FractureCounts {
        source_leaves: source_leaves.len() as u64,
        crack_voxels,
        fbs: place.len() as u64,
        cells: cells.len() as u64,
        islands: (pieces.len() - cells.len()) as u64,
        pieces: pieces.len() as u64,
        dropped: 0,
        merged: 0,
        hidden: None,
        dust_voxels: dust_voxels + inside_dust,
        swallowed: 0,
    };
    dust_volume += inside_dust as f64;
    timings.push(StageTiming {
        stage: "readback and masses (CPU)".into(),
        ms: started.elapsed().as_secs_f64() * 1e3,
    });
    Ok(Fracture {
        forest: Arc::new(forest),
        pieces,
        counts,
        dust_volume,
        volume,
        timings,
        dropped: None,
        merges: Vec::new(),
        solved: None,
    })
}

/// How a leaf is divided, from the high bits of its origin: below 8 the number of its cells less one, all of it
/// theirs; from 8 on the same number, and one more part is dust.
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

/// Leaf ranges per tree: a tree's nodes are contiguous on every level, so its children are too.
fn tree_starts(forest: &Forest, trees: usize) -> Vec<u32> {
    let mut ends: Vec<u32> = (0..=trees as u32).collect();
    for l in 0..forest.level as usize {
        let level = &forest.nodes[forest.level_start[l] as usize..forest.level_start[l + 1] as usize];
        let mut children = 0;
        let mut at = 0;
        for end in &mut ends {
            while at < *end as usize {
                children += u32::from(level[at].valid()).count_ones();
                at += 1;
            }
            *end = children;
        }
    }
    ends
}
