//! Surface samples of a forest at one octree level.
//!
//! In: a forest and a level P. Out: one [`Surfel`] for each boundary cell of that level, over all trees, in
//! the forest's own order, so that a node's index minus `level_start[P]` (or the leaf's index) is its
//! surfel's. At the leaf level a surfel is the leaf's plane; above, the average of the leaves below. Units
//! are cells of level P.
//!
//! # Looking a cell of one level up in an octree

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use crate::svo::{Forest, leaf_plane, leaf_sample, morton, unpack_cut, unpack_normal};

/// One sample of the surface; the same layout as in `shaders/bodies/collide/octree/surfel.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Surfel {
    /// Point on the surface, cells.
    pub centre: [f32; 3],
    /// Zero for a surface with the solid behind it. Where both faces of something thin lie in one cell, half
    /// its thickness.
    pub thickness: f32,
    /// Outward normal, see [`crate::svo::pack_normal`].
    pub normal: u32,
    /// 0 where the surface is flat, `ON_EDGE` at an edge or corner, where the plane says little about the
    /// surface beside it, `ON_FACE` on a face just beside one.
    pub sharp: u32,
}

crate::gpu::layout!(Surfel as "Surfel" { centre: [x, y, z], thickness, normal, sharp });

impl Surfel {
    /// At an edge, or beside one.
    #[must_use]
    pub fn is_sharp(&self) -> bool {
        self.sharp != 0
    }

    /// Beside an edge, on a face that goes on: its plane is exact.
    #[must_use]
    pub fn is_face(&self) -> bool {
        self.sharp == ON_FACE
    }

    /// Point and outward normal of one side: 0, or 1 for the back of a thin part.
    #[must_use]
    pub fn side(&self, side: u32) -> (Vec3, Vec3) {
        let n = unpack_normal(self.normal) * if side == 0 { 1.0 } else { -1.0 };
        (Vec3::from(self.centre) + n * self.thickness, n)
    }
}

/// The surfels of all trees of a forest at one level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surfels {
    /// P.
    pub level: u32,
    /// Samples.
    pub items: Vec<Surfel>,
    /// Their normals, unpacked.
    pub normals: Vec<Vec3>,
    /// First leaf below each, and the number of leaves at the end.
    pub leaf_start: Vec<u32>,
}

/// Flag in [`Surfel::sharp`]: an edge or corner.
pub const ON_EDGE: u32 = 1;
/// Flag in [`Surfel::sharp`]: a face beside an edge.
pub const ON_FACE: u32 = 2;

/// Below this ratio of summed normal to summed weight a cell contains two opposite faces.
const ONE_SIDED: f32 = 0.35;

/// Neighbours whose normals agree less than this make an edge.
const FLAT: f32 = 0.88;

/// Below this ratio of summed normal to summed weight the surface bends within the cell.
const BENT: f32 = 0.95;

impl Surfels {
    /// Averages the leaves of `forest` over the cells of `level` (clamped to the leaf level).
    #[must_use]
    pub fn build(forest: &Forest, level: u32) -> Self {
        let level = level.clamp(1, forest.level.max(1));
        let shift = forest.level - level;
        let leaves = &forest.leaves;
        let mut leaf_start = Vec::new();
        for tree in forest.tree_start.windows(2) {
            let mut last = None;
            for leaf in tree[0]..tree[1] {
                let cell = leaves.keys.at(leaf as usize) >> (3 * shift);
                if last != Some(cell) {
                    leaf_start.push(leaf);
                }
                last = Some(cell);
            }
        }
        leaf_start.push(leaves.len() as u32);
        let cells_per_voxel = 1.0 / (1u32 << shift) as f32;
        let items: Vec<Surfel> = leaf_start
            .par_windows(2)
            .map_init(Vec::new, |samples, cell| {
                samples.clear();
                samples.extend((cell[0] as usize..cell[1] as usize).map(|leaf| leaf_sample(forest, leaf)));
                sample_of(samples, cells_per_voxel)
            })
            .collect();
        let normals = items.iter().map(|s| unpack_normal(s.normal)).collect();
        let mut out = Self { level, items, normals, leaf_start };
        out.mark_sharp(forest);
        out
    }

    /// Like [`Surfel::side`], for surfel `i`.
    #[must_use]
    pub fn side(&self, i: usize, side: u32) -> (Vec3, Vec3) {
        let n = self.normals[i] * if side == 0 { 1.0 } else { -1.0 };
        (Vec3::from(self.items[i].centre) + n * self.items[i].thickness, n)
    }

