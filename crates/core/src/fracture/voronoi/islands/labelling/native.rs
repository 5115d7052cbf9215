//! The published labelling (2016, sec. 4.5.1 and 4.5.2) on the processor's cores: after every iteration the labels of
//! the compute passes.
//!
//! In: voxels by cell. Out: labels and the changes of an iteration. Neighbours are searched once and stored, 4 bytes
//! each; an iteration reads only the labels before it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::{Step, Voxel, Voxels, labels_of_nodes};
use crate::{
    fracture::voronoi::{
        islands::native::{NativeIslands, SEVERAL},
        octrees::native::Trees,
    },
    svo::morton,
};

/// Voxels that one task takes.
const CHUNK: usize = 4096;

/// The cells' islands, in the form of the union-find on the cores.
pub(in crate::fracture) fn islands(octrees: Trees<'_>, island_level: u32) -> NativeIslands {
    let Trees { nodes, level_start, .. } = octrees;
    let trees: Vec<u32> = (0..level_start[1]).collect();
    let voxels = Voxels::of_nodes(nodes, level_start.len() as u32 - 1, island_level, &trees, true);
    let mut run = NativeRun::new(&voxels, true);
    while !run.finished() {
        run.step();
    }
    let last = island_level - 1;
    let (mut parts, components) =
        labels_of_nodes(&voxels, &run.labels, level_start[island_level as usize] as usize);
    parts[..level_start[last as usize] as usize].iter_mut().for_each(|word| *word |= SEVERAL);
    NativeIslands { components, parts, last }
}

/// A labelling in progress. Labels never fall, and end as the largest index of each component.
pub struct NativeRun {
    groups: Vec<[u32; 2]>,
    done: Vec<bool>,
    iteration: u32,
    flattens: bool,
    /// Index of the first neighbour of every voxel.
    first: Vec<u32>,
    neighbours: Vec<u32>,
    labels: Vec<u32>,
    next: Vec<AtomicU32>,
}

impl NativeRun {
    /// Before the first iteration: every voxel's label is its index in `voxels`. Without `flattens`, chains are not
    /// flattened (sec. 4.5.2), so that labels flood from voxel to voxel as in sec. 4.5.1.
    #[must_use]
    pub fn new(voxels: &Voxels, flattens: bool) -> Self {
        let found: Vec<(Vec<u32>, Vec<u32>)> = voxels
            .list
            .par_chunks(CHUNK)
            .map(|chunk| {
                let (mut counts, mut found) = (Vec::with_capacity(chunk.len()), Vec::new());
                for voxel in chunk {
                    let before = found.len();
                    found.extend((0..DIRECTIONS.len()).filter_map(|n| beside(voxels, voxel, n)));
                    counts.push((found.len() - before) as u32);
                }
                (counts, found)
            })
            .collect();
        let mut first = Vec::with_capacity(voxels.len() + 1);
        first.push(0u32);
        for count in found.iter().flat_map(|(counts, _)| counts) {
            first.push(first[first.len() - 1] + count);
        }
        Self {
            groups: voxels.ranges.clone(),
            done: voxels.ranges.iter().map(|[first, end]| first == end).collect(),
            iteration: 0,
            flattens,
            first,
            neighbours: found.into_iter().flat_map(|(_, found)| found).collect(),
            labels: (0..voxels.len() as u32).collect(),
            next: (0..voxels.len() as u32).map(AtomicU32::new).collect(),
        }
    }

