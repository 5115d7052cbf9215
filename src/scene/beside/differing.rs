//! How two breaks of one object differ: the crack voxels that only one of them has. Counted on a worker.
//!
//! In: octrees of the pieces of both breaks. Out: counts, and the voxels, on the coarser one of the two grids.

use std::sync::Arc;

use glam::DVec3;

use crate::{
    fracture::Cancel,
    svo::{Forest, Grid, Key, morton},
};

/// Octrees of the pieces of a break.
#[derive(Clone)]
pub(in crate::scene) struct PieceTrees {
    pub forest: Arc<Forest>,
    pub trees: Vec<u32>,
    /// Their place in shape space, m.
    pub grid: Grid,
}

/// The crack voxels of two breaks, without copies.
#[derive(Clone, Debug, PartialEq)]
pub struct Differing {
    /// Number of voxels that both breaks cracked.
    pub both: usize,
    /// Voxels that only the document's break cracked, Morton order.
    pub only_document: Vec<Key>,
    /// Voxels that only the other break cracked.
    pub only_other: Vec<Key>,
    /// Grid of the voxels in shape space, m: of two levels that of the coarser one.
    pub grid: Grid,
}

impl PieceTrees {
    /// The crack voxels without copies, in Morton order: the voxels of `grid` that hold the middle of one. `None` if it
    /// is cancelled.
    fn cracks(&self, grid: &Grid, cancel: &Cancel) -> Option<Vec<Key>> {
        let leaves = &self.forest.leaves;
        let mut keys = Vec::new();
        for tree in &self.trees {
            cancel.check().ok()?;
            let start = |tree: u32| self.forest.tree_start.get(tree as usize).map_or(0, |at| *at as usize);
            let range = start(*tree)..start(tree + 1);
            let colors = leaves.colors.get(range.clone()).unwrap_or_default();
            let cracked = leaves.keys.slice(range).iter().zip(colors).filter(|(_, color)| color.crack());
            keys.extend(cracked.map(|(key, _)| key));
        }
        // Every level has a margin of one of its own voxels, so a coarser voxel is not made up of eight finer ones, and
        // codes that are cut short would lie up to a voxel beside the place.
        if *grid != self.grid {
            keys.iter_mut().for_each(|key| *key = held_by(*key, &self.grid, grid));
        }
        keys.sort_unstable();
        keys.dedup();
        Some(keys)
    }
}

/// The voxel of the grid `to` that holds the middle of a voxel of the grid `from`.
fn held_by(key: Key, from: &Grid, to: &Grid) -> Key {
    let middle = DVec3::from_array(morton::decode(key).map(f64::from)) + 0.5;
    let cell = to.from_mesh(from.origin + from.h * middle).floor();
    let last = f64::from(to.side().saturating_sub(1));
    morton::encode(cell.clamp(DVec3::ZERO, DVec3::splat(last)).as_uvec3().to_array())
}

