//! What a ray meets in an octree: leaves with their planes, and octants that are cut off.

use super::{
    packet::along,
    scene::{BODY_SKY, NO_LEAF, Tree},
    wide::{LANES, cut_of, each_axis, has_cut, normal_of},
};
use crate::geometry::simd::F32x8;

/// What a ray met first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit {
    /// m.
    pub distance: f32,
    /// Index of the body, or [`BODY_SKY`].
    pub body: u32,
    /// Leaf of the forest; [`NO_LEAF`] in an internal octant.
    pub leaf: u32,
    /// Octree level of the octant that was hit.
    pub level: u32,
    /// Axis of the face through which the ray came in.
    pub axis: u32,
    /// The leaf's second plane is what shows.
    pub cut: bool,
}

impl Hit {
    /// Nothing as far as `last`.
    pub fn none(last: f32) -> Self {
        Self { distance: last, body: BODY_SKY, leaf: NO_LEAF, level: 0, axis: 0, cut: false }
    }
}

/// The first leaf under a node, nearest octants first: an octant that is cut off borrows its colour and normal.
pub(super) fn leaf_below(tree: &Tree<'_>, start: u32, levels: u32, mirror: u32) -> u32 {
    (0..levels).fold(start, |index, _| {
        let node = tree.nodes[index as usize];
        let valid = u32::from(node.valid());
        let nearest = (0..8).map(|k| k ^ mirror).find(|octant| valid >> octant & 1 == 1);
        node.child(nearest.unwrap_or(0))
    })
}

/// The planes of up to eight leaves that lie side by side, mirrored.
pub(super) struct Planes {
    normals: [[f32; LANES]; 3],
}

impl Planes {
    /// Of the leaves from `first` on.
    #[inline(always)]
    pub fn of(tree: &Tree<'_>, first: u32, mirror: u32) -> Self {
        let mut words = [0u32; LANES];
        let there = tree.normals.get(first as usize..).unwrap_or_default();
        match there.first_chunk() {
            Some(all) => words = *all,
            None => words[..there.len()].copy_from_slice(there),
        }
        let mut normals = [[0.0f32; LANES]; 3];
        let sign = each_axis!(k: if mirror >> k & 1 == 1 { -1.0f32 } else { 1.0 });
        for i in 0..LANES {
            let n = normal_of(words[i]);
            (normals[0][i], normals[1][i], normals[2][i]) = (n[0] * sign[0], n[1] * sign[1], n[2] * sign[2]);
        }
        Self { normals }
    }

    /// Of one of them.
    #[inline(always)]
    pub fn normal(&self, leaf: u32) -> [f32; 3] {
        let leaf = leaf as usize & (LANES - 1);
        each_axis!(k: self.normals[k][leaf])
    }
}

/// A leaf where eight rays are in its voxel; all is mirrored.
pub(super) struct Leaf<'a, L> {
    pub tree: &'a Tree<'a>,
    pub child: u32,
    pub mirror: u32,
    pub normal: [f32; 3],
    /// Low corner.
    pub p: [u32; 3],
    /// Where the rays enter and leave it.
    pub enter: L,
    pub leave: L,
}

/// Where rays meet the solid in a leaf, where they leave it, and which of them meet the second plane. A ray that
/// leaves before it meets passes through.
pub(super) struct Met<L> {
    pub at: L,
    pub leave: L,
    pub cut: u32,
}

impl<L: F32x8> Leaf<'_, L> {
    #[inline(always)]
    pub fn meet(&self, start: &[L; 3], step: &[L; 3]) -> Met<L> {
        let (t, child) = (self.enter, self.child as usize);
        let from_centre = each_axis!(k: start[k].add(step[k].mul(t)).sub(L::splat(self.p[k] as f32 + 0.5)));
        let height = along(from_centre, self.normal).sub(L::splat(self.tree.colors[child].offset()));
        let slope = along(*step, self.normal);
        let at = down_to(t, height, slope);
        let met = Met { at, leave: self.leave, cut: 0 };
        let word = self.tree.cuts[child];
        if !has_cut(word) {
            return met;
        }
        self.cut(&met, cut_of(word), (height, slope), from_centre, step)
    }

    /// The solid lies below both planes.
    #[inline(always)]
    fn cut(
        &self,
        met: &Met<L>,
        (m, offset): ([f32; 3], f32),
        (height, slope): (L, L),
        from_centre: [L; 3],
        step: &[L; 3],
    ) -> Met<L> {
        let (zero, t) = (L::splat(0.0), self.enter);
        let m = each_axis!(k: if self.mirror >> k & 1 == 1 { -m[k] } else { m[k] });
        let cut_height = along(from_centre, m).sub(L::splat(offset));
        let cut_slope = along(*step, m);
        // Upwards, a ray comes out through a plane.
        let up = |height: L, slope: L, is_below: u32| {
            let out = self.leave.min(t.sub(height.div(slope)));
            L::mask(zero.less(slope) & is_below).select(out, self.leave)
        };
        let cut_is_below = !zero.less(cut_height);
        let leave = up(height, slope, !0).min(up(cut_height, cut_slope, cut_is_below));
        let cut_at = down_to(t, cut_height, cut_slope);
        // Where the ray comes in by a face of the voxel, the plane shows that faces the ray, or else the nearer one.
        let one_faces = cut_slope.less(zero) ^ slope.less(zero);
        let through_face = one_faces & cut_slope.less(slope) | !one_faces & height.less(cut_height);
        let is_tied = cut_at.at_most(met.at) & met.at.at_most(cut_at);
        let shows = met.at.less(cut_at) | is_tied & through_face;
        Met { at: met.at.max(cut_at), leave, cut: shows & met.at.at_most(self.leave) }
    }
}

/// Where rays that are at a height over a plane at `t` and change it by `slope` are below it; far away where never.
#[inline(always)]
fn down_to<L: F32x8>(t: L, height: L, slope: L) -> L {
    let zero = L::splat(0.0);
    let down = slope.below(zero).select(t.sub(height.div(slope)), L::splat(1e30));
    zero.below(height).select(down, t)
}
