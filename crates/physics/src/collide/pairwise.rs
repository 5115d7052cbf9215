//! The common part of generators that search each pair of bodies by itself.
//!
//! In: near pairs, and a [`NarrowPhase`], which makes the manifold of one pair or of one body at the planes. Out:
//! manifolds. A manifold of the last search is carried along while the bodies have hardly moved; the pair's cached data
//! stays with it ([`Record`]), and is part of the generator's memory.

use super::{
    Body, BodyId, ContactGenerator, ContactQuery, Found, GeneratorMemory, InOrder, LevelOfDetail,
    MARGIN_CELLS, Manifold, Plane, Point, RelativePose, holds, inherit, moved, reduce, speed_between,
};
use crate::{
    Options,
    broad_phase::NearPair,
    context::{FOLLOW, StepContext},
    gpu::GpuError,
};
use glam::DVec3;
use rayon::prelude::*;
use std::{fmt::Debug, sync::Arc};

/// Fewer pairs are not worth a second thread.
const FEW: usize = 4;
/// Minimum number of pairs per task for the cheap cache check.
const MANY: usize = 1024;
/// A pair that another generator searches stays with it while it moves by no more than this number of times the motion
/// over which a manifold is carried.
const LEFT_CARRIES: f64 = 4.0;
/// Above this lie the numbers of the planes in the names of points at planes.
const PLANE_SHIFT: u32 = 32;

/// The name of a point at a plane: the plane's number, and what names the point on the body.
#[must_use]
pub fn plane_key(plane: usize, point: u32) -> u64 {
    (plane as u64) << PLANE_SHIFT | u64::from(point)
}

/// The key of a point on the body, from a key of [`plane_key`] for this plane.
#[must_use]
pub fn point_at_plane(plane: usize, key: u64) -> Option<u32> {
    (key >> PLANE_SHIFT == plane as u64).then_some(key as u32)
}

/// Cached data of a pair, or of a body at the planes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<K> {
    /// Relative pose at the search.
    pub pose: RelativePose,
    /// Places that touched, before they were reduced to a few.
    pub touches: usize,
    /// How far the two may move against each other before they touch, m, if nothing touched; `None` if unknown.
    pub clear_m: Option<f64>,
    /// Data of the narrow phase.
    pub known: K,
}

impl<K> Record<K> {
    /// Whether a pair that did not touch then cannot touch in the coming `dt`.
    fn is_clear(&self, a: &Body, b: &Body, dt: f64) -> bool {
        let way = || RelativePose::new(a, Some(b)).way(&self.pose, a.def.radius().min(b.def.radius()));
        self.clear_m.is_some_and(|clear| way() + speed_between(a, Some(b)) * dt <= clear)
    }
}

/// Two bodies that may touch.
pub struct NearTwo<'a, K> {
    /// The bodies.
    pub bodies: [&'a Body; 2],
    /// Cached data of the pair.
    pub record: Option<&'a Record<K>>,
    /// Their manifold of the last search.
    pub old: Option<&'a Manifold>,
    /// How long the contacts have to stay valid, s.
    pub dt: f64,
}

/// Result of a pair's search: a manifold if the two touch, and the new cached data; `None` if the narrow phase does not
/// support one of them.
pub type Met<K> = Option<(Option<Manifold>, Record<K>)>;

/// The search of one pair.
pub trait NarrowPhase: Default + Send + Sync + 'static {
    /// Cached data of a pair beside its manifold.
    type Known: Clone + Copy + Debug + Default + PartialEq + Send + Sync;
    /// Buffers of a search, one per thread.
    type Scratch: Default + Send;
    /// Cached data of bodies, to be kept in snapshots.
    type Memory: Clone + Send + Sync;

    /// Size of a body's collision cells, m.
    fn resolution(&self, body: &Body) -> f64;

    /// A pair is searched again before its bodies approach by half this distance, m.
    fn foresight(&self, pair: [&Body; 2]) -> f64 {
        let [a, b] = pair.map(|body| self.resolution(body));
        a.min(b)
    }

    /// See [`ContactGenerator::set_options`].
    fn set_options(&mut self, options: &Options) {
        let _ = options;
    }

    /// Whether another generator must search the pair.
    fn is_left_to_others(known: &Self::Known) -> bool {
        let _ = known;
        false
    }

    /// Before that: hands on what was known of bodies that have broken to those of these that are their pieces. Says
    /// whether there was anything to do.
    fn follow(&mut self, near: &[&Body]) -> bool {
        let _ = near;
        false
    }

    /// Before a search: makes what is missing of these bodies.
    fn prepare<'a>(&mut self, near: impl Iterator<Item = &'a Body>);

    /// Looks at a pair that may touch in time.
    fn meet(&self, near: &NearTwo<'_, Self::Known>, scratch: &mut Self::Scratch) -> Met<Self::Known>;

    /// The points of a body within `near` m of a plane, the plane with this index; their keys are [`plane_key`]s.
    /// Points of the last manifold come first. `None` if the narrow phase does not support the body.
    fn at_plane(
        &self,
        body: &Body,
        plane: (usize, &Plane),
        known_and_near: (&[Point], f64),
        scratch: &mut Self::Scratch,
    ) -> Option<Vec<Point>>;

    /// Whether every point of [`Self::at_plane`] is a contact; else they are reduced to a few.
    fn keeps_all(&self) -> bool {
        false
    }

    /// See [`ContactGenerator::broke`].
    fn broke(&mut self, parent: &Body, parts: &[Body]) -> bool {
        let _ = (parent, parts);
        false
    }

    /// Drops cached data that none of these bodies needs.
    fn keep(&mut self, left: &[Body]);

    /// The cached data of bodies.
    fn memory(&self) -> Self::Memory;

    /// Knows again what it knew then.
    fn recall(&mut self, memory: &Self::Memory);
}

