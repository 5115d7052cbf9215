//! Triangles become planes: those that lie in one plane, whatever cut them up, give one.
//!
//! In: triangles in units. Out: [`Planes`], with the triangles and the corners on each; or that the object is not
//! convex. Every point is compared with every plane: that is what convex means, and nothing less shows it where
//! triangles do not meet corner to corner.

use super::{Plane, Planes, ShatterError, cell::Corners, object::Frame, weld::first_within};
use glam::DVec3;
use std::collections::BTreeSet;

/// A triangle of less than this share of the size has no plane.
const LEAST_HEIGHT: f64 = 1e-7;

/// Of a triangle over its longest side; 0 where it is a line, to within rounding.
pub(super) fn height([a, b, c]: &[DVec3; 3]) -> f64 {
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared()).sqrt();
    let height = (b - a).cross(c - a).length() / longest;
    if height > LEAST_HEIGHT { height } else { 0.0 }
}

/// Triangles on their way to planes.
pub(super) struct Gathering {
    points: Vec<DVec3>,
    /// As indices of points; those without an area are left out. The last number is which it was.
    triangles: Vec<([u32; 3], u32)>,
    /// Which triangles have a point.
    triangles_of: Vec<Vec<u32>>,
    /// Strictly inside, where there is an inside.
    inside: DVec3,
    flat: f64,
}

impl Gathering {
    /// Points nearer than `flat` to each other, or to a plane, are one, or on it.
    pub(super) fn new(triangles: &[[DVec3; 3]], flat: f64) -> Self {
        let all: Vec<DVec3> = triangles.iter().flatten().copied().collect();
        let firsts = first_within(&all, flat);
        let mut number = vec![u32::MAX; all.len()];
        let (mut points, mut kept) = (Vec::new(), Vec::new());
        for (index, first) in firsts.chunks_exact(3).enumerate() {
            let corners = [first[0], first[1], first[2]];
            if height(&corners.map(|p| all[p as usize])) == 0.0 {
                continue;
            }
            let numbered = corners.map(|p| {
                if number[p as usize] == u32::MAX {
                    number[p as usize] = points.len() as u32;
                    points.push(all[p as usize]);
                }
                number[p as usize]
            });
            kept.push((numbered, index as u32));
        }
        let inside = points.iter().sum::<DVec3>() / (points.len().max(1) as f64);
        let mut triangles_of = vec![Vec::new(); points.len()];
        for (k, (triangle, _)) in (0u32..).zip(&kept) {
            triangle.iter().for_each(|p| triangles_of[*p as usize].push(k));
        }
        Self { points, triangles: kept, triangles_of, inside, flat }
    }

    fn at(&self, triangle: [u32; 3]) -> [DVec3; 3] {
        triangle.map(|p| self.points[p as usize])
    }

    /// Every plane takes all triangles that lie on it, so that none is made twice.
    pub(super) fn planes(self, frame: Frame) -> Result<Planes, ShatterError> {
        let mut biggest: Vec<usize> = (0..self.triangles.len()).collect();
        let area = |k: usize| {
            let [a, b, c] = self.at(self.triangles[k].0);
            (b - a).cross(c - a).length_squared()
        };
        // Biggest first: their planes are the surest.
        let areas: Vec<f64> = biggest.iter().map(|k| area(*k)).collect();
        biggest.sort_by(|a, b| areas[*b].total_cmp(&areas[*a]).then(a.cmp(b)));
        let mut taken = vec![false; self.triangles.len()];
        let mut on_plane = vec![false; self.points.len()];
        let mut planes_of = vec![Vec::new(); self.points.len()];
        let (mut planes, mut sources) = (Vec::new(), Vec::new());
        let mut heights = Vec::with_capacity(self.points.len());
        for k in biggest {
            if taken[k] {
                continue;
            }
            let (plane, on) = self.plane_of(k, frame, &mut heights)?;
            if on.len() == self.points.len() {
                return Err(ShatterError::Flat);
            }
            on.iter().for_each(|p| on_plane[*p as usize] = true);
            taken[k] = true;
            let mut own = vec![self.triangles[k].1];
            for other in on.iter().flat_map(|p| &self.triangles_of[*p as usize]) {
                let (triangle, index) = &self.triangles[*other as usize];
                if !taken[*other as usize] && triangle.iter().all(|p| on_plane[*p as usize]) {
                    taken[*other as usize] = true;
                    own.push(*index);
                }
            }
            own.sort_unstable();
            for p in on {
                on_plane[p as usize] = false;
                planes_of[p as usize].push(planes.len() as u32);
            }
            planes.push(plane);
            sources.push(own);
        }
        let mut corners = Corners::default();
        for (point, planes) in self.points.iter().zip(&planes_of).filter(|(_, planes)| planes.len() >= 3) {
            corners.push(*point, planes.iter().copied());
        }
        #[cfg(test)]
        return Ok(Planes { planes, sources, corners, frame, planted: Default::default() });
        #[cfg(not(test))]
        Ok(Planes { planes, sources, corners, frame })
    }

