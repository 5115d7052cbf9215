//! One piece of work in several submissions.

use bytemuck::Pod;

use super::{
    Buffer, Gpu, GpuError, PendingTimings, Recorder, StageTiming,
    buffer::bytes_of,
    primitives::{Plan, Scan},
    staged::Copied,
};

/// What the passes of one piece of work share: the device, the prefix sums, memory that one of them needs no more, and
/// what has been submitted. The times are read when something else is waited for.
pub struct Submissions<'g> {
    /// The device.
    pub gpu: &'g Gpu,
    /// Its prefix sums.
    pub scan: &'g Scan,
    /// What tells how long the next list is.
    pub plan: &'g Plan,
    pending: Vec<PendingTimings>,
    timings: Vec<StageTiming>,
    /// Memory that nobody needs any more.
    free: Vec<Buffer<u32>>,
}

impl<'g> Submissions<'g> {
    /// Nothing submitted yet.
    #[must_use]
    pub fn new(gpu: &'g Gpu, scan: &'g Scan, plan: &'g Plan) -> Self {
        Self { gpu, scan, plan, pending: Vec::new(), timings: Vec::new(), free: Vec::new() }
    }

    /// Starts recording; the time counts for `stage`.
    #[must_use]
    pub fn record(&self, stage: &'static str) -> Recorder<'g> {
        self.gpu.ledger().stage(stage);
        Recorder::new(self.gpu, stage)
    }

    /// Submits without waiting.
    pub fn submit(&mut self, rec: Recorder<'_>) {
        self.pending.push(rec.submit_pending());
    }

    /// Room for `len` elements with anything in it: memory that was given back, or new. The host must not write to it:
    /// what it writes gets there before passes that are still to run.
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

    /// Takes back memory for [`Submissions::room`]. All that reads or writes it must be recorded already.
    pub fn give<T: Pod>(&mut self, buffer: Buffer<T>) {
        if buffer.is_last()
            && let Ok(free) = buffer.reused(0)
        {
            self.free.push(free);
        }
    }

    /// Waits once for `copies` and for all that was submitted. What nobody needs goes back to the device.
    ///
    /// # Errors
    /// [`GpuError::Lost`] or [`GpuError::Driver`].
    pub fn wait(&mut self, copies: &[&dyn Copied]) -> Result<(), GpuError> {
        let pending = std::mem::take(&mut self.pending);
        for timing in PendingTimings::collect_with(self.gpu, pending, copies)? {
            match self.timings.iter_mut().find(|known| known.stage == timing.stage) {
                Some(known) => known.ms += timing.ms,
                None => self.timings.push(timing),
            }
        }
        self.free.clear();
        Ok(())
    }

    /// The time of each stage in the order of first use, of what was waited for.
    #[must_use]
    pub fn timings(self) -> Vec<StageTiming> {
        self.timings
    }
}