impl Differing {
    /// Compares the document's break with another one. `None` if it is cancelled.
    pub(super) fn of(document: &PieceTrees, other: &PieceTrees, cancel: &Cancel) -> Option<Self> {
        let grid = if other.grid.level < document.grid.level { other.grid } else { document.grid };
        let (own, theirs) = (document.cracks(&grid, cancel)?, other.cracks(&grid, cancel)?);
        let mut found = Self { both: 0, only_document: Vec::new(), only_other: Vec::new(), grid };
        let (mut a, mut b) = (own.iter().peekable(), theirs.iter().peekable());
        loop {
            match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x == y => {
                    found.both += 1;
                    a.next();
                    b.next();
                }
                (Some(x), Some(y)) if x < y => found.only_document.extend(a.next()),
                (Some(_), None) => found.only_document.extend(a.next()),
                (_, Some(_)) => found.only_other.extend(b.next()),
                (None, None) => return Some(found),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::facade::{Fracture, Object, Pieces};

    fn broken_at(level: u32, seeds: u32, rng: u64) -> Pieces {
        let how = Fracture::new().cells(seeds).random_seed(rng);
        Object::open("builtin:box", level).unwrap().fracture(&how).unwrap()
    }

    fn broken(seeds: u32, rng: u64) -> Pieces {
        broken_at(5, seeds, rng)
    }

    fn trees(pieces: &Pieces) -> PieceTrees {
        let parts = &pieces.broken().steps[0].result.parts;
        let octrees: Vec<_> = parts.iter().map(|part| part.shape.as_octree().unwrap()).collect();
        PieceTrees {
            forest: Arc::clone(&octrees[0].forest),
            trees: octrees.iter().map(|octree| octree.tree).collect(),
            grid: octrees[0].grid,
        }
    }

    /// The same sets, by walking every leaf of every piece into a set of coordinates.
    #[test]
    fn differing_voxels_are_those_of_two_sets() {
        let set = |pieces: &Pieces| -> BTreeSet<Key> {
            let mut all = BTreeSet::new();
            for part in &pieces.broken().steps[0].result.parts {
                let octree = part.shape.as_octree().unwrap();
                let keys = octree.forest.leaves.keys.slice(octree.leaves()).iter();
                let colors = &octree.forest.leaves.colors[octree.leaves()];
                all.extend(keys.zip(colors).filter(|(_, color)| color.crack()).map(|(key, _)| key));
            }
            all
        };
        let (a, b) = (broken(9, 1), broken(9, 2));
        let found = Differing::of(&trees(&a), &trees(&b), Cancel::never()).unwrap();
        let (own, theirs) = (set(&a), set(&b));
        assert_eq!(found.both, own.intersection(&theirs).count());
        assert_eq!(found.only_document, own.difference(&theirs).copied().collect::<Vec<_>>());
        assert_eq!(found.only_other, theirs.difference(&own).copied().collect::<Vec<_>>());
        assert!(found.both > 0 && !found.only_document.is_empty() && !found.only_other.is_empty());
        let same = Differing::of(&trees(&a), &trees(&broken(9, 1)), Cancel::never()).unwrap();
        assert_eq!((same.both, same.only_document.len(), same.only_other.len()), (own.len(), 0, 0));
    }
    /// Of two levels, by looking for the interval of the coarser grid that holds each middle, axis by axis.
    #[test]
    fn voxels_of_two_levels_are_counted_on_the_coarser_grid() {
        let (fine, coarse) = (broken_at(7, 9, 1), broken_at(5, 9, 1));
        let [of_fine, of_coarse] = [&fine, &coarse].map(trees);
        let to = of_coarse.grid;
        let set = |pieces: &Pieces| -> BTreeSet<[u32; 3]> {
            let mut all = BTreeSet::new();
            for part in &pieces.broken().steps[0].result.parts {
                let octree = part.shape.as_octree().unwrap();
                for leaf in octree.leaves().filter(|leaf| octree.forest.leaves.colors[*leaf].crack()) {
                    let cell = morton::decode(octree.forest.leaves.keys.at(leaf));
                    let held = [0, 1, 2].map(|axis| {
                        let at = octree.grid.origin[axis] + octree.grid.h * (f64::from(cell[axis]) + 0.5);
                        let ends = |i: &u32| to.origin[axis] + to.h * f64::from(*i + 1) > at;
                        (0..to.side()).find(ends).unwrap()
                    });
                    all.insert(held);
                }
            }
            all
        };
        let (of_set, other_set) = (set(&fine), set(&coarse));
        for (document, other, [own, theirs]) in
            [(&of_fine, &of_coarse, [&of_set, &other_set]), (&of_coarse, &of_fine, [&other_set, &of_set])]
        {
            let found = Differing::of(document, other, Cancel::never()).unwrap();
            let cells = |keys: &[Key]| keys.iter().map(|key| morton::decode(*key)).collect::<BTreeSet<_>>();
            assert_eq!((found.grid, found.both), (to, own.intersection(theirs).count()));
            assert_eq!(cells(&found.only_document), own.difference(theirs).copied().collect::<BTreeSet<_>>());
            assert_eq!(cells(&found.only_other), theirs.difference(own).copied().collect::<BTreeSet<_>>());
            assert!(found.both > 0, "the cracks lie in nearly the same places");
        }
        // Codes that are cut short lie elsewhere.
        let cut = of_fine.cracks(&of_fine.grid, Cancel::never()).unwrap();
        let cut: BTreeSet<_> = cut.into_iter().map(|key| morton::decode(key >> 6)).collect();
        assert_ne!(cut, of_set);
    }
}
