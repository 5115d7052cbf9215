//! The picture on the processor's cores: a native twin of every pass.
//!
//! In: what the passes are given, with the octrees as they lie in memory. Out: the same picture within the limits that
//! `render/tests` state. A picture is drawn in bands of rows, which the cores take as they come; every band is the
//! same whoever draws it, so the same input gives the same bytes with any number of threads.

mod compose;
mod filter;
mod light;
mod overlay;
mod primary;
mod scene;
mod seams;
mod shade;
mod surface;
mod targets;
mod trace;
mod walk;
mod wide;
mod window;

use std::time::Instant;

use rayon::prelude::*;

pub(super) use targets::Targets;

use self::{
    compose::Inputs,
    filter::Rows,
    light::Texel,
    overlay::Rasteriser,
    scene::Scene,
    surface::Blends,
    trace::trace,
    walk::Ray,
    wide::{Work, wide},
    window::Shown,
};
use super::{FrameInput, PixelHit, targets::HitData};
use crate::gpu::{Gpu, GpuError, StageTiming};

/// Rows that one core draws at a time; of light texels as many as lie under them.
const BAND: u32 = 8;

/// The ray caster on the cores, with its pictures.
#[derive(Default)]
pub struct NativeRenderer {
    pub(super) targets: Targets,
    overlay: Rasteriser,
    /// Frames in the history; the blend goes by this, so a resize cannot mix in stale pixels.
    refined: u32,
    timings: Vec<StageTiming>,
    window: Shown,
}

impl NativeRenderer {
    /// Draws a picture. A size of zero is drawn as one pixel.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] where the frame's seams lie on a device.
    pub fn draw(&mut self, input: &FrameInput<'_>) -> Result<(), GpuError> {
        let size = input.size.map(|side| side.max(1));
        if self.targets.resize(size) || input.options.accumulated == 0 {
            self.refined = 0;
        }
        let scene = Scene::new(input, size, self.refined)?;
        self.targets.light_for(scene.frame.light_size);
        self.timings.clear();
        self.timed("primary", |this| this.primary(&scene));
        self.timed("light", |this| this.light(&scene));
        match input.overlay.filter(|overlay| !overlay.is_empty()) {
            Some(overlay) => self.timed("overlay", |this| {
                let Targets { hits, overlay: drawn, .. } = &mut this.targets;
                this.overlay.draw(&scene.frame, hits, overlay, drawn);
            }),
            None => self.targets.overlay.clear(),
        }
        self.timed("compose", |this| this.compose(&scene));
        self.refined = self.refined.saturating_add(1);
        self.window.is_stale = true;
        Ok(())
    }

    fn timed(&mut self, stage: &str, work: impl FnOnce(&mut Self)) {
        let start = Instant::now();
        work(self);
        self.timings.push(StageTiming { stage: stage.to_owned(), ms: start.elapsed().as_secs_f64() * 1e3 });
    }

    fn primary(&mut self, scene: &Scene<'_>) {
        let band = (BAND * scene.frame.size[0]) as usize;
        let Targets { hits, looks, .. } = &mut self.targets;
        let bands = hits.par_chunks_mut(band).zip(looks.par_chunks_mut(band)).enumerate();
        bands.for_each_init(Blends::new, |blends, (band, (hits, looks))| {
            wide(FirstHits { scene, band: band as u32, blends, hits, looks });
        });
    }

    fn light(&mut self, scene: &Scene<'_>) {
        let step = scene.frame.light_step;
        let rows = BAND / step;
        let Targets { hits, lights, .. } = &mut self.targets;
        let bands = lights.par_chunks_mut((rows * scene.frame.light_size[0]) as usize).enumerate();
        bands.for_each(|(band, lights)| {
            wide(Lights { scene, first: band as u32 * rows, hits, lights });
        });
    }

    fn compose(&mut self, scene: &Scene<'_>) {
        let width = scene.frame.size[0] as usize;
        let Targets { hits, looks, lights, overlay, history, picture, .. } = &mut self.targets;
        let inputs = &Inputs { scene, hits, looks, lights, overlay };
        let band = BAND as usize * width;
        let bands = history.par_chunks_mut(band).zip(picture.par_chunks_mut(4 * band)).enumerate();
        bands.for_each_init(Rows::default, |rows, (band, (history, picture))| {
            wide(Composition { inputs, first: band as u32 * BAND, rows, history, picture });
        });
    }