    /// Whether all groups are finished.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.done.iter().all(|done| *done)
    }

    /// Labels as they are now, one per voxel.
    #[must_use]
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Runs one iteration over the groups that are not done.
    pub fn step(&mut self) -> Step {
        let mut labels = std::mem::take(&mut self.labels);
        let Self { groups, done, first, neighbours, next, .. } = &*self;
        next.par_iter()
            .zip(&labels)
            .with_min_len(CHUNK)
            .for_each(|(next, label)| next.store(*label, Relaxed));
        let under_way = || groups.par_iter().zip(done).filter(|(_, done)| !**done);
        let raise = |voxel: u32, label: u32| {
            let next = &next[voxel as usize];
            if next.load(Relaxed) < label {
                next.fetch_max(label, Relaxed);
            }
        };
        under_way().for_each(|([begin, end], _)| {
            (*begin..*end).into_par_iter().with_min_len(CHUNK).for_each(|voxel| {
                let near = first[voxel as usize] as usize..first[voxel as usize + 1] as usize;
                let near = neighbours[near].iter().copied().chain([voxel]);
                let largest = near.clone().map(|other| labels[other as usize]).max().unwrap_or(0);
                near.for_each(|other| raise(other, largest));
            });
        });

        let launched = under_way().map(|([begin, end], _)| u64::from(end - begin)).sum();
        let flattens = self.flattens;
        let flattened = |voxel: usize| {
            let next = |x: u32| next[x as usize].load(Relaxed);
            let mut x = next(voxel as u32);
            let mut above = if flattens { next(x) } else { x };
            while above != x {
                x = above;
                above = next(x);
            }
            x
        };
        let mut parts = Vec::new();
        let mut rest = &mut labels[..];
        for ([begin, end], done) in groups.iter().zip(done) {
            let (own, after) = std::mem::take(&mut rest).split_at_mut((end - begin) as usize);
            rest = after;
            parts.push((*begin as usize, own, *done));
        }
        let changes: Vec<u32> = parts
            .into_par_iter()
            .map(|(begin, own, done)| {
                let turn = |(i, label): (usize, &mut u32)| {
                    let new = flattened(begin + i);
                    u32::from(std::mem::replace(label, new) != new)
                };
                if done { 0 } else { own.par_iter_mut().with_min_len(CHUNK).enumerate().map(turn).sum() }
            })
            .collect();
        for (done, changed) in self.done.iter_mut().zip(&changes) {
            *done = *changed == 0;
        }
        self.labels = labels;
        self.iteration += 1;
        Step { iteration: self.iteration, launched, changes, done: self.done.clone() }
    }
}

/// The layer below, the row behind and the voxel to the left, so that each pair is visited once; then the remaining
/// faces, for larger voxels, which do not visit each voxel on their sides.
#[rustfmt::skip]
const DIRECTIONS: [[i64; 3]; 16] = [
    [-1, -1, -1], [0, -1, -1], [1, -1, -1], [-1, 0, -1], [0, 0, -1], [1, 0, -1], [-1, 1, -1], [0, 1, -1],
    [1, 1, -1], [-1, 1, 0], [0, 1, 0], [1, 1, 0], [-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 0, 1],
];
/// How many of them are not for larger voxels alone.
const FOR_ALL: usize = 13;

/// The voxel of the same group that covers the place of this size beside `voxel`.
fn beside(voxels: &Voxels, voxel: &Voxel, direction: usize) -> Option<u32> {
    let (place, edge) = (morton::decode(voxel.key).map(i64::from), 1i64 << voxel.size_log2);
    let there: [i64; 3] = std::array::from_fn(|axis| place[axis] + DIRECTIONS[direction][axis] * edge);
    if there.iter().any(|v| !(0..1i64 << voxels.level).contains(v)) {
        return None;
    }
    let key = morton::encode(there.map(|v| v as u32));
    let [first, end] = voxels.ranges[voxel.group as usize];
    let own = &voxels.list[first as usize..end as usize];
    let at = own.partition_point(|other| other.key <= key).checked_sub(1)?;
    let found = own[at];
    let covers = (key - found.key) >> (3 * found.size_log2) == 0;
    let least = voxel.size_log2 + u32::from(direction >= FOR_ALL);
    (covers && found.size_log2 >= least).then_some(first + at as u32)
}
