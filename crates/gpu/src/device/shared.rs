//! Buffers and structs given to a kernel by name.

use std::marker::PhantomData;

use super::{Gpu, Shared, Traffic};

/// A [`Shared`] struct on the device, to be bound as uniform or storage.
#[derive(Clone, Debug)]
pub struct Uniform<T> {
    raw: wgpu::Buffer,
    marker: PhantomData<T>,
}

impl<T: Shared> Uniform<T> {
    /// A buffer holding `value`.
    #[must_use]
    pub fn new(gpu: &Gpu, value: &T) -> Self {
        let raw = gpu.small_buffer(&wgpu::BufferDescriptor {
            label: Some(T::LAYOUT.name),
            size: (size_of::<T>() as u64).next_multiple_of(16),
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let uniform = Self { raw, marker: PhantomData };
        uniform.write(gpu, value);
        uniform
    }

    /// Replaces the value.
    pub fn write(&self, gpu: &Gpu, value: &T) {
        gpu.queue.write_buffer(&self.raw, 0, bytemuck::bytes_of(value));
        gpu.ledger().add(Traffic { bytes_up: size_of::<T>() as u64, ..Traffic::default() });
    }

    /// The wgpu buffer.
    #[must_use]
    pub fn raw(&self) -> &wgpu::Buffer {
        &self.raw
    }
}

/// The resource for one variable of a kernel, made by [`bind!`](crate::bind).
#[derive(Clone, Debug)]
pub struct Named<'a> {
    pub(super) name: &'static str,
    pub(super) resource: wgpu::BindingResource<'a>,
    /// Name of the WGSL struct, if it is one.
    pub(super) ty: Option<&'static str>,
    /// Size of an element, bytes; 0 if it has none.
    #[cfg_attr(
        not(any(test, feature = "testing")),
        expect(dead_code, reason = "tests compare it with the shader's")
    )]
    pub(super) stride: usize,
}

impl<'a> Named<'a> {
    /// The resource `given` for the variable `name`.
    #[must_use]
    pub fn new(name: &'static str, given: &'a (impl Bindable + ?Sized)) -> Self {
        given.named(name)
    }

    /// Size of the buffer, bytes; 0 for a texture.
    pub(super) fn bytes(&self) -> u64 {
        match &self.resource {
            wgpu::BindingResource::Buffer(bound) => bound.size.map_or(bound.buffer.size(), u64::from),
            _ => 0,
        }
    }

    /// Whether a shader may read it as an array of this stride. Plain words on either side match anything.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn fits(&self, stride: usize) -> bool {
        stride == 4 || [0, 4, stride].contains(&self.stride)
    }
}

/// A resource that can be bound to a kernel's variable.
pub trait Bindable {
    /// The resource for the variable `name`.
    fn named(&self, name: &'static str) -> Named<'_>;
}

impl<T: Bindable> Bindable for &T {
    fn named(&self, name: &'static str) -> Named<'_> {
        (**self).named(name)
    }
}

impl<T: Shared> Bindable for Uniform<T> {
    fn named(&self, name: &'static str) -> Named<'_> {
        Named { name, resource: self.raw.as_entire_binding(), ty: Some(T::LAYOUT.name), stride: 0 }
    }
}

impl Bindable for wgpu::TextureView {
    fn named(&self, name: &'static str) -> Named<'_> {
        Named { name, resource: wgpu::BindingResource::TextureView(self), ty: None, stride: 0 }
    }
}

impl Bindable for wgpu::Sampler {
    fn named(&self, name: &'static str) -> Named<'_> {
        Named { name, resource: wgpu::BindingResource::Sampler(self), ty: None, stride: 0 }
    }
}
