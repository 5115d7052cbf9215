//! The compute passes of a frame and their stopwatch, which never waits.
//!
//! In: shader paths and resources. Out: recorded dispatches; the times of a frame or two ago.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use crate::gpu::{Gpu, StageTiming, shaders};

/// One kernel over the pixels of a picture: 8 x 8 threads a workgroup, entry `main`.
pub(super) struct PixelPass {
    label: &'static str,
    pipeline: wgpu::ComputePipeline,
}

impl PixelPass {
    /// Compiles `shaders/<path>.wgsl`.
    pub(super) fn new(gpu: &Gpu, path: &'static str) -> Self {
        Self::from_source(gpu, path, shaders::source(path))
    }

    /// Compiles a kernel's text, its includes already in it.
    pub(super) fn from_source(gpu: &Gpu, path: &'static str, source: String) -> Self {
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(path),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(path),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        Self { label: path, pipeline }
    }

    /// Binds resource i to binding i of group 0.
    pub(super) fn bind(&self, gpu: &Gpu, resources: &[wgpu::BindingResource<'_>]) -> wgpu::BindGroup {
        let entries: Vec<_> = resources
            .iter()
            .enumerate()
            .map(|(i, resource)| wgpu::BindGroupEntry { binding: i as u32, resource: resource.clone() })
            .collect();
        gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(self.label),
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &entries,
        })
    }

    /// Records a dispatch over `size` pixels as pass number `number` of the frame.
    pub(super) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        group: &wgpu::BindGroup,
        size: [u32; 2],
        stopwatch: &Stopwatch,
        number: u32,
    ) {
        let timestamp_writes = stopwatch.queries.as_ref().map(|set| wgpu::ComputePassTimestampWrites {
            query_set: set,
            beginning_of_pass_write_index: Some(2 * number),
            end_of_pass_write_index: Some(2 * number + 1),
        });
        let mut pass = encoder
            .begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(self.label), timestamp_writes });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(size[0].div_ceil(8), size[1].div_ceil(8), 1);
    }
}

const IDLE: u32 = 0;
const MAPPING: u32 = 1;
const MAPPED: u32 = 2;
const FAILED: u32 = 3;

/// Times the passes of every frame that finds a free readback buffer; the others go untimed rather than wait.
pub(super) struct Stopwatch {
    names: &'static [&'static str],
    queries: Option<wgpu::QuerySet>,
    resolve: Option<wgpu::Buffer>,
    ring: Vec<(wgpu::Buffer, Arc<AtomicU32>)>,
    latest: Vec<StageTiming>,
}

impl Stopwatch {
    /// A stopwatch for the passes called `names`, in order.
    pub(super) fn new(gpu: &Gpu, names: &'static [&'static str]) -> Self {
        let bytes = names.len() as u64 * 16;
        let buffer = |usage| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("render timestamps"),
                size: bytes,
                usage,
                mapped_at_creation: false,
            })
        };
        let mut watch = Self { names, queries: None, resolve: None, ring: Vec::new(), latest: Vec::new() };
        if gpu.has_timestamps {
            watch.queries = Some(gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("render timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: names.len() as u32 * 2,
            }));
            watch.resolve = Some(buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC));
            for _ in 0..3 {
                let staging = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
                watch.ring.push((staging, Arc::new(AtomicU32::new(IDLE))));
            }
        }
        watch
    }

    /// Records the copy of this frame's times; call [`Stopwatch::submitted`] with the result after submitting.
    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) -> Option<usize> {
        let (set, resolve) = (self.queries.as_ref()?, self.resolve.as_ref()?);
        let free = self.ring.iter().position(|(_, state)| state.load(Ordering::Acquire) == IDLE)?;
        encoder.resolve_query_set(set, 0..self.names.len() as u32 * 2, resolve, 0);
        encoder.copy_buffer_to_buffer(resolve, 0, &self.ring[free].0, 0, resolve.size());
        Some(free)
    }

    /// Asks for the copy that [`Stopwatch::resolve`] recorded.
    pub(super) fn submitted(&self, copy: Option<usize>) {
        if let Some((buffer, state)) = copy.and_then(|i| self.ring.get(i)) {
            state.store(MAPPING, Ordering::Release);
            let state = Arc::clone(state);
            buffer.slice(..).map_async(wgpu::MapMode::Read, move |result| {
                state.store(if result.is_ok() { MAPPED } else { FAILED }, Ordering::Release);
            });
        }
    }

    /// Takes in what has arrived.
    pub(super) fn collect(&mut self, gpu: &Gpu) {
        // An error here is a lost device, which the next submission reports.
        let _ = gpu.device.poll(wgpu::PollType::Poll);
        let period_ms = f64::from(gpu.queue.get_timestamp_period()) * 1e-6;
        for (buffer, state) in &self.ring {
            if state.load(Ordering::Acquire) != MAPPED {
                continue;
            }
            if let Ok(view) = buffer.slice(..).get_mapped_range() {
                let word =
                    |i: usize| view.get(8 * i..8 * i + 8).map_or(0, bytemuck::pod_read_unaligned::<u64>);
                self.latest = self
                    .names
                    .iter()
                    .enumerate()
                    .map(|(i, name)| StageTiming {
                        stage: (*name).to_owned(),
                        ms: word(2 * i + 1).saturating_sub(word(2 * i)) as f64 * period_ms,
                    })
                    .collect();
            }
            buffer.unmap();
            state.store(IDLE, Ordering::Release);
        }
    }

    /// The last times that arrived, in the order of the passes.
    pub(super) fn latest(&self) -> &[StageTiming] {
        &self.latest
    }
}
