//! Input of the published labelling: the voxels of every cell, in Morton order (the paper's Voronoi cell pieces).
//!
//! In: octrees and the cell of each. Out: a list sorted by cell and Morton code.

use crate::{
    fracture::Fracture,
    svo::{Forest, Node, morton::Key},
};

/// A boundary voxel, or an internal node of any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voxel {
    /// Index of its cell in [`Voxels::cells`].
    pub group: u32,
    /// Morton code of its low corner, cells of [`Voxels::level`].
    pub key: Key,
    /// Log2 of its edge, cells.
    pub size_log2: u32,
    /// Octree it comes from.
    pub tree: u32,
    /// Node of the octrees that contains it.
    pub node: u32,
    /// Index among the leaves; `None` for an internal node, or above the leaf level.
    pub leaf: Option<u32>,
}

/// Voxels grouped by cell; inside a group in Morton order. A voxel's first label is its index here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Voxels {
    /// The grid has 2^level cells a side.
    pub level: u32,
    /// All voxels.
    pub list: Vec<Voxel>,
    /// Voronoi cell of each group, ascending.
    pub cells: Vec<u32>,
    /// First voxel and one past the last, per group.
    pub ranges: Vec<[u32; 2]>,
}

impl Voxels {
    /// The voxels of a fracture by cell: as if its islands were not known yet. `solid` takes the inside in too;
    /// without it, labels are those of the boundary voxels alone, as published.
    #[must_use]
    pub fn of_fracture(fracture: &Fracture, solid: bool) -> Self {
        let mut cell_of_tree = vec![0; fracture.forest.trees()];
        for piece in &fracture.pieces {
            cell_of_tree[piece.tree as usize] = piece.cell;
        }
        Self::of(&fracture.forest, &cell_of_tree, solid)
    }

    /// The voxels of a forest; `cell_of_tree` says to which cell a tree belongs. Trees of one cell must not overlap.
    #[must_use]
    pub fn of(forest: &Forest, cell_of_tree: &[u32], solid: bool) -> Self {
        Self::of_nodes(&forest.nodes, forest.level, forest.level, cell_of_tree, solid)
    }

    /// Like [`Voxels::of`], on the grid of `level`, which may be coarser than that of the leaves (2016, sec. 4.5.2: the
    /// ancestors at another level). Roots are nodes 0.. of `nodes`.
    pub(in crate::fracture) fn of_nodes(
        nodes: &[Node],
        leaf_level: u32,
        level: u32,
        cell_of_tree: &[u32],
        solid: bool,
    ) -> Self {
        let mut cells = cell_of_tree.to_vec();
        cells.sort_unstable();
        cells.dedup();
        let mut list = Vec::new();
        for (tree, cell) in cell_of_tree.iter().enumerate() {
            let group = cells.partition_point(|c| c < cell) as u32;
            let mut stack = vec![(tree as u32, 0u32, 0 as Key)];
            while let Some((index, depth, key)) = stack.pop() {
                let node = nodes[index as usize];
                for c in 0..8 {
                    let size_log2 = level - depth - 1;
                    let voxel = Voxel {
                        group,
                        key: (key << 3 | Key::from(c)) << (3 * size_log2),
                        size_log2,
                        tree: tree as u32,
                        node: index,
                        leaf: None,
                    };
                    if node.internal() >> c & 1 == 1 {
                        list.extend(solid.then_some(voxel));
                    } else if node.valid() >> c & 1 == 1 {
                        if size_log2 == 0 {
                            let leaf = (level == leaf_level).then(|| node.child(c));
                            list.push(Voxel { leaf, ..voxel });
                        } else {
                            stack.push((node.child(c), depth + 1, key << 3 | Key::from(c)));
                        }
                    }
                }
            }
        }
        list.sort_unstable_by_key(|v| (v.group, v.key));
        let mut ranges = vec![[0; 2]; cells.len()];
        let mut first = 0;
        for (group, range) in ranges.iter_mut().enumerate() {
            let end = list.partition_point(|v| v.group <= group as u32) as u32;
            *range = [first, end];
            first = end;
        }
        Self { level, list, cells, ranges }
    }

    /// Number of voxels.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// No voxels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
