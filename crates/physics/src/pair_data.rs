//! What pairs share now, to look at: [`Overlap`]s of a world, whatever finds and answers its contacts.

use super::{
    BodyId, OnGpu, Overlap, World,
    body::index_of,
    collide::Overlaps,
    shared_volume::{WorldOverlaps, queries},
};
use crate::gpu::GpuError;
use std::any::Any;

/// What bodies `a` and `b` share now, at the level at which they meet, on the lattice of `a`; nothing
/// where one of them is not there, or where such shapes have no such lattice. A pair that does not
/// overlap has neither points nor volume.
pub fn pair_data(world: &mut World, a: BodyId, b: BodyId) -> Option<Overlap> {
    let pair = [index_of(&world.bodies, a)?, index_of(&world.bodies, b)?];
    ask(world, |overlaps, world| overlaps.of_pair(&world.bodies, world.detail(), pair)).flatten()
}

/// What each overlapping pair shares now, and what each body shares with the floor and the walls;
/// sleepers, too. By the compute passes where `gpu` is given and the settings allow.
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

/// What `ask` makes of the overlaps that the world's measure keeps; none where another measure was registered.
fn ask<T>(world: &mut World, ask: impl FnOnce(&mut Overlaps, &World) -> T) -> Option<T> {
    let own = world.with_measure(|measure, world| {
        let measure: &mut dyn Any = measure;
        measure.downcast_mut::<WorldOverlaps>().map(|own| ask(&mut own.overlaps, world))
    });
    own.flatten()
}
