//! A compute kernel: one WGSL file, one entry point, one label.
//!
//! The bind group layout is the one the shader itself declares, and a kernel knows its bindings by the names of the
//! shader's variables. A dispatch therefore says by name what it gives ([`bind!`](crate::bind)): in any order,
//! all that there are and nothing else. Every binding a file declares must be used by its entry point.

use super::{
    Gpu, GpuError, Named,
    bindings::{Bindings, Variables},
    shaders,
};

/// Threads a workgroup in every one-dimensional kernel; the WGSL files write the same number (checked by a test).
pub const WORKGROUP: u32 = 256;

/// Workgroup counts for `items` threads, spread over two dimensions because one may not exceed 65,535.
#[must_use]
pub fn groups_for(items: usize) -> [u32; 3] {
    spread(items.div_ceil(WORKGROUP as usize))
}

/// So many workgroups, spread over two dimensions.
#[must_use]
pub fn spread(groups: usize) -> [u32; 3] {
    let groups = groups.max(1);
    let x = groups.min(32_768);
    [x as u32, groups.div_ceil(x) as u32, 1]
}

/// A compiled compute pipeline.
pub struct Kernel {
    pipeline: wgpu::ComputePipeline,
    bindings: Bindings,
}

impl Kernel {
    /// Compiles `shaders/<path>.wgsl`, entry point `main`.
    ///
    /// # Panics
    /// If the file is not among the embedded shaders, which a unit test rules out.
    #[must_use]
    pub fn new(gpu: &Gpu, path: &'static str) -> Self {
        Self::compile(gpu, path, shaders::source(path), &[])
    }

    /// Compiles `source`, entry point `main`; tests plant errors in it.
    #[cfg(any(test, feature = "testing"))]
    pub fn from_text(gpu: &Gpu, path: &'static str, source: String) -> Self {
        Self::compile(gpu, path, source, &[])
    }

    /// As [`Kernel::new`], with values for the shader's `override` declarations by name.
    ///
    /// # Panics
    /// As [`Kernel::new`].
    #[must_use]
    pub fn with_constants(gpu: &Gpu, path: &'static str, constants: &[(&str, f64)]) -> Self {
        Self::compile(gpu, path, shaders::source(path), constants)
    }

    fn compile(gpu: &Gpu, path: &'static str, source: String, constants: &[(&str, f64)]) -> Self {
        let variables = Variables::of(&source);
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(path),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(path),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions { constants, ..Default::default() },
            cache: gpu.pipeline_cache(),
        });
        let bindings = Bindings::new(path, pipeline.get_bind_group_layout(0), variables);
        Self { pipeline, bindings }
    }

    /// Binds what is `given` to the variables of the same names.
    ///
    /// # Errors
    /// As [`Bindings::group`].
    pub(super) fn bind(&self, gpu: &Gpu, given: &[Named<'_>]) -> Result<wgpu::BindGroup, GpuError> {
        self.bindings.group(gpu, given)
    }

    /// Path of the shader, which is also the label of timer and debug group.
    #[must_use]
    pub fn label(&self) -> &'static str {
        self.bindings.label()
    }

    pub(super) fn pipeline(&self) -> &wgpu::ComputePipeline {
        &self.pipeline
    }
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
            fn with_kernels(kernel: &dyn Fn(&'static str) -> $crate::Kernel) -> Self {
                Self { $($field: kernel($path)),* }
            }
        }
    };
}
