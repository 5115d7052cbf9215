//! Shapes and fractures for the tests of this module.

use super::{Fragment, leaf::Leaf};
use crate::geometry::Aabb;
use crate::{
    compute::Compute,
    fracture::{BreakContext, Cancel, FractureParams, Impact, Passes, Strike, break_shape},
    import::import,
    shape::Shape,
    svo::Arena,
    voxelize::Progress,
};
use glam::DVec3;
use std::{sync::Arc, time::Instant};

/// A built-in shape as an octree of `level`.
pub fn builtin(name: &str, level: u32) -> Arc<Shape> {
    import(&format!("builtin:{name}"), level, &Progress::default()).expect("a built-in shape").shape
}

/// Breaks a shape by `seeds` cells, on the CPU; the parts, and how many ms it took.
pub fn broken(shape: &Shape, seeds: u32, rng: u64) -> (Vec<Arc<Shape>>, f64) {
    let arena = Arena::new(Compute::Cpu).expect("an arena on the CPU");
    let passes = Passes::default();
    let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
    let params = FractureParams { seeds, rng, ..FractureParams::default() };
    let impact = Impact { point: shape.bounds().low, direction: DVec3::NEG_Y };
    let strike = Strike::new(impact, &params);
    let started = Instant::now();
    let broken = break_shape(&context, shape, &strike).expect("it breaks");
    let ms = started.elapsed().as_secs_f64() * 1e3;
    (broken.parts.into_iter().map(|part| part.shape).collect(), ms)
}

/// Borrows shapes for an update.
pub fn borrowed(parts: &[Arc<Shape>]) -> Vec<&Shape> {
    parts.iter().map(Arc::as_ref).collect()
}

/// Random numbers from 0 to 1 that are the same everywhere.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn within(&mut self, low: DVec3, high: DVec3) -> DVec3 {
        low + (high - low) * DVec3::new(self.next(), self.next(), self.next())
    }
}

/// Distance of a point from the polygons of all leaves of a shape, one after the other: each polygon in
/// triangles.
pub struct AllPolygons(Vec<[DVec3; 3]>);

impl AllPolygons {
    pub fn of(shape: &Shape) -> Self {
        let octree = shape.as_octree().expect("an octree");
        let mut triangles = Vec::new();
        let low = |k: usize| crate::svo::morton::decode(octree.forest.leaves.keys.at(k));
        for leaf in octree.leaves().filter_map(|k| Leaf::at(&octree.forest, k, low(k))) {
            for (polygon, _) in leaf.polygons().into_iter().flatten() {
                let at = |k: usize| leaf.middle + polygon.corners()[k];
                triangles.extend((2..polygon.corners().len()).map(|k| [at(0), at(k - 1), at(k)]));
            }
        }
        Self(triangles)
    }

    pub fn of_triangles(triangles: Vec<[DVec3; 3]>) -> Self {
        Self(triangles)
    }

    pub fn distance(&self, p: DVec3) -> f64 {
        let to = |t: &[DVec3; 3]| {
            // What cannot be nearer needs no look: no point of it is farther from its first corner than its
            // longest side.
            crate::geometry::triangle::nearest(p, *t).0.distance_squared(p)
        };
        self.0.iter().map(to).fold(f64::INFINITY, f64::min).sqrt()
    }
}

/// Points inside a fragment.
pub fn inner_points(part: &Fragment<'_>, count: usize, dice: &mut Dice) -> Vec<DVec3> {
    use super::Interior;
    let Aabb { low, high } = part.bounds();
    (0..count * 100).map(|_| dice.within(low, high)).filter(|p| part.inside(*p)).take(count).collect()
}
