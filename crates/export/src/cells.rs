//! The solid of one octree as a sorted list of disjoint, aligned cubes: its leaf voxels and its internal nodes.
//!
//! In: one tree of a forest. Out: cubes in Morton order, with neighbour lookup and connected components, in code plain
//! enough to check the passes against.

use std::{borrow::Cow, ops::Range};

use crate::geometry::UnionFind;
use crate::svo::{
    Forest, Keys,
    morton::{Key, decode, encode},
};

/// Cubes in Morton order, as arrays of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// Leaf level of the grid.
    pub level: u32,
    /// Morton code of each cube's first voxel.
    pub starts: Keys,
    /// log2 of each cube's edge in voxels.
    pub log_sizes: Vec<u8>,
    /// Index of the leaf in the forest, or `u32::MAX` for an internal node.
    pub leaves: Vec<u32>,
}

/// Offsets of the 26 neighbours, faces first, since most cubes are connected through faces.
pub const NEIGHBOURS: [[i32; 3]; 26] = neighbours();

const fn neighbours() -> [[i32; 3]; 26] {
    let mut out = [[0; 3]; 26];
    let mut count = 0;
    let mut nonzero = 1;
    while nonzero <= 3 {
        let mut i = 0;
        while i < 27 {
            let d = [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1];
            if d[0] * d[0] + d[1] * d[1] + d[2] * d[2] == nonzero {
                out[count] = d;
                count += 1;
            }
            i += 1;
        }
        nonzero += 1;
    }
    out
}

impl Cells {
    /// The cubes of `tree`.
    #[must_use]
    pub fn of(forest: &Forest, tree: usize) -> Self {
        let range = forest.tree_start[tree] as usize..forest.tree_start[tree + 1] as usize;
        Self::below(forest, (tree as u32, 0, 0), range)
    }

    /// The cubes of `tree` within one node of the grid: `key` is its Morton code at `level`, above the leaf level.
    /// Larger cubes are clipped to the node.
    #[must_use]
    pub fn within(forest: &Forest, tree: usize, (key, level): (Key, u32)) -> Self {
        let start = key << (3 * (forest.level - level));
        let end = (key + 1) << (3 * (forest.level - level));
        let mut index = tree as u32;
        for l in 1..=level {
            let octant = (key >> (3 * (level - l)) & 7) as u32;
            let node = forest.nodes[index as usize];
            if node.internal() >> octant & 1 == 1 {
                let mut whole = Self { level: forest.level, ..Self::default() };
                whole.push((start, (forest.level - level) as u8, u32::MAX));
                return whole;
            }
            if node.valid() >> octant & 1 == 0 {
                return Self { level: forest.level, ..Self::default() };
            }
            index = node.child(octant);
        }
        let first = forest.tree_start[tree] as usize;
        let keys = forest.leaves.keys.slice(first..forest.tree_start[tree + 1] as usize);
        let leaves = keys.partition_point(|k| k < start)..keys.partition_point(|k| k < end);
        Self::below(forest, (index, level, key), first + leaves.start..first + leaves.end)
    }

    /// The cubes below a node (index, level, Morton code) with the leaves in `range`.
    fn below(forest: &Forest, node: (u32, u32, Key), range: Range<usize>) -> Self {
        // Leaves and nodes both come in Morton order and do not overlap.
        let mut out = Self { level: forest.level, ..Self::default() };
        let mut next = range.start;
        let mut leaves_before = |out: &mut Self, end: Key| {
            while next < range.end && forest.leaves.keys.at(next) < end {
                out.push((forest.leaves.keys.at(next), 0, next as u32));
                next += 1;
            }
        };
        forest.visit_internal_below(node, &mut |low, size| {
            let start = encode(low);
            leaves_before(&mut out, start);
            out.push((start, size.trailing_zeros() as u8, u32::MAX));
        });
        leaves_before(&mut out, Key::MAX);
        out
    }

    /// Number of leaf voxels in `tree`, without a list of cubes.
    #[must_use]
    pub fn volume_of(forest: &Forest, tree: usize) -> u64 {
        let mut volume = u64::from(forest.tree_start[tree + 1] - forest.tree_start[tree]);
        forest.visit_internal(tree, &mut |_, _, size| volume += u64::from(size).pow(3));
        volume
    }

    fn push(&mut self, (start, log_size, leaf): (Key, u8, u32)) {
        self.starts.push(start);
        self.log_sizes.push(log_size);
        self.leaves.push(leaf);
    }

    fn from_cubes(level: u32, mut all: Vec<(Key, u8, u32)>) -> Self {
        all.sort_unstable();
        let mut out = Self { level, ..Self::default() };
        all.into_iter().for_each(|cube| out.push(cube));
        out
    }

