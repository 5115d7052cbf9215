//! The volume that bodies share, for a build that can measure it.

use super::{Body, OnGpu, World, shared_volume::WorldOverlaps};
use crate::gpu::GpuError;
use std::{any::Any, sync::OnceLock};

/// Measures what bodies share, and keeps what it knows of them.
pub trait PairMeasure: Any + Send {
    /// The volume that all bodies of a world share now with each other, the floor and the walls, m^3.
    ///
    /// # Errors
    /// [`GpuError`].
    fn shared_volume(&mut self, world: &World, gpu: OnGpu<'_>) -> Result<f64, GpuError>;

    /// Some bodies are gone; `left` are still there.
    fn removed(&mut self, left: &[Body]);

    /// The measure forgets what it knows of bodies by their names: a name belongs to another body from now on.
    fn forget_names(&mut self);
}

/// Makes a measure for a world.
pub type MakeMeasure = fn() -> Box<dyn PairMeasure>;

static MEASURE: OnceLock<MakeMeasure> = OnceLock::new();

/// Registers the measure that worlds use; the first one that is registered stays. To be called before worlds are made.
pub fn register_measure(make: MakeMeasure) {
    _ = MEASURE.set(make);
}

/// The measure of a world, made when it is first needed.
#[derive(Default)]
pub(super) struct Measure(Option<Box<dyn PairMeasure>>);

impl Measure {
    fn made(self) -> Option<Box<dyn PairMeasure>> {
        self.0.or_else(|| Some(MEASURE.get_or_init(|| || Box::new(WorldOverlaps::default()))()))
    }

    /// As [`PairMeasure::removed`].
    pub fn removed(&mut self, left: &[Body]) {
        self.0.iter_mut().for_each(|measure| measure.removed(left));
    }

    /// As [`PairMeasure::forget_names`].
    pub fn forget_names(&mut self) {
        self.0.iter_mut().for_each(|measure| measure.forget_names());
    }
}

impl World {
    /// What `ask` makes of the world and its measure; none in a build without a measure.
    pub fn with_measure<T>(&mut self, ask: impl FnOnce(&mut dyn PairMeasure, &Self) -> T) -> Option<T> {
        let mut measure = std::mem::take(&mut self.measure).made()?;
        let answer = ask(&mut *measure, self);
        self.measure = Measure(Some(measure));
        Some(answer)
    }
}
