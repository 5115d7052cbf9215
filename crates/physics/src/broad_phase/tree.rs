//! Near pairs by a bounding volume hierarchy over Morton codes (Karras 2012; Chlubna, sec. 6): on the cores;
//! `passes/` computes the same in compute passes.
//!
//! In and out as the sweep, the same pairs in the same order. The middles of the boxes get Morton codes, a radix sort
//! orders them; each inner node of the binary radix tree finds its range and its split by itself; boxes are gathered
//! from the leaves up; then every leaf goes down the tree for what comes after it and meets its own box.

use super::{Crowded, MOST_PAIRS, Obb};
use crate::geometry::Aabb;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer boxes are not worth a second thread.
const FEW: usize = 64;

/// Bits of a Morton code along an axis, and in one go of the sort.
const BITS: u32 = 10;
/// Bits of a Morton code: those of z, y and x in turn, the highest first.
pub const CODE_BITS: u32 = 3 * BITS;

/// A subtree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// An inner node, by its index.
    Inner(u32),
    /// A leaf, by its place in the order of the codes.
    Leaf(u32),
}

/// An inner node. Node k begins at leaf k, which is its first or its last leaf.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The parts before and behind its split.
    pub children: [Child; 2],
    /// The first leaf in it.
    pub first: u32,
    /// The last leaf in it.
    pub last: u32,
}

impl Node {
    /// The last leaf before its split.
    #[must_use]
    pub fn split(&self) -> u32 {
        let (Child::Inner(k) | Child::Leaf(k)) = self.children[0];
        k
    }
}

/// The tree over some boxes (Chlubna, fig. 12).
pub struct Tree {
    /// Morton codes of the boxes' middles with the places of the boxes in the list, by ascending code, then place.
    pub leaves: Vec<(u32, u32)>,
    /// Inner nodes, one fewer than leaves; the first is the root. None over fewer than two boxes.
    pub nodes: Vec<Node>,
}

impl Tree {
    /// The tree over boxes, each with any number; m or any other unit.
    #[must_use]
    pub fn over(all: &[(u32, Aabb)]) -> Self {
        let leaves = in_order(all);
        let nodes = if leaves.len() > 1 { radix_tree(&leaves) } else { Vec::new() };
        Self { leaves, nodes }
    }
}

/// Like [`pairs`](super::pairs).
///
/// # Errors
/// [`Crowded`] if there are more than [`MOST_PAIRS`].
pub(super) fn pairs(
    boxes: &[Option<Obb>],
    moves: &[bool],
    closer: impl Fn(usize, usize) -> f64 + Sync,
) -> Result<Vec<(u32, u32)>, Crowded> {
    let some = boxes.iter().zip(0u32..).filter_map(|(b, i)| b.as_ref().map(|b| (i, b.aabb())));
    let all: Vec<(u32, Aabb)> = some.collect();
    meeting(&all, |(i, own), (j, there)| {
        let ((a, low), (b, other_low)) =
            if i < j { ((*i, own.low), (*j, there.low)) } else { ((*j, there.low), (*i, own.low)) };
        let (a, b) = (a as usize, b as usize);
        let [Some(first), Some(second)] = [&boxes[a], &boxes[b]] else { return false };
        (moves[a] || moves[b]) && first.overlaps_from(low.x, second, other_low.x, closer(a, b))
    })
}

/// Pairs (i, j), i < j, ascending, the indices of axis-aligned boxes that overlap and for which `near` is true.
///
/// # Errors
/// [`Crowded`] if there are more than [`MOST_PAIRS`].
fn meeting(
    all: &[(u32, Aabb)],
    near: impl Fn(&(u32, Aabb), &(u32, Aabb)) -> bool + Sync,
) -> Result<Vec<(u32, u32)>, Crowded> {
    found(all, None, near)
}

/// The same of boxes of which at least one is `asking`, by index.
///
/// # Errors
/// [`Crowded`] if there are more than [`MOST_PAIRS`].
pub(super) fn meeting_any(all: &[(u32, Aabb)], asking: &[bool]) -> Result<Vec<(u32, u32)>, Crowded> {
    found(all, Some(asking), |_, _| true)
}

