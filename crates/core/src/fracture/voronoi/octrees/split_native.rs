//! One octree per component on the processor's cores: the same octrees as `SplitPass` makes, copied by ranges.
//!
//! In: cells' octrees and their islands. Out: the components' octrees, in the order of the components. Leaves are not
//! written yet; only their order changes.
//!
//! A tree of one component is one run of nodes on every level, and so are the descendants of a node whose solid belongs
//! to one component. Only nodes of several components are made again, one per component.
//!
//! Where the nodes and leaves of each tree of a forest lie: on every level those of a tree follow each other.

use std::ops::Range;

use rayon::prelude::*;

use super::native::{LeafRun, NativeCells, Trees};
use crate::{
    fracture::{
        Cancel, Cancelled,
        voronoi::islands::native::{NativeIslands, SEVERAL},
    },
    svo::Node,
};

/// Elements that one task copies at most.
const CHUNK: usize = 1 << 15;

/// Splits the cells' octrees.
///
/// # Errors
/// [`Cancelled`].
pub(in crate::fracture) fn split(
    cells: NativeCells,
    islands: &NativeIslands,
    cancel: &Cancel,
) -> Result<NativeCells, Cancelled> {
    let levels = cells.level_start.len() - 1;
    let plans = plans(cells.trees(), islands, cancel)?;
    // By level: the components' runs one after the other.
    let runs: Vec<Vec<Run>> = (0..=levels)
        .map(|l| {
            let mut runs = Vec::new();
            plans.iter().flat_map(|plan| &plan.levels[l]).for_each(|run| add(&mut runs, *run));
            runs
        })
        .collect();
    drop(plans);

    let mut level_start = vec![0u32];
    for l in 0..levels {
        let count: u32 = runs[l].iter().map(|run| run.count).sum();
        level_start.push(level_start[l] + count);
    }
    let nodes = split_nodes(&cells.nodes, &runs[..levels], &level_start, cancel)?;
    let leaves = runs[levels].iter().map(|run| LeafRun { first: run.first, count: run.count });
    Ok(NativeCells { nodes, level_start, runs: leaves.collect(), leaves: cells.leaves })
}

/// Nodes (or leaves) that follow each other in the cells' octrees and in the components'.
#[derive(Clone, Copy)]
struct Run {
    first: u32,
    count: u32,
    /// Children of all its nodes.
    children: u32,
    /// Masks of a single node of several components; 0 if nodes stay unchanged.
    masks: u32,
}

/// Lengthens the last run where it can.
fn add(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        Some(last) if last.masks == 0 && run.masks == 0 && last.first + last.count == run.first => {
            last.count += run.count;
            last.children += run.children;
        }
        _ => runs.push(run),
    }
}

/// Nodes and leaves of one component's octree.
struct Plan {
    /// Runs of every level, leaves last.
    levels: Vec<Vec<Run>>,
}

impl Plan {
    fn new(levels: usize) -> Self {
        Self { levels: vec![Vec::new(); levels + 1] }
    }
}

/// One a component, in their order.
fn plans(cells: Trees<'_>, islands: &NativeIslands, cancel: &Cancel) -> Result<Vec<Plan>, Cancelled> {
    let levels = cells.level_start.len() - 1;
    let ranges = TreeRanges::of(cells.nodes, cells.level_start, cells.leaves);
    let mut by_tree: Vec<(u32, u32)> =
        (0..).zip(&islands.components).map(|(rank, [_, tree])| (*tree, rank)).collect();
    by_tree.sort_unstable();
    let trees: Vec<&[(u32, u32)]> = by_tree.chunk_by(|a, b| a.0 == b.0).collect();
    let found = trees
        .into_par_iter()
        .map(|ranks| {
            cancel.check()?;
            let tree = ranks[0].0;
            let mut plans: Vec<(u32, Plan)> =
                ranks.iter().map(|(_, rank)| (*rank, Plan::new(levels))).collect();
            if let [(_, plan)] = &mut plans[..] {
                for (l, runs) in plan.levels.iter_mut().enumerate() {
                    let nodes = ranges.nodes(tree as usize, l);
                    let children = if l < levels { ranges.nodes(tree as usize, l + 1).len() } else { 0 };
                    let (first, count) = (nodes.start as u32, nodes.len() as u32);
                    runs.push(Run { first, count, children: children as u32, masks: 0 });
                }
            } else {
                let labels = ranks.iter().map(|(_, rank)| islands.components[*rank as usize][0]).collect();
                Apart { cells, islands, labels, plans: &mut plans }.take(tree, 0);
            }
            Ok(plans)
        })
        .collect::<Result<Vec<Vec<(u32, Plan)>>, Cancelled>>()?;
    let mut plans: Vec<(u32, Plan)> = found.into_iter().flatten().collect();
    plans.sort_unstable_by_key(|(rank, _)| *rank);
    Ok(plans.into_iter().map(|(_, plan)| plan).collect())
}

/// A tree of several components during its split.
struct Apart<'a> {
    cells: Trees<'a>,
    islands: &'a NativeIslands,
    /// Labels of its components, ascending.
    labels: Vec<u32>,
    /// Their ranks among all, and what they are made of.
    plans: &'a mut [(u32, Plan)],
}

