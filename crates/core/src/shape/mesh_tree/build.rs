//! Splits triangles into boxes where rays are expected to cost least: the surface area heuristic over sixteen slices of
//! every axis (Wald 2007, On fast Construction of SAH-based Bounding Volume Hierarchies).
//!
//! In: triangles in tree space. Out: nodes and the order of the triangles, the same on any number of threads.

use bytemuck::Zeroable;
use glam::Vec3;

use super::{DEEPEST, PAD, TreeNode};

/// Slices of an axis.
const SLICES: usize = 16;
/// A leaf holds at most so many.
const LEAF: usize = 8;
/// What a test of a triangle costs where a test of a box costs 1.
const TRIANGLE_COST: f32 = 1.6;
/// Halves of so many triangles are worth a thread each.
const PARALLEL: usize = 1 << 13;

/// A triangle's box.
#[derive(Clone, Copy)]
struct Boxed {
    low: Vec3,
    high: Vec3,
    index: u32,
}

impl Boxed {
    /// Twice its middle.
    fn middle(&self) -> Vec3 {
        self.low + self.high
    }
}

/// Box of boxes.
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

    /// Half its surface; 0 where it is nothing.
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

/// The nodes of `boxes`, the first of which is number `first` of all; they are put in order.
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
        // Both roots side by side, then what is below one and below the other.
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

/// Parts a group in two: along which axis, and how many go first. `None` where it is a leaf.
fn split(group: &mut [Boxed], round: Round, depth: usize) -> Option<(usize, usize)> {
    let count = group.len();
    if count == 1 {
        return None;
    }
    let middles = group.iter().fold(Round::NOTHING, |round, of| round.with(of.middle(), of.middle()));
    let extent = middles.high - middles.low;
    // Halves need no more levels than the number has bits, which a walk's stack must hold.
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

/// As many on one side as on the other.
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

/// Which slice of an axis a box belongs to.
fn slicer(middles: &Round, axis: usize) -> impl Fn(&Boxed) -> usize {
    let low = middles.low[axis];
    let scale = SLICES as f32 / (middles.high[axis] - low);
    move |of| (((of.middle()[axis] - low) * scale) as usize).min(SLICES - 1)
}

/// The split that rays are expected to pay least for: what they pay, its axis, and the last slice of the first half.
/// Infinite where all middles are in one place.
fn cheapest(group: &[Boxed], middles: &Round, round: Round) -> (f32, usize, usize) {
    let mut best = (f32::INFINITY, 0, 0);
    for axis in 0..3 {
        // Slices of what is all but nothing would lie in one another.
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
        // What lies above each slice, from the top.
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
