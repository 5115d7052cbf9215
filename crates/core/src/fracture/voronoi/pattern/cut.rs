//! Cracks that follow a curve: strokes of the brush that cut.
//!
//! In: a pattern, cut dabs in shape space, the octree that breaks. Out: seeds in pairs that mirror each other in the sheet below
//! each stroke, so that the crack between them is the sheet. The same at every level of the octree, like the seeds themselves.

use std::collections::BTreeMap;

use glam::{DVec3, I64Vec3};

use super::{Pattern, PatternError, UNIT_BITS, brush::is_near, check_count};
use crate::{
    fracture::{Dab, MAX_SEEDS, Paint},
    shape::Octree,
};

/// Most places of one sheet at which cells are compared; of a larger sheet, every n-th place is one.
const MOST_PLACES: usize = 8000;
/// Most places along all strokes.
const MOST_STARTS: f64 = 20_000.0;
/// Distance between places as a share of the brush's radius, and the least one as a share of the grid's side.
const STEP: (f64, f64) = (0.5, 0.005);
/// Distance from the sheet at which the cells on both sides are compared, as a share of the brush's radius.
const BESIDE: f64 = 0.2;
/// Distances of added pairs from the sheet, shares of the brush's radius; the next is tried where the last was too far.
const PAIRS: [f64; 3] = [0.5, 0.25, 0.125];
/// Least sine of the angle between a segment and the depth.
const LEAST_SINE: f64 = 1e-3;
/// Least distance of a mirrored seed from the sheet, as a share of the brush's radius: a nearer one moves away from the sheet.
const NEAREST: f64 = 0.25;

/// One segment of a stroke, and the sheet below it, in units of seeds.
#[derive(Clone, Copy)]
struct Segment {
    from: DVec3,
    to: DVec3,
    /// Into the depth, of length 1.
    depth: DVec3,
    /// Normal of the sheet, of length 1.
    normal: DVec3,
    radius: f64,
    /// Distance between places on the sheet.
    step: f64,
}

impl Segment {
    /// `None` for a dab that begins a stroke, or that lies below the last one.
    fn new(dab: &Dab, octree: &Octree) -> Option<Self> {
        let unit = f64::from(1u32 << (UNIT_BITS - octree.grid.level));
        let [from, to] = [dab.from?, dab.at].map(|p| octree.grid.from_mesh(p) * unit);
        let depth = dab.direction?.try_normalize()?;
        let across = (to - from).cross(depth);
        // Below itself a stroke is no sheet.
        let normal = across.try_normalize().filter(|_| across.length() > LEAST_SINE * to.distance(from))?;
        let (radius, side) = (dab.radius / octree.grid.h * unit, f64::from(1u32 << UNIT_BITS));
        Some(Self { from, to, depth, normal, radius, step: (STEP.0 * radius).max(STEP.1 * side) })
    }

    /// Places on the sheet from the surface, which lies within the brush, to where the solid ends, with the `number` of the segment.
    fn places(&self, number: u32, octree: &Octree, found: &mut Vec<(DVec3, u32)>) {
        let unit = f64::from(1u32 << (UNIT_BITS - octree.grid.level));
        let side = f64::from(1u32 << UNIT_BITS);
        let step = self.step;
        let along = (self.from.distance(self.to) / step).ceil().clamp(1.0, 1000.0);
        for i in 0..along as u32 {
            let start = self.from.lerp(self.to, (f64::from(i) + 0.5) / along);
            let depths = (0..(4.0 * side / step) as u32).map(|k| start + self.depth * (f64::from(k) * step));
            // Solid may fill the grid, and is near to places that lie a little outside.
            let within = |p: DVec3| p.clamp(DVec3::ZERO, DVec3::splat(side - 1.0));
            let is_solid =
                |p: &DVec3| within(*p).distance(*p) < side / 32.0 && is_near(octree, within(*p) / unit);
            let is_before = |p: &DVec3| !is_solid(p) && p.distance_squared(start) < self.radius * self.radius;
            let depths = depths.skip_while(is_before).take_while(is_solid);
            found.extend(depths.map(|p| (p, number)));
        }
    }