impl Apart<'_> {
    /// Which of the tree's components have nodes below a node, ascending.
    fn take(&mut self, index: u32, level: usize) -> Vec<usize> {
        let word = self.islands.parts[index as usize];
        let node = self.cells.nodes[index as usize];
        let own = self.labels.binary_search(&(word & !SEVERAL)).ok();
        if word & SEVERAL == 0 {
            if let Some(component) = own {
                self.copy(component, index, level);
            }
            return own.into_iter().collect();
        }
        // (component, its masks)
        let mut shares: Vec<(usize, u32)> = Vec::new();
        if let Some(component) = own.filter(|_| node.internal() != 0) {
            shares.push((component, u32::from(node.internal()) << 8));
        }
        for c in (0..8).filter(|c| node.valid() >> c & 1 == 1) {
            let below = self.take(node.child(c), level + 1);
            shares.extend(below.into_iter().map(|component| (component, 1 << c)));
        }
        shares.sort_unstable();
        let mut present = Vec::new();
        for shares in shares.chunk_by(|a, b| a.0 == b.0) {
            let masks = shares.iter().fold(0, |masks, share| masks | share.1);
            let children = (masks & 0xff).count_ones();
            let component = shares[0].0;
            add(&mut self.plans[component].1.levels[level], Run { first: index, count: 1, children, masks });
            present.push(component);
        }
        present
    }

    /// A node and all below it.
    fn copy(&mut self, component: usize, index: u32, level: usize) {
        let nodes = self.cells.nodes;
        let levels = &mut self.plans[component].1.levels[level..];
        let at_leaves = levels.len() - 1;
        let mut run = Run { first: index, count: 1, children: 0, masks: 0 };
        for (l, runs) in levels.iter_mut().enumerate() {
            let mut next = Run { first: 0, count: 0, children: 0, masks: 0 };
            if l < at_leaves {
                let own = &nodes[run.first as usize..(run.first + run.count) as usize];
                let has_children = |node: &&Node| node.valid() != 0;
                if let (Some(first), Some(last)) =
                    (own.iter().find(has_children), own.iter().rev().find(has_children))
                {
                    next.first = first.child_base;
                    next.count = last.child_base + u32::from(last.valid()).count_ones() - first.child_base;
                }
            }
            run.children = next.count;
            add(runs, run);
            if next.count == 0 {
                return;
            }
            run = next;
        }
    }
}

/// Nodes of all levels with their children in place.
fn split_nodes(
    source: &[Node],
    runs: &[Vec<Run>],
    level_start: &[u32],
    cancel: &Cancel,
) -> Result<Vec<Node>, Cancelled> {
    let total = level_start[level_start.len() - 1] as usize;
    let mut nodes = vec![Node::default(); total];
    // (destination, the part of the run for it, index of its first child)
    let mut tasks: Vec<(&mut [Node], Run, u32)> = Vec::new();
    let mut rest = &mut nodes[..];
    for (l, runs) in runs.iter().enumerate() {
        // Nodes of the next level follow; leaves count from 0.
        let mut child = if l + 1 < level_start.len() - 1 { level_start[l + 1] } else { 0 };
        for run in runs {
            let (own, after) = std::mem::take(&mut rest).split_at_mut(run.count as usize);
            rest = after;
            tasks.push((own, *run, child));
            child += run.children;
        }
    }
    tasks.par_iter_mut().try_for_each(|(own, run, child)| {
        cancel.check()?;
        if run.masks != 0 {
            own[0] = Node { child_base: *child, masks: run.masks };
            return Ok(());
        }
        let from = &source[run.first as usize..(run.first + run.count) as usize];
        let first_parent = from.iter().find(|node| node.valid() != 0).or(from.first());
        let before = first_parent.map_or(0, |node| node.child_base);
        own.par_chunks_mut(CHUNK).zip(from.par_chunks(CHUNK)).for_each(|(own, from)| {
            for (own, node) in own.iter_mut().zip(from) {
                let child_base = child.wrapping_add(node.child_base.wrapping_sub(before));
                *own = Node { child_base, masks: node.masks };
            }
        });
        Ok(())
    })?;
    Ok(nodes)
}

/// First node of every tree on every level, and first leaf.
pub(in crate::fracture) struct TreeRanges {
    trees: usize,
    /// `trees + 1` entries a level, the leaves last.
    first: Vec<u32>,
}

impl TreeRanges {
    /// Ranges of octrees in the layout of [`Forest`](crate::svo::Forest), with `leaves` leaves at the nodes of the last
    /// level. Children have the order of their parents.
    pub fn of(nodes: &[Node], level_start: &[u32], leaves: usize) -> Self {
        let trees = level_start.get(1).map_or(0, |end| *end as usize);
        let levels = level_start.len().saturating_sub(1);
        let mut first: Vec<u32> = (0..=trees as u32).collect();
        for l in 0..levels {
            let row = first.len() - trees - 1;
            let end = if l + 1 < levels { level_start[l + 2] } else { leaves as u32 };
            first.resize(first.len() + trees + 1, end);
            for tree in (0..trees).rev() {
                let own = nodes.get(first[row + tree] as usize..first[row + tree + 1] as usize);
                let parent = own.unwrap_or_default().iter().find(|node| node.valid() != 0);
                first[row + trees + 1 + tree] =
                    parent.map_or(first[row + trees + 2 + tree], |node| node.child_base);
            }
        }
        Self { trees, first }
    }

    /// Nodes of a tree at a parent level; at the leaf level its leaves.
    pub fn nodes(&self, tree: usize, level: usize) -> Range<usize> {
        let at = level * (self.trees + 1) + tree;
        self.first[at] as usize..self.first[at + 1] as usize
    }

    /// First leaf of every tree, and the number of leaves.
    pub fn tree_start(&self) -> &[u32] {
        &self.first[self.first.len() - self.trees - 1..]
    }
}
