//! Lumps: bonds within a lump are stronger than those between lumps, so that a body comes apart in large lumps first and
//! in crumbs later.
//!
//! In: a structure, how many lumps there are at every level. Out: the lumps of every part, and bonds with the strength of
//! their level. Lumps are the cells of points that are spread over the bounds of the whole body, so what is left of a body
//! has the lumps that it had.

use glam::DVec3;
use rand::{RngExt as _, SeedableRng as _};

use crate::{bodies::structure::Structure, geometry::Aabb};

/// Places that are drawn for each point, of which the farthest from the other points is taken (Mitchell 1991).
const CANDIDATES: usize = 12;

/// Points that are spread over a box, the same on every system.
fn spread(bounds: Aabb, count: u32, rng: u64) -> Vec<DVec3> {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(rng);
    let mut points: Vec<DVec3> = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let mut best = (f64::NEG_INFINITY, DVec3::ZERO);
        for _ in 0..CANDIDATES {
            let unit = DVec3::new(random.random(), random.random(), random.random());
            let place = bounds.low + unit * bounds.size();
            let nearest = points.iter().map(|p| p.distance_squared(place)).fold(f64::INFINITY, f64::min);
            if nearest > best.0 {
                best = (nearest, place);
            }
        }
        points.push(best.1);
    }
    points
}

/// Of every part the lump that it is in at each level of `counts`.
pub(super) fn of_parts(structure: &Structure, counts: &[u32], rng: u64) -> Vec<Vec<u32>> {
    let shape = &structure.whole;
    let to_shape = |p: DVec3| shape.as_octree().map_or(p, |octree| octree.grid.origin + octree.grid.h * p);
    let bounds = shape.bounds();
    let bounds = Aabb::new(to_shape(bounds.low), to_shape(bounds.high));
    let mut all = vec![Vec::new(); structure.parts.len()];
    for (level, count) in (0u64..).zip(counts) {
        let points = spread(bounds, *count, rng.wrapping_add(level));
        let lump = |node: DVec3| {
            let far = points.iter().map(|p| p.distance_squared(node)).enumerate();
            far.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at as u32)
        };
        for (part, own) in structure.parts.iter().zip(&mut all) {
            own.push(lump(part.node));
        }
    }
    all
}

/// The first level at which two parts are in different lumps; the number of levels where there is none.
pub(super) fn level_between(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Gives every bond the strength of its level: the factor of `factors` of the first level of `counts` at which its parts are
/// in different lumps, and 1 without such a factor. Where `factors` is empty, a bond is stronger by `within` for each level
/// at which its parts are in one lump.
pub(super) fn strengthen(
    structure: &mut Structure,
    counts: &[u32],
    (within, factors): (f64, &[f64]),
    rng: u64,
) {
    let lumps = of_parts(structure, counts, rng);
    for bond in &mut structure.bonds {
        let [a, b] = bond.ends.map(|end| lumps[end as usize].as_slice());
        if factors.is_empty() {
            a.iter().zip(b).filter(|(a, b)| a == b).for_each(|_| bond.share *= within);
        } else {
            bond.share *= factors.get(level_between(a, b)).copied().unwrap_or(1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_spread_evenly_and_repeat() {
        let bounds = Aabb::new(DVec3::ZERO, DVec3::new(2.0, 1.0, 1.0));
        let points = spread(bounds, 40, 7);
        assert_eq!(points, spread(bounds, 40, 7));
        assert_ne!(points, spread(bounds, 40, 8));
        assert!(points.iter().all(|p| p.cmpge(bounds.low).all() && p.cmple(bounds.high).all()));
        let nearest = |k: usize| {
            let others = points.iter().enumerate().filter(|(other, _)| *other != k);
            others.map(|(_, p)| p.distance(points[k])).fold(f64::INFINITY, f64::min)
        };
        // Cubes of 1/20 m^3 have edges of 0.37 m; random points come as near to each other as a tenth of that.
        let least = (0..40).map(nearest).fold(f64::INFINITY, f64::min);
        assert!(least > 0.15, "{least}");
    }

    #[test]
    fn parts_are_apart_at_the_first_level_at_which_their_lumps_differ() {
        assert_eq!(level_between(&[3, 5], &[2, 5]), 0, "what agrees below does not count");
        assert_eq!(level_between(&[3, 5], &[3, 6]), 1);
        assert_eq!(level_between(&[3, 5], &[3, 5]), 2);
        assert_eq!(level_between(&[], &[]), 0);
    }
}
