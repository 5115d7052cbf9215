//! The seeds that can be a seed's rivals anywhere in the grid: the start of the descent.
//!
//! In: a pattern. Out: for every seed the list that its pair at the root carries. For few seeds this list has all of
//! them. For many, the tests of the first levels would be quadratic in the number of seeds (and their lists larger than
//! a buffer may be), so each cell is cut out of the grid and only seeds whose plane comes near it stay.
//!
//! Why the result is the same: |x - s|^2 - |x - r|^2 is linear in x, so where it is negative at the corners of a convex
//! body, r is farther than s from all of it. The body is the cell of s (or a larger one), widened by w, the diagonal of
//! a node at the last parent level. A seed that is farther than s from all of that is farther from every node there
//! that meets the cell, and the descent would have dropped it; in nodes that do not meet the cell, no corner is the
//! cell's, with or without it.
//!
//! Convex polytopes cut out of a box by planes, in f64: for bounds with a margin, never for exact decisions.
//!
//! In: a box and half-spaces. Out: the vertices of the rest.

use glam::DVec3;
use rayon::prelude::*;

use crate::fracture::{Pattern, UNIT_BITS};

/// Patterns with fewer seeds keep one list for all.
pub(in crate::fracture) const MANY: usize = 256;
/// The nearest seeds cut a cell first, sorted: the rest is small, and few of the others cut it again.
const NEAREST: usize = 48;

/// Candidates of every seed: ranges of one list.
pub(in crate::fracture) struct Candidates {
    /// Seed indices; ascending inside a range.
    pub list: Vec<u32>,
    /// (first, count) per seed.
    pub ranges: Vec<(u32, u32)>,
}

/// The rivals at the root of an octree of `level`.
pub(in crate::fracture) fn at_root(pattern: &Pattern, level: u32) -> Candidates {
    let n = pattern.seeds.len();
    if n < MANY {
        return Candidates { list: (0..n as u32).collect(), ranges: vec![(0, n as u32); n] };
    }
    within_reach(pattern, level)
}

