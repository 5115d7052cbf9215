//! Light texels laid out for the filter: one entry per pixel, so that a tap for all pixels of a row is a shifted run of
//! entries.
#![allow(
    clippy::needless_range_loop,
    reason = "one index walks many arrays, so that the loop becomes vector code"
)]

use super::{
    light::{Texel, turn},
    scene::Scene,
    wide::{max, normal_of, short_exp2, unit},
};
use crate::tables::FrameData;

/// Number of pixels processed together.
pub(super) const RUN: usize = 32;
/// Taps along a row at the largest radius.
const TAPS: usize = 4;
/// Entries before the first pixel: taps reach two texels of two pixels to either side.
const MARGIN: usize = 8;

/// A row of light texels, repeated for every pixel that they cover.
#[derive(Default)]
struct Row {
    sun: Vec<f32>,
    sky: Vec<f32>,
    /// Depth; 0 without a texel or a surface.
    depth: Vec<f32>,
    normal: [Vec<f32>; 3],
    /// For every run of pixels, whether a tap may find less than full light.
    dims: Vec<bool>,
}

impl Row {
    /// Repeats up to a run of texels over their pixels, the first of which is `pixel`.
    #[inline(always)]
    fn spread(&mut self, texels: &[Texel], pixel: i32, step: usize) {
        let mut packed = [0u32; RUN];
        for (packed, texel) in packed.iter_mut().zip(texels) {
            *packed = texel[3];
        }
        let mut normals = [[0.0f32; RUN]; 3];
        for i in 0..RUN {
            let n = normal_of(packed[i]);
            (normals[0][i], normals[1][i], normals[2][i]) = (n[0], n[1], n[2]);
        }
        let first = (pixel + MARGIN as i32) as usize;
        for (t, texel) in texels.iter().enumerate() {
            let at = first + t * step;
            let end = (at + step).min(self.sun.len());
            let [s, k, z] = [0, 1, 2].map(|word| f32::from_bits(texel[word]));
            for (list, value) in [(&mut self.sun, s), (&mut self.sky, k), (&mut self.depth, z)] {
                list[at..end].fill(value);
            }
            for (list, values) in self.normal.iter_mut().zip(&normals) {
                list[at..end].fill(values[t]);
            }
        }
    }

    /// Finds which of up to a run of texels are not fully lit.
    #[inline(always)]
    fn look_over(&mut self, texels: &[Texel], pixel: i32, (step, radius): (usize, usize)) {
        const FULL: u32 = 1.0f32.to_bits();
        let is_dim = |texel: &Texel| (texel[0] != FULL) | (texel[1] != FULL);
        if !texels.iter().fold(false, |any, texel| any | is_dim(texel)) {
            return;
        }
        let first = (pixel + MARGIN as i32) as usize;
        for (t, _) in texels.iter().enumerate().filter(|(_, texel)| is_dim(texel)) {
            self.dim(first + t * step, (radius + 1) * step);
        }
    }

    /// Marks the entries from `at` on as not fully lit.
    #[inline(always)]
    fn dim(&mut self, at: usize, reach: usize) {
        let pixel = (at as isize - MARGIN as isize).max(0) as usize;
        for run in [pixel.saturating_sub(reach) / RUN, (pixel + reach) / RUN] {
            if let Some(is_dim) = self.dims.get_mut(run) {
                *is_dim = true;
            }
        }
    }
}

/// The rows needed for a band of pixels.
#[derive(Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    first: i32,
    /// For every run of pixels, whether any row may have less than full light there.
    dims: Vec<bool>,
}

/// A run of entries.
#[inline(always)]
fn run(list: &[f32], at: usize) -> Option<&[f32; RUN]> {
    list.get(at..)?.first_chunk()
}

/// log2 of a light texel's edge in pixels.
#[inline(always)]
fn shift(frame: &FrameData) -> u32 {
    frame.light_step.trailing_zeros()
}

/// The filter's input for a run of pixels.
pub(super) struct Surfaces {
    pub distance: [f32; RUN],
    /// Negative for the floor, whose texels have negative depths.
    pub kind: [f32; RUN],
    pub direction: [[f32; RUN]; 3],
    pub normal: [[f32; RUN]; 3],
}

/// Filtered visibility of sun and sky.
pub(super) struct Lit {
    pub sun: [f32; RUN],
    pub sky: [f32; RUN],
}

