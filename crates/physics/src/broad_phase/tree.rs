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

/// A subtree: an inner node, or a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Child {
    Inner(u32),
    Leaf(u32),
}

/// An inner node.
#[derive(Clone, Copy, Debug)]
struct Node {
    children: [Child; 2],
    /// The last leaf in it.
    last: u32,
}

/// Like [`pairs`](super::pairs).
///
/// # Errors
/// [`Crowded`] if there are more than [`MOST_PAIRS`].
pub fn pairs(
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
pub fn meeting(
    all: &[(u32, Aabb)],
    near: impl Fn(&(u32, Aabb), &(u32, Aabb)) -> bool + Sync,
) -> Result<Vec<(u32, u32)>, Crowded> {
    let leaves = in_order(all);
    let Some(nodes) = (leaves.len() > 1).then(|| radix_tree(&leaves)) else { return Ok(Vec::new()) };
    let leaves: Vec<(u32, Aabb)> = leaves.into_iter().map(|(_, k)| all[k as usize]).collect();
    let bounds = gathered(&nodes, &leaves);
    let count = AtomicUsize::new(0);
    let look = |(k, leaf): (usize, &(u32, Aabb))| {
        let (i, own) = leaf;
        let (mut found, mut open) = (Vec::new(), vec![Child::Inner(0)]);
        while let Some(child) = open.pop() {
            match child {
                Child::Leaf(other) if other as usize > k => {
                    let (j, there) = &leaves[other as usize];
                    if own.meets(there) && near(leaf, &leaves[other as usize]) {
                        if count.fetch_add(1, Ordering::Relaxed) >= MOST_PAIRS {
                            return Err(Crowded);
                        }
                        found.push((*i.min(j), *i.max(j)));
                    }
                }
                Child::Inner(node)
                    if nodes[node as usize].last as usize > k && own.meets(&bounds[node as usize]) =>
                {
                    open.extend(nodes[node as usize].children);
                }
                _ => {}
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
        Node { children: [child(at, first == at), child(at + 1, last == at + 1)], last: last as u32 }
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
