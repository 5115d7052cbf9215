//! Computes colours from hits and light, a run of pixels at a time, like `shaders/render/compose.wgsl`.
#![allow(
    clippy::needless_range_loop,
    reason = "one index walks many arrays, so that the loop becomes vector code"
)]

use super::{
    filter::{Lit, RUN, Rows, Surfaces, own},
    light::Texel,
    scene::{
        BODY_FLOOR, BODY_SKY, FLAG_SELECTION, FLAG_TRANSPARENT, GOLD_MOST, GOLD_SHIFT, MARK_SELECTED, Scene,
        unit_from_hash,
    },
    shade::{GOLD, Run, gild, shade_bodies, shade_floor, shade_sky},
    wide::{byte, max, mix, normal_of, over_root, power, smooth, srgb_from_linear, unit},
};
use crate::targets::HitData;

/// x^a / (b x^a + c) with a chosen for contrast, b and c so that 0.18 -> 0.19 and 6 -> 1.
const TONE: [f32; 3] = [1.22, 0.940_039, 0.533_599];

/// Results of the earlier stages.
pub(super) struct Inputs<'a> {
    pub scene: &'a Scene<'a>,
    pub hits: &'a [HitData],
    pub looks: &'a [u32],
    pub lights: &'a [Texel],
    /// Linear, premultiplied; empty if there is no overlay.
    pub overlay: &'a [[f32; 4]],
}

