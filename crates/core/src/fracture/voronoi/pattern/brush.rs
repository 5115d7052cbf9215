//! The brush in the pattern of seeds: dense dabs add seeds, whole dabs keep cells together.
//!
//! In: a pattern, dabs in shape space, the octree that breaks. Out: the same seeds with more after them; the same seeds
//! with fewer objects. Both are the same at every level of the octree, like the seeds themselves.

use std::collections::BTreeMap;

use glam::{DVec3, IVec3};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use super::{
    Pattern, PatternError, UNIT_BITS, check_count, nearest_seed,
    presets::{random_direction, random_unit},
};
use crate::{
    fracture::{Dab, FractureParams, Paint},
    geometry::UnionFind,
    shape::Octree,
    svo::Octant,
};

/// Attempts to draw a seed near the object.
const ATTEMPTS: u32 = 64;
/// Farthest coordinate of a point for which the nearest seed is looked for, units of seeds.
const MOST_AWAY: f64 = 1_048_576.0;
/// Points along the radius of a dab at which whole dabs look for cells.
const ALONG: i32 = 8;

/// Whether a point in grid coordinates is near the solid: empty octants of this size and larger look alike at every level
/// from 5 on.
pub(super) fn is_near(octree: &Octree, p: DVec3) -> bool {
    let cell = p.floor().max(DVec3::ZERO).as_uvec3().to_array();
    let Octree { forest, tree, .. } = octree;
    match forest.octant_at(*tree as usize, cell) {
        Octant::Empty { size, .. } => 32 * size < 1 << forest.level,
        _ => true,
    }
}

/// A hash of a dab's place and radius (FNV-1a), never 0, which is the stream of the pattern itself.
fn hash(dab: &Dab) -> u64 {
    let numbers = [dab.at.x, dab.at.y, dab.at.z, dab.radius];
    let bytes = numbers.into_iter().flat_map(|number| (number + 0.0).to_bits().to_le_bytes());
    bytes
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
        | 1
}

/// A point in the units of seeds, at most 64 grid sides away, so that squares of distances fit.
fn in_units(p: DVec3, unit: f64) -> [i32; 3] {
    (p * unit).round().clamp(DVec3::splat(-MOST_AWAY), DVec3::splat(MOST_AWAY)).as_ivec3().to_array()
}

/// Whether a dab reaches the grid of the octree at all.
fn reaches(octree: &Octree, middle: DVec3, radius: f64) -> bool {
    let side = f64::from(1u32 << octree.grid.level);
    let nearest = middle.clamp(DVec3::ZERO, DVec3::splat(side));
    nearest.distance_squared(middle) <= radius * radius
}

impl Pattern {
    /// The same seeds, and after them those of the dense dabs: anywhere in the ball of a dab, near the solid. A dab that is
    /// elsewhere adds none. Each dab has random numbers by its place and radius, so that another dab does not move its seeds.
    ///
    /// # Errors
    /// [`PatternError`] for more seeds than a pattern may have.
    pub(super) fn with_dense(self, params: &FractureParams, octree: &Octree) -> Result<Self, PatternError> {
        let unit = f64::from(1u32 << (UNIT_BITS - octree.grid.level));
        let side = f64::from(1u32 << UNIT_BITS);
        let (mut seeds, mut objects) = (self.seeds, self.objects);
        let mut equals = BTreeMap::new();
        for dab in params.paint.iter().filter(|dab| dab.kind == Paint::Dense) {
            // Dabs at one place are told apart by a number.
            let number = equals.entry(hash(dab)).and_modify(|number| *number += 1).or_insert(0u64);
            let (middle, radius) = (octree.grid.from_mesh(dab.at), dab.radius / octree.grid.h);
            if !reaches(octree, middle, radius) {
                continue;
            }
            let mut rng = ChaCha8Rng::seed_from_u64(params.rng);
            rng.set_stream(hash(dab).wrapping_add(*number));
            for _ in 0..dab.amount() as u32 {
                let place = (0..ATTEMPTS).find_map(|_| {
                    // The largest of three random numbers is distributed as the distance from the middle of a ball is.
                    let reach = (0..3).map(|_| random_unit(&mut rng)).fold(0.0, f64::max);
                    let p = middle + random_direction(&mut rng) * (reach * radius);
                    is_near(octree, p).then_some(p)
                });
                let Some(place) = place else { break };
                let place = (place * unit).round().clamp(DVec3::splat(-side / 2.0), DVec3::splat(side * 1.5));
                objects.push(seeds.len() as u32);
                seeds.push(place.as_ivec3().to_array());
            }
        }
        check_count(seeds.len()).map_err(|_| {
            let text = "paint adds so many seeds that there are more than";
            PatternError::Bad(format!("{text} {}; paint less, or lower seeds", super::MAX_SEEDS))
        })?;
        Ok(Self { seeds, objects })
    }

