//! Convex hulls of points and shapes.
//!
//! In: points. Out: vertices and triangles. Vertices are integer points of a grid over the input and every test is
//! exact, so that a hull is always convex, and the same everywhere. `of_shape.rs` selects the points for a shape's hull and
//! computes that hull, which the shape caches.

mod heights;
mod of_shape;

pub use of_shape::ShapeHull;

use crate::geometry::{
    Aabb,
    hull::{Grown, Keeper, convex_hull},
    triangle,
};
use glam::DVec3;
use heights::over_highest;

/// A convex solid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hull {
    /// Its vertices, shape space.
    pub points: Vec<DVec3>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// The hull of some points, which may not contain all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Through {
    /// The hull, whose vertices are some of the points.
    pub hull: Hull,
    /// Distance of the farthest point outside, in the points' units.
    pub beyond: f64,
    /// Whether vertices had to be chosen again more carefully.
    pub is_uneven: bool,
}

/// Grid cells along the longest side: products of three differences then fit into 64 bits.
const GRID: f64 = (1u32 << 19) as f64;

/// A point below a side by less than this share of a hull's size may be above it, since vertices are rounded to the
/// grid.
const HARDLY: f64 = 1e-5;

/// The grid over some points.
struct Grid {
    low: DVec3,
    cell: f64,
}

impl Grid {
    fn over(points: &[DVec3]) -> Option<Self> {
        let bounds = Aabb::of(points.iter().copied());
        let (low, cell) = (bounds.low, bounds.size().max_element() / GRID);
        (low.is_finite() && cell.is_finite() && cell > 0.0).then_some(Self { low, cell })
    }

    fn of(&self, p: DVec3) -> [i64; 3] {
        // All points are above the low corner, so truncation rounds.
        ((p - self.low) / self.cell + 0.5).as_i64vec3().to_array()
    }

    /// Points on the grid. Duplicates do no harm: none lies outside the other's faces.
    fn all_of(&self, points: &[DVec3]) -> Vec<[i64; 3]> {
        points.iter().map(|p| self.of(*p)).collect()
    }

    fn place(&self, p: [i64; 3]) -> DVec3 {
        self.low + DVec3::from_array(p.map(|v| v as f64)) * self.cell
    }
}

impl Hull {
    /// The hull of points with at most `most` vertices, chosen one after the other by their distance outside. `None`
    /// for coplanar points.
    #[must_use]
    pub fn of(points: &[DVec3], most: usize) -> Option<Self> {
        let grid = Grid::over(points)?;
        let whole = grid.all_of(points);
        let Grown { corners, triangles, .. } = convex_hull(&whole, most, 0.0, Keeper::First)?;
        Some(Self { points: corners.into_iter().map(|v| grid.place(whole[v as usize])).collect(), triangles })
    }

    /// The same with the points themselves as vertices, so that it is convex only within the precision of a grid of
    /// 2^19 cells; without vertices that would stick out by at most `least`, in the points' units. If a point left out
    /// is higher over a side than `enough`, the vertices are chosen again more carefully.
    #[must_use]
    pub fn through(points: &[DVec3], most: usize, [least, enough]: [f64; 2]) -> Option<Through> {
        let grid = Grid::over(points)?;
        let by = |points: &[DVec3], keeper: Keeper| {
            let whole = grid.all_of(points);
            let Grown { corners, triangles, outside } = convex_hull(&whole, most, least / grid.cell, keeper)?;
            let corner = |v: u32| points[v as usize];
            let hull = Self { points: corners.into_iter().map(corner).collect(), triangles };
            Some((hull, outside.into_iter().map(corner).collect::<Vec<DVec3>>()))
        };
        let (hull, outside) = by(points, Keeper::First)?;
        let sides = hull.sides();
        let over = over_highest(&outside, &sides);
        if !over.iter().any(|(height, _)| *height > enough) {
            let beyond = hull.farthest_outside(&outside, &sides, &over);
            return Some(Through { hull, beyond, is_uneven: false });
        }
        // A point inside that hull is a vertex of none.
        let left: Vec<DVec3> = hull.points.iter().copied().chain(outside).collect();
        let (hull, outside) = by(&left, Keeper::Farthest)?;
        let sides = hull.sides();
        let beyond = hull.farthest_outside(&outside, &sides, &over_highest(&outside, &sides));
        Some(Through { hull, beyond, is_uneven: true })
    }