impl Inputs<'_> {
    /// Composes the rows `from..to`; `history` and `picture` hold these rows.
    #[inline(always)]
    pub fn band(&self, from: u32, rows: &mut Rows, history: &mut [f32], picture: &mut [u8]) {
        let width = self.scene.frame.size[0] as usize;
        let to = from + (picture.len() / (4 * width)) as u32;
        rows.fill(self.scene, self.lights, from, to);
        let lines = history.chunks_exact_mut(4 * width).zip(picture.chunks_exact_mut(4 * width));
        for (y, (history, picture)) in (from..to).zip(lines) {
            for x in (0..width).step_by(RUN) {
                let end = (x + RUN).min(width);
                self.run((x, y), rows, history, &mut picture[4 * x..4 * end]);
            }
        }
    }

    #[inline(always)]
    fn run(&self, (x, y): (usize, u32), rows: &Rows, history: &mut [f32], picture: &mut [u8]) {
        let frame = &self.scene.frame;
        let count = picture.len() / 4;
        let at = y as usize * frame.size[0] as usize + x;
        let mut run = Run::new();
        let (mut bodies, mut floors, mut skies, mut gold) = (false, false, false, false);
        for (i, (hit, look)) in self.hits[at..at + count].iter().zip(&self.looks[at..]).enumerate() {
            run.distance[i] = hit.distance;
            run.body[i] = hit.body;
            run.look[i] = *look;
            run.packed[i] = hit.normal;
            skies |= hit.body == BODY_SKY;
            floors |= hit.body == BODY_FLOOR;
            bodies |= hit.body < BODY_FLOOR;
            gold |= look >> GOLD_SHIFT != 0;
        }
        let (mut direction, mut normal) = ([[0.0f32; RUN]; 3], [[0.0f32; RUN]; 3]);
        let size = frame.size.map(|v| v as f32);
        let v = (y as f32 + 0.5 + frame.jitter[1]) / size[1];
        let (right, row) = (frame.right, frame.forward + frame.up * (1.0 - 2.0 * v));
        let mut off = [0.0f32; RUN];
        for i in 0..RUN {
            let u = ((x + i) as f32 + 0.5 + frame.jitter[0]) / size[0];
            let across = 2.0 * u - 1.0;
            let d = [row.x + right.x * across, row.y + right.y * across, row.z + right.z * across];
            let scale = over_root(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            let n = normal_of(run.packed[i]);
            for k in 0..3 {
                direction[k][i] = d[k] * scale;
                normal[k][i] = n[k];
            }
            off[i] = across * across + (2.0 * v - 1.0) * (2.0 * v - 1.0);
        }
        let kind = std::array::from_fn(|i| if run.body[i] == BODY_FLOOR { -1.0 } else { 1.0 });
        let surfaces = Surfaces { distance: run.distance, kind, direction, normal };
        let mut lit = Lit { sun: [1.0; RUN], sky: [1.0; RUN] };
        if (bodies || floors) && !rows.are_bright(self.scene, x, y) {
            let own = own(self.scene, self.lights, x, y);
            rows.filtered(self.scene, &own, &surfaces, x, y, &mut lit);
        }
        if skies || floors {
            shade_sky(&mut run, &surfaces);
        }
        if floors {
            shade_floor(self.scene, &mut run, &surfaces, &lit);
        }
        if bodies {
            shade_bodies(self.scene, &mut run, &surfaces, &lit);
        }
        if gold {
            let gold = run.look.map(|look| (look >> GOLD_SHIFT) as f32 / GOLD_MOST);
            gild(self.scene, &mut run, &gold, &surfaces, &lit);
        }
        let is_transparent = frame.flags & FLAG_TRANSPARENT != 0;
        let mut alpha: [f32; RUN] =
            std::array::from_fn(|i| if is_transparent && run.body[i] == BODY_SKY { 0.0 } else { 1.0 });
        if frame.flags & FLAG_SELECTION != 0 {
            self.outline(x, y, &mut run, &mut alpha, count);
        }
        let overlay = self.overlay.get(at..at + count).unwrap_or_default();
        self.film((x, y), &run, &alpha, &off, overlay, history, picture);
    }

    /// Draws the outline outside a selected body.
    fn outline(&self, x: usize, y: u32, run: &mut Run, alpha: &mut [f32; RUN], count: usize) {
        for i in 0..count {
            if run.look[i] & MARK_SELECTED != 0 {
                continue;
            }
            let glow = self.selected_near(x + i, y);
            if glow > 0.0 {
                let strength = smooth(0.0, 0.5, glow) * 0.85;
                for (channel, gold) in run.color.iter_mut().zip(GOLD) {
                    channel[i] = mix(channel[i], gold * 1.5, strength);
                }
                alpha[i] = max(alpha[i], strength);
            }
        }
    }

    /// Share of the neighbours at two pixels' distance that are selected.
    fn selected_near(&self, x: usize, y: u32) -> f32 {
        let [width, height] = self.scene.frame.size.map(|v| v as isize);
        let (x, y) = (x as isize, y as isize);
        let near = [(-2, 0), (2, 0), (0, -2), (0, 2), (-1, -1), (1, -1), (-1, 1), (1, 1)];
        let selected = near.iter().filter(|(dx, dy)| {
            let (x, y) = (x + dx, y + dy);
            x >= 0
                && y >= 0
                && x < width
                && y < height
                && self.looks[(y * width + x) as usize] & MARK_SELECTED != 0
        });
        selected.count() as f32 * 0.125
    }

    /// Vignette, tone curve, overlay, mean over the refinement's frames, sRGB encoding and dithering.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "the last part of `run`, which has them at hand")]
    fn film(
        &self,
        (x, y): (usize, u32),
        run: &Run,
        alpha: &[f32; RUN],
        off: &[f32; RUN],
        overlay: &[[f32; 4]],
        history: &mut [f32],
        picture: &mut [u8],
    ) {
        let accumulated = self.scene.frame.accumulated;
        let width = self.scene.frame.size[0] as usize;
        let at = y as usize * width + x;
        let count = picture.len() / 4;
        let mut display = [[0.0f32; RUN]; 4];
        for i in 0..RUN {
            // A slight vignette.
            let shade = 1.0 - 0.10 * off[i];
            let color = [run.color[0][i] * shade, run.color[1][i] * shade, run.color[2][i] * shade];
            // Bright colours lose some saturation.
            let peak = max(color[0], max(color[1], color[2]));
            let paler = smooth(0.8, 6.0, peak) * 0.5;
            for k in 0..3 {
                let x = power(max(mix(color[k], peak, paler), 1e-12), TONE[0]);
                display[k][i] = unit(x / (TONE[1] * x + TONE[2])) * alpha[i];
            }
            display[3][i] = alpha[i];
        }
        // After the tone curve, so that an overlay's colours look the same everywhere.
        for (i, over) in overlay.iter().enumerate() {
            for k in 0..4 {
                display[k][i] = over[k] + display[k][i] * (1.0 - over[3]);
            }
        }
        if accumulated > 0 {
            let share = 1.0 / (accumulated + 1) as f32;
            for (before, display) in history.chunks_exact(width).zip(&mut display) {
                for (before, display) in before[x..x + count].iter().zip(display) {
                    *display = mix(*before, *display, share);
                }
            }
        }
        for (mean, display) in history.chunks_exact_mut(width).zip(&display) {
            mean[x..x + count].copy_from_slice(&display[..count]);
        }
        let mut words = [0u32; RUN];
        for i in 0..RUN {
            let seed = (at + i) as u32 * 2;
            let noise = (unit_from_hash(seed) + unit_from_hash(seed + 1) - 1.0) * (1.0 / 255.0);
            let straight = 1.0 / max(display[3][i], 1e-4);
            let shown = |k: usize| byte(unit(srgb_from_linear(unit(display[k][i] * straight)) + noise));
            words[i] = shown(0) | shown(1) << 8 | shown(2) << 16 | byte(unit(display[3][i])) << 24;
        }
        for (shown, word) in picture.chunks_exact_mut(4).zip(&words) {
            shown.copy_from_slice(&word.to_le_bytes());
        }
    }
}