    /// The same seeds, where the cells that meet the solid within a whole dab are one object. Cells are looked for on a
    /// lattice of an eighth of the radius.
    pub(super) fn whole_in(mut self, paint: &[Dab], octree: &Octree) -> Self {
        let whole = paint.iter().filter(|dab| dab.kind == Paint::Whole);
        let mut sets: Option<UnionFind> = None;
        for dab in whole {
            let (middle, radius) = (octree.grid.from_mesh(dab.at), dab.radius / octree.grid.h);
            if !reaches(octree, middle, radius) {
                continue;
            }
            let cells = self.cells_in(middle, radius, octree);
            let sets = sets.get_or_insert_with(|| {
                let mut sets = UnionFind::new(self.seeds.len());
                for (seed, object) in (0u32..).zip(&self.objects) {
                    sets.join(seed, *object);
                }
                sets
            });
            for pair in cells.windows(2) {
                sets.join(pair[0], pair[1]);
            }
        }
        if let Some(mut sets) = sets {
            self.objects = (0..self.seeds.len() as u32).map(|seed| sets.find(seed)).collect();
        }
        self
    }

    /// The cells that meet the solid within a ball (grid coordinates), ascending.
    fn cells_in(&self, middle: DVec3, radius: f64, octree: &Octree) -> Vec<u32> {
        let unit = f64::from(1u32 << (UNIT_BITS - octree.grid.level));
        let near = nearest_seed(&self.seeds, in_units(middle, unit), |_| true);
        let Some(near) = near else { return Vec::new() };
        let seed = |s: u32| IVec3::from_array(self.seeds[s as usize]).as_dvec3();
        // No other seed can be nearest to a point of the ball; the rounding of points is far below a unit more.
        let reach = seed(near).distance(middle * unit) + 2.0 * radius * unit + 4.0;
        let may: Vec<u32> =
            (0..self.seeds.len() as u32).filter(|s| seed(*s).distance(middle * unit) <= reach).collect();
        let close: Vec<[i32; 3]> = may.iter().map(|s| self.seeds[*s as usize]).collect();
        let mut found = vec![false; may.len()];
        let range = || -ALONG..=ALONG;
        for (x, y, z) in range().flat_map(|x| range().flat_map(move |y| range().map(move |z| (x, y, z)))) {
            let step = IVec3::new(x, y, z);
            if step.length_squared() > ALONG * ALONG {
                continue;
            }
            let p = middle + step.as_dvec3() * (radius / f64::from(ALONG));
            if is_near(octree, p)
                && let Some(s) = nearest_seed(&close, in_units(p, unit), |_| true)
            {
                found[s as usize] = true;
            }
        }
        may.into_iter().zip(found).filter(|(_, found)| *found).map(|(s, _)| s).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fracture::ball, shape::GridMass, svo::Grid};

    /// A ball of voxels in a grid of `level` that is 1 m long and begins at (-1, 0, 2) m.
    fn octree(level: u32) -> Octree {
        let forest = std::sync::Arc::new(ball(level));
        let grid = Grid { level, origin: DVec3::new(-1.0, 0.0, 2.0), h: 1.0 / f64::from(1u32 << level) };
        Octree { forest, tree: 0, grid, mass: GridMass::default() }
    }

    fn dab(kind: Paint, at: DVec3, radius: f64, amount: f64) -> Dab {
        Dab {
            kind,
            body: 0,
            at: DVec3::new(-1.0, 0.0, 2.0) + at,
            radius,
            amount: Some(amount),
            ..Dab::default()
        }
    }

    fn some() -> Pattern {
        let at = |i: u32, k: f64| f64::from(i) * k % 1.0 * 0.8 + 0.1;
        let points: Vec<DVec3> = (1..=30)
            .map(|i| DVec3::new(at(i, 0.754_878), at(i, 0.569_84), at(i, 0.319_29)) * 128.0)
            .collect();
        Pattern::from_points(&points, 7).unwrap()
    }

