//! Lengths that the lists of a descent, or of the copying of components, need: written on the device, read once at the
//! end.

use crate::gpu::{Buffer, GpuError, Readback, Recorder, Submissions};

/// The report on the device: pairs and candidates of every level, then the copies, the crossed voxels of the transition
/// level, and what stays of every level.
pub(in crate::fracture) struct Needs {
    pub words: Buffer<[u32; 2]>,
    levels: usize,
}

impl Needs {
    /// A report of that number of parent levels, all zero.
    pub fn new(work: &Submissions<'_>, levels: usize) -> Result<Self, GpuError> {
        Ok(Self { words: Buffer::zeroed(work.gpu, "what lists needed", 2 * levels + 2)?, levels })
    }

    /// Where the copies are.
    pub fn copies(&self) -> usize {
        self.levels
    }

    /// Where the crossed voxels are.
    pub fn records(&self) -> usize {
        self.levels + 1
    }

    /// Where is what stays of a level.
    pub fn kept(&self, level: usize) -> usize {
        self.levels + 2 + level
    }

    /// Copies it for the host.
    pub fn staged(&self, rec: &mut Recorder<'_>) -> Readback<[u32; 2]> {
        Readback::copy(rec, &self.words, 0, self.words.len())
    }
}

/// The lengths on the host.
pub(in crate::fracture) struct Report(Vec<[u32; 2]>);

impl Report {
    /// The report in a copy of [`Needs::staged`].
    pub fn of(copy: &Readback<[u32; 2]>) -> Result<Self, GpuError> {
        Ok(Self(copy.to_vec()?))
    }

    fn count(&self) -> usize {
        self.0.len() / 2 - 1
    }

    /// Numbers of pairs and candidates that each level needed; zero for the roots.
    pub fn levels(&self) -> &[[u32; 2]] {
        &self.0[..self.count()]
    }

    /// Copies in the fracture boundary set.
    pub fn copies(&self) -> u32 {
        self.0[self.count()][0]
    }

    /// Crossed voxels at the transition level.
    pub fn records(&self) -> u32 {
        self.0[self.count() + 1][0]
    }

    /// First node of every level of what stays, and how many nodes there are.
    pub fn level_start(&self) -> Vec<u32> {
        let mut starts = vec![0];
        let mut end = 0;
        for [_, kept] in &self.0[self.count() + 2..] {
            end += kept;
            starts.push(end);
        }
        starts
    }
}
