//! The neighbours of a site, nearest first (Chlubna sec. 4).
//!
//! In: sites, of which no two are equal; one of them; how far its cell still reaches. Out: one neighbour after the
//! other, in ascending order of (squared distance, index), until the next one is out of reach.
//!
//! Two ways, which give the same neighbours: a linear scan over all sites, and a tree of spheres. A neighbour is one
//! word, the squared distance in the upper 34 bits and the index in the lower 30, so that words compare as neighbours
//! should. Both ways find neighbours in batches, and sort only those that somebody asks for: a cell in the middle of
//! others needs some fifty, whatever the number of sites.

use super::{complex::Point, sphere_tree::SphereTree};

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