impl Rows {
    /// Loads the rows that pixel rows `from..to` need.
    #[inline(always)]
    pub fn fill(&mut self, scene: &Scene<'_>, lights: &[Texel], from: u32, to: u32) {
        let frame = &scene.frame;
        let (step, radius) = (frame.light_step as i32, frame.filter_radius as i32);
        let shift = shift(frame);
        let [turn_x, turn_y] = turn(scene).map(|v| v as i32);
        self.first = ((from as i32 - turn_y) >> shift) + 1 - radius.max(1);
        let last = ((to as i32 - 1 - turn_y) >> shift) + radius.max(1);
        let [width, height] = frame.light_size.map(|v| v as i32);
        let entries = (frame.size[0] as usize).next_multiple_of(RUN) + 2 * MARGIN;
        self.rows.resize_with((last - self.first + 1).max(0) as usize, Row::default);
        let runs = (frame.size[0] as usize).div_ceil(RUN);
        self.dims.clear();
        self.dims.resize(runs, false);
        // Entry e is pixel e - MARGIN; texel t of a row starts at pixel turn_x + step * t.
        let pixel = |chunk: usize| (chunk * RUN) as i32 * step + turn_x;
        let texels_of = |y: i32| {
            let row = (0..height).contains(&y).then(|| &lights[(y * width) as usize..][..width as usize]);
            row.unwrap_or_default().chunks(RUN).enumerate()
        };
        for (row, y) in self.rows.iter_mut().zip(self.first..) {
            row.dims.clear();
            row.dims.resize(runs, false);
            for (chunk, texels) in texels_of(y) {
                row.look_over(texels, pixel(chunk), (step as usize, radius as usize));
            }
            for (any, is_dim) in self.dims.iter_mut().zip(&row.dims) {
                *any |= is_dim;
            }
        }
        if !self.dims.contains(&true) {
            return;
        }
        let covered = RUN * step as usize + 2 * MARGIN;
        for (row, y) in self.rows.iter_mut().zip(self.first..) {
            let Row { sun, sky, depth, normal: [nx, ny, nz], .. } = &mut *row;
            // Entries without depth have no weight.
            depth.clear();
            for list in [&mut *sun, sky, depth, nx, ny, nz] {
                list.resize(entries, 0.0);
            }
            for (chunk, texels) in texels_of(y) {
                let from = pixel(chunk).max(MARGIN as i32) as usize - MARGIN;
                let asked = self.dims.get(from / RUN..((from + covered).div_ceil(RUN)).min(runs));
                if asked.is_some_and(|runs| runs.contains(&true)) {
                    row.spread(texels, pixel(chunk), step as usize);
                }
            }
        }
    }

    /// Whether all taps of a run of pixels find full light.
    pub fn are_bright(&self, scene: &Scene<'_>, x: usize, y: u32) -> bool {
        let frame = &scene.frame;
        let radius = frame.filter_radius as i32;
        let base = (y as i32 - turn(scene)[1] as i32) >> shift(frame);
        radius > 0
            && (base + 1 - radius..=base + radius).all(|row| {
                let row = self.rows.get((row - self.first) as usize);
                row.is_none_or(|row| !row.dims[x / RUN])
            })
    }

