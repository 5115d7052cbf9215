//! Manifolds from the contacts that the passes choose.
//!
//! In: the input of a search and its [`SearchOutput`] output. Out: near pairs, manifolds, records. The chosen points
//! are computed again in double precision, like all points of the CPU; the admitted points are kept with the passes'
//! values.

use super::{
    super::{
        pair::{Hit, OctreePair, SurfelCache, cell_size},
        planes::{self, PlaneAsk},
        points::{Made, at_nearest, contact_points, manifold_of},
        records::{Before, Record},
        surfels::Surfels,
    },
    search::SearchOutput,
    shared::{AS_DEEPEST, CARRIED, SEARCHED},
    upload::{Upload, unpacked},
};
use crate::{
    Body, Obb, Plane,
    broad_phase::{NearPair, closer},
    collide::{ChosenAs, ContactQuery, InOrder, Manifold, Point},
};
use rayon::prelude::*;
use std::ops::Range;

/// Result of the passes for a near pair of bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Near {
    bodies: [usize; 2],
    levels: [u32; 2],
    flags: u32,
    /// Where its contacts are.
    slot: usize,
}

/// Two bodies and the levels at which they collide.
pub type MeetAt = ([usize; 2], [u32; 2]);

/// An answer, sorted.
pub struct Decoded {
    near: Vec<Near>,
    /// By slot: its contacts in `chosen` and in `seen`.
    chosen_of: Vec<Range<usize>>,
    seen_of: Vec<Range<usize>>,
    raw: SearchOutput,
    /// By task: body and plane.
    tasks: Vec<[usize; 2]>,
}

/// Result for the pairs of a query.
#[derive(Default)]
pub struct OfPairs {
    /// Manifolds made anew.
    pub found: Vec<(Manifold, Record)>,
    /// Indices of the manifolds that are still valid.
    pub carried: Vec<usize>,
    /// Pairs that were searched.
    pub searched: usize,
}

impl Decoded {
    /// Sorts what came in no order.
    #[must_use]
    pub fn new(question: &Upload, mut raw: SearchOutput) -> Self {
        let tasks = question.tasks.len();
        let near = |(k, pair): (usize, &[u32; 4])| Near {
            bodies: [pair[0], pair[1]].map(|solid| question.solids.bodies[solid as usize]),
            levels: [pair[2] & 15, pair[2] >> 4 & 15],
            flags: pair[2],
            slot: tasks + k,
        };
        let mut pairs: Vec<Near> = raw.near.iter().enumerate().map(near).collect();
        pairs.sort_unstable_by_key(|near| near.bodies);
        // A slot's chosen contacts stay in their order.
        raw.chosen.sort_by_key(|c| c[0] & !AS_DEEPEST);
        raw.seen.par_sort_unstable_by_key(|s| (s[0], s[1]));
        let slots = tasks + raw.near.len();
        let (chosen_of, seen_of) = (ranges(&raw.chosen, slots), ranges(&raw.seen, slots));
        Self { near: pairs, chosen_of, seen_of, raw, tasks: question.tasks.clone() }
    }

    /// Pairs that may touch in `dt`, ascending, and their levels. The passes find a few too many.
    #[must_use]
    pub fn near(&self, bodies: &[Body], boxes: &[Option<Obb>], dt: f64) -> (Vec<NearPair>, Vec<MeetAt>) {
        let meets = |near: &&Near| {
            let [i, j] = near.bodies;
            let way = closer(&bodies[i], &bodies[j], dt);
            matches!([&boxes[i], &boxes[j]], [Some(a), Some(b)] if a.may_meet(b, way))
        };
        let pair = |near: &Near| {
            let [i, j] = near.bodies;
            let cells = [cell_size(&bodies[i], near.levels[0]), cell_size(&bodies[j], near.levels[1])];
            let way = closer(&bodies[i], &bodies[j], dt);
            (NearPair { bodies: [i, j], way, resolution_m: cells[0].max(cells[1]) }, ([i, j], near.levels))
        };
        self.near.iter().filter(meets).map(pair).unzip()
    }

    /// How fast the fastest pair is, cells a step.
    #[must_use]
    pub fn fastest(&self) -> f32 {
        self.raw.fastest
    }

