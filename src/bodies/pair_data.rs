//! What pairs share now, to look at: [`Overlap`]s of a world, whatever finds and answers its contacts.

use super::{
    BodyId, Detail, Overlap, World, broad_phase, collide::OverlapQuery, context::OnGpu, planes::planes,
};
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
        let detail = Detail { pairs: &self.pair_levels, far: self.far() };
        let (bodies, settings) = (&self.bodies, &self.settings);
        let reach = self.overlaps.reach(bodies, detail);
        let boxes: Vec<_> =
            bodies.iter().zip(reach).map(|(b, reach)| broad_phase::bounds(b, reach, 0.0)).collect();
        let moves: Vec<bool> = bodies.iter().map(|b| !b.is_static()).collect();
        let pairs = broad_phase::pairs(&boxes, &moves, |_, _| 0.0)?;
        let pairs = pairs.into_iter().map(|(i, j)| [i as usize, j as usize]);
        let mut queries: Vec<OverlapQuery> = pairs.map(OverlapQuery::Pair).collect();
        let planes = planes(settings).len();
        for i in (0..bodies.len()).filter(|&i| moves[i] && boxes[i].is_some()) {
            queries.extend((0..planes).map(|k| OverlapQuery::Plane(i, k)));
        }
        self.overlaps.find(gpu, settings, bodies, detail, &queries)
    }
}
