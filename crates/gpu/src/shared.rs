//! What Rust and WGSL both know: structs with one layout, and buffers given to a kernel by name.

use std::marker::PhantomData;

use bytemuck::Pod;

use super::{Buffer, Gpu, Traffic};

/// A struct that a shader declares too. A test compares each with what the shader compiler reads.
pub trait Shared: Pod {
    /// As Rust lays it out.
    const LAYOUT: Layout;
}

/// Name in WGSL, size and fields of a [`Shared`] struct. Fields whose names begin with `pad` need not be there in WGSL.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Name of the WGSL struct.
    pub name: &'static str,
    /// Bytes.
    pub size: usize,
    /// In order.
    pub fields: &'static [Field],
}

#[cfg(any(test, feature = "testing"))]
impl Layout {
    /// Of a WGSL struct that Rust only knows as so many words.
    pub const fn words(name: &'static str, words: usize) -> Self {
        Self { name, size: 4 * words, fields: &[] }
    }
}

/// One field of a [`Layout`].
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// In Rust.
    pub name: &'static str,
    /// In WGSL: the same, or several that lie side by side.
    pub parts: &'static [&'static str],
    /// Bytes from the struct's beginning.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
}

impl Field {
    /// A field, its size from how it is read.
    #[must_use]
    pub const fn new<T, F>(
        name: &'static str,
        parts: &'static [&'static str],
        offset: usize,
        _read: fn(&T) -> &F,
    ) -> Self {
        Self { name, parts, offset, size: size_of::<F>() }
    }
}

/// Makes a struct [`Shared`]: `layout!(Meeting as "Meeting" { to_a: [to_a_x, to_a_y, to_a_z], half_box })`, where a
/// field that is several in WGSL names them.
#[macro_export]
macro_rules! layout {
    (@ $field:ident) => { &[stringify!($field)] };
    (@ $field:ident $($part:ident)+) => { &[$(stringify!($part)),+] };
    ($ty:ident as $name:literal { $($field:ident $(: [$($part:ident),+])?),* $(,)? }) => {
        $crate::layout!(@@ $ty $name, $($field $(: [$($part),+])?),*);
    };
    (@@ $ty:ident $name:expr, $($field:ident $(: [$($part:ident),+])?),*) => {
        impl $crate::Shared for $ty {
            const LAYOUT: $crate::Layout = $crate::Layout {
                name: $name,
                size: size_of::<$ty>(),
                fields: &[$($crate::Field::new(
                    stringify!($field),
                    $crate::layout!(@ $field $($($part)+)?),
                    std::mem::offset_of!($ty, $field),
                    |this: &$ty| &this.$field,
                )),*],
            };
        }
    };
}

/// Declares structs that WGSL declares too, under the same names with the same fields.
#[macro_export]
macro_rules! shared {
    ($($(#[$meta:meta])* $vis:vis struct $ty:ident { $($(#[$about:meta])* $field:ident: $of:ty),* $(,)? })*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
        $vis struct $ty {
            $($(#[$about])* pub $field: $of),*
        }

        $crate::layout!(@@ $ty stringify!($ty), $($field),*);
    )*};
}

/// One [`Shared`] struct on the device, to bind as uniform or as storage.
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

/// What is given to one variable of a kernel. [`bind!`](crate::bind) makes them.
#[derive(Clone, Debug)]
pub struct Named<'a> {
    pub(super) name: &'static str,
    pub(super) resource: wgpu::BindingResource<'a>,
    /// The WGSL struct, where it is one.
    pub(super) ty: Option<&'static str>,
    /// Bytes of an element; 0 for what has none.
    #[cfg_attr(
        not(any(test, feature = "testing")),
        expect(dead_code, reason = "tests compare it with the shader's")
    )]
    pub(super) stride: usize,
}

impl<'a> Named<'a> {
    /// `given` for the variable `name`.
    #[must_use]
    pub fn new(name: &'static str, given: &'a (impl Bindable + ?Sized)) -> Self {
        given.named(name)
    }

    /// Bytes of the buffer that it is; 0 for a texture.
    pub(super) fn bytes(&self) -> u64 {
        match &self.resource {
            wgpu::BindingResource::Buffer(bound) => bound.size.map_or(bound.buffer.size(), u64::from),
            _ => 0,
        }
    }

    /// Whether a shader may read it as an array with such a stride. Plain words, here or there, may be anything.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn fits(&self, stride: usize) -> bool {
        stride == 4 || [0, 4, stride].contains(&self.stride)
    }
}

/// What a kernel's variable can be bound to.
pub trait Bindable {
    /// This for the variable `name`.
    fn named(&self, name: &'static str) -> Named<'_>;
}

impl<T: Bindable> Bindable for &T {
    fn named(&self, name: &'static str) -> Named<'_> {
        (**self).named(name)
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

/// What a kernel's variables are bound to, by their names in the shader: `bind![nodes: arena.nodes, pairs, masks]`,
/// where a name alone stands for the variable of that name here.
#[macro_export]
macro_rules! bind {
    (@ $name:ident) => { &$name };
    (@ $name:ident $given:expr) => { &$given };
    ($($name:ident $(: $given:expr)?),* $(,)?) => {
        &[$($crate::Named::new(stringify!($name), $crate::bind!(@ $name $($given)?))),*][..]
    };
}
