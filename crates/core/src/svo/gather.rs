//! Copies trees from forests on one grid into a new forest.
//!
//! In: trees. Out: a forest of these trees in this order, with all attributes.

use std::ops::Range;

use super::{Forest, Node};

/// A forest of the picked trees (forest, tree) in this order, all with leaves at `level`.
///
/// # Panics
/// If a tree is not in its forest (a caller's error, not a user's).
#[must_use]
pub fn gather(level: u32, picks: &[(&Forest, usize)]) -> Forest {
    let mut out = Forest { level, level_start: vec![0], tree_start: vec![0], ..Forest::default() };
    // A tree's nodes are contiguous on every level, and so are its leaves.
    let mut ranges: Vec<Range<usize>> = picks.iter().map(|(_, tree)| *tree..*tree + 1).collect();
    for l in 0..level {
        let here: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        let mut child = if l + 1 < level { (out.nodes.len() + here) as u32 } else { 0 };
        for ((forest, _), range) in picks.iter().zip(&mut ranges) {
            let nodes = &forest.nodes[range.clone()];
            let first =
                nodes.iter().find(|node| node.valid() != 0).map_or(0, |node| node.child_base as usize);
            let before = child;
            for node in nodes {
                out.nodes.push(Node { child_base: child, ..*node });
                child += node.valid().count_ones();
            }
            *range = first..first + (child - before) as usize;
        }
        out.level_start.push(out.nodes.len() as u32);
    }
    for ((forest, _), range) in picks.iter().zip(ranges) {
        out.leaves.append(&forest.leaves, range);
        out.tree_start.push(out.leaves.len() as u32);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svo::{Key, LeafColor, Leaves, build, morton, validate};

    fn ball(centre: [f64; 3], radius: f64) -> Forest {
        let inside = |cell: [u32; 3]| {
            let d: f64 = (0..3).map(|k| (f64::from(cell[k]) + 0.5 - centre[k]).powi(2)).sum();
            d < radius * radius
        };
        let solid = |key: Key| inside(morton::decode(key));
        let skin = |key: Key| {
            let cell = morton::decode(key);
            (0..27).any(|n| {
                let at = [n % 3, n / 3 % 3, n / 9];
                !inside(std::array::from_fn(|k| cell[k].saturating_add(at[k]).saturating_sub(1)))
            })
        };
        let keys: Vec<Key> = (0..4096).filter(|key| solid(*key) && skin(*key)).collect();
        let n = keys.len();
        let leaves = Leaves {
            normals: keys.iter().map(|k| *k as u32 * 7).collect(),
            colors: keys.iter().map(|k| LeafColor(*k as u32 * 3)).collect(),
            coverage: vec![0.5; n],
            cuts: keys.iter().map(|k| *k as u32).collect(),
            keys: keys.into(),
        };
        build(4, leaves, &|key: Key, level: u32| solid(key << (3 * (4 - level))))
    }

    #[test]
    fn trees_come_out_as_they_went_in() {
        let balls = [ball([5.0, 5.0, 5.0], 4.0), ball([9.0, 8.0, 8.0], 6.0), ball([12.0, 4.0, 11.0], 2.2)];
        let all = gather(4, &[(&balls[2], 0), (&balls[0], 0), (&balls[1], 0)]);
        assert_eq!(validate(&all), Ok(()));
        assert_eq!(all.trees(), 3);
        for (tree, ball) in [(0, 2), (1, 0), (2, 1)] {
            assert_eq!(gather(4, &[(&all, tree)]), balls[ball]);
        }
        let two = gather(4, &[(&all, 2), (&all, 0)]);
        assert_eq!(validate(&two), Ok(()));
        assert_eq!(two, gather(4, &[(&balls[1], 0), (&balls[2], 0)]));
        assert_ne!(two, gather(4, &[(&balls[2], 0), (&balls[1], 0)]));
        assert_eq!(validate(&gather(4, &[])), Ok(()));
    }
}
