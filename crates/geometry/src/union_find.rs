//! Disjoint sets of numbers.
//!
//! In: pairs that belong to one set. Out: the root of each number's set.

/// Disjoint sets of the numbers from zero up.
#[derive(Clone, Debug)]
pub struct UnionFind(Vec<u32>);

impl UnionFind {
    /// Each of `count` numbers in a set of its own.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    /// Number of elements.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The root of the set of `k`; halves the path on the way.
    pub fn find(&mut self, mut k: u32) -> u32 {
        while self.0[k as usize] != k {
            self.0[k as usize] = self.0[self.0[k as usize] as usize];
            k = self.0[k as usize];
        }
        k
    }

    /// Joins the sets of two numbers, and returns whether they were two. The lower root becomes the root of both, so
    /// that a root is the lowest number of its set for any order of joins.
    pub fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// Puts the set of the root `root` below another root, which stays the root even if it is higher.
    pub fn put_below(&mut self, root: u32, other: u32) {
        self.0[root as usize] = other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Per number the lowest of all that `pairs` lead to, by spreading until nothing changes.
    fn spread(count: usize, pairs: &[(u32, u32)]) -> Vec<u32> {
        let mut lowest: Vec<u32> = (0..count as u32).collect();
        loop {
            let before = lowest.clone();
            for &(a, b) in pairs {
                let low = lowest[a as usize].min(lowest[b as usize]);
                (lowest[a as usize], lowest[b as usize]) = (low, low);
            }
            if lowest == before {
                return lowest;
            }
        }
    }

    #[test]
    fn roots_are_the_lowest_that_pairs_lead_to() {
        let mut state = 1u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for count in [1, 2, 3, 7, 50, 257] {
            for joins in [0, 1, count / 3, count, 3 * count] {
                let pairs: Vec<(u32, u32)> =
                    (0..joins).map(|_| (next(count) as u32, next(count) as u32)).collect();
                let mut sets = UnionFind::new(count);
                let joined = pairs.iter().filter(|(a, b)| sets.join(*a, *b)).count();
                let wanted = spread(count, &pairs);
                let roots: Vec<u32> = (0..count as u32).map(|k| sets.find(k)).collect();
                assert_eq!(roots, wanted);
                let sets_left = (0..).zip(&wanted).filter(|(k, root)| k == *root).count();
                assert_eq!((sets.count(), count - joined), (count, sets_left));
            }
        }
    }

    #[test]
    fn a_root_may_be_put_below_a_higher_one() {
        let mut sets = UnionFind::new(4);
        sets.join(0, 1);
        sets.put_below(0, 3);
        assert_eq!([0, 1, 2, 3].map(|k| sets.find(k)), [3, 3, 2, 3]);
    }
}