/// `asking`: by index, whether a box is asked for its pairs; `None`: all are.
fn found(
    all: &[(u32, Aabb)],
    asking: Option<&[bool]>,
    near: impl Fn(&(u32, Aabb), &(u32, Aabb)) -> bool + Sync,
) -> Result<Vec<(u32, u32)>, Crowded> {
    let Tree { leaves, nodes } = Tree::over(all);
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    let leaves: Vec<(u32, Aabb)> = leaves.into_iter().map(|(_, k)| all[k as usize]).collect();
    let bounds = gathered(&nodes, &leaves);
    let count = AtomicUsize::new(0);
    let asks = |k: u32| asking.is_none_or(|asking| asking[k as usize]);
    let look = |(k, leaf): (usize, &(u32, Aabb))| {
        let (i, own) = leaf;
        let mut found = Vec::new();
        if !asks(*i) {
            return Ok(found);
        }
        // Of two that ask, the first finds the pair.
        let mut open = vec![Child::Inner(0)];
        while let Some(child) = open.pop() {
            match child {
                Child::Leaf(other) => {
                    let (j, there) = &leaves[other as usize];
                    let is_mine = other as usize > k || !asks(*j);
                    if is_mine && own.meets(there) && near(leaf, &leaves[other as usize]) {
                        if count.fetch_add(1, Ordering::Relaxed) >= MOST_PAIRS {
                            return Err(Crowded);
                        }
                        found.push((*i.min(j), *i.max(j)));
                    }
                }
                Child::Inner(node) => {
                    let is_behind = asking.is_none() && nodes[node as usize].last as usize <= k;
                    if !is_behind && own.meets(&bounds[node as usize]) {
                        open.extend(nodes[node as usize].children);
                    }
                }
            }
        }
        Ok(found)
    };
    let found: Result<Vec<Vec<(u32, u32)>>, Crowded> =
        leaves.par_iter().enumerate().with_min_len(FEW).map(look).collect();
    let mut found = found?.concat();
    found.par_sort_unstable();
    Ok(found)
}

/// Morton codes of the boxes' middles with the indices of the boxes, by ascending code, then index.
fn in_order(all: &[(u32, Aabb)]) -> Vec<(u32, u32)> {
    let middle = |(_, bounds): &(u32, Aabb)| bounds.middle();
    let whole = Aabb::of(all.iter().map(middle));
    let cells = f64::from((1u32 << BITS) - 1) / whole.size().max_element().max(f64::MIN_POSITIVE);
    let code = |k: usize| {
        // NaN becomes 0.
        let at = ((middle(&all[k]) - whole.low) * cells).to_array().map(|v| spread(v as u32));
        at[0] | at[1] << 1 | at[2] << 2
    };
    let mut order: Vec<(u32, u32)> = (0..all.len()).map(|k| (code(k), k as u32)).collect();
    let mut sorted = order.clone();
    for digit in 0..3 {
        let of = |code: u32| (code >> (digit * BITS) & ((1 << BITS) - 1)) as usize;
        let mut starts = [0u32; 1 << BITS];
        order.iter().for_each(|(code, _)| starts[of(*code)] += 1);
        let mut sum = 0;
        for start in &mut starts {
            (sum, *start) = (sum + *start, sum);
        }
        for item in &order {
            let at = &mut starts[of(item.0)];
            sorted[*at as usize] = *item;
            *at += 1;
        }
        std::mem::swap(&mut order, &mut sorted);
    }
    order
}

/// Puts two empty bits after each of the ten lowest.
fn spread(v: u32) -> u32 {
    let v = v.min((1 << BITS) - 1);
    let v = (v | v << 16) & 0x0300_00ff;
    let v = (v | v << 8) & 0x0300_f00f;
    let v = (v | v << 4) & 0x030c_30c3;
    (v | v << 2) & 0x0924_9249
}