    /// Distance of a point from the segment seen along the depth.
    fn distance(&self, p: DVec3) -> f64 {
        let flat = |v: DVec3| v - self.depth * v.dot(self.depth);
        let (along, to) = (flat(self.to - self.from), flat(p - self.from));
        let part = (to.dot(along) / along.length_squared()).clamp(0.0, 1.0);
        to.distance(along * part)
    }

    /// Signed distance from the plane of the sheet.
    fn height(&self, p: DVec3) -> f64 {
        (p - self.from).dot(self.normal)
    }
}

/// A stroke: segments of which each begins where the last one ends.
pub(super) struct Stroke(Vec<Segment>);

impl Stroke {
    /// The strokes of `paint`, in its order.
    pub fn all(paint: &[Dab], octree: &Octree) -> Vec<Self> {
        let mut strokes: Vec<Self> = Vec::new();
        let (mut end, mut is_open) = (None, false);
        for dab in paint.iter().filter(|dab| dab.kind == Paint::Cut) {
            let goes_on = is_open && dab.from == end;
            end = Some(dab.at);
            is_open = dab.from.is_some();
            let Some(segment) = Segment::new(dab, octree) else { continue };
            match strokes.last_mut() {
                Some(stroke) if goes_on => stroke.0.push(segment),
                _ => strokes.push(Self(vec![segment])),
            }
        }
        let all = strokes.iter().flat_map(|stroke| &stroke.0);
        let least = all.map(|segment| segment.from.distance(segment.to)).sum::<f64>() / MOST_STARTS;
        strokes.iter_mut().flat_map(|stroke| &mut stroke.0).for_each(|s| s.step = s.step.max(least));
        strokes
    }

    /// The segment nearest to a point.
    fn nearest(&self, p: DVec3) -> &Segment {
        let nearer = |a: &&Segment, b: &&Segment| a.distance(p).total_cmp(&b.distance(p));
        self.0.iter().min_by(nearer).unwrap_or(&self.0[0])
    }

    fn is_above(&self, p: DVec3) -> bool {
        self.nearest(p).height(p) >= 0.0
    }
}

/// Seeds while they are paired, with the nearest one of each place.
struct Pairing<'a> {
    stroke: &'a Stroke,
    /// Places on the sheet, and the segments that they are below.
    places: Vec<(DVec3, u32)>,
    seeds: Vec<[i32; 3]>,
    /// For each seed, the object it had, or which the seed had that it belongs to.
    objects: Vec<u32>,
    is_paired: Vec<bool>,
    /// The nearest seed of each place, and the square of its distance.
    nearest: Vec<(i64, u32)>,
}

fn rounded(p: DVec3) -> [i32; 3] {
    let side = f64::from(1u32 << UNIT_BITS);
    p.round().clamp(DVec3::splat(-side / 2.0), DVec3::splat(side * 1.5)).as_ivec3().to_array()
}

fn point(seed: [i32; 3]) -> DVec3 {
    DVec3::from_array(seed.map(f64::from))
}

fn squared(seed: [i32; 3], p: DVec3) -> i64 {
    (I64Vec3::from_array(seed.map(i64::from)) - p.round().as_i64vec3()).length_squared()
}

