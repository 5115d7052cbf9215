//! Contacts that may be solved at the same time.
//!
//! A heap is halved repeatedly where few contacts cross the cut. Each half has bodies and contacts of its own, so two
//! threads may solve them at once; the contacts that cross come after both. The cuts follow from the heap alone, not
//! from the number of cores, and so does every impulse: the result is the same on any machine.

use glam::DVec3;
use std::ops::Range;

/// Parts with fewer than twice as many points are not halved: handing one over would cost more than it
/// brings.
const FEW_POINTS: usize = 1024;

/// A cut that more than this share of all points crosses is not made.
const MOST_CROSSING: f64 = 0.4;

/// Two bodies that touch; those that cannot move have no say in where the cuts lie.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct ContactEdge {
    /// Which manifold.
    pub manifold: usize,
    /// The bodies of it that can move: one twice, or two.
    pub bodies: [usize; 2],
    pub points: usize,
}

/// A part of a heap: first what is in its halves, one after the other, then what crosses from one to the
/// other.
#[derive(Debug, PartialEq)]
pub(in crate::solver) struct IslandSplit {
    /// Its bodies, in the order of [`divide`].
    pub bodies: Range<usize>,
    /// Its contacts, in that order too, with those of its halves.
    pub edges: Range<usize>,
    /// Its batches of contacts, in the same order; empty before [`batches`] has made them.
    pub batches: Range<usize>,
    pub halves: Option<Box<[IslandSplit; 2]>>,
}

impl IslandSplit {
    /// How many parts there are that are not halved.
    pub fn leaves(&self) -> usize {
        self.halves.as_ref().map_or(1, |halves| halves.iter().map(IslandSplit::leaves).sum())
    }
}

/// Halves a heap. Gives the whole, its bodies (indices into `positions`) in their order and its contacts in
/// theirs. `bodies` and `edges` ascend, and within a part that is not halved they go on doing so.
pub(in crate::solver) fn divide(
    positions: &[DVec3],
    mut bodies: Vec<usize>,
    mut edges: Vec<ContactEdge>,
) -> (IslandSplit, Vec<usize>, Vec<ContactEdge>) {
    let mut scratch = Scratch { upper: vec![false; positions.len()], points: vec![0; positions.len()] };
    let whole = halve(positions, [0, 0], &mut bodies, &mut edges, &mut scratch);
    (whole, bodies, edges)
}

/// Number of batches that accept contacts at a time.
const OPEN: usize = 16;

/// Orders the contacts of all parts by batches: neighbours that share no body that moves, up to `most`. Gives how many
/// contacts each has.
pub(in crate::solver) fn batches(
    part: &mut IslandSplit,
    edges: &mut [ContactEdge],
    most: usize,
) -> Vec<usize> {
    let mut sizes = Vec::new();
    batch(part, edges, most, &mut sizes);
    sizes
}

fn batch(part: &mut IslandSplit, edges: &mut [ContactEdge], most: usize, sizes: &mut Vec<usize>) {
    let first = sizes.len();
    let mut own = part.edges.start;
    if let Some(halves) = &mut part.halves {
        halves.iter_mut().for_each(|half| batch(half, edges, most, sizes));
        own = halves[1].edges.end;
    }
    let own = &mut edges[own..part.edges.end];
    let mut made: Vec<Vec<ContactEdge>> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for edge in own.iter() {
        let is_free = |other: &ContactEdge| !other.bodies.iter().any(|k| edge.bodies.contains(k));
        match open.iter().position(|&k| made[k].iter().all(is_free)) {
            Some(at) => {
                let batch = &mut made[open[at]];
                batch.push(*edge);
                if batch.len() == most {
                    open.remove(at);
                }
            }
            None => {
                if open.len() == OPEN {
                    open.remove(0);
                }
                open.push(made.len());
                made.push(vec![*edge]);
            }
        }
    }
    sizes.extend(made.iter().map(Vec::len));
    own.iter_mut().zip(made.into_iter().flatten()).for_each(|(place, edge)| *place = edge);
    part.batches = first..sizes.len();
}

/// Orders the bodies and contacts of one part, of which the first are the `start`s of the whole's.
fn halve(
    positions: &[DVec3],
    start: [usize; 2],
    bodies: &mut [usize],
    edges: &mut [ContactEdge],
    scratch: &mut Scratch,
) -> IslandSplit {
    let ranges = [start[0]..start[0] + bodies.len(), start[1]..start[1] + edges.len()];
    let cut = cut(positions, bodies, edges, scratch);
    let [bodies_of, touches_of] = ranges;
    let halves = cut.map(|cut| {
        let upper = &mut scratch.upper;
        bodies.iter().for_each(|&k| upper[k] = cut.is_above(positions, k));
        bodies.sort_by_key(|&k| upper[k]);
        // Stable sorts: either half keeps its order.
        edges.sort_by_key(|edge| edge.side(upper));
        let middle = bodies.partition_point(|&k| !upper[k]);
        let ends = [0, 1].map(|side| edges.partition_point(|edge| edge.side(upper) <= side));
        let (low, high) = bodies.split_at_mut(middle);
        let (low_touches, rest) = edges.split_at_mut(ends[0]);
        let high_touches = &mut rest[..ends[1] - ends[0]];
        let second = [start[0] + middle, start[1] + ends[0]];
        Box::new([
            halve(positions, start, low, low_touches, scratch),
            halve(positions, second, high, high_touches, scratch),
        ])
    });
    IslandSplit { bodies: bodies_of, edges: touches_of, batches: 0..0, halves }
}