    /// The plane of a triangle, and all points on it.
    fn plane_of(
        &self,
        triangle: usize,
        frame: Frame,
        heights: &mut Vec<f64>,
    ) -> Result<(Plane, Vec<u32>), ShatterError> {
        let (corners, index) = self.triangles[triangle];
        let corners = self.at(corners);
        let own = self.outward(corners)?;
        let wide = self.outward(self.widest(&self.around(triangle, &own), corners))?;
        let mut out = 0.0;
        // The wide one is surer, unless what lies about the triangle is all but flat: then it can cut through it.
        for mut plane in [wide, own] {
            heights.clear();
            heights.extend(self.points.iter().map(|p| plane.normal.dot(*p) - plane.distance));
            out = heights.iter().copied().fold(0.0, f64::max);
            if out <= self.flat {
                // So that all of the object is inside.
                plane.distance += out;
                let is_on = |height: f64| height >= out - 2.0 * self.flat;
                let on = (0u32..).zip(&*heights).filter(|(_, h)| is_on(**h)).map(|(p, _)| p).collect();
                return Ok((plane, on));
            }
        }
        let point = heights.iter().position(|h| *h == out).unwrap_or_default();
        let vertex = frame.to_object(self.points[point]);
        Err(ShatterError::NotConvex { vertex, outside: out * frame.unit, triangle: index as usize })
    }

    /// The points about a triangle that lie in its plane, as far as its own rounding (that of a mesh in single
    /// precision) lets one tell: that tilts the plane, the more so the smaller the triangle is.
    fn around(&self, triangle: usize, plane: &Plane) -> Vec<u32> {
        let corners = self.at(self.triangles[triangle].0);
        let tilt = 0.25 * self.flat / height(&corners);
        let is_on = |p: &u32| {
            let point = self.points[*p as usize];
            (plane.normal.dot(point) - plane.distance).abs() <= self.flat + tilt * point.distance(corners[0])
        };
        let mut on = self.triangles[triangle].0.to_vec();
        let mut seen: BTreeSet<u32> = on.iter().copied().collect();
        let mut next = 0;
        while next < on.len() {
            for k in &self.triangles_of[on[next] as usize] {
                let others = self.triangles[*k as usize].0;
                if others.iter().all(is_on) {
                    on.extend(others.into_iter().filter(|p| seen.insert(*p)));
                }
            }
            next += 1;
        }
        on
    }

    /// Three points of `on`, as far apart as can be found in one go, for a plane that no rounding tilts.
    fn widest(&self, on: &[u32], [a, b, c]: [DVec3; 3]) -> [DVec3; 3] {
        let points = || on.iter().map(|p| self.points[*p as usize]);
        let farthest = |far: &dyn Fn(DVec3) -> f64, least: DVec3| {
            points().fold(least, |best, p| if far(p) > far(best) { p } else { best })
        };
        let first = farthest(&|p| p.distance_squared(a), a);
        let second = farthest(&|p| p.distance_squared(first), b);
        let along = second - first;
        let third = farthest(&|p| along.cross(p - first).length_squared(), c);
        [first, second, third]
    }

    /// The plane through three points, with the object behind it.
    fn outward(&self, [a, b, c]: [DVec3; 3]) -> Result<Plane, ShatterError> {
        let Some(normal) = (b - a).cross(c - a).try_normalize() else {
            return Err(ShatterError::Flat);
        };
        let normal = if normal.dot(self.inside - a) > 0.0 { -normal } else { normal };
        Ok(Plane { normal, distance: normal.dot(a) })
    }
}
