//! One piece of work in several submissions.

use super::{Gpu, GpuError, PendingTimings, Recorder, StageTiming, primitives::Scan};

/// What the passes of one piece of work share: the device, the prefix sums, and what has been submitted. The times
/// are read once at the
/// end: a wait in between would also wait for the window's picture.
pub struct Submissions<'g> {
    /// The device.
    pub gpu: &'g Gpu,
    /// Its prefix sums.
    pub scan: &'g Scan,
    pending: Vec<PendingTimings>,
}

impl<'g> Submissions<'g> {
    /// Nothing submitted yet.
    #[must_use]
    pub fn new(gpu: &'g Gpu, scan: &'g Scan) -> Self {
        Self { gpu, scan, pending: Vec::new() }
    }

    /// Starts recording; the time counts for `stage`.
    #[must_use]
    pub fn record(&self, stage: &'static str) -> Recorder<'g> {
        Recorder::new(self.gpu, stage)
    }

    /// Submits without waiting.
    pub fn submit(&mut self, rec: Recorder<'_>) {
        self.pending.push(rec.submit_pending());
    }

    /// Waits, and sums the time of each stage in the order of first use.
    ///
    /// # Errors
    /// [`GpuError::Lost`] or [`GpuError::Driver`].
    pub fn read(self) -> Result<Vec<StageTiming>, GpuError> {
        PendingTimings::collect(self.gpu, self.pending)
    }
}
