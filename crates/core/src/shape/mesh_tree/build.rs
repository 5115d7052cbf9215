//! Builds a bounding volume hierarchy with the least expected cost of rays: the surface area heuristic over sixteen
//! slices of every axis (Wald 2007, On fast Construction of SAH-based Bounding Volume Hierarchies).
//!
//! In: triangles in tree space. Out: nodes and the order of the triangles, the same on any number of threads.

use bytemuck::Zeroable;
use glam::Vec3;

use super::{DEEPEST, PAD, TreeNode};

/// Number of slices of an axis.
const SLICES: usize = 16;
/// Most triangles in a leaf.
const LEAF: usize = 8;
/// Cost of a triangle test relative to a box test.
const TRIANGLE_COST: f32 = 1.6;
/// Halves with at least this many triangles are built in parallel.
const PARALLEL: usize = 1 << 13;

/// A triangle's box.
#[derive(Clone, Copy)]
struct Boxed {
    low: Vec3,
    high: Vec3,
    index: u32,
}

impl Boxed {
    /// Twice its centre.
    fn middle(&self) -> Vec3 {
        self.low + self.high
    }
}

/// Bounding box of boxes.
#[derive(Clone, Copy)]
struct Round {
    low: Vec3,
    high: Vec3,
}

impl Round {
    const NOTHING: Self = Self { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    fn with(self, low: Vec3, high: Vec3) -> Self {
        Self { low: self.low.min(low), high: self.high.max(high) }
    }

    /// Half its surface area; 0 if it is empty.
    fn area(self) -> f32 {
        let d = (self.high - self.low).max(Vec3::ZERO);
        d.x * d.y + d.y * d.z + d.z * d.x
    }
}

/// The nodes, the root first, and the triangles in the order of the leaves.
pub(super) fn hierarchy(corners: &[[Vec3; 3]]) -> (Vec<TreeNode>, Vec<u32>) {
    let boxed = corners.iter().enumerate().filter(|(_, c)| c.iter().all(|p| p.is_finite()));
    let mut boxes: Vec<Boxed> = boxed
        .map(|(i, [a, b, c])| Boxed { low: a.min(*b).min(*c), high: a.max(*b).max(*c), index: i as u32 })
        .collect();
    let nodes = if boxes.is_empty() { Vec::new() } else { subtree(&mut boxes, 0, 0) };
    (nodes, boxes.iter().map(|of| of.index).collect())
}

/// The nodes of `boxes`, numbered from `first`; reorders the boxes.
fn subtree(boxes: &mut [Boxed], first: u32, depth: usize) -> Vec<TreeNode> {
    let mut nodes = vec![TreeNode::zeroed()];
    let mut work = vec![(0usize, 0usize, boxes.len(), depth)];
    while let Some((at, from, to, depth)) = work.pop() {
        let group = &mut boxes[from..to];
        let round = group.iter().fold(Round::NOTHING, |round, of| round.with(of.low, of.high));
        let (low, high) = ((round.low - PAD).to_array(), (round.high + PAD).to_array());
        let begin = first + from as u32;
        let Some((axis, middle)) = split(group, round, depth) else {
            nodes[at] = TreeNode { low, first: begin, high, count_and_axis: group.len() as u32 };
            continue;
        };
        let child = nodes.len();
        nodes[at] = TreeNode { low, first: child as u32, high, count_and_axis: (axis as u32) << 8 };
        if group.len() < PARALLEL {
            nodes.extend([TreeNode::zeroed(); 2]);
            work.push((child, from, from + middle, depth + 1));
            work.push((child + 1, from + middle, to, depth + 1));
            continue;
        }
        let (left, right) = group.split_at_mut(middle);
        let halves = rayon::join(
            || subtree(left, begin, depth + 1),
            || subtree(right, begin + middle as u32, depth + 1),
        );
        // Both roots side by side, followed by the first subtree and the second.
        let below = [child + 1, child + halves.0.len()];
        let moved = |half: usize| {
            move |node: &TreeNode| {
                let shift = if node.is_leaf() { 0 } else { below[half] as u32 };
                TreeNode { first: node.first + shift, ..*node }
            }
        };
        nodes.extend(halves.0[..1].iter().map(moved(0)));
        nodes.extend(halves.1[..1].iter().map(moved(1)));
        nodes.extend(halves.0[1..].iter().map(moved(0)));
        nodes.extend(halves.1[1..].iter().map(moved(1)));
    }
    nodes
}

/// Splits a group in two: returns the axis, and the size of the first half. `None` for a leaf.
fn split(group: &mut [Boxed], round: Round, depth: usize) -> Option<(usize, usize)> {
    let count = group.len();
    if count == 1 {
        return None;
    }
    let middles = group.iter().fold(Round::NOTHING, |round, of| round.with(of.middle(), of.middle()));
    let extent = middles.high - middles.low;
    // Median splits need no more levels than the count has bits; a traversal's stack must hold all levels.
    if depth + (usize::BITS - count.leading_zeros()) as usize + 1 >= DEEPEST {
        return halves(group, extent.max_position());
    }
    let (cost, axis, slice) = cheapest(group, &middles, round);
    if count <= LEAF && TRIANGLE_COST * count as f32 <= 1.0 + cost {
        return None;
    }
    if !cost.is_finite() {
        return halves(group, extent.max_position());
    }
    let slice_of = slicer(&middles, axis);
    let mut middle = 0;
    for i in 0..count {
        if slice_of(&group[i]) <= slice {
            group.swap(i, middle);
            middle += 1;
        }
    }
    Some((axis, middle))
}

/// Splits at the median.
fn halves(group: &mut [Boxed], axis: usize) -> Option<(usize, usize)> {
    if group.len() <= LEAF {
        return None;
    }
    let middle = group.len() / 2;
    let key = |of: &Boxed| (of.middle()[axis], of.index);
    group.select_nth_unstable_by(middle, |a, b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    });
    Some((axis, middle))
}

