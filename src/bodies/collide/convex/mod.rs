//! Contacts between convex hulls (Chlubna, sec. 6): every body, of whatever kind, is met by the hull of what it is.
//!
//! In: pairs that are near. Out: manifolds. `points.rs` makes the hull of a shape
//! (`solid.rs`), once; `axes.rs` finds along which axis
//! two hulls are apart, `clip.rs` where they touch, `meeting.rs` whether they do so now or later in the step,
//! `planes.rs` the same with the floor and the walls. It knows nothing of levels: a hull has as many corners as it
//! needs, 64 at most.
//!
//! What is hollow is filled by its hull. Pieces of one object whose hulls overlap where they were made are forgiven
//! that overlap (`Meeting::forgiven`).

mod axes;
mod cache;
mod clip;
mod meeting;
mod planes;
mod points;
mod records;
mod solid;

#[cfg(test)]
mod tests;

use super::{
    Body, BodyId, ContactQuery, Detail, FindContacts, FinderEntry, FinderMemory, Found, InOrder, Manifold,
    holds,
};
use crate::{
    bodies::{broad_phase::NearPair, context::StepContext},
    gpu::GpuError,
};
use cache::HullCache;
use meeting::{Meeting, resolution};
use rayon::prelude::*;
use records::{Record, Records};
use std::sync::Arc;

/// How the table has it.
pub const ENTRY: FinderEntry = FinderEntry {
    name: "hull",
    label: "convex hulls",
    about: "Every body is met by its convex hull, along separating axes; what is hollow is filled.",
    accepts: |_| true,
    make: |_| Ok(Box::new(HullFinder::default())),
};

/// Fewer pairs are not worth a second thread.
const FEW: usize = 16;

/// Finds contacts of convex hulls with each other and with planes.
#[derive(Default)]
pub struct HullFinder {
    cache: HullCache,
    records: Records,
}

/// What is to be done with pairs that are near.
struct Sorted {
    /// To be looked at: the bodies, and their manifold of the last search.
    pairs: Vec<([usize; 2], Option<usize>)>,
    /// Manifolds of the last search that still hold.
    carried: Vec<usize>,
}

impl HullFinder {
    fn sort_out(&self, query: &ContactQuery<'_>) -> Sorted {
        let mut manifold_of = InOrder::new(query.old, Manifold::order);
        let mut out = Sorted { pairs: Vec::new(), carried: Vec::new() };
        for near in query.pairs {
            let [a, b] = near.bodies.map(|k| &query.bodies[k]);
            let known = manifold_of.find(&(false, a.id, Some(b.id)));
            let holds = |k: usize| {
                let old = &query.old[k];
                let record = self.records.of(old);
                record.is_some_and(|record| holds(old.resolution_m, &record.pose, a, Some(b), query.dt))
            };
            match known {
                Some(k) if holds(k) => out.carried.push(k),
                _ if query.may_meet(near.bodies) => out.pairs.push((near.bodies, known)),
                _ => {}
            }
        }
        out
    }

    /// Manifolds of pairs that are looked at, and what is known of them.
    fn pairs(&self, sorted: &Sorted, query: &ContactQuery<'_>) -> Vec<(Option<Manifold>, Record)> {
        let look = |(bodies, known): &([usize; 2], Option<usize>)| {
            let bodies = bodies.map(|k| &query.bodies[k]);
            let [Some(a), Some(b)] = bodies.map(|body| self.cache.of(body)) else { return None };
            let record = self.records.get(bodies[0].id, Some(bodies[1].id));
            let old = known.map(|k| &query.old[k]);
            Some(Meeting { bodies, solids: [a, b], record, old, dt: query.dt }.found())
        };
        sorted.pairs.par_iter().with_min_len(FEW).filter_map(look).collect()
    }
}

impl FindContacts for HullFinder {
    fn reach(&self, bodies: &[Body], _: Detail<'_>) -> Vec<f64> {
        bodies.iter().map(|body| 0.5 * resolution(body)).collect()
    }

    fn begin(&mut self, bodies: &[Body], pairs: &mut [NearPair], _: Detail<'_>) {
        for near in pairs {
            let [a, b] = near.bodies.map(|k| resolution(&bodies[k]));
            near.resolution_m = a.min(b);
        }
    }

    fn find(&mut self, cx: &mut StepContext<'_>, query: &ContactQuery<'_>) -> Result<Found, GpuError> {
        let sorted = self.sort_out(query);
        cx.lap("broad phase");
        let near = sorted.pairs.iter().flat_map(|(pair, _)| *pair).chain(query.at_planes.iter().copied());
        self.cache.prepare(near.map(|k| &query.bodies[k]));
        let met = self.pairs(&sorted, query);
        cx.report.pairs += sorted.pairs.len();
        cx.lap("narrow phase");

        let Sorted { pairs, mut carried } = sorted;
        let mut found = Vec::new();
        let mut records: Vec<((BodyId, Option<BodyId>), Record)> = Vec::new();
        for ((manifold, record), (pair, _)) in met.into_iter().zip(pairs) {
            let [a, b] = pair.map(|k| query.bodies[k].id);
            records.push(((a, Some(b)), record));
            found.extend(manifold);
        }
        let mut manifold_of = InOrder::new(query.old, Manifold::order);
        for body in query.at_planes.iter().map(|&k| &query.bodies[k]) {
            let known = manifold_of.find(&(true, body.id, None));
            let old = known.map(|k| &query.old[k]);
            let record = old.and_then(|old| self.records.of(old));
            if let (Some(k), Some(old), Some(record)) = (known, old, record)
                && planes::is_carried(body, old, record, query)
            {
                carried.push(k);
                continue;
            }
            let Some(solid) = self.cache.of(body) else { continue };
            if let Some((manifold, record)) = planes::at_planes(body, solid, old, query) {
                records.push(((body.id, None), record));
                found.push(manifold);
            }
        }
        let resting = query.old.iter().filter(|old| old.rests(query.bodies));
        let known = carried.iter().map(|&k| &query.old[k]).chain(resting);
        self.records.renew(known, records.into_iter());
        Ok(Found { manifolds: found, carried })
    }

    fn collision_points(&self, manifold: &Manifold) -> Option<usize> {
        self.records.of(manifold).map(|record| record.touches)
    }

    fn removed(&mut self, id: BodyId, left: &[Body]) {
        self.records.forget(id);
        self.cache.keep(left);
    }

    fn cleared(&mut self) {
        self.records = Records::default();
        self.cache = HullCache::default();
    }

    fn memory(&self) -> FinderMemory {
        Some(Arc::new(self.records.clone()))
    }

    fn recall(&mut self, memory: &FinderMemory) {
        let known = memory.as_ref().and_then(|memory| memory.downcast_ref::<Records>());
        self.records = known.cloned().unwrap_or_default();
    }
}
