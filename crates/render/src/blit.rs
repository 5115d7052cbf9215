//! Copies the picture to a window: one triangle, bilinear or nearest.
//!
//! In: a view of the ray caster's Rgba8Unorm picture (already sRGB-encoded). Out: the same colours on a surface of any
//! format.

use crate::gpu::{Drawing, DrawingForm, Gpu, GpuError, Uniform, bind, shaders, shared};

shared! {
    /// Parameters of the shader.
    pub(super) struct BlitOptions {
        /// 1 if the target encodes to sRGB itself.
        decode: u32,
        pad0: u32,
        pad1: u32,
        pad2: u32,
    }
}

/// Draws a picture over a whole render target, stretching it to fit.
pub struct Blit {
    drawing: Drawing,
    linear: wgpu::Sampler,
    nearest: wgpu::Sampler,
    options: Uniform<BlitOptions>,
}

impl Blit {
    /// Compiles for render targets of `target_format`.
    #[must_use]
    pub fn new(gpu: &Gpu, target_format: wgpu::TextureFormat) -> Self {
        Self::from_source(gpu, target_format, &shaders::source("render/blit"))
    }

    /// Like [`Blit::new`], from the shader's text.
    pub(super) fn from_source(gpu: &Gpu, target_format: wgpu::TextureFormat, source: &str) -> Self {
        let form = DrawingForm {
            corners: "corner",
            instance: None,
            topology: wgpu::PrimitiveTopology::TriangleList,
            depth: None,
            samples: 1,
            target: target_format.into(),
        };
        let sampler = |filter| {
            gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("render/blit"),
                mag_filter: filter,
                min_filter: filter,
                ..Default::default()
            })
        };
        let decode = u32::from(target_format.is_srgb());
        Self {
            drawing: Drawing::new(gpu, "render/blit", source, form),
            linear: sampler(wgpu::FilterMode::Linear),
            nearest: sampler(wgpu::FilterMode::Nearest),
            options: Uniform::new(gpu, &BlitOptions { decode, pad0: 0, pad1: 0, pad2: 0 }),
        }
    }

    /// Draws `picture` over the pass's whole viewport; `smooth` filters bilinearly. The pass can be used further (with
    /// egui, for instance).
    ///
    /// # Errors
    /// [`GpuError::Binding`], as for a kernel.
    pub fn draw(
        &self,
        gpu: &Gpu,
        pass: &mut wgpu::RenderPass<'_>,
        picture: &wgpu::TextureView,
        smooth: bool,
    ) -> Result<(), GpuError> {
        let picture_sampler = if smooth { &self.linear } else { &self.nearest };
        self.drawing.begin(gpu, pass, bind![picture, picture_sampler, options: self.options])?;
        pass.draw(0..3, 0..1);
        Ok(())
    }

    /// Like [`Blit::draw`], in a pass of its own that covers `target`.
    ///
    /// # Errors
    /// As [`Blit::draw`].
    pub fn encode(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        (picture, smooth): (&wgpu::TextureView, bool),
    ) -> Result<(), GpuError> {
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
        self.draw(gpu, &mut pass, picture, smooth)
    }
}
