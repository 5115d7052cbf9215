//! How two breaks of one octree differ: the crack voxels that only one of them has. Counted on a worker.
//!
//! In: octrees of the pieces of both breaks, on one grid. Out: counts, and the voxels.

use std::sync::{Arc, mpsc};

use crate::{
    fracture::{Cancel, CancelOnDrop},
    svo::{Forest, Key},
};

/// Octrees of the pieces of a break.
#[derive(Clone)]
pub(in crate::scene) struct PieceTrees {
    pub forest: Arc<Forest>,
    pub trees: Vec<u32>,
}

/// The crack voxels of two breaks, without copies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differing {
    /// Number of voxels that both breaks cracked.
    pub both: usize,
    /// Voxels that only the document's break cracked, Morton order.
    pub only_document: Vec<Key>,
    /// Voxels that only the other break cracked.
    pub only_other: Vec<Key>,
    /// Leaf level of the grid.
    pub level: u32,
}

impl PieceTrees {
    /// The crack voxels without copies, in Morton order. `None` if it is cancelled.
    fn cracks(&self, cancel: &Cancel) -> Option<Vec<Key>> {
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
        keys.sort_unstable();
        keys.dedup();
        Some(keys)
    }
}

impl Differing {
    /// Compares the document's break with another one. `None` if it is cancelled, or if the grids have different levels.
    pub(super) fn of(document: &PieceTrees, other: &PieceTrees, cancel: &Cancel) -> Option<Self> {
        let level = document.forest.level;
        if level != other.forest.level {
            return None;
        }
        let (own, theirs) = (document.cracks(cancel)?, other.cracks(cancel)?);
        let mut found = Self { level, ..Self::default() };
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

/// A comparison: not begun, running, done, or impossible.
#[derive(Default)]
pub(super) enum Comparing {
    #[default]
    NotBegun,
    OnItsWay(
        mpsc::Receiver<Option<Differing>>,
        #[expect(dead_code, reason = "it cancels when it is dropped")] CancelOnDrop,
    ),
    Done(Option<Arc<Differing>>),
}

impl Comparing {
    /// Starts comparing.
    pub fn start(document: PieceTrees, other: PieceTrees) -> Self {
        let (sender, receiver) = mpsc::channel();
        let cancel = Cancel::possible();
        let waits = CancelOnDrop(cancel.clone());
        std::thread::spawn(move || {
            // The channel is closed only when the comparison was dropped.
            let _ = sender.send(Differing::of(&document, &other, &cancel));
        });
        Self::OnItsWay(receiver, waits)
    }

    /// Takes the worker's result; returns whether there is one.
    pub fn poll(&mut self) -> bool {
        let Self::OnItsWay(receiver, _) = self else { return false };
        *self = match receiver.try_recv() {
            Err(mpsc::TryRecvError::Empty) => return false,
            Ok(found) => Self::Done(found.map(Arc::new)),
            Err(mpsc::TryRecvError::Disconnected) => Self::Done(None),
        };
        true
    }

    /// Whether it still has to be started.
    pub fn is_due(&self) -> bool {
        matches!(self, Self::NotBegun)
    }

    /// Whether it is running.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::OnItsWay(..))
    }

    /// The result.
    pub fn found(&self) -> Option<&Arc<Differing>> {
        if let Self::Done(found) = self { found.as_ref() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::facade::{Fracture, Object, Pieces};

    fn broken(seeds: u32, rng: u64) -> Pieces {
        let how = Fracture::new().cells(seeds).random_seed(rng);
        Object::open("builtin:box", 5).unwrap().fracture(&how).unwrap()
    }

    fn trees(pieces: &Pieces) -> PieceTrees {
        let parts = &pieces.broken().steps[0].result.parts;
        let octrees: Vec<_> = parts.iter().map(|part| part.shape.as_octree().unwrap()).collect();
        PieceTrees {
            forest: Arc::clone(&octrees[0].forest),
            trees: octrees.iter().map(|octree| octree.tree).collect(),
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
}
