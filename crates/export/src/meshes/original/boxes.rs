//! A tree of boxes, to find what a segment may meet.
//!
//! In: boxes in whole units. Out: which of them a segment's own box and line touch, in a fixed order.

use super::exact::Point;

/// Low and high corner.
pub type Bounds = [Point; 2];

/// Most boxes of a leaf.
const LEAF: usize = 4;

/// A binary tree over boxes, split in the middle of the longest side of their centres.
pub struct BoxTree {
    nodes: Vec<Node>,
    items: Vec<u32>,
}

struct Node {
    low: [f64; 3],
    high: [f64; 3],
    /// Of a leaf: its items; of another: the second child, the first comes right after.
    first: u32,
    count: u32,
}

/// The box of some points.
#[must_use]
pub fn bounds_of(points: &[Point]) -> Bounds {
    let ends = |pick: fn(i64, i64) -> i64| {
        let first = points.first().copied().unwrap_or_default();
        points.iter().fold(first, |sum, p| [0, 1, 2].map(|k| pick(sum[k], p[k])))
    };
    [ends(i64::min), ends(i64::max)]
}

impl BoxTree {
    /// Over `boxes`.
    #[must_use]
    pub fn new(boxes: &[Bounds]) -> Self {
        let mut items: Vec<u32> = (0..boxes.len() as u32).collect();
        let mut nodes = Vec::with_capacity(boxes.len());
        if !boxes.is_empty() {
            build(boxes, &mut items, 0, &mut nodes);
        }
        Self { nodes, items }
    }

    /// Calls `met` with each box that the segment p-q may touch.
    pub fn along(&self, p: Point, q: Point, met: &mut impl FnMut(u32)) {
        let (start, end) = (p.map(|v| v as f64), q.map(|v| v as f64));
        let per_length = [0, 1, 2].map(|k| 1.0 / (end[k] - start[k]));
        let mut stack = vec![0u32];
        while let Some(at) = stack.pop() {
            let Some(node) = self.nodes.get(at as usize) else { continue };
            if !node.touches(start, end, per_length) {
                continue;
            }
            if node.count > 0 {
                for item in &self.items[node.first as usize..(node.first + node.count) as usize] {
                    met(*item);
                }
            } else {
                stack.push(node.first);
                stack.push(at + 1);
            }
        }
    }
}

impl Node {
    fn touches(&self, start: [f64; 3], end: [f64; 3], per_length: [f64; 3]) -> bool {
        let (mut enter, mut leave) = (-1e-9_f64, 1.0_f64 + 1e-9);
        for k in 0..3 {
            if start[k].max(end[k]) < self.low[k] || start[k].min(end[k]) > self.high[k] {
                return false;
            }
            if end[k] != start[k] {
                let (a, b) =
                    ((self.low[k] - start[k]) * per_length[k], (self.high[k] - start[k]) * per_length[k]);
                enter = enter.max(a.min(b) - 1e-9);
                leave = leave.min(a.max(b) + 1e-9);
            }
        }
        enter <= leave
    }
}

fn build(boxes: &[Bounds], items: &mut [u32], offset: u32, nodes: &mut Vec<Node>) {
    let (mut low, mut high) = ([i64::MAX; 3], [i64::MIN; 3]);
    let (mut first, mut last) = ([i64::MAX; 3], [i64::MIN; 3]);
    let centre = |i: u32, k: usize| boxes[i as usize][0][k] + boxes[i as usize][1][k];
    for &i in items.iter() {
        for k in 0..3 {
            low[k] = low[k].min(boxes[i as usize][0][k]);
            high[k] = high[k].max(boxes[i as usize][1][k]);
            first[k] = first[k].min(centre(i, k));
            last[k] = last[k].max(centre(i, k));
        }
    }
    let at = nodes.len();
    let count = if items.len() <= LEAF { items.len() as u32 } else { 0 };
    // A margin for the rounding of whole numbers to floats.
    nodes.push(Node {
        low: low.map(|v| v as f64 - 1.0),
        high: high.map(|v| v as f64 + 1.0),
        first: offset,
        count,
    });
    if count > 0 {
        return;
    }
    let axis = (0..3).max_by_key(|k| last[*k] - first[*k]).unwrap_or(0);
    let half = items.len() / 2;
    items.select_nth_unstable_by_key(half, |i| (centre(*i, axis), *i));
    let (left, right) = items.split_at_mut(half);
    build(boxes, left, offset, nodes);
    nodes[at].first = nodes.len() as u32;
    build(boxes, right, offset + half as u32, nodes);
}