/// A pair, or a body at the planes.
pub type Name = (BodyId, Option<BodyId>);

/// A generator that searches each pair by `N`.
pub struct PairGenerator<N: NarrowPhase> {
    /// Looks at one pair.
    pub narrow: N,
    /// Cached data of pairs, ascending.
    pub records: Vec<(Name, Record<N::Known>)>,
    /// Pairs of the last search that other generators search, ascending.
    pub left: Vec<[usize; 2]>,
}

impl<N: NarrowPhase> Default for PairGenerator<N> {
    fn default() -> Self {
        Self { narrow: N::default(), records: Vec::new(), left: Vec::new() }
    }
}

/// The data of a [`PairGenerator`] in a snapshot.
struct Memory<N: NarrowPhase> {
    narrow: N::Memory,
    records: Vec<(Name, Record<N::Known>)>,
}

/// The data of the narrow phase `N`; `None` if another generator was used.
#[must_use]
pub fn remembered<N: NarrowPhase>(memory: &GeneratorMemory) -> Option<&N::Memory> {
    memory.as_ref()?.downcast_ref::<Memory<N>>().map(|memory| &memory.narrow)
}

/// Near pairs, sorted by what to do with them.
#[derive(Default)]
struct Sorted {
    /// Pairs to search: the bodies, and the indices of their manifold of the last search and of their record.
    pairs: Vec<([usize; 2], Option<usize>, Option<usize>)>,
    /// Manifolds of the last search that are still valid.
    carried: Vec<usize>,
    /// Records of pairs that are still separated, or searched by other generators.
    stay: Vec<usize>,
    /// Pairs that other generators search.
    left: Vec<[usize; 2]>,
}

/// What to do with a near pair.
enum ToDo {
    /// Its manifold of the last search, of this index, is still valid.
    Carry(usize),
    /// It is still clear: its record stays.
    Keep,
    /// Another generator still searches it: its record stays.
    Leave,
    Look,
    Nothing,
}

impl<N: NarrowPhase> PairGenerator<N> {
    fn known(&self, name: &Name) -> Option<&Record<N::Known>> {
        let at = self.records.binary_search_by_key(name, |(name, _)| *name).ok()?;
        Some(&self.records[at].1)
    }

    fn record(&self, manifold: &Manifold) -> Option<&Record<N::Known>> {
        self.known(&(manifold.first, manifold.second))
    }

    /// What to do with a pair, by its manifold of the last search and its record.
    fn sort(
        &self,
        pair: [usize; 2],
        (old, record): (Option<usize>, Option<usize>),
        query: &ContactQuery<'_>,
    ) -> ToDo {
        let [a, b] = pair.map(|k| &query.bodies[k]);
        let record = record.map(|k| &self.records[k].1);
        let still = |k: usize| {
            record.is_some_and(|r| holds(query.old[k].resolution_m, &r.pose, a, Some(b), query.dt))
        };
        let is_left = record.is_some_and(|record| N::is_left_to_others(&record.known));
        match (old, record) {
            (_, Some(record)) if is_left => {
                let cell = self.narrow.resolution(a).min(self.narrow.resolution(b));
                match holds(LEFT_CARRIES * cell, &record.pose, a, Some(b), query.dt) {
                    true => ToDo::Leave,
                    false if query.may_meet(pair) => ToDo::Look,
                    false => ToDo::Nothing,
                }
            }
            (Some(k), _) if still(k) => ToDo::Carry(k),
            (None, Some(record)) if record.is_clear(a, b, query.dt) => ToDo::Keep,
            _ if query.may_meet(pair) => ToDo::Look,
            _ => ToDo::Nothing,
        }
    }