fn within_reach(pattern: &Pattern, level: u32) -> Candidates {
    let n = pattern.seeds.len();
    let points: Vec<DVec3> = pattern.seeds.iter().map(|s| DVec3::from_array(s.map(f64::from))).collect();
    let side = f64::from(1u32 << UNIT_BITS);
    let node = 3f64.sqrt() * 2.0 * f64::from(1u32 << (UNIT_BITS - level));
    let lists: Vec<Vec<u32>> = (0..n)
        .into_par_iter()
        .map(|s| {
            let own = points[s];
            let mut near: Vec<(f64, u32)> =
                (0..n).filter(|r| *r != s).map(|r| (own.distance_squared(points[r]), r as u32)).collect();
            if near.len() > NEAREST {
                near.select_nth_unstable_by(NEAREST, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            }
            let mut cell = Polytope::of_box(DVec3::ZERO, DVec3::splat(side));
            let nearest = near.len().min(NEAREST);
            near[..nearest].sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let mut cutters: Vec<u32> = Vec::new();
            // The plane of a seed lies half way to it: one at least twice as far away as the cell reaches does not cut it.
            let mut radius = cell.radius_from(own);
            for &(apart, r) in &near {
                let other = points[r as usize];
                // Seeds at the same point have no plane between them. A unit more than half way takes up all rounding.
                if apart > 0.0 && apart < 4.0 * radius * radius {
                    let normal = (other - own) / apart.sqrt();
                    if cell.clip(normal, normal.dot(own.midpoint(other)) + 1.0) {
                        cutters.push(r);
                        radius = cell.radius_from(own);
                    }
                }
            }
            let mut list: Vec<u32> = if cell.is_empty() {
                // These own the whole grid against it; they suffice to drop it.
                cutters
            } else {
                let far = radius + node + 3.0;
                let reaches = |(apart, r): &(f64, u32)| {
                    if *apart > 4.0 * far * far {
                        return false;
                    }
                    let other = points[*r as usize];
                    let normal = (other - own) / apart.sqrt().max(1.0);
                    let limit = normal.dot(own.midpoint(other)) - node - 2.0;
                    cell.vertices().any(|v| normal.dot(v) >= limit)
                };
                near.iter().filter(|rival| reaches(rival)).map(|(_, r)| *r).collect()
            };
            list.sort_unstable();
            list
        })
        .collect();
    let mut short = Candidates { list: Vec::new(), ranges: Vec::with_capacity(n) };
    for list in lists {
        short.ranges.push((short.list.len() as u32, list.len() as u32));
        short.list.extend(list);
    }
    short
}

/// A bounded convex polytope as its faces, each a ring of vertices.
#[derive(Clone, Debug)]
pub(in crate::fracture) struct Polytope {
    faces: Vec<Vec<DVec3>>,
}

impl Polytope {
    /// The box from `low` to `high`.
    pub fn of_box(low: DVec3, high: DVec3) -> Self {
        let corner = |c: usize| {
            let pick = |k: usize| if c >> k & 1 == 1 { high[k] } else { low[k] };
            DVec3::new(pick(0), pick(1), pick(2))
        };
        let rings = [[0, 2, 6, 4], [1, 3, 7, 5], [0, 1, 5, 4], [2, 3, 7, 6], [0, 1, 3, 2], [4, 5, 7, 6]];
        Self { faces: rings.iter().map(|ring| ring.iter().map(|c| corner(*c)).collect()).collect() }
    }

    /// Whether the rest is empty.
    pub fn is_empty(&self) -> bool {
        self.faces.is_empty()
    }

    /// All vertices; some occur more than once.
    pub fn vertices(&self) -> impl Iterator<Item = DVec3> + '_ {
        self.faces.iter().flatten().copied()
    }

    /// The distance of its farthest vertex from a point; 0 where it is empty.
    fn radius_from(&self, point: DVec3) -> f64 {
        self.vertices().map(|v| v.distance_squared(point)).fold(0.0, f64::max).sqrt()
    }

    /// Keeps the part where `normal . x <= limit`; whether there was another part.
    pub fn clip(&mut self, normal: DVec3, limit: f64) -> bool {
        let side = |v: DVec3| normal.dot(v) - limit;
        if self.vertices().all(|v| side(v) <= 0.0) {
            return false;
        }
        let mut cap: Vec<DVec3> = Vec::new();
        let mut faces = Vec::with_capacity(self.faces.len() + 1);
        for ring in &self.faces {
            let mut kept = Vec::with_capacity(ring.len() + 1);
            for (i, &a) in ring.iter().enumerate() {
                let b = ring[(i + 1) % ring.len()];
                let (da, db) = (side(a), side(b));
                if da <= 0.0 {
                    kept.push(a);
                }
                if (da <= 0.0) != (db <= 0.0) {
                    let cut = a + (b - a) * (da / (da - db));
                    kept.push(cut);
                    cap.push(cut);
                }
            }
            if kept.len() >= 3 {
                faces.push(kept);
            }
        }
        if faces.is_empty() {
            self.faces.clear();
            return true;
        }
        if cap.len() >= 3 {
            sort_round(&mut cap, normal);
            faces.push(cap);
        }
        self.faces = faces;
        true
    }
}

