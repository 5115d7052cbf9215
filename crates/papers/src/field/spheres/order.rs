//! Maximum distance ordering (Glondu et al. 2012, sec. 5.1): the two points that are farthest apart, then always the
//! point that is farthest from its nearest one in the list.
//!
//! In: points. Out: the list, and for every point of it its parent in the sphere tree. Level l of the tree has the
//! first 2^l points of the list, and the parent of a point is the closest one in the level above. The paper spends
//! O(n^2) on it; with a [`Hierarchy`] a choice only tests the points that it may be nearer to.

use glam::DVec3;

use super::hierarchy::Hierarchy;

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
