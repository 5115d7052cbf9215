//! The picture onto a window: one triangle, bilinear or nearest.
//!
//! In: a view of the ray caster's Rgba8Unorm picture (already sRGB-encoded). Out: the same colours on a
//! surface of any format.

use crate::gpu::{Gpu, Uniform, shaders, shared};

shared! {
    /// How the picture is put on a surface.
    pub(super) struct BlitOptions {
        /// 1 where the target encodes to sRGB itself.
        decode: u32,
        pad0: u32,
        pad1: u32,
        pad2: u32,
    }
}

/// Draws a picture over a whole render target, stretching it to fit.
pub struct Blit {
    pipeline: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    linear: wgpu::Sampler,
    nearest: wgpu::Sampler,
    options: Uniform<BlitOptions>,
    device: wgpu::Device,
}

impl Blit {
    /// Compiles for render targets of `target_format`.
    #[must_use]
    pub fn new(gpu: &Gpu, target_format: wgpu::TextureFormat) -> Self {
        Self::from_source(gpu, target_format, shaders::source("render/blit"))
    }

    /// As [`Blit::new`], from the shader's text.
    pub(super) fn from_source(gpu: &Gpu, target_format: wgpu::TextureFormat, source: String) -> Self {
        let label = Some("render/blit");
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline = gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("corner"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("pixel"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(target_format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let sampler = |filter| {
            gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label,
                mag_filter: filter,
                min_filter: filter,
                ..Default::default()
            })
        };
        Self {
            layout: pipeline.get_bind_group_layout(0),
            pipeline,
            linear: sampler(wgpu::FilterMode::Linear),
            nearest: sampler(wgpu::FilterMode::Nearest),
            options: Uniform::new(
                gpu,
                &BlitOptions { decode: u32::from(target_format.is_srgb()), pad0: 0, pad1: 0, pad2: 0 },
            ),
            device: gpu.device.clone(),
        }
    }

    /// Draws `picture` over the pass's whole viewport; `smooth` filters bilinearly. The pass may go on (with
    /// egui, say).
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>, picture: &wgpu::TextureView, smooth: bool) {
        let sampler = if smooth { &self.linear } else { &self.nearest };
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("render/blit"),
            layout: &self.layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(picture) },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::Sampler(sampler) },
                wgpu::BindGroupEntry { binding: 2, resource: self.options.raw().as_entire_binding() },
            ],
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
    }

    /// As [`Blit::draw`], in a pass of its own that fills `target`.
    pub fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        picture: &wgpu::TextureView,
        smooth: bool,
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("render/blit"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: target,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        self.draw(&mut pass, picture, smooth);
    }
}
