//! The second round: writes the leaves of all tasks at their final places. A task writes every object's leaves to a
//! part of the final arrays of its own ([`LeafRange`]).

use std::sync::Arc;

use rayon::prelude::*;

use super::{Cracks, Step, Subtree};
use crate::{
    fracture::{
        Cancel, Cancelled,
        voronoi::octrees::native::{LeafRun, LeavesToCome, NativeLeaves},
    },
    svo::{Forest, Key, KeySliceMut, Leaves, Node},
};

/// The first round's data for leaves.
pub(super) struct UnwrittenLeaves<C: Cracks> {
    pub source: Arc<Forest>,
    pub cracks: C,
    pub subtrees: Vec<Subtree>,
    pub records: Vec<C::Records>,
    pub order: Order,
}

impl<C: Cracks> LeavesToCome for UnwrittenLeaves<C> {
    fn write(self: Box<Self>, runs: &[LeafRun], cancel: &Cancel) -> Result<NativeLeaves, Cancelled> {
        let Self { source, cracks, subtrees, records, order } = *self;
        let count = runs.iter().map(|run| run.count as usize).sum();
        let mut leaves = NativeLeaves::zeroed(source.level, count);
        let shares = order.share_leaves(&subtrees, runs, LeafSlices::of(&mut leaves));
        let parts = subtrees.into_par_iter().zip(records).zip(shares).with_max_len(1);
        parts.try_for_each_init(C::Memory::default, |memory, ((subtree, records), mut out)| {
            cancel.check()?;
            for step in &subtree.steps {
                if step.slot == Step::BLOCK {
                    for record in step.first..step.first + step.count {
                        cracks.leaves(&records, record, &subtree, memory, &mut out);
                    }
                } else {
                    out[step.slot as usize].copy(&source.leaves, step.first, step.count);
                }
            }
            Ok(())
        })?;
        Ok(leaves)
    }
}

/// The parts of the tasks in the order of an octree's level: by object, then by task.
pub(super) struct Order {
    /// (task, slot)
    parts: Vec<(u32, u32)>,
}

/// Leaves of one part that stay together.
struct Stretch {
    task: u32,
    slot: u32,
    count: u32,
    /// Place of the first one in the output.
    to: u32,
}

impl Order {
    pub fn new(subtrees: &[Subtree], objects: usize) -> Self {
        let mut firsts = vec![0usize; objects + 1];
        for rank in subtrees.iter().flat_map(|subtree| &subtree.ranks) {
            firsts[*rank as usize + 1] += 1;
        }
        for rank in 0..objects {
            firsts[rank + 1] += firsts[rank];
        }
        let mut parts = vec![(0, 0); firsts[objects]];
        for (task, subtree) in (0..).zip(subtrees) {
            for (slot, rank) in (0..).zip(&subtree.ranks) {
                let at = &mut firsts[*rank as usize];
                parts[*at] = (task, slot);
                *at += 1;
            }
        }
        Self { parts }
    }

    /// Appends to every task's bases those of a level, by slot, and moves `next` on.
    pub fn place(&self, subtrees: &[Subtree], level: u32, next: &mut u32, bases: &mut [Vec<u32>]) {
        let rows: Vec<usize> = bases.iter().map(Vec::len).collect();
        for (bases, subtree) in bases.iter_mut().zip(subtrees) {
            bases.resize(bases.len() + subtree.ranks.len(), 0);
        }
        for (task, slot) in &self.parts {
            bases[*task as usize][rows[*task as usize] + *slot as usize] = *next;
            *next += subtrees[*task as usize].count(level, *slot);
        }
    }

    /// Appends to every task's parts those of a level, by slot.
    pub fn share_nodes<'a>(
        &self,
        subtrees: &[Subtree],
        level: u32,
        rest: &mut &'a mut [Node],
        parts: &mut [Vec<&'a mut [Node]>],
    ) {
        let rows: Vec<usize> = parts.iter().map(Vec::len).collect();
        for (parts, subtree) in parts.iter_mut().zip(subtrees) {
            parts.extend(subtree.ranks.iter().map(|_| <&mut [Node]>::default()));
        }
        for (task, slot) in &self.parts {
            let count = subtrees[*task as usize].count(level, *slot) as usize;
            let (head, tail) = std::mem::take(rest).split_at_mut(count);
            *rest = tail;
            parts[*task as usize][rows[*task as usize] + *slot as usize] = head;
        }
    }

