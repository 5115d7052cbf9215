//! Hulls where they say the same as octrees, octrees elsewhere.
//!
//! In: pairs that are near. Out: manifolds. A body is *plain* where its whole surface lies within a quarter of a cell of its
//! convex hull, or half a voxel (`convex/fit.rs`): most pieces of something solid are, nothing hollow, thin or round is. Two
//! plain bodies meet by their hulls, and a plain body meets floor and walls by its; all other pairs, and pairs that were given
//! a level, meet by octrees. Where compute passes look for contacts, they look at everything, in one submission.

use super::{
    Body, BodyId, ContactQuery, Detail, FindContacts, FinderEntry, FinderMemory, Found, MARGIN_CELLS,
    Manifold,
    convex::{HullFinder, fitting_hull},
    octree::{self, OctreeFinder},
};
use crate::{
    bodies::{BodyDef, broad_phase::NearPair, context::StepContext},
    gpu::{Gpu, GpuError},
    shape::Shape,
};
use rayon::prelude::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// How the table has it.
pub const ENTRY: FinderEntry = FinderEntry {
    name: "mixed",
    label: "hulls and octrees",
    about: "Bodies that lie within a quarter of a cell or half a voxel of their convex hull are met by it, all others by octrees.",
    accepts: octree::ENTRY.accepts,
    make: |gpu| Ok(Box::new(MixedFinder::new(gpu)?)),
};

/// How far the surface of a plain body may lie from its hull, voxels, where cells are so fine that a quarter of one is less.
const PLAIN_VOXELS: f64 = 0.5;

/// The same, m.
fn tolerance(def: &BodyDef) -> f64 {
    (MARGIN_CELLS * def.resolution_m()).max(PLAIN_VOXELS * def.grain_m())
}

/// Which bodies are plain, by shape and the level at which they collide.
#[derive(Default)]
struct Plain {
    /// By address of the shape, which is held, so that its address names it. Only looked up.
    known: BTreeMap<(usize, u32), (Arc<Shape>, bool)>,
}

fn name(body: &Body) -> (usize, u32) {
    (Arc::as_ptr(&body.def.shape) as usize, body.def.collision_level())
}

impl Plain {
    fn is(&self, body: &Body) -> bool {
        self.known.get(&name(body)).is_some_and(|(_, plain)| *plain)
    }

    /// By body: whether it is among these and plain. Finds out what is missing, on all cores; hulls that it makes for
    /// that go to `hulls`.
    fn prepare<'a>(
        &mut self,
        bodies: &'a [Body],
        near: impl Iterator<Item = usize>,
        hulls: &mut HullFinder,
    ) -> Vec<bool> {
        let mut asked = vec![false; bodies.len()];
        near.for_each(|k| asked[k] = true);
        let near = || bodies.iter().zip(&asked).filter(|(_, asked)| **asked).map(|(body, _)| body);
        let mut missing: BTreeMap<(usize, u32), &Body> = BTreeMap::new();
        for body in near() {
            if !self.known.contains_key(&name(body)) {
                missing.insert(name(body), body);
            }
        }
        let missing: Vec<_> = missing.into_iter().collect();
        let fit = |(at, body): ((usize, u32), &'a Body)| (at, body, fitting_hull(body, tolerance(&body.def)));
        let found: Vec<_> = missing.into_par_iter().map(fit).collect();
        for (at, body, hull) in found {
            self.known.insert(at, (Arc::clone(&body.def.shape), hull.is_some()));
            if let Some(hull) = hull {
                hulls.give(&body.def.shape, hull);
            }
        }
        bodies.iter().zip(asked).map(|(body, asked)| asked && self.is(body)).collect()
    }

    /// Forgets shapes that no body has.
    fn keep(&mut self, left: &[Body]) {
        let used: BTreeSet<_> = left.iter().map(name).collect();
        self.known.retain(|at, _| used.contains(at));
    }
}

/// Finds contacts by hulls or octrees, pair by pair.
pub struct MixedFinder {
    octrees: OctreeFinder,
    hulls: HullFinder,
    plain: Plain,
}

impl MixedFinder {
    /// One that knows nothing yet.
    ///
    /// # Errors
    /// [`GpuError`] where passes cannot be made.
    pub fn new(gpu: Option<&Gpu>) -> Result<Self, GpuError> {
        Ok(Self { octrees: OctreeFinder::new(gpu)?, hulls: HullFinder::default(), plain: Plain::default() })
    }
}

/// Whether hulls look at a pair: where both are plain, and nobody has given it a level.
fn by_hulls(pair: &NearPair, bodies: &[Body], plain: &[bool], detail: Detail<'_>) -> bool {
    let [a, b] = pair.bodies.map(|k| bodies[k].def.family);
    pair.bodies.iter().all(|k| plain[*k]) && detail.pairs.get(a, b).is_none()
}

impl FindContacts for MixedFinder {
    fn reach(&self, bodies: &[Body], detail: Detail<'_>) -> Vec<f64> {
        let hulls = self.hulls.reach(bodies, detail);
        self.octrees.reach(bodies, detail).into_iter().zip(hulls).map(|(a, b)| a.max(b)).collect()
    }

