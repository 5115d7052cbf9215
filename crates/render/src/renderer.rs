//! The renderer's two backends: compute passes, or the cores.
//!
//! In: a frame's input. Out: a picture, in memory or as a texture of the window's device.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use super::{
    FrameInput, PixelHit,
    frame::PassRenderer,
    native::{NativeRenderer, Shown},
    surfaces::read_texture,
};
use crate::{
    compute::Compute,
    gpu::{Gpu, GpuError, StageTiming},
};

/// The last picture, in the form that the window's presenter needs.
#[derive(Clone, Debug)]
pub enum View {
    /// On the window's device (Rgba8Unorm, tone-mapped and sRGB-encoded).
    Texture(wgpu::TextureView),
    /// In memory.
    Pixels(Arc<Pixels>),
}

/// A picture in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Width and height.
    pub size: [u32; 2],
    /// Rows from the top, sRGB.
    pub rgba: Vec<u8>,
}

impl Pixels {
    /// Decodes a PNG file; `None` if that fails.
    #[must_use]
    pub fn from_png(bytes: &[u8]) -> Option<Self> {
        let picture = image::load_from_memory_with_format(bytes, image::ImageFormat::Png).ok()?.into_rgba8();
        Some(Self { size: [picture.width(), picture.height()], rgba: picture.into_raw() })
    }

    /// The bytes of a PNG file; `None` if the size is 0 or does not fit the pixels.
    #[must_use]
    pub fn to_png(&self) -> Option<Vec<u8>> {
        let mut bytes = std::io::Cursor::new(Vec::new());
        let [width, height] = self.size;
        let format = image::ImageFormat::Png;
        image::write_buffer_with_format(
            &mut bytes,
            &self.rgba,
            width,
            height,
            image::ExtendedColorType::Rgba8,
            format,
        )
        .ok()?;
        Some(bytes.into_inner())
    }
}

impl View {
    /// A picture that was drawn elsewhere, on the `window`'s device if it has one; `None` if that device has no memory
    /// for it.
    #[must_use]
    pub fn new(pixels: Pixels, window: Option<&Gpu>) -> Option<Self> {
        match window {
            Some(window) => Shown::default().view(window, pixels.size, &pixels.rgba).map(Self::Texture),
            None => Some(Self::Pixels(Arc::new(pixels))),
        }
    }

    /// The texture, if it is on the device.
    #[must_use]
    pub fn texture(&self) -> Option<&wgpu::TextureView> {
        match self {
            Self::Texture(texture) => Some(texture),
            Self::Pixels(_) => None,
        }
    }

    /// The pixels, if they are in memory.
    #[must_use]
    pub fn pixels(&self) -> Option<&Arc<Pixels>> {
        match self {
            Self::Pixels(pixels) => Some(pixels),
            Self::Texture(_) => None,
        }
    }

    /// The pixels, read back if they are on the device.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn read(&self, window: &Gpu) -> Result<Arc<Pixels>, GpuError> {
        match self {
            Self::Pixels(pixels) => Ok(Arc::clone(pixels)),
            Self::Texture(view) => {
                let texture = view.texture();
                let size = [texture.width(), texture.height()];
                Ok(Arc::new(Pixels { size, rgba: read_texture(window, texture)? }))
            }
        }
    }
}

/// Draws pictures on a backend.
pub struct Renderer {
    stages: Stages,
}

enum Stages {
    Passes(Box<Gpu>, Box<PassRenderer>),
    Native(Box<NativeRenderer>),
}

impl Renderer {
    /// Creates a renderer for a backend; compiles its passes if it has any.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(compute: impl Into<Compute>) -> Result<Self, GpuError> {
        let stages = match compute.into() {
            Compute::Gpu(gpu) => {
                let passes = Box::new(PassRenderer::new(&gpu)?);
                Stages::Passes(Box::new(gpu), passes)
            }
            Compute::Cpu => Stages::Native(Box::default()),
        };
        Ok(Self { stages })
    }

    /// Draws a picture. A zero size is drawn as one pixel. Does not wait for a device.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn draw(&mut self, input: &FrameInput<'_>) -> Result<(), GpuError> {
        match &mut self.stages {
            Stages::Passes(gpu, passes) => passes.draw(gpu, input).map(|_| ()),
            Stages::Native(native) => native.draw(input),
        }
    }

    /// Like [`Renderer::draw`], but on the cores a picture ends soon after `given_up` is set; compute passes that were
    /// submitted go on. Returns whether the picture was drawn.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn draw_unless(&mut self, input: &FrameInput<'_>, given_up: &AtomicBool) -> Result<bool, GpuError> {
        match &mut self.stages {
            Stages::Passes(..) if given_up.load(Ordering::Relaxed) => Ok(false),
            Stages::Passes(gpu, passes) => passes.draw(gpu, input).map(|_| true),
            Stages::Native(native) => native.draw_unless(input, given_up),
        }
    }

    /// Finds only a picture's first hits, without appearance and light, for [`Renderer::read_hits`] (which then has no
    /// normals). Returns false on compute passes, which cannot separate the two.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn cast(&mut self, input: &FrameInput<'_>) -> Result<bool, GpuError> {
        match &mut self.stages {
            Stages::Passes(..) => Ok(false),
            Stages::Native(native) => native.cast(input).map(|()| true),
        }
    }

    /// The last picture on the `window`'s device, or in memory if it has none; `None` before the first picture.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn view(&mut self, window: Option<&Gpu>) -> Result<Option<View>, GpuError> {
        match (&mut self.stages, window) {
            (Stages::Passes(gpu, passes), None) => {
                let view = passes.view().map(|view| View::Texture(view.clone()).read(gpu));
                Ok(view.transpose()?.map(View::Pixels))
            }
            (Stages::Native(native), None) => Ok(native.pixels().map(|p| View::Pixels(Arc::new(p)))),
            (Stages::Passes(_, passes), Some(_)) => Ok(passes.view().cloned().map(View::Texture)),
            (Stages::Native(native), Some(window)) => Ok(native.view(window).map(View::Texture)),
        }
    }

    /// Draws with `passes` refinement passes; returns RGBA8 rows from the top.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn still(&mut self, input: &FrameInput<'_>, passes: u32) -> Result<Vec<u8>, GpuError> {
        match &mut self.stages {
            Stages::Passes(gpu, renderer) => renderer.still(gpu, input, passes),
            Stages::Native(native) => native.still(input, passes),
        }
    }

    /// First hits of the last frame, rows from the top. Waits for the device.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn read_hits(&self) -> Result<Vec<PixelHit>, GpuError> {
        match &self.stages {
            Stages::Passes(gpu, passes) => passes.read_hits(gpu),
            Stages::Native(native) => Ok(native.read_hits()),
        }
    }

    /// Times of the last frame whose timings have arrived.
    #[must_use]
    pub fn timings(&self) -> &[StageTiming] {
        match &self.stages {
            Stages::Passes(_, passes) => passes.timings(),
            Stages::Native(native) => native.timings(),
        }
    }
}