    /// Unit normals of the sides and their distances from the origin. No point is above a degenerate side.
    fn sides(&self) -> Vec<(DVec3, f64)> {
        let side = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| self.points[v as usize]);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            (normal, if normal == DVec3::ZERO { f64::MAX } else { normal.dot(a) })
        };
        self.triangles.iter().map(side).collect()
    }

    /// Distance of the farthest of these points, which lie outside the hull; `over` gives the side that each is highest
    /// over.
    fn farthest_outside(&self, points: &[DVec3], sides: &[(DVec3, f64)], over: &[(f64, usize)]) -> f64 {
        let face = |side: usize| self.triangles[side].map(|v| self.points[v as usize]);
        // The hull is at most as far as any of its sides, and mostly as far as the one that a point is highest over.
        let at_most = |(p, (_, side)): (&DVec3, &(f64, usize))| (triangle::distance(*p, face(*side)), *p);
        let at_most: Vec<(f64, DVec3)> = points.iter().zip(over).map(at_most).collect();
        let size = self.points.iter().fold(0.0, |size: f64, p| size.max(p.abs().max_element()));
        let distance = |(most, p): (f64, DVec3)| {
            // The nearest point of a convex solid is on a side that the point is above.
            let seen = |k: &usize| p.dot(sides[*k].0) - sides[*k].1 > -HARDLY * size;
            let distances = (0..sides.len()).filter(seen).map(|k| triangle::distance(p, face(k)));
            distances.fold(most, f64::min)
        };
        // After the most promising point, hardly any other must be tested.
        let first = at_most.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
        let mut farthest = first.map_or(0.0, distance);
        for point in at_most {
            if point.0 > farthest {
                farthest = farthest.max(distance(point));
            }
        }
        farthest
    }

    /// Volume, cubic units of the points.
    #[must_use]
    pub fn volume(&self) -> f64 {
        let Some(origin) = self.points.first() else { return 0.0 };
        let of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| self.points[v as usize] - *origin);
            a.dot(b.cross(c)) / 6.0
        };
        self.triangles.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::MeshCheck;

    const MOST_POINTS: usize = 64;

    /// Points evenly spread on a ball.
    fn ball(count: u32) -> Vec<DVec3> {
        let point = |i: u32| {
            let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(count);
            let (sin, cos) = libm::sincos(f64::from(i) * 2.399_963);
            let r = (1.0 - z * z).sqrt();
            DVec3::new(r * cos, r * sin, z)
        };
        (0..count).map(point).collect()
    }

    /// Largest distance of points outside a hull, whose own sides are first checked to be convex.
    fn outside(hull: &Hull, points: &[DVec3]) -> f64 {
        let check = MeshCheck::of_triangles(&hull.points, &hull.triangles);
        assert!(check.is_manifold() && check.volume > 0.0, "{check:?}");
        let above = |p: &DVec3| {
            let heights = hull.triangles.iter().map(|t| {
                let [a, b, c] = t.map(|v| hull.points[v as usize]);
                (b - a).cross(c - a).normalize().dot(*p - a)
            });
            heights.fold(f64::NEG_INFINITY, f64::max)
        };
        assert!(hull.points.iter().all(|p| above(p) < 1e-9), "not convex");
        points.iter().map(above).fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn hulls_hold_all_points_or_the_farthest_of_them() {
        let cube: Vec<DVec3> =
            (0..27).map(|i| DVec3::new(f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9))).collect();
        let hull = Hull::of(&cube, MOST_POINTS).unwrap();
        assert!(hull.points.len() == 8 && hull.triangles.len() == 12 && (hull.volume() - 8.0).abs() < 1e-4);
        assert!(outside(&hull, &cube) < 1e-5);
        let points = ball(4000);
        let all = Hull::of(&points, 4000).unwrap();
        assert!(all.points.len() > 3900 && outside(&all, &points) < 1e-5);
        let few = Hull::of(&points, MOST_POINTS).unwrap();
        assert_eq!(few.points.len(), MOST_POINTS);
        assert!(outside(&few, &points) < 0.12, "{}", outside(&few, &points));
    }

    #[test]
    fn what_is_left_outside_is_no_farther_than_said() {
        for (points, least) in [(ball(4000), 0.0), (ball(4000), 0.2), (ball(50), 0.0)] {
            let Through { hull, beyond, .. } =
                Hull::through(&points, MOST_POINTS, [least, f64::MAX]).unwrap();
            // Heights over sides are at most the distances; for a ball they are almost equal.
            let most = outside(&hull, &points);
            println!("{} corners, {most:.4} over a side, said {beyond:.4}", hull.points.len());
            assert!(beyond >= most - 1e-9 && beyond <= 1.2 * most.max(0.0) + 1e-6);
            assert_eq!(beyond > 1e-3, points.len() > 50);
        }
    }

    /// Shells with bumps: a quick choice of vertices hides some bumps behind others.
    #[test]
    fn what_is_left_out_too_far_is_chosen_with_more_care() {
        let (mut uneven, mut left_out) = (0, [0.0; 2]);
        for k in 0..12u32 {
            // A bent, bumpy part of a ball.
            let bumps = f64::from(3 + k);
            let bend = |p: DVec3| {
                let r = 1.0 + 0.03 * (bumps * p.x).sin() * (bumps * p.y).cos();
                DVec3::new(p.x * r, p.y * r, (p.z + 0.5 * p.x * p.x) * r)
            };
            let points: Vec<DVec3> = ball(6000).into_iter().filter(|p| p.z > 0.2).map(bend).collect();
            let through = |enough: f64| Hull::through(&points, MOST_POINTS, [0.0, enough]).unwrap();
            let (quick, careful) = (through(f64::MAX), through(0.01));
            println!("{k}: {:.4} quickly, {:.4} with care", quick.beyond, careful.beyond);
            assert_eq!(careful.is_uneven, outside(&quick.hull, &points) > 0.01);
            if careful.is_uneven {
                uneven += 1;
                let most = outside(&careful.hull, &points);
                assert!(careful.beyond >= most - 1e-9, "all points are asked: {most}");
                left_out = [left_out[0] + quick.beyond, left_out[1] + careful.beyond];
            }
        }
        assert!(uneven > 3 && left_out[1] < 0.8 * left_out[0], "{uneven} {left_out:?}");
    }

    #[test]
    fn what_is_there_twice_does_no_harm() {
        let once = ball(300);
        let twice: Vec<DVec3> = once.iter().flat_map(|p| [*p, *p]).collect();
        let through = |points: &[DVec3]| Hull::through(points, MOST_POINTS, [0.0, f64::MAX]);
        assert_eq!(through(&once), through(&twice));
    }

    #[test]
    fn what_is_flat_has_none() {
        let plane: Vec<DVec3> =
            (0..20).map(|i| DVec3::new(f64::from(i % 5), f64::from(i / 5), 3.0)).collect();
        let line: Vec<DVec3> = (0..9).map(|i| DVec3::splat(f64::from(i))).collect();
        for points in [&plane[..], &line[..], &plane[..1], &[], &[DVec3::NAN; 8]] {
            assert_eq!(Hull::of(points, MOST_POINTS), None);
        }
    }
}
