//! Draws text into pictures with one of the fonts that egui ships.

use ab_glyph::{Font as _, FontRef, PxScale, ScaleFont as _, point};

use crate::cli::CliError;

/// A font at one size.
pub struct Lettering {
    font: FontRef<'static>,
    scale: PxScale,
}

impl Lettering {
    /// Loads the font at a height in pixels.
    ///
    /// # Errors
    /// [`CliError`] where the font cannot be read.
    pub fn new(height: f32) -> Result<Self, CliError> {
        let font = FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT)
            .map_err(|error| CliError::Input(format!("the font that egui ships cannot be read: {error}")))?;
        Ok(Self { font, scale: PxScale::from(height) })
    }

    /// Width of `text`, pixels.
    pub fn width(&self, text: &str) -> f32 {
        let font = self.font.as_scaled(self.scale);
        text.chars().map(|letter| font.h_advance(font.glyph_id(letter))).sum()
    }

    /// Rasterises `text`, calling `ink` with each pixel and its coverage, 0 to 1. The text starts at `left`, the top of
    /// its line is at `top`.
    pub fn draw(&self, text: &str, [left, top]: [f32; 2], mut ink: impl FnMut([i64; 2], f32)) {
        let font = self.font.as_scaled(self.scale);
        let (mut x, y) = (left, top + font.ascent());
        for letter in text.chars() {
            let id = font.glyph_id(letter);
            let glyph = id.with_scale_and_position(self.scale, point(x, y));
            x += font.h_advance(id);
            let Some(outline) = self.font.outline_glyph(glyph) else { continue };
            let low = outline.px_bounds().min;
            outline.draw(|across, down, share| {
                ink([low.x as i64 + i64::from(across), low.y as i64 + i64::from(down)], share.min(1.0));
            });
        }
    }
}