    fn sort_out(&self, query: &ContactQuery<'_>) -> Sorted {
        let mut manifold_of = InOrder::new(query.old, Manifold::order);
        let mut record_of = InOrder::new(&self.records, |(name, _)| *name);
        let known = query.pairs.iter().map(|near| {
            let [a, b] = near.bodies.map(|k| query.bodies[k].id);
            (near.bodies, (manifold_of.find(&(false, a, Some(b))), record_of.find(&(a, Some(b)))))
        });
        let known: Vec<_> = known.collect();
        let sort = |(pair, known): &([usize; 2], _)| self.sort(*pair, *known, query);
        let todo: Vec<ToDo> = known.par_iter().with_min_len(MANY).map(sort).collect();
        let mut out = Sorted::default();
        for ((pair, (old, record)), todo) in known.into_iter().zip(todo) {
            match todo {
                ToDo::Carry(k) => out.carried.push(k),
                ToDo::Keep => out.stay.extend(record),
                ToDo::Leave => {
                    out.stay.extend(record);
                    out.left.push(pair);
                }
                ToDo::Look => out.pairs.push((pair, old, record)),
                ToDo::Nothing => {}
            }
        }
        out
    }

    /// Manifolds of the searched pairs, and their cached data.
    fn pairs(&self, sorted: &Sorted, query: &ContactQuery<'_>) -> Vec<Met<N::Known>> {
        let look = |scratch: &mut N::Scratch,
                    (bodies, old, record): &([usize; 2], Option<usize>, Option<usize>)| {
            let bodies = bodies.map(|k| &query.bodies[k]);
            let record = record.map(|k| &self.records[k].1);
            let old = old.map(|k| &query.old[k]);
            self.narrow.meet(&NearTwo { bodies, record, old, dt: query.dt }, scratch)
        };
        sorted.pairs.par_iter().with_min_len(FEW).map_init(N::Scratch::default, look).collect()
    }

    /// Whether a manifold of the last search at the planes is still valid.
    fn holds_at_planes(&self, body: &Body, old: &Manifold, query: &ContactQuery<'_>) -> bool {
        // Floor and walls may be changed between steps.
        let is_of = |p: &Point| {
            let plane = query.planes.get((p.key >> PLANE_SHIFT) as usize);
            plane.is_some_and(|at| at.normal == p.plane && (at.distance(p.anchors[1]) - p.found).abs() < 1e-9)
        };
        let holds = |record: &Record<N::Known>| holds(old.resolution_m, &record.pose, body, None, query.dt);
        self.record(old).is_some_and(holds) && old.points.iter().all(is_of)
    }
}

impl<N: NarrowPhase> PairGenerator<N> {
    /// The manifold of a body that is near a plane, and what is known of it then.
    fn at_planes(
        &self,
        body: &Body,
        old: Option<&Manifold>,
        query: &ContactQuery<'_>,
        scratch: &mut N::Scratch,
    ) -> Option<(Manifold, Record<N::Known>)> {
        let (cell, state) = (self.narrow.resolution(body), &body.state);
        let speed = state.linear_velocity.length() + state.angular_velocity.length() * body.def.radius();
        let near = MARGIN_CELLS * cell + speed * query.dt;
        let known: Vec<Point> =
            old.map_or(&[][..], |m| &m.points).iter().map(|p| moved(p, body, None)).collect();
        let (mut points, mut touches, mut close) = (Vec::new(), 0, false);
        for plane in query.planes.iter().enumerate() {
            if plane.1.distance(state.position) > body.def.radius() + near {
                continue;
            }
            close = true;
            let found = self.narrow.at_plane(body, plane, (&known, near), scratch)?;
            touches += found.len();
            if self.narrow.keeps_all() {
                points.extend(found);
            } else {
                points.extend(reduce(&found, &known, cell));
            }
        }
        if !close {
            return None;
        }
        inherit(&mut points, &known, cell);
        let rolling_impulse = old.map_or(DVec3::ZERO, |m| m.rolling_impulse);
        let manifold = Manifold { first: body.id, second: None, points, rolling_impulse, resolution_m: cell };
        let pose = RelativePose::new(body, None);
        let record = Record { pose, touches, clear_m: None, known: N::Known::default() };
        Some((manifold, record))
    }
}

