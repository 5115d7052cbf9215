//! The descent on the processor's cores: the algorithm of the passes in the folder above, in one walk for all objects.
//! Cracks decide from a level of their own on (`surface/`).
//!
//! In: one source octree, seeds, cracks. Out: one octree an object, the same as by the passes: the owner of a corner at
//! the end is exact, nodes that are empty or wholly inside are dropped, and order is object-major and Morton.
//!
//! Two rounds over the same tasks, each a node of an upper level: the first walks and decides ([`walk`], [`subtree`]),
//! which gives the nodes and the number of leaves of every object there; the second ([`leaf_writer`]) writes the leaves
//! at their final places, once islands are known.

mod leaf_writer;
mod root_tasks;
mod subtree;

use std::sync::Arc;

use rayon::prelude::*;

pub(in crate::fracture) use leaf_writer::{LeafRange, LeafWords};
pub(in crate::fracture) use subtree::{
    Candidate, INSIDE, Step, Subtree, WalkedNode, distance2, is_single, narrow, planar_objects,
};

use self::{
    leaf_writer::{Order, UnwrittenLeaves},
    root_tasks::{RootTasks, Task},
};
use crate::{
    fracture::{
        Cancelled, FractureError, Pattern, Source,
        voronoi::{
            octrees::native::{LeafRun, NativeCells},
            stages::Stopwatch,
        },
    },
    geometry::set_bits,
    svo::Node,
};

/// A kind of crack surface, which decides below the level to which cells decide.
pub(in crate::fracture) trait Cracks: Sync + 'static {
    /// Data of a task's nodes for the second round.
    type Records: Default + Send + 'static;
    /// Data that a worker keeps from leaf to leaf.
    type Memory: Default + Send;

    /// The level whose nodes are handed over, at most the last parent level.
    fn level(&self) -> u32;

    /// First round: a node that several objects of `list` may have a part of. Grows what is below it for each.
    fn node(
        &self,
        place: &WalkedNode,
        list: &[Candidate],
        subtree: &mut Subtree,
        records: &mut Self::Records,
    );

    /// Second round: writes the leaves of a record ([`Subtree::block`]), `out` by slot.
    fn leaves(
        &self,
        records: &Self::Records,
        record: u32,
        subtree: &Subtree,
        memory: &mut Self::Memory,
        out: &mut [LeafRange<'_>],
    );
}

/// Walks one task after another; what it keeps between them is only memory.
struct Walker<'a, C: Cracks> {
    cracks: &'a C,
    nodes: &'a [Node],
    /// Lists of the nodes on the path, each behind its parent's.
    lists: Vec<Candidate>,
    /// Octants of every candidate of those lists.
    masks: Vec<u8>,
    leads: Vec<[i32; 8]>,
}

impl<'a, C: Cracks> Walker<'a, C> {
    fn new(cracks: &'a C, nodes: &'a [Node]) -> Self {
        Self { cracks, nodes, lists: Vec::new(), masks: Vec::new(), leads: Vec::new() }
    }

    /// All below a task's node.
    fn run(&mut self, place: &WalkedNode, subtree: &mut Subtree, records: &mut C::Records) {
        self.lists.clear();
        self.masks.clear();
        self.lists.extend_from_slice(&subtree.candidates);
        self.node(place, 0, subtree, records);
    }

    /// The node's list is the rest of `lists` from `first` on.
    fn node(&mut self, place: &WalkedNode, first: usize, subtree: &mut Subtree, records: &mut C::Records) {
        let list = &self.lists[first..];
        if is_single(list) {
            subtree.copy(self.nodes, list[0].slot, place);
            return;
        }
        if place.level == self.cracks.level() {
            self.cracks.node(place, list, subtree, records);
            return;
        }
        let end = self.lists.len();
        let masks = self.masks.len();
        narrow(place, list, &mut self.leads, &mut self.masks);
        for candidate in list {
            subtree.begin(place.level, candidate.slot);
        }
        let (valid, internal) = place.octants(self.nodes);
        for octant in set_bits(valid | internal) {
            for k in 0..end - first {
                if self.masks[masks + k] >> octant & 1 == 1 {
                    let candidate = self.lists[first + k];
                    self.lists.push(candidate);
                }
            }
            self.node(&place.child(self.nodes, octant), end, subtree, records);
            self.lists.truncate(end);
        }
        for candidate in &self.lists[first..] {
            subtree.end(place.level, candidate.slot, place.octant());
        }
        self.masks.truncate(masks);
    }
}

/// The seeds as candidates at the root: all of them, with the rank of their object as slot.
pub(in crate::fracture) fn at_root(pattern: &Pattern) -> Vec<Candidate> {
    let ids = pattern.object_ids();
    let rank = |object: u32| ids.partition_point(|id| *id < object) as u32;
    let seeds = (0..).zip(&pattern.seeds).zip(&pattern.objects);
    seeds.map(|((index, at), object)| Candidate { at: *at, index, slot: rank(*object) }).collect()
}