    /// Compares each normal with those of the cells that share a face with it. Where a face ends the surface bends on one
    /// side of the cell and goes on on the other; at the edge itself it bends on the only side that it has.
    fn mark_sharp(&mut self, forest: &Forest) {
        let (level, shift) = (self.level, forest.level - self.level);
        let first = first_of_level(forest, level);
        let (items, normals, starts) = (&self.items, &self.normals, &self.leaf_start);
        let sharp: Vec<u32> = (0..items.len())
            .into_par_iter()
            .map(|i| {
                let leaf = starts[i] as usize;
                let tree = forest.tree_start.partition_point(|&s| s as usize <= leaf) - 1;
                let cell =
                    IVec3::from(morton::decode(forest.leaves.keys.at(leaf) >> (3 * shift)).map(|v| v as i32));
                let n = normals[i];
                let agrees = |way: IVec3| match look_up(forest, tree as u32, level, cell + way) {
                    Cell::Surface(node) => Some(normals[(node - first) as usize].dot(n) >= FLAT),
                    _ => None,
                };
                let (mut bends, mut goes_on) = (false, true);
                for way in [IVec3::X, IVec3::Y, IVec3::Z] {
                    let sides = [agrees(way), agrees(-way)];
                    if sides.contains(&Some(false)) {
                        bends = true;
                        goes_on &= sides.contains(&Some(true));
                    }
                }
                match (bends, goes_on) {
                    (false, _) => 0,
                    (true, false) => ON_EDGE,
                    (true, true) => ON_FACE,
                }
            })
            .collect();
        let lonely = self.items.len() == forest.trees();
        for (item, sharp) in self.items.iter_mut().zip(sharp) {
            item.sharp = if lonely { ON_EDGE } else { sharp };
        }
    }
}

