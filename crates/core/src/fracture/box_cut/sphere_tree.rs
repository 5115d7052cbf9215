//! A tree of spheres over sites, which finds the neighbours of a point (Chlubna sec. 4, fig. 7).
//!
//! In: sites, of which no two are equal. Out: for a point, the next few sites in order of (squared distance, index).
//!
//! A node has two sites: the initial one, which its parent had before, and the inserted one. A site belongs to the side
//! of that site of the node which is nearer to it (the initial one where both are as near), and goes down until it is
//! inserted itself. Around its initial site a node has a sphere that holds all that lies below.
//!
//! All sites go down in parallel, one level a round. Of those that arrive at one side of a node, one is inserted into a
//! new child. The paper takes the one of minimal number or any. Here it is the one of minimal *hash* of the number: the
//! tree is then the same whatever the order in which threads arrive, and sites that come sorted do not make a list
//! instead of a tree.
//!
//! The neighbours of a site, nearest first (Chlubna sec. 4).
//!
//! In: sites, of which no two are equal; one of them; how far its cell still reaches. Out: one neighbour after the
//! other, in ascending order of (squared distance, index), until the next one is out of reach.
//!
//! Two ways, which give the same neighbours: a linear scan over all sites, and a tree of spheres. A neighbour is one
//! word, the squared distance in the upper 34 bits and the index in the lower 30, so that words compare as neighbours
//! should. Both ways find neighbours in batches, and sort only those that somebody asks for: a cell in the middle of
//! others needs some fifty, whatever the number of sites.

use std::{
    collections::BinaryHeap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use rayon::prelude::*;

use super::{cell::distinct, complex::Point};

/// No child, and nobody who arrived.
const NONE: u32 = u32::MAX;

struct Node {
    initial: Point,
    inserted: Point,
    inserted_site: u32,
    /// Of the initial and of the inserted site.
    children: [u32; 2],
    /// From the initial site to the farthest one below, rounded up.
    radius: f64,
    /// One over twice the distance between the two sites.
    per_apart: f64,
}

/// See the file.
pub(super) struct SphereTree {
    nodes: Vec<Node>,
    /// The root's initial site, which no node has inserted.
    first: u32,
}

/// A node of the tree of spheres, to be read and drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SphereNode {
    /// Indices of the initial site, which is the sphere's centre, and of the inserted site.
    pub sites: [u32; 2],
    /// Radius of the sphere: from the initial site to the farthest site at the node or below it, units, rounded up.
    pub radius: f64,
    /// Nodes over the sites below that are nearer to the initial site (or as near to both), and over the others; none
    /// where there are no such sites.
    pub children: [Option<u32>; 2],
    /// Level of the node, from 0 at the root. All nodes of a level insert their sites in one round.
    pub level: u32,
}

/// The nodes of the tree that [`NearestBy::SphereTree`] searches, parents first, in the order in which their sites are
/// inserted. The root has the first two sites, every other node inserts one; of equal sites only the first takes part.
/// No nodes where fewer than two sites differ. Sites must lie within [`REACH`](super::complex::REACH).
#[must_use]
pub fn sphere_nodes(sites: &[Point]) -> Vec<SphereNode> {
    let Some(SphereTree { nodes, first }) = SphereTree::new(sites, &distinct(sites)) else {
        return Vec::new();
    };
    let mut read: Vec<SphereNode> = nodes
        .iter()
        .map(|node| SphereNode {
            sites: [first, node.inserted_site],
            radius: node.radius,
            children: node.children.map(|child| (child != NONE).then_some(child)),
            level: 0,
        })
        .collect();
    for n in 0..read.len() {
        let SphereNode { sites, children, level, .. } = read[n];
        for (child, initial) in children.into_iter().zip(sites) {
            if let Some(child) = child {
                let child = &mut read[child as usize];
                (child.sites[0], child.level) = (initial, level + 1);
            }
        }
    }
    read
}

