//! A hierarchy of boxes over points with, for every box, the point farthest from all points chosen so far.
//!
//! In: points. Out: the two that are farthest apart, and, one choice after the other, the point that is farthest from
//! its nearest chosen one. Both are exact: boxes only exclude points. Distances are squared, and computed by one
//! formula throughout, so that equal ones are equal to the last bit.
//!
//! Maximum distance ordering (Glondu et al. 2012, sec. 5.1): the two points that are farthest apart, then always the
//! point that is farthest from its nearest one in the list.
//!
//! In: points. Out: the list, and for every point of it its parent in the sphere tree. Level l of the tree has the
//! first 2^l points of the list, and the parent of a point is the closest one in the level above. The paper spends
//! O(n^2) on it; with a [`Hierarchy`] a choice only tests the points that it may be nearer to.

use glam::DVec3;

/// Points of a box that is not split any more.
const LEAF_POINTS: usize = 8;

/// A range of the points, and the box round them.
#[derive(Clone, Copy, Debug)]
struct Node {
    low: DVec3,
    high: DVec3,
    first: u32,
    end: u32,
    /// The second child; the first follows its parent. 0: a leaf.
    second: u32,
    /// Its farthest point: squared distance to the nearest chosen point (negative: all are chosen), and
    /// index.
    farthest: (f64, u32),
}

/// The hierarchy. Made for one ordering.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    nodes: Vec<Node>,
    /// Indices of the points, so that those of a box are neighbours.
    items: Vec<u32>,
    positions: Vec<DVec3>,
    /// Per item: squared distance to its nearest chosen point, negative once it is chosen itself; and the index of that
    /// point.
    nearest: Vec<(f64, u32)>,
}

impl Hierarchy {
    /// The hierarchy of these points, none of them chosen yet.
    #[must_use]
    pub fn new(points: &[DVec3]) -> Self {
        let mut items: Vec<u32> = (0..points.len() as u32).collect();
        let mut nodes = Vec::with_capacity(points.len() / 2 + 1);
        if !items.is_empty() {
            split(points, &mut items, 0, &mut nodes);
        }
        let positions = items.iter().map(|i| points[*i as usize]).collect();
        let nearest = vec![(f64::INFINITY, 0); points.len()];
        Self { nodes, items, positions, nearest }
    }

    /// The point that is farthest from its nearest chosen one, and that distance squared; ties go to the smaller index.
    /// `None` if all are chosen.
    #[must_use]
    pub fn farthest(&self) -> Option<(u32, f64)> {
        let (distance, index) = self.nodes.first()?.farthest;
        (distance >= 0.0).then_some((index, distance))
    }

    /// Chooses `point`, which lies at `at`.
    pub fn choose(&mut self, point: u32, at: DVec3) {
        if !self.nodes.is_empty() {
            self.choose_below(0, point, at);
        }
    }

    fn choose_below(&mut self, node: usize, point: u32, at: DVec3) {
        let Node { low, high, first, end, second, farthest } = self.nodes[node];
        // Boxes whose points come no nearer are skipped, except that of the chosen point, at distance 0.
        let distance = at.clamp(low, high).distance_squared(at);
        if distance > farthest.0 || (distance == farthest.0 && distance > 0.0) {
            return;
        }
        let mut best = (-1.0, u32::MAX);
        if second == 0 {
            for k in first as usize..end as usize {
                let item = self.items[k];
                if item == point {
                    self.nearest[k].0 = -1.0;
                }
                let distance = self.positions[k].distance_squared(at);
                if distance < self.nearest[k].0 {
                    self.nearest[k] = (distance, point);
                }
                best = farther(best, (self.nearest[k].0, item));
            }
        } else {
            self.choose_below(node + 1, point, at);
            self.choose_below(second as usize, point, at);
            best = farther(self.nodes[node + 1].farthest, self.nodes[second as usize].farthest);
        }
        self.nodes[node].farthest = best;
    }

    /// By point: its nearest chosen one; of equally near ones the one that was chosen first.
    pub fn copy_nearest_into(&self, out: &mut [u32]) {
        for (item, (_, nearest)) in self.items.iter().zip(&self.nearest) {
            out[*item as usize] = *nearest;
        }
    }

    /// The two points that are farthest apart, the smaller index first; of equal pairs the first in order.
    #[must_use]
    pub fn farthest_pair(&self) -> Option<(u32, u32)> {
        if self.items.len() < 2 {
            return None;
        }
        let mut best = (-1.0, u32::MAX, u32::MAX);
        self.pair_between(0, 0, &mut best);
        Some((best.1, best.2))
    }

