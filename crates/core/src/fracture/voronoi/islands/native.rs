//! Islands on the processor's cores: the same components as the passes', in one walk over every octree.
//!
//! In: the cells' octrees. Out: components, and the component of each node.
//!
//! The solid below most nodes is connected inside the node, and is then one part: it joins others by the first touching
//! pair that a walk along their common face finds, and no descendants are united. Only nodes with several parts are
//! entered by the walks of their neighbours. The id of a part is its smallest node index, which makes the root of the
//! union-find the component's label.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::bits::{ACROSS, FACES_ACROSS, INSIDE, Touching, bricks_touch, first_part, is_face, octant};
use crate::{
    fracture::{
        Cancel, Cancelled,
        voronoi::octrees::{native::Trees, split_native::TreeRanges},
    },
    geometry::set_bits,
    svo::Node,
};

/// The connected components of every cell's solid.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::fracture) struct NativeIslands {
    /// (label, tree) per component, by ascending label: the smallest index of its nodes.
    pub components: Vec<[u32; 2]>,
    /// Per node above and at parent level `last`: the label of all its descendants; with [`SEVERAL`] that of its
    /// internal octants alone, and its children have labels of their own. Undefined below a node without [`SEVERAL`].
    pub parts: Vec<u32>,
    /// Parent level at which components were found: one above the island level.
    pub last: u32,
}

/// Bit of [`NativeIslands::parts`]: the descendants form several parts inside the node.
pub(in crate::fracture) const SEVERAL: u32 = 1 << 31;

/// Trees with more nodes at parent level `last` are walked by several threads, down to parent level [`FORKS`].
const LARGE: usize = 4096;
const FORKS: u32 = 3;

/// Down to this level every node checks whether the work was cancelled.
const CHECKED: u32 = 4;

/// `island_level` in 1..=leaf level. Fewer than 2^31 nodes.
///
/// # Errors
/// [`Cancelled`].
pub(in crate::fracture) fn islands(
    octrees: Trees<'_>,
    island_level: u32,
    cancel: &Cancel,
) -> Result<NativeIslands, Cancelled> {
    islands_by(octrees, island_level, LARGE, cancel)
}

/// Like [`islands`]; trees with more than `large` nodes at parent level `last` are walked by several threads.
pub(super) fn islands_by(
    octrees: Trees<'_>,
    island_level: u32,
    large: usize,
    cancel: &Cancel,
) -> Result<NativeIslands, Cancelled> {
    let (nodes, start) = (octrees.nodes, octrees.level_start);
    let last = island_level - 1;
    let first_brick = start[last.saturating_sub(1) as usize];
    let walk = Walk {
        cancel,
        nodes,
        last,
        first_brick,
        words: (0..start[island_level as usize]).map(|_| AtomicU32::new(0)).collect(),
        bricks: (first_brick..start[last as usize]).map(|_| AtomicU64::new(0)).collect(),
    };
    let ranges = TreeRanges::of(nodes, start, octrees.leaves);
    let found = (0..start[1])
        .into_par_iter()
        .with_max_len(1)
        .map(|tree| {
            let forks = if ranges.nodes(tree as usize, last as usize).len() > large { FORKS } else { 0 };
            Ok(match walk.settle(tree, 0, forks)? {
                Some(_) if nodes[tree as usize].masks == 0 => Vec::new(),
                Some(label) => vec![[label, tree]],
                None => walk.list(tree, 0, forks).into_iter().map(|label| [label, tree]).collect(),
            })
        })
        .collect::<Result<Vec<Vec<[u32; 2]>>, Cancelled>>()?;
    let mut components = found.concat();
    components.par_sort_unstable();
    let parts = walk.words.into_iter().map(AtomicU32::into_inner).collect();
    Ok(NativeIslands { components, parts, last })
}

struct Walk<'a> {
    cancel: &'a Cancel,
    nodes: &'a [Node],
    last: u32,
    /// First node of the level of bricks: the one above `last`.
    first_brick: u32,
    /// Like [`NativeIslands::parts`], but a part's word may lead to the label through other words.
    words: Vec<AtomicU32>,
    bricks: Vec<AtomicU64>,
}

/// A node, or a cell of its size inside a larger or equal internal octant of the node that contains it.
#[derive(Clone, Copy)]
enum Cell {
    Empty,
    Internal(u32),
    Node(u32),
}

/// A cell, and the part that all of its solid belongs to, where it is one.
#[derive(Clone, Copy)]
struct Side {
    cell: Cell,
    part: Option<u32>,
}

