//! The measurements of one object on one backend.

use std::{sync::Arc, time::Instant};

use glam::{DQuat, DVec3, Vec3};

use super::{BenchArgs, samples::Samples, subject::Subject};
use crate::{
    bodies::{BodyDef, BodyState, Family, World, WorldSettings},
    cli::{CliError, input::Object},
    compute::Compute,
    facade::{
        Viewpoint,
        stills::{Place, world_bounds},
    },
    fracture::{Fracture, Fracturer, Source},
    gpu::{Gpu, ms_since},
    render::{FrameInput, RenderOptions, Renderer},
    svo::{Arena, KeyArray, coarsen},
    voxelize::Progress,
};

/// Size of the ray-cast picture that the project's targets are stated for.
pub const PICTURE: [u32; 2] = [1280, 720];
/// Simulation steps per run: single steps vary more than single breaks.
const STEPS_A_RUN: u32 = 10;
/// Levels at which the live preview is measured, and previews per run.
const PREVIEW_LEVELS: [u32; 2] = [6, 7];
const PREVIEWS_A_RUN: u32 = 4;
/// Levels at which contacts are measured.
const PHYSICS_LEVELS: std::ops::RangeInclusive<u32> = 5..=9;

/// The object and settings of a measurement.
pub struct Bench<'a> {
    pub args: &'a BenchArgs,
    pub subject: &'a Subject,
    pub object: &'a Object,
    pub compute: &'a Compute,
}

