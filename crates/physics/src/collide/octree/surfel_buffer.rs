//! The surfels of all forests whose bodies came near each other, on the GPU.

use super::{OctreePair, surfel_cache::SurfelCache, surfels::Surfel};
use crate::{
    Body,
    gpu::{Buffer, Gpu, GpuError},
};

/// One buffer for all; a forest's first index is `CachedSurfels::gpu_base`.
pub struct SurfelBuffer {
    surfels: Buffer<Surfel>,
    uploaded: bool,
}

impl SurfelBuffer {
    /// Empty.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        Ok(Self { surfels: Buffer::zeroed(gpu, "surfels", 1)?, uploaded: false })
    }

    /// Brings the surfels that these pairs need to the GPU. A cache fills one buffer only: it notes where in
    /// it its surfels are.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn prepare(
        &mut self,
        gpu: &Gpu,
        pairs: &[OctreePair],
        bodies: &[Body],
        cache: &mut SurfelCache,
    ) -> Result<(), GpuError> {
        for pair in pairs {
            for (&body, level) in pair.bodies.iter().zip(pair.levels) {
                cache.get(&bodies[body].def.octree().forest, level);
            }
        }
        self.upload(gpu, cache)
    }

    /// Brings all surfels of the cache to the GPU that are not there yet.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn upload(&mut self, gpu: &Gpu, cache: &mut SurfelCache) -> Result<(), GpuError> {
        if !cache.stale && self.uploaded {
            return Ok(());
        }
        let total: usize = cache.entries.values().map(|s| s.surfels.items.len()).sum();
        if total > self.surfels.len() {
            self.surfels = Buffer::zeroed(gpu, "surfels", total + total / 2)?;
        }
        let mut base = 0;
        for cached in cache.entries.values_mut() {
            self.surfels.write(gpu, base, &cached.surfels.items);
            cached.gpu_base = base as u32;
            base += cached.surfels.items.len();
        }
        cache.stale = false;
        self.uploaded = true;
        Ok(())
    }

    /// The surfels.
    #[must_use]
    pub fn buffer(&self) -> &Buffer<Surfel> {
        &self.surfels
    }
}
