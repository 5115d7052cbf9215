//! Triangles by boxes, asked which is nearest to a point.

use glam::DVec3;

/// Triangles of a leaf of the tree, at most.
const LEAF: usize = 8;

/// A triangle of the tree, and what it is part of.
#[derive(Clone, Copy, Debug)]
pub struct Tagged {
    /// Its corners.
    pub corners: [DVec3; 3],
    /// Whatever the asker knows it by.
    pub tag: u32,
}

/// A tree of boxes round triangles.
#[derive(Default)]
pub struct TriangleTree {
    triangles: Vec<Tagged>,
    /// A complete binary tree over runs of `triangles`: box of each node, the root first.
    nodes: Vec<Node>,
}

struct Node {
    low: DVec3,
    high: DVec3,
    /// First triangle, and how many; for a leaf.
    run: (usize, usize),
    /// Index of the second child; the first follows its parent. 0 for a leaf.
    second: usize,
}

impl TriangleTree {
    /// Of these triangles.
    #[must_use]
    pub fn new(triangles: Vec<Tagged>) -> Self {
        let mut new = Self { triangles, nodes: Vec::new() };
        let count = new.triangles.len();
        if count > 0 {
            new.split(0, count);
        }
        new
    }

    fn split(&mut self, first: usize, count: usize) {
        let run = &mut self.triangles[first..first + count];
        let nowhere = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let points = run.iter().flat_map(|triangle| triangle.corners);
        let (low, high) = points.fold(nowhere, |(low, high), p| (low.min(p), high.max(p)));
        let at = self.nodes.len();
        self.nodes.push(Node { low, high, run: (first, count), second: 0 });
        if count <= LEAF {
            return;
        }
        let size = high - low;
        let axis = if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
        let middle = |t: &Tagged| t.corners.iter().map(|p| p[axis]).sum::<f64>();
        run.select_nth_unstable_by(count / 2, |a, b| middle(a).total_cmp(&middle(b)));
        self.split(first, count / 2);
        self.nodes[at].second = self.nodes.len();
        self.split(first + count / 2, count - count / 2);
    }

    /// The nearest of the triangles that are `wanted`, nearer than `within`: its squared distance and itself.
    pub fn nearest(&self, p: DVec3, within: f64, wanted: impl Fn(&Tagged) -> bool) -> Option<(f64, &Tagged)> {
        if self.nodes.is_empty() {
            return None;
        }
        let to_box = |n: usize| p.clamp(self.nodes[n].low, self.nodes[n].high).distance_squared(p);
        let (mut best, mut found, mut stack) = (within * within, None, vec![0]);
        while let Some(at) = stack.pop() {
            let node = &self.nodes[at];
            if to_box(at) >= best {
                continue;
            }
            if node.second == 0 {
                let (first, count) = node.run;
                for triangle in self.triangles[first..first + count].iter().filter(|t| wanted(t)) {
                    let distance = to_triangle(p, &triangle.corners);
                    if distance < best {
                        (best, found) = (distance, Some(triangle));
                    }
                }
                continue;
            }
            // The nearer one is looked into first.
            let (one, other) = (at + 1, node.second);
            let nearer_first = to_box(one) <= to_box(other);
            stack.extend(if nearer_first { [other, one] } else { [one, other] });
        }
        found.map(|triangle| (best, triangle))
    }

    /// All triangles, in the tree's order.
    #[must_use]
    pub fn triangles(&self) -> &[Tagged] {
        &self.triangles
    }
}

/// Squared distance of a point from a triangle: the nearest of its plane, where the foot lies inside, and its edges.
pub(super) fn to_triangle(p: DVec3, &[a, b, c]: &[DVec3; 3]) -> f64 {
    let normal = (b - a).cross(c - a);
    // The normal of a sliver is mere rounding; its edges are all there is of it.
    let longest = [b - a, c - b, a - c].iter().map(|edge| edge.length_squared()).fold(0.0, f64::max);
    let foot_inside = normal.length_squared() > 1e-20 * longest * longest
        && [(a, b), (b, c), (c, a)]
            .iter()
            .all(|(from, to)| (*to - *from).cross(p - *from).dot(normal) >= 0.0);
    if foot_inside {
        let height = (p - a).dot(normal);
        return height * height / normal.length_squared();
    }
    [(a, b), (b, c), (c, a)].iter().map(|(from, to)| to_edge(p, *from, *to)).fold(f64::INFINITY, f64::min)
}

fn to_edge(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    let along = b - a;
    let share = ((p - a).dot(along) / along.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    (a + along * share).distance_squared(p)
}
