//! Records kernels into one submission, each in its own labelled and timed pass.

use super::{Gpu, GpuError, Kernel, buffer::map_and_copy_all, kernel::Bound};

/// GPU time of one stage (all passes that were recorded under its name).
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StageTiming {
    /// Stage name.
    pub stage: String,
    /// Milliseconds.
    pub ms: f64,
}

const MAX_PASSES: u32 = 1024;

/// A command encoder with a stopwatch.
pub struct Recorder<'a> {
    gpu: &'a Gpu,
    encoder: wgpu::CommandEncoder,
    queries: Option<wgpu::QuerySet>,
    stage: &'static str,
    timed: Vec<&'static str>,
}

impl<'a> Recorder<'a> {
    /// Starts recording.
    #[must_use]
    pub fn new(gpu: &'a Gpu, label: &'static str) -> Self {
        let queries = gpu.has_timestamps.then(|| {
            gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some(label),
                ty: wgpu::QueryType::Timestamp,
                count: MAX_PASSES * 2,
            })
        });
        let encoder =
            gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) });
        Self { gpu, encoder, queries, stage: label, timed: Vec::new() }
    }

    /// The device recorded for.
    #[must_use]
    pub fn gpu(&self) -> &'a Gpu {
        self.gpu
    }

    /// Time from here on counts for `stage`.
    pub fn stage(&mut self, stage: &'static str) {
        self.stage = stage;
    }

    /// Records one dispatch.
    pub fn dispatch(&mut self, kernel: &Kernel, bound: &Bound, groups: [u32; 3]) {
        let slot = self.timed.len() as u32;
        let timestamp_writes = match &self.queries {
            Some(set) if slot < MAX_PASSES => {
                self.timed.push(self.stage);
                Some(wgpu::ComputePassTimestampWrites {
                    query_set: set,
                    beginning_of_pass_write_index: Some(slot * 2),
                    end_of_pass_write_index: Some(slot * 2 + 1),
                })
            }
            _ => None,
        };
        let mut pass = self.encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(kernel.label()),
            timestamp_writes,
        });
        pass.set_pipeline(kernel.pipeline());
        pass.set_bind_group(0, &bound.group, &[]);
        pass.dispatch_workgroups(groups[0], groups[1], groups[2]);
    }

    /// The encoder, for copies and clears between dispatches.
    pub fn encoder(&mut self) -> &mut wgpu::CommandEncoder {
        &mut self.encoder
    }

    /// Submits without waiting and without timings.
    pub fn submit(self) {
        self.gpu.queue.submit([self.encoder.finish()]);
    }

    /// Submits without waiting; the timings are read later, many submissions at once, by [`PendingTimings::collect`].
    #[must_use]
    pub fn submit_pending(mut self) -> PendingTimings {
        let count = self.timed.len() * 2;
        let mut staging = None;
        if let Some(set) = self.queries.as_ref().filter(|_| count > 0) {
            let bytes = (count * 8) as u64;
            let resolve = self.gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("timestamps"),
                size: bytes,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            let readable = self.gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("timestamps readback"),
                size: bytes,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            self.encoder.resolve_query_set(set, 0..count as u32, &resolve, 0);
            self.encoder.copy_buffer_to_buffer(&resolve, 0, &readable, 0, bytes);
            staging = Some(readable);
        }
        self.gpu.queue.submit([self.encoder.finish()]);
        PendingTimings { staging, timed: self.timed }
    }

    /// Submits, waits, and returns the time of each stage in the order of first use (empty where the adapter cannot time).
    ///
    /// # Errors
    /// [`GpuError::Lost`] or [`GpuError::Driver`].
    pub fn submit_timed(self) -> Result<Vec<StageTiming>, GpuError> {
        let gpu = self.gpu;
        PendingTimings::collect(gpu, vec![self.submit_pending()])
    }
}

/// What was submitted for one piece of work. The times are read once at its end: a wait in between would also wait for the
/// window's picture.
#[derive(Default)]
pub struct Submissions(Vec<PendingTimings>);

impl Submissions {
    /// Submits without waiting.
    pub fn submit(&mut self, rec: Recorder<'_>) {
        self.0.push(rec.submit_pending());
    }

    /// Waits, and sums the time of each stage in the order of first use.
    ///
    /// # Errors
    /// [`GpuError::Lost`] or [`GpuError::Driver`].
    pub fn read(self, gpu: &Gpu) -> Result<Vec<StageTiming>, GpuError> {
        PendingTimings::collect(gpu, self.0)
    }
}

/// Timestamps of one submission that have not been read yet.
pub struct PendingTimings {
    staging: Option<wgpu::Buffer>,
    timed: Vec<&'static str>,
}

impl PendingTimings {
    /// Waits once for all of them and sums the time of each stage, in the order of first use.
    ///
    /// # Errors
    /// [`GpuError::Lost`] or [`GpuError::Driver`].
    pub fn collect(gpu: &Gpu, pending: Vec<Self>) -> Result<Vec<StageTiming>, GpuError> {
        let period_ms = f64::from(gpu.queue.get_timestamp_period()) * 1e-6;
        let staging: Vec<_> =
            pending.iter().filter_map(|p| Some((p.staging.clone()?, p.timed.len() * 2))).collect();
        let mut read = map_and_copy_all::<u64>(gpu, &staging)?.into_iter();
        let mut stages: Vec<StageTiming> = Vec::new();
        for submission in pending.iter().filter(|p| p.staging.is_some()) {
            let ticks = read.next().unwrap_or_default();
            for (stage, span) in submission.timed.iter().zip(ticks.chunks(2)) {
                let ms = span[1].saturating_sub(span[0]) as f64 * period_ms;
                match stages.iter_mut().find(|s| s.stage == *stage) {
                    Some(known) => known.ms += ms,
                    None => stages.push(StageTiming { stage: (*stage).to_owned(), ms }),
                }
            }
        }
        Ok(stages)
    }
}