    fn begin(&mut self, bodies: &[Body], pairs: &mut [NearPair], detail: Detail<'_>) {
        let plain = self.plain.prepare(bodies, pairs.iter().flat_map(|pair| pair.bodies), &mut self.hulls);
        self.octrees.begin(bodies, pairs, detail);
        for pair in pairs {
            if by_hulls(pair, bodies, &plain, detail) {
                self.hulls.begin(bodies, std::slice::from_mut(pair), detail);
            }
        }
    }

    fn look_ahead(
        &mut self,
        cx: &mut StepContext<'_>,
        query: &ContactQuery<'_>,
        rounds: Option<u32>,
    ) -> Result<Option<Vec<NearPair>>, GpuError> {
        self.octrees.look_ahead(cx, query, rounds)
    }

    fn find(&mut self, cx: &mut StepContext<'_>, query: &ContactQuery<'_>) -> Result<Found, GpuError> {
        if cx.gpu.is_some_and(|(gpu, _)| cx.settings.narrow.wants(gpu)) {
            return self.octrees.find(cx, query);
        }
        let (bodies, detail) = (query.bodies, cx.detail);
        let near = query.pairs.iter().flat_map(|pair| pair.bodies).chain(query.at_planes.iter().copied());
        let plain = self.plain.prepare(bodies, near, &mut self.hulls);
        let (hulls, octrees): (Vec<NearPair>, Vec<NearPair>) =
            query.pairs.iter().copied().partition(|pair| by_hulls(pair, bodies, &plain, detail));
        let (at_planes, others): (Vec<usize>, Vec<usize>) =
            query.at_planes.iter().copied().partition(|k| plain[*k]);
        let share = ContactQuery { pairs: &hulls, at_planes: &at_planes, ..*query };
        let mut found = self.hulls.find(cx, &share)?;
        let share = ContactQuery { pairs: &octrees, at_planes: &others, ..*query };
        let more = self.octrees.find(cx, &share)?;
        found.manifolds.extend(more.manifolds);
        found.carried.extend(more.carried);
        Ok(found)
    }

    fn collision_points(&self, manifold: &Manifold) -> Option<usize> {
        self.hulls.collision_points(manifold).or_else(|| self.octrees.collision_points(manifold))
    }

    fn broke(&mut self, parent: &Body, parts: &[Body]) {
        self.hulls.broke(parent, parts);
        self.octrees.broke(parent, parts);
    }

    fn removed(&mut self, id: BodyId, left: &[Body]) {
        self.hulls.removed(id, left);
        self.octrees.removed(id, left);
        self.plain.keep(left);
    }

    fn cleared(&mut self) {
        self.hulls.cleared();
        self.octrees.cleared();
        self.plain = Plain::default();
    }

    fn memory(&self) -> FinderMemory {
        Some(Arc::new([self.hulls.memory(), self.octrees.memory()]))
    }

    fn recall(&mut self, memory: &FinderMemory) {
        let known = memory.as_ref().and_then(|memory| memory.downcast_ref::<[FinderMemory; 2]>());
        let [hulls, octrees] = known.cloned().unwrap_or_default();
        self.hulls.recall(&hulls);
        self.octrees.recall(&octrees);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::{
        PairLevels, WorldSettings,
        testing::{ball, block, body, grid, scattered, shattered_block, world},
    };
    use glam::{DVec3, Vec3};

    #[test]
    fn what_is_flat_and_whole_is_plain_and_nothing_else() {
        let mut w = world(WorldSettings::default());
        let seeds: Vec<Vec3> = scattered([8; 3], [56; 3], 12).into_iter().collect();
        let pieces = Arc::new(shattered_block(6, [8; 3], [56; 3], &seeds));
        for tree in 0..12 {
            w.add(body(&pieces, tree, grid(6, 1.0), 5, DVec3::ZERO));
        }
        for (forest, level) in [
            (ball(6, Vec3::splat(32.0), 28.0), 6),
            (block(4, [7; 3], [9; 3]), 4),
            (block(5, [4; 3], [20, 12, 28]), 5),
        ] {
            w.add(body(&Arc::new(forest), 0, grid(level, 1.0), level - 1, DVec3::X * 5.0));
        }
        let mut finder = MixedFinder::new(None).expect("no passes");
        let plain = finder.plain.prepare(&w.bodies, 0..w.bodies.len(), &mut finder.hulls);
        // A sliver's edges are cut off by its voxels.
        let pieces = plain[..12].iter().filter(|plain| **plain).count();
        assert!(pieces >= 10, "{pieces} of 12 pieces of a block between planes");
        let first = plain[..12].iter().position(|plain| *plain).expect("some are");
        assert_eq!(plain[12..], [false, false, true], "a ball, a crumb, a block");
        // Who was not asked for is not known.
        let plain = finder.plain.prepare(&w.bodies, [first, 14].into_iter(), &mut finder.hulls);
        assert_eq!(plain.iter().filter(|plain| **plain).count(), 2);

        let mut levels = PairLevels::default();
        let detail = Detail { pairs: &levels, far: None };
        let pair = NearPair { bodies: [first, 14], way: 0.0, resolution_m: f64::MAX };
        assert!(by_hulls(&pair, &w.bodies, &plain, detail));
        let [a, b] = pair.bodies.map(|k| w.bodies[k].def.family);
        levels.set(a, b, 3);
        assert!(!by_hulls(&pair, &w.bodies, &plain, Detail { pairs: &levels, far: None }), "it has a level");
        finder.removed(w.bodies[0].id, &[]);
        assert!(finder.plain.known.is_empty());
    }
}
