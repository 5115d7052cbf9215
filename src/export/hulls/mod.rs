//! Convex shapes of pieces for other programs' physics.
//!
//! In: a piece's mesh. Out: its convex hull, or several convex parts that together leave out what is hollow. Corners
//! are whole numbers of a grid over the piece and every test is exact, so that a hull is convex whatever its points
//! are, and the same everywhere.

mod convex;
mod parts;

use std::collections::HashSet;

use glam::DVec3;

use super::{Collision, PieceMesh};
use convex::convex_hull;

/// A convex solid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hull {
    /// Its corners, shape space.
    pub points: Vec<DVec3>,
    /// Counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Most corners of a hull: what engines take without making it simpler themselves.
pub const MOST_POINTS: usize = 64;
/// Most convex parts of a piece.
pub const MOST_PARTS: usize = 16;
/// A piece that fills so much of its hull is not divided.
const FILLED: f64 = 0.92;

/// Cells of the grid along a piece's longest side: products of three differences then fit into 64 bits.
const GRID: f64 = (1u32 << 19) as f64;

/// The grid over some points.
struct Grid {
    low: DVec3,
    cell: f64,
}

impl Grid {
    fn over(points: &[DVec3]) -> Option<Self> {
        let nowhere = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = points.iter().fold(nowhere, |(low, high), p| (low.min(*p), high.max(*p)));
        let cell = (high - low).max_element() / GRID;
        (low.is_finite() && cell.is_finite() && cell > 0.0).then_some(Self { low, cell })
    }

    fn of(&self, p: DVec3) -> [i64; 3] {
        ((p - self.low) / self.cell).round().as_i64vec3().to_array()
    }

    fn place(&self, p: [i64; 3]) -> DVec3 {
        self.low + DVec3::from_array(p.map(|v| v as f64)) * self.cell
    }
}

impl Hull {
    /// Of points, with at most `most` corners: those that stick out farthest are taken one after the other. `None` of
    /// what is flat.
    #[must_use]
    pub fn of(points: &[DVec3], most: usize) -> Option<Self> {
        let grid = Grid::over(points)?;
        // In order of first appearance, so that the result does not hang on a hash.
        let mut known = HashSet::new();
        let whole: Vec<[i64; 3]> = points.iter().map(|p| grid.of(*p)).filter(|p| known.insert(*p)).collect();
        let (corners, triangles) = convex_hull(&whole, most)?;
        Some(Self { points: corners.into_iter().map(|p| grid.place(p)).collect(), triangles })
    }

    /// Cubic units of the points.
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

/// Those of a mesh that are asked for; none of what has no volume.
#[must_use]
pub fn of(collision: Collision, mesh: &PieceMesh) -> Vec<Hull> {
    if collision == Collision::None {
        return Vec::new();
    }
    let Some(hull) = Hull::of(&mesh.positions, MOST_POINTS) else { return Vec::new() };
    let origin = mesh.positions.first().copied().unwrap_or_default();
    let of = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize] - origin);
        a.dot(b.cross(c)) / 6.0
    };
    let filled = mesh.triangles.iter().map(of).sum::<f64>() / hull.volume();
    if collision == Collision::Hull || filled > FILLED {
        return vec![hull];
    }
    parts::divided(mesh, hull)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::mesh::MeshCheck;

    /// Points on a ball, spread evenly.
    fn ball(count: u32) -> Vec<DVec3> {
        let point = |i: u32| {
            let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(count);
            let (sin, cos) = libm::sincos(f64::from(i) * 2.399_963);
            let r = (1.0 - z * z).sqrt();
            DVec3::new(r * cos, r * sin, z)
        };
        (0..count).map(point).collect()
    }

    /// How far points stick out of a hull, at most, after its own sides were found to be convex.
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
    fn what_is_flat_has_none() {
        let plane: Vec<DVec3> =
            (0..20).map(|i| DVec3::new(f64::from(i % 5), f64::from(i / 5), 3.0)).collect();
        let line: Vec<DVec3> = (0..9).map(|i| DVec3::splat(f64::from(i))).collect();
        for points in [&plane[..], &line[..], &plane[..1], &[], &[DVec3::NAN; 8]] {
            assert_eq!(Hull::of(points, MOST_POINTS), None);
        }
    }
}
