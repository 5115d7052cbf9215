//! Parts of one break become one octree again, long after the break.
//!
//! In: the broken object, its pattern, and the trees and cells of all its parts. Out: one tree of some of them, by the
//! rule for small pieces ([`super::merge`]).

use super::{
    super::{Cancel, Cancelled, Pattern, Piece},
    holders::{Holders, holders, of_voxel},
    merge::{Joining, join},
};
use crate::{shape::GridMass, svo::Forest};

/// The parts of a break, some of which are to be merged.
pub struct Rejoin<'a> {
    source: (&'a Forest, u32),
    pattern: &'a Pattern,
    forest: &'a Forest,
    pieces: Vec<Piece>,
}

impl<'a> Rejoin<'a> {
    /// For a break of (forest, tree) by `pattern` into trees of `forest`: each part's tree and cell.
    #[must_use]
    pub fn new(
        source: (&'a Forest, u32),
        pattern: &'a Pattern,
        forest: &'a Forest,
        parts: impl Iterator<Item = (u32, u32)>,
    ) -> Self {
        // Sums of these pieces are not used.
        let piece = |(tree, cell)| Piece { tree, cell, voxels: 0, mass: GridMass::default() };
        Self { source, pattern, forest, pieces: parts.map(piece).collect() }
    }

    /// One tree of the parts that `members` number, ascending; `None` if they are not connected: each must share a
    /// voxel with another, as parts without dust between them do.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn one_of(&self, members: &[u32], cancel: &Cancel) -> Result<Option<Forest>, Cancelled> {
        let holders = holders(self.forest, &self.pieces, members);
        if !hang_together(&holders, members) {
            return Ok(None);
        }
        let pieces: Vec<&Piece> = members.iter().map(|p| &self.pieces[*p as usize]).collect();
        let work = Joining {
            source: self.source,
            pattern: self.pattern,
            forest: self.forest,
            pieces: &self.pieces,
            holders: &holders,
            cancel,
        };
        Ok(Some(join(&work, members, &pieces)?.0))
    }
}

/// Whether `members` are connected by voxels that two of them own.
fn hang_together(holders: &Holders, members: &[u32]) -> bool {
    // Per member the index of its group.
    let mut group: Vec<usize> = (0..members.len()).collect();
    let mut at = 0;
    while at < holders.len() {
        let all = of_voxel(holders, holders[at].0);
        at += all.len();
        let mut own = all.iter().filter_map(|(_, piece)| members.binary_search(piece).ok());
        let Some(first) = own.next() else { continue };
        for other in own {
            let (from, to) = (group[other], group[first]);
            if from != to {
                group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
            }
        }
    }
    group.iter().all(|g| *g == group[0])
}