    /// Number of cubes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are no cubes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Number of voxels in all cubes.
    #[must_use]
    pub fn volume(&self) -> u64 {
        self.log_sizes.iter().map(|s| 1u64 << (3 * s)).sum()
    }

    /// One past the last voxel of cube `i`, as a Morton code.
    #[must_use]
    pub fn end(&self, i: usize) -> u64 {
        self.starts.at(i) + (1 << (3 * self.log_sizes[i]))
    }

    /// The cube that contains a voxel.
    #[must_use]
    pub fn find(&self, key: Key) -> Option<usize> {
        self.last_from(key, 0..self.len())
    }

    /// The cube that contains a voxel, if it is among the cubes of `range`.
    fn last_from(&self, key: Key, range: Range<usize>) -> Option<usize> {
        let starts = self.starts.slice(range.clone());
        let i = range.start + starts.partition_point(|s| s <= key).checked_sub(1)?;
        (key < self.end(i)).then_some(i)
    }

    /// The cube that contains the voxel at signed coordinates; `None` also outside the grid.
    #[must_use]
    pub fn find_at(&self, at: [i32; 3]) -> Option<usize> {
        self.find(self.key_at(at)?)
    }

    /// Morton code of the voxel at signed coordinates; `None` outside the grid.
    fn key_at(&self, at: [i32; 3]) -> Option<Key> {
        let side = 1 << self.level;
        let is_inside = at.iter().all(|v| (0..side).contains(v));
        is_inside.then(|| encode(at.map(|v| v as u32)))
    }

    /// The solid on a coarser level's grid: every coarse cell that contains any of it.
    #[must_use]
    pub fn coarsened(&self, level: u32) -> Cow<'_, Self> {
        let drop = self.level.saturating_sub(level);
        if drop == 0 {
            return Cow::Borrowed(self);
        }
        let mut all: Vec<(Key, u8, u32)> = (0..self.len())
            .map(|i| {
                let size = self.log_sizes[i].saturating_sub(drop as u8);
                (self.starts.at(i) >> (3 * drop), size, u32::MAX)
            })
            .collect();
        all.dedup();
        Cow::Owned(Self::from_cubes(self.level - drop, all))
    }

    /// Number of 26-connected components, by union-find. Of two touching cubes, the smaller one finds the larger one
    /// among the 26 neighbour places of its own size, so no cube has to look for smaller ones.
    #[must_use]
    pub fn components(&self) -> usize {
        let index = CellIndex::new(self);
        let mut sets = UnionFind::new(self.len());
        let mut count = self.len();
        for offset in NEIGHBOURS {
            if count <= 1 {
                break;
            }
            for i in 0..self.len() {
                let size = 1i32 << self.log_sizes[i];
                let low = decode(self.starts.at(i));
                let at = std::array::from_fn(|k| low[k] as i32 + offset[k] * size);
                let Some(j) = self.key_at(at).and_then(|key| index.find(self, key)) else { continue };
                if self.log_sizes[j] >= self.log_sizes[i] && sets.join(i as u32, j as u32) {
                    count -= 1;
                }
            }
        }
        count
    }
}

/// Where the cubes of a [`Cells`] begin in equal ranges of Morton codes, about two ranges to a cube. A lookup searches one range
/// instead of all cubes; checks look up each voxel's neighbours.
#[derive(Clone, Debug, Default)]
pub struct CellIndex {
    /// Morton code at which the first range begins.
    base: Key,
    /// log2 of a range's length.
    shift: u32,
    /// Number of cubes that begin before each range, and before the end of the last one.
    before: Vec<u32>,
}

impl CellIndex {
    /// The index of `cells`, which [`CellIndex::find`] must be called with.
    #[must_use]
    pub fn new(cells: &Cells) -> Self {
        let Some(last) = cells.len().checked_sub(1) else { return Self::default() };
        let base = cells.starts.at(0);
        let span = cells.end(last) - base;
        let shift = (span / (2 * cells.len() as u64)).checked_ilog2().unwrap_or(0);
        let ranges = ((span - 1) >> shift) as usize + 1;
        let mut before = Vec::with_capacity(ranges + 1);
        for i in 0..cells.len() {
            let range = ((cells.starts.at(i) - base) >> shift) as usize;
            before.resize(before.len().max(range + 1), i as u32);
        }
        before.resize(ranges + 1, cells.len() as u32);
        Self { base, shift, before }
    }

