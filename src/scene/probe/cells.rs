//! The Voronoi cell of a voxel (2016, sec. 4.2, 4.3): the nearest seeds, the owners of its corners, the distance to
//! the next crack.
//!
//! In: a pattern. Out: fields of a probe. Seeds are compared as the fracture compares them: in whole numbers of 2^-14
//! of a grid side, of equally near ones the lowest.

use glam::{DVec3, I64Vec3};

use super::{Probe, ProbeSeed};
use crate::{
    fracture::{Pattern, UNIT_BITS, middle_of, nearest_seed},
    svo::MAX_LEVEL,
};

impl Probe {
    /// The same with what a pattern says of the voxel, on a grid of leaf level `level`. The pattern should be that of
    /// the break that made the voxel's piece, or of one that is to come. A voxel outside of that grid gets nothing.
    #[must_use]
    pub fn with_pattern(mut self, pattern: &Pattern, level: u32) -> Self {
        if level > MAX_LEVEL || self.voxel.iter().any(|v| *v >= 1 << level) {
            return self;
        }
        let unit = 1i32 << (UNIT_BITS - level);
        let centre = middle_of(self.voxel, 1, level);
        let nearest = |may: &dyn Fn(u32) -> bool| {
            let seed = nearest_seed(&pattern.seeds, centre, may)?;
            seen_from(centre, pattern, seed)
        };
        let Some(first) = nearest(&|_| true) else { return self };
        let second = nearest(&|seed| seed != first.seed);
        let beyond = nearest(&|seed| object_of(pattern, seed) != first.object);
        self.object = Some(first.object);
        self.cell = self.cell.or(Some(first.object));
        self.seeds = std::iter::once(first).chain(second).collect();
        self.distance_to_seed = Some((first.squared_distance as f64).sqrt() / f64::from(unit));
        self.distance_to_crack =
            beyond.and_then(|beyond| Some(to_bisector(&first, &beyond)? / f64::from(unit)));
        self.beyond = beyond;
        self.corners = corner_seeds(pattern, self.voxel, unit);
        self
    }

    /// The same with numbers of seeds, objects and cells that start at `first`, as in a later break of a run, whose
    /// seeds are numbered on over all breaks.
    #[must_use]
    pub fn numbered_from(mut self, first: u32) -> Self {
        let shift = |number: &mut u32| *number = number.saturating_add(first);
        self.object.iter_mut().chain(&mut self.cell).for_each(shift);
        self.corners.iter_mut().flatten().for_each(shift);
        self.copies.iter_mut().filter_map(|copy| copy.cell.as_mut()).for_each(shift);
        for seed in self.seeds.iter_mut().chain(&mut self.beyond) {
            shift(&mut seed.seed);
            shift(&mut seed.object);
        }
        if let Some(transition) = &mut self.transition {
            transition.objects.iter_mut().for_each(shift);
            transition.triangles.iter_mut().flat_map(|triangle| &mut triangle.cells).for_each(shift);
        }
        self
    }
}

/// The object of a seed.
fn object_of(pattern: &Pattern, seed: u32) -> u32 {
    pattern.objects.get(seed as usize).copied().unwrap_or(seed)
}

/// A seed as seen from a point, units.
fn seen_from(point: [i32; 3], pattern: &Pattern, seed: u32) -> Option<ProbeSeed> {
    let position = *pattern.seeds.get(seed as usize)?;
    let [from, to] = [point, position].map(|p| I64Vec3::from_array(p.map(i64::from)));
    let squared_distance = (to - from).length_squared();
    Some(ProbeSeed { seed, object: object_of(pattern, seed), position, squared_distance })
}

/// Distance from the bisector of two seeds, units; `None` for seeds in one place.
fn to_bisector(nearer: &ProbeSeed, farther: &ProbeSeed) -> Option<f64> {
    let [a, b] = [nearer, farther].map(|seed| DVec3::from_array(seed.position.map(f64::from)));
    let apart = a.distance(b);
    // Half the difference of the squared distances, over the seeds' distance, is the height over the plane between
    // them.
    let difference = (farther.squared_distance - nearer.squared_distance) as f64;
    (apart > 0.0).then(|| difference / (2.0 * apart))
}

/// The nearest seed of each corner of a voxel; `unit` is a voxel's edge, units.
fn corner_seeds(pattern: &Pattern, voxel: [u32; 3], unit: i32) -> Option<[u32; 8]> {
    let mut seeds = [0; 8];
    for (corner, seed) in (0u32..).zip(&mut seeds) {
        let point = std::array::from_fn(|axis| (voxel[axis] + (corner >> axis & 1)) as i32 * unit);
        *seed = nearest_seed(&pattern.seeds, point, |_| true)?;
    }
    Some(seeds)
}