/// What arrives at the nodes of one level, from all threads.
struct Arrivals {
    /// For either side, the smallest word (hash, place in the list of sites) of those who arrived; `u64::MAX`: nobody.
    sides: [AtomicU64; 2],
    /// The largest squared distance from the initial site.
    farthest: AtomicU64,
}

impl SphereTree {
    /// Of the sites with the indices `distinct`; nothing where these are fewer than two.
    pub fn new(sites: &[Point], distinct: &[u32]) -> Option<Self> {
        let mut by_hash: Vec<u64> =
            distinct.par_iter().map(|s| u64::from(hash(*s)) << 32 | u64::from(*s)).collect();
        by_hash.par_sort_unstable();
        let [first, second, rest @ ..] = by_hash.as_slice() else { return None };
        let (first, second) = (*first as u32, *second as u32);
        let node = |initial: Point, inserted: u32| Node {
            initial,
            inserted: sites[inserted as usize],
            inserted_site: inserted,
            children: [NONE; 2],
            radius: 0.0,
            per_apart: 0.5 / (between(initial, sites[inserted as usize]) as f64).sqrt(),
        };
        let mut nodes = vec![node(sites[first as usize], second)];
        // The paper's path buffer: who still goes down, and at which node he is.
        let mut on_the_way: Vec<(u32, u32)> = rest.iter().map(|word| (*word as u32, 0)).collect();
        let mut level = 0..1;
        while !level.is_empty() {
            let arrivals: Vec<Arrivals> = level.clone().map(|_| Arrivals::new()).collect();
            let here = &nodes[level.clone()];
            let sides: Vec<u8> = on_the_way
                .par_iter()
                .with_min_len(1024)
                .map(|&(site, at)| {
                    let at = at as usize - level.start;
                    arrivals[at].add(&here[at], site, sites[site as usize])
                })
                .collect();
            let next = nodes.len();
            for (n, arrived) in level.clone().zip(&arrivals) {
                let own = between(nodes[n].initial, nodes[n].inserted);
                nodes[n].radius = rounded_up(own.max(arrived.farthest.load(Relaxed)));
                for side in 0..2 {
                    let word = arrived.sides[side].load(Relaxed);
                    if word != u64::MAX {
                        nodes[n].children[side] = nodes.len() as u32;
                        let initial = if side == 0 { nodes[n].initial } else { nodes[n].inserted };
                        nodes.push(node(initial, word as u32));
                    }
                }
            }
            on_the_way = on_the_way
                .into_par_iter()
                .zip(sides)
                .with_min_len(1024)
                .map(|((site, at), side)| (site, nodes[at as usize].children[usize::from(side)]))
                .filter(|(site, at)| nodes[*at as usize].inserted_site != *site)
                .collect();
            level = next..nodes.len();
        }
        Some(Self { nodes, first })
    }

    /// Writes to `found` the first `most` words after `after` and up to `farthest`, ascending, that the sites have as
    /// neighbours of `point`.
    ///
    /// The search ball starts with `farthest` and shrinks to the last of `most` found ones; within the sphere of
    /// `after` nothing is looked for. Where the paper searches once for every neighbour, this finds a batch at once.
    pub fn search(
        &self,
        point: Point,
        after: u64,
        farthest: u64,
        most: usize,
        stack: &mut Vec<(f64, u32, u64)>,
        found: &mut Vec<u64>,
    ) {
        found.clear();
        stack.clear();
        let mut ball =
            Ball { heap: BinaryHeap::from(std::mem::take(found)), most, after, last: farthest, radius: 0.0 };
        ball.radius = outer(farthest);
        let inner = (distance_squared(after) as f64).sqrt() * (1.0 - SLACK);
        let root = between(point, self.nodes[0].initial);
        ball.meet(key(root, self.first));
        stack.push((0.0, 0, root));
        while let Some((nearest, n, to_initial)) = stack.pop() {
            if nearest > ball.radius {
                continue;
            }
            let node = &self.nodes[n as usize];
            let to_inserted = between(point, node.inserted);
            ball.meet(key(to_inserted, node.inserted_site));
            // How far the plane between the two sites is: nothing of the other side is nearer.
            let to_plane = (to_initial as f64 - to_inserted as f64) * node.per_apart;
            let mut sides =
                [(to_initial, node.children[0], to_plane), (to_inserted, node.children[1], -to_plane)];
            if to_plane < 0.0 {
                sides.swap(0, 1);
            }
            // The nearer side last, so that it is looked at first.
            for (to, child, to_plane) in sides {
                if child != NONE {
                    let (distance, radius) = ((to as f64).sqrt(), self.nodes[child as usize].radius);
                    let nearest = (distance - radius).max(to_plane).max(nearest) * (1.0 - SLACK);
                    if nearest <= ball.radius && distance + radius >= inner {
                        stack.push((nearest, child, to));
                    }
                }
            }
        }
        *found = ball.heap.into_sorted_vec();
    }
}

