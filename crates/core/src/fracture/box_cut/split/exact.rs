//! Which side? Every question about how the mesh lies in the Voronoi complex, answered exactly, and never with "on
//! it".
//!
//! In come whole numbers: mesh corners in fine units and the planes between sites. Out go signs and orders, always -1
//! or 1.
//!
//! **Ties.** The mesh is moved by an infinitely small e = (eps, eps^2, eps^3). Every question below is a polynomial
//! in e of first degree (shown at each), so its sign is that of the first word that is not zero: the value unmoved,
//! then the factors of eps, eps^2 and eps^3. All four are zero only where the question is not asked: the factor
//! vectors are normals of planes, cross products of planes that meet, or normals of triangles that are pierced. A
//! moved mesh has no corner on a plane, no edge through an edge of the complex and no triangle through a vertex of
//! it, so its pieces are those of the general case, whatever the mesh was; and all answers come from one and the same
//! moved mesh, so they never contradict each other.
//!
//! **Room.** Corners and sites lie within 2^15 units and a fine unit is 2^-7 units, so a distance (`FinePlane::at`)
//! is below 2^40.6, a `minor` below 2^82.2 and a determinant of three distances below 2^124.2 (Hadamard): all fit
//! i128. Places along an edge of the complex are fractions of 106 and 85 bits, and are compared through products of
//! 256.

use crate::fracture::box_cut::complex::Point;
use crate::geometry::exact::{dot, minus, wide};
use glam::DVec3;
use std::cmp::Ordering;

/// A unit has 2^7 fine units. With 8 a determinant of three distances would no longer fit 128 bits.
pub const FINE_BITS: u32 = 7;

/// A point in fine units.
pub type Fine = [i64; 3];

/// The half-space nearer to one site than to another: `normal . x <= limit`, fine units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinePlane {
    /// Outward.
    pub normal: [i64; 3],
    /// Of `normal . x`.
    pub limit: i64,
}

impl FinePlane {
    /// Outward from `own`: (b - a) . x <= (|b|^2 - |a|^2) / 2, with x in fine units.
    pub fn between(own: Point, other: Point) -> Self {
        let (a, b) = (own.map(i64::from), other.map(i64::from));
        Self { normal: minus(b, a), limit: (dot(b, b) - dot(a, a)) << (FINE_BITS - 1) }
    }

    /// The same plane seen from the other side.
    pub fn flipped(self) -> Self {
        Self { normal: self.normal.map(|n| -n), limit: -self.limit }
    }

    /// How far outside a point is, times the normal's length. Moving the mesh adds `normal . e`.
    pub fn at(&self, x: Fine) -> i64 {
        dot(self.normal, x) - self.limit
    }

    /// How deep inside a point is, units, rounded.
    pub fn depth(&self, point: DVec3) -> f64 {
        let normal = DVec3::from_array(self.normal.map(|n| n as f64));
        (self.limit as f64 / f64::from(1 << FINE_BITS) - normal.dot(point)) / normal.length()
    }

    /// Whether the moved point is outside.
    pub fn outside(&self, x: Fine) -> bool {
        first_sign(self.at(x), self.normal) > 0
    }
}

/// The sign of `value + factors . e`.
fn first_sign<N: Ord + Default + Copy>(value: N, factors: [N; 3]) -> i32 {
    let zero = N::default();
    for word in [value, factors[0], factors[1], factors[2]] {
        match word.cmp(&zero) {
            Ordering::Less => return -1,
            Ordering::Greater => return 1,
            Ordering::Equal => {}
        }
    }
    0
}

/// A plane with its distances at the three corners of a triangle.
#[derive(Clone, Copy, Debug)]
pub struct Distances {
    /// Of the plane.
    pub normal: [i64; 3],
    /// Of each corner.
    pub at: [i64; 3],
}

impl Distances {
    /// Measures a triangle.
    pub fn new(plane: &FinePlane, corners: &[Fine; 3]) -> Self {
        Self { normal: plane.normal, at: corners.map(|c| plane.at(c)) }
    }

    /// The sign at a corner.
    pub fn corner(&self, corner: usize) -> i32 {
        first_sign(self.at[corner], self.normal)
    }

