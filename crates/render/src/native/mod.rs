//! Draws the picture on the processor's cores, pass by pass like the compute passes.
//!
//! In: the passes' input, with the octrees in memory. Out: the same picture within the limits that `render/tests`
//! state. A picture is drawn in bands of rows in parallel; a band does not depend on the thread that draws it, so the
//! same input gives the same bytes with any number of threads.

mod beam;
mod colors;
mod filter;
mod first_hits;
mod hairline;
mod light;
mod mesh;
mod mesh_look;
#[cfg(test)]
mod mesh_tests;
mod overlay;
mod packet;
mod primary;
mod rays;
mod scene;
mod seams;
mod shade;
mod sky;
mod surface;
mod texels;
mod wide;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use rayon::prelude::*;

pub(super) use first_hits::{Shown, Targets};

use self::{
    filter::Rows,
    first_hits::{FirstHits, Scratch, silhouettes},
    light::Lights,
    overlay::Rasteriser,
    scene::Scene,
    shade::Inputs,
};
use super::{FrameInput, PixelHit, Pixels};
use crate::geometry::simd::{Simd, Work, wide};
use crate::gpu::{Gpu, GpuError, StageTiming};

/// Rows per task.
const BAND: u32 = 8;

/// For pictures that nobody gives up.
static WANTED: AtomicBool = AtomicBool::new(false);

/// The ray caster on the cores, with its buffers.
#[derive(Default)]
pub struct NativeRenderer {
    pub(super) targets: Targets,
    overlay: Rasteriser,
    /// Number of frames in the history; the blend weight follows it, so that a resize cannot mix in stale pixels.
    refined: u32,
    timings: Vec<StageTiming>,
    window: Shown,
}

impl NativeRenderer {
    /// Draws a picture. A zero size is drawn as one pixel.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] if the frame's seams are on a device.
    pub fn draw(&mut self, input: &FrameInput<'_>) -> Result<(), GpuError> {
        self.draw_unless(input, &WANTED).map(|_| ())
    }

    /// Like [`NativeRenderer::draw`], but ends within a band of rows once `given_up` is set: a picture takes up to
    /// seconds, in which whoever set it would have half of the cores. Returns whether the picture was drawn; otherwise
    /// the next one restarts the refinement.
    ///
    /// # Errors
    /// As [`NativeRenderer::draw`].
    pub fn draw_unless(&mut self, input: &FrameInput<'_>, given_up: &AtomicBool) -> Result<bool, GpuError> {
        let size = input.size.map(|side| side.max(1));
        if self.targets.resize(size) || input.options.accumulated == 0 {
            self.refined = 0;
        }
        let scene = Scene::new(input, size, self.refined)?;
        self.targets.light_for(scene.frame.light_size);
        self.timings.clear();
        self.timed("primary", |this| this.primary(&scene, true, given_up));
        self.timed("light", |this| this.light(&scene, given_up));
        match input.overlay.filter(|overlay| !overlay.is_empty()) {
            Some(_) if given_up.load(Ordering::Relaxed) => {}
            Some(overlay) => self.timed("overlay", |this| {
                let Targets { hits, overlay: drawn, .. } = &mut this.targets;
                this.overlay.draw(&scene.frame, hits, overlay, drawn);
            }),
            None => self.targets.overlay.clear(),
        }
        self.timed("compose", |this| this.compose(&scene, given_up));
        let is_drawn = !given_up.load(Ordering::Relaxed);
        self.refined = if is_drawn { self.refined.saturating_add(1) } else { 0 };
        self.window.is_stale = true;
        Ok(is_drawn)
    }

    fn timed(&mut self, stage: &str, work: impl FnOnce(&mut Self)) {
        let start = Instant::now();
        work(self);
        self.timings.push(StageTiming { stage: stage.to_owned(), ms: start.elapsed().as_secs_f64() * 1e3 });
    }

