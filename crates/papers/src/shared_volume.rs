//! The volume of all overlaps between bodies, the floor and the walls.
//!
//! In: a world. Out: the sum of all pairs' [`Overlap::volume`], m^3. A pair is computed again only if one of its
//! two bodies has moved since, or its level has changed: in a heap most bodies rest long before the last one does.

use crate::{
    bodies::{Adaptive, Body, BodyId, OnGpu, Overlap, PairLevels, PairMeasure, Plane, World, broad_phase},
    gpu::GpuError,
    overlap::{OverlapQuery, Overlaps},
};
use glam::{DQuat, DVec3};
use std::collections::HashMap;

/// The overlaps of a world's bodies.
#[derive(Default)]
pub struct WorldOverlaps {
    overlaps: Overlaps,
    measured: Measured,
}

/// Volumes of near pairs by their last computation.
#[derive(Default)]
struct Measured {
    known: HashMap<(BodyId, Partner), (Lay, f64)>,
    /// Levels of pairs, and the eye's position: they change seldom and for many pairs at once, and then all pairs are
    /// computed again.
    setting: Option<(PairLevels, Option<(DVec3, Adaptive)>)>,
}

/// The other side of an overlap.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Partner {
    Body(BodyId),
    /// A plane, by index.
    Plane(usize),
}

/// All data that the volume of a pair depends on beside the shapes, which the ids represent.
#[derive(Clone, Copy, PartialEq)]
struct Lay {
    places: [(DVec3, DQuat); 2],
    levels: [u32; 2],
}

impl Measured {
    fn volume(&self, key: (BodyId, Partner), lay: &Lay) -> Option<f64> {
        self.known.get(&key).filter(|(known, _)| known == lay).map(|(_, volume)| *volume)
    }
}

fn lay(bodies: &[Body], planes: &[Plane], levels: &[u32], query: OverlapQuery) -> ((BodyId, Partner), Lay) {
    let place = |k: usize| (bodies[k].state.position, bodies[k].state.rotation);
    match query {
        OverlapQuery::Pair([a, b]) => (
            (bodies[a].id, Partner::Body(bodies[b].id)),
            Lay { places: [place(a), place(b)], levels: [levels[a], levels[b]] },
        ),
        OverlapQuery::Plane(a, k) => {
            // A plane that was moved counts as another plane.
            let at = planes.get(k).map_or(DVec3::NAN, |p| p.normal * p.distance(DVec3::ZERO));
            let plane = (at, DQuat::IDENTITY);
            ((bodies[a].id, Partner::Plane(k)), Lay { places: [place(a), plane], levels: [levels[a], 0] })
        }
    }
}

/// Candidates for overlap: pairs whose boxes overlap, and every body with every plane; sleepers, too.
///
/// # Errors
/// [`GpuError::Crowded`].
fn queries(world: &World, overlaps: &Overlaps) -> Result<Vec<OverlapQuery>, GpuError> {
    let bodies = &world.bodies;
    let reach = overlaps.reach(bodies, world.detail());
    let boxes: Vec<_> =
        bodies.iter().zip(reach).map(|(b, reach)| broad_phase::bounds(b, reach, 0.0, DVec3::ZERO)).collect();
    let moves: Vec<bool> = bodies.iter().map(|b| !b.is_static()).collect();
    let pairs = broad_phase::pairs(&boxes, &moves, |_, _| 0.0)?;
    let pairs = pairs.into_iter().map(|(i, j)| [i as usize, j as usize]);
    let mut queries: Vec<OverlapQuery> = pairs.map(OverlapQuery::Pair).collect();
    let planes = world.settings.planes().len();
    for i in (0..bodies.len()).filter(|&i| moves[i] && boxes[i].is_some()) {
        queries.extend((0..planes).map(|k| OverlapQuery::Plane(i, k)));
    }
    Ok(queries)
}

impl PairMeasure for WorldOverlaps {
    /// The sum over [`PairMeasure::overlaps`], in their order.
    fn shared_volume(&mut self, world: &World, gpu: OnGpu<'_>) -> Result<f64, GpuError> {
        let (bodies, detail) = (&world.bodies, world.detail());
        let queries = queries(world, &self.overlaps)?;
        let planes = world.settings.planes();
        let setting = Some((detail.pairs.clone(), detail.far));
        if self.measured.setting != setting {
            self.measured = Measured { setting, ..Measured::default() };
        }
        let levels: Vec<u32> = bodies.iter().map(|b| b.def.collision_level()).collect();
        let lays: Vec<_> = queries.iter().map(|query| lay(bodies, &planes, &levels, *query)).collect();
        let known: Vec<Option<f64>> = lays.iter().map(|(key, lay)| self.measured.volume(*key, lay)).collect();
        let asked: Vec<OverlapQuery> =
            queries.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(q, _)| *q).collect();
        let mut answers = self.overlaps.volumes(gpu, &world.settings, bodies, detail, &asked)?.into_iter();
        let volumes: Vec<f64> =
            known.into_iter().map(|known| known.or_else(|| answers.next()).unwrap_or(0.0)).collect();
        self.measured.known = lays.into_iter().zip(&volumes).map(|((k, lay), v)| (k, (lay, *v))).collect();
        Ok(volumes.iter().fold(0.0, |sum, volume| sum + volume))
    }

    fn overlap(&mut self, world: &World, pair: [usize; 2]) -> Option<Overlap> {
        self.overlaps.of_pair(&world.bodies, world.detail(), pair)
    }

    fn overlaps(&mut self, world: &World, gpu: OnGpu<'_>) -> Result<Vec<Overlap>, GpuError> {
        let queries = queries(world, &self.overlaps)?;
        self.overlaps.find(gpu, &world.settings, &world.bodies, world.detail(), &queries)
    }

    fn removed(&mut self, left: &[Body]) {
        self.overlaps.removed(left);
    }

    fn forget_names(&mut self) {
        self.measured = Measured::default();
    }
}
