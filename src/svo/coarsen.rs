//! A forest cut off above its leaves: what a preview breaks instead of the whole.
//!
//! In: a forest and a level. Out: a forest whose leaves are the nodes of that level, in their order, so that coarse leaf i of a
//! tree is the tree's i-th node there; colours, normals, surfaces and volumes are means of what lies below.

use glam::Vec3;

use super::{Forest, LeafColor, Leaves, Node, morton, pack_normal, unpack_normal};

/// What lies below a node, summed.
#[derive(Clone, Copy, Default)]
struct Below {
    key: morton::Key,
    tree: u32,
    /// Linear colour.
    rgb: Vec3,
    normal: Vec3,
    /// Where the leaves' surface planes come nearest to their centres, relative to the grid's origin, leaf units.
    point: glam::DVec3,
    leaves: u32,
    cracks: u32,
    /// Leaf cells' worth of solid.
    solid: f64,
}

impl Below {
    fn join(&mut self, other: &Self) {
        if self.leaves == 0 {
            (self.key, self.tree) = (other.key >> 3, other.tree);
        }
        self.rgb += other.rgb;
        self.normal += other.normal;
        self.point += other.point;
        self.leaves += other.leaves;
        self.cracks += other.cracks;
        self.solid += other.solid;
    }
}

/// `forest` with its leaves at `level`; a forest that is no finer comes back as it is. Every tree keeps its volume. Second planes
/// are left out: one coarse voxel may hold many.
#[must_use]
pub fn coarsen(forest: &Forest, level: u32) -> Forest {
    if level == 0 || level >= forest.level {
        return forest.clone();
    }
    let mut below = of_leaves(forest);
    let mut cells = 1.0;
    for l in (level..forest.level).rev() {
        let nodes = &forest.nodes[forest.level_start[l as usize] as usize..];
        let count = (forest.level_start[l as usize + 1] - forest.level_start[l as usize]) as usize;
        let mut children = below.iter();
        below = nodes[..count].iter().map(|node| joined(*node, &mut children, cells)).collect();
        cells *= 8.0;
    }

    let top = level as usize;
    let first_leaf = forest.level_start[top];
    let mut nodes = forest.nodes[..first_leaf as usize].to_vec();
    for node in &mut nodes[forest.level_start[top - 1] as usize..] {
        node.child_base = node.child_base.saturating_sub(first_leaf);
    }
    let mut tree_start = vec![0; forest.trees() + 1];
    for b in &below {
        tree_start[b.tree as usize + 1] += 1;
    }
    for tree in 0..forest.trees() {
        tree_start[tree + 1] += tree_start[tree];
    }
    let size = 1u32 << (forest.level - level);
    Forest {
        level,
        level_start: forest.level_start[..=top].to_vec(),
        nodes,
        leaves: leaves_of(&below, size, cells),
        tree_start,
    }
}

fn of_leaves(forest: &Forest) -> Vec<Below> {
    let leaves = &forest.leaves;
    let mut out = Vec::with_capacity(leaves.len());
    for (tree, range) in forest.tree_start.windows(2).enumerate() {
        out.extend((range[0] as usize..range[1] as usize).map(|i| {
            let normal = unpack_normal(leaves.normals[i]);
            let centre = glam::DVec3::from_array(morton::decode(leaves.keys[i]).map(|v| f64::from(v) + 0.5));
            Below {
                key: leaves.keys[i],
                tree: tree as u32,
                rgb: Vec3::from_array(leaves.colors[i].rgb().map(linear_from_srgb)),
                normal,
                point: centre + (normal * leaves.colors[i].offset()).as_dvec3(),
                leaves: 1,
                cracks: u32::from(leaves.colors[i].crack()),
                solid: f64::from(leaves.coverage[i]),
            }
        }));
    }
    out
}

/// A node's sums from its children, which come in order; an internal octant counts as `cells` leaf cells.
fn joined<'a>(node: Node, children: &mut impl Iterator<Item = &'a Below>, cells: f64) -> Below {
    let mut sum = Below::default();
    for child in children.take(node.valid().count_ones() as usize) {
        sum.join(child);
    }
    sum.solid += f64::from(node.internal().count_ones()) * cells;
    sum
}

/// `size` is the edge of a coarse voxel and `cells` its volume, in fine ones.
fn leaves_of(below: &[Below], size: u32, cells: f64) -> Leaves {
    let mut leaves = Leaves { cuts: vec![0; below.len()], ..Leaves::default() };
    for b in below {
        let n = b.leaves.max(1);
        let normal = b.normal.normalize_or(Vec3::Y);
        let centre = (glam::DVec3::from_array(morton::decode(b.key).map(f64::from)) + 0.5) * f64::from(size);
        let height = (b.point / f64::from(n) - centre).dot(normal.as_dvec3()) / f64::from(size);
        let rgb = (b.rgb / n as f32).to_array().map(srgb_from_linear);
        leaves.keys.push(b.key);
        leaves.normals.push(pack_normal(normal));
        leaves.colors.push(LeafColor::new(rgb, 2 * b.cracks > n, height as f32));
        leaves.coverage.push(((b.solid / cells) as f32).clamp(f32::MIN_POSITIVE, 1.0));
    }
    leaves
}

fn linear_from_srgb(byte: u8) -> f32 {
    let c = f32::from(byte) / 255.0;
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

fn srgb_from_linear(v: f32) -> u8 {
    let c = if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
    (c * 255.0).round().clamp(0.0, 255.0) as u8
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
            let cell = morton::decode(*key);
            assert!(matches!(coarse.octant_at(0, cell.map(|v| v >> 2)), Octant::Leaf(_)), "{cell:?}");
        }
        // Twice at once is the same as one after the other, but for the rounding of what is packed.
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
            let cell = morton::decode(*key);
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
