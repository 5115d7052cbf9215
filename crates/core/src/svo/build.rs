//! Builds one octree from sorted leaf voxels, bottom-up by runs of equal parent codes (the breadth-first
//! order of Domaradzki & Martyn 2016, sec. 4.6), then marks the empty octants that are inside.
//!
//! # Sample points of the surface, one per leaf
//!
//! In: a forest and the index of a leaf. Out: a point on the surface in that leaf's voxel, and its normal.
//!
//! # Truncates a forest above its leaves, for previews
//!
//! In: a forest and a level. Out: a forest whose leaves are the nodes of that level in their order, so that coarse leaf
//! i of a tree is the tree's i-th node there; colours, normals, surfaces and volumes are means over the fine leaves.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::{
    Forest, LeafColor, Leaves, Node,
    morton::{self, Key},
    pack_normal, unpack_cut, unpack_normal,
};
use crate::geometry::srgb;

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

/// An edge counts if it passes within this distance of its voxel's centre, voxels along any axis.
const EDGE_REACH: f32 = 0.6;

/// Point on the surface of a leaf (voxels) and its outward normal.
#[must_use]
pub fn leaf_plane(forest: &Forest, leaf: usize) -> (Vec3, Vec3) {
    let n = unpack_normal(forest.leaves.normals[leaf]);
    let corner = Vec3::from(morton::decode(forest.leaves.keys.at(leaf)).map(|v| v as f32));
    (corner + Vec3::splat(0.5) + n * forest.leaves.colors[leaf].offset(), n)
}

/// Like [`leaf_plane`], but for a leaf cut by a fracture a point of the edge and the mean of both normals: the leaf's
/// own point may lie beyond the cut, outside the piece.
#[must_use]
pub fn leaf_sample(forest: &Forest, leaf: usize) -> (Vec3, Vec3) {
    let (p, n) = leaf_plane(forest, leaf);
    let Some((m, offset)) = forest.leaves.cuts.get(leaf).copied().and_then(unpack_cut) else {
        return (p, n);
    };
    let middle = p - n * forest.leaves.colors[leaf].offset();
    let beyond = (p - middle).dot(m) - offset;
    let (across, cosine) = (m - n * n.dot(m), n.dot(m));
    let edge = p - across * (beyond / (1.0 - cosine * cosine).max(1e-3));
    if (edge - middle).abs().max_element() <= EDGE_REACH {
        (edge, (n + m).normalize_or(n))
    } else if beyond > 0.0 {
        (p - m * beyond, m)
    } else {
        (p, n)
    }
}

/// Sums over the leaves below a node.
#[derive(Clone, Copy, Default)]
struct Below {
    /// First leaf.
    first: u32,
    leaves: u32,
    cracks: u32,
    /// Linear colour.
    rgb: Vec3,
    normal: Vec3,
    /// Sum of the points on the leaves' surface planes nearest to their centres, grid coordinates in leaf units.
    point: DVec3,
    /// Solid volume in leaf cells.
    solid: f64,
}

impl Below {
    fn join(&mut self, other: &Self) {
        if self.leaves == 0 {
            self.first = other.first;
        }
        self.leaves += other.leaves;
        self.cracks += other.cracks;
        self.rgb += other.rgb;
        self.normal += other.normal;
        self.point += other.point;
        self.solid += other.solid;
    }

    fn of_leaf(leaves: &Leaves, i: usize) -> Self {
        let normal = unpack_normal(leaves.normals[i]);
        let centre = DVec3::from_array(morton::decode(leaves.keys.at(i)).map(|v| f64::from(v) + 0.5));
        Self {
            first: i as u32,
            leaves: 1,
            cracks: u32::from(leaves.colors[i].crack()),
            rgb: Vec3::from_array(leaves.colors[i].rgb().map(srgb::linear)),
            normal,
            point: centre + (normal * leaves.colors[i].offset()).as_dvec3(),
            solid: f64::from(leaves.coverage[i]),
        }
    }

    /// A node's sums from its children; an internal octant counts as `cells` leaf cells.
    fn of_node(node: Node, cells: f64, child: impl Fn(u32) -> Self) -> Self {
        let mut sum = Self::default();
        for c in node.child_base..node.child_base + node.valid().count_ones() {
            sum.join(&child(c));
        }
        sum.solid += f64::from(node.internal().count_ones()) * cells;
        sum
    }
}

/// `forest` with its leaves at `level`, or unchanged if it is no finer. Every tree keeps its volume. Second planes are
/// dropped, since one coarse voxel may contain many.
#[must_use]
pub fn coarsen(forest: &Forest, level: u32) -> Forest {
    if level == 0 || level >= forest.level {
        return forest.clone();
    }
    let nodes_of = |l: u32| {
        let range = forest.level_start[l as usize] as usize..forest.level_start[l as usize + 1] as usize;
        &forest.nodes[range]
    };
    let last = forest.level - 1;
    let mut below: Vec<Below> = nodes_of(last)
        .par_iter()
        .map(|node| Below::of_node(*node, 1.0, |c| Below::of_leaf(&forest.leaves, c as usize)))
        .collect();
    let mut cells = 8.0;
    for l in (level..last).rev() {
        let base = forest.level_start[l as usize + 1];
        below = nodes_of(l)
            .par_iter()
            .map(|node| Below::of_node(*node, cells, |c| below[(c - base) as usize]))
            .collect();
        cells *= 8.0;
    }

    let top = level as usize;
    let first_leaf = forest.level_start[top];
    let mut nodes = forest.nodes[..first_leaf as usize].to_vec();
    for node in &mut nodes[forest.level_start[top - 1] as usize..] {
        node.child_base = node.child_base.saturating_sub(first_leaf);
    }
    // A tree's leaves are contiguous on every level: it starts at the node that contains its first fine leaf.
    let tree_start =
        forest.tree_start.iter().map(|s| below.partition_point(|b| b.first < *s) as u32).collect();
    Forest {
        level,
        level_start: forest.level_start[..=top].to_vec(),
        nodes,
        leaves: leaves_of(forest, &below, forest.level - level, cells),
        tree_start,
        ..Forest::default()
    }
}