    /// Draws with `passes` refinement passes and gives RGBA8 rows from the top.
    ///
    /// # Errors
    /// As [`NativeRenderer::draw`].
    pub fn still(&mut self, input: &FrameInput<'_>, passes: u32) -> Result<Vec<u8>, GpuError> {
        for pass in 0..passes.max(1) {
            let mut options = input.options.clone();
            options.accumulated = pass;
            self.draw(&FrameInput { options, ..*input })?;
        }
        // The window's own refinement starts over: its history has just been overwritten.
        self.refined = 0;
        Ok(self.targets.picture.clone())
    }

    /// The last picture as a texture of `window`; `None` where there is none yet. Uploads it once.
    pub fn view(&mut self, window: &Gpu) -> Option<wgpu::TextureView> {
        self.window.view(window, self.targets.size, &self.targets.picture)
    }

    /// First hits of the last frame, rows from the top.
    #[must_use]
    pub fn read_hits(&self) -> Vec<PixelHit> {
        self.targets.hits.iter().map(|hit| hit.decoded()).collect()
    }

    /// Wall-clock time of the last frame's stages.
    #[must_use]
    pub fn timings(&self) -> &[StageTiming] {
        &self.timings
    }
}

/// First hits of a band of rows.
struct FirstHits<'a> {
    scene: &'a Scene<'a>,
    band: u32,
    blends: &'a mut Blends,
    hits: &'a mut [HitData],
    looks: &'a mut [u32],
}

impl Work for FirstHits<'_> {
    #[inline(always)]
    fn run(self) {
        let frame = &self.scene.frame;
        let width = frame.size[0] as usize;
        let rows = self.hits.len() / width;
        for left in (0..width).step_by(8) {
            for row in 0..rows {
                for x in left..(left + 8).min(width) {
                    let y = self.band * BAND + row as u32;
                    let direction = self.scene.ray(x as f32 + 0.5, y as f32 + 0.5);
                    let last = primary::reach(self.scene, direction);
                    let ray = Ray {
                        origin: frame.eye,
                        direction,
                        cut_base: 0.0,
                        cut_slope: frame.pixel_cone,
                        first: 0.0,
                        last,
                    };
                    let hit = trace(self.scene, &ray, false);
                    let at = row * width + x;
                    (self.hits[at], self.looks[at]) = if hit.body == scene::BODY_SKY {
                        (primary::beyond(last), 0)
                    } else {
                        primary::appearance(self.scene, &hit, direction, self.blends)
                    };
                }
            }
        }
    }
}

/// Light of a band of rows of texels.
struct Lights<'a> {
    scene: &'a Scene<'a>,
    /// First row.
    first: u32,
    hits: &'a [HitData],
    lights: &'a mut [Texel],
}

impl Work for Lights<'_> {
    #[inline(always)]
    fn run(self) {
        let frame = &self.scene.frame;
        let turn = light::turn(self.scene);
        for (i, texel) in self.lights.iter_mut().enumerate() {
            let width = frame.light_size[0];
            let of = [i as u32 % width, self.first + i as u32 / width];
            let at: [u32; 2] =
                std::array::from_fn(|k| (of[k] * frame.light_step + turn[k]).min(frame.size[k] - 1));
            let hit = &self.hits[(at[1] * frame.size[0] + at[0]) as usize];
            *texel = light::light(self.scene, of, at, hit);
        }
    }
}

/// Composition of a band of rows.
struct Composition<'a> {
    inputs: &'a Inputs<'a>,
    /// First row.
    first: u32,
    rows: &'a mut Rows,
    history: &'a mut [[f32; 4]],
    picture: &'a mut [u8],
}

impl Work for Composition<'_> {
    #[inline(always)]
    fn run(self) {
        self.inputs.band(self.first, self.rows, self.history, self.picture);
    }
}