    /// By task and slot: the places of the leaves, if `all` of them are wanted in the order of the runs.
    fn share_leaves<'a>(
        &self,
        subtrees: &[Subtree],
        runs: &[LeafRun],
        mut all: LeafSlices<'a>,
    ) -> Vec<Vec<LeafRange<'a>>> {
        let stretches = self.stretches(subtrees, runs);
        // Cut off in the order in which they lie, handed out in that in which they were counted.
        let mut by_place: Vec<usize> = (0..stretches.len()).collect();
        by_place.sort_unstable_by_key(|at| stretches[*at].to);
        let mut slices: Vec<LeafSlices<'a>> = stretches.iter().map(|_| LeafSlices::default()).collect();
        for at in by_place {
            slices[at] = all.take(stretches[at].count as usize);
        }
        let empty = |subtree: &Subtree| subtree.ranks.iter().map(|_| LeafRange::default()).collect();
        let mut shares: Vec<Vec<LeafRange<'a>>> = subtrees.iter().map(empty).collect();
        for (stretch, slices) in stretches.iter().zip(slices) {
            shares[stretch.task as usize][stretch.slot as usize].then(slices);
        }
        shares
    }

    /// The parts cut where a run ends, in the order in which their leaves were counted.
    fn stretches(&self, subtrees: &[Subtree], runs: &[LeafRun]) -> Vec<Stretch> {
        let mut to = 0;
        let mut placed: Vec<(LeafRun, u32)> = Vec::with_capacity(runs.len());
        for run in runs {
            placed.push((*run, to));
            to += run.count;
        }
        placed.sort_unstable_by_key(|(run, _)| run.first);
        let mut placed = placed.into_iter();
        let (mut run, mut to) = (LeafRun { first: 0, count: 0 }, 0);
        let mut stretches = Vec::with_capacity(self.parts.len());
        for (task, slot) in &self.parts {
            let mut left = subtrees[*task as usize].leaves[*slot as usize];
            while left > 0 {
                if run.count == 0 {
                    let Some(next) = placed.next() else { break };
                    (run, to) = next;
                }
                let count = left.min(run.count);
                stretches.push(Stretch { task: *task, slot: *slot, count, to });
                left -= count;
                run.count -= count;
                to += count;
            }
        }
        stretches
    }
}

/// A leaf as [`NativeLeaves`] has it.
#[derive(Clone, Copy)]
pub(in crate::fracture) struct LeafWords {
    pub key: Key,
    pub origin: u32,
    pub normal: u32,
    pub color: u32,
    pub cut: u32,
}

/// A stretch of the arrays.
#[derive(Default)]
struct LeafSlices<'a> {
    keys: KeySliceMut<'a>,
    origins: &'a mut [u32],
    normals: &'a mut [u32],
    colors: &'a mut [u32],
    cuts: &'a mut [u32],
}

fn take<'a, T>(from: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (head, rest) = std::mem::take(from).split_at_mut(count);
    *from = rest;
    head
}

impl<'a> LeafSlices<'a> {
    /// All of them.
    fn of(leaves: &'a mut NativeLeaves) -> Self {
        let NativeLeaves { keys, origins, normals, colors, cuts } = leaves;
        Self { keys: keys.as_mut(), origins, normals, colors, cuts }
    }

    /// Cuts `count` leaves off its front.
    fn take(&mut self, count: usize) -> Self {
        let Self { keys, origins, normals, colors, cuts } = self;
        Self {
            keys: keys.take(count),
            origins: take(origins, count),
            normals: take(normals, count),
            colors: take(colors, count),
            cuts: take(cuts, count),
        }
    }

    /// Writes leaves of the source as they are.
    fn copy(mut self, source: &Leaves, first: u32) {
        let from = first as usize..first as usize + self.origins.len();
        self.keys.copy_from(0, source.keys.slice(from.clone()));
        self.normals.copy_from_slice(&source.normals[from.clone()]);
        self.cuts.copy_from_slice(&source.cuts[from.clone()]);
        self.colors.copy_from_slice(bytemuck::cast_slice(&source.colors[from]));
        for (origin, leaf) in self.origins.iter_mut().zip(first..) {
            *origin = leaf;
        }
    }
}

/// Where an object's leaves go, one after the other.
#[derive(Default)]
pub(in crate::fracture) struct LeafRange<'a> {
    /// Rest of the stretch that is being filled.
    here: LeafSlices<'a>,
    /// Number of its leaves that are written.
    at: usize,
    /// The stretches after it, the next one last.
    later: Vec<LeafSlices<'a>>,
}

impl<'a> LeafRange<'a> {
    /// Goes on in another stretch at the end.
    fn then(&mut self, slices: LeafSlices<'a>) {
        if self.here.origins.is_empty() {
            self.here = slices;
        } else {
            self.later.insert(0, slices);
        }
    }

    #[cold]
    fn go_on(&mut self) {
        self.here = self.later.pop().unwrap_or_default();
        self.at = 0;
    }

    /// Writes the next one.
    #[inline]
    pub fn put(&mut self, leaf: LeafWords) {
        if self.at == self.here.origins.len() {
            self.go_on();
        }
        let at = self.at;
        self.here.keys.set(at, leaf.key);
        self.here.origins[at] = leaf.origin;
        self.here.normals[at] = leaf.normal;
        self.here.colors[at] = leaf.color;
        self.here.cuts[at] = leaf.cut;
        self.at = at + 1;
    }

    /// Writes leaves of the source as they are.
    pub fn copy(&mut self, source: &Leaves, mut first: u32, mut count: u32) {
        while count > 0 {
            // Skips the written leaves.
            let _ = self.here.take(std::mem::take(&mut self.at));
            if self.here.origins.is_empty() {
                self.go_on();
            }
            let next = (count as usize).min(self.here.origins.len());
            if next == 0 {
                return;
            }
            self.here.take(next).copy(source, first);
            (first, count) = (first + next as u32, count - next as u32);
        }
    }
}