impl Bench<'_> {
    /// Measures whole fractures. Also returns the peak size of storage buffers during a fracture, including the
    /// source's octree, in bytes; 0 on the CPU.
    pub fn breaks(&self, samples: &mut Samples, progress: &Progress) -> Result<(Fracture, u64), CliError> {
        let plan = self.subject.plan(self.object);
        let (pattern, recipe) = (self.object.pattern(&plan)?, plan.params.recipe());
        let fracturer = Fracturer::new(self.compute)?;
        let mut arena = Arena::new(self.compute)?;
        arena.insert(&self.object.forest)?;
        let source = Source::new(&arena, &self.object.forest, 0)?;
        let peak = || self.compute.gpu().map_or(0, Gpu::take_peak_bytes);
        peak();
        let mut result = fracturer.fracture(&source, &pattern, &recipe)?;
        let most = peak();
        let repeat = self.args.repeat;
        for run in 0..repeat {
            // Freed here, so that the peak is that of one fracture.
            drop(result);
            let start = Instant::now();
            result = fracturer.fracture(&source, &pattern, &recipe)?;
            samples.add("fracture, wall clock", ms_since(start));
            samples.add_all("fracture: ", &result.timings);
            progress.set((run + 1) as f32 / repeat as f32);
        }
        Ok((result, most))
    }

    /// Measures the live preview on coarse copies of the object: the pattern with its seams, and the coarse pieces.
    pub fn previews(&self, samples: &mut Samples, progress: &Progress) -> Result<(), CliError> {
        let plan = self.subject.plan(self.object);
        let fracturer = Fracturer::new(self.compute)?;
        let level = self.object.forest.level;
        let levels = PREVIEW_LEVELS.into_iter().filter(|preview| *preview <= level);
        for (done, level) in levels.enumerate() {
            let coarse = Arc::new(coarsen(&self.object.forest, level));
            let keys = KeyArray::new(self.compute, "boundary voxels", coarse.leaves.keys.as_slice(), level)?;
            let recipe = plan.params.recipe().coarsened(self.object.forest.level, level)?;
            let mut arena = Arena::new(self.compute)?;
            arena.insert(&coarse)?;
            for run in 0..=self.args.repeat * PREVIEWS_A_RUN {
                let start = Instant::now();
                let pattern = self.object.pattern(&plan)?;
                fracturer.seams(&keys, level, &pattern)?;
                self.compute.wait()?;
                let seams_ms = ms_since(start);
                let start = Instant::now();
                let pattern = self.object.pattern(&plan)?;
                let source = Source::new(&arena, &coarse, 0)?;
                fracturer.fracture(&source, &pattern, &recipe)?;
                if run > 0 {
                    samples.add(&format!("preview at level {level}, seams"), seams_ms);
                    samples.add(&format!("preview at level {level}, exploded"), ms_since(start));
                }
            }
            progress.set((done + 1) as f32 / PREVIEW_LEVELS.len() as f32);
        }
        Ok(())
    }

    /// Measures pictures of all pieces.
    pub fn pictures(
        &self,
        fracture: &Fracture,
        samples: &mut Samples,
        progress: &Progress,
    ) -> Result<(), CliError> {
        let mut arena = Arena::new(self.compute)?;
        arena.insert(&fracture.forest)?;
        let place = Place::standing(&self.object.mass);
        let bodies: Vec<_> = fracture
            .pieces
            .iter()
            .map(|p| place.body(place.piece(&fracture.forest, (p.tree, p.mass), 1.0), p.tree, Vec3::ZERO))
            .collect();
        let input = FrameInput {
            arena: &arena,
            bodies: &bodies,
            camera: Viewpoint::ThreeQuarter.camera(world_bounds(&bodies), PICTURE),
            options: RenderOptions::default(),
            size: PICTURE,
            seams: None,
            overlay: None,
        };
        let mut renderer = Renderer::new(self.compute)?;
        for run in 0..=self.args.repeat {
            let start = Instant::now();
            renderer.draw(&input)?;
            self.compute.wait()?;
            if run > 0 {
                samples.add("picture 1280x720, wall clock", ms_since(start));
                samples.add_all("picture: ", renderer.timings());
            }
            progress.set(run as f32 / self.args.repeat as f32);
        }
        Ok(())
    }

    /// Measures steps of the pieces as they begin to fall apart on a floor, at every contact level.
    pub fn physics(
        &self,
        fracture: &Fracture,
        samples: &mut Samples,
        progress: &Progress,
    ) -> Result<(), CliError> {
        let mut arena = Arena::new(self.compute)?;
        arena.insert(&fracture.forest)?;
        let leaf = self.object.forest.level;
        let all = || PHYSICS_LEVELS.filter(|level| *level <= leaf);
        let levels: Vec<u32> = if all().count() > 0 { all().collect() } else { vec![leaf] };
        let steps = self.args.repeat * STEPS_A_RUN;
        for (done, physics_level) in levels.iter().enumerate() {
            let mut world = self.world(fracture, *physics_level)?;
            for step in 0..=steps {
                let start = Instant::now();
                let report = world.step(self.compute.gpu().map(|gpu| (gpu, &arena)))?;
                if step > 0 {
                    let name = format!("physics at level {physics_level}");
                    samples
                        .add(&format!("physics step at level {physics_level}, wall clock"), ms_since(start));
                    samples.add_all(&format!("{name}: "), &report.timings);
                }
                let part = step as f32 / steps as f32;
                progress.set((done as f32 + part) / levels.len() as f32);
            }
        }
        Ok(())
    }

    fn world(&self, fracture: &Fracture, physics_level: u32) -> Result<World, CliError> {
        let place = Place::standing(&self.object.mass);
        let mut world = World::new(self.compute.gpu(), WorldSettings::default())?;
        let family = Family::unique();
        for piece in &fracture.pieces {
            world.add(BodyDef {
                shape: place.piece(&fracture.forest, (piece.tree, piece.mass), 2000.0),
                meters_per_unit: 1.0,
                object_size_m: 1.0,
                family,
                friction: 0.6,
                restitution: 0.1,
                rolling_resistance: 0.3,
                fixed: false,
                physics_level,
                structure: None,
                state: BodyState {
                    position: place.origin + place.h * piece.mass.centre,
                    rotation: DQuat::IDENTITY,
                    linear_velocity: DVec3::ZERO,
                    angular_velocity: DVec3::ZERO,
                },
            });
        }
        Ok(world)
    }
}

/// Primary rays per second, in millions, from the time of the picture's first pass.
pub fn primary_rays(samples: &Samples) -> f64 {
    let ms = samples.median("picture: primary");
    if ms > 0.0 { f64::from(PICTURE[0] * PICTURE[1]) / ms * 1e-3 } else { 0.0 }
}
