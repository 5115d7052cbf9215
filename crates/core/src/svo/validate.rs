//! Invariants of forests, for tests, the window's badge and the report.

#[cfg(test)]
use super::Octant;
use super::{Forest, morton};

/// Most findings of each kind; an invalid forest may have millions.
const MOST_FINDINGS: usize = 20;

/// Checks the structure of a forest against the format's description.
///
/// # Errors
/// One line per finding.
pub fn validate(forest: &Forest) -> Result<(), Vec<String>> {
    let mut findings = Vec::new();
    check_offsets(forest, &mut findings);
    // With invalid offsets the later checks would be meaningless.
    if findings.is_empty() {
        check_leaves(forest, &mut findings);
        check_nodes(forest, &mut findings);
    }
    if findings.is_empty() { Ok(()) } else { Err(findings) }
}

fn report(findings: &mut Vec<String>, line: impl FnOnce() -> String) {
    if findings.len() < MOST_FINDINGS {
        findings.push(line());
    }
}

fn check_offsets(forest: &Forest, findings: &mut Vec<String>) {
    let level = forest.level as usize;
    if !(1..=super::MAX_LEVEL as usize).contains(&level) {
        report(findings, || format!("level {level} is outside 1 to {}", super::MAX_LEVEL));
        return;
    }
    let starts = &forest.level_start;
    if starts.len() != level + 1 {
        report(findings, || format!("level_start has {} entries, not {}", starts.len(), level + 1));
        return;
    }
    let trees = forest.trees();
    if starts[0] != 0
        || starts[1] as usize != trees
        || starts[level] as usize != forest.nodes.len()
        || !starts.is_sorted()
    {
        let nodes = forest.nodes.len();
        report(findings, || {
            format!("level_start {starts:?} does not divide {nodes} nodes with {trees} roots")
        });
    }
    let leaves = forest.leaves.len();
    let of_trees = &forest.tree_start;
    if of_trees.first() != Some(&0)
        || of_trees.last().map(|n| *n as usize) != Some(leaves)
        || !of_trees.is_sorted()
    {
        report(findings, || format!("tree_start does not divide {leaves} leaves"));
    }
    let lengths = [
        forest.leaves.normals.len(),
        forest.leaves.colors.len(),
        forest.leaves.coverage.len(),
        forest.leaves.cuts.len(),
    ];
    if lengths != [leaves; 4] {
        report(findings, || format!("the leaf arrays differ in length: {leaves} keys, {lengths:?}"));
    }
}

fn check_leaves(forest: &Forest, findings: &mut Vec<String>) {
    let leaves = &forest.leaves;
    for range in forest.tree_start.windows(2) {
        let keys = leaves.keys.slice(range[0] as usize..range[1] as usize);
        if let Some(at) = keys.iter().zip(keys.iter().skip(1)).position(|(key, next)| key >= next) {
            report(findings, || format!("leaf keys do not ascend after leaf {}", range[0] as usize + at));
        }
    }
    if let Some(i) = leaves.coverage.iter().position(|c| !(*c > 0.0 && *c <= 1.0)) {
        report(findings, || format!("leaf {i} has coverage {}, not in (0, 1]", leaves.coverage[i]));
    }
}

/// Traverses all trees level by level. Children must be in exactly the order in which their parents refer to them,
/// which means that every node and every leaf is reached exactly once.
fn check_nodes(forest: &Forest, findings: &mut Vec<String>) {
    let trees = forest.trees();
    let before = findings.len();
    let mut keys: Vec<morton::Key> = vec![0; trees];
    for level in 0..forest.level {
        let (start, end) =
            (forest.level_start[level as usize] as usize, forest.level_start[level as usize + 1] as usize);
        let at_leaves = level + 1 == forest.level;
        let children_end =
            if at_leaves { forest.leaves.len() } else { forest.level_start[level as usize + 2] as usize };
        let mut next = if at_leaves { 0 } else { end };
        // For leaves, which are the majority, only the first one whose position contradicts its key is reported.
        let mut child_keys = Vec::with_capacity(if at_leaves { 0 } else { children_end - next });
        let mut misplaced = None;
        for (index, key) in (start..end).zip(&keys) {
            let node = forest.nodes[index];
            if node.valid() & node.internal() != 0 {
                report(findings, || format!("node {index} has an octant that is both valid and internal"));
            }
            if node.masks >> 16 != 0 {
                report(findings, || format!("node {index} has bits outside its masks"));
            }
            if node.valid() == 0 && level > 0 {
                report(findings, || format!("node {index} holds no surface but is no root"));
            }
            let count = node.valid().count_ones() as usize;
            if count > 0 && node.child_base as usize != next {
                report(findings, || {
                    format!("node {index} has its children at {}, not at {next}", node.child_base)
                });
            }
            let children = (0..8).filter(|c| node.valid() >> c & 1 == 1).map(|c| key << 3 | c);
            if at_leaves && misplaced.is_none() {
                let mut placed = (next..children_end).zip(children);
                misplaced = placed.find(|(i, found)| *found != forest.leaves.keys.at(*i));
            } else if !at_leaves {
                child_keys.extend(children);
            }
            next += count;
        }
        if next != children_end {
            report(findings, || format!("level {level} names children up to {next}, not to {children_end}"));
            return;
        }
        if let Some((i, found)) = misplaced {
            let kept = forest.leaves.keys.at(i);
            report(findings, || format!("leaf {i} has key {kept} but lies at {found}"));
        }
        keys = child_keys;
    }
    if findings.len() > before {
        // Following invalid child pointers is unsafe.
        return;
    }
    for (tree, range) in forest.tree_start.windows(2).enumerate() {
        let below = leaves_below(forest, tree as u32);
        if below != range[1] - range[0] {
            report(findings, || {
                format!(
                    "tree {tree} has {below} leaves below its root, tree_start says {}",
                    range[1] - range[0]
                )
            });
        }
    }
}

