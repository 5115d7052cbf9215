//! Buffers of the picture's size, in memory.

use bytemuck::Zeroable;

use super::light::Texel;
use crate::targets::HitData;

/// Hits, looks, light, overlay, history and the picture of one size.
#[derive(Default)]
pub struct Targets {
    pub size: [u32; 2],
    pub hits: Vec<HitData>,
    pub looks: Vec<u32>,
    pub lights: Vec<Texel>,
    /// Linear, premultiplied; empty if there is no overlay.
    pub overlay: Vec<[f32; 4]>,
    /// Rows of four planes: accumulated colour, linear and premultiplied; and alpha.
    pub history: Vec<f32>,
    /// RGBA8 rows from the top.
    pub picture: Vec<u8>,
}

impl Targets {
    /// Resizes the buffers; returns whether the size has changed.
    pub fn resize(&mut self, size: [u32; 2]) -> bool {
        if self.size == size {
            return false;
        }
        let pixels = size[0] as usize * size[1] as usize;
        self.size = size;
        self.hits.resize(pixels, HitData::zeroed());
        self.looks.resize(pixels, 0);
        self.history.resize(4 * pixels, 0.0);
        self.picture.resize(4 * pixels, 0);
        true
    }

    /// Makes room for the light of a frame.
    pub fn light_for(&mut self, [width, height]: [u32; 2]) {
        self.lights.resize(width as usize * height as usize, [0; 4]);
    }

    /// The history, pixel by pixel.
    #[cfg(test)]
    pub fn history_pixels(&self) -> Vec<[f32; 4]> {
        let width = self.size[0] as usize;
        let rows = self.history.chunks_exact(4 * width);
        rows.flat_map(|row| (0..width).map(|x| std::array::from_fn(|k| row[k * width + x]))).collect()
    }
}
