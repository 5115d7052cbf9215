//! Who draws: the compute passes, or the cores.
//!
//! In: a frame's input. Out: a picture, in memory or as a texture of the device that shows the window.

use super::{FrameInput, PixelHit, frame::PassRenderer, native::NativeRenderer};
use crate::{
    compute::Compute,
    gpu::{Gpu, GpuError, StageTiming},
};

/// Draws pictures where its stages run.
pub struct Renderer {
    stages: Stages,
}

enum Stages {
    Passes(Box<Gpu>, Box<PassRenderer>),
    Native(Box<NativeRenderer>),
}

impl Renderer {
    /// A renderer whose stages run there; compiles them where they are compute passes.
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

    /// Draws a picture. A size of zero is drawn as one pixel. Does not wait for a device.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn draw(&mut self, input: &FrameInput<'_>) -> Result<(), GpuError> {
        match &mut self.stages {
            Stages::Passes(gpu, passes) => passes.draw(gpu, input).map(|_| ()),
            Stages::Native(native) => native.draw(input),
        }
    }

    /// The last picture as a texture (Rgba8Unorm, tone-mapped and sRGB-encoded) of the device that shows the window;
    /// `None` where there is none yet.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn view(&mut self, window: &Gpu) -> Result<Option<wgpu::TextureView>, GpuError> {
        match &mut self.stages {
            Stages::Passes(_, passes) => Ok(passes.view().cloned()),
            Stages::Native(native) => Ok(native.view(window)),
        }
    }

    /// Draws with `passes` refinement passes and gives RGBA8 rows from the top.
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

    /// Time of the last frame whose timings have arrived.
    #[must_use]
    pub fn timings(&self) -> &[StageTiming] {
        match &self.stages {
            Stages::Passes(_, passes) => passes.timings(),
            Stages::Native(native) => native.timings(),
        }
    }
}
