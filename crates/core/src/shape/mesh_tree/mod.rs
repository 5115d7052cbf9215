//! A bounding volume hierarchy over the triangles of a surface, so that a ray or a point tests few of them.
//!
//! In: points in metres and triangles. Out: nodes and triangles in *tree space*, for picking and both ray casters. Tree
//! space has the axes of shape space, its origin at the centre of the bounds, and a power of two as its scale, so that
//! the longest side is between 1 and 2: `f32` then has six digits relative to the surface's size, wherever it is and
//! however large.

mod build;
#[cfg(test)]
mod tests;

use crate::geometry::Aabb;
use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};

/// Largest depth below the root, which a traversal's stack must hold.
pub const DEEPEST: usize = 48;
/// Margin of boxes, tree space: more than the rounding of rays and vertices.
const PAD: f32 = 1.0 / (1 << 19) as f32;

/// A box of the hierarchy.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct TreeNode {
    /// The corner with the least coordinates, tree space.
    pub low: [f32; 3],
    /// The first of two adjacent children; for a leaf, its first triangle.
    pub first: u32,
    /// The corner with the greatest coordinates, tree space.
    pub high: [f32; 3],
    /// Bits 0 to 8: number of triangles of a leaf, otherwise 0. From bit 8 on: the axis of the split.
    pub count_and_axis: u32,
}

impl TreeNode {
    /// Triangles of a leaf; empty for other nodes.
    #[inline(always)]
    pub fn triangles(&self) -> std::ops::Range<usize> {
        let count = (self.count_and_axis & 0xff) as usize;
        let first = if count == 0 { 0 } else { self.first as usize };
        first..first + count
    }

    /// Whether it holds triangles.
    #[inline(always)]
    pub fn is_leaf(&self) -> bool {
        self.count_and_axis & 0xff != 0
    }
}

/// A triangle in the order of the leaves.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct TreeTriangle {
    pub a: [f32; 3],
    /// Index of the surface's triangle.
    pub index: u32,
    pub b: [f32; 3],
    pub pad0: u32,
    pub c: [f32; 3],
    pub pad1: u32,
}

/// The hierarchy.
#[derive(Clone, Debug)]
pub struct MeshTree {
    /// The root is first; empty if there are no triangles.
    pub nodes: Vec<TreeNode>,
    /// Triangles in the order of the leaves.
    pub triangles: Vec<TreeTriangle>,
    /// Position of tree space's origin in shape space, m.
    pub centre: DVec3,
    /// Units of tree space per metre.
    pub scale: f64,
}

impl MeshTree {
    /// The hierarchy of `triangles`, whose vertices lie within `bounds`. Triangles with non-finite vertices are left
    /// out.
    pub fn new(positions: &[DVec3], triangles: &[[u32; 3]], bounds: Aabb) -> Self {
        let centre = bounds.middle();
        let half = bounds.size().max_element() * 0.5;
        let exponent = if half.is_finite() && half > 0.0 { libm::frexp(half).1 } else { 0 };
        let scale = libm::ldexp(1.0, -exponent.clamp(-1000, 1000));
        let place = |i: u32| ((positions[i as usize] - centre) * scale).as_vec3();
        let corners: Vec<[Vec3; 3]> = triangles.iter().map(|t| t.map(place)).collect();
        let (nodes, order) = build::hierarchy(&corners);
        let ordered = order.into_iter().map(|index| {
            let [a, b, c] = corners[index as usize].map(|p| p.to_array());
            TreeTriangle { a, index, b, pad0: 0, c, pad1: 0 }
        });
        Self { triangles: ordered.collect(), nodes, centre, scale }
    }

    /// Transforms a point of shape space to tree space.
    pub fn placed(&self, p: DVec3) -> DVec3 {
        (p - self.centre) * self.scale
    }

