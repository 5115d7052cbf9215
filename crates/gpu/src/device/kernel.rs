//! A compute kernel: one WGSL file, one entry point, one label.
//!
//! The bind group layout is the one the shader itself declares, and bindings have the names of the shader's variables.
//! A dispatch binds resources by name ([`bind!`](crate::bind)): in any order, exactly one per variable. Every binding a
//! file declares must be used by its entry point.

use super::{
    Gpu, GpuError, Named,
    bindings::{Bindings, Variables},
    shaders,
};

/// Threads per workgroup in every one-dimensional kernel; the WGSL files contain the same number (checked by a test).
pub const WORKGROUP: u32 = 256;

/// Workgroup counts for `items` threads, spread over two dimensions because one may not exceed 65,535.
#[must_use]
pub fn groups_for(items: usize) -> [u32; 3] {
    spread(items.div_ceil(WORKGROUP as usize))
}

/// Workgroup counts for `groups` workgroups, spread over two dimensions.
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

    /// Compiles `source`, entry point `main`, in which tests plant errors.
    #[cfg(any(test, feature = "testing"))]
    pub fn from_text(gpu: &Gpu, path: &'static str, source: String) -> Self {
        Self::compile(gpu, path, source, &[])
    }

    /// Like [`Kernel::new`], with values for the shader's `override` declarations by name.
    ///
    /// # Panics
    /// See [`Kernel::new`].
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

    /// Creates a bind group from the `given` resources.
    ///
    /// # Errors
    /// See [`Bindings::group`].
    pub(super) fn bind(&self, gpu: &Gpu, given: &[Named<'_>]) -> Result<wgpu::BindGroup, GpuError> {
        self.bindings.group(gpu, given)
    }

    /// Path of the shader, which also labels its timer and debug group.
    #[must_use]
    pub fn label(&self) -> &'static str {
        self.bindings.label()
    }

    pub(super) fn pipeline(&self) -> &wgpu::ComputePipeline {
        &self.pipeline
    }
}