/// Number of levels above the tasks. Enough tasks for all cores even if an object fills a small part of its grid.
fn task_level(leaf_level: u32, cracks: u32) -> u32 {
    let wanted = match leaf_level {
        0..=3 => 0,
        4..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    wanted.min(cracks)
}

/// The octrees of all objects that get a voxel, and which do, by rank.
pub(in crate::fracture) fn cells<C: Cracks>(
    broken: &Source<'_>,
    list: Vec<Candidate>,
    objects: usize,
    cracks: C,
    watch: &mut Stopwatch,
) -> Result<(NativeCells, Vec<bool>), FractureError> {
    let Source { forest: source, tree, cancel, .. } = *broken;
    watch.start("traverse");
    let task_level = task_level(source.level, cracks.level());
    let (top, tasks) = RootTasks::new(&source.nodes, tree, list, task_level);
    let walked = |walker: &mut Walker<'_, C>, task: &Task| {
        cancel.check()?;
        let mut subtree = Subtree::new(task_level, source.level, &task.list);
        let mut records = C::Records::default();
        walker.run(&task.place, &mut subtree, &mut records);
        Ok((subtree, records))
    };
    let tasks = tasks.par_iter().with_max_len(1);
    let all =
        tasks.map_init(|| Walker::new(&cracks, &source.nodes), walked).collect::<Result<Vec<_>, Cancelled>>();
    let (mut subtrees, records): (Vec<Subtree>, Vec<C::Records>) = all?.into_iter().unzip();
    watch.start("octrees");
    let closed = top.close(&subtrees);
    check_counts(&closed, &subtrees)?;
    let order = Order::new(&subtrees, objects);
    let mut level_start = vec![0u32];
    let mut next = 0;
    for nodes in &closed {
        next += nodes.len() as u32;
        level_start.push(next);
    }
    // First index of every task's part of every object, by level and slot.
    let mut bases: Vec<Vec<u32>> = subtrees.iter().map(|_| Vec::new()).collect();
    for level in task_level..source.level {
        order.place(&subtrees, level, &mut next, &mut bases);
        level_start.push(next);
    }
    let mut leaf_count = 0;
    order.place(&subtrees, source.level, &mut leaf_count, &mut bases);

    let mut nodes = vec![Node::default(); next as usize];
    for (level, closed) in closed.iter().enumerate() {
        let first = level_start[level] as usize;
        let mut child = level_start[level + 1];
        for (slot, (_, node)) in nodes[first..].iter_mut().zip(closed) {
            *slot = Node { child_base: child, ..*node };
            child += node.valid().count_ones();
        }
    }
    let mut survived = vec![false; objects];
    if task_level == 0 {
        let rooted = (0..).zip(&subtrees[0].ranks).filter(|(slot, _)| subtrees[0].count(0, *slot) > 0);
        rooted.for_each(|(_, rank)| survived[*rank as usize] = true);
    } else {
        closed[0].iter().for_each(|(rank, _)| survived[*rank as usize] = true);
    }

    // By task, then by level and slot.
    let mut node_parts: Vec<Vec<&mut [Node]>> = subtrees.iter().map(|_| Vec::new()).collect();
    let mut rest = &mut nodes[level_start[task_level as usize] as usize..];
    for level in task_level..source.level {
        order.share_nodes(&subtrees, level, &mut rest, &mut node_parts);
    }
    let parts = subtrees.par_iter_mut().zip(&bases).zip(node_parts).with_max_len(1);
    parts.try_for_each(|((subtree, bases), parts)| {
        cancel.check()?;
        let slots = subtree.ranks.len();
        // Written parts are dropped.
        for ((row, nodes), part) in subtree.take_nodes().iter().enumerate().zip(parts) {
            let base = bases[row + slots];
            for (to, node) in part.iter_mut().zip(nodes) {
                *to = Node { child_base: node.child_base + base, ..*node };
            }
        }
        Ok::<(), Cancelled>(())
    })?;
    watch.stop();
    let runs = vec![LeafRun { first: 0, count: leaf_count }];
    let leaves = Box::new(UnwrittenLeaves { source: Arc::clone(source), cracks, subtrees, records, order });
    Ok((NativeCells { nodes, level_start, runs, leaves }, survived))
}

/// Most nodes, and leaves, of all pieces: the islands keep a bit of a node's index for themselves.
const MOST: u64 = 1 << 31;

/// Whether indices have room for everything. Memory ends sooner on most machines.
fn check_counts(closed: &[Vec<(u32, Node)>], subtrees: &[Subtree]) -> Result<(), FractureError> {
    let leaves: u64 =
        subtrees.iter().flat_map(|subtree| &subtree.leaves).map(|count| u64::from(*count)).sum();
    let below: usize = subtrees.iter().flat_map(|subtree| &subtree.nodes).map(Vec::len).sum();
    let nodes = closed.iter().map(Vec::len).sum::<usize>() + below;
    if leaves >= MOST || nodes as u64 >= MOST {
        return Err(FractureError::Params(format!(
            "the pieces would have {leaves} boundary voxels, and {MOST} are the most; take a lower level or fewer seeds"
        )));
    }
    Ok(())
}
