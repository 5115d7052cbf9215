//! What Rust and WGSL both declare: structs with one layout; and the macros that declare structs, kernels and bindings.

use bytemuck::Pod;

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

/// Declares a struct of kernels, each with the path of its shader, and how they are compiled.
#[macro_export]
macro_rules! kernels {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($field:ident: $path:literal),* $(,)? }) => {
        $(#[$meta])*
        $vis struct $name {
            $($field: $crate::Kernel),*
        }

        impl $name {
            /// Compiles the passes.
            #[must_use]
            #[allow(dead_code, reason = "kernels with constants are made otherwise")]
            pub fn new(gpu: &$crate::Gpu) -> Self {
                Self::with_kernels(&|path| $crate::Kernel::new(gpu, path))
            }

            /// With another way of compiling kernels: for tests that plant errors, and for constants.
            pub fn with_kernels(kernel: &dyn Fn(&'static str) -> $crate::Kernel) -> Self {
                Self { $($field: kernel($path)),* }
            }
        }
    };
}