    /// Looks for a better pair with one point in each of two boxes.
    fn pair_between(&self, a: usize, b: usize, best: &mut (f64, u32, u32)) {
        let (one, other) = (&self.nodes[a], &self.nodes[b]);
        if widest(one, other) < best.0 {
            return;
        }
        match (one.second, other.second) {
            (0, 0) => self.pair_of_leaves(one, other, best),
            (0, second) => self.pairs(&[[a, b + 1], [a, second as usize]], best),
            (second, 0) => self.pairs(&[[a + 1, b], [second as usize, b]], best),
            (second, other_second) => {
                let (s, t) = (second as usize, other_second as usize);
                // A box with itself: the pair of its halves is covered once.
                let four = [[a + 1, t], [a + 1, b + 1], [s, t], [s, b + 1]];
                self.pairs(if a == b { &four[..3] } else { &four[..] }, best);
            }
        }
    }

    fn pairs(&self, pairs: &[[usize; 2]], best: &mut (f64, u32, u32)) {
        let mut order: [(f64, [usize; 2]); 4] = [(-1.0, [0; 2]); 4];
        for (slot, [a, b]) in order.iter_mut().zip(pairs) {
            *slot = (widest(&self.nodes[*a], &self.nodes[*b]), [*a, *b]);
        }
        let order = &mut order[..pairs.len()];
        // The widest first: what it finds spares the others.
        order.sort_by(|one, other| other.0.total_cmp(&one.0));
        order.iter().for_each(|(_, [a, b])| self.pair_between(*a, *b, best));
    }

    fn pair_of_leaves(&self, one: &Node, other: &Node, best: &mut (f64, u32, u32)) {
        for i in one.first as usize..one.end as usize {
            for j in other.first as usize..other.end as usize {
                let (a, b) = (self.items[i].min(self.items[j]), self.items[i].max(self.items[j]));
                let distance = self.positions[i].distance_squared(self.positions[j]);
                if a != b && (distance > best.0 || (distance == best.0 && (a, b) < (best.1, best.2))) {
                    *best = (distance, a, b);
                }
            }
        }
    }
}

/// The farther of two; of equally far ones the smaller index.
fn farther(a: (f64, u32), b: (f64, u32)) -> (f64, u32) {
    if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a }
}

/// No point of one box is farther from a point of the other: squared.
fn widest(a: &Node, b: &Node) -> f64 {
    (a.high - b.low).max(b.high - a.low).length_squared()
}

/// Appends the box of `items`, which begin at `first`, and all boxes below it.
fn split(points: &[DVec3], items: &mut [u32], first: usize, nodes: &mut Vec<Node>) {
    let at = |i: &u32| points[*i as usize];
    let low = items.iter().map(at).fold(DVec3::INFINITY, DVec3::min);
    let high = items.iter().map(at).fold(DVec3::NEG_INFINITY, DVec3::max);
    let (begin, end) = (first as u32, (first + items.len()) as u32);
    let farthest = (f64::INFINITY, items.iter().copied().min().unwrap_or(u32::MAX));
    let node = nodes.len();
    nodes.push(Node { low, high, first: begin, end, second: 0, farthest });
    if items.len() <= LEAF_POINTS {
        return;
    }
    let axis = (high - low).max_position();
    let middle = items.len() / 2;
    items.select_nth_unstable_by(middle, |a, b| at(a)[axis].total_cmp(&at(b)[axis]).then(a.cmp(b)));
    let (lower, upper) = items.split_at_mut(middle);
    split(points, lower, first, nodes);
    nodes[node].second = nodes.len() as u32;
    split(points, upper, first + middle, nodes);
}

/// A point's place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// Index of the point.
    pub point: u32,
    /// Rank of its parent in the list; `None` for the first.
    pub parent: Option<u32>,
}

/// The level of the tree at which the point of a rank comes in.
#[must_use]
pub fn level_of_rank(rank: usize) -> u16 {
    (usize::BITS - rank.leading_zeros()) as u16
}

/// The ordered list. Ties go to the smaller index, of parents to the smaller rank.
#[must_use]
pub fn maximum_distance_order(points: &[DVec3]) -> Vec<Ranked> {
    let mut hierarchy = Hierarchy::new(points);
    let Some((first, _)) = hierarchy.farthest_pair().or((points.len() == 1).then_some((0, 0))) else {
        return Vec::new();
    };
    let mut out: Vec<Ranked> = Vec::with_capacity(points.len());
    let mut rank_of = vec![0; points.len()];
    let mut nearest = vec![first; points.len()];
    let mut next = first;
    loop {
        let rank = out.len();
        rank_of[next as usize] = rank as u32;
        // A level is complete: what comes in below it has its parent there.
        if rank.is_power_of_two() && rank > 1 {
            hierarchy.copy_nearest_into(&mut nearest);
        }
        let parent = (rank > 0).then(|| rank_of[nearest[next as usize] as usize]);
        out.push(Ranked { point: next, parent });
        hierarchy.choose(next, points[next as usize]);
        match hierarchy.farthest() {
            Some((point, _)) => next = point,
            None => return out,
        }
    }
}
