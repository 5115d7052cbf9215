//! A render pipeline: one WGSL file, a stage of corners and one of pixels, one label. As to a kernel, what it reads is
//! given by the names of the shader's variables.

use super::{
    Gpu, GpuError, Named,
    bindings::{Bindings, Variables},
};

/// What is drawn by a pipeline, beside its shader.
pub struct DrawingForm<'a> {
    /// Entry point of the corners; that of the pixels is `pixel`.
    pub corners: &'static str,
    /// What is read for each instance; nothing where corners are only counted.
    pub instance: Option<wgpu::VertexBufferLayout<'a>>,
    /// How corners make triangles.
    pub topology: wgpu::PrimitiveTopology,
    /// What hides what.
    pub depth: Option<wgpu::DepthStencilState>,
    /// Samples a pixel.
    pub samples: u32,
    /// What is drawn into.
    pub target: wgpu::ColorTargetState,
}

/// A compiled render pipeline.
pub struct Drawing {
    pipeline: wgpu::RenderPipeline,
    bindings: Bindings,
}

impl Drawing {
    /// Compiles `source`, the text of `shaders/<path>.wgsl`. Both stages together use every variable of it.
    #[must_use]
    pub fn new(gpu: &Gpu, path: &'static str, source: &str, form: DrawingForm<'_>) -> Self {
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(path),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline = gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(path),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some(form.corners),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: form.instance.map(Some).as_slice(),
            },
            primitive: wgpu::PrimitiveState { topology: form.topology, ..Default::default() },
            depth_stencil: form.depth,
            multisample: wgpu::MultisampleState { count: form.samples, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("pixel"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(form.target)],
            }),
            multiview_mask: None,
            cache: gpu.pipeline_cache(),
        });
        let bindings = Bindings::new(path, pipeline.get_bind_group_layout(0), Variables::of(source));
        Self { pipeline, bindings }
    }

    /// What is drawn next in `pass` is drawn by this, and reads what is `given`.
    ///
    /// # Errors
    /// [`GpuError::Binding`] where names or structs are not the shader's.
    pub fn begin(
        &self,
        gpu: &Gpu,
        pass: &mut wgpu::RenderPass<'_>,
        given: &[Named<'_>],
    ) -> Result<(), GpuError> {
        let group = self.bindings.group(gpu, given)?;
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &group, &[]);
        Ok(())
    }
}