/// Sorts the points of a convex ring round their middle.
fn sort_round(ring: &mut [DVec3], normal: DVec3) {
    let middle = ring.iter().sum::<DVec3>() / ring.len() as f64;
    let u = normal.any_orthogonal_vector();
    let v = normal.cross(u);
    let angle = |p: &DVec3| {
        let d = *p - middle;
        libm::atan2(d.dot(v), d.dot(u) * normal.length())
    };
    ring.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scattered(n: usize) -> Pattern {
        let mut h = 7u64;
        let mut next = || {
            h = h.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (h >> 33) as f64 / (1u64 << 31) as f64
        };
        let points: Vec<DVec3> = (0..n)
            .map(|i| {
                // Every fourth lies in a cluster, some outside the grid.
                let p = DVec3::new(next(), next(), next());
                if i % 4 == 0 { p * 6.0 + 20.0 } else { p * 90.0 - 13.0 }
            })
            .collect();
        Pattern::from_points(&points, 6).unwrap()
    }

    #[test]
    fn owners_of_all_corners_are_the_same_with_the_short_lists() {
        let pattern = scattered(700);
        let lists = within_reach(&pattern, 4);
        println!("{} rivals in all of 700 seeds", lists.list.len());
        assert!(lists.list.len() < 700 * 350, "the lists are short");
        let unit = 1i64 << (UNIT_BITS - 4);
        let distance = |p: [i64; 3], s: usize| -> i64 {
            (0..3).map(|k| (p[k] - i64::from(pattern.seeds[s][k])).pow(2)).sum()
        };
        let owner = |p: [i64; 3]| (0..700).min_by_key(|s| (distance(p, *s), *s)).unwrap();
        for i in 0..17i64.pow(3) {
            let p = [i % 17, i / 17 % 17, i / 289].map(|v| v * unit);
            let wanted = owner(p);
            for s in 0..700 {
                let (first, count) = lists.ranges[s];
                let list = &lists.list[first as usize..(first + count) as usize];
                let wins = list.iter().all(|r| (distance(p, s), s) < (distance(p, *r as usize), *r as usize));
                assert_eq!(wins, s == wanted, "corner {p:?} seed {s}");
            }
        }
    }

    /// Crack planes are made from the rivals that contest a node at the last parent level: those must be the same too.
    #[test]
    fn what_contests_a_node_is_the_same_with_the_short_lists() {
        let pattern = scattered(400);
        let lists = within_reach(&pattern, 4);
        let unit = 1i64 << (UNIT_BITS - 4);
        let seed = |s: usize| pattern.seeds[s].map(i64::from);
        let distance = |p: [i64; 3], s: usize| -> i64 { (0..3).map(|k| (p[k] - seed(s)[k]).pow(2)).sum() };
        let owner = |p: [i64; 3]| (0..400).min_by_key(|s| (distance(p, *s), *s)).unwrap();
        let mut compared = 0;
        for node in 0..512 {
            let low = [node % 8, node / 8 % 8, node / 64].map(|v| v * 2 * unit);
            let corner = |i: i64| [low[0] + i % 3 * unit, low[1] + i / 3 % 3 * unit, low[2] + i / 9 * unit];
            let contests = |s: usize, r: usize| {
                let centre = corner(13);
                let apart: i64 = (0..3).map(|k| (seed(s)[k] - seed(r)[k]).abs()).sum();
                distance(centre, r) - distance(centre, s) - 2 * unit * apart < i64::from(r < s)
            };
            let owners: std::collections::BTreeSet<usize> = (0..27).map(|i| owner(corner(i))).collect();
            for s in owners {
                let (first, count) = lists.ranges[s];
                let short = lists.list[first as usize..(first + count) as usize].iter().map(|r| *r as usize);
                let all = (0..400).filter(|r| *r != s && contests(s, *r));
                assert!(short.filter(|r| contests(s, *r)).eq(all), "node {node} seed {s}");
                compared += 1;
            }
        }
        assert!(compared > 1000, "{compared}");
    }

    #[test]
    fn few_seeds_share_one_list() {
        let lists = at_root(&scattered(5), 6);
        assert_eq!((lists.list.len(), lists.ranges.as_slice()), (5, [(0, 5); 5].as_slice()));
    }
}

#[cfg(test)]
mod polytope_tests {
    use super::*;

    #[test]
    fn a_corner_of_the_unit_cube_is_a_tetrahedron() {
        let mut p = Polytope::of_box(DVec3::ZERO, DVec3::ONE);
        p.clip(DVec3::ONE, 0.5);
        let mut vertices: Vec<[i64; 3]> =
            p.vertices().map(|v| (v * 1000.0).round().as_i64vec3().to_array()).collect();
        vertices.sort_unstable();
        vertices.dedup();
        assert_eq!(vertices, [[0, 0, 0], [0, 0, 500], [0, 500, 0], [500, 0, 0]]);
        p.clip(DVec3::NEG_ONE, -0.6);
        assert!(p.is_empty());
    }

    #[test]
    fn many_planes_round_a_point_leave_a_ball() {
        let mut p = Polytope::of_box(DVec3::splat(-10.0), DVec3::splat(10.0));
        for i in 0..400 {
            let z = 1.0 - 2.0 * (f64::from(i) + 0.5) / 400.0;
            let turn = f64::from(i) * 2.399_963;
            let r = (1.0 - z * z).sqrt();
            p.clip(DVec3::new(r * turn.cos(), r * turn.sin(), z), 1.0);
        }
        let reach = p.vertices().map(DVec3::length).fold(0.0, f64::max);
        assert!(reach > 1.0 && reach < 1.05, "{reach}");
        assert!(p.vertices().all(|v| v.length() > 0.999));
    }
}
