//! Present overlaps of pairs, for display: [`Overlap`]s of a world, for any finder and response.

use super::{BodyId, Detail, Overlap, World, context::OnGpu};
use crate::gpu::GpuError;

impl World {
    /// The present overlap of bodies `a` and `b`, at the level at which they collide, on the lattice of `a`; `None` if
    /// one of them does not exist, or such shapes have no lattice. A pair that does not overlap has neither points nor
    /// volume.
    pub fn pair_data(&mut self, a: BodyId, b: BodyId) -> Option<Overlap> {
        let index = |id: BodyId| self.bodies.iter().position(|body| body.id == id);
        let (i, j) = (index(a)?, index(b)?);
        let detail = Detail { pairs: &self.pair_levels, far: self.far() };
        self.overlaps.of_pair(&self.bodies, detail, [i, j])
    }

    /// The present overlap of each pair, and of each body with the floor and the walls; sleepers, too. By the compute
    /// passes if `gpu` is given and the settings allow it.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn all_pair_data(&mut self, gpu: OnGpu<'_>) -> Result<Vec<Overlap>, GpuError> {
        let queries = self.overlap_queries()?;
        let detail = Detail { pairs: &self.pair_levels, far: self.far() };
        self.overlaps.find(gpu, &self.settings, &self.bodies, detail, &queries)
    }
}