/// The inner nodes over two leaves or more; the first is the root.
fn radix_tree(leaves: &[(u32, u32)]) -> Vec<Node> {
    let count = leaves.len() as i64;
    // Length of the prefix that two leaves share; equal codes go on with their places.
    let prefix = |i: i64, j: i64| -> i32 {
        if !(0..count).contains(&j) {
            return -1;
        }
        let (a, b) = (leaves[i as usize].0, leaves[j as usize].0);
        let same = if a == b { 32 + (i as u32 ^ j as u32).leading_zeros() } else { (a ^ b).leading_zeros() };
        same as i32
    };
    let node = |i: i64| {
        // The node's leaves lie on the side where the neighbour has more in common with it.
        let way = if prefix(i, i + 1) > prefix(i, i - 1) { 1 } else { -1 };
        let least = prefix(i, i - way);
        let mut most = 2;
        while prefix(i, i + most * way) > least {
            most *= 2;
        }
        let (mut length, mut step) = (0, most / 2);
        while step > 0 {
            if prefix(i, i + (length + step) * way) > least {
                length += step;
            }
            step /= 2;
        }
        let end = i + length * way;
        let (own, mut split, mut step) = (prefix(i, end), 0, length);
        while step > 1 {
            step = (step + 1) / 2;
            if split + step < length + 1 && prefix(i, i + (split + step) * way) > own {
                split += step;
            }
        }
        let at = i + split * way + way.min(0);
        let (first, last) = (i.min(end), i.max(end));
        let child = |k: i64, alone: bool| if alone { Child::Leaf(k as u32) } else { Child::Inner(k as u32) };
        let children = [child(at, first == at), child(at + 1, last == at + 1)];
        Node { children, first: first as u32, last: last as u32 }
    };
    (0..count - 1).map(node).collect()
}

/// By inner node: the box round its leaves.
fn gathered(nodes: &[Node], leaves: &[(u32, Aabb)]) -> Vec<Aabb> {
    // Parents before their children.
    let mut order = vec![0u32];
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        next += 1;
        let inner = |child: Child| if let Child::Inner(k) = child { Some(k) } else { None };
        order.extend(nodes[node as usize].children.into_iter().filter_map(inner));
    }
    let mut bounds = vec![Aabb::default(); nodes.len()];
    for node in order.into_iter().rev() {
        let of = |child: Child| match child {
            Child::Inner(k) => bounds[k as usize],
            Child::Leaf(k) => leaves[k as usize].1,
        };
        let [a, b] = nodes[node as usize].children.map(of);
        bounds[node as usize] = a.joined(b);
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use rand::{RngExt, SeedableRng};

    /// Digits that two codes begin with alike; equal codes go on with their places.
    fn alike(tree: &Tree, a: u32, b: u32) -> usize {
        let digits = |k: u32| format!("{:030b}{k:032b}", tree.leaves[k as usize].0);
        digits(a).bytes().zip(digits(b).bytes()).take_while(|(x, y)| x == y).count()
    }

    /// Checks the node over the leaves `first` to `last` and all below it; says how many these are.
    fn check(tree: &Tree, child: Child, first: u32, last: u32) -> usize {
        if first == last {
            assert_eq!(child, Child::Leaf(first));
            return 0;
        }
        let Child::Inner(k) = child else { panic!("{first} to {last} is no leaf") };
        let node = &tree.nodes[k as usize];
        assert_eq!((node.first, node.last), (first, last), "node {k}");
        assert!(k == first || k == last, "node {k} begins at neither end");
        // The last leaf that has more in common with the first than both ends have.
        let whole = alike(tree, first, last);
        let split = (first..last).rev().find(|leaf| alike(tree, first, *leaf) > whole);
        assert_eq!(Some(node.split()), split, "node {k}");
        let [a, b] = node.children;
        1 + check(tree, a, first, node.split()) + check(tree, b, node.split() + 1, last)
    }

    #[test]
    fn ranges_and_splits_are_those_of_the_longest_common_prefixes() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(12);
        for n in [0u32, 1, 2, 3, 10, 64, 65, 257] {
            for side in [2i32, 9, 1000] {
                // On few places many codes are equal.
                let mut v = || f64::from(rng.random_range(0..side));
                let boxes: Vec<(u32, Aabb)> =
                    (0..n).map(|k| (k, Aabb::of([DVec3::new(v(), v(), v())]))).collect();
                let tree = Tree::over(&boxes);
                assert_eq!(tree.leaves.len(), n as usize);
                assert!(tree.leaves.windows(2).all(|pair| pair[0] < pair[1]));
                // Planted error to see this fail: `>=` in the search for the split.
                let met = if n > 1 { check(&tree, Child::Inner(0), 0, n - 1) } else { 0 };
                assert_eq!((met, tree.nodes.len()), (tree.nodes.len(), (n as usize).saturating_sub(1)));
            }
        }
    }
}