impl ContactEdge {
    /// 0: below the cut, 1: above it, 2: across.
    fn side(&self, upper: &[bool]) -> u8 {
        let [a, b] = self.bodies.map(|k| upper[k]);
        if a == b { u8::from(a) } else { 2 }
    }
}

/// A plane across an axis.
#[derive(Clone, Copy)]
struct Cut {
    axis: usize,
    /// The first body above it: where it is and which it is, for bodies in one place.
    at: (f64, usize),
}

impl Cut {
    fn is_above(&self, positions: &[DVec3], k: usize) -> bool {
        key(positions, self.axis, k) >= self.at
    }
}

fn key(positions: &[DVec3], axis: usize, k: usize) -> (f64, usize) {
    // Bodies with invalid numbers are frozen and are no part of this; any place would do for one.
    let at = positions[k][axis];
    (if at.is_finite() { at } else { 0.0 }, k)
}

/// Buffers of each part: by body, whether it is above the cut, and its number of points.
struct Scratch {
    upper: Vec<bool>,
    points: Vec<usize>,
}

/// Of the three cuts with equal numbers of points on either side the one with the fewest crossing contacts; `None` if
/// it does not pay.
fn cut(positions: &[DVec3], bodies: &[usize], edges: &[ContactEdge], scratch: &mut Scratch) -> Option<Cut> {
    let all: usize = edges.iter().map(|edge| edge.points).sum();
    if all < 2 * FEW_POINTS || bodies.len() < 2 {
        return None;
    }
    let Scratch { upper, points: points_of } = scratch;
    bodies.iter().for_each(|&k| points_of[k] = 0);
    for edge in edges {
        edge.bodies.iter().for_each(|&k| points_of[k] += edge.points);
    }
    let mut best: Option<(usize, Cut)> = None;
    for axis in 0..3 {
        let cut = Cut { axis, at: median(positions, axis, bodies, points_of) };
        bodies.iter().for_each(|&k| upper[k] = cut.is_above(positions, k));
        let mut points = [0; 3];
        for edge in edges {
            points[usize::from(edge.side(upper))] += edge.points;
        }
        let pays = points[2] as f64 <= MOST_CROSSING * all as f64 && points[0].min(points[1]) > 0;
        if pays && best.is_none_or(|(least, _)| points[2] < least) {
            best = Some((points[2], cut));
        }
    }
    best.map(|(_, cut)| cut)
}

