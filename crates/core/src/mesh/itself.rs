//! Finds surfaces that pass through themselves.
//!
//! In: triangles with welded vertices, and the part of each. Out: the number of pairs of triangles of one part that share
//! no vertex and pass through each other. Pairs that only touch, or lie in one plane, do not count.

use glam::{DVec3, UVec3};
use rayon::prelude::*;

use crate::{
    geometry::{Aabb, BoxTree},
    voxelize::Progress,
};

/// Triangles of a leaf of the tree, which are also looked up together.
const LEAF: usize = 8;
/// Ends of a segment closer to a plane than this share of the sizes at hand lie in it.
const IN_PLANE: f64 = 1e-9;
/// Bits of a place along each axis in the order of the triangles.
const BITS: u32 = 10;

/// The number of pairs. `part` gives the part of a triangle.
pub(super) fn crossing_pairs(
    triangles: &[[u32; 3]],
    points: &[DVec3],
    part: &(dyn Fn(u32) -> u32 + Sync),
    progress: &Progress,
) -> usize {
    let corners = |t: u32| triangles[t as usize].map(|v| points[v as usize]);
    let boxes: Vec<Aabb> =
        (0..triangles.len() as u32).into_par_iter().map(|t| Aabb::of(corners(t))).collect();
    let whole = boxes.iter().copied().fold(Aabb::NOTHING, Aabb::joined);
    let scale = f64::from(1u32 << BITS) / whole.size().max_element().max(f64::MIN_POSITIVE);
    let place = |t: u32| morton(((boxes[t as usize].middle() - whole.low) * scale).as_uvec3());
    let mut order: Vec<(u32, u32)> =
        (0..triangles.len() as u32).into_par_iter().map(|t| (place(t), t)).collect();
    order.par_sort_unstable();
    let order: Vec<u32> = order.into_iter().map(|(_, t)| t).collect();
    if progress.is_cancelled() {
        return 0;
    }
    // The items are in an order whose halves lie together.
    let tree = BoxTree::new(
        (0..order.len() as u32).collect(),
        LEAF,
        |k| boxes[order[*k as usize] as usize],
        |_, _| {},
    );
    let of_run = |first: usize| -> usize {
        if progress.is_cancelled() {
            return 0;
        }
        let run = &order[first..order.len().min(first + LEAF)];
        let bounds = run.iter().map(|t| boxes[*t as usize]).fold(Aabb::NOTHING, Aabb::joined);
        let mut count = 0;
        tree.visit(
            |other| other.meets(&bounds),
            |k| {
                let other = order[*k as usize];
                for (own, t) in (first as u32..).zip(run) {
                    let is_pair = own < *k
                        && boxes[*t as usize].meets(&boxes[other as usize])
                        && !share_a_vertex(triangles[*t as usize], triangles[other as usize])
                        && part(*t) == part(other);
                    count += usize::from(is_pair && pass_through(corners(*t), corners(other)));
                }
            },
        );
        count
    };
    (0..order.len()).into_par_iter().step_by(LEAF).map(of_run).sum()
}

/// The bits of three numbers below 2^[`BITS`] by turns.
fn morton(at: UVec3) -> u32 {
    let spread = |v: u32| (0..BITS).map(|bit| (v >> bit & 1) << (3 * bit)).sum::<u32>();
    let [x, y, z] = at.min(UVec3::splat((1 << BITS) - 1)).to_array().map(spread);
    x | y << 1 | z << 2
}

fn share_a_vertex(a: [u32; 3], b: [u32; 3]) -> bool {
    a.iter().any(|v| b.contains(v))
}

/// Whether an edge of one triangle passes through the other.
fn pass_through(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    let edges = |t: [DVec3; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    edges(a).iter().any(|edge| passes(*edge, b)) || edges(b).iter().any(|edge| passes(*edge, a))
}

fn passes([p, q]: [DVec3; 2], [a, b, c]: [DVec3; 3]) -> bool {
    let normal = (b - a).cross(c - a);
    let least = IN_PLANE * normal.length() * (q - p).length();
    let (from, to) = (normal.dot(p - a), normal.dot(q - a));
    if from.abs() <= least || to.abs() <= least || (from > 0.0) == (to > 0.0) {
        return false;
    }
    let way = q - p;
    let sides = [[a, b], [b, c], [c, a]].map(|[v, w]| way.dot((v - p).cross(w - p)));
    sides.iter().all(|side| *side > 0.0) || sides.iter().all(|side| *side < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{
        builtin::{BUILTIN_NAMES, builtin},
        topology::topology,
    };

    fn pairs(triangles: &[[u32; 3]], points: &[DVec3]) -> usize {
        crossing_pairs(triangles, points, &|_| 0, &Progress::default())
    }

    #[test]
    fn pairs_are_those_of_comparing_all() {
        let mut state = 5u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        let points: Vec<DVec3> = (0..600).map(|_| DVec3::new(random(), random(), random())).collect();
        // Small triangles, and two large ones that many others meet.
        let mut triangles: Vec<[u32; 3]> = Vec::new();
        for first in 0..598u32 {
            let near = (0..600u32).filter(|v| points[*v as usize].distance(points[first as usize]) < 0.15);
            if let [a, b, c] = near.take(3).collect::<Vec<_>>()[..] {
                triangles.push([a, b, c]);
            }
        }
        triangles.extend([[0, 300, 599], [1, 301, 598]]);
        let corners = |t: [u32; 3]| t.map(|v| points[v as usize]);
        let mut wanted = 0;
        for (k, a) in triangles.iter().enumerate() {
            for b in &triangles[..k] {
                wanted += usize::from(!share_a_vertex(*a, *b) && pass_through(corners(*a), corners(*b)));
            }
        }
        assert!(wanted > 20, "{wanted}");
        assert_eq!(pairs(&triangles, &points), wanted);
        assert_eq!(
            crossing_pairs(&triangles, &points, &|t| t, &Progress::default()),
            0,
            "parts of one triangle"
        );
    }

    #[test]
    fn shapes_that_only_touch_have_none() {
        for name in BUILTIN_NAMES {
            let mesh = builtin(name).unwrap();
            let weld = topology(&mesh);
            let mut points = vec![DVec3::ZERO; weld.welded_count as usize];
            for (p, id) in mesh.positions.iter().zip(&weld.welded) {
                points[*id as usize] = DVec3::from_array(p.map(f64::from));
            }
            assert_eq!(pairs(&weld.triangles(&mesh), &points), 0, "{name}");
        }
    }
}
