//! Presents the window as pixels drawn on the cores, for software adapters.
//!
//! In: egui's output, the picture as pixels. Out: the window. A software driver draws the whole window in every frame,
//! triangle by triangle, which took three quarters of a frame's time.

use std::{num::NonZeroU32, sync::Arc, time::Instant};

use winit::window::Window;

use super::{Panels, Place, area::Area, canvas::Canvas};
use crate::{app::AppError, render::Pixels};

/// Interval at which the whole window is presented again, s, since not every window system reports when another window
/// uncovers it.
const WHOLE_EVERY_SECS: f64 = 0.25;

/// A window and its pixels.
pub struct CoresSurface {
    surface: softbuffer::Surface<Arc<Window>, Arc<Window>>,
    canvas: Canvas,
    /// When the whole window was last presented.
    whole_at: Option<Instant>,
}

impl CoresSurface {
    /// Opens a surface on a window.
    ///
    /// # Errors
    /// [`AppError::Window`] if the window system accepts no pixels.
    pub fn open(window: &Arc<Window>) -> Result<Self, AppError> {
        let refused = |error: softbuffer::SoftBufferError| AppError::Window(error.to_string());
        let context = softbuffer::Context::new(Arc::clone(window)).map_err(refused)?;
        let surface = softbuffer::Surface::new(&context, Arc::clone(window)).map_err(refused)?;
        Ok(Self { surface, canvas: Canvas::default(), whole_at: None })
    }

    /// Resizes the surface to the window.
    pub fn resize(&mut self, size: [u32; 2]) {
        self.canvas.resize(size);
    }

    /// Width and height, pixels.
    pub fn size(&self) -> [u32; 2] {
        self.canvas.size()
    }

    /// Presents the whole window in the next frame, since the window system may have discarded its contents.
    pub fn expose(&mut self) {
        self.whole_at = None;
    }

    /// Draws what has changed and presents it.
    ///
    /// # Errors
    /// Errors of the window system.
    pub fn present(
        &mut self,
        panels: Panels<'_>,
        pictures: &[(&Arc<Pixels>, Place)],
    ) -> Result<(), softbuffer::SoftBufferError> {
        let areas = self.canvas.draw(panels, pictures);
        let handed_over = self.hand_over(areas);
        if handed_over.is_err() {
            self.canvas.forget();
        }
        handed_over
    }

    fn hand_over(&mut self, mut areas: Vec<Area>) -> Result<(), softbuffer::SoftBufferError> {
        let size @ [width, height] = self.canvas.size();
        let (Some(across), Some(down)) = (NonZeroU32::new(width), NonZeroU32::new(height)) else {
            return Ok(());
        };
        self.surface.resize(across, down)?;
        let mut buffer = self.surface.buffer_mut()?;
        // A buffer other than the last frame's lacks more than the latest changes.
        let is_whole = buffer.age() != 1;
        if is_whole {
            areas = vec![Area::of_size(size)];
        }
        for area in &areas {
            for y in area.rows() {
                let row = y as usize * width as usize;
                let span = row + area.min[0] as usize..row + area.max[0] as usize;
                buffer[span.clone()].copy_from_slice(&self.canvas.pixels()[span]);
            }
        }
        if is_whole || self.whole_at.is_none_or(|at| at.elapsed().as_secs_f64() > WHOLE_EVERY_SECS) {
            self.whole_at = Some(Instant::now());
            return buffer.present();
        }
        let rect = |area: &Area| {
            let [x, y] = area.min.map(|v| v as u32);
            let [width, height] = [0, 1].map(|k| NonZeroU32::new((area.max[k] - area.min[k]) as u32));
            Some(softbuffer::Rect { x, y, width: width?, height: height? })
        };
        let rects: Vec<softbuffer::Rect> = areas.iter().filter_map(rect).collect();
        if rects.is_empty() {
            return Ok(());
        }
        buffer.present_with_damage(&rects)
    }
}
