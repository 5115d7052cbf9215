//! Records kernels into one submission, each in its own labelled and timed pass.
//!
//! Counts that only the device knows: the length of a list, and the workgroups of dispatches over it. The pass that
//! sizes the next list writes its count ([`Plan`](super::primitives::Plan)), kernels read it as `size`, and
//! [`Recorder::run_counted`](super::Recorder::run_counted) dispatches by it, so that the host need not wait for it.

use std::ops::Range;

use bytemuck::Pod;

use super::{
    Bindable, Buffer, Gpu, GpuError, Kernel, Named, Readback, Shared, StageTiming, Traffic, Uniform,
    kernel::{WORKGROUP, groups_for, spread},
    layout, readback,
};

const MAX_PASSES: u32 = 1024;

/// Number of workgroups, known to the host or stored in a count on the device.
enum Groups<'a> {
    Known([u32; 3]),
    Counted(&'a IndirectCount, u64),
}

/// A dispatch with all that it is bound to, which may be recorded any number of times.
pub struct Dispatch<'k> {
    kernel: &'k Kernel,
    group: wgpu::BindGroup,
    groups: [u32; 3],
    bytes_bound: u64,
}

/// A command encoder that times its passes.
pub struct Recorder<'a> {
    gpu: &'a Gpu,
    encoder: wgpu::CommandEncoder,
    queries: Option<wgpu::QuerySet>,
    stage: &'static str,
    timed: Vec<&'static str>,
    room: u32,
}

impl<'a> Recorder<'a> {
    /// Starts recording.
    #[must_use]
    pub fn new(gpu: &'a Gpu, label: &'static str) -> Self {
        Self::with_room(gpu, label, MAX_PASSES)
    }

