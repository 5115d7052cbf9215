//! What pairs share now, to look at: [`Overlap`]s of a world, whatever finds and answers its contacts.

use super::{BodyId, Detail, Overlap, World, context::OnGpu};
use crate::gpu::GpuError;

impl World {
    /// What bodies `a` and `b` share now, at the level at which they meet, on the lattice of `a`; nothing
    /// where one of them is not there, or where such shapes have no such lattice. A pair that does not
    /// overlap has neither points nor volume.
    pub fn pair_data(&mut self, a: BodyId, b: BodyId) -> Option<Overlap> {
        let index = |id: BodyId| self.bodies.iter().position(|body| body.id == id);
        let (i, j) = (index(a)?, index(b)?);
        let detail = Detail { pairs: &self.pair_levels, far: self.far() };
        self.overlaps.of_pair(&self.bodies, detail, [i, j])
    }

    /// What each overlapping pair shares now, and what each body shares with the floor and the walls;
    /// sleepers, too. By the compute passes where `gpu` is given and the settings allow.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn all_pair_data(&mut self, gpu: OnGpu<'_>) -> Result<Vec<Overlap>, GpuError> {
        let queries = self.overlap_queries()?;
        let detail = Detail { pairs: &self.pair_levels, far: self.far() };
        self.overlaps.find(gpu, &self.settings, &self.bodies, detail, &queries)
    }
}
