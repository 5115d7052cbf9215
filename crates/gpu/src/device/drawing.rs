//! A render pipeline: one WGSL file with a vertex and a fragment stage, one label. As for a kernel, its resources are
//! given by the names of the shader's variables.

use super::{
    Gpu, GpuError, Named,
    bindings::{Bindings, Variables},
};

/// Form of a render pipeline, besides its shader.
pub struct DrawingForm<'a> {
    /// Entry point of the vertex stage; that of the fragment stage is `pixel`.
    pub corners: &'static str,
    /// Layout of instance data; `None` if the shader only uses the vertex index.
    pub instance: Option<wgpu::VertexBufferLayout<'a>>,
    /// Topology of primitives.
    pub topology: wgpu::PrimitiveTopology,
    /// Depth test.
    pub depth: Option<wgpu::DepthStencilState>,
    /// Samples per pixel.
    pub samples: u32,
    /// Render target.
    pub target: wgpu::ColorTargetState,
}

/// A compiled render pipeline.
pub struct Drawing {
    pipeline: wgpu::RenderPipeline,
    bindings: Bindings,
}

impl Drawing {
    /// Compiles `source`, the text of `shaders/<path>.wgsl`. The two stages together must use every variable in it.
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

    /// Sets this pipeline and the `given` resources for the next draws in `pass`.
    ///
    /// # Errors
    /// [`GpuError::Binding`] if names or structs are not the shader's.
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