/// The ball that shrinks while sites are found in it.
struct Ball {
    /// The nearest that were found, the farthest of them on top.
    heap: BinaryHeap<u64>,
    most: usize,
    /// Words must be above this one and not above that one.
    after: u64,
    last: u64,
    /// Nothing farther away has such a word.
    radius: f64,
}

impl Ball {
    fn meet(&mut self, word: u64) {
        if word <= self.after || word > self.last {
            return;
        }
        if self.heap.len() < self.most {
            self.heap.push(word);
        } else if let Some(mut farthest) = self.heap.peek_mut() {
            *farthest = word;
        }
        if let Some(farthest) = self.heap.peek().filter(|_| self.heap.len() == self.most) {
            self.last = farthest - 1;
            self.radius = outer(self.last);
        }
    }
}

/// Roots and sums of distances are off by a few 2^-53 of the largest of them, all below 2^18; this is more.
const SLACK: f64 = 1e-9;

/// The radius of a ball that holds all sites with words up to `word`.
fn outer(word: u64) -> f64 {
    rounded_up(distance_squared(word))
}

fn rounded_up(squared: u64) -> f64 {
    (squared as f64).sqrt() * (1.0 + SLACK) + SLACK
}

/// A permutation of the 32-bit numbers without a pattern that a grid of sites could have.
fn hash(index: u32) -> u32 {
    let mut h = index.wrapping_add(0x9e37_79b9);
    h = (h ^ (h >> 16)).wrapping_mul(0x21f0_aaad);
    h = (h ^ (h >> 15)).wrapping_mul(0x735a_2d97);
    h ^ (h >> 15)
}

impl Arrivals {
    fn new() -> Self {
        Self { sides: [AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX)], farthest: AtomicU64::new(0) }
    }

    /// `site` arrives at `node`; says at which side. Minima and maxima are the same in whatever order they are taken.
    fn add(&self, node: &Node, site: u32, at: Point) -> u8 {
        let to_initial = between(at, node.initial);
        let side = u8::from(between(at, node.inserted) < to_initial);
        let word = u64::from(hash(site)) << 32 | u64::from(site);
        self.sides[usize::from(side)].fetch_min(word, Relaxed);
        self.farthest.fetch_max(to_initial, Relaxed);
        side
    }
}

/// How the next neighbour of a site is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NearestBy {
    /// All sites are looked at for every cell: best for few.
    Scan,
    /// A tree of spheres over the sites.
    SphereTree,
}

impl NearestBy {
    /// From about this many sites on the tree was faster, on two threads: at 1,500 the scan still won, at 3,000 the
    /// tree did (`kintsugi bench --only neighbours`).
    pub const TREE_FROM: usize = 2000;

    /// The one that was faster for this many sites.
    #[must_use]
    pub fn for_count(count: usize) -> Self {
        if count < Self::TREE_FROM { Self::Scan } else { Self::SphereTree }
    }
}

