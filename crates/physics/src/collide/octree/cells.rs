//! Looking a cell of one level up in an octree.

use crate::svo::Forest;
use glam::{IVec3, Vec3};

/// The cell that `p` (cells) lies in; as floor, which without a processor's own instruction for it is a call.
#[must_use]
#[inline]
pub fn cell_at(p: Vec3) -> IVec3 {
    let cut = p.as_ivec3();
    cut - IVec3::from(p.cmplt(cut.as_vec3()))
}

/// Content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Air.
    Empty,
    /// Solid.
    Inside,
    /// Surface: index of the node at the cell's level (of the leaf, at the leaf level).
    Surface(u32),
}

/// Looks a cell of `level` up in one tree; outside the grid is empty.
#[must_use]
pub fn look_up(forest: &Forest, tree: u32, level: u32, cell: IVec3) -> Cell {
    let side = 1i32 << level;
    if cell.cmplt(IVec3::ZERO).any() || cell.cmpge(IVec3::splat(side)).any() {
        return Cell::Empty;
    }
    let mut index = tree;
    for bit in (0..level).rev() {
        let node = forest.nodes[index as usize];
        let c = (cell.x >> bit & 1 | (cell.y >> bit & 1) << 1 | (cell.z >> bit & 1) << 2) as u32;
        if node.internal() >> c & 1 == 1 {
            return Cell::Inside;
        }
        if node.valid() >> c & 1 == 0 {
            return Cell::Empty;
        }
        index = node.child(c);
    }
    Cell::Surface(index)
}

/// Whether one of the eight leaves nearest to `p` (voxels) is not empty.
#[must_use]
pub fn has_leaf_at(forest: &Forest, tree: u32, p: Vec3) -> bool {
    let holds = |cell: IVec3| look_up(forest, tree, forest.level, cell) != Cell::Empty;
    // Most often it is the one round the place.
    let low = cell_at(p - 0.5);
    holds(cell_at(p)) || (0..8).any(|c| holds(low + IVec3::new(c & 1, c >> 1 & 1, c >> 2)))
}

/// Offset between a [`Cell::Surface`] index and the surfel's index.
#[must_use]
pub fn first_of_level(forest: &Forest, level: u32) -> u32 {
    if level < forest.level { forest.level_start[level as usize] } else { 0 }
}
