//! The window's surface: configured to the window's size, recreated when lost or outdated, unconfigured while the
//! window has no size.

use std::sync::Arc;

use winit::window::Window;

use crate::{app::AppError, gpu::Gpu};

/// A surface and how it is configured.
pub struct WindowSurface {
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    configured: bool,
}

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
        Ok((gpu, Self { surface, config, configured: false }))
    }

    /// Resizes the surface to the window; a zero size unconfigures it.
    pub fn resize(&mut self, gpu: &Gpu, [width, height]: [u32; 2]) {
        let most = gpu.limits.max_texture_dimension_2d;
        self.configured = width > 0 && height > 0;
        if self.configured {
            (self.config.width, self.config.height) = (width.min(most), height.min(most));
            self.surface.configure(&gpu.device, &self.config);
        }
    }

    /// Width and height, pixels.
    pub fn size(&self) -> [u32; 2] {
        [self.config.width, self.config.height]
    }

    /// Whether the surface has a size.
    pub fn is_drawable(&self) -> bool {
        self.configured
    }

    /// Pixel format.
    pub fn format(&self) -> wgpu::TextureFormat {
        self.config.format
    }

    /// Acquires the next frame's texture.
    pub fn next(&mut self, gpu: &Gpu, window: &Arc<Window>) -> Next {
        use wgpu::CurrentSurfaceTexture as Current;
        if !self.configured {
            return Next::Skip;
        }
        match self.surface.get_current_texture() {
            Current::Success(texture) | Current::Suboptimal(texture) => Next::Draw(texture),
            Current::Outdated => {
                self.surface.configure(&gpu.device, &self.config);
                window.request_redraw();
                Next::Skip
            }
            Current::Lost => {
                if let Ok(surface) = gpu.instance.create_surface(Arc::clone(window)) {
                    self.surface = surface;
                    self.surface.configure(&gpu.device, &self.config);
                    window.request_redraw();
                }
                Next::Skip
            }
            Current::Timeout | Current::Occluded | Current::Validation => Next::Skip,
        }
    }
}
