//! Sample points of the surface, one per leaf.
//!
//! In: a forest and the index of a leaf. Out: a point on the surface in that leaf's voxel, and its normal.

use super::{Forest, morton, unpack_cut, unpack_normal};
use glam::Vec3;

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
