//! The published labelling (2016, sec. 4.5.1 and 4.5.2) in compute passes, one iteration at a time.
//!
//! In: voxels by cell. Out: labels and the changes of an iteration. The algorithm is in the kernels; `plain.rs` is the
//! same without them.

use super::{Voxels, labels_of_nodes};
use crate::{
    fracture::voronoi::{islands::Islands, octrees::Octrees},
    gpu::{Buffer, Gpu, GpuError, Recorder, Submissions, bind, kernels, shared},
    svo::MAX_PASSES_LEVEL,
};

kernels! {
    /// The compiled passes.
    pub struct IterativePass {
        spread: "fracture/voronoi/islands/labelling/spread",
        flatten: "fracture/voronoi/islands/labelling/flatten",
    }
}

shared! {
    pub(in crate::fracture) struct LabelSpreadParams { threads: u32, launches: u32, level: u32, is_first: u32 }

    pub(in crate::fracture) struct LabelFlattenParams { threads: u32, launches: u32, flatten: u32 }
}

/// A labelling in progress. Labels never fall, and end as the largest index of each component.
pub struct IterativeRun {
    level: u32,
    groups: Vec<[u32; 2]>,
    done: Vec<bool>,
    iteration: u32,
    launched: u64,
    flattens: bool,
    voxels: Buffer<[u32; 2]>,
    ranges: Buffer<[u32; 2]>,
    labels: Buffer<u32>,
    next: Buffer<u32>,
    state: Buffer<u32>,
    changes: Buffer<u32>,
}

/// Result of one iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Counted from 1.
    pub iteration: u32,
    /// Threads that were launched: the voxels of the groups that were not done.
    pub launched: u64,
    /// Voxels whose label changed, per group of [`Voxels::cells`].
    pub changes: Vec<u32>,
    /// Groups that are finished after this iteration, because it changed nothing in them.
    pub done: Vec<bool>,
}

impl Step {
    /// Voxels whose label changed, in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.changes.iter().map(|n| u64::from(*n)).sum()
    }
}

impl IterativePass {
    /// Labels `voxels` to the end.
    ///
    /// # Errors
    /// [`GpuError`] if the device fails or cannot hold them.
    pub fn run(&self, gpu: &Gpu, voxels: &Voxels) -> Result<Vec<u32>, GpuError> {
        let mut run = IterativeRun::new(gpu, voxels)?;
        while !run.finished() {
            run.step(gpu, self)?;
        }
        run.labels(gpu)
    }

    /// The cells' islands, in the form of the union-find: a node's label is the smallest node index of its component.
    pub(in crate::fracture) fn islands(
        &self,
        work: &mut Submissions<'_>,
        octrees: &Octrees,
        island_level: u32,
    ) -> Result<Islands, GpuError> {
        let gpu = work.gpu;
        let nodes = octrees.nodes.read(gpu)?;
        let leaf_level = octrees.level_start.len() as u32 - 1;
        let trees: Vec<u32> = (0..octrees.level_start[1]).collect();
        let voxels = Voxels::of_nodes(&nodes, leaf_level, island_level, &trees, true);
        let mut run = IterativeRun::new(gpu, &voxels)?;
        while !run.finished() {
            work.submit(run.record(gpu, self, "islands")?);
            run.finish_step(gpu)?;
        }
        let found = run.labels(gpu)?;
        let (mut labels, components) = labels_of_nodes(&voxels, &found, nodes.len());
        let last = island_level - 1;
        for i in octrees.level_start[last as usize]..octrees.level_start[leaf_level as usize - 1] {
            let node = nodes[i as usize];
            for child in node.child_base..node.child_base + u32::from(node.valid()).count_ones() {
                labels[child as usize] = labels[i as usize];
            }
        }
        Ok(Islands { labels: Buffer::from_slice(gpu, "labels", &labels)?, components, last })
    }
}