    /// The manifolds of the pairs of `query`.
    #[must_use]
    pub fn of_pairs(&self, query: &ContactQuery<'_>, cache: &SurfelCache, before: Before<'_>) -> OfPairs {
        let bodies = query.bodies;
        let mut out = OfPairs::default();
        let mut near_of = InOrder::new(&self.near, |near| near.bodies);
        let mut manifold_of = InOrder::new(before.manifolds(), Manifold::order);
        let mut tasks = Vec::new();
        for pair in query.pairs {
            let Some(near) = near_of.find(&pair.bodies).map(|at| &self.near[at]) else { continue };
            let [a, b] = near.bodies.map(|k| &bodies[k]);
            let known = manifold_of.find(&(false, a.id, Some(b.id)));
            if near.flags & CARRIED != 0 {
                out.carried.extend(known);
            } else if near.flags & SEARCHED != 0 && query.may_meet(near.bodies) {
                let known_surfels =
                    |s: usize| cache.entry(&bodies[near.bodies[s]].def.octree().forest, near.levels[s]);
                let (Some(a), Some(b)) = (known_surfels(0), known_surfels(1)) else { continue };
                tasks.push((
                    OctreePair::at(bodies, near.bodies, near.levels, query.dt),
                    known,
                    near.slot,
                    [a, b],
                ));
            }
        }
        out.searched = tasks.len();
        let make = |(pair, known, slot, cached): &(
            OctreePair,
            Option<usize>,
            usize,
            [&super::super::pair::CachedSurfels; 2],
        )| {
            let surfels = cached.map(|cached| &*cached.surfels);
            let hits: Vec<Hit> = self.chosen(*slot).map(|(key, b)| hit(key, b)).collect();
            let seen: Vec<(u64, f64)> = self.seen(*slot).map(|(key, depth)| (unpacked(key), depth)).collect();
            let mut points = contact_points(pair, &hits, bodies, surfels);
            self.give_reasons(*slot, &mut points, |key| ((key >> 32) as u32) << 31 | key as u32);
            let made = Made { points: at_nearest(points, pair, &hits, bodies, surfels), seen };
            manifold_of_pair(pair, *known, made, bodies, before)
        };
        out.found = tasks.par_iter().map(make).collect();
        out
    }

    /// Contacts of a body at a plane.
    #[must_use]
    pub fn at_plane(
        &self,
        ask: &PlaneAsk<'_>,
        number: usize,
        plane: &Plane,
        surfels: &Surfels,
    ) -> (Vec<Point>, usize) {
        let Ok(slot) = self.tasks.binary_search(&[ask.index, number]) else {
            return (Vec::new(), 0);
        };
        let names = self.chosen(slot).map(|(key, _)| key);
        let mut points = planes::named(ask, number, plane, surfels, names);
        self.give_reasons(slot, &mut points, |key| key as u32);
        (planes::on_balls(points, ask, plane, surfels), self.seen(slot).count())
    }

    /// Writes into points of a slot by which rule the passes chose them. `name` makes the passes' key of a point's.
    fn give_reasons(&self, slot: usize, points: &mut [Point], name: impl Fn(u64) -> u32) {
        let chosen = &self.raw.chosen[self.chosen_of[slot].clone()];
        for point in points {
            let name = name(point.key);
            let is_deepest = chosen.iter().any(|c| c[1] == name && c[0] & AS_DEEPEST != 0);
            point.why.chosen_as = if is_deepest { ChosenAs::Deepest } else { ChosenAs::Outermost };
        }
    }

    fn chosen(&self, slot: usize) -> impl Iterator<Item = (u32, u32)> {
        self.raw.chosen[self.chosen_of[slot].clone()].iter().map(|c| (c[1], c[2]))
    }

    /// Keys, ascending, and separations, m.
    fn seen(&self, slot: usize) -> impl Iterator<Item = (u32, f64)> {
        self.raw.seen[self.seen_of[slot].clone()].iter().map(|s| (s[1], f64::from(f32::from_bits(s[2]))))
    }
}

/// A chosen contact as a hit; of the pair's number only the direction counts.
fn hit(key: u32, b: u32) -> Hit {
    Hit { pair: key >> 31, a: key & 0x7fff_ffff, b }
}

fn manifold_of_pair(
    pair: &OctreePair,
    known: Option<usize>,
    made: Made,
    bodies: &[Body],
    before: Before<'_>,
) -> (Manifold, Record) {
    manifold_of(pair, known.map(|k| &before.manifolds()[k]), bodies, |_| made)
}

/// By slot: its part of a list that is sorted by slot, which may have a bit beside it.
fn ranges(list: &[[u32; 3]], slots: usize) -> Vec<Range<usize>> {
    let mut at = 0;
    let part = |slot: usize| {
        let first = at;
        while list.get(at).is_some_and(|item| (item[0] & !AS_DEEPEST) as usize == slot) {
            at += 1;
        }
        first..at
    };
    (0..slots).map(part).collect()
}