    #[test]
    fn dense_dabs_add_seeds_in_their_balls_and_move_no_others() {
        let octree = octree(7);
        let (here, there) = (DVec3::new(0.5, 0.75, 0.5), DVec3::new(0.5, 0.25, 0.5));
        let paint = vec![
            dab(Paint::Dense, here, 0.1, 20.0),
            dab(Paint::Whole, here, 0.1, 0.0),
            dab(Paint::Dense, there, 0.05, 10.0),
            dab(Paint::Dense, DVec3::splat(9.0), 0.1, 5.0),
            dab(Paint::Dense, DVec3::splat(0.02), 0.02, 5.0),
        ];
        let params = FractureParams { paint, ..Default::default() };
        let before = some();
        let made = before.clone().with_dense(&params, &octree).unwrap();
        assert_eq!(made.seeds[..30], before.seeds);
        assert_eq!(made.seeds.len(), 60, "where nothing is solid nothing is added");
        let place = |s: &[i32; 3]| DVec3::from_array(s.map(f64::from)) / 16384.0;
        assert!(made.seeds[30..50].iter().all(|s| place(s).distance(here) < 0.1001));
        assert!(made.seeds[50..].iter().all(|s| place(s).distance(there) < 0.0501));
        // Half of a ball's volume lies beyond 0.794 of its radius.
        let beyond = made.seeds[30..50].iter().filter(|s| place(s).distance(here) > 0.0794).count();
        assert!((5..=15).contains(&beyond), "{beyond}");
        let mut fewer = params.clone();
        fewer.paint[0].amount = Some(0.0);
        assert_eq!(before.clone().with_dense(&fewer, &octree).unwrap().seeds[30..], made.seeds[50..]);
        let many = FractureParams { paint: vec![dab(Paint::Dense, here, 0.1, 1000.0); 9], ..params };
        assert!(before.with_dense(&many, &octree).unwrap_err().to_string().contains("8192"));
    }

    #[test]
    fn whole_dabs_join_every_cell_that_meets_them() {
        let octree = octree(7);
        let at = DVec3::new(0.6, 0.7, 0.45);
        let pattern = some();
        let whole = pattern.clone().whole_in(&[dab(Paint::Whole, at, 0.15, 0.0)], &octree);
        // By brute force: the nearest seed of each voxel of the ball of voxels within the dab.
        let mut meets: Vec<u32> = Vec::new();
        for x in 0..128u32 {
            for (y, z) in (0..128u32).flat_map(|y| (0..128u32).map(move |z| (y, z))) {
                let p = DVec3::new(f64::from(x) + 0.5, f64::from(y) + 0.5, f64::from(z) + 0.5);
                let empty = matches!(octree.forest.octant_at(0, [x, y, z]), Octant::Empty { .. });
                if !empty && p.distance(at * 128.0) <= 0.15 * 128.0 {
                    meets.extend(nearest_seed(&pattern.seeds, (p * 128.0).as_ivec3().to_array(), |_| true));
                }
            }
        }
        meets.sort_unstable();
        meets.dedup();
        assert!(meets.len() > 3, "{meets:?}");
        for s in 0..30u32 {
            let object = if meets.contains(&s) { meets[0] } else { s };
            assert_eq!(whole.objects[s as usize], object, "{s} of {meets:?}");
        }
        // Two dabs that share a cell are one, and cells that stayed together before stay so.
        let mut kept = pattern.clone();
        let out = (0..30u32).find(|s| !meets.contains(s)).unwrap();
        let low = out.min(meets[1]);
        (kept.objects[out as usize], kept.objects[meets[1] as usize]) = (low, low);
        let joined = kept.whole_in(&[dab(Paint::Whole, at, 0.15, 0.0)], &octree);
        assert_eq!(joined.objects[out as usize], joined.objects[meets[0] as usize]);
        let far = pattern.clone().whole_in(&[dab(Paint::Whole, DVec3::splat(7.0), 0.5, 0.0)], &octree);
        assert_eq!(far, pattern);
    }

    #[test]
    fn the_brush_says_the_same_at_every_level() {
        let at = DVec3::new(0.5, 0.72, 0.5);
        let params = FractureParams { paint: vec![dab(Paint::Dense, at, 0.2, 30.0)], ..Default::default() };
        let whole = [dab(Paint::Whole, at, 0.1, 0.0)];
        let made = |level| {
            let octree = octree(level);
            some().with_dense(&params, &octree).unwrap().whole_in(&whole, &octree)
        };
        let (coarse, fine) = (made(6), made(8));
        assert_eq!(coarse.seeds, fine.seeds);
        assert_eq!(coarse.objects, fine.objects);
    }
}
