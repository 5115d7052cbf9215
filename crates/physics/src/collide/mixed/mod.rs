//! Contacts by hulls if they equal those of octrees, else by octrees.
//!
//! In: near pairs. Out: manifolds. A body is *plain* if its whole surface lies within a quarter of a cell of its convex
//! hull, or half a voxel (`verified_hulls.rs`): most pieces of something solid are, hollow, thin and round ones are not. Two
//! plain bodies collide by their hulls, and so does a plain body with floor and walls. If a body is only *contained* in
//! its hull, such as one with a dent, a pair uses hulls wherever both bodies have surface at the contacts
//! (`verified_hulls.rs`). All other pairs, and pairs with a level of their own, use octrees, on the cores or in compute
//! passes.

mod verified_hulls;

use super::{
    Body, BodyId, ContactGenerator, ContactQuery, Found, GeneratorEntry, GeneratorMemory, InOrder,
    LevelOfDetail, Manifold,
    convex::{self, HullFit},
    octree::{self, OctreeGenerator},
    pairwise::PairGenerator,
};
use crate::{
    broad_phase::NearPair,
    context::StepContext,
    gpu::{Gpu, GpuError},
};
use std::sync::Arc;
use verified_hulls::VerifiedHulls;

/// How the table has it.
pub const ENTRY: GeneratorEntry = GeneratorEntry {
    name: "mixed",
    label: "hulls and octrees",
    about: "Bodies meet by their convex hulls where these are their surface, to a quarter of a cell or half a voxel, elsewhere by octrees.",
    accepts: octree::ENTRY.accepts,
    options: &[],
    make: |gpu| Ok(Box::new(MixedGenerator::new(gpu)?)),
};

/// Finds contacts by hulls or octrees, pair by pair.
pub struct MixedGenerator {
    octrees: OctreeGenerator,
    hulls: PairGenerator<VerifiedHulls>,
}

impl MixedGenerator {
    /// A generator without cached data.
    ///
    /// # Errors
    /// [`GpuError`] if passes cannot be made.
    pub fn new(gpu: Option<&Gpu>) -> Result<Self, GpuError> {
        Ok(Self { octrees: OctreeGenerator::new(gpu)?, hulls: PairGenerator::default() })
    }
}

/// Whether a pair uses hulls: both are contained in theirs, and the pair has no level of its own.
fn by_hulls(pair: &NearPair, bodies: &[Body], fits: &[Option<HullFit>], detail: LevelOfDetail<'_>) -> bool {
    let [a, b] = pair.bodies.map(|k| bodies[k].def.family);
    pair.bodies.iter().all(|k| fits[*k].is_some()) && detail.pairs.get(a, b).is_none()
}

impl ContactGenerator for MixedGenerator {
    fn reach(&self, bodies: &[Body], detail: LevelOfDetail<'_>) -> Vec<f64> {
        let hulls = self.hulls.reach(bodies, detail);
        self.octrees.reach(bodies, detail).into_iter().zip(hulls).map(|(a, b)| a.max(b)).collect()
    }

    fn begin(&mut self, bodies: &[Body], pairs: &mut [NearPair], detail: LevelOfDetail<'_>) {
        let fits = self.hulls.narrow.fit(bodies, pairs.iter().flat_map(|pair| pair.bodies));
        self.octrees.begin(bodies, pairs, detail);
        let plain = |pair: &NearPair| pair.bodies.iter().all(|k| fits[*k] == Some(HullFit::Tight));
        for pair in pairs {
            // All other pairs may use octrees.
            if plain(pair) && by_hulls(pair, bodies, &fits, detail) {
                self.hulls.begin(bodies, std::slice::from_mut(pair), detail);
            }
        }
    }

    fn find(&mut self, cx: &mut StepContext<'_>, query: &ContactQuery<'_>) -> Result<Found, GpuError> {
        let (bodies, detail) = (query.bodies, cx.detail);
        let near = query.pairs.iter().flat_map(|pair| pair.bodies).chain(query.at_planes.iter().copied());
        let fits = self.hulls.narrow.fit(bodies, near);
        let hulls: Vec<NearPair> =
            query.pairs.iter().copied().filter(|pair| by_hulls(pair, bodies, &fits, detail)).collect();
        let (at_planes, others): (Vec<usize>, Vec<usize>) =
            query.at_planes.iter().copied().partition(|k| fits[*k] == Some(HullFit::Tight));
        let share = ContactQuery { pairs: &hulls, at_planes: &at_planes, ..*query };
        let mut found = self.hulls.find(cx, &share)?;
        let mut left_of = InOrder::new(&self.hulls.left, |pair| *pair);
        let by_octrees =
            |pair: &NearPair| !by_hulls(pair, bodies, &fits, detail) || left_of.find(&pair.bodies).is_some();
        let octrees: Vec<NearPair> = query.pairs.iter().copied().filter(by_octrees).collect();
        let share = ContactQuery { pairs: &octrees, at_planes: &others, ..*query };
        let more = self.octrees.find(cx, &share)?;
        found.manifolds.extend(more.manifolds);
        found.carried.extend(more.carried);
        Ok(found)
    }

    fn collision_points(&self, manifold: &Manifold) -> Option<usize> {
        self.hulls.collision_points(manifold).or_else(|| self.octrees.collision_points(manifold))
    }

    fn finder(&self, manifold: &Manifold) -> Option<&'static str> {
        let is_by_hulls = self.hulls.collision_points(manifold).is_some();
        Some(if is_by_hulls { convex::ENTRY.name } else { octree::ENTRY.name })
    }

    fn removed(&mut self, id: BodyId, left: &[Body]) {
        self.hulls.removed(id, left);
        self.octrees.removed(id, left);
    }

    fn cleared(&mut self) {
        self.hulls.cleared();
        self.octrees.cleared();
    }

    fn memory(&self) -> GeneratorMemory {
        Some(Arc::new([self.hulls.memory(), self.octrees.memory()]))
    }

    fn recall(&mut self, memory: &GeneratorMemory) {
        let known = memory.as_ref().and_then(|memory| memory.downcast_ref::<[GeneratorMemory; 2]>());
        let [hulls, octrees] = known.cloned().unwrap_or_default();
        self.hulls.recall(&hulls);
        self.octrees.recall(&octrees);
    }
}

#[cfg(test)]
mod tests;
