//! Presents panels and picture in the window: through the adapter, or drawn on the cores if the adapter is a software
//! one.

mod area;
mod canvas;
mod cores;
mod damage;
mod device;
mod stretch;
mod surface;
#[cfg(test)]
mod tests;
mod triangles;

use std::sync::Arc;

use egui::{TexturesDelta, epaint::ClippedShape};
use winit::window::Window;

use self::{cores::CoresSurface, device::DeviceSurface, surface::WindowSurface};
use super::AppError;
use crate::{gpu::Gpu, render::View};

/// Rectangle of a picture in the window, pixels.
pub type Place = egui::Rect;

/// egui's output for a frame.
pub struct Panels<'a> {
    /// The context that produced it.
    pub context: &'a egui::Context,
    /// Shapes in painting order, points.
    pub shapes: Vec<ClippedShape>,
    /// Changes of textures.
    pub textures: TexturesDelta,
    /// Pixels per point.
    pub scale: f32,
}

/// Presents frames in a window.
pub enum Presenter {
    /// Through the adapter.
    Device(Box<DeviceSurface>),
    /// With pixels drawn on the cores.
    Cores(Box<CoresSurface>),
}

impl Presenter {
    /// Opens an adapter that can present to the window, and its presenter.
    ///
    /// # Errors
    /// [`AppError`].
    pub fn open(instance: wgpu::Instance, window: &Arc<Window>) -> Result<(Gpu, Self), AppError> {
        let (gpu, surface) = WindowSurface::open(instance, window)?;
        let cores = gpu.is_software().then(|| CoresSurface::open(window));
        let mut presenter = match cores {
            Some(Ok(cores)) => Self::Cores(Box::new(cores)),
            // If the window system accepts no pixels, its software driver may still work.
            Some(Err(_)) | None => Self::Device(Box::new(DeviceSurface::new(&gpu, surface))),
        };
        let size = window.inner_size();
        presenter.resize(&gpu, [size.width, size.height]);
        Ok((gpu, presenter))
    }

    /// Resizes the surface to the window; nothing is drawn while the window has no size.
    pub fn resize(&mut self, gpu: &Gpu, size: [u32; 2]) {
        match self {
            Self::Device(device) => device.surface.resize(gpu, size),
            Self::Cores(cores) => cores.resize(size),
        }
    }

    /// Takes the window's present size, whose event may still be queued: panels are laid out for it, and in slow frames
    /// they would be cut off until the next one. A device's surface waits for the event.
    pub fn follow(&mut self, window: &Window) {
        if let Self::Cores(cores) = self {
            let size = window.inner_size();
            cores.resize([size.width, size.height]);
        }
    }

    /// Width and height, pixels.
    pub fn size(&self) -> [u32; 2] {
        match self {
            Self::Device(device) => device.surface.size(),
            Self::Cores(cores) => cores.size(),
        }
    }

    /// Whether the window has a size.
    pub fn is_drawable(&self) -> bool {
        match self {
            Self::Device(device) => device.surface.is_drawable(),
            Self::Cores(cores) => cores.size().iter().all(|side| *side > 0),
        }
    }

    /// Whether pictures are needed as pixels in memory.
    pub fn takes_pixels(&self) -> bool {
        matches!(self, Self::Cores(_))
    }

    /// Handles the window system's request to show the same frame again.
    pub fn expose(&mut self) {
        if let Self::Cores(cores) = self {
            cores.expose();
        }
    }

    /// Draws pictures and panels; `false` if there was no surface to draw into.
    pub fn present(
        &mut self,
        gpu: &Gpu,
        window: &Arc<Window>,
        panels: Panels<'_>,
        pictures: &[(&View, Place)],
    ) -> bool {
        match self {
            Self::Device(device) => device.present(gpu, window, panels, pictures),
            Self::Cores(cores) => {
                let pixels = pictures.iter().filter_map(|(view, place)| Some((view.pixels()?, *place)));
                window.pre_present_notify();
                let presented = cores.present(panels, &pixels.collect::<Vec<_>>());
                if let Err(error) = &presented {
                    tracing::error!("the window is not drawn: {error}");
                }
                presented.is_ok()
            }
        }
    }
}
