//! A rasteriser for lines, discs and triangles over the picture, like `shaders/render/overlay.wgsl`.
//!
//! In: an overlay in world space and the frame's first hits. Out: linear colour times alpha at every pixel, the mean of
//! four samples. Shapes are first projected to convex outlines ([`shapes`]); then every band of rows draws the outlines
//! that reach into it, in order.

mod shapes;

use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;

use self::shapes::{Shape, View};
use super::{BAND, scene::BODY_SKY};
use crate::{Overlay, surfaces::HitData, tables::FrameData};

/// The standard positions of the four samples of a pixel, pixels from its centre.
const SAMPLES: [[f32; 2]; 4] = [[-0.125, -0.375], [0.375, -0.125], [-0.375, 0.125], [0.125, 0.375]];

/// Draws overlays.
#[derive(Default)]
pub(super) struct Rasteriser {
    sorted: Option<Sorted>,
}

/// Drawing order of an overlay's triangles for a camera position and direction.
struct Sorted {
    of: Arc<Overlay>,
    eye: Vec3,
    ahead: Vec3,
    order: Vec<u32>,
}

/// The four samples of a pixel.
#[derive(Clone, Copy, Default)]
struct Samples {
    color: [[f32; 4]; 4],
    /// Reciprocal depth of the nearest solid shape; 0 without any.
    nearest: [f32; 4],
}

impl Rasteriser {
    /// Draws `overlay` into `drawn`, which is resized to the picture.
    pub fn draw(
        &mut self,
        frame: &FrameData,
        hits: &[HitData],
        overlay: &Arc<Overlay>,
        drawn: &mut Vec<[f32; 4]>,
    ) {
        let [width, height] = frame.size.map(|side| side as usize);
        drawn.resize(width * height, [0.0; 4]);
        let shapes = shapes::shapes(&View::new(frame), overlay, self.order(frame, overlay));
        let rows = BAND as usize;
        let mut bands: Vec<Vec<u32>> = vec![Vec::new(); height.div_ceil(rows)];
        for (i, shape) in shapes.iter().enumerate() {
            let Some((low, high)) = shape.rows(height) else { continue };
            for band in &mut bands[low / rows..=high / rows] {
                band.push(i as u32);
            }
        }
        let through = overlay.through.clamp(0.0, 1.0);
        let lift = overlay.lift.max(0.0);
        let work = drawn.par_chunks_mut(rows * width).zip(hits.par_chunks(rows * width)).zip(&bands);
        work.enumerate().for_each_init(Vec::new, |samples, (band, ((drawn, hits), which))| {
            if which.is_empty() {
                drawn.fill([0.0; 4]);
                return;
            }
            let band = Band { frame, hits, first: band * rows, lift, through };
            samples.clear();
            samples.resize(drawn.len(), Samples::default());
            for &i in which {
                band.draw(&shapes[i as usize], samples);
            }
            for (drawn, samples) in drawn.iter_mut().zip(samples.iter()) {
                let [a, b, c, d] = samples.color;
                *drawn = std::array::from_fn(|k| (a[k] + b[k] + c[k] + d[k]) * 0.25);
            }
        });
    }

    fn order(&mut self, frame: &FrameData, overlay: &Arc<Overlay>) -> &[u32] {
        let (eye, ahead) = (frame.eye, frame.ahead);
        let fits =
            |sorted: &Sorted| Arc::ptr_eq(&sorted.of, overlay) && sorted.eye == eye && sorted.ahead == ahead;
        let sorted = self.sorted.take().filter(fits);
        let anew =
            || Sorted { of: Arc::clone(overlay), eye, ahead, order: overlay.back_to_front(eye, ahead) };
        &self.sorted.insert(sorted.unwrap_or_else(anew)).order
    }
}

/// Some rows of the picture.
struct Band<'a> {
    frame: &'a FrameData,
    /// First hits of these rows.
    hits: &'a [HitData],
    /// First row.
    first: usize,
    /// A shape this far behind a surface still counts as in front, m.
    lift: f32,
    /// Opacity factor of hidden parts.
    through: f32,
}

impl Band<'_> {
    fn draw(&self, shape: &Shape, samples: &mut [Samples]) {
        let [width, height] = self.frame.size.map(|side| side as usize);
        let Some((low, high)) = shape.rows(height) else { return };
        let rows = samples.len() / width;
        for y in low.max(self.first)..=high.min(self.first + rows - 1) {
            let middle = y as f64 + 0.5;
            // Interval of the outline on each sample's line, in pixels of that sample.
            let spans = SAMPLES.map(|[x, y]| {
                let (from, to) = shape.span(middle + f64::from(y));
                (from - 0.5 - f64::from(x), to - 0.5 - f64::from(x))
            });
            let from = spans.iter().fold(f64::INFINITY, |from, span| from.min(span.0));
            let to = spans.iter().fold(f64::NEG_INFINITY, |to, span| to.max(span.1));
            let (from, to) = (from.max(0.0).ceil() as usize, to.min(width as f64 - 1.0));
            if to < from as f64 {
                continue;
            }
            for x in from..=to as usize {
                let inside = spans.map(|(from, to)| from <= x as f64 && x as f64 <= to);
                if inside.contains(&true) {
                    let at = (y - self.first) * width + x;
                    self.pixel(shape, [x, y], inside, &self.hits[at], &mut samples[at]);
                }
            }
        }
    }

    fn pixel(&self, shape: &Shape, at: [usize; 2], inside: [bool; 4], hit: &HitData, samples: &mut Samples) {
        let frame = self.frame;
        let [x, y] = at.map(|v| v as f32 + 0.5);
        let mut alpha = shape.color[3];
        if hit.body != BODY_SKY {
            // Depth of the surface, from the distance along the ray.
            let across = 2.0 * (x + frame.jitter[0]) / frame.size[0] as f32 - 1.0;
            let down = 1.0 - 2.0 * (y + frame.jitter[1]) / frame.size[1] as f32;
            let ray = frame.forward + frame.right * across + frame.up * down;
            let surface = hit.distance * ray.length_recip();
            if 1.0 / shape.nearness(x, y) - self.lift > surface * 1.0001 {
                alpha *= self.through;
            }
        }
        if alpha <= 0.0 {
            return;
        }
        let [r, g, b, _] = shape.color;
        let fragment = [r * alpha, g * alpha, b * alpha, alpha];
        for (k, [dx, dy]) in SAMPLES.into_iter().enumerate().filter(|(k, _)| inside[*k]) {
            let nearness = shape.nearness(x + dx, y + dy) * shape.over_pull;
            if nearness > samples.nearest[k] {
                let under = &mut samples.color[k];
                *under = std::array::from_fn(|c| fragment[c] + under[c] * (1.0 - alpha));
                if shape.is_solid {
                    samples.nearest[k] = nearness;
                }
            }
        }
    }
}