impl<N: NarrowPhase> ContactGenerator for PairGenerator<N> {
    fn reach(&self, bodies: &[Body], _: LevelOfDetail<'_>) -> Vec<f64> {
        bodies.iter().map(|body| 0.5 * self.narrow.resolution(body)).collect()
    }

    fn begin(&mut self, bodies: &[Body], pairs: &mut [NearPair], _: LevelOfDetail<'_>) {
        for near in pairs {
            near.resolution_m = self.narrow.foresight(near.bodies.map(|k| &bodies[k]));
        }
    }

    fn find(&mut self, cx: &mut StepContext<'_>, query: &ContactQuery<'_>) -> Result<Found, GpuError> {
        let sorted = self.sort_out(query);
        cx.lap("broad phase");
        let near = sorted.pairs.iter().flat_map(|(pair, ..)| *pair).chain(query.at_planes.iter().copied());
        let near: Vec<&Body> = near.map(|k| &query.bodies[k]).collect();
        if self.narrow.follow(&near) {
            cx.lap(FOLLOW);
        }
        self.narrow.prepare(near.into_iter());
        let met = self.pairs(&sorted, query);
        cx.report.pairs += sorted.pairs.len();
        cx.lap("narrow phase");

        let Sorted { pairs, mut carried, stay, left } = sorted;
        self.left = left;
        let mut found = Vec::new();
        let mut new: Vec<(Name, Record<N::Known>)> = Vec::new();
        for (met, (pair, ..)) in met.into_iter().zip(pairs) {
            let Some((manifold, record)) = met else { continue };
            let [a, b] = pair.map(|k| query.bodies[k].id);
            if N::is_left_to_others(&record.known) {
                self.left.push(pair);
            }
            new.push(((a, Some(b)), record));
            found.extend(manifold);
        }
        self.left.sort_unstable();
        let mut manifold_of = InOrder::new(query.old, Manifold::order);
        let mut asked = Vec::new();
        for body in query.at_planes.iter().map(|&k| &query.bodies[k]) {
            let known = manifold_of.find(&(true, body.id, None));
            match known {
                Some(k) if self.holds_at_planes(body, &query.old[k], query) => carried.push(k),
                _ => asked.push((body, known.map(|k| &query.old[k]))),
            }
        }
        let look = |scratch: &mut N::Scratch, (body, old): &(&Body, Option<&Manifold>)| {
            self.at_planes(body, *old, query, scratch)
        };
        let at_planes: Vec<_> =
            asked.par_iter().with_min_len(FEW).map_init(N::Scratch::default, look).collect();
        for (manifold, record) in at_planes.into_iter().flatten() {
            new.push(((manifold.first, None), record));
            found.push(manifold);
        }
        let resting = query.old.iter().filter(|old| old.rests(query.bodies));
        let known = carried.iter().map(|&k| &query.old[k]).chain(resting);
        let place =
            |m: &Manifold| self.records.binary_search_by_key(&(m.first, m.second), |(name, _)| *name).ok();
        let mut stays: Vec<usize> = known.filter_map(place).chain(stay).collect();
        stays.sort_unstable();
        stays.dedup();
        let stays = stays.into_iter().map(|k| self.records[k]);
        // New records come first; the first of two is kept.
        let mut records: Vec<_> = new.into_iter().chain(stays).collect();
        records.sort_by_key(|(name, _)| *name);
        records.dedup_by_key(|(name, _)| *name);
        self.records = records;
        Ok(Found { manifolds: found, carried })
    }

    fn set_options(&mut self, options: &Options) {
        self.narrow.set_options(options);
    }

    fn collision_points(&self, manifold: &Manifold) -> Option<usize> {
        let own = self.record(manifold).filter(|record| !N::is_left_to_others(&record.known));
        own.map(|record| record.touches)
    }

    fn broke(&mut self, parent: &Body, parts: &[Body]) -> bool {
        self.narrow.broke(parent, parts)
    }

    fn removed(&mut self, id: BodyId, left: &[Body]) {
        self.records.retain(|((first, second), _)| *first != id && *second != Some(id));
        self.narrow.keep(left);
    }

    fn cleared(&mut self) {
        *self = Self::default();
    }

    fn memory(&self) -> GeneratorMemory {
        Some(Arc::new(Memory::<N> { narrow: self.narrow.memory(), records: self.records.clone() }))
    }

    fn recall(&mut self, memory: &GeneratorMemory) {
        match memory.as_ref().and_then(|memory| memory.downcast_ref::<Memory<N>>()) {
            Some(memory) => {
                self.narrow.recall(&memory.narrow);
                self.records = memory.records.clone();
            }
            None => self.records = Vec::new(),
        }
    }
}
