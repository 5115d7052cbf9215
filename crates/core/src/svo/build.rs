//! Builds one octree from sorted leaf voxels, bottom-up by runs of equal parent codes (the breadth-first
//! order of Domaradzki & Martyn 2016, sec. 4.6), then marks the empty octants that are inside.

use super::{Forest, Leaves, Node, morton::Key};

/// Decides whether an octant without surface is inside the solid.
pub trait Inside: Sync {
    /// `key` is the octant's Morton code at `level`; the whole octant is on one side of the surface.
    fn is_inside(&self, key: Key, level: u32) -> bool;
}

impl<F: Fn(Key, u32) -> bool + Sync> Inside for F {
    fn is_inside(&self, key: Key, level: u32) -> bool {
        self(key, level)
    }
}

/// Builds a forest of one tree. `leaves.keys` must be strictly ascending and below 8^level; `leaves.cuts` may be empty.
///
/// # Panics
/// If the keys are not strictly ascending (a caller's error, not a user's).
#[must_use]
pub fn build(level: u32, mut leaves: Leaves, inside: &impl Inside) -> Forest {
    assert!(leaves.keys.iter().is_sorted_by(|a, b| a < b), "leaf keys must be strictly ascending");
    leaves.cuts.resize(leaves.keys.len(), 0);
    let mut levels: Vec<Vec<(Key, Node)>> = Vec::with_capacity(level as usize);
    for l in (0..level).rev() {
        let mut parents = match levels.last() {
            None => parents_of(leaves.keys.iter()),
            Some(below) => parents_of(below.iter().map(|(key, _)| *key)),
        };
        if l == 0 && parents.is_empty() {
            parents.push((0, Node::default()));
        }
        mark_inside(&mut parents, l + 1, inside);
        levels.push(parents);
    }
    levels.reverse();

    let mut level_start = vec![0u32];
    for nodes in &levels {
        level_start.push(level_start[level_start.len() - 1] + nodes.len() as u32);
    }
    let mut nodes = Vec::with_capacity(level_start[level as usize] as usize);
    for (l, parents) in levels.into_iter().enumerate() {
        let base = if l as u32 + 1 < level { level_start[l + 1] } else { 0 };
        nodes
            .extend(parents.into_iter().map(|(_, node)| Node { child_base: node.child_base + base, ..node }));
    }
    let tree_start = vec![0, leaves.len() as u32];
    Forest { level, level_start, nodes, leaves, tree_start, ..Forest::default() }
}

/// The parents of ascending keys, with their children counted from 0.
fn parents_of(keys: impl Iterator<Item = Key>) -> Vec<(Key, Node)> {
    let mut parents: Vec<(Key, Node)> = Vec::new();
    for (i, key) in (0..).zip(keys) {
        let parent = key >> 3;
        if parents.last().is_none_or(|(last, _)| *last != parent) {
            parents.push((parent, Node::new(i, 0, 0)));
        }
        if let Some((_, node)) = parents.last_mut() {
            node.masks |= 1 << (key & 7);
        }
    }
    parents
}

fn mark_inside(parents: &mut [(Key, Node)], child_level: u32, inside: &impl Inside) {
    use rayon::prelude::*;
    parents.par_iter_mut().for_each(|(key, node)| {
        for c in 0..8 {
            if node.valid() >> c & 1 == 0 && inside.is_inside(*key << 3 | c, child_level) {
                node.masks |= 1 << (8 + c);
            }
        }
    });
}
