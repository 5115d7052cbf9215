//! Draws text into pictures with one of the fonts that egui ships.
//!
//! In: text and the height of its line. Out: its width, and how much it covers of which pixel.

use ab_glyph::{Font as _, FontRef, InvalidFont, PxScale, ScaleFont as _, point};

/// The font that egui ships cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the font that egui ships cannot be read: {0}")]
pub struct FontError(#[from] InvalidFont);

/// A font at one size.
pub struct Lettering {
    font: FontRef<'static>,
    scale: PxScale,
}

impl Lettering {
    /// Loads the font at a height in pixels.
    ///
    /// # Errors
    /// [`FontError`] where the font cannot be read.
    pub fn new(height: f32) -> Result<Self, FontError> {
        let font = FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT)?;
        Ok(Self { font, scale: PxScale::from(height) })
    }

    /// The same font at another height in pixels.
    #[must_use]
    pub fn at(&self, height: f32) -> Self {
        Self { font: self.font.clone(), scale: PxScale::from(height) }
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
