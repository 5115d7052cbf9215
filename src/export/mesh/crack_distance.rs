//! How far points are from a piece's crack faces: for masks of worn or dusty edges.

use glam::DVec3;
use rayon::prelude::*;

use super::{PieceMesh, Side};

/// Triangles of a leaf of the tree, at most.
const LEAF: usize = 8;

/// A tree of boxes round a piece's crack faces.
#[derive(Default)]
pub struct CrackDistance {
    triangles: Vec<[DVec3; 3]>,
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

impl CrackDistance {
    /// Of the crack faces of `mesh`.
    pub fn of(mesh: &PieceMesh) -> Self {
        let inside = mesh.triangles.iter().zip(&mesh.faces).filter(|(_, face)| face.side == Side::Inside);
        let mut new = Self {
            triangles: inside.map(|(t, _)| t.map(|i| mesh.positions[i as usize])).collect(),
            nodes: Vec::new(),
        };
        let count = new.triangles.len();
        if count > 0 {
            new.split(0, count);
        }
        new
    }

    fn split(&mut self, first: usize, count: usize) {
        let run = &mut self.triangles[first..first + count];
        let nowhere = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = run.iter().flatten().fold(nowhere, |(low, high), p| (low.min(*p), high.max(*p)));
        let at = self.nodes.len();
        self.nodes.push(Node { low, high, run: (first, count), second: 0 });
        if count <= LEAF {
            return;
        }
        let size = high - low;
        let axis = if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
        let middle = |t: &[DVec3; 3]| t[0][axis] + t[1][axis] + t[2][axis];
        run.select_nth_unstable_by(count / 2, |a, b| middle(a).total_cmp(&middle(b)));
        self.split(first, count / 2);
        self.nodes[at].second = self.nodes.len();
        self.split(first + count / 2, count - count / 2);
    }

    /// The distance of each point; -1 where there is no crack face.
    pub fn of_points(&self, points: &[DVec3]) -> Vec<f32> {
        points.par_iter().map(|p| self.of_point(*p)).collect()
    }

    fn of_point(&self, p: DVec3) -> f32 {
        if self.nodes.is_empty() {
            return -1.0;
        }
        let to_box = |n: usize| p.clamp(self.nodes[n].low, self.nodes[n].high).distance_squared(p);
        let (mut best, mut stack) = (f64::INFINITY, vec![0]);
        while let Some(at) = stack.pop() {
            let node = &self.nodes[at];
            if to_box(at) >= best {
                continue;
            }
            if node.second == 0 {
                let (first, count) = node.run;
                let near = self.triangles[first..first + count].iter().map(|t| to_triangle(p, t));
                best = near.fold(best, f64::min);
                continue;
            }
            // The nearer one is looked into first.
            let (one, other) = (at + 1, node.second);
            let nearer_first = to_box(one) <= to_box(other);
            stack.extend(if nearer_first { [other, one] } else { [one, other] });
        }
        best.sqrt() as f32
    }
}

/// Squared distance of a point from a triangle: the nearest of its plane, where the foot lies inside, and its edges.
fn to_triangle(p: DVec3, &[a, b, c]: &[DVec3; 3]) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::mesh::{Corner, Face};
    use glam::Vec3;

    #[test]
    fn the_tree_finds_what_all_triangles_give() {
        let at = |i: u32| {
            let v = |k: u32| {
                let mixed = (i * 3 + k).wrapping_mul(2_654_435_761);
                f64::from((mixed ^ mixed >> 15).wrapping_mul(2_246_822_519) >> 8) / f64::from(1 << 24)
            };
            DVec3::new(v(0), v(1), v(2))
        };
        let count = 300;
        let triangles: Vec<[u32; 3]> =
            (0..count).map(|i| [i, (i * 3 + 1) % count, (i * 5 + 2) % count]).collect();
        let face = |i: usize| Face {
            side: if i.is_multiple_of(3) { Side::Outside { material: 0 } } else { Side::Inside },
            beyond: None,
        };
        let corner = Corner { normal: Vec3::Y, color: [0; 3], uv: [0.0; 2] };
        let mesh = PieceMesh {
            positions: (0..count).map(at).collect(),
            faces: (0..triangles.len()).map(face).collect(),
            corners: vec![[corner; 3]; triangles.len()],
            triangles,
        };
        let tree = CrackDistance::of(&mesh);
        let points: Vec<DVec3> = (1000..1100).map(|i| at(i) * 2.0 - 0.5).collect();
        for (p, found) in points.iter().zip(tree.of_points(&points)) {
            let all = tree.triangles.iter().map(|t| to_triangle(*p, t)).fold(f64::INFINITY, f64::min);
            assert_eq!(found, all.sqrt() as f32);
        }
        let triangle = [DVec3::ZERO, DVec3::X, DVec3::Y];
        for (p, wanted) in [
            (DVec3::new(0.2, 0.2, 3.0), 3.0),
            (DVec3::new(-3.0, 0.5, 4.0), 5.0),
            (DVec3::new(0.5, -2.0, 0.0), 2.0),
            (DVec3::new(2.0, 0.0, 0.0), 1.0),
        ] {
            assert!((to_triangle(p, &triangle).sqrt() - wanted).abs() < 1e-12, "{p}");
        }
        let sliver = [DVec3::ZERO, DVec3::splat(0.1), DVec3::splat(0.3)];
        assert!((to_triangle(DVec3::splat(1.3), &sliver).sqrt() - 3f64.sqrt()).abs() < 1e-12);
        assert_eq!(CrackDistance::default().of_points(&[DVec3::ZERO]), [-1.0]);
    }
}