/// Where the body is that has half of all points below it along an axis; each body has `points`, which both bodies of a
/// contact have.
fn median(positions: &[DVec3], axis: usize, bodies: &[usize], points: &[usize]) -> (f64, usize) {
    let mut keys: Vec<(f64, usize)> = bodies.iter().map(|&k| key(positions, axis, k)).collect();
    keys.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let half = bodies.iter().map(|&k| points[k]).sum::<usize>() / 2;
    let mut below = 0;
    let passed = |key: &&(f64, usize)| {
        below += points[key.1];
        below >= half
    };
    *keys.iter().find(passed).unwrap_or(&keys[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// Bodies at random in a box, those that are near each other touch at three points; every tenth touches a
    /// floor as well.
    fn heap(count: usize, rng: u64) -> (Vec<DVec3>, Vec<ContactEdge>) {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(rng);
        let positions: Vec<_> =
            (0..count).map(|_| DVec3::from([4.0, 1.0, 2.0].map(|w| rng.random_range(0.0..w)))).collect();
        let reach = 2.0 / (count as f64).cbrt();
        let mut edges = Vec::new();
        for a in 0..count {
            let near = (a + 1..count).filter(|&b| positions[a].distance(positions[b]) < reach);
            let floor = (a % 10 == 0).then_some(a);
            edges.extend(near.chain(floor).map(|b| ContactEdge { manifold: 0, bodies: [a, b], points: 3 }));
        }
        edges.iter_mut().enumerate().for_each(|(k, edge)| edge.manifold = k);
        (positions, edges)
    }

    /// Checks a part and all below it; gives how many leaves there are.
    fn check(part: &IslandSplit, bodies: &[usize], edges: &[ContactEdge]) -> usize {
        let inside = |k: usize, part: &IslandSplit| bodies[part.bodies.clone()].contains(&k);
        for edge in &edges[part.edges.clone()] {
            assert!(edge.bodies.iter().all(|&k| inside(k, part)), "{edge:?} has bodies elsewhere");
        }
        let Some(halves) = &part.halves else {
            assert!(bodies[part.bodies.clone()].is_sorted());
            assert!(edges[part.edges.clone()].is_sorted_by_key(|edge| edge.manifold));
            return 1;
        };
        let [low, high] = &**halves;
        assert_eq!(part.bodies, low.bodies.start..high.bodies.end);
        assert_eq!(low.bodies.end, high.bodies.start);
        assert_eq!(part.edges.start, low.edges.start);
        assert_eq!(low.edges.end, high.edges.start);
        for edge in &edges[high.edges.end..part.edges.end] {
            assert_ne!(inside(edge.bodies[0], low), inside(edge.bodies[1], low), "{edge:?} does not cross");
        }
        check(low, bodies, edges) + check(high, bodies, edges)
    }

    #[test]
    fn halves_share_no_body_and_nothing_is_lost() {
        for (count, rng) in [(1, 0), (40, 1), (600, 2), (1500, 3)] {
            let (positions, edges) = heap(count, rng);
            let (whole, bodies, ordered) = divide(&positions, (0..count).collect(), edges.clone());
            let leaves = check(&whole, &bodies, &ordered);
            let mut sorted = bodies.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..count).collect::<Vec<_>>());
            let mut manifolds: Vec<_> = ordered.iter().map(|edge| edge.manifold).collect();
            manifolds.sort_unstable();
            assert_eq!(manifolds, (0..edges.len()).collect::<Vec<_>>());
            let crossing = |part: &IslandSplit| match &part.halves {
                Some(halves) => part.edges.end - halves[1].edges.end,
                None => 0,
            };
            println!("{count} bodies, {} contacts: {leaves} leaves, {} cross", edges.len(), crossing(&whole));
            assert_eq!(leaves > 1, edges.len() * 3 >= 2 * FEW_POINTS);
        }
    }

    /// Whether no batch has a body twice, and how many contacts a batch has in the mean.
    fn are_apart(edges: &[ContactEdge], sizes: &[usize]) -> (bool, f64) {
        let mut rest = edges;
        let is_apart = |size: &usize| {
            let (own, later) = rest.split_at(*size);
            rest = later;
            let shares = |a: &ContactEdge, b: &ContactEdge| a.bodies.iter().any(|k| b.bodies.contains(k));
            !own.iter().enumerate().any(|(k, a)| own[k + 1..].iter().any(|b| shares(a, b)))
        };
        let apart = sizes.iter().map(is_apart).filter(|apart| !apart).count() == 0;
        (apart, edges.len() as f64 / sizes.len().max(1) as f64)
    }

    #[test]
    fn batches_share_no_body() {
        for (count, rng) in [(1, 0), (40, 1), (600, 2), (1500, 3)] {
            let (positions, edges) = heap(count, rng);
            let (mut whole, _, mut ordered) = divide(&positions, (0..count).collect(), edges);
            let before = ordered.clone();
            let sizes = batches(&mut whole, &mut ordered, 4);
            assert_eq!(whole.batches, 0..sizes.len());
            let (apart, mean) = are_apart(&ordered, &sizes);
            println!("{count} bodies, {} contacts in batches of {mean:.2}", ordered.len());
            assert!(apart && sizes.iter().all(|size| (1..=4).contains(size)));
            assert!(count < 600 || mean > 3.5, "{mean}");
            same_parts(&whole, [&before, &ordered], &sizes);
            // Planted: batches that begin one contact later.
            let mut wrong = ordered.clone();
            wrong.rotate_left(1);
            assert!(count < 40 || !are_apart(&wrong, &sizes).0);
        }
    }

    /// Every part has the contacts that it had, and batches for just these.
    fn same_parts(part: &IslandSplit, [before, after]: [&[ContactEdge]; 2], sizes: &[usize]) {
        let manifolds = |edges: &[ContactEdge]| {
            let mut all: Vec<usize> = edges[part.edges.clone()].iter().map(|edge| edge.manifold).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(manifolds(before), manifolds(after));
        let start: usize = sizes[..part.batches.start].iter().sum();
        let own: usize = sizes[part.batches.clone()].iter().sum();
        assert_eq!(start..start + own, part.edges);
        part.halves
            .iter()
            .flat_map(|halves| halves.iter())
            .for_each(|half| same_parts(half, [before, after], sizes));
    }

    #[test]
    fn bodies_in_one_place_are_told_apart() {
        let count = 2000;
        let pairs = (0..count - 1).map(|k| ContactEdge { manifold: k, bodies: [k, k + 1], points: 4 });
        let (whole, bodies, edges) = divide(&vec![DVec3::ONE; count], (0..count).collect(), pairs.collect());
        assert!(check(&whole, &bodies, &edges) >= 2);
    }

    #[test]
    fn what_hangs_together_everywhere_is_not_cut() {
        let (positions, _) = heap(80, 4);
        let pairs = (0..80).flat_map(|a| (a + 1..80).map(move |b| [a, b]));
        let edges = pairs.enumerate().map(|(k, bodies)| ContactEdge { manifold: k, bodies, points: 9 });
        let (whole, ..) = divide(&positions, (0..80).collect(), edges.collect());
        assert!(whole.halves.is_none());
    }
}
