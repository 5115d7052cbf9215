//! The direction out of the solid beside a surface that was smooth before it was made of voxels.
//!
//! A leaf's normal is the mean of the triangles in its voxel, so that directions to the nearest polygon jump from leaf
//! to leaf. Two balls that meet head on would be deflected. So a quadric is fitted to the planes of the leaves round
//! the foot, each at its point nearest to its voxel's middle, by least squares with weights that fall to zero with
//! distance and with the angle between the normals (moving least squares; Lancaster & Salkauskas 1981, Mathematics of
//! Computation 37). Leaves of another orientation, as behind an edge, are ignored. If too few leaves remain, the
//! direction is the geometric one.

use super::{leaf::Foot, octree_solid::OctreeSolid};
use glam::{DVec2, DVec3};

/// Leaves count up to this distance from the foot, voxels.
const REACH: f64 = 4.0;
/// Cosines between normals: leaves below the first are ignored, leaves above the second have full weight.
const AGREES: [f64; 2] = [0.7, 0.9];
/// Leaves off the foot's own plane by more than this share of the reach belong to another sheet.
const OFF_SHEET: f64 = 0.5;
/// Below this distance from the surface the vector to the foot is too short for a direction, voxels.
const TOO_NEAR: f64 = 0.25;
/// Fewer leaves do not determine a quadric.
const FEWEST: usize = 8;
/// Damps curvatures that the leaves do not determine.
const DAMPING: f64 = 1e-6;

/// The direction out at a foot of `p`: along the vector from `p` to the foot, or against it if `p` is outside; the
/// normal of the surface if the vector has no length.
#[must_use]
pub fn geometric(p: DVec3, foot: &Foot) -> DVec3 {
    let way = (foot.point - p).normalize_or(foot.normal);
    let out = if way.dot(foot.normal) < 0.0 { -way } else { way };
    out.normalize_or(DVec3::Z)
}

/// The direction out at a foot of `p` on the leaves of an octree.
#[must_use]
pub fn outward(octree: &OctreeSolid, p: DVec3, foot: &Foot) -> DVec3 {
    let way = if foot.distance < TOO_NEAR { foot.normal.normalize_or(DVec3::Z) } else { geometric(p, foot) };
    let (t, u) = way.any_orthonormal_pair();
    let mut sums = Sums::default();
    octree.planes_near(foot.point, REACH, &mut |middle, plane| {
        let from_foot = middle + plane.normal * plane.offset - foot.point;
        let share = from_foot.length_squared() / (REACH * REACH);
        let agrees = (plane.normal.dot(way) - AGREES[0]) / (AGREES[1] - AGREES[0]);
        let height = from_foot.dot(way);
        if share < 1.0 && agrees > 0.0 && height.abs() < OFF_SHEET * REACH {
            let weight = (1.0 - share) * (1.0 - share) * agrees.min(1.0);
            sums.add(DVec2::new(from_foot.dot(t), from_foot.dot(u)) / REACH, height / REACH, weight);
        }
    });
    sums.slope().map_or(way, |slope| (way - t * slope.x - u * slope.y).normalize_or(way))
}

/// Normal equations of a quadric, row by row, with the right-hand side last.
#[derive(Default)]
struct Sums {
    rows: [[f64; 7]; 6],
    count: usize,
}

impl Sums {
    fn add(&mut self, DVec2 { x, y }: DVec2, height: f64, weight: f64) {
        let terms = [1.0, x, y, x * x, x * y, y * y, height];
        for (k, row) in self.rows.iter_mut().enumerate() {
            let own = weight * terms[k];
            // The matrix is symmetric.
            (k..7).for_each(|j| row[j] += own * terms[j]);
        }
        self.count += 1;
    }

    /// Slope of the quadric at the foot; `None` if its leaves do not determine one.
    fn slope(mut self) -> Option<DVec2> {
        if self.count < FEWEST {
            return None;
        }
        let damping = DAMPING * self.rows[0][0];
        (3..6).for_each(|k| self.rows[k][k] += damping);
        for k in 0..6 {
            (0..k).for_each(|j| self.rows[k][j] = self.rows[j][k]);
        }
        let solved = solve(self.rows)?;
        let slope = DVec2::new(solved[1], solved[2]);
        (slope.is_finite() && slope.length() < 1.0).then_some(slope)
    }
}

/// Gaussian elimination with pivots; `None` if the matrix is singular.
fn solve(mut rows: [[f64; 7]; 6]) -> Option<[f64; 6]> {
    let largest = (0..6).map(|k| rows[k][k].abs()).fold(0.0, f64::max);
    for k in 0..6 {
        let pivot = (k..6).max_by(|a, b| rows[*a][k].abs().total_cmp(&rows[*b][k].abs()))?;
        rows.swap(k, pivot);
        if rows[k][k].abs() <= 1e-12 * largest {
            return None;
        }
        let own = rows[k];
        for row in &mut rows[k + 1..] {
            let times = row[k] / own[k];
            row.iter_mut().zip(own).for_each(|(value, of_own)| *value -= times * of_own);
        }
    }
    let mut out = [0.0; 6];
    for k in (0..6).rev() {
        let known: f64 = (k + 1..6).map(|j| rows[k][j] * out[j]).sum();
        out[k] = (rows[k][6] - known) / rows[k][k];
    }
    Some(out)
}
