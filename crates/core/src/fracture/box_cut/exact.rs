//! On which side of a plane a vertex lies, exactly (Chlubna sec. 3, listing 2, which does it with rounded numbers).
//!
//! In: the planes of a cell in whole numbers; a vertex is named by three of them. Out: its homogeneous coordinates, its
//! rounded position with a bound of the error, and the side of a plane that it lies on.
//!
//! A cell has coordinates of its own, `y = 2 (x - site)`: the bisector with another site is then `n . y <= n . n` for
//! `n = other - site`, without a fraction and one bit shorter than in units. With sites and box within
//! [`REACH`](super::complex::REACH) = 2^15 that gives (bits without the sign)
//!
//! ```text
//! n 16   n . n 34   n x m 33   denominator (of three n) 51   numerators 69   side test 87
//! ```
//!
//! Everything up to the denominator fits the 53 bits of an `f64`, so planes are held in `f64` without being rounded.
//! Numerators and side tests take `i128`, or 96 bits in three words on a GPU.

use glam::DVec3;

use super::complex::{Beyond, Point};
use crate::geometry::exact::{Homogeneous, Plane};

/// A half-space `normal . y <= limit` that bounds a cell, in the coordinates of the cell: `y = 2 (x - site)`. All four
/// are whole numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellPlane {
    /// Points out of the cell; not of unit length.
    pub normal: DVec3,
    /// See the type.
    pub limit: f64,
    /// What lies on the other side.
    pub beyond: Beyond,
}

impl CellPlane {
    /// Between `site` and `other`, which has the index `index`.
    #[must_use]
    pub fn bisector(site: Point, other: Point, index: u32) -> Self {
        let normal = DVec3::from_array(std::array::from_fn(|k| f64::from(other[k] - site[k])));
        Self { normal, limit: normal.length_squared(), beyond: Beyond::Site(index) }
    }

    /// The wall `number` (as in [`Beyond::Wall`]) of the box from `low` to `high`, for the cell of `site`.
    #[must_use]
    pub fn wall(site: Point, low: Point, high: Point, number: u8) -> Self {
        let axis = usize::from(number / 2);
        let (sign, corner) = if number % 2 == 1 { (1, high) } else { (-1, low) };
        let mut normal = DVec3::ZERO;
        normal[axis] = f64::from(sign);
        let limit = f64::from(2 * sign * (corner[axis] - site[axis]));
        Self { normal, limit, beyond: Beyond::Wall(number) }
    }

    /// The same in whole numbers.
    #[must_use]
    pub fn whole(&self) -> Plane {
        let normal = self.normal.to_array().map(|v| v as i64);
        Plane { normal, limit: i128::from(self.limit as i64) }
    }
}

/// Exactly where three planes meet, in the coordinates of their cell: numerators have at most 69 bits, the denominator 51.
/// Their normals must be independent.
#[must_use]
pub fn meeting(planes: [&CellPlane; 3]) -> Homogeneous {
    Homogeneous::of(planes.map(CellPlane::whole))
}

/// A vertex in rounded numbers, with what the rounding may have done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rounded {
    /// In the coordinates of the cell. Each coordinate is off by at most `4.1 u size`, where `u` is 2^-53.
    pub position: DVec3,
    /// The largest of the sums that the coordinates come from, if nothing in them cancelled.
    pub size: f64,
}

impl Rounded {
    /// Where three planes meet; as [`meeting`], but rounded.
    ///
    /// Crosses and the denominator are whole numbers below 2^53, so exact. A numerator is a sum of three rounded
    /// products: off by at most `3.01 u` times the sum of their magnitudes; the division adds `u`.
    pub fn of(planes: [&CellPlane; 3]) -> Self {
        let [a, b, c] = planes.map(|p| p.normal);
        let [da, db, dc] = planes.map(|p| p.limit);
        let (bc, ca, ab) = (b.cross(c), c.cross(a), a.cross(b));
        let scale = a.dot(bc);
        let sizes = da.abs() * bc.abs() + db.abs() * ca.abs() + dc.abs() * ab.abs();
        Self { position: (da * bc + db * ca + dc * ab) / scale, size: sizes.max_element() / scale.abs() }
    }
}

