//! Present overlaps of pairs, for display: [`Overlap`]s of a world, for any generator and response.

use super::{
    BodyId, OnGpu, Overlap, World,
    body::index_of,
    collide::Overlaps,
    shared_volume::{WorldOverlaps, queries},
};
use crate::gpu::GpuError;
use std::any::Any;

/// The present overlap of bodies `a` and `b`, at the level at which they collide, on the lattice of `a`; `None` if one
/// of them does not exist, or such shapes have no lattice. A pair that does not overlap has neither points nor volume.
pub fn pair_data(world: &mut World, a: BodyId, b: BodyId) -> Option<Overlap> {
    let pair = [index_of(&world.bodies, a)?, index_of(&world.bodies, b)?];
    ask(world, |overlaps, world| overlaps.of_pair(&world.bodies, world.detail(), pair)).flatten()
}

/// The present overlap of each pair, and of each body with the floor and the walls; sleepers, too. By the compute
/// passes if `gpu` is given and the settings allow it.
///
/// # Errors
/// [`GpuError`].
pub fn all_pair_data(world: &mut World, gpu: OnGpu<'_>) -> Result<Vec<Overlap>, GpuError> {
    let found = ask(world, |overlaps, world| {
        let queries = queries(world, overlaps)?;
        overlaps.find(gpu, &world.settings, &world.bodies, world.detail(), &queries)
    });
    found.unwrap_or_else(|| Ok(Vec::new()))
}

/// The result of `ask` for the overlaps in the world's measure; `None` if another measure is registered.
fn ask<T>(world: &mut World, ask: impl FnOnce(&mut Overlaps, &World) -> T) -> Option<T> {
    let own = world.with_measure(|measure, world| {
        let measure: &mut dyn Any = measure;
        measure.downcast_mut::<WorldOverlaps>().map(|own| ask(&mut own.overlaps, world))
    });
    own.flatten()
}