    /// Weights light texels by distance from the pixel's tangent plane, by normal and by kind. Radius 2 averages a
    /// whole tile of strata; radius 1 interpolates; radius 0 uses the pixel's own texel.
    #[inline(always)]
    pub fn filtered(
        &self,
        scene: &Scene<'_>,
        own: &Lit,
        surfaces: &Surfaces,
        x: usize,
        y: u32,
        lit: &mut Lit,
    ) {
        let frame = &scene.frame;
        (lit.sun, lit.sky) = (own.sun, own.sky);
        if frame.filter_radius == 0 {
            return;
        }
        let radius = frame.filter_radius as i32;
        let step = frame.light_step as i32;
        let shift = shift(frame);
        let [turn_x, turn_y] = turn(scene).map(|v| v as i32);
        let pixel = [2.0 / frame.size[0] as f32, 2.0 / frame.size[1] as f32];
        let across_of = frame.right * (pixel[0] * step as f32);
        let down_of = -frame.up * (pixel[1] * step as f32);
        let offset = [0, 1].map(|k| ([turn_x, turn_y][k] as f32 + 0.5 + frame.jitter[k]) * pixel[k] - 1.0);
        let corner_of = frame.forward + frame.right * offset[0] - frame.up * offset[1];
        let mut plane = [0.0f32; RUN];
        let mut sharp = [0.0f32; RUN];
        let mut across = [0.0f32; RUN];
        let mut down = [0.0f32; RUN];
        let mut corner = [0.0f32; RUN];
        let mut base = [0.0f32; RUN];
        let mut part = [0.0f32; RUN];
        let Surfaces { distance, kind, direction: [dx, dy, dz], normal: [nx, ny, nz] } = surfaces;
        let width = 3.0 * frame.pixel_cone * step as f32;
        let least = 0.004 * frame.ao_reach;
        let ahead = frame.ahead;
        for i in 0..RUN {
            let along = dx[i] * ahead.x + dy[i] * ahead.y + dz[i] * ahead.z;
            plane[i] = distance[i] * (dx[i] * nx[i] + dy[i] * ny[i] + dz[i] * nz[i]);
            sharp[i] = -4.0 / (width * distance[i] * along + least);
            // Height over the pixel's tangent plane of a texel at depth z: z * (corner + x * across + y * down) - plane.
            across[i] = across_of.x * nx[i] + across_of.y * ny[i] + across_of.z * nz[i];
            down[i] = down_of.x * nx[i] + down_of.y * ny[i] + down_of.z * nz[i];
            corner[i] = corner_of.x * nx[i] + corner_of.y * ny[i] + corner_of.z * nz[i];
        }
        for i in 0..RUN {
            let place = (x + i) as i32 - turn_x;
            let texel = place >> shift;
            base[i] = texel as f32;
            part[i] = (place - texel * step) as f32 / step as f32;
        }
        let place_y = y as i32 - turn_y;
        let base_y = place_y >> shift;
        let part_y = (place_y - base_y * step) as f32 / step as f32;
        let mut tents = [[0.0f32; RUN]; TAPS];
        for (tap, tents) in (1 - radius..=radius).zip(&mut tents) {
            for i in 0..RUN {
                tents[i] = unit(radius as f32 - (part[i] - tap as f32).abs());
            }
        }
        let mut sum = Lit { sun: own.sun.map(|v| v * 1e-6), sky: own.sky.map(|v| v * 1e-6) };
        let mut total = [1e-6f32; RUN];
        for tap_y in 1 - radius..=radius {
            let tent_y = unit(radius as f32 - (part_y - tap_y as f32).abs());
            let Some(row) = self.rows.get((base_y + tap_y - self.first) as usize) else { continue };
            let rise = (base_y + tap_y) as f32;
            let mut left = [0.0f32; RUN];
            for i in 0..RUN {
                left[i] = corner[i] + base[i] * across[i] + rise * down[i];
            }
            for (tap_x, tents) in (1 - radius..=radius).zip(&tents) {
                let at = (x as i32 + tap_x * step + MARGIN as i32) as usize;
                let (Some(sun), Some(sky), Some(depth)) =
                    (run(&row.sun, at), run(&row.sky, at), run(&row.depth, at))
                else {
                    continue;
                };
                let [Some(mx), Some(my), Some(mz)] = [0, 1, 2].map(|k| run(&row.normal[k], at)) else {
                    continue;
                };
                let tap = tap_x as f32;
                for i in 0..RUN {
                    let z = depth[i] * kind[i];
                    let off = (z * (left[i] + tap * across[i]) - plane[i]).abs();
                    let alike = max(mx[i] * nx[i] + my[i] * ny[i] + mz[i] * nz[i], 0.0);
                    let alike = alike * alike;
                    let near = short_exp2(sharp[i] * off) * (tents[i] * tent_y);
                    let weight = near * alike * alike;
                    let weight = if z > 0.0 { weight } else { 0.0 };
                    sum.sun[i] += sun[i] * weight;
                    sum.sky[i] += sky[i] * weight;
                    total[i] += weight;
                }
            }
        }
        for i in 0..RUN {
            lit.sun[i] = sum.sun[i] / total[i];
            lit.sky[i] = sum.sky[i] / total[i];
        }
    }
}

/// The texel that contains a pixel, whichever pixel it was sampled at.
#[inline(always)]
pub(super) fn own(scene: &Scene<'_>, lights: &[Texel], x: usize, y: u32) -> Lit {
    let frame = &scene.frame;
    let [width, height] = frame.light_size;
    let shift = shift(frame);
    let row = (y >> shift).min(height - 1) * width;
    let mut own = Lit { sun: [0.0; RUN], sky: [0.0; RUN] };
    for i in 0..RUN {
        let column = ((x + i) as u32 >> shift).min(width - 1);
        let texel = &lights[(row + column) as usize];
        (own.sun[i], own.sky[i]) = (f32::from_bits(texel[0]), f32::from_bits(texel[1]));
    }
    own
}
