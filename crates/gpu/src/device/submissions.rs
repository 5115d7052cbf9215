//! A job that consists of several submissions.

use bytemuck::Pod;

use super::{
    Buffer, Gpu, GpuError, PendingTimings, Recorder, StageTiming,
    buffer::bytes_of,
    primitives::{Plan, Scan},
    readback::AnyReadback,
};

/// State shared by the passes of a job: the device, the prefix sums, reusable memory, and pending submissions. Timings
/// are read along with the next wait for something else.
pub struct Submissions<'g> {
    /// The device.
    pub gpu: &'g Gpu,
    /// Its prefix sums.
    pub scan: &'g Scan,
    /// The pass that computes the length of the next list.
    pub plan: &'g Plan,
    pending: Vec<PendingTimings>,
    timings: Vec<StageTiming>,
    /// Memory for reuse.
    free: Vec<Buffer<u32>>,
}

impl<'g> Submissions<'g> {
    /// A job without submissions.
    #[must_use]
    pub fn new(gpu: &'g Gpu, scan: &'g Scan, plan: &'g Plan) -> Self {
        Self { gpu, scan, plan, pending: Vec::new(), timings: Vec::new(), free: Vec::new() }
    }

    /// Starts recording passes of `stage`.
    #[must_use]
    pub fn record(&self, stage: &'static str) -> Recorder<'g> {
        self.gpu.ledger().stage(stage);
        Recorder::new(self.gpu, stage)
    }

    /// Submits without waiting.
    pub fn submit(&mut self, rec: Recorder<'_>) {
        self.pending.push(rec.submit_pending());
    }

    /// Uninitialised memory for `len` elements: reused, or newly allocated. The host must not write to it, since its
    /// writes would happen before passes that are still to run.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn room<T: Pod>(&mut self, label: &str, len: usize) -> Result<Buffer<T>, GpuError> {
        let bytes = bytes_of::<T>(len);
        let fitting = self.free.iter().enumerate().filter(|(_, buffer)| buffer.bytes() >= bytes);
        if let Some((at, _)) = fitting.min_by_key(|(_, buffer)| buffer.bytes())
            && let Ok(buffer) = self.free.swap_remove(at).reused(len)
        {
            return Ok(buffer);
        }
        Buffer::zeroed(self.gpu, label, len)
    }

    /// Returns memory for reuse by [`Submissions::room`]. All passes that use it must be recorded already.
    pub fn give<T: Pod>(&mut self, buffer: Buffer<T>) {
        if buffer.is_last()
            && let Ok(free) = buffer.reused(0)
        {
            self.free.push(free);
        }
    }

    /// Waits once for `copies` and all submitted work. Unused memory is freed.
    ///
    /// # Errors
    /// [`GpuError::Lost`] or [`GpuError::Driver`].
    pub fn wait(&mut self, copies: &[&dyn AnyReadback]) -> Result<(), GpuError> {
        let pending = std::mem::take(&mut self.pending);
        for timing in PendingTimings::collect_with(self.gpu, pending, copies)? {
            timing.add_to(&mut self.timings);
        }
        self.free.clear();
        Ok(())
    }

    /// Time of each stage waited for, in the order of first use.
    #[must_use]
    pub fn timings(self) -> Vec<StageTiming> {
        self.timings
    }
}
