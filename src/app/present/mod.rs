//! Putting panels and picture onto the window: by the adapter, or by the cores where the adapter is software.

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

/// Where the picture lies, pixels.
pub type Place = egui::Rect;

/// What egui laid out.
pub struct Panels<'a> {
    /// Who laid it out.
    pub context: &'a egui::Context,
    /// Shapes in the order in which they are painted, points.
    pub shapes: Vec<ClippedShape>,
    /// Textures that come, change and go.
    pub textures: TexturesDelta,
    /// Pixels for one point.
    pub scale: f32,
}

/// Draws on a window.
pub enum Presenter {
    /// By the adapter.
    Device(Box<DeviceSurface>),
    /// By the cores.
    Cores(Box<CoresSurface>),
}

impl Presenter {
    /// Opens an adapter that can show the window, and what draws on it.
    ///
    /// # Errors
    /// [`AppError`].
    pub fn open(instance: wgpu::Instance, window: &Arc<Window>) -> Result<(Gpu, Self), AppError> {
        let (gpu, surface) = WindowSurface::open(instance, window)?;
        let cores = gpu.is_software().then(|| CoresSurface::open(window));
        let mut presenter = match cores {
            Some(Ok(cores)) => Self::Cores(Box::new(cores)),
            // What a window system does not take as pixels, its software driver may still draw.
            Some(Err(_)) | None => Self::Device(Box::new(DeviceSurface::new(&gpu, surface))),
        };
        let size = window.inner_size();
        presenter.resize(&gpu, [size.width, size.height]);
        Ok((gpu, presenter))
    }

    /// Follows the window; nothing is drawn while it has no size.
    pub fn resize(&mut self, gpu: &Gpu, size: [u32; 2]) {
        match self {
            Self::Device(device) => device.surface.resize(gpu, size),
            Self::Cores(cores) => cores.resize(size),
        }
    }

    /// Takes the size that the window has now, of which the event may still be on its way: panels are laid out for it, and
    /// where frames are slow they would be shown cut off until the next one. A device's surface waits for the event.
    pub fn follow(&mut self, window: &Window) {
        if let Self::Cores(cores) = self {
            let size = window.inner_size();
            cores.resize([size.width, size.height]);
        }
    }

    /// Pixels across and down.
    pub fn size(&self) -> [u32; 2] {
        match self {
            Self::Device(device) => device.surface.size(),
            Self::Cores(cores) => cores.size(),
        }
    }

    /// Whether there is anything to draw on.
    pub fn is_drawable(&self) -> bool {
        match self {
            Self::Device(device) => device.surface.is_drawable(),
            Self::Cores(cores) => cores.size().iter().all(|side| *side > 0),
        }
    }

    /// Whether the picture is wanted as pixels in memory.
    pub fn takes_pixels(&self) -> bool {
        matches!(self, Self::Cores(_))
    }

    /// The window system asks for what it showed already.
    pub fn expose(&mut self) {
        if let Self::Cores(cores) = self {
            cores.expose();
        }
    }

    /// Puts the pictures where they belong and the panels over them; `false` when there was nothing to draw into.
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