/// Bits of an index in the word of a neighbour.
const INDEX_BITS: u32 = 30;
/// More sites than this have no words.
pub(super) const MOST_SITES: usize = 1 << INDEX_BITS;
/// No two sites are farther apart.
const MOST_DISTANCE_SQUARED: u64 = (1 << (64 - INDEX_BITS)) - 1;

/// The word of a neighbour; see the file.
pub(super) fn key(distance_squared: u64, site: u32) -> u64 {
    distance_squared << INDEX_BITS | u64::from(site)
}

/// The squared distance of a word.
pub(super) fn distance_squared(key: u64) -> u64 {
    key >> INDEX_BITS
}

/// The squared distance between two points, in units.
pub(super) fn between(a: Point, b: Point) -> u64 {
    (0..3).map(|k| u64::from(a[k].abs_diff(b[k]))).map(|d| d * d).sum()
}

/// All sites, ready to be asked.
pub(super) struct Finder<'a> {
    sites: &'a [Point],
    /// Indices of the sites that take part: of equal sites the first.
    distinct: &'a [u32],
    tree: Option<SphereTree>,
}

impl<'a> Finder<'a> {
    pub fn new(by: NearestBy, sites: &'a [Point], distinct: &'a [u32]) -> Self {
        let tree = match by {
            NearestBy::Scan => None,
            NearestBy::SphereTree => SphereTree::new(sites, distinct),
        };
        Self { sites, distinct, tree }
    }
}

/// The neighbours of one site after the other; keeps its memory from one to the next.
#[derive(Default)]
pub(super) struct Neighbours {
    site: u32,
    /// Scan: words of all others, of which the first `sorted` are the nearest, in order. Tree: the last batch.
    keys: Vec<u64>,
    sorted: usize,
    given: usize,
    /// Tree: in all batches so far.
    searched: usize,
    /// The last word that was given out.
    last: Option<u64>,
    stack: Vec<(f64, u32, u64)>,
}

/// Neighbours that a scan sorts first; then each time as many as all before.
const FIRST_BATCH: usize = 32;
/// Neighbours of the tree's first search; then each time as many as all before. With 48 every time, 3,000 sites in a
/// plane, whose cells reach from wall to wall and try all of them, took 4.5 s instead of 1.4. On 10,000 random sites
/// 32, 48 and 64 took the same time within a twentieth, 24 and 80 a tenth more.
const TREE_BATCH: usize = 48;

impl Neighbours {
    /// Starts with the neighbours of `site`.
    pub fn start(&mut self, finder: &Finder, site: u32) {
        self.site = site;
        self.keys.clear();
        (self.sorted, self.given, self.searched, self.last) = (0, 0, 0, None);
        if finder.tree.is_none() {
            let at = finder.sites[site as usize];
            let others = finder.distinct.iter().filter(|s| **s != site);
            self.keys.extend(others.map(|s| key(between(at, finder.sites[*s as usize]), *s)));
        }
    }

    /// The next neighbour as (squared distance, site), unless it is farther than `reach_squared`.
    pub fn next(&mut self, finder: &Finder, reach_squared: f64) -> Option<(u64, u32)> {
        if self.given == self.sorted {
            match &finder.tree {
                None => self.sort_more(),
                Some(tree) => {
                    self.given = 0;
                    let at = finder.sites[self.site as usize];
                    let reach_whole = reach_squared.min(MOST_DISTANCE_SQUARED as f64) as u64;
                    let farthest = key(reach_whole, MOST_SITES as u32 - 1);
                    let after = self.last.unwrap_or(key(0, self.site));
                    let most = TREE_BATCH.max(self.searched);
                    tree.search(at, after, farthest, most, &mut self.stack, &mut self.keys);
                    self.sorted = self.keys.len();
                    self.searched += self.sorted;
                }
            }
        }
        let word = *self.keys[..self.sorted].get(self.given)?;
        if distance_squared(word) as f64 > reach_squared {
            return None;
        }
        self.given += 1;
        self.last = Some(word);
        Some((distance_squared(word), (word & (MOST_SITES as u64 - 1)) as u32))
    }

