//! Typed storage buffers: upload, read back, and the size check that turns "too large" into an answer.

use std::{
    marker::PhantomData,
    sync::{Arc, mpsc},
};

use bytemuck::Pod;

use super::{Gpu, GpuError, Traffic, context::Lease};

/// Usage of every storage buffer here: bound, filled, copied from and to.
#[must_use]
pub fn storage_usage() -> wgpu::BufferUsages {
    wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST
}

/// A storage buffer of `len` elements of `T`. Never empty on the device: WebGPU refuses bindings of zero bytes, so
/// at least 16 bytes are there whatever `len` says.
#[derive(Clone, Debug)]
pub struct Buffer<T> {
    raw: wgpu::Buffer,
    len: usize,
    lease: Arc<Lease>,
    marker: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// A zero-filled buffer.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] when one binding cannot cover it.
    pub fn zeroed(gpu: &Gpu, label: &str, len: usize) -> Result<Self, GpuError> {
        // An empty one still binds to an array of at least one element.
        let bytes = ((len.max(1) * size_of::<T>()) as u64).max(16).next_multiple_of(4);
        if bytes > gpu.max_binding() {
            return Err(GpuError::TooLarge {
                what: label.to_owned(),
                needed: bytes,
                allowed: gpu.max_binding(),
            });
        }
        let raw = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: bytes,
            usage: storage_usage(),
            mapped_at_creation: false,
        });
        Ok(Self { raw, len, lease: Arc::new(gpu.lease(bytes)), marker: PhantomData })
    }

    /// A buffer holding `data`.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] when one binding cannot cover it.
    pub fn from_slice(gpu: &Gpu, label: &str, data: &[T]) -> Result<Self, GpuError> {
        let buffer = Self::zeroed(gpu, label, data.len())?;
        buffer.write(gpu, 0, data);
        Ok(buffer)
    }

    /// Writes `data` from element `first` on.
    pub fn write(&self, gpu: &Gpu, first: usize, data: &[T]) {
        if !data.is_empty() {
            let offset = (first * size_of::<T>()) as u64;
            gpu.queue.write_buffer(&self.raw, offset, bytemuck::cast_slice(data));
            gpu.ledger().add(Traffic { bytes_up: size_of_val(data) as u64, ..Traffic::default() });
        }
    }

    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// No elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The wgpu buffer.
    #[must_use]
    pub fn raw(&self) -> &wgpu::Buffer {
        &self.raw
    }

    /// Bytes held on the device.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.lease.bytes()
    }

    /// Reads the whole buffer back, waiting for all submitted work.
    ///
    /// # Errors
    /// [`GpuError::Lost`] or [`GpuError::Driver`].
    pub fn read(&self, gpu: &Gpu) -> Result<Vec<T>, GpuError> {
        self.read_range(gpu, 0, self.len)
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
    let mut staging = Vec::with_capacity(buffers.len());
    for (buffer, first, count) in buffers {
        let bytes = (count * size_of::<T>()) as u64;
        let readable = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("readback"),
            size: bytes.next_multiple_of(4).max(16),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        if bytes > 0 {
            let offset = (first * size_of::<T>()) as u64;
            encoder.copy_buffer_to_buffer(buffer.raw(), offset, &readable, 0, bytes);
        }
        staging.push((readable, *count));
    }
    gpu.queue.submit([encoder.finish()]);
    map_and_copy_all(gpu, &staging)
}

/// Maps buffers and copies that many elements out of each, waiting once.
pub(super) fn map_and_copy_all<T: Pod>(
    gpu: &Gpu,
    staging: &[(wgpu::Buffer, usize)],
) -> Result<Vec<Vec<T>>, GpuError> {
    let (sender, receiver) = mpsc::channel();
    for (buffer, _) in staging {
        let sender = sender.clone();
        buffer.slice(..).map_async(wgpu::MapMode::Read, move |result| {
            // The receiver only disappears when the caller already gave up.
            let _ = sender.send(result);
        });
    }
    gpu.wait()?;
    gpu.check()?;
    let bytes_down = staging.iter().map(|(_, count)| (count * size_of::<T>()) as u64).sum();
    gpu.ledger().add(Traffic { bytes_down, ..Traffic::default() });
    for _ in staging {
        match receiver.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(GpuError::Driver(error.to_string())),
            Err(_) => return Err(GpuError::Driver("a readback was dropped".into())),
        }
    }
    let mut out = Vec::with_capacity(staging.len());
    for (buffer, count) in staging {
        let mut elements = vec![T::zeroed(); *count];
        {
            let view =
                buffer.slice(..).get_mapped_range().map_err(|error| GpuError::Driver(error.to_string()))?;
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut elements);
            let wanted = bytes.len();
            bytes.copy_from_slice(&view[..wanted]);
        }
        buffer.unmap();
        out.push(elements);
    }
    Ok(out)
}