    /// Like [`Recorder::new`], timing at most `room` passes.
    #[must_use]
    pub fn with_room(gpu: &'a Gpu, label: &'static str, room: u32) -> Self {
        let queries = (gpu.has_timestamps && room > 0).then(|| {
            gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some(label),
                ty: wgpu::QueryType::Timestamp,
                count: room * 2,
            })
        });
        let encoder =
            gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) });
        Self { gpu, encoder, queries, stage: label, timed: Vec::new(), room }
    }

    /// The device recorded for.
    #[must_use]
    pub fn gpu(&self) -> &'a Gpu {
        self.gpu
    }

    /// Names the stage for the following passes.
    pub fn stage(&mut self, stage: &'static str) {
        self.stage = stage;
    }

    /// Records one dispatch of at least `threads` threads. `given` are the kernel's variables except `params`.
    ///
    /// # Errors
    /// [`GpuError::Binding`] if names or the parameters' struct are not the shader's.
    pub fn run<P: Shared>(
        &mut self,
        kernel: &Kernel,
        threads: usize,
        params: &P,
        given: &[Named<'_>],
    ) -> Result<(), GpuError> {
        self.dispatch(kernel, &Groups::Known(groups_for(threads)), params, given)
    }

    /// Like [`Recorder::run`], with one thread per element of a count on the device.
    ///
    /// # Errors
    /// See [`Recorder::run`].
    pub fn run_counted<P: Shared>(
        &mut self,
        kernel: &Kernel,
        count: &IndirectCount,
        params: &P,
        given: &[Named<'_>],
    ) -> Result<(), GpuError> {
        self.dispatch(kernel, &Groups::Counted(count, GROUPS), params, given)
    }

    /// Like [`Recorder::run_counted`], for a kernel without `params`.
    ///
    /// # Errors
    /// See [`Recorder::run`].
    pub fn run_bare(
        &mut self,
        kernel: &Kernel,
        count: &IndirectCount,
        given: &[Named<'_>],
    ) -> Result<(), GpuError> {
        self.pass(kernel, &Groups::Counted(count, GROUPS), given)
    }

    /// Like [`Recorder::run_counted`], with one workgroup per block of a prefix sum.
    pub(super) fn run_blocks<P: Shared>(
        &mut self,
        kernel: &Kernel,
        count: &IndirectCount,
        params: &P,
        given: &[Named<'_>],
    ) -> Result<(), GpuError> {
        self.dispatch(kernel, &Groups::Counted(count, BLOCKS), params, given)
    }

    /// Like [`Recorder::run`], with a number of workgroups.
    ///
    /// # Errors
    /// See [`Recorder::run`].
    pub fn run_groups<P: Shared>(
        &mut self,
        kernel: &Kernel,
        groups: usize,
        params: &P,
        given: &[Named<'_>],
    ) -> Result<(), GpuError> {
        self.dispatch(kernel, &Groups::Known(spread(groups)), params, given)
    }

    /// A dispatch of at least `threads` threads for [`Recorder::repeat`], which costs the host no bindings. `given` are the
    /// kernel's variables except `params`.
    ///
    /// # Errors
    /// See [`Recorder::run`].
    pub fn prepare<'k, P: Shared>(
        &self,
        kernel: &'k Kernel,
        threads: usize,
        params: &P,
        given: &[Named<'_>],
    ) -> Result<Dispatch<'k>, GpuError> {
        let params = Uniform::new(self.gpu, params);
        let mut all = Vec::with_capacity(given.len() + 1);
        all.push(Named::new("params", &params));
        all.extend_from_slice(given);
        let group = kernel.bind(self.gpu, &all)?;
        let bytes_bound = all.iter().map(Named::bytes).sum();
        Ok(Dispatch { kernel, group, groups: groups_for(threads), bytes_bound })
    }

    /// Records a dispatch that was prepared.
    pub fn repeat(&mut self, dispatch: &Dispatch<'_>) {
        let Dispatch { kernel, group, groups, bytes_bound } = dispatch;
        self.record(kernel, group, &Groups::Known(*groups), *bytes_bound);
    }

    fn dispatch<P: Shared>(
        &mut self,
        kernel: &Kernel,
        groups: &Groups<'_>,
        params: &P,
        given: &[Named<'_>],
    ) -> Result<(), GpuError> {
        let params = Uniform::new(self.gpu, params);
        let mut all = Vec::with_capacity(given.len() + 1);
        all.push(Named::new("params", &params));
        all.extend_from_slice(given);
        self.pass(kernel, groups, &all)
    }

    /// Records one dispatch over the pixels of a picture: 8 x 8 threads per workgroup, no `params`.
    ///
    /// # Errors
    /// See [`Recorder::run`].
    pub fn run_pixels(
        &mut self,
        kernel: &Kernel,
        size: [u32; 2],
        given: &[Named<'_>],
    ) -> Result<(), GpuError> {
        self.pass(kernel, &Groups::Known([size[0].div_ceil(8), size[1].div_ceil(8), 1]), given)
    }

    fn pass(&mut self, kernel: &Kernel, groups: &Groups<'_>, given: &[Named<'_>]) -> Result<(), GpuError> {
        let group = kernel.bind(self.gpu, given)?;
        self.record(kernel, &group, groups, given.iter().map(Named::bytes).sum());
        Ok(())
    }

    fn record(&mut self, kernel: &Kernel, group: &wgpu::BindGroup, groups: &Groups<'_>, bytes_bound: u64) {
        self.gpu.ledger().stage(self.stage);
        self.gpu.ledger().add(Traffic { dispatches: 1, bytes_bound, ..Traffic::default() });
        let slot = self.timed.len() as u32;
        let timestamp_writes = match &self.queries {
            Some(set) if slot < self.room => {
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
        pass.set_bind_group(0, group, &[]);
        match groups {
            Groups::Known([x, y, z]) => pass.dispatch_workgroups(*x, *y, *z),
            Groups::Counted(count, offset) => pass.dispatch_workgroups_indirect(count.raw(), *offset),
        }
    }

    /// Copies all elements of `from` to the beginning of `to`, after what is recorded.
    pub fn copy<T: Pod>(&mut self, from: &Buffer<T>, to: &Buffer<T>) {
        self.encoder.copy_buffer_to_buffer(from.raw(), 0, to.raw(), 0, (from.len() * size_of::<T>()) as u64);
    }

    /// Writes zeros to these elements, after what is recorded.
    pub fn clear<T: Pod>(&mut self, buffer: &Buffer<T>, elements: Range<usize>) {
        let bytes = |elements: usize| (elements * size_of::<T>()) as u64;
        self.encoder.clear_buffer(buffer.raw(), bytes(elements.start), Some(bytes(elements.len())));
    }

    /// The encoder, for copies to textures between dispatches.
    pub fn encoder(&mut self) -> &mut wgpu::CommandEncoder {
        &mut self.encoder
    }

    /// Submits without waiting and without timings.
    pub fn submit(self) {
        self.gpu.submit([self.encoder.finish()]);
    }

    /// Submits without waiting; the timings are read later, many submissions at once, by [`PendingTimings::collect`].
    #[must_use]
    pub fn submit_pending(mut self) -> PendingTimings {
        let count = self.timed.len() * 2;
        let mut staging = None;
        if let Some(set) = self.queries.as_ref().filter(|_| count > 0) {
            let bytes = (count * 8) as u64;
            let resolve = self.gpu.small_buffer(&wgpu::BufferDescriptor {
                label: Some("timestamps"),
                size: bytes,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            self.encoder.resolve_query_set(set, 0..count as u32, &resolve, 0);
            staging = Some(Readback::copy_raw(self.gpu, &mut self.encoder, &resolve, 0, count));
        }
        self.gpu.submit([self.encoder.finish()]);
        PendingTimings { staging, timed: self.timed }
    }

    /// Submits, waits, and returns the time of each stage in the order of first use (empty if the adapter cannot time
    /// passes).
    ///
    /// # Errors
    /// [`GpuError::Lost`] or [`GpuError::Driver`].
    pub fn submit_timed(self) -> Result<Vec<StageTiming>, GpuError> {
        let gpu = self.gpu;
        PendingTimings::collect(gpu, vec![self.submit_pending()])
    }
}

/// Timestamps of one submission, not yet read.
pub struct PendingTimings {
    pub(super) staging: Option<Readback<u64>>,
    timed: Vec<&'static str>,
}

impl PendingTimings {
    /// Waits once for all submissions and sums the time of each stage, in the order of first use.
    ///
    /// # Errors
    /// [`GpuError::Lost`] or [`GpuError::Driver`].
    pub fn collect(gpu: &Gpu, pending: Vec<Self>) -> Result<Vec<StageTiming>, GpuError> {
        Self::collect_with(gpu, pending, &[])
    }

    /// Like [`PendingTimings::collect`], for copies, too, which can be read after the same wait.
    ///
    /// # Errors
    /// See [`PendingTimings::collect`].
    pub fn collect_with(
        gpu: &Gpu,
        pending: Vec<Self>,
        copies: &[&dyn readback::AnyReadback],
    ) -> Result<Vec<StageTiming>, GpuError> {
        let own = pending
            .iter()
            .filter_map(|p| p.staging.as_ref())
            .map(|ticks| ticks as &dyn readback::AnyReadback);
        readback::wait_for(gpu, &own.chain(copies.iter().copied()).collect::<Vec<_>>())?;
        let mut stages: Vec<StageTiming> = Vec::new();
        for submission in &pending {
            if let Some(ticks) = &submission.staging {
                submission.add_to(&mut stages, &ticks.to_vec()?, gpu);
            }
        }
        Ok(stages)
    }

    /// Adds the time of each stage, from the first and last ticks of its passes.
    pub(super) fn add_to(&self, stages: &mut Vec<StageTiming>, ticks: &[u64], gpu: &Gpu) {
        let period_ms = f64::from(gpu.queue.get_timestamp_period()) * 1e-6;
        for (stage, span) in self.timed.iter().zip(ticks.chunks(2)) {
            let ms = span[1].saturating_sub(span[0]) as f64 * period_ms;
            match stages.iter_mut().find(|s| s.stage == *stage) {
                Some(known) => known.ms += ms,
                None => stages.push(StageTiming { stage: (*stage).to_owned(), ms }),
            }
        }
    }
}

/// Same layout as in `shaders/shared/counted.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Counted {
    count: u32,
    groups: [u32; 3],
    blocks: [u32; 3],
    pad: u32,
}

layout!(Counted as "Counted" {
    count, groups: [groups_x, groups_y, groups_z], blocks: [blocks_x, blocks_y, blocks_z], pad
});

/// Items per block of a prefix sum.
pub(super) const SCAN_BLOCK: usize = 1024;

/// Byte offsets in a count of the workgroups for one thread per element, and for one block of a prefix sum.
pub(super) const GROUPS: u64 = 4;
pub(super) const BLOCKS: u64 = 16;

/// A count on the device.
#[derive(Clone, Debug)]
pub struct IndirectCount {
    raw: wgpu::Buffer,
}

impl IndirectCount {
    /// A count that the device will write; 0 until then.
    #[must_use]
    pub fn unknown(gpu: &Gpu) -> Self {
        use wgpu::BufferUsages as Usage;
        let raw = gpu.small_buffer(&wgpu::BufferDescriptor {
            label: Some("count"),
            size: size_of::<Counted>() as u64,
            usage: Usage::UNIFORM | Usage::STORAGE | Usage::INDIRECT | Usage::COPY_DST,
            mapped_at_creation: false,
        });
        Self { raw }
    }

    /// A count that the host knows.
    #[must_use]
    pub fn known(gpu: &Gpu, count: usize) -> Self {
        let own = Self::unknown(gpu);
        let (groups, blocks) = (count.div_ceil(WORKGROUP as usize), count / SCAN_BLOCK + 1);
        let groups = if groups == 0 { [0, 0, 1] } else { spread(groups) };
        let counted = Counted { count: count as u32, groups, blocks: spread(blocks), pad: 0 };
        gpu.queue.write_buffer(&own.raw, 0, bytemuck::bytes_of(&counted));
        gpu.ledger().add(Traffic { bytes_up: size_of::<Counted>() as u64, ..Traffic::default() });
        own
    }

    /// The wgpu buffer.
    pub(super) fn raw(&self) -> &wgpu::Buffer {
        &self.raw
    }
}

impl Bindable for IndirectCount {
    fn named(&self, name: &'static str) -> Named<'_> {
        let resource = self.raw.as_entire_binding();
        Named { name, resource, ty: Some(Counted::LAYOUT.name), stride: 0 }
    }
}