fn leaves_below(forest: &Forest, root: u32) -> u32 {
    let (mut from, mut to) = (root, root + 1);
    for _ in 0..forest.level {
        let nodes = &forest.nodes[from as usize..to as usize];
        let count: u32 = nodes.iter().map(|node| node.valid().count_ones()).sum();
        if count == 0 {
            return 0;
        }
        let Some(first) = nodes.iter().find(|node| node.valid() != 0) else { return 0 };
        (from, to) = (first.child_base, first.child_base + count);
    }
    to - from
}

#[cfg(test)]
/// Whether every face neighbour of every internal cell is internal or a boundary voxel. Tests all cells of the grid, so
/// use it for levels up to 7.
#[must_use]
pub fn inside_never_touches_outside(forest: &Forest, tree: usize) -> bool {
    let side = 1usize << forest.level;
    // 0 empty, 1 internal, 2 leaf
    let mut grid = vec![0u8; side.pow(3)];
    for (key, state) in (0..).zip(grid.iter_mut()) {
        *state = match forest.octant_at(tree, morton::decode(key)) {
            Octant::Empty { .. } => 0,
            Octant::Internal { .. } => 1,
            Octant::Leaf(_) => 2,
        };
    }
    (0..).zip(&grid).filter(|(_, state)| **state == 1).all(|(key, _)| {
        let cell = morton::decode(key);
        (0..6).all(|face| {
            let mut beside = cell;
            let step = if face & 1 == 0 { u32::MAX } else { 1 };
            beside[face >> 1] = beside[face >> 1].wrapping_add(step);
            beside.iter().all(|v| (*v as usize) < side) && grid[morton::encode(beside) as usize] != 0
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svo::{LeafColor, Leaves, build};

    /// The shell of the cells 2..6 on a grid of 8, with internal cells inside.
    fn block() -> Forest {
        let within = |cell: [u32; 3], low: u32, high: u32| cell.iter().all(|v| (low..high).contains(v));
        let keys: Vec<morton::Key> = (0..512)
            .filter(|key| within(morton::decode(*key), 1, 7) && !within(morton::decode(*key), 2, 6))
            .collect();
        let n = keys.len();
        let leaves = Leaves {
            keys: keys.into(),
            normals: vec![0; n],
            colors: vec![LeafColor::default(); n],
            coverage: vec![1.0; n],
            cuts: vec![0; n],
        };
        build(3, leaves, &move |key: morton::Key, level: u32| {
            within(morton::decode(key << (3 * (3 - level))), 2, 6)
        })
    }

    fn with_keys(forest: &mut Forest, change: impl FnOnce(&mut Vec<morton::Key>)) {
        let mut keys: Vec<morton::Key> = forest.leaves.keys.iter().collect();
        change(&mut keys);
        forest.leaves.keys = keys.into();
    }

    fn findings(change: impl FnOnce(&mut Forest)) -> String {
        let mut forest = block();
        change(&mut forest);
        validate(&forest).expect_err("a planted error must be found").join("; ")
    }

    #[test]
    fn a_sound_forest_passes() {
        assert_eq!(validate(&block()), Ok(()));
        assert!(inside_never_touches_outside(&block(), 0));
        let empty = build(4, Leaves::default(), &|_: morton::Key, _: u32| false);
        assert_eq!(validate(&empty), Ok(()));
    }

    #[test]
    fn planted_errors_are_found() {
        assert!(findings(|f| f.level_start[2] += 1).contains("children"));
        assert!(findings(|f| f.level_start[1] = 0).contains("level_start"));
        assert!(findings(|f| f.level_start.truncate(2)).contains("level_start"));
        assert!(findings(|f| f.level = 13).contains("level 13"));
        assert!(
            findings(|f| f.nodes[3].masks |= f.nodes[3].masks << 8 & 0xff00)
                .contains("both valid and internal")
        );
        assert!(findings(|f| f.nodes[1].masks |= 1 << 20).contains("outside its masks"));
        assert!(findings(|f| f.nodes[0].child_base += 1).contains("children at"));
        assert!(findings(|f| f.nodes[5].child_base = u32::MAX).contains("children at"));
        assert!(findings(|f| f.nodes[8].masks = 0).contains("no surface"));
        assert!(findings(|f| with_keys(f, |keys| keys.swap(0, 1))).contains("ascend"));
        assert!(findings(|f| with_keys(f, |keys| *keys.last_mut().unwrap() += 1)).contains("lies at"));
        assert!(findings(|f| f.leaves.coverage[7] = 0.0).contains("coverage"));
        assert!(findings(|f| f.leaves.coverage[7] = f32::NAN).contains("coverage"));
        assert!(findings(|f| f.leaves.coverage[7] = 1.5).contains("coverage"));
        assert!(findings(|f| f.leaves.normals.truncate(3)).contains("length"));
        assert!(findings(|f| f.tree_start[1] -= 1).contains("tree_start"));
        assert!(findings(|f| f.tree_start = vec![0, 5, f.leaves.len() as u32]).contains("level_start"));
    }

    /// Two copies of the block: on each level the first tree's nodes, then the second's.
    fn two_blocks() -> Forest {
        let one = block();
        let mut two = Forest { level: 3, level_start: vec![0], tree_start: vec![0], ..Forest::default() };
        for level in 0..3 {
            let (start, end) = (one.level_start[level], one.level_start[level + 1]);
            let children =
                if level < 2 { end..one.level_start[level + 2] } else { 0..one.leaves.len() as u32 };
            let base = if level < 2 { 2 * children.start } else { 0 };
            for copy in 0..2 {
                let shift = base + copy * children.len() as u32;
                two.nodes.extend(one.nodes[start as usize..end as usize].iter().map(|node| {
                    crate::svo::Node { child_base: node.child_base - children.start + shift, ..*node }
                }));
            }
            two.level_start.push(two.nodes.len() as u32);
        }
        for _ in 0..2 {
            two.leaves.keys.extend(&one.leaves.keys);
            two.leaves.normals.extend(&one.leaves.normals);
            two.leaves.colors.extend(&one.leaves.colors);
            two.leaves.coverage.extend(&one.leaves.coverage);
            two.leaves.cuts.extend(&one.leaves.cuts);
            two.tree_start.push(two.leaves.len() as u32);
        }
        two
    }

    #[test]
    fn trees_of_one_forest_are_told_apart() {
        let two = two_blocks();
        assert_eq!(validate(&two), Ok(()));
        assert!(inside_never_touches_outside(&two, 1));
        let leaves = two.leaves.len() as u32 / 2;
        assert_eq!(two.leaf_at(1, [1, 1, 1]), two.leaf_at(0, [1, 1, 1]).map(|leaf| leaf + leaves));

        let mut swapped = two.clone();
        swapped.nodes.swap(0, 1);
        assert!(validate(&swapped).is_err());
        let mut moved = two;
        moved.tree_start[1] -= 1;
        assert!(validate(&moved).expect_err("found").join("; ").contains("below its root"));
    }

    #[test]
    fn a_hole_in_the_skin_is_found() {
        let within = |cell: [u32; 3], low: u32, high: u32| cell.iter().all(|v| (low..high).contains(v));
        let mut holed = block();
        let mut leaves = std::mem::take(&mut holed.leaves);
        let gone = leaves.keys.binary_search(morton::encode([1, 3, 3])).expect("part of the skin");
        leaves.keys.retain(|i| i != gone);
        leaves.normals.remove(gone);
        leaves.colors.remove(gone);
        leaves.coverage.remove(gone);
        leaves.cuts.remove(gone);
        let holed = build(3, leaves, &move |key: morton::Key, l: u32| {
            within(morton::decode(key << (3 * (3 - l))), 2, 6)
        });
        assert_eq!(validate(&holed), Ok(()));
        assert!(!inside_never_touches_outside(&holed, 0));
    }
}