/// The surfel of a cell, from the samples of its leaves (points in voxels, normals).
fn sample_of(samples: &[(Vec3, Vec3)], cells_per_voxel: f32) -> Surfel {
    let lead = samples.first().map_or(Vec3::Z, |(_, n)| *n);
    let (mut weight, mut point, mut normal, mut folded) = (0.0, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
    for &(p, n) in samples {
        let w = area_of(n);
        weight += w;
        point += p * w;
        normal += n * w;
        folded += n * if n.dot(lead) < 0.0 { -w } else { w };
    }
    let mut centre = point / weight.max(1e-6);
    let one_sided = normal.length() >= ONE_SIDED * weight;
    let n = if one_sided { normal } else { folded }.normalize_or(lead);
    let (mut thickness, mut bulge) = (0.0, 0.0);
    for &(p, leaf_normal) in samples {
        let w = area_of(leaf_normal);
        thickness += w * (p - centre).dot(n).abs();
        bulge += w * (p - centre).dot(leaf_normal);
    }
    // The middle of an edge or a corner lies behind it; it is the tip that touches first.
    if one_sided && normal.length() < BENT * weight && bulge > 0.0 {
        let tip = samples.iter().map(|(p, _)| *p).max_by(|a, b| a.dot(n).total_cmp(&b.dot(n)));
        centre = tip.unwrap_or(centre);
    }
    Surfel {
        centre: (centre * cells_per_voxel).to_array(),
        thickness: if one_sided { 0.0 } else { thickness / weight.max(1e-6) * cells_per_voxel },
        normal: crate::svo::pack_normal(n),
        sharp: 0,
    }
}

/// Whether `point` (voxels) is in the solid, as the leaves have it.
#[must_use]
pub fn is_in_solid(forest: &Forest, tree: u32, point: Vec3) -> bool {
    match look_up(forest, tree, forest.level, point.floor().as_ivec3()) {
        Cell::Empty => false,
        Cell::Inside => true,
        Cell::Surface(leaf) => {
            let leaf = leaf as usize;
            let (p, n) = leaf_plane(forest, leaf);
            let middle = p - n * forest.leaves.colors[leaf].offset();
            let cut = forest.leaves.cuts.get(leaf).copied().and_then(unpack_cut);
            (point - p).dot(n) < 0.0 && cut.is_none_or(|(m, offset)| (point - middle).dot(m) < offset)
        }
    }
}

/// Surface area in one voxel of a plane with normal `n`: the count of voxels on a plane grows with |n|_1.
fn area_of(n: Vec3) -> f32 {
    1.0 / n.abs().element_sum().max(1e-3)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{block, split_block};

    #[test]
    fn surfels_are_numbered_as_the_nodes_of_their_level() {
        let forest = split_block(5, [2; 3], [30; 3], 2);
        for level in 2..=5 {
            let surfels = Surfels::build(&forest, level);
            let first = first_of_level(&forest, level);
            let mut seen = 0;
            for tree in 0..forest.trees() as u32 {
                for key in 0..1 << (3 * level) {
                    let cell = IVec3::from(morton::decode(key).map(|v| v as i32));
                    if let Cell::Surface(node) = look_up(&forest, tree, level, cell) {
                        let p = Vec3::from(surfels.items[(node - first) as usize].centre);
                        assert!((p - cell.as_vec3() - 0.5).abs().max_element() <= 0.51, "{p} {cell}");
                        seen += 1;
                    }
                }
            }
            assert_eq!(seen, surfels.items.len());
        }
    }

    #[test]
    fn a_thin_plate_in_one_cell_has_two_sides() {
        let forest = block(6, [4, 16, 4], [60, 18, 60]);
        let surfels = Surfels::build(&forest, 4);
        let middle = surfels.items.iter().find(|s| s.centre[0] == 7.5 && s.centre[2] == 7.5);
        let s = middle.expect("the plate has a middle");
        assert!(s.thickness > 0.2, "{s:?}");
        let (top, bottom) = (s.side(0).0.y, s.side(1).0.y);
        assert!(((top - bottom).abs() - 0.5).abs() < 0.05, "{top} {bottom}");
    }

    #[test]
    fn a_cut_leaf_is_sampled_at_its_edge() {
        let mut forest = block(5, [4; 3], [20; 3]);
        let top = |leaf: &usize| {
            let (p, n) = leaf_plane(&forest, *leaf);
            n.y > 0.99 && p.x > 11.0 && p.x < 12.0 && p.z > 11.0 && p.z < 12.0
        };
        let leaf = (0..forest.leaves.len()).find(top).expect("a leaf on top");
        let (flat, up) = leaf_plane(&forest, leaf);
        forest.leaves.cuts = vec![0; forest.leaves.len()];
        assert_eq!(leaf_sample(&forest, leaf), (flat, up));
        // Whether or not the cut removes the leaf's own point, the sample is where both planes meet.
        for offset in [-0.25, 0.25] {
            forest.leaves.cuts[leaf] = crate::svo::pack_cut(Vec3::X, offset);
            let (p, n) = leaf_sample(&forest, leaf);
            assert!((p - flat - Vec3::X * offset).length() < 0.02, "{p} {flat}");
            assert!(n.dot((Vec3::X + up).normalize()) > 0.999, "{n}");
            let below = flat - up * 0.1;
            assert!(is_in_solid(&forest, 0, below + Vec3::X * (offset - 0.1)));
            assert!(!is_in_solid(&forest, 0, below + Vec3::X * (offset + 0.1)));
            assert!(!is_in_solid(&forest, 0, flat + up * 0.1 + Vec3::X * (offset - 0.1)));
        }
        // A cut that only touches a corner of the leaf leaves it as it is.
        forest.leaves.cuts[leaf] = crate::svo::pack_cut(Vec3::X, 0.9);
        assert_eq!(leaf_sample(&forest, leaf), (flat, up));
        assert!(is_in_solid(&forest, 0, Vec3::splat(12.0)) && !is_in_solid(&forest, 0, Vec3::splat(2.0)));
    }

    #[test]
    fn a_coarse_cell_on_an_edge_is_sampled_at_its_tip() {
        let forest = block(6, [6; 3], [58; 3]);
        let surfels = Surfels::build(&forest, 4);
        // Cells of four voxels; the block's edge along z passes (14.5, 14.5).
        let edge = surfels
            .items
            .iter()
            .filter(|s| s.centre[0] > 14.0 && s.centre[1] > 14.0 && s.centre[2].floor() == 7.0);
        let edge: Vec<_> = edge.collect();
        assert_eq!(edge.len(), 1);
        let n = edge[0].side(0).1;
        // The mean of the two faces' leaves would lie 0.18 cells along n behind the edge.
        let behind = (Vec3::new(14.5, 14.5, 0.0) - Vec3::from(edge[0].centre).with_z(0.0)).dot(n);
        assert!(n.x > 0.6 && n.y > 0.6 && (0.0..0.12).contains(&behind), "{n} {behind}");
        // A ball has no tips: its samples stay where the middle of its surface is.
        let ball = crate::testing::ball(6, Vec3::splat(32.0), 20.0);
        for s in &Surfels::build(&ball, 5).items {
            let off = (Vec3::from(s.centre) * 2.0 - 32.0).length() - 20.0;
            assert!(off.abs() < 0.4, "{off}");
        }
    }
}