    /// Finds the first hits of a picture without their appearance.
    ///
    /// # Errors
    /// As [`NativeRenderer::draw`].
    pub fn cast(&mut self, input: &FrameInput<'_>) -> Result<(), GpuError> {
        let size = input.size.map(|side| side.max(1));
        self.targets.resize(size);
        // The history belongs to another picture.
        self.refined = 0;
        let scene = Scene::new(input, size, 0)?;
        self.primary(&scene, false, &WANTED);
        Ok(())
    }

    fn primary(&mut self, scene: &Scene<'_>, looks_too: bool, given_up: &AtomicBool) {
        let band = (BAND * scene.frame.size[0]) as usize;
        let Targets { hits, looks, .. } = &mut self.targets;
        let (looks, glows) = looks.split_at_mut(hits.len());
        let silhouettes = &silhouettes(scene);
        let shown = looks.par_chunks_mut(band).zip(glows.par_chunks_mut(band));
        let bands = hits.par_chunks_mut(band).zip(shown).enumerate();
        bands.for_each_init(Scratch::default, |scratch, (band, (hits, (looks, glows)))| {
            if given_up.load(Ordering::Relaxed) {
                return;
            }
            let first = band as u32 * BAND;
            wide(FirstHits { scene, silhouettes, first, scratch, hits, looks, glows, looks_too });
        });
    }

    fn light(&mut self, scene: &Scene<'_>, given_up: &AtomicBool) {
        let Targets { hits, lights, .. } = &mut self.targets;
        let band = (light::ROWS * scene.frame.light_size[0]) as usize;
        let samples = &light::samples(scene);
        let bands = lights.par_chunks_mut(band).enumerate();
        bands.for_each_init(light::Scratch::default, |scratch, (band, lights)| {
            if given_up.load(Ordering::Relaxed) {
                return;
            }
            wide(Lights { scene, samples, first: band as u32 * light::ROWS, hits, scratch, lights });
        });
    }

    fn compose(&mut self, scene: &Scene<'_>, given_up: &AtomicBool) {
        let width = scene.frame.size[0] as usize;
        let Targets { hits, looks, lights, overlay, history, picture, .. } = &mut self.targets;
        let (looks, glows) = looks.split_at(hits.len());
        let inputs = &Inputs { scene, hits, looks, glows, lights, overlay };
        let band = BAND as usize * width;
        let bands = history.par_chunks_mut(4 * band).zip(picture.par_chunks_mut(4 * band)).enumerate();
        bands.for_each_init(Rows::default, |rows, (band, (history, picture))| {
            if given_up.load(Ordering::Relaxed) {
                return;
            }
            wide(Composition { inputs, first: band as u32 * BAND, rows, history, picture });
        });
    }

    /// Draws with `passes` refinement passes; returns RGBA8 rows from the top.
    ///
    /// # Errors
    /// As [`NativeRenderer::draw`].
    pub fn still(&mut self, input: &FrameInput<'_>, passes: u32) -> Result<Vec<u8>, GpuError> {
        for pass in 0..passes.max(1) {
            let mut options = input.options.clone();
            options.accumulated = pass;
            self.draw(&FrameInput { options, ..*input })?;
        }
        // The window's refinement restarts, since its history was overwritten.
        self.refined = 0;
        Ok(self.targets.picture.clone())
    }

    /// The last picture as a texture of `window`, uploaded once; `None` before the first picture.
    pub fn view(&mut self, window: &Gpu) -> Option<wgpu::TextureView> {
        self.window.view(window, self.targets.size, &self.targets.picture)
    }

    /// The last picture; `None` before the first one.
    #[must_use]
    pub fn pixels(&self) -> Option<Pixels> {
        let Targets { size, picture, .. } = &self.targets;
        (!picture.is_empty()).then(|| Pixels { size: *size, rgba: picture.clone() })
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

/// Composes a band of rows.
struct Composition<'a> {
    inputs: &'a Inputs<'a>,
    /// First row of the band.
    first: u32,
    rows: &'a mut Rows,
    history: &'a mut [f32],
    picture: &'a mut [u8],
}

impl Work for Composition<'_> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        self.inputs.band(self.first, self.rows, self.history, self.picture);
    }
}
