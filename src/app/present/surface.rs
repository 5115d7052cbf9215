//! The window's surface: configured to the window's size, recreated when lost, unconfigured while the window has no size.
//!
//! A driver may refuse to configure a surface, or to hand out its next texture, while other threads keep it busy or memory
//! is short. Then the frame is left out, and the next one configures the surface again.

use std::{sync::Arc, time::Duration};

use winit::window::Window;

use crate::{app::AppError, gpu::Gpu};

/// A surface and how it is configured.
pub struct WindowSurface {
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    /// Whether the window has a size.
    has_size: bool,
    /// Whether the surface can be used as it is.
    configured: bool,
    /// Frames left out one after the other.
    left_out: u32,
}

/// Pause before a frame that follows one that was left out, so that a surface that stays unusable does not keep a core
/// busy.
const PAUSE: Duration = Duration::from_millis(10);

/// Result of acquiring the next frame's texture.
pub enum Next {
    /// Draw into it and present it.
    Draw(wgpu::SurfaceTexture),
    /// Nothing to draw into; try again at the next event.
    Skip,
}

impl WindowSurface {
    /// Opens a device for the window. The surface is not configured yet.
    ///
    /// # Errors
    /// [`AppError`].
    pub fn open(instance: wgpu::Instance, window: &Arc<Window>) -> Result<(Gpu, Self), AppError> {
        let surface =
            instance.create_surface(Arc::clone(window)).map_err(|e| AppError::Window(e.to_string()))?;
        let gpu = Gpu::open(instance, Some(&surface))?.keeping_pipelines();
        let capabilities = surface.get_capabilities(&gpu.adapter);
        // egui blends in sRGB bytes, so the surface format must not convert them.
        let format = capabilities
            .formats
            .iter()
            .copied()
            .find(|f| matches!(f, wgpu::TextureFormat::Bgra8Unorm | wgpu::TextureFormat::Rgba8Unorm))
            .or_else(|| capabilities.formats.first().copied())
            .ok_or_else(|| AppError::Window("the adapter cannot draw on this window".into()))?;
        let size = window.inner_size();
        let mut config = surface
            .get_default_config(&gpu.adapter, size.width.max(1), size.height.max(1))
            .ok_or_else(|| AppError::Window("the adapter cannot draw on this window".into()))?;
        config.format = format;
        config.present_mode = wgpu::PresentMode::AutoVsync;
        config.desired_maximum_frame_latency = 1;
        Ok((gpu, Self { surface, config, has_size: false, configured: false, left_out: 0 }))
    }

    /// Resizes the surface to the window; a zero size unconfigures it.
    pub fn resize(&mut self, gpu: &Gpu, [width, height]: [u32; 2]) {
        let most = gpu.limits.max_texture_dimension_2d;
        self.has_size = width > 0 && height > 0;
        self.configured = false;
        if self.has_size {
            (self.config.width, self.config.height) = (width.min(most), height.min(most));
            self.configure(gpu);
        }
    }

    fn configure(&mut self, gpu: &Gpu) {
        let configure = || self.surface.configure(&gpu.device, &self.config);
        self.configured = gpu.is_accepted(configure).is_some();
    }

    /// Width and height, pixels.
    pub fn size(&self) -> [u32; 2] {
        [self.config.width, self.config.height]
    }

    /// Whether the surface has a size.
    pub fn is_drawable(&self) -> bool {
        self.has_size
    }

    /// Pixel format.
    pub fn format(&self) -> wgpu::TextureFormat {
        self.config.format
    }

    /// Acquires the next frame's texture. Where there is none, the surface is configured again for the next frame, which
    /// is asked for.
    pub fn next(&mut self, gpu: &Gpu, window: &Arc<Window>) -> Next {
        use wgpu::CurrentSurfaceTexture as Current;
        if !self.has_size {
            return Next::Skip;
        }
        if !self.configured {
            self.configure(gpu);
        }
        if !self.configured {
            return self.leave_out(window);
        }
        match gpu.is_accepted(|| self.surface.get_current_texture()) {
            Some(Current::Success(texture) | Current::Suboptimal(texture)) => {
                self.left_out = 0;
                Next::Draw(texture)
            }
            // Nobody sees the window; it is drawn when it is seen again.
            Some(Current::Occluded) => Next::Skip,
            Some(Current::Lost) => {
                if let Ok(surface) = gpu.instance.create_surface(Arc::clone(window)) {
                    self.surface = surface;
                }
                self.leave_out(window)
            }
            Some(Current::Outdated | Current::Timeout | Current::Validation) | None => self.leave_out(window),
        }
    }

    fn leave_out(&mut self, window: &Arc<Window>) -> Next {
        self.configured = false;
        if self.left_out > 0 {
            std::thread::sleep(PAUSE);
        }
        self.left_out = self.left_out.saturating_add(1);
        window.request_redraw();
        Next::Skip
    }
}
