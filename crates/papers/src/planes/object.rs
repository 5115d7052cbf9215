//! The object: the planes of its triangles, merged where they coincide, and its corners.
//!
//! In: triangles in any order and winding, with any doubled, flat or coplanar ones among them. Out: [`Planes`], or why
//! they bound no convex solid. In the paper ("Plane representation") every triangle gives a plane, 12 for a cube; every
//! vertex then lies on more than three of them, and is found many times.
//!
//! All later work is done about the middle of the object and in a unit that is a power of two, in which its longest
//! side is 1/2 to 1: tolerances are shares of the size, and the change of units rounds nothing.
//!
//! # Triangles become planes: those that lie in one plane, whatever cut them up, give one
//!
//! In: triangles in units. Out: [`Planes`], with the triangles and the corners on each; or that the object is not
//! convex. Every point is compared with every plane: that is what convex means, and nothing less shows it where
//! triangles do not meet corner to corner.

use std::collections::BTreeSet;

use glam::DVec3;

use super::{
    FLAT, ShatterError,
    cell::Corners,
    polyhedron::{Polyhedron, first_within},
};
use crate::geometry::{Aabb, hull::fine_convex_hull};

/// A half-space `normal . x <= distance`; the normal has length 1 and points outward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Outward, of length 1.
    pub normal: DVec3,
    /// Of the plane from the origin, along the normal.
    pub distance: f64,
}

/// The planes of a convex object, each once, with the triangles that lie on them.
#[derive(Clone, Debug)]
pub struct Planes {
    /// About the middle, in units.
    pub(super) planes: Vec<Plane>,
    pub(super) sources: Vec<Vec<u32>>,
    /// Of the whole object, about the middle, in units.
    pub(super) corners: Corners,
    pub(super) frame: Frame,
    #[cfg(test)]
    pub(super) planted: super::planted::Planted,
}

/// Where the middle of the object is, and how long a unit is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) middle: DVec3,
    /// A power of two.
    pub(super) unit: f64,
}

impl Frame {
    fn of(triangles: &[[DVec3; 3]]) -> Result<Self, ShatterError> {
        let Aabb { low, high } = Aabb::of(triangles.iter().flatten().copied());
        let size = (high - low).max_element();
        // Volumes and moments of others would not fit into a number.
        if !(1e-50..1e50).contains(&size) {
            return Err(ShatterError::Flat);
        }
        let (_, exponent) = libm::frexp(size);
        Ok(Self { middle: low + (high - low) * 0.5, unit: libm::ldexp(1.0, exponent) })
    }

    pub(super) fn to_units(self, point: DVec3) -> DVec3 {
        (point - self.middle) / self.unit
    }

    pub(super) fn to_object(self, point: DVec3) -> DVec3 {
        point * self.unit + self.middle
    }
}

/// Of more faces the hull would take many seconds: each is held against every corner.
const MOST_FACES: usize = 16_384;

impl Planes {
    /// Of the solid that `triangles` bound, or of its convex hull. Their winding does not matter.
    ///
    /// # Errors
    /// [`ShatterError`] where they bound no convex solid, and no hull is asked for; where a number is not finite; and
    /// where there is no volume.
    pub fn new(triangles: &[[DVec3; 3]], hull: bool) -> Result<Self, ShatterError> {
        if let Some(triangle) = triangles.iter().position(|t| !t.iter().all(|p| p.is_finite())) {
            return Err(ShatterError::NotFinite { what: "triangle", index: triangle });
        }
        let frame = Frame::of(triangles)?;
        let units: Vec<[DVec3; 3]> = triangles.iter().map(|t| t.map(|p| frame.to_units(p))).collect();
        let surface = if hull { Some(hull_of(&units)?) } else { None };
        if let Some(faces) = surface.as_ref().map(Vec::len).filter(|faces| *faces > MOST_FACES) {
            return Err(ShatterError::TooFine { faces });
        }
        let mut first_error = None;
        for flat in FLAT {
            match Self::gathered(surface.as_deref().unwrap_or(&units), flat, frame) {
                Ok(mut planes) => {
                    if hull {
                        planes.sources = lying_on(&planes.planes, &units, flat);
                    }
                    return Ok(planes);
                }
                // A hull is convex to within the last digits only.
                Err(error @ ShatterError::NotConvex { .. }) if !hull => return Err(error),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or(ShatterError::Flat))
    }

    /// With `flat` as the tolerance.
    fn gathered(triangles: &[[DVec3; 3]], flat: f64, frame: Frame) -> Result<Self, ShatterError> {
        let mut planes = Gathering::new(triangles, flat).planes(frame)?;
        planes.leave_out_unused();
        let whole = Polyhedron::new(&planes.corners, |plane| planes.planes[plane as usize].normal);
        match whole {
            Some(whole) if whole.is_closed() => Ok(planes),
            _ => Err(ShatterError::NotClosed),
        }
    }

    /// How many planes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.planes.len()
    }