/// Maps a box to its slice of an axis.
fn slicer(middles: &Round, axis: usize) -> impl Fn(&Boxed) -> usize {
    let low = middles.low[axis];
    let scale = SLICES as f32 / (middles.high[axis] - low);
    move |of| (((of.middle()[axis] - low) * scale) as usize).min(SLICES - 1)
}

/// The split with the least expected cost: the cost, the axis, and the last slice of the first half. Infinite if all
/// centres coincide.
fn cheapest(group: &[Boxed], middles: &Round, round: Round) -> (f32, usize, usize) {
    let mut best = (f32::INFINITY, 0, 0);
    for axis in 0..3 {
        // An almost empty extent cannot be divided into slices.
        let extent = middles.high[axis] - middles.low[axis];
        if extent.is_nan() || extent <= 1e-30 {
            continue;
        }
        let slice_of = slicer(middles, axis);
        let mut slices = [(Round::NOTHING, 0u32); SLICES];
        for of in group {
            let (round, count) = &mut slices[slice_of(of)];
            (*round, *count) = (round.with(of.low, of.high), *count + 1);
        }
        // Boxes and counts above each slice, from the top.
        let mut above = [(0.0f32, 0u32); SLICES];
        let mut sum = (Round::NOTHING, 0);
        for k in (1..SLICES).rev() {
            sum = (sum.0.with(slices[k].0.low, slices[k].0.high), sum.1 + slices[k].1);
            above[k - 1] = (sum.0.area(), sum.1);
        }
        let mut sum = (Round::NOTHING, 0);
        for k in 0..SLICES - 1 {
            sum = (sum.0.with(slices[k].0.low, slices[k].0.high), sum.1 + slices[k].1);
            if sum.1 == 0 || above[k].1 == 0 {
                continue;
            }
            let tests = sum.0.area() * sum.1 as f32 + above[k].0 * above[k].1 as f32;
            let cost = TRIANGLE_COST * tests / round.area().max(f32::MIN_POSITIVE);
            if cost < best.0 {
                best = (cost, axis, k);
            }
        }
    }
    best
}
