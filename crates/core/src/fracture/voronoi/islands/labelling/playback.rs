//! Playback of the published labelling, forwards and backwards.
//!
//! In: voxels by cell. Out: labels after any iteration so far; the changes of each are stored, 8 bytes each.

use crate::gpu::GpuError;

use super::{IterativeRun, Labeller, NativeRun, Step, Voxels};

/// A labelling with its past.
pub struct Playback {
    run: Run,
    labels: Vec<u32>,
    /// (voxel, its label on the other side of the iteration): before it for iterations in the past, after it for
    /// those to come.
    turned: Vec<Vec<(u32, u32)>>,
    steps: Vec<Step>,
    at: usize,
}

enum Run {
    Passes(Box<IterativeRun>),
    Native(NativeRun),
}

impl Playback {
    /// Before the first iteration. `flatten` as published; without it labels flood from voxel to voxel, which shows
    /// more.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] if the device cannot hold the voxels.
    pub fn new(labeller: Labeller<'_>, voxels: &Voxels, flatten: bool) -> Result<Self, GpuError> {
        let run = match labeller {
            Labeller::Native => Run::Native(NativeRun::new(voxels, flatten)),
            Labeller::Passes(gpu, _) => {
                let run = IterativeRun::new(gpu, voxels)?;
                Run::Passes(Box::new(if flatten { run } else { run.without_flattening() }))
            }
        };
        Ok(Self {
            run,
            labels: (0..voxels.len() as u32).collect(),
            turned: Vec::new(),
            steps: Vec::new(),
            at: 0,
        })
    }

    /// Labels at the iteration that is shown, one per voxel.
    #[must_use]
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The iteration that is shown; 0 is before the first.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// All iterations computed so far, for the plot of changes.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The iteration that is shown is the last one.
    #[must_use]
    pub fn at_end(&self) -> bool {
        let finished = match &self.run {
            Run::Passes(run) => run.finished(),
            Run::Native(run) => run.finished(),
        };
        self.at == self.steps.len() && finished
    }

    /// Shows the next iteration, computing it if it is new. `false` at the end.
    ///
    /// # Errors
    /// [`GpuError`] when the device fails, or is not the one that it began on; what was shown stays.
    pub fn forward(&mut self, labeller: Labeller<'_>) -> Result<bool, GpuError> {
        if self.at_end() {
            return Ok(false);
        }
        if self.at == self.steps.len() {
            let read;
            let (step, after) = match (&mut self.run, labeller) {
                (Run::Native(run), _) => (run.step(), run.labels()),
                (Run::Passes(run), Labeller::Passes(gpu, pass)) => {
                    let step = run.step(gpu, pass)?;
                    read = run.labels(gpu)?;
                    (step, &read[..])
                }
                (Run::Passes(_), Labeller::Native) => return Err(GpuError::NoPasses),
            };
            let changed = |(i, (old, new)): (usize, (&u32, &u32))| (old != new).then_some((i as u32, *new));
            self.turned.push(self.labels.iter().zip(after).enumerate().filter_map(changed).collect());
            self.steps.push(step);
        }
        self.turn(self.at);
        self.at += 1;
        Ok(true)
    }

    /// Shows the previous iteration. `false` at the beginning.
    pub fn back(&mut self) -> bool {
        let Some(before) = self.at.checked_sub(1) else { return false };
        self.turn(before);
        self.at = before;
        true
    }

    /// Shows an iteration that has been computed; beyond those, the last of them. Needs no device.
    pub fn show(&mut self, at: usize) {
        let at = at.min(self.steps.len());
        while self.at > at {
            self.back();
        }
        while self.at < at {
            self.turn(self.at);
            self.at += 1;
        }
    }

    fn turn(&mut self, iteration: usize) {
        for (voxel, other) in &mut self.turned[iteration] {
            std::mem::swap(&mut self.labels[*voxel as usize], other);
        }
    }
}
