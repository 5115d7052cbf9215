//! Nearest-triangle queries by a tree of boxes.

use crate::geometry::{Aabb, BoxTree, triangle::distance_squared};
use glam::DVec3;

/// Largest number of triangles in a leaf of the tree.
const LEAF: usize = 8;

/// A triangle of the tree, with a tag.
#[derive(Clone, Copy, Debug)]
pub struct Tagged {
    /// Its corners.
    pub corners: [DVec3; 3],
    /// The caller's tag.
    pub tag: u32,
}

/// A tree of boxes round triangles.
#[derive(Default)]
pub struct TriangleTree(BoxTree<Tagged>);

impl TriangleTree {
    /// The tree of these triangles.
    #[must_use]
    pub fn new(triangles: Vec<Tagged>) -> Self {
        let part = |run: &mut [Tagged], size: DVec3| {
            let axis =
                if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
            let middle = |t: &Tagged| t.corners.iter().map(|p| p[axis]).sum::<f64>();
            run.select_nth_unstable_by(run.len() / 2, |a, b| middle(a).total_cmp(&middle(b)));
        };
        Self(BoxTree::new(triangles, LEAF, |triangle| Aabb::of(triangle.corners), part))
    }

    /// The nearest of the triangles that are `wanted`, nearer than `within`: its squared distance and itself.
    pub fn nearest(&self, p: DVec3, within: f64, wanted: impl Fn(&Tagged) -> bool) -> Option<(f64, &Tagged)> {
        self.0.nearest(p, within * within, |_, triangle| {
            wanted(triangle).then(|| (distance_squared(p, triangle.corners), triangle))
        })
    }

    /// All triangles, in the tree's order.
    #[must_use]
    pub fn triangles(&self) -> &[Tagged] {
        self.0.items()
    }
}
