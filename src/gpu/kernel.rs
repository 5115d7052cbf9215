//! A compute kernel: one WGSL file, one entry point, one label.
//!
//! The bind group layout is the one the shader itself declares, so there is nothing to keep in step by hand: binding i of
//! group 0 takes the i-th resource given to [`Kernel::bind`]. Every binding a file declares must be used by its entry point.

use bytemuck::Pod;

use super::{Buffer, Gpu, shaders};

/// Threads a workgroup in every one-dimensional kernel; the WGSL files write the same number (checked by a test).
pub const WORKGROUP: u32 = 256;

/// Workgroup counts for `items` threads, spread over two dimensions because one may not exceed 65,535.
#[must_use]
pub fn groups_for(items: usize) -> [u32; 3] {
    let groups = items.div_ceil(WORKGROUP as usize).max(1) as u64;
    let x = groups.min(32_768);
    [x as u32, groups.div_ceil(x) as u32, 1]
}

/// A compiled compute pipeline.
pub struct Kernel {
    label: &'static str,
    pipeline: wgpu::ComputePipeline,
}

/// A kernel's resources, bound.
pub struct Bound {
    pub(super) group: wgpu::BindGroup,
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
    #[cfg(test)]
    pub(crate) fn from_text(gpu: &Gpu, path: &'static str, source: String) -> Self {
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
            cache: None,
        });
        Self { label: path, pipeline }
    }

    /// Binds the i-th buffer to binding i of group 0.
    #[must_use]
    pub fn bind(&self, gpu: &Gpu, buffers: &[&wgpu::Buffer]) -> Bound {
        let resources: Vec<_> = buffers.iter().map(|b| b.as_entire_binding()).collect();
        self.bind_resources(gpu, resources)
    }

    /// As [`Kernel::bind`], for textures and samplers too.
    #[must_use]
    pub fn bind_resources(&self, gpu: &Gpu, resources: Vec<wgpu::BindingResource<'_>>) -> Bound {
        let entries: Vec<_> = resources
            .into_iter()
            .enumerate()
            .map(|(i, resource)| wgpu::BindGroupEntry { binding: i as u32, resource })
            .collect();
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(self.label),
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Bound { group }
    }

    /// Path of the shader, which is also the label of timer and debug group.
    #[must_use]
    pub fn label(&self) -> &'static str {
        self.label
    }

    pub(super) fn pipeline(&self) -> &wgpu::ComputePipeline {
        &self.pipeline
    }
}

impl Gpu {
    /// A buffer holding `value`, to bind as uniform or as storage.
    #[must_use]
    pub fn uniform<T: Pod>(&self, value: &T) -> wgpu::Buffer {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("uniform"),
            size: (size_of::<T>() as u64).next_multiple_of(16),
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, bytemuck::bytes_of(value));
        buffer
    }
}

/// Anything that can be bound as a whole buffer.
impl<T> AsRef<wgpu::Buffer> for Buffer<T>
where
    T: Pod,
{
    fn as_ref(&self) -> &wgpu::Buffer {
        self.raw()
    }
}