impl Pairing<'_> {
    fn nearest_to(&self, p: DVec3) -> u32 {
        (0u32..).zip(&self.seeds).min_by_key(|(s, seed)| (squared(**seed, p), *s)).map_or(0, |(s, _)| s)
    }

    fn add(&mut self, p: DVec3, object: u32) {
        let (seed, index) = (rounded(p), self.seeds.len() as u32);
        self.seeds.push(seed);
        self.objects.push(object);
        self.is_paired.push(true);
        self.update(index);
    }

    /// Takes note of a seed that is new or nearer.
    fn update(&mut self, seed: u32) {
        for ((place, _), nearest) in self.places.iter().zip(&mut self.nearest) {
            *nearest = (*nearest).min((squared(self.seeds[seed as usize], *place), seed));
        }
    }

    /// Adds the mirror image of every seed whose cell meets the sheet.
    fn mirror(&mut self) {
        while let Some(seed) = self.nearest.iter().map(|(_, s)| *s).find(|s| !self.is_paired[*s as usize]) {
            let s = seed as usize;
            let mut p = point(self.seeds[s]);
            let segment = *self.stroke.nearest(p);
            let (height, least) = (segment.height(p), NEAREST * segment.radius);
            if height.abs() < least {
                p += segment.normal * (least.copysign(height) - height);
                self.seeds[s] = rounded(p);
                for at in 0..self.places.len() {
                    if self.nearest[at].1 == seed {
                        let (place, _) = self.places[at];
                        let nearest = self.nearest_to(place);
                        self.nearest[at] = (squared(self.seeds[nearest as usize], place), nearest);
                    }
                }
                self.update(seed);
            }
            self.is_paired[s] = true;
            let p = point(self.seeds[s]);
            self.add(p - segment.normal * (2.0 * segment.height(p)), self.objects[s]);
        }
    }

    /// Adds pairs where the crack between mirrored seeds leaves the sheet, because the stroke bends.
    fn follow(&mut self, share: f64) {
        for k in 0..self.places.len() {
            let (p, segment) = (self.places[k].0, self.stroke.0[self.places[k].1 as usize]);
            let is_apart = [1.0, -1.0].iter().all(|sign| {
                let nearest = self.nearest_to(p + segment.normal * (sign * BESIDE * segment.radius));
                self.stroke.is_above(point(self.seeds[nearest as usize])) == (*sign > 0.0)
            });
            if !is_apart {
                let object = self.objects[self.nearest[k].1 as usize];
                for sign in [1.0, -1.0] {
                    self.add(p + segment.normal * (sign * share * segment.radius), object);
                }
            }
        }
    }

    /// Objects whose cells meet the sheet are two: that above the sheet and that below it.
    fn divided(self) -> Pattern {
        let mut is_cut = vec![false; self.seeds.len()];
        self.objects.iter().zip(&self.is_paired).for_each(|(o, paired)| is_cut[*o as usize] |= paired);
        let mut first = BTreeMap::new();
        let object = |(seed, (place, object)): (u32, (&[i32; 3], &u32))| {
            let is_above = is_cut[*object as usize] && self.stroke.is_above(point(*place));
            *first.entry((*object, is_above)).or_insert(seed)
        };
        let objects = (0u32..).zip(self.seeds.iter().zip(&self.objects)).map(object).collect();
        Pattern { seeds: self.seeds, objects }
    }
}

impl Pattern {
    /// The same seeds, and after them those that make cracks run along the strokes that cut, as deep as the solid is there. A
    /// seed that is nearer to a stroke than a quarter of the brush's radius moves away from it.
    ///
    /// # Errors
    /// [`PatternError`] for more seeds than a pattern may have.
    pub(super) fn with_cuts(mut self, paint: &[Dab], octree: &Octree) -> Result<Self, PatternError> {
        for stroke in Stroke::all(paint, octree) {
            self = self.cut_along(&stroke, octree, &PAIRS);
            check_count(self.seeds.len()).map_err(|_| {
                let text = "cuts add so many seeds that there are more than";
                PatternError::Bad(format!("{text} {MAX_SEEDS}; cut less, or with a larger brush"))
            })?;
        }
        Ok(self)
    }

    /// The same with the distances at which pairs are added, shares of the brush's radius.
    pub(super) fn cut_along(self, stroke: &Stroke, octree: &Octree, pairs: &[f64]) -> Self {
        let mut places = Vec::new();
        for (number, segment) in (0u32..).zip(&stroke.0) {
            segment.places(number, octree, &mut places);
        }
        let step = places.len().div_ceil(MOST_PLACES).max(1);
        let places: Vec<_> = places.into_iter().step_by(step).collect();
        let count = self.seeds.len();
        let mut pairing = Pairing {
            stroke,
            nearest: vec![(i64::MAX, 0); places.len()],
            places,
            seeds: self.seeds,
            objects: self.objects,
            is_paired: vec![false; count],
        };
        (0..count as u32).for_each(|seed| pairing.update(seed));
        pairing.mirror();
        pairs.iter().for_each(|share| pairing.follow(*share));
        pairing.divided()
    }
}
