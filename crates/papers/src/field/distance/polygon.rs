//! The part of a plane inside a voxel, as a convex polygon.

use super::leaf::LeafPlane;
use crate::geometry::triangle::nearest_on_segment;
use glam::DVec3;

/// A square has 4 corners; three half-spaces add at most one each.
const MOST: usize = 7;
/// Below this a polygon is a point or a line, square voxels.
const LEAST_AREA: f64 = 1e-6;
/// Half the edge of a voxel.
const HALF: f64 = 0.5;

/// A convex polygon in a voxel, from the voxel's middle.
#[derive(Clone, Copy, Debug)]
pub struct Polygon {
    corners: [DVec3; MOST],
    count: usize,
}

impl Polygon {
    /// The part of `plane` inside the voxel and, where there is one, below `below`.
    #[must_use]
    pub fn in_voxel(plane: LeafPlane, below: Option<LeafPlane>) -> Self {
        // Over the square of the two axes that the plane is least steep to, no corner is far.
        let steep = plane.normal.abs();
        let up = (0..3).max_by(|a, b| steep[*a].total_cmp(&steep[*b])).unwrap_or(2);
        let (right, back) = ((up + 1) % 3, (up + 2) % 3);
        let mut polygon = Self { corners: [DVec3::ZERO; MOST], count: 4 };
        let around = [[-HALF, -HALF], [HALF, -HALF], [HALF, HALF], [-HALF, HALF]];
        for (corner, [x, y]) in polygon.corners.iter_mut().zip(around) {
            (corner[right], corner[back]) = (x, y);
            corner[up] = (plane.offset - plane.normal[right] * x - plane.normal[back] * y) / plane.normal[up];
        }
        let up = DVec3::AXES[up];
        let polygon = polygon.clipped(up, HALF).clipped(-up, HALF);
        below.map_or(polygon, |cut| polygon.clipped(cut.normal, cut.offset))
    }

    /// The part where `normal . x <= offset`.
    fn clipped(self, normal: DVec3, offset: f64) -> Self {
        let height = |p: DVec3| p.dot(normal) - offset;
        if self.corners().iter().all(|p| height(*p) <= 0.0) {
            return self;
        }
        let mut out = Self { corners: [DVec3::ZERO; MOST], count: 0 };
        for k in 0..self.count {
            let (from, to) = (self.corners[k], self.corners[(k + 1) % self.count]);
            let (here, there) = (height(from), height(to));
            if here <= 0.0 {
                out.push(from);
            }
            if (here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0) {
                out.push(from + (to - from) * (here / (here - there)));
            }
        }
        out
    }

    /// Rounding may make a convex polygon cross a line more than twice; further corners are dropped.
    fn push(&mut self, p: DVec3) {
        if self.count < MOST {
            self.corners[self.count] = p;
            self.count += 1;
        }
    }

    /// Its corners.
    #[must_use]
    pub fn corners(&self) -> &[DVec3] {
        &self.corners[..self.count]
    }

    /// Twice its area as a vector along its normal.
    fn double_area(&self) -> DVec3 {
        let corners = self.corners();
        let fan = corners.windows(2).skip(1);
        fan.map(|edge| (edge[0] - corners[0]).cross(edge[1] - corners[0])).sum()
    }

    /// Square voxels.
    #[must_use]
    pub fn area(&self) -> f64 {
        0.5 * self.double_area().length()
    }

    /// Whether it is more than a point or a line.
    #[must_use]
    pub fn has_area(&self) -> bool {
        self.area() > LEAST_AREA
    }

    /// The point of its rim nearest to `p`.
    #[must_use]
    pub fn nearest_on_rim(&self, p: DVec3) -> DVec3 {
        let corners = self.corners();
        let mut best = (f64::INFINITY, p);
        for k in 0..corners.len() {
            let q = nearest_on_segment(p, corners[k], corners[(k + 1) % corners.len()]);
            let d = q.distance_squared(p);
            if d < best.0 {
                best = (d, q);
            }
        }
        best.1
    }
}