/// The leaves `up` levels higher, where a voxel has the volume of `cells` fine ones.
fn leaves_of(forest: &Forest, below: &[Below], up: u32, cells: f64) -> Leaves {
    let size = f64::from(1u32 << up);
    let mut leaves = Leaves { cuts: vec![0; below.len()], ..Leaves::default() };
    for b in below {
        let n = b.leaves.max(1);
        let key = forest.leaves.keys.at(b.first as usize) >> (3 * up);
        let normal = b.normal.normalize_or(Vec3::Y);
        let centre = (DVec3::from_array(morton::decode(key).map(f64::from)) + 0.5) * size;
        let height = (b.point / f64::from(n) - centre).dot(normal.as_dvec3()) / size;
        let rgb = (b.rgb / n as f32).to_array().map(srgb::byte);
        leaves.keys.push(key);
        leaves.normals.push(pack_normal(normal));
        leaves.colors.push(LeafColor::new(rgb, 2 * b.cracks > n, height as f32));
        leaves.coverage.push(((b.solid / cells) as f32).clamp(f32::MIN_POSITIVE, 1.0));
    }
    leaves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mesh::builtin,
        svo::{Octant, validate},
        voxelize::{Progress, voxelize},
    };

    fn statue(level: u32) -> Forest {
        voxelize(&builtin("statue").unwrap(), level, &Progress::default()).unwrap().forest
    }

    #[test]
    fn coarse_forests_are_whole_and_keep_their_volume() {
        let fine = statue(6);
        for level in 1..6 {
            let coarse = coarsen(&fine, level);
            assert_eq!(validate(&coarse), Ok(()), "level {level}");
            let nodes = fine.level_start[level as usize + 1] - fine.level_start[level as usize];
            assert_eq!(coarse.leaves.len(), nodes as usize, "one leaf for each node of level {level}");
            let volume = coarse.solid_voxels(0) * 8f64.powi(6 - level as i32);
            let relative = volume / fine.solid_voxels(0) - 1.0;
            assert!(relative.abs() < 1e-6, "level {level}: {relative:e}");
        }
        assert_eq!(coarsen(&fine, 6), fine);
        assert_eq!(coarsen(&fine, 9), fine);
    }

    #[test]
    fn a_coarse_leaf_is_the_node_that_stood_there() {
        let fine = statue(6);
        let coarse = coarsen(&fine, 4);
        for key in &fine.leaves.keys {
            let cell = morton::decode(key);
            assert!(matches!(coarse.octant_at(0, cell.map(|v| v >> 2)), Octant::Leaf(_)), "{cell:?}");
        }
        // Two levels at once or one after the other give the same, except for rounding in packed values.
        let stepwise = coarsen(&coarsen(&fine, 5), 4);
        assert_eq!((&stepwise.nodes, &stepwise.leaves.keys), (&coarse.nodes, &coarse.leaves.keys));
        for (a, b) in coarse.leaves.coverage.iter().zip(&stepwise.leaves.coverage) {
            assert!((a - b).abs() < 1e-5, "{a} {b}");
        }
    }

    #[test]
    fn colours_are_mixed_as_light_and_surfaces_stay_in_place() {
        let mut fine = statue(6);
        for (i, color) in fine.leaves.colors.iter_mut().enumerate() {
            *color = LeafColor::new(if i % 2 == 0 { [255; 3] } else { [0; 3] }, false, color.offset());
        }
        let coarse = coarsen(&fine, 5);
        let mean: f64 = coarse.leaves.colors.iter().map(|c| f64::from(c.rgb()[0])).sum::<f64>()
            / coarse.leaves.len() as f64;
        // Half the light of white is sRGB 188, not 128.
        assert!((180.0..196.0).contains(&mean), "{mean}");
        let (mut off, mut n) = (0.0, 0.0);
        for (i, key) in fine.leaves.keys.iter().enumerate() {
            let cell = morton::decode(key);
            let at = glam::Vec3::from_array(cell.map(|v| v as f32 + 0.5))
                + unpack_normal(fine.leaves.normals[i]) * fine.leaves.colors[i].offset();
            let Octant::Leaf(leaf) = coarse.octant_at(0, cell.map(|v| v >> 1)) else { panic!("{cell:?}") };
            let middle = glam::Vec3::from_array(cell.map(|v| (v >> 1) as f32 + 0.5));
            let normal = unpack_normal(coarse.leaves.normals[leaf as usize]);
            let height = (at / 2.0 - middle).dot(normal) - coarse.leaves.colors[leaf as usize].offset();
            off += f64::from(height.abs());
            n += 1.0;
        }
        assert!(off / n < 0.08, "coarse surfaces lie {:.3} coarse voxels off on average", off / n);
    }
}
