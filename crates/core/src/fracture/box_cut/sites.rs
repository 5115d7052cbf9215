//! Where the sites of a break lie (Chlubna sec. 3, fig. 2).
//!
//! In: the triangles of the object, its box, where the blow hits and how strong it is. Out: sites in whole units, no
//! two of them equal.
//!
//! A candidate is drawn from one random triangle `a b c` by three steps: a point on `a b`, from there one on the way to
//! `c`, from there one on the way to the middle of the box. Every triangle is as likely as any other, so that sites
//! gather where the mesh is fine, and near the middle of the box. Eight candidates are drawn for every site; with a
//! probability that is the strength of the blow, the one nearest to it is taken, otherwise the first.
//!
//! A site lies inside the object if the whole way from its triangle to the middle of the box does. That holds for
//! convex objects, and for those that one can see all of from the middle of their box. In others (a bowl, a ring, two
//! bodies side by side) some sites lie in the open: their cells still share out the object, but may hold nothing of it
//! (the paper's fig. 10).
//!
//! The paper draws numbers by the fraction of a large sine, whose last bits no two devices agree on; here it is a hash
//! of whole numbers.

use std::collections::HashSet;

use glam::DVec3;

use super::complex::{Point, REACH};

/// Candidates a site (the paper's number).
pub const CANDIDATES: u32 = 8;

/// How often a site is drawn again that is equal to an earlier one; then the nearest free point is taken.
const DRAWS: u32 = 16;

/// Triangles that are looked up where they are, however many there are.
#[derive(Clone, Copy)]
pub struct Triangles<'a> {
    /// How many.
    pub count: usize,
    /// Corners of each, units.
    pub corners: &'a dyn Fn(usize) -> [DVec3; 3],
}

/// `count` sites in an object of `triangles` with the box `low` to `high` (all in units), for a `blow` at a point and
/// its `strength` from 0 (sites anywhere) to 1 (all near the blow). The same input gives the same sites.
///
/// Fewer than `count` where the box has no more whole points, none where there are no triangles.
#[must_use]
pub fn sites(
    triangles: Triangles<'_>,
    low: DVec3,
    high: DVec3,
    blow: DVec3,
    strength: f64,
    count: usize,
    seed: u64,
) -> Vec<Point> {
    if triangles.count == 0 {
        return Vec::new();
    }
    let room = Room::between(low, high);
    let count = u64::try_from(count).unwrap_or(u64::MAX).min(room.points()) as u32;
    let mut taken = HashSet::new();
    (0..count)
        .map(|site| {
            let drawn = (0..DRAWS)
                .map(|draw| {
                    let random = Random { seed, site, draw };
                    room.nearest(chosen(triangles, 0.5 * (low + high), blow, strength, random))
                })
                .find(|point| !taken.contains(point));
            let point = drawn.unwrap_or_else(|| {
                let random = Random { seed, site, draw: 0 };
                let wanted = room.nearest(chosen(triangles, 0.5 * (low + high), blow, strength, random));
                room.nearest_free(wanted, &taken)
            });
            taken.insert(point);
            point
        })
        .collect()
}

/// One draw of one site.
fn chosen(triangles: Triangles<'_>, middle: DVec3, blow: DVec3, strength: f64, random: Random) -> DVec3 {
    let candidate = |number: u32| {
        let [a, b, c] = (triangles.corners)(random.index(number, triangles.count));
        let on_edge = a + random.fraction(number, 1) * (b - a);
        let on_triangle = c + random.fraction(number, 2) * (on_edge - c);
        middle + random.fraction(number, 3) * (on_triangle - middle)
    };
    let first = candidate(0);
    if random.fraction(CANDIDATES, 0) >= strength {
        return first;
    }
    let nearer = |best: DVec3, other: DVec3| {
        if other.distance_squared(blow) < best.distance_squared(blow) { other } else { best }
    };
    (1..CANDIDATES).map(candidate).fold(first, nearer)
}

/// Numbers that look random, by hashing what they are for: any thread can draw any of them.
#[derive(Clone, Copy)]
struct Random {
    seed: u64,
    site: u32,
    draw: u32,
}

