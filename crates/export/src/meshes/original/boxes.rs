//! A tree of boxes, to find what a segment may meet.
//!
//! In: boxes in whole units. Out: which of them a segment's own box and line touch, in a fixed order.

use super::exact::Point;
use crate::geometry::{Aabb, BoxTree};
use glam::DVec3;

/// Low and high corner.
pub type Bounds = [Point; 2];

/// Most boxes of a leaf.
const LEAF: usize = 4;

/// The box of some points.
#[must_use]
pub fn bounds_of(points: &[Point]) -> Bounds {
    let ends = |pick: fn(i64, i64) -> i64| {
        let first = points.first().copied().unwrap_or_default();
        points.iter().fold(first, |sum, p| [0, 1, 2].map(|k| pick(sum[k], p[k])))
    };
    [ends(i64::min), ends(i64::max)]
}

/// A tree over `boxes`, by their numbers, split in the middle of the longest side of their centres.
#[must_use]
pub fn tree_of(boxes: &[Bounds]) -> BoxTree<u32> {
    let centre = |i: u32, k: usize| boxes[i as usize][0][k] + boxes[i as usize][1][k];
    // A margin for the rounding of whole numbers to floats.
    let bounds = |i: &u32| {
        let [low, high] = boxes[*i as usize].map(|p| DVec3::from_array(p.map(|v| v as f64)));
        Aabb::new(low - 1.0, high + 1.0)
    };
    let part = |run: &mut [u32], _: DVec3| {
        let extent = |k: usize| {
            let (mut first, mut last) = (i64::MAX, i64::MIN);
            for &i in &*run {
                (first, last) = (first.min(centre(i, k)), last.max(centre(i, k)));
            }
            last - first
        };
        let axis = (0..3).max_by_key(|k| extent(*k)).unwrap_or(0);
        run.select_nth_unstable_by_key(run.len() / 2, |i| (centre(*i, axis), *i));
    };
    BoxTree::new((0..boxes.len() as u32).collect(), LEAF, bounds, part)
}

/// Calls `met` with each box of a tree that the segment p-q may touch.
pub fn along(tree: &BoxTree<u32>, p: Point, q: Point, met: &mut impl FnMut(u32)) {
    let (start, end) = (p.map(|v| v as f64), q.map(|v| v as f64));
    let per_length = [0, 1, 2].map(|k| 1.0 / (end[k] - start[k]));
    let touches = |bounds: &Aabb| {
        let (mut enter, mut leave) = (-1e-9_f64, 1.0_f64 + 1e-9);
        for k in 0..3 {
            let (low, high) = (bounds.low[k], bounds.high[k]);
            if start[k].max(end[k]) < low || start[k].min(end[k]) > high {
                return false;
            }
            if end[k] != start[k] {
                let (a, b) = ((low - start[k]) * per_length[k], (high - start[k]) * per_length[k]);
                enter = enter.max(a.min(b) - 1e-9);
                leave = leave.min(a.max(b) + 1e-9);
            }
        }
        enter <= leave
    };
    tree.visit(touches, |item| met(*item));
}
