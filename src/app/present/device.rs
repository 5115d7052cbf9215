//! The window drawn by its adapter: the picture, and egui's painter over it, in one pass.

use std::sync::Arc;

use winit::window::Window;

use super::{
    Panels, Place,
    surface::{Next, WindowSurface},
};
use crate::{
    gpu::Gpu,
    render::{Blit, View},
    ui::theme::CLEAR,
};

/// A surface and what draws on it.
pub struct DeviceSurface {
    /// The window's surface.
    pub surface: WindowSurface,
    painter: Painter,
}

impl DeviceSurface {
    /// Compiles the pipelines for a surface.
    pub fn new(gpu: &Gpu, surface: WindowSurface) -> Self {
        let painter = Painter::new(gpu, surface.format());
        Self { surface, painter }
    }

    /// Draws pictures and panels; `false` if there was no surface to draw into.
    pub fn present(
        &mut self,
        gpu: &Gpu,
        window: &Arc<Window>,
        panels: Panels<'_>,
        pictures: &[(&View, Place)],
    ) -> bool {
        let pictures = pictures.iter().filter_map(|(view, place)| Some((view.texture()?, *place)));
        let pictures: Vec<_> = pictures.collect();
        let next = match self.surface.next(gpu, window) {
            Next::Draw(texture) => Some(texture),
            Next::Skip => None,
        };
        let target = next.as_ref().map(|t| t.texture.create_view(&wgpu::TextureViewDescriptor::default()));
        // Textures are updated even without a surface: egui reports each change only once.
        self.painter.draw(gpu, target.as_ref(), self.surface.size(), panels, &pictures);
        let Some(texture) = next else { return false };
        window.pre_present_notify();
        gpu.queue.present(texture);
        true
    }
}

/// Pictures and panels into a texture.
pub struct Painter {
    egui: egui_wgpu::Renderer,
    blit: Blit,
    format: wgpu::TextureFormat,
}

impl Painter {
    /// Compiles the pipelines for targets of `format`.
    pub fn new(gpu: &Gpu, format: wgpu::TextureFormat) -> Self {
        // The panels are flat colours that need no dithering, and a software adapter pays for it at every pixel.
        let options = egui_wgpu::RendererOptions { dithering: false, ..Default::default() };
        let egui = egui_wgpu::Renderer::new(&gpu.device, format, options);
        Self { egui, blit: Blit::new(gpu, format), format }
    }

    /// Updates textures and draws on `target`, which is `size` pixels large.
    pub fn draw(
        &mut self,
        gpu: &Gpu,
        target: Option<&wgpu::TextureView>,
        size: [u32; 2],
        panels: Panels<'_>,
        pictures: &[(&wgpu::TextureView, Place)],
    ) {
        let Panels { context, shapes, textures, scale } = panels;
        for (id, deltas) in &textures.set {
            for delta in deltas {
                self.egui.update_texture(&gpu.device, &gpu.queue, *id, delta);
            }
        }
        if let Some(target) = target {
            let jobs = context.tessellate(shapes, scale);
            let screen = egui_wgpu::ScreenDescriptor { size_in_pixels: size, pixels_per_point: scale };
            self.encode(gpu, target, (&jobs, &screen), pictures);
        }
        for id in &textures.free {
            self.egui.free_texture(id);
        }
    }

    fn encode(
        &mut self,
        gpu: &Gpu,
        target: &wgpu::TextureView,
        (jobs, screen): (&[egui::ClippedPrimitive], &egui_wgpu::ScreenDescriptor),
        pictures: &[(&wgpu::TextureView, Place)],
    ) {
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some("window") };
        let mut encoder = gpu.device.create_command_encoder(&descriptor);
        // egui panics if a lost device cannot allocate memory; the next frame detects the loss.
        let updated =
            gpu.guarded(|| self.egui.update_buffers(&gpu.device, &gpu.queue, &mut encoder, jobs, screen));
        let Ok(mut buffers) = updated else { return };
        {
            let mut pass = encoder
                .begin_render_pass(&wgpu::RenderPassDescriptor {
                    label: Some("window"),
                    color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                        view: target,
                        depth_slice: None,
                        resolve_target: None,
                        ops: wgpu::Operations {
                            load: wgpu::LoadOp::Clear(clear_color(self.format)),
                            store: wgpu::StoreOp::Store,
                        },
                    })],
                    ..wgpu::RenderPassDescriptor::default()
                })
                .forget_lifetime();
            let [width, height] = screen.size_in_pixels.map(|side| side as f32);
            let whole = egui::Rect::from_min_max(egui::Pos2::ZERO, egui::pos2(width, height));
            let placed = pictures.iter().map(|(picture, place)| (picture, place.round().intersect(whole)));
            for (picture, place) in placed.filter(|(_, place)| place.is_positive()) {
                pass.set_viewport(place.left(), place.top(), place.width(), place.height(), 0.0, 1.0);
                if let Err(error) = self.blit.draw(gpu, &mut pass, picture, true) {
                    tracing::error!("the picture is not shown: {error}");
                }
            }
            self.egui.render(&mut pass, jobs, screen);
        }
        buffers.push(encoder.finish());
        gpu.submit(buffers);
    }
}

/// [`CLEAR`] in the encoding of a surface of `format`.
fn clear_color(format: wgpu::TextureFormat) -> wgpu::Color {
    let channel = |byte: u8| {
        let c = f64::from(byte) / 255.0;
        if format.is_srgb() { libm::pow((c + 0.055) / 1.055, 2.4) } else { c }
    };
    let [r, g, b] = CLEAR.map(channel);
    wgpu::Color { r, g, b, a: 1.0 }
}
