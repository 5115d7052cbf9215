//! The pieces that own the voxels of small pieces.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::{
    fracture::Piece,
    svo::{Forest, morton::Key},
};

/// (voxel, piece) of every voxel of a small piece, with all pieces that own it; sorted.
pub(in crate::fracture) type Holders = Vec<(Key, u32)>;

pub(in crate::fracture) fn leaves_of(forest: &Forest, piece: &Piece) -> std::ops::Range<usize> {
    forest.tree_start[piece.tree as usize] as usize..forest.tree_start[piece.tree as usize + 1] as usize
}

pub(in crate::fracture) fn holders(forest: &Forest, pieces: &[Piece], small: &[u32]) -> Holders {
    let keys: HashSet<Key> = small
        .iter()
        .flat_map(|p| forest.leaves.keys.slice(leaves_of(forest, &pieces[*p as usize])).iter())
        .collect();
    let mut found: Holders = pieces
        .par_iter()
        .enumerate()
        .flat_map_iter(|(p, piece)| {
            let own = forest.leaves.keys.slice(leaves_of(forest, piece));
            own.iter().filter(|key| keys.contains(key)).map(move |key| (key, p as u32)).collect::<Vec<_>>()
        })
        .collect();
    found.par_sort_unstable();
    found
}

/// All pieces that own a voxel.
pub(in crate::fracture) fn of_voxel(holders: &Holders, key: Key) -> &[(Key, u32)] {
    let first = holders.partition_point(|h| h.0 < key);
    let count = holders[first..].iter().take_while(|h| h.0 == key).count();
    &holders[first..first + count]
}
