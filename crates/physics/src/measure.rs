//! What pairs of bodies share: a volume, and the points and columns that it is measured by. The crate kintsugi-papers
//! measures it; a build without a measure has nothing to say of it.

use super::{Body, BodyId, OnGpu, Overlap, World, body::index_of};
use crate::gpu::GpuError;
use std::sync::OnceLock;

/// Measures what bodies share, and keeps data of their shapes and pairs between two calls.
pub trait PairMeasure: Send {
    /// The volume that all bodies of a world share now with each other, the floor and the walls, m^3.
    ///
    /// # Errors
    /// [`GpuError`].
    fn shared_volume(&mut self, world: &World, gpu: OnGpu<'_>) -> Result<f64, GpuError>;

    /// The overlap of two bodies, by index, at the level at which they collide, on the lattice of the first; `None` for
    /// shapes without a lattice.
    fn overlap(&mut self, world: &World, pair: [usize; 2]) -> Option<Overlap>;

    /// The overlaps that have columns: of each pair, and of each body with the floor and the walls; sleepers, too. By
    /// compute passes if `gpu` is given and the settings allow it.
    ///
    /// # Errors
    /// [`GpuError`].
    fn overlaps(&mut self, world: &World, gpu: OnGpu<'_>) -> Result<Vec<Overlap>, GpuError>;

    /// Some bodies were removed; `left` are the remaining ones.
    fn removed(&mut self, left: &[Body]);

    /// Drops all data that is kept by ids of bodies: an id belongs to another body from now on.
    fn forget_names(&mut self);
}

/// Makes a measure for a world.
pub type MakeMeasure = fn() -> Box<dyn PairMeasure>;

static MEASURE: OnceLock<MakeMeasure> = OnceLock::new();

/// Registers the measure that worlds use; the first one that is registered stays. To be called before worlds are made.
pub fn register_measure(make: MakeMeasure) {
    _ = MEASURE.set(make);
}

/// Whether this build has a measure.
#[must_use]
pub fn has_measure() -> bool {
    MEASURE.get().is_some()
}

/// The measure of a world, made when it is first needed.
#[derive(Default)]
pub(super) struct Measure(Option<Box<dyn PairMeasure>>);

impl Measure {
    fn made(self) -> Option<Box<dyn PairMeasure>> {
        self.0.or_else(|| MEASURE.get().map(|make| make()))
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
    /// The result of `ask` for the world and its measure; `None` in a build without a measure.
    pub(super) fn with_measure<T>(
        &mut self,
        ask: impl FnOnce(&mut dyn PairMeasure, &Self) -> T,
    ) -> Option<T> {
        let mut measure = std::mem::take(&mut self.measure).made()?;
        let answer = ask(&mut *measure, self);
        self.measure = Measure(Some(measure));
        Some(answer)
    }
}

/// The present overlap of bodies `a` and `b`, see [`PairMeasure::overlap`]; `None` if one of them does not exist, and in
/// a build without a measure. A pair that does not overlap has neither points nor volume.
pub fn pair_data(world: &mut World, a: BodyId, b: BodyId) -> Option<Overlap> {
    let pair = [index_of(&world.bodies, a)?, index_of(&world.bodies, b)?];
    world.with_measure(|measure, world| measure.overlap(world, pair)).flatten()
}

/// The present overlaps, see [`PairMeasure::overlaps`]; none in a build without a measure.
///
/// # Errors
/// [`GpuError`].
pub fn all_pair_data(world: &mut World, gpu: OnGpu<'_>) -> Result<Vec<Overlap>, GpuError> {
    world.with_measure(|measure, world| measure.overlaps(world, gpu)).unwrap_or_else(|| Ok(Vec::new()))
}