impl Walk<'_> {
    /// Finds the parts of a node inside its own cube; the part's name where there is only one.
    fn settle(&self, index: u32, level: u32, forks: u32) -> Result<Option<u32>, Cancelled> {
        let node = self.nodes[index as usize];
        if level == self.last {
            self.words[index as usize].store(index, Relaxed);
            return Ok(Some(index));
        }
        if level + 1 == self.last {
            return Ok(self.settle_brick(index, node));
        }
        if level <= CHECKED {
            self.cancel.check()?;
        }
        let (valid, internal) = (node.valid(), node.internal());
        let mut names = [None; 8];
        let settle = |(c, name): (usize, &mut Option<u32>)| {
            if valid >> c & 1 == 1 {
                *name = self.settle(node.child(c as u32), level + 1, forks)?;
            } else if internal >> c & 1 == 1 {
                *name = Some(index);
            }
            Ok(())
        };
        if level < forks {
            names.par_iter_mut().with_max_len(1).enumerate().try_for_each(settle)?;
        } else {
            names.iter_mut().enumerate().try_for_each(settle)?;
        }

        // Among the octants of one part each: which are connected. Internal ones are.
        let cells: [Cell; 8] = std::array::from_fn(|c| self.child(index, c as u8));
        let present = valid | internal;
        let single = (0..8).filter(|c| names[*c].is_some()).fold(0u8, |mask, c| mask | 1 << c);
        let mut together: [u8; 8] =
            std::array::from_fn(|c| if internal >> c & 1 == 1 { internal } else { 1 << c });
        for Touching { a, b, direction } in INSIDE {
            let both = 1u8 << a | 1 << b;
            let (a, b) = (a as usize, b as usize);
            if single & both == both
                && together[a] & both != both
                && self.touch(cells[a], cells[b], level + 1, direction)
            {
                let merged = together[a] | together[b];
                (0..8).filter(|c| merged >> c & 1 == 1).for_each(|c| together[c] = merged);
            }
        }
        let name_of = |set: u8| (0..8).filter(|c| set >> c & 1 == 1).filter_map(|c| names[c]).min();
        let word = &self.words[index as usize];
        let first = present.trailing_zeros() as usize;
        if single == present && (present == 0 || together[first] == present) {
            let name = name_of(present).unwrap_or(index);
            word.store(name, Relaxed);
            return Ok(Some(name));
        }
        word.store(index | SEVERAL, Relaxed);
        for (c, name) in names.iter().enumerate() {
            if let (Some(name), Some(smallest)) = (name, name_of(together[c]))
                && name != &index
            {
                self.words[*name as usize].store(smallest, Relaxed);
            }
        }
        for Touching { a, b, direction } in INSIDE {
            let both = 1u8 << a | 1 << b;
            if present & both == both && single & both != both {
                let side = |c: u8| Side { cell: cells[c as usize], part: names[c as usize] };
                self.join(side(a), side(b), level + 1, direction);
            }
        }
        Ok(None)
    }

    fn settle_brick(&self, index: u32, node: Node) -> Option<u32> {
        let mut brick = 0u64;
        for c in (0..8).filter(|c| node.internal() >> c & 1 == 1) {
            brick |= octant(c);
        }
        for (octant, child) in set_bits(node.valid()).zip(node.child_base..) {
            let masks = self.nodes[child as usize].masks;
            brick |= u64::from((masks | masks >> 8) & 0xff) << (8 * octant);
        }
        self.bricks[(index - self.first_brick) as usize].store(brick, Relaxed);

        let part = first_part(brick);
        let word = &self.words[index as usize];
        if part == brick {
            let name = if node.internal() != 0 || node.valid() == 0 { index } else { node.child_base };
            word.store(name, Relaxed);
            if name != index {
                self.words[name as usize].store(name, Relaxed);
            }
            return Some(name);
        }
        word.store(index | SEVERAL, Relaxed);
        let mut left = brick;
        while left != 0 {
            let part = first_part(left);
            left &= !part;
            let has = |c: &u32| part & octant(*c) != 0;
            let is_stored = |c: &u32| node.valid() >> c & 1 == 1;
            let name = match (0..8).filter(has).find(|c| !is_stored(c)) {
                Some(_) => index,
                None => node.child(part.trailing_zeros() / 8),
            };
            for c in (0..8).filter(has).filter(is_stored) {
                self.words[node.child(c) as usize].store(name, Relaxed);
            }
        }
        None
    }

    fn child(&self, index: u32, c: u8) -> Cell {
        let node = self.nodes[index as usize];
        if node.valid() >> c & 1 == 1 {
            Cell::Node(node.child(u32::from(c)))
        } else if node.internal() >> c & 1 == 1 {
            Cell::Internal(index)
        } else {
            Cell::Empty
        }
    }

    /// Octant of a cell.
    fn below(&self, cell: Cell, c: u8) -> Cell {
        if let Cell::Node(index) = cell { self.child(index, c) } else { cell }
    }

    /// Octant of a side.
    fn below_side(&self, side: Side, c: u8) -> Side {
        let cell = self.below(side.cell, c);
        let part = side.part.or_else(|| match cell {
            Cell::Empty => None,
            Cell::Internal(owner) => Some(owner),
            Cell::Node(index) => {
                Some(self.words[index as usize].load(Relaxed)).filter(|word| word & SEVERAL == 0)
            }
        });
        Side { cell, part }
    }

    fn brick(&self, cell: Cell) -> u64 {
        match cell {
            Cell::Empty => 0,
            Cell::Internal(_) => u64::MAX,
            Cell::Node(index) => self.bricks[(index - self.first_brick) as usize].load(Relaxed),
        }
    }

    /// Pairs of octants of two cells that may touch. All face neighbours of an internal cell are solid and of the same
    /// component, so an octant that touches it by an edge or a corner touches one of them, too: faces are enough.
    fn pairs(a: Cell, b: Cell, direction: u8) -> &'static [Touching] {
        let (count, pairs) = &ACROSS[direction as usize];
        match (a, b) {
            (Cell::Empty, _) | (_, Cell::Empty) => &[],
            (Cell::Node(_), Cell::Node(_)) => &pairs[..*count],
            _ if is_face(direction) => &pairs[..FACES_ACROSS],
            _ => &[],
        }
    }

    /// Whether any solid of two cells of one level touches, the second in that direction from the first.
    fn touch(&self, a: Cell, b: Cell, level: u32, direction: u8) -> bool {
        if let (Cell::Internal(_), Cell::Internal(_)) = (a, b) {
            return is_face(direction);
        }
        let pairs = Self::pairs(a, b, direction);
        if level + 1 == self.last {
            return !pairs.is_empty() && bricks_touch(self.brick(a), self.brick(b), direction);
        }
        pairs.iter().any(|Touching { a: i, b: j, direction }| {
            self.touch(self.below(a, *i), self.below(b, *j), level + 1, *direction)
        })
    }

    /// Unites the parts of two cells of one level that touch.
    fn join(&self, a: Side, b: Side, level: u32, direction: u8) {
        if let (Some(first), Some(second)) = (a.part, b.part) {
            let (first, second) = (self.find(first), self.find(second));
            if first != second && self.touch(a.cell, b.cell, level, direction) {
                self.unite(first, second);
            }
            return;
        }
        let pairs = Self::pairs(a.cell, b.cell, direction);
        if level + 1 < self.last {
            for Touching { a: i, b: j, direction } in pairs {
                self.join(self.below_side(a, *i), self.below_side(b, *j), level + 1, *direction);
            }
            return;
        }
        let (brick, other) = (self.brick(a.cell), self.brick(b.cell));
        if pairs.is_empty() || !bricks_touch(brick, other, direction) {
            return;
        }
        for Touching { a: i, b: j, .. } in pairs {
            let (i_side, j_side) = (self.below_side(a, *i), self.below_side(b, *j));
            let (near, far) = (brick & octant(u32::from(*i)), other & octant(u32::from(*j)));
            let (Some(first), Some(second)) = (i_side.part, j_side.part) else { continue };
            let (first, second) = (self.find(first), self.find(second));
            if first != second && bricks_touch(near, far, direction) {
                self.unite(first, second);
            }
        }
    }

    fn find(&self, start: u32) -> u32 {
        let mut x = start;
        loop {
            let word = self.words[x as usize].load(Relaxed);
            let parent = word & !SEVERAL;
            if parent == x {
                return x;
            }
            let higher = self.words[parent as usize].load(Relaxed) & !SEVERAL;
            if higher == parent {
                return parent;
            }
            // Another thread may have listed this node meanwhile: its word is then a label, and stays one.
            let shorter = higher | word & SEVERAL;
            let _ = self.words[x as usize].compare_exchange(word, shorter, Relaxed, Relaxed);
            x = higher;
        }
    }

    /// Two roots: the smaller one wins.
    fn unite(&self, a: u32, b: u32) {
        let word = &self.words[a.max(b) as usize];
        word.store(a.min(b) | word.load(Relaxed) & SEVERAL, Relaxed);
    }

    /// After all unions: labels of the components that have their root below a node, whose words become labels.
    fn list(&self, index: u32, level: u32, forks: u32) -> Vec<u32> {
        let (node, word) = (self.nodes[index as usize], &self.words[index as usize]);
        let name = word.load(Relaxed);
        let is_several = name & SEVERAL != 0;
        let label = self.find(name & !SEVERAL);
        word.store(label | name & SEVERAL, Relaxed);
        if !is_several {
            // The id of a part is its node or, if that has no solid of its own, one below, and only a node's own word
            // may have been redirected to another part.
            let own = if level == self.last || node.internal() != 0 { index } else { name };
            return if label == own { vec![label] } else { Vec::new() };
        }
        let mut labels = Vec::new();
        if label == index && node.internal() != 0 {
            labels.push(label);
        }
        let children = node.child_base..node.child_base + u32::from(node.valid()).count_ones();
        if level < forks {
            let found: Vec<_> = children
                .into_par_iter()
                .with_max_len(1)
                .map(|child| self.list(child, level + 1, forks))
                .collect();
            labels.extend(found.concat());
        } else {
            for child in children {
                labels.append(&mut self.list(child, level + 1, forks));
            }
        }
        labels
    }
}