impl Rounded {
    /// On which side of `plane` it lies, as [`Homogeneous::side`]; nothing where rounding might have changed it.
    ///
    /// The value below is off by at most `4.1 u size |normal|_1` for the position and by
    /// `4.01 u (size |normal|_1 + |limit|)` for its own four roundings, together less than `8.2 u`. `DOUBT` is `16 u`:
    /// the rest pays for rounding the bound itself.
    #[inline]
    pub fn side(&self, plane: &CellPlane) -> Option<i8> {
        let value = plane.normal.dot(self.position) - plane.limit;
        let doubt = Self::doubt(plane, self.size);
        (value.abs() > doubt).then_some(if value > 0.0 { 1 } else { -1 })
    }

    /// Vertices up to this `size` are inside of `plane` if their `normal . y - limit`, as [`Rounded::side`] computes
    /// it, is below this.
    #[inline]
    pub fn largest_surely_inside(plane: &CellPlane, size: f64) -> f64 {
        -Self::doubt(plane, size)
    }

    #[inline]
    fn doubt(plane: &CellPlane, size: f64) -> f64 {
        const DOUBT: f64 = 8.0 * f64::EPSILON;
        DOUBT * (plane.normal.abs().element_sum() * size + plane.limit.abs())
    }

    /// An upper bound of the squared distance from the site.
    ///
    /// The error of the position is below `b = 8 u size`, and `(a + b)^2 <= a^2 (1 + t) + b^2 (1 + 1/t)` for any `t`;
    /// with `t = 2^-20` no root has to be drawn. A vertex of nearly parallel planes may be far off; its bound is then
    /// large, and costs neighbours that are tested in vain.
    pub fn reach_squared(&self) -> f64 {
        const T: f64 = 1.0 / (1 << 20) as f64;
        let error = 4.0 * f64::EPSILON * self.size;
        self.position.length_squared() * (1.0 + 2.0 * T) + error * error * (2.0 / T)
    }

    /// Whether the position is good to a millionth of a unit or better.
    pub fn is_precise(&self) -> bool {
        self.size * 4.0 * f64::EPSILON < 1e-6
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;

    /// Three bisectors and a fourth, sometimes through the point where the three meet.
    fn planes(random: &mut Random, span: i32) -> [CellPlane; 4] {
        let mut other = || CellPlane::bisector([0; 3], random.point([-span; 3], [span; 3]), 1);
        [other(), other(), other(), other()]
    }

    #[test]
    fn the_float_filter_never_contradicts_the_exact_side() {
        let mut random = Random::new(3);
        let (mut decided, mut left) = (0, 0);
        for round in 0..200_000 {
            let span = [3, 40, 1000, 1 << 16][round % 4];
            let [a, b, c, mut d] = planes(&mut random, span);
            let three = [&a, &b, &c];
            if a.normal.dot(b.normal.cross(c.normal)) == 0.0 {
                continue;
            }
            if round % 3 == 0 {
                // A wall of the box close to the vertex: the hard case.
                let at = Rounded::of(three).position.x.round().clamp(-131_072.0, 131_072.0);
                d = CellPlane { normal: DVec3::X, limit: at, beyond: Beyond::Wall(1) };
            }
            let rounded = Rounded::of(three);
            let exact = meeting(three);
            if let Some(side) = rounded.side(&d) {
                decided += 1;
                assert_eq!(exact.side(d.whole()), side, "{a:?} {b:?} {c:?} {d:?}");
            } else {
                left += 1;
            }
            assert!(exact.denominator > 0);
            assert!(exact.position().length_squared() <= rounded.reach_squared());
        }
        assert!(decided > 150_000 && left > 1000, "{decided} decided, {left} left");
    }

    #[test]
    fn the_widest_numbers_fit() {
        let far = 1 << 15;
        let corner = [-far; 3];
        let planes =
            [[far, far, -far], [far, -far, far], [-far, far, far]].map(|o| CellPlane::bisector(corner, o, 0));
        let vertex = meeting(planes.each_ref());
        let last = CellPlane::bisector(corner, [far; 3], 1);
        // The middle of the cube, from a corner of it: the last plane goes through it.
        assert_eq!(vertex.position(), DVec3::splat(f64::from(2 * far)));
        assert_eq!(vertex.side(last.whole()), 0);
        let worst: i128 = (0..3).map(|k| (last.normal[k] as i128 * vertex.numerator[k]).abs()).sum();
        assert!(worst < 1 << 87 && vertex.denominator < 1 << 51);
    }
}