impl IterativeRun {
    /// Before the first iteration: every voxel's label is its index in `voxels`.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] if the device cannot hold them, [`GpuError::TooFine`] at levels beyond those of passes.
    pub fn new(gpu: &Gpu, voxels: &Voxels) -> Result<Self, GpuError> {
        if voxels.level > MAX_PASSES_LEVEL {
            return Err(GpuError::TooFine { level: voxels.level, most: MAX_PASSES_LEVEL });
        }
        let words: Vec<[u32; 2]> = voxels.list.iter().map(|v| [v.key as u32, v.size_log2]).collect();
        let numbers: Vec<u32> = (0..words.len() as u32).collect();
        Ok(Self {
            level: voxels.level,
            done: voxels.ranges.iter().map(|[first, end]| first == end).collect(),
            iteration: 0,
            launched: 0,
            flattens: true,
            voxels: Buffer::from_slice(gpu, "labelled voxels", &words)?,
            ranges: Buffer::from_slice(gpu, "labelled groups", &voxels.ranges)?,
            groups: voxels.ranges.clone(),
            labels: Buffer::from_slice(gpu, "labels", &numbers)?,
            next: Buffer::zeroed(gpu, "next labels", numbers.len())?,
            state: Buffer::zeroed(gpu, "known neighbours", numbers.len())?,
            changes: Buffer::zeroed(gpu, "changed labels", voxels.ranges.len())?,
        })
    }

    /// Disables the flattening of chains (sec. 4.5.2), so that labels flood from voxel to voxel as in sec. 4.5.1. Takes
    /// many more iterations to the same result.
    #[must_use]
    pub fn without_flattening(self) -> Self {
        Self { flattens: false, ..self }
    }

    /// Whether all groups are finished.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.done.iter().all(|done| *done)
    }

    /// Runs one iteration over the groups that are not done.
    ///
    /// # Errors
    /// [`GpuError`] when the device fails.
    pub fn step(&mut self, gpu: &Gpu, pass: &IterativePass) -> Result<Step, GpuError> {
        self.record(gpu, pass, "labelling")?.submit();
        self.finish_step(gpu)
    }

    /// Labels as they are now, one per voxel.
    ///
    /// # Errors
    /// [`GpuError`] when the device fails.
    pub fn labels(&self, gpu: &Gpu) -> Result<Vec<u32>, GpuError> {
        self.labels.read(gpu)
    }

    fn record<'g>(
        &mut self,
        gpu: &'g Gpu,
        pass: &IterativePass,
        stage: &'static str,
    ) -> Result<Recorder<'g>, GpuError> {
        let mut launches = Vec::new();
        let mut threads = 0;
        for (group, [first, end]) in self.groups.iter().enumerate().filter(|(group, _)| !self.done[*group]) {
            launches.push([group as u32, threads]);
            threads += end - first;
        }
        let count = launches.len() as u32;
        let launched = Buffer::from_slice(gpu, "launched groups", &launches)?;
        let is_first = u32::from(self.iteration == 0);
        self.iteration += 1;
        self.launched = u64::from(threads);

        let mut rec = Recorder::new(gpu, stage);
        let Self { voxels, ranges, labels, next, state, changes, .. } = &*self;
        rec.copy(labels, next);
        rec.clear(changes, 0..changes.len());
        let params = LabelSpreadParams { threads, launches: count, level: self.level, is_first };
        let given = bind![voxels, ranges, launched, labels, state, next];
        rec.run(&pass.spread, threads as usize, &params, given)?;
        let flatten = u32::from(self.flattens);
        let params = LabelFlattenParams { threads, launches: count, flatten };
        let given = bind![ranges, launched, next, labels, changes];
        rec.run(&pass.flatten, threads as usize, &params, given)?;
        Ok(rec)
    }

    fn finish_step(&mut self, gpu: &Gpu) -> Result<Step, GpuError> {
        let changes = self.changes.read(gpu)?;
        for (done, changed) in self.done.iter_mut().zip(&changes) {
            *done = *changed == 0;
        }
        Ok(Step { iteration: self.iteration, launched: self.launched, changes, done: self.done.clone() })
    }
}
