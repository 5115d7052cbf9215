//! Copies that the host can read after a wait; several copies of different types share one wait.

use std::{
    marker::PhantomData,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
};

use bytemuck::Pod;

use super::{Buffer, Gpu, GpuError, Recorder, Traffic};

/// A copy of some elements of a buffer for the host, readable after `wait_for`.
#[derive(Debug)]
pub struct Readback<T> {
    raw: wgpu::Buffer,
    len: usize,
    asked: AtomicBool,
    marker: PhantomData<T>,
}

/// A [`Readback`] copy of any type.
pub trait AnyReadback {
    /// The buffer and the copied size; `None` if it is already being mapped.
    fn to_map(&self) -> Option<(&wgpu::Buffer, u64)>;
}

impl<T: Pod> AnyReadback for Readback<T> {
    fn to_map(&self) -> Option<(&wgpu::Buffer, u64)> {
        let first = !self.asked.swap(true, Ordering::Relaxed);
        first.then_some((&self.raw, (self.len * size_of::<T>()) as u64))
    }
}

impl<T: Pod> Readback<T> {
    /// Records a copy of `count` elements from `first` on, after the work recorded so far.
    #[must_use]
    pub fn copy(rec: &mut Recorder<'_>, buffer: &Buffer<T>, first: usize, count: usize) -> Self {
        let gpu = rec.gpu();
        Self::copy_raw(gpu, rec.encoder(), buffer.raw(), (first * size_of::<T>()) as u64, count)
    }

    pub(super) fn copy_raw(
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        from: &wgpu::Buffer,
        offset: u64,
        count: usize,
    ) -> Self {
        let bytes = (count * size_of::<T>()) as u64;
        let raw = gpu.small_buffer(&wgpu::BufferDescriptor {
            label: Some("readback"),
            size: bytes.next_multiple_of(4).max(16),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        if bytes > 0 {
            encoder.copy_buffer_to_buffer(from, offset, &raw, 0, bytes);
        }
        Self { raw, len: count, asked: AtomicBool::new(false), marker: PhantomData }
    }

    pub(super) fn raw(&self) -> &wgpu::Buffer {
        &self.raw
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements in mapped memory; only after `wait_for`.
    ///
    /// # Errors
    /// [`GpuError::Driver`].
    pub fn view(&self) -> Result<ReadbackView<T>, GpuError> {
        let refused = |what: String| GpuError::Driver(what);
        let view = self.raw.slice(..).get_mapped_range().map_err(|e| refused(e.to_string()))?;
        let view = ReadbackView { view, bytes: self.len * size_of::<T>(), marker: PhantomData };
        view.elements().map_err(|e| refused(e.to_string()))?;
        Ok(view)
    }

    /// The elements.
    ///
    /// # Errors
    /// [`GpuError::Driver`].
    pub fn to_vec(&self) -> Result<Vec<T>, GpuError> {
        Ok(self.view()?.to_vec())
    }
}

/// Copied elements in mapped memory.
pub struct ReadbackView<T> {
    view: wgpu::BufferView,
    bytes: usize,
    marker: PhantomData<T>,
}

impl<T: Pod> ReadbackView<T> {
    fn elements(&self) -> Result<&[T], bytemuck::PodCastError> {
        bytemuck::try_cast_slice(self.view.get(..self.bytes).unwrap_or_default())
    }
}

impl<T: Pod> std::ops::Deref for ReadbackView<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // Checked when the view was created.
        self.elements().unwrap_or_default()
    }
}

/// Waits once for all copies and all submitted work.
///
/// # Errors
/// [`GpuError::Lost`] or [`GpuError::Driver`].
pub fn wait_for(gpu: &Gpu, copies: &[&dyn AnyReadback]) -> Result<(), GpuError> {
    let (sender, receiver) = mpsc::channel();
    let mut bytes_down = 0;
    let asked: Vec<_> = copies.iter().filter_map(|copy| copy.to_map()).collect();
    for (buffer, bytes) in &asked {
        bytes_down += bytes;
        let sender = sender.clone();
        buffer.slice(..).map_async(wgpu::MapMode::Read, move |result| {
            // The channel is closed only when the caller has returned early.
            let _ = sender.send(result);
        });
    }
    gpu.wait()?;
    gpu.ledger().add(Traffic { bytes_down, ..Traffic::default() });
    for _ in asked {
        match receiver.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(GpuError::Driver(error.to_string())),
            Err(_) => return Err(GpuError::Driver("a readback was dropped".into())),
        }
    }
    Ok(())
}

impl<T: Pod> Buffer<T> {
    /// Reads the whole buffer back, waiting for all submitted work.
    ///
    /// # Errors
    /// [`GpuError::Lost`] or [`GpuError::Driver`].
    pub fn read(&self, gpu: &Gpu) -> Result<Vec<T>, GpuError> {
        self.read_range(gpu, 0, self.len())
    }

    /// Reads `count` elements from `first` on, waiting for all submitted work.
    ///
    /// # Errors
    /// [`GpuError::Lost`] or [`GpuError::Driver`].
    pub fn read_range(&self, gpu: &Gpu, first: usize, count: usize) -> Result<Vec<T>, GpuError> {
        let mut read = read_all(gpu, &[(self, first, count)])?;
        Ok(read.pop().unwrap_or_default())
    }
}

/// Reads several buffers back with one wait.
///
/// # Errors
/// [`GpuError::Lost`] or [`GpuError::Driver`].
pub fn read_all<T: Pod>(gpu: &Gpu, buffers: &[(&Buffer<T>, usize, usize)]) -> Result<Vec<Vec<T>>, GpuError> {
    let mut encoder =
        gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("readback") });
    let copies: Vec<Readback<T>> = buffers
        .iter()
        .map(|(buffer, first, count)| {
            let offset = (first * size_of::<T>()) as u64;
            Readback::copy_raw(gpu, &mut encoder, buffer.raw(), offset, *count)
        })
        .collect();
    gpu.submit([encoder.finish()]);
    wait_for(gpu, &copies.iter().map(|copy| copy as &dyn AnyReadback).collect::<Vec<_>>())?;
    copies.iter().map(Readback::to_vec).collect()
}