    fn sort_more(&mut self) {
        let rest = &mut self.keys[self.sorted..];
        let more = self.sorted.max(FIRST_BATCH);
        let batch = if more < rest.len() { rest.select_nth_unstable(more).0 } else { rest };
        batch.sort_unstable();
        self.sorted += batch.len();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Random, shapes};
    use super::*;

    /// Everything below `n` must lie in its sphere; says how many there are and how deep it goes.
    fn check(tree: &SphereTree) -> (usize, usize) {
        let mut met = 0;
        let mut deepest = 0;
        let mut ways: Vec<Vec<u32>> = vec![vec![0]];
        while let Some(way) = ways.pop() {
            met += 1;
            deepest = deepest.max(way.len());
            let node = &tree.nodes[*way.last().unwrap() as usize];
            for n in &way {
                let above = &tree.nodes[*n as usize];
                let apart = (between(above.initial, node.inserted) as f64).sqrt();
                assert!(apart <= above.radius, "{apart} from the middle of a sphere of {}", above.radius);
            }
            for (side, initial) in [(0, node.initial), (1, node.inserted)] {
                if node.children[side] != NONE {
                    let child = &tree.nodes[node.children[side] as usize];
                    assert_eq!(child.initial, initial);
                    let nearer =
                        between(child.inserted, node.inserted) < between(child.inserted, node.initial);
                    assert_eq!(nearer, side == 1);
                    ways.push([way.as_slice(), &[node.children[side]]].concat());
                }
            }
        }
        (met, deepest)
    }

    #[test]
    fn spheres_hold_what_is_below_and_every_site_is_there_once() {
        for (name, sites) in shapes() {
            let distinct = super::super::cell::distinct(&sites);
            let Some(tree) = SphereTree::new(&sites, &distinct) else {
                assert!(distinct.len() < 2, "{name}");
                continue;
            };
            let (met, deepest) = check(&tree);
            assert_eq!(met + 1, distinct.len(), "{name}");
            let mut inserted: Vec<u32> = tree.nodes.iter().map(|n| n.inserted_site).collect();
            inserted.push(tree.first);
            inserted.sort_unstable();
            assert_eq!(inserted, distinct, "{name}");
            assert!(deepest <= 12 + 6 * distinct.len().ilog2() as usize, "{name}: {deepest} levels");
        }
    }

    /// The tree by plain recursion: the sites of a node with the squared distance to the farthest one below, and its
    /// level; then all below it.
    fn plainly(
        sites: &[Point],
        initial: u32,
        below: &[u32],
        level: u32,
        found: &mut Vec<([u32; 2], u64, u32)>,
    ) {
        let Some(inserted) = below.iter().copied().min_by_key(|site| hash(*site)) else { return };
        let apart = |a: u32, b: u32| between(sites[a as usize], sites[b as usize]);
        let farthest = below.iter().map(|site| apart(initial, *site)).max().unwrap();
        found.push(([initial, inserted], farthest, level));
        let rest = below.iter().copied().filter(|site| *site != inserted);
        let (others, near): (Vec<u32>, Vec<u32>) =
            rest.partition(|site| apart(inserted, *site) < apart(initial, *site));
        plainly(sites, initial, &near, level + 1, found);
        plainly(sites, inserted, &others, level + 1, found);
    }

