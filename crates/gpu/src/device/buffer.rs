//! Typed storage buffers: upload, and a size check that returns an error for buffers that are too large.
//!
//! # Costs of passes besides arithmetic: waits of the host, dispatches, and bytes transferred
//!
//! Every [`Gpu`](super::Gpu) keeps a ledger by stage. The stage is the one that a recorder named last; the host's
//! writes, reads and waits count for it, too.

use std::{
    marker::PhantomData,
    sync::{Arc, Mutex},
};

use bytemuck::Pod;

use super::{Bindable, Gpu, GpuError, Named, context::Lease};

/// Usage flags of every storage buffer: bound, filled, copied from and to.
#[must_use]
pub fn storage_usage() -> wgpu::BufferUsages {
    wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST
}

/// A storage buffer of `len` elements of `T`. WebGPU rejects bindings of zero bytes, so the device always holds at
/// least 16 bytes.
#[derive(Clone, Debug)]
pub struct Buffer<T> {
    raw: wgpu::Buffer,
    len: usize,
    lease: Arc<Lease>,
    marker: PhantomData<T>,
}

/// Size of a buffer of `len` elements, bytes. An empty one still holds one element for the shader's array.
pub(super) fn bytes_of<T>(len: usize) -> u64 {
    ((len.max(1) * size_of::<T>()) as u64).max(16).next_multiple_of(4)
}

impl<T: Pod> Buffer<T> {
    /// A zero-filled buffer.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] when one binding cannot cover it, [`GpuError::OutOfMemory`] when the adapter's is full.
    pub fn zeroed(gpu: &Gpu, label: &str, len: usize) -> Result<Self, GpuError> {
        let bytes = bytes_of::<T>(len);
        if bytes > gpu.max_binding() {
            return Err(GpuError::TooLarge {
                what: label.to_owned(),
                needed: bytes,
                allowed: gpu.max_binding(),
            });
        }
        let raw = gpu.allocate(label, bytes, |device| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: bytes,
                usage: storage_usage(),
                mapped_at_creation: false,
            })
        })?;
        Ok(Self { raw, len, lease: Arc::new(gpu.lease(bytes)), marker: PhantomData })
    }

    /// A buffer holding `data`.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] when one binding cannot cover it, [`GpuError::OutOfMemory`] when the adapter's is full.
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

    /// Reuses the memory for `len` elements of another type, if it is large enough; its contents stay.
    pub(super) fn reused<U: Pod>(self, len: usize) -> Result<Buffer<U>, Self> {
        if self.bytes() < bytes_of::<U>(len) {
            return Err(self);
        }
        Ok(Buffer { raw: self.raw, len, lease: self.lease, marker: PhantomData })
    }

    /// Whether this is the last handle of the buffer.
    pub(super) fn is_last(&self) -> bool {
        Arc::strong_count(&self.lease) == 1
    }

    /// Size of the elements, as kernels see it, bytes.
    pub(super) fn bound_bytes(&self) -> u64 {
        bytes_of::<T>(self.len)
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

    /// The wgpu buffer.
    #[must_use]
    pub fn raw(&self) -> &wgpu::Buffer {
        &self.raw
    }

    /// Memory on the device, bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.lease.bytes()
    }
}

impl<T: Pod> Bindable for Buffer<T> {
    fn named(&self, name: &'static str) -> Named<'_> {
        let size = std::num::NonZeroU64::new(self.bound_bytes());
        let resource =
            wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: self.raw(), offset: 0, size });
        Named { name, resource, ty: None, stride: size_of::<T>() }
    }
}

/// Costs of one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Traffic {
    /// Number of times that the host waited for the device.
    pub waits: u64,
    /// Number of times that the host handed commands to the device's queue.
    pub submissions: u64,
    /// Number of kernel dispatches.
    pub dispatches: u64,
    /// Bytes written by the host.
    pub bytes_up: u64,
    /// Bytes read by the host.
    pub bytes_down: u64,
    /// Size of all buffers bound to dispatches, and of copies, bytes: approximately a lower bound of the traffic in the
    /// device's memory.
    pub bytes_bound: u64,
}

impl Traffic {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            waits: self.waits + other.waits,
            submissions: self.submissions + other.submissions,
            dispatches: self.dispatches + other.dispatches,
            bytes_up: self.bytes_up + other.bytes_up,
            bytes_down: self.bytes_down + other.bytes_down,
            bytes_bound: self.bytes_bound + other.bytes_bound,
        }
    }
}

/// Traffic by stage, in the order of first use.
#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<(&'static str, Vec<(&'static str, Traffic)>)>);

impl Ledger {
    /// Names the stage for the following traffic.
    pub fn stage(&self, stage: &'static str) {
        if let Ok(mut ledger) = self.0.lock() {
            ledger.0 = stage;
        }
    }

    pub fn add(&self, traffic: Traffic) {
        let Ok(mut ledger) = self.0.lock() else { return };
        let (now, stages) = &mut *ledger;
        match stages.iter_mut().find(|(stage, _)| stage == now) {
            Some((_, sum)) => *sum = sum.plus(traffic),
            None => stages.push((now, traffic)),
        }
    }

    /// Returns all traffic and resets the ledger.
    pub fn take(&self) -> Vec<(&'static str, Traffic)> {
        self.0.lock().map_or_else(|_| Vec::new(), |mut ledger| std::mem::take(&mut ledger.1))
    }
}