    /// The cube that contains a voxel.
    #[must_use]
    pub fn find(&self, cells: &Cells, key: Key) -> Option<usize> {
        let range = (key.checked_sub(self.base)? >> self.shift) as usize;
        let (first, end) = (*self.before.get(range)? as usize, *self.before.get(range + 1)? as usize);
        // A larger cube may begin in an earlier range.
        cells.last_from(key, first.saturating_sub(1)..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svo::{LeafColor, Leaves, build};

    fn cells(level: u32, cubes: &[([u32; 3], u8)]) -> Cells {
        Cells::from_cubes(level, cubes.iter().map(|(at, s)| (encode(*at), *s, u32::MAX)).collect())
    }

    #[test]
    fn neighbours_are_all_26_with_faces_first() {
        let mut all = NEIGHBOURS.to_vec();
        assert!(all[..6].iter().all(|d| d.iter().map(|v| v * v).sum::<i32>() == 1));
        all.sort_unstable();
        all.dedup();
        assert_eq!((all.len(), all.contains(&[0; 3])), (26, false));
    }

    #[test]
    fn touching_by_a_corner_joins_and_a_gap_of_one_voxel_does_not() {
        assert_eq!(cells(3, &[([1, 1, 1], 0), ([2, 2, 2], 0)]).components(), 1);
        assert_eq!(cells(3, &[([1, 1, 1], 0), ([3, 1, 1], 0)]).components(), 2);
        // Opposite sides of the grid are not connected.
        assert_eq!(cells(3, &[([0, 0, 0], 0), ([7, 0, 0], 0)]).components(), 2);
        assert_eq!(Cells::default().components(), 0);
    }

    #[test]
    fn what_lies_in_the_nodes_of_a_level_is_the_whole() {
        let mut leaves = Leaves::default();
        for key in (0..240).filter(|key| key % 7 < 3).chain([511]) {
            leaves.keys.push(key);
            leaves.normals.push(0);
            leaves.colors.push(LeafColor::default());
            leaves.coverage.push(1.0);
        }
        let count = leaves.len() as u64;
        // Internal: an octant of the root, one of the next level, and a voxel.
        let inside = [(5, 1), (61, 2), (510, 3)];
        let forest = build(3, leaves, &|key, level| inside.contains(&(key, level)));
        let whole = Cells::of(&forest, 0);
        assert_eq!(whole.volume(), count + 64 + 8 + 1);
        assert_eq!(Cells::volume_of(&forest, 0), whole.volume());
        for level in 0..3 {
            let parts: Vec<Cells> =
                (0..1 << (3 * level)).map(|key| Cells::within(&forest, 0, (key, level))).collect();
            assert_eq!(parts.iter().map(Cells::volume).sum::<u64>(), whole.volume());
            let spans = |cells: &Cells| -> Vec<Key> {
                (0..cells.len()).flat_map(|i| cells.starts.at(i)..cells.end(i)).collect()
            };
            assert_eq!(parts.iter().flat_map(spans).collect::<Vec<_>>(), spans(&whole));
            let leaves = |cells: &Cells| -> Vec<u32> {
                cells.leaves.iter().copied().filter(|leaf| *leaf != u32::MAX).collect()
            };
            assert_eq!(parts.iter().flat_map(leaves).collect::<Vec<_>>(), leaves(&whole));
        }
    }

    /// Against the search through all cubes, for every voxel of the grid and beyond its end.
    #[test]
    fn the_index_finds_what_a_search_finds() {
        let every = |n: u64| (0..512).filter(|key| key % n == 0).map(|key| (decode(key), 0)).collect();
        let solids: [Vec<([u32; 3], u8)>; 7] = [
            vec![],
            vec![([7, 7, 7], 0)],
            vec![([0, 0, 0], 3)],
            vec![([0, 0, 0], 2), ([4, 3, 2], 0), ([4, 4, 4], 0), ([6, 0, 0], 0)],
            vec![([0, 0, 0], 0), ([4, 4, 4], 2)],
            every(1),
            every(5),
        ];
        for solid in solids {
            let cells = cells(3, &solid);
            let index = CellIndex::new(&cells);
            for key in 0..600 {
                assert_eq!(index.find(&cells, key), cells.find(key), "{solid:?} {key}");
            }
        }
    }

    #[test]
    fn cubes_of_different_sizes_meet() {
        // A 4-cube at 0..4 and single voxels beside its face, its far corner, and two away from it.
        let solid = [([0, 0, 0], 2), ([4, 3, 2], 0), ([4, 4, 4], 0), ([6, 0, 0], 0)];
        let cells = cells(3, &solid);
        assert_eq!(cells.components(), 2);
        assert_eq!(cells.volume(), 67);
        assert_eq!(cells.find(encode([3, 3, 3])), Some(0));
        assert_eq!(cells.find(encode([5, 5, 5])), None);
        assert_eq!(cells.find_at([-1, 0, 0]), None);
        // One level coarser, the single voxel touches the rest.
        assert_eq!(cells.coarsened(2).components(), 1);
    }
}
