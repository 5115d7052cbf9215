//! Intersections of rays with an octree's leaves and truncated octants.

use super::{
    packet::along,
    scene::{BODY_SKY, NO_LEAF, Tree},
    wide::{LANES, cut_of, each_axis, has_cut, normal_of},
};
use crate::geometry::simd::F32x8;

/// The first hit of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit {
    /// Distance, m.
    pub distance: f32,
    /// Index of the body, or [`BODY_SKY`].
    pub body: u32,
    /// Leaf of the forest; [`NO_LEAF`] in an internal octant.
    pub leaf: u32,
    /// Octree level of the octant that was hit.
    pub level: u32,
    /// Axis of the face through which the ray entered.
    pub axis: u32,
    /// Whether the hit is on the leaf's second plane.
    pub cut: bool,
}

impl Hit {
    /// No hit up to `last`.
    pub fn none(last: f32) -> Self {
        Self { distance: last, body: BODY_SKY, leaf: NO_LEAF, level: 0, axis: 0, cut: false }
    }
}

/// The first leaf below a node, nearest octants first, which gives a truncated octant its colour and normal.
pub(super) fn leaf_below(tree: &Tree<'_>, start: u32, levels: u32, mirror: u32) -> u32 {
    (0..levels).fold(start, |index, _| {
        let node = tree.nodes[index as usize];
        let valid = u32::from(node.valid());
        let nearest = (0..8).map(|k| k ^ mirror).find(|octant| valid >> octant & 1 == 1);
        node.child(nearest.unwrap_or(0))
    })
}

/// Planes of up to eight siblings, mirrored.
pub(super) struct Planes {
    normals: [[f32; LANES]; 3],
}

impl Planes {
    /// Planes of the leaves from `first` on.
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

    /// Normal of one of them.
    #[inline(always)]
    pub fn normal(&self, leaf: u32) -> [f32; 3] {
        let leaf = leaf as usize & (LANES - 1);
        each_axis!(k: self.normals[k][leaf])
    }
}

/// A leaf with the interval of eight rays in its voxel, mirrored.
pub(super) struct Leaf<'a, L> {
    pub tree: &'a Tree<'a>,
    pub child: u32,
    pub mirror: u32,
    pub normal: [f32; 3],
    /// Low corner.
    pub p: [u32; 3],
    /// Where the rays enter and leave the voxel.
    pub enter: L,
    pub leave: L,
}

/// Where rays hit the solid in a leaf, where they leave it, and which of them hit the second plane. A ray that leaves
/// before it hits passes through.
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

    /// Intersects the leaf with its second plane: the solid lies below both.
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
        // An upward ray leaves the solid through a plane.
        let up = |height: L, slope: L, is_below: u32| {
            let out = self.leave.min(t.sub(height.div(slope)));
            L::mask(zero.less(slope) & is_below).select(out, self.leave)
        };
        let cut_is_below = !zero.less(cut_height);
        let leave = up(height, slope, !0).min(up(cut_height, cut_slope, cut_is_below));
        let cut_at = down_to(t, cut_height, cut_slope);
        // Where the ray enters by a face of the voxel, the visible plane is the one that faces the ray, or else the
        // nearer one.
        let one_faces = cut_slope.less(zero) ^ slope.less(zero);
        let through_face = one_faces & cut_slope.less(slope) | !one_faces & height.less(cut_height);
        let is_tied = cut_at.at_most(met.at) & met.at.at_most(cut_at);
        let shows = met.at.less(cut_at) | is_tied & through_face;
        Met { at: met.at.max(cut_at), leave, cut: shows & met.at.at_most(self.leave) }
    }
}

/// When rays with height `height` over a plane at `t`, changing by `slope`, are below it; far away if never.
#[inline(always)]
fn down_to<L: F32x8>(t: L, height: L, slope: L) -> L {
    let zero = L::splat(0.0);
    let down = slope.below(zero).select(t.sub(height.div(slope)), L::splat(1e30));
    zero.below(height).select(down, t)
}
