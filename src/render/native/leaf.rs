//! What a ray meets in an octree: leaves with their planes, and octants that are cut off.

use glam::Vec3;

use super::scene::{BODY_SKY, NO_LEAF, Tree};
use crate::svo::{unpack_cut, unpack_normal};

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

/// A leaf where a ray is in its voxel.
pub(super) struct Leaf<'a> {
    pub tree: &'a Tree<'a>,
    pub child: u32,
    /// Along which axes coordinates are mirrored; all below are.
    pub backward: glam::BVec3,
    pub start_point: Vec3,
    pub step: Vec3,
    /// Low corner.
    pub p: [u32; 3],
    /// Where the ray enters and leaves it.
    pub t: f32,
    pub t_exit: f32,
}

impl Leaf<'_> {
    /// Where the ray meets the solid, where it leaves it, and whether what it meets is the second plane.
    #[inline(always)]
    pub fn meet(&self) -> (f32, f32, bool) {
        let mirrored = |v: Vec3| Vec3::select(self.backward, -v, v);
        let (t, child) = (self.t, self.child as usize);
        let n = mirrored(unpack_normal(self.tree.normals[child]));
        let step = self.step;
        let from_centre =
            self.start_point + step * t - (Vec3::from(self.p.map(|v| v as f32)) + Vec3::splat(0.5));
        let height = from_centre.dot(n) - self.tree.colors[child].offset();
        let slope = step.dot(n);
        let down_to = |height: f32, slope: f32| if slope < 0.0 { t - height / slope } else { 1e30 };
        let mut t_hit = if height > 0.0 { down_to(height, slope) } else { t };
        let mut t_leave = self.t_exit;
        let mut shows_cut = false;
        if t_hit <= self.t_exit
            && let Some((m, offset)) = unpack_cut(self.tree.cuts[child])
        {
            // The solid lies below both planes.
            let m = mirrored(m);
            let cut_height = from_centre.dot(m) - offset;
            let cut_slope = step.dot(m);
            if slope > 0.0 {
                t_leave = t_leave.min(t - height / slope);
            }
            let mut t_cut = t;
            if cut_height > 0.0 {
                t_cut = down_to(cut_height, cut_slope);
            } else if cut_slope > 0.0 {
                t_leave = t_leave.min(t - cut_height / cut_slope);
            }
            // Where the ray comes in by a face of the voxel, the plane shows that faces the ray, or else the
            // nearer one.
            let through_face =
                if (cut_slope < 0.0) != (slope < 0.0) { cut_slope < slope } else { cut_height > height };
            shows_cut = t_cut > t_hit || (t_cut == t_hit && through_face);
            t_hit = t_hit.max(t_cut);
        }
        (t_hit, t_leave, shows_cut)
    }
}