    /// The sign where the edge from corner `i` to `j` crosses plane `s`.
    ///
    /// With distances s and r, the crossing is at i + (j - i) s_i / (s_i - s_j), where r is
    /// (s_i r_j - s_j r_i) / (s_i - s_j); the divisor's sign is that of s_i, as the corners are on two sides of s.
    pub fn on_edge(&self, i: usize, j: usize, s: &Self) -> i32 {
        let value = minor(s, self, i, j);
        let sign = match value.cmp(&0) {
            Ordering::Less => -1,
            Ordering::Greater => 1,
            Ordering::Equal => first_sign(0, minor_factors(s, self, i, j)),
        };
        sign * s.corner(i)
    }

    /// The sign where the triangle meets planes `s` and `q`.
    ///
    /// The barycentric weights there are the minors of s and q over their sum, so r is det[r, s, q] / det[1, s, q].
    /// Adding n . e to all of s adds n . e det[1, q, r] to the determinant and nothing else (rows that are multiples
    /// of 1 fall out), and so for q and r: it is of first degree in e.
    pub fn on_line(&self, s: &Self, q: &Self) -> i32 {
        let weights = minors(s, q);
        let value: i128 = (0..3).map(|i| i128::from(self.at[i]) * weights[i]).sum();
        let below: i128 = weights.iter().sum();
        let sign = match value.cmp(&0) {
            Ordering::Less => -1,
            Ordering::Greater => 1,
            Ordering::Equal => {
                let (by_s, by_q) =
                    (minors(q, self).iter().sum::<i128>(), minors(self, s).iter().sum::<i128>());
                let word = |k: usize| {
                    by_s * i128::from(s.normal[k])
                        + by_q * i128::from(q.normal[k])
                        + below * i128::from(self.normal[k])
                };
                first_sign(0, [word(0), word(1), word(2)])
            }
        };
        sign * below.signum() as i32
    }
}

/// s_i q_j - s_j q_i.
fn minor(s: &Distances, q: &Distances, i: usize, j: usize) -> i128 {
    i128::from(s.at[i]) * i128::from(q.at[j]) - i128::from(s.at[j]) * i128::from(q.at[i])
}

/// What moving the mesh adds to a minor: the squares cancel, as (n . e)(m . e) is in both products.
fn minor_factors(s: &Distances, q: &Distances, i: usize, j: usize) -> [i128; 3] {
    let (by_s, by_q) = (i128::from(s.at[i] - s.at[j]), i128::from(q.at[i] - q.at[j]));
    [0, 1, 2].map(|k| by_s * i128::from(q.normal[k]) - by_q * i128::from(s.normal[k]))
}

/// Of the edges opposite to the three corners: barycentric weights of where the triangle meets two planes, but for
/// their sum, which is (n x m) . (normal of the triangle) and does not change as the mesh moves.
pub fn minors(s: &Distances, q: &Distances) -> [i128; 3] {
    [minor(s, q, 1, 2), minor(s, q, 2, 0), minor(s, q, 0, 1)]
}

/// What moving the mesh by one fine unit along each axis adds to each of the minors.
pub fn minors_factors(s: &Distances, q: &Distances) -> [[i128; 3]; 3] {
    [minor_factors(s, q, 1, 2), minor_factors(s, q, 2, 0), minor_factors(s, q, 0, 1)]
}

/// Where a triangle pierces the line in which two planes meet, as a place along that line's greatest axis.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Value and factors of eps, eps^2, eps^3; all over `below`.
    above: [i128; 4],
    /// Above zero.
    below: i128,
}

impl Place {
    /// `axis` is one that the line is not square to. The coordinate x there is sum(x_i w_i) / sum(w_i) with the
    /// minors w; x_i move by e_axis and w_i by `minor_factors`, which add up to zero, so this too is of first degree
    /// in e.
    pub fn new(s: &Distances, q: &Distances, corners: &[Fine; 3], axis: usize) -> Self {
        let weights = minors(s, q);
        let below: i128 = weights.iter().sum();
        let mut above = [0; 4];
        for (i, (j, k)) in [(1, 2), (2, 0), (0, 1)].into_iter().enumerate() {
            let x = i128::from(corners[i][axis]);
            above[0] += x * weights[i];
            for (sum, factor) in above[1..].iter_mut().zip(minor_factors(s, q, j, k)) {
                *sum += x * factor;
            }
        }
        above[1 + axis] += below;
        if below < 0 { Self { above: above.map(|n| -n), below: -below } } else { Self { above, below } }
    }

    /// Equal only where two triangles overlap in one plane.
    pub fn order(&self, other: &Self) -> Ordering {
        (0..4)
            .map(|word| wide(self.above[word], other.below).cmp(&wide(other.above[word], self.below)))
            .find(|&order| order != Ordering::Equal)
            .unwrap_or(Ordering::Equal)
    }
}