    /// Never: there are four planes or more.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.planes.is_empty()
    }

    /// One of the planes, in the object's own space.
    #[must_use]
    pub fn plane(&self, index: usize) -> Plane {
        let Plane { normal, distance } = self.planes[index];
        Plane { normal, distance: distance * self.frame.unit + normal.dot(self.frame.middle) }
    }

    /// The triangles that lie on a plane, ascending, as indices of those that were handed over; those without an area
    /// lie on none. Of a hull's plane they may cover a part only, or there may be none.
    #[must_use]
    pub fn sources(&self, plane: usize) -> &[u32] {
        &self.sources[plane]
    }

    /// Planes without a face: no three of the object's corners lie on them.
    fn leave_out_unused(&mut self) {
        let mut count = vec![0; self.planes.len()];
        (0..self.corners.len()).flat_map(|c| self.corners.planes_of(c)).for_each(|p| count[*p as usize] += 1);
        let mut number = 0;
        let numbers: Vec<Option<u32>> = count
            .iter()
            .map(|count| {
                let own = (*count >= 3).then_some(number);
                number += u32::from(own.is_some());
                own
            })
            .collect();
        let mut used = numbers.iter();
        self.planes.retain(|_| used.next().is_some_and(Option::is_some));
        let mut used = numbers.iter();
        self.sources.retain(|_| used.next().is_some_and(Option::is_some));
        let mut corners = Corners::default();
        for c in 0..self.corners.len() {
            let own = self.corners.planes_of(c).iter().filter_map(|p| numbers[*p as usize]);
            corners.push(self.corners.at[c], own);
        }
        self.corners = corners;
    }
}

/// Cells of a grid in a unit: no sum of products of differences of points rounds on it.
const CELLS: f64 = (1u64 << 40) as f64;

/// Triangles of the convex hull of points within the unit box about zero, as their numbers; `None` where all lie in a plane.
pub(super) fn hull_of_points(points: &[DVec3]) -> Option<Vec<[u32; 3]>> {
    let on_grid = |p: &DVec3| p.to_array().map(|v| (v * CELLS).round() as i128);
    fine_convex_hull(&points.iter().map(on_grid).collect::<Vec<_>>())
}

/// The triangles of the convex hull.
fn hull_of(triangles: &[[DVec3; 3]]) -> Result<Vec<[DVec3; 3]>, ShatterError> {
    let mut points: Vec<DVec3> = triangles.iter().flatten().copied().collect();
    // A mesh's triangles have each point about six times.
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z)));
    points.dedup();
    let hull = hull_of_points(&points).ok_or(ShatterError::Flat)?;
    Ok(hull.iter().map(|t| t.map(|p| points[p as usize])).collect())
}

/// For each plane of a hull the triangles that lie on it.
fn lying_on(planes: &[Plane], triangles: &[[DVec3; 3]], flat: f64) -> Vec<Vec<u32>> {
    use rayon::prelude::*;
    let lies_on = |plane: &Plane, t: &[DVec3; 3]| {
        t.iter().all(|p| (plane.normal.dot(*p) - plane.distance).abs() <= 2.0 * flat) && height(t) > 0.0
    };
    let of_plane = |plane: &Plane| -> Vec<u32> {
        (0u32..).zip(triangles).filter(|(_, t)| lies_on(plane, t)).map(|(i, _)| i).collect()
    };
    planes.par_iter().map(of_plane).collect()
}

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
