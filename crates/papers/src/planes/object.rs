//! The object: the planes of its triangles, merged where they coincide, and its corners.
//!
//! In: triangles in any order and winding, with any doubled, flat or coplanar ones among them. Out: [`Planes`], or why
//! they bound no convex solid. In the paper ("Plane representation") every triangle gives a plane, 12 for a cube; every
//! vertex then lies on more than three of them, and is found many times.
//!
//! All later work is done about the middle of the object and in a unit that is a power of two, in which its longest
//! side is 1/2 to 1: tolerances are shares of the size, and the change of units rounds nothing.

use super::{
    FLAT, ShatterError,
    cell::Corners,
    gather::{Gathering, height},
    polyhedron::Polyhedron,
};
use crate::geometry::Aabb;
use crate::geometry::hull::fine_convex_hull;
use glam::DVec3;

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