    /// Bounds (low, high), tree space; `None` if there are no triangles.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        self.nodes.first().map(|root| (root.low.into(), root.high.into()))
    }

    /// The smallest ray parameter that `meets` returns for triangles near a ray (shape space), and that triangle; the
    /// first of equally near ones.
    pub fn first_hit(
        &self,
        origin: DVec3,
        direction: DVec3,
        meets: impl Fn(u32) -> Option<f64>,
    ) -> Option<(f64, u32)> {
        let (origin, along) = (self.placed(origin), direction * self.scale);
        let entry = |node: &TreeNode, end: f64| {
            let to = |p: [f32; 3]| (Vec3::from(p).as_dvec3() - origin) / along;
            let (a, b) = (to(node.low), to(node.high));
            // `min` and `max` drop the NaN of a ray that lies in a face.
            let enter = a.min(b).max_element().max(0.0);
            (enter <= a.max(b).min_element().min(end)).then_some(enter)
        };
        let mut best: Option<(f64, u32)> = None;
        let mut stack = [(0u32, 0.0f64); DEEPEST + 2];
        let mut depth = usize::from(!self.nodes.is_empty());
        while depth > 0 {
            depth -= 1;
            let (at, enter) = stack[depth];
            let end = best.map_or(f64::INFINITY, |(t, _)| t);
            if enter > end {
                continue;
            }
            let node = &self.nodes[at as usize];
            for triangle in &self.triangles[node.triangles()] {
                let Some(t) = meets(triangle.index) else { continue };
                if best.is_none_or(|best| (t, triangle.index) < best) {
                    best = Some((t, triangle.index));
                }
            }
            if !node.is_leaf() {
                let children = [node.first, node.first + 1];
                let mut entries = children.map(|child| (child, entry(&self.nodes[child as usize], end)));
                if entries[0].1 < entries[1].1 {
                    entries.swap(0, 1);
                }
                for (child, enter) in entries {
                    if let Some(enter) = enter {
                        stack[depth] = (child, enter);
                        depth += 1;
                    }
                }
            }
        }
        best
    }

    /// Calls `met` with the triangles of all leaves whose boxes a plane cuts, in a fixed order: all that the plane
    /// cuts, and some beside it. `normal` is the plane's unit normal, `height` its distance from the origin, tree
    /// space. Takes as long as there are such boxes: about the square root of the number of triangles where these are
    /// spread evenly.
    pub fn cut_by(&self, normal: DVec3, height: f64, mut met: impl FnMut(&TreeTriangle)) {
        let is_cut = |node: &TreeNode| {
            let (low, high) = (Vec3::from(node.low).as_dvec3(), Vec3::from(node.high).as_dvec3());
            let reach = (0.5 * (high - low)).dot(normal.abs());
            (normal.dot(0.5 * (low + high)) - height).abs() <= reach
        };
        let mut open = vec![0u32];
        while let Some(at) = open.pop() {
            let Some(node) = self.nodes.get(at as usize).filter(|node| is_cut(node)) else { continue };
            self.triangles[node.triangles()].iter().for_each(&mut met);
            if !node.is_leaf() {
                open.extend([node.first + 1, node.first]);
            }
        }
    }

    /// The smallest `distance` (m) of a triangle from `point` (shape space), which is at least that of its box, and
    /// that triangle; the first of equally near ones. `None` if there is none.
    pub fn nearest(&self, point: DVec3, distance: impl Fn(u32) -> f64) -> Option<(f64, u32)> {
        let point = self.placed(point);
        let away = |at: u32| {
            let node = &self.nodes[at as usize];
            let (low, high) = (Vec3::from(node.low).as_dvec3(), Vec3::from(node.high).as_dvec3());
            point.clamp(low, high).distance(point) / self.scale
        };
        let mut best: Option<(f64, u32)> = None;
        let mut stack = [(0u32, 0.0f64); DEEPEST + 2];
        let mut depth = usize::from(!self.nodes.is_empty());
        while depth > 0 {
            depth -= 1;
            let (at, least) = stack[depth];
            if best.is_some_and(|(far, _)| least > far) {
                continue;
            }
            let node = &self.nodes[at as usize];
            for triangle in &self.triangles[node.triangles()] {
                let found = (distance(triangle.index), triangle.index);
                if !found.0.is_nan() && best.is_none_or(|best| found < best) {
                    best = Some(found);
                }
            }
            if !node.is_leaf() {
                let mut both = [node.first, node.first + 1].map(|child| (child, away(child)));
                if both[0].1 < both[1].1 {
                    both.swap(0, 1);
                }
                stack[depth..depth + 2].copy_from_slice(&both);
                depth += 2;
            }
        }
        best
    }
}