impl Random {
    /// The finalizer of SplitMix64, once for each word.
    fn bits(self, candidate: u32, use_for: u32) -> u64 {
        let words = [
            u64::from(self.site) << 32 | u64::from(self.draw),
            u64::from(candidate) << 32 | u64::from(use_for),
        ];
        words.iter().fold(self.seed, |hash, word| {
            let mut z = (hash ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        })
    }

    /// From 0 to below 1.
    fn fraction(self, candidate: u32, use_for: u32) -> f64 {
        (self.bits(candidate, use_for) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From 0 to below `count`.
    fn index(self, candidate: u32, count: usize) -> usize {
        ((u128::from(self.bits(candidate, 0)) * count as u128) >> 64) as usize
    }
}

/// The whole points of a box.
struct Room {
    low: Point,
    high: Point,
}

impl Room {
    /// All whole points between `low` and `high` and within reach. A side without any has the one nearest to its
    /// lower end.
    fn between(low: DVec3, high: DVec3) -> Self {
        let limit = f64::from(REACH);
        let inside = |v: f64| v.clamp(-limit, limit) as i32;
        let low = low.to_array().map(|v| inside(v.ceil()));
        let high = high.to_array().map(|v| inside(v.floor()));
        Self { low, high: std::array::from_fn(|k| high[k].max(low[k])) }
    }

    /// How many points there are.
    fn points(&self) -> u64 {
        (0..3).map(|k| u64::from(self.high[k].abs_diff(self.low[k])) + 1).product()
    }

    fn nearest(&self, point: DVec3) -> Point {
        std::array::from_fn(|k| (point[k].round() as i32).clamp(self.low[k], self.high[k]))
    }

    /// The free point nearest to `wanted` by the largest of the three differences, the smallest of these. There must be
    /// one.
    fn nearest_free(&self, wanted: Point, taken: &HashSet<Point>) -> Point {
        let mut size = 1;
        loop {
            let low: Point = std::array::from_fn(|k| (wanted[k] - size).max(self.low[k]));
            let high: Point = std::array::from_fn(|k| (wanted[k] + size).min(self.high[k]));
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        if !taken.contains(&[x, y, z]) {
                            return [x, y, z];
                        }
                    }
                }
            }
            if low == self.low && high == self.high {
                return wanted;
            }
            size *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sites of a list of triangles.
    fn sites(
        triangles: &[[DVec3; 3]],
        low: DVec3,
        high: DVec3,
        blow: DVec3,
        strength: f64,
        count: usize,
        seed: u64,
    ) -> Vec<Point> {
        let corners = |t: usize| triangles[t];
        let triangles = Triangles { count: triangles.len(), corners: &corners };
        super::sites(triangles, low, high, blow, strength, count, seed)
    }

    /// A box as twelve triangles.
    fn brick(low: DVec3, high: DVec3) -> Vec<[DVec3; 3]> {
        let corner = |c: usize| {
            DVec3::from_array(std::array::from_fn(|k| if c >> k & 1 == 0 { low[k] } else { high[k] }))
        };
        let mut triangles = Vec::new();
        for axis in 0..3 {
            let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
            for side in [0, 1 << axis] {
                triangles.push([corner(side), corner(side + u), corner(side + v)]);
                triangles.push([corner(side + u), corner(side + v), corner(side + u + v)]);
            }
        }
        triangles
    }

    const LOW: DVec3 = DVec3::new(-500.0, 20.5, 0.0);
    const HIGH: DVec3 = DVec3::new(1500.0, 1020.0, 4000.9);
    const BLOW: DVec3 = DVec3::new(-500.0, 500.0, 100.0);

    fn mean_distance(sites: &[Point]) -> f64 {
        let total: f64 = sites.iter().map(|s| DVec3::from_array(s.map(f64::from)).distance(BLOW)).sum();
        total / sites.len() as f64
    }

    #[test]
    fn sites_lie_in_a_convex_object_and_differ() {
        let brick = brick(LOW, HIGH);
        for (strength, count) in [(0.0, 1), (0.5, 90), (1.0, 1000)] {
            let sites = sites(&brick, LOW, HIGH, BLOW, strength, count, 7);
            assert_eq!(sites.len(), count);
            assert_eq!(sites.iter().collect::<HashSet<_>>().len(), count);
            for site in sites {
                let at = DVec3::from_array(site.map(f64::from));
                assert!(at.cmpge(LOW).all() && at.cmple(HIGH).all(), "{site:?}");
            }
        }
    }

    #[test]
    fn a_stronger_blow_draws_sites_nearer() {
        let brick = brick(LOW, HIGH);
        let means = [0.0, 0.5, 1.0].map(|s| mean_distance(&sites(&brick, LOW, HIGH, BLOW, s, 2000, 3)));
        assert!(means[0] > means[1] + 200.0 && means[1] > means[2] + 200.0, "{means:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_sites_and_more_sites_begin_with_them() {
        let brick = brick(LOW, HIGH);
        let of = |count, seed| sites(&brick, LOW, HIGH, BLOW, 0.3, count, seed);
        assert_eq!(of(100, 5), of(100, 5));
        assert_ne!(of(100, 5), of(100, 6));
        assert_eq!(of(100, 5), of(200, 5)[..100]);
        // Known words: another hash would give other breaks for the same seed.
        assert_eq!(of(3, 5), [[-393, 261, 986], [-53, 341, 1609], [-310, 858, 98]]);
    }

    #[test]
    fn a_small_box_is_filled_to_the_last_point() {
        let (low, high) = (DVec3::ZERO, DVec3::new(3.0, 2.0, 4.0));
        let sites = sites(&brick(low, high), low, high, low, 1.0, 1000, 1);
        assert_eq!(sites.len(), 60);
        assert_eq!(sites.iter().collect::<HashSet<_>>().len(), 60);
    }

    #[test]
    fn strange_input_gives_points_in_the_box() {
        let nan = DVec3::splat(f64::NAN);
        let huge = DVec3::splat(1e300);
        assert!(sites(&[], LOW, HIGH, BLOW, 0.5, 10, 1).is_empty());
        for (triangles, low, high, blow, strength) in [
            (vec![[nan; 3]], LOW, HIGH, BLOW, 0.5),
            (vec![[huge, -huge, nan]], -huge, huge, huge, 2.0),
            (vec![[LOW; 3]], HIGH, LOW, nan, f64::NAN),
            (vec![[LOW; 3]], nan, nan, nan, 0.5),
        ] {
            let sites = sites(&triangles, low, high, blow, strength, 10, 1);
            assert!(sites.iter().flatten().all(|v| v.abs() <= REACH));
            assert_eq!(sites.iter().collect::<HashSet<_>>().len(), sites.len());
        }
    }
}