    /// Planted error to see this fail: leave the initial site of children as it is.
    #[test]
    fn the_nodes_that_are_read_are_those_of_a_plain_recursion() {
        for (name, sites) in shapes() {
            let mut all = distinct(&sites);
            all.sort_by_key(|site| hash(*site));
            let mut wanted = Vec::new();
            if let Some((first, below)) = all.split_first() {
                plainly(&sites, *first, below, 0, &mut wanted);
            }
            let nodes = sphere_nodes(&sites);
            assert_eq!(nodes.len(), wanted.len(), "{name}");
            let of: std::collections::BTreeMap<[u32; 2], &SphereNode> =
                nodes.iter().map(|node| (node.sites, node)).collect();
            for (pair, farthest, level) in wanted {
                let node = of.get(&pair).unwrap_or_else(|| panic!("{name}: no node has the sites {pair:?}"));
                let (far, at) = ((farthest as f64).sqrt(), node.level);
                assert!(
                    (far..=far + 1e-3).contains(&node.radius) && at == level,
                    "{name}: {node:?} {far} {level}"
                );
            }
            for (n, node) in nodes.iter().enumerate() {
                for (child, initial) in node.children.into_iter().zip(node.sites) {
                    let child = child.map(|child| child as usize);
                    assert!(
                        child.is_none_or(|child| child > n && nodes[child].sites[0] == initial),
                        "{name}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_tree_does_not_depend_on_threads_or_on_the_order_of_the_list() {
        let mut random = Random::new(9);
        let sites: Vec<Point> = (0..5000).map(|_| random.point([0; 3], [9999; 3])).collect();
        let forward = super::super::cell::distinct(&sites);
        let backward: Vec<u32> = forward.iter().rev().copied().collect();
        let shape = |threads: usize, list: &[u32]| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let tree = pool.install(|| SphereTree::new(&sites, list)).unwrap();
            tree.nodes.iter().map(|n| (n.inserted_site, n.children, n.radius.to_bits())).collect::<Vec<_>>()
        };
        assert_eq!(shape(1, &forward), shape(2, &forward));
        assert_eq!(shape(1, &forward), shape(2, &backward));
    }
}

#[cfg(test)]
mod nearest_tests {
    use super::super::testing::{Random, shapes};
    use super::*;

    fn all(finder: &Finder, site: u32, reach_squared: f64) -> Vec<(u64, u32)> {
        let mut neighbours = Neighbours::default();
        neighbours.start(finder, site);
        std::iter::from_fn(|| neighbours.next(finder, reach_squared)).collect()
    }

    #[test]
    fn both_ways_give_what_sorting_gives() {
        for (name, sites) in shapes() {
            let distinct = super::super::cell::distinct(&sites);
            let scan = Finder::new(NearestBy::Scan, &sites, &distinct);
            let tree = Finder::new(NearestBy::SphereTree, &sites, &distinct);
            for &site in distinct.iter().step_by(1 + distinct.len() / 20) {
                for reach in [0.0, 1.0, 5000.0, 1e6, 1e7, f64::from(u32::MAX)] {
                    let at = sites[site as usize];
                    let mut wanted: Vec<(u64, u32)> = distinct
                        .iter()
                        .filter(|s| **s != site)
                        .map(|s| (between(at, sites[*s as usize]), *s))
                        .filter(|(d, _)| *d as f64 <= reach)
                        .collect();
                    wanted.sort_unstable();
                    assert_eq!(all(&scan, site, reach), wanted, "{name}: scan of {site} within {reach}");
                    assert_eq!(all(&tree, site, reach), wanted, "{name}: tree of {site} within {reach}");
                }
            }
        }
    }

    #[test]
    fn a_reach_that_shrinks_ends_it() {
        let mut random = Random::new(5);
        let sites: Vec<Point> = (0..500).map(|_| random.point([0; 3], [9999; 3])).collect();
        let distinct = super::super::cell::distinct(&sites);
        for by in [NearestBy::Scan, NearestBy::SphereTree] {
            let finder = Finder::new(by, &sites, &distinct);
            let mut neighbours = Neighbours::default();
            neighbours.start(&finder, 7);
            let far = all(&finder, 7, 1e12)[40].0 as f64;
            assert!((0..20).all(|_| neighbours.next(&finder, 1e12).is_some()));
            assert_eq!(std::iter::from_fn(|| neighbours.next(&finder, far)).count(), 21);
        }
    }
}
