//! Exact predicates on points and planes in whole numbers.
//!
//! In: whole coordinates. Out: signs, orders and positions without rounding. Functions with a floating-point filter
//! mention it.

use glam::DVec3;
use std::ops::{Add, Mul, Sub};

/// Whole numbers as components of vectors. The caller must choose a type that is wide enough.
pub trait Whole: Copy + Ord + Default + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {}
impl Whole for i64 {}
impl Whole for i128 {}

/// The vector from `b` to `a`.
pub fn minus<N: Whole>(a: [N; 3], b: [N; 3]) -> [N; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The cross product.
pub fn cross<N: Whole>(a: [N; 3], b: [N; 3]) -> [N; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The dot product.
pub fn dot<N: Whole>(a: [N; 3], b: [N; 3]) -> N {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The half-space `normal . x <= limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    /// Outward; differences of coordinates, at most 20 bits.
    pub normal: [i64; 3],
    /// Bound of `normal . x`; at most 60 bits.
    pub limit: i128,
}

/// The point `numerator / denominator`, not reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Homogeneous {
    /// The coordinates, times the denominator.
    pub numerator: [i128; 3],
    /// Above zero.
    pub denominator: i64,
}

impl Homogeneous {
    /// The intersection of three planes, by Cramer's rule. Their normals must be independent.
    #[must_use]
    pub fn of(planes: [Plane; 3]) -> Self {
        let [a, b, c] = planes.map(|p| p.normal);
        let [da, db, dc] = planes.map(|p| p.limit);
        let (bc, ca, ab) = (cross(b, c), cross(c, a), cross(a, b));
        let denominator = dot(a, bc);
        let sign = denominator.signum();
        let numerator = [0, 1, 2].map(|k| {
            let sum = da * i128::from(bc[k]) + db * i128::from(ca[k]) + dc * i128::from(ab[k]);
            i128::from(sign) * sum
        });
        Self { numerator, denominator: sign * denominator }
    }

    /// -1 inside of `plane`, 0 on it, 1 outside.
    #[must_use]
    pub fn side(&self, plane: Plane) -> i8 {
        let value =
            dot(plane.normal.map(i128::from), self.numerator) - plane.limit * i128::from(self.denominator);
        value.signum() as i8
    }

    /// The rounded position.
    #[must_use]
    pub fn position(&self) -> DVec3 {
        DVec3::from_array(self.numerator.map(|n| n as f64 / self.denominator as f64))
    }
}

/// a * b in 256 bits, two's complement: high and low words, which compare as numbers do.
#[must_use]
pub fn wide(a: i128, b: i128) -> (i128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (x, y) = (a.unsigned_abs(), b.unsigned_abs());
    let (x1, x0, y1, y0) = (x >> 64, x & LOW, y >> 64, y & LOW);
    let (low, middle, other) = (x0 * y0, x1 * y0, x0 * y1);
    let carry = (low >> 64) + (middle & LOW) + (other & LOW);
    let high = x1 * y1 + (middle >> 64) + (other >> 64) + (carry >> 64);
    let low = (low & LOW) | (carry << 64);
    if (a < 0) != (b < 0) && (high, low) != (0, 0) {
        let low = low.wrapping_neg();
        (if low == 0 { (!high).wrapping_add(1) } else { !high } as i128, low)
    } else {
        (high as i128, low)
    }
}

/// Six times the signed volume of the tetrahedron (a, b, c, d): positive if d is in front of the triangle, which is
/// counter-clockwise seen from there. The sign is exact, the size approximate. Differences have at most 41 bits, so
/// that a determinant of them fits 128; a filter in floats decides nearly all.
#[must_use]
pub fn orient(a: [i64; 3], b: [i64; 3], c: [i64; 3], d: [i64; 3]) -> f64 {
    let (u, v, w) = (minus(b, a), minus(c, a), minus(d, a));
    let (x, y, z) = (u.map(|k| k as f64), v.map(|k| k as f64), w.map(|k| k as f64));
    let minors = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| (x[i] * y[j], x[j] * y[i]));
    let value: f64 = (0..3).map(|k| (minors[k].0 - minors[k].1) * z[k]).sum();
    let size: f64 = (0..3).map(|k| (minors[k].0.abs() + minors[k].1.abs()) * z[k].abs()).sum();
    // Differences are exact, so the only errors are four roundings per term and two of the sum.
    if value.abs() > size * 1.0e-15 {
        return value;
    }
    dot(cross(u.map(i128::from), v.map(i128::from)), w.map(i128::from)) as f64
}

/// Intersection of a segment and a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Position as a share of the segment.
    pub at: f64,
    /// Whether the segment goes from the triangle's back to its front.
    pub to_front: bool,
}

/// A predicate without a sign: four points in one plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InOnePlane;

/// Whether the segment p-q passes through the triangle; never true for a triangle without area.
///
/// # Errors
/// [`InOnePlane`] if an end of the segment or a side of the triangle is in line with the other.
pub fn crossing(p: [i64; 3], q: [i64; 3], triangle: [[i64; 3]; 3]) -> Result<Option<Crossing>, InOnePlane> {
    let [a, b, c] = triangle;
    let (first, last) = (orient(a, b, c, p), orient(a, b, c, q));
    if first == 0.0 || last == 0.0 {
        let has_area = cross(minus(b, a).map(i128::from), minus(c, a).map(i128::from)) != [0; 3];
        return if has_area { Err(InOnePlane) } else { Ok(None) };
    }
    if (first > 0.0) == (last > 0.0) {
        return Ok(None);
    }
    let sides = [orient(p, q, a, b), orient(p, q, b, c), orient(p, q, c, a)];
    if sides.iter().any(|s| *s > 0.0) && sides.iter().any(|s| *s < 0.0) {
        return Ok(None);
    }
    if sides.contains(&0.0) {
        return if p == q { Ok(None) } else { Err(InOnePlane) };
    }
    Ok(Some(Crossing { at: first.abs() / (first.abs() + last.abs()), to_front: last > 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 ^ self.0 >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ self.0 >> 32
        }
        /// Coordinates up to `reach`.
        fn point(&mut self, reach: i64) -> [i64; 3] {
            [0; 3].map(|_| (self.next() % (2 * reach + 1) as u64) as i64 - reach)
        }
    }

    #[test]
    fn wide_products() {
        let mut random = Random(3);
        for _ in 0..10_000 {
            let (a, b) = (random.next() as i64 as i128, random.next() as i64 as i128);
            let product = a * b;
            assert_eq!(wide(a, b), (product >> 127, product as u128));
            // (a 2^64) * (b 2^64) = (a b) 2^128.
            let (c, d) = (a >> 2 << 64, b >> 2 << 64);
            assert_eq!(wide(c, d), ((a >> 2) * (b >> 2), 0));
        }
        assert_eq!(wide(i128::MAX, -1), (-1, (-i128::MAX) as u128));
        assert_eq!(wide(0, -5), (0, 0));
    }

    #[test]
    fn three_planes_meet_where_all_of_them_are() {
        let mut random = Random(7);
        let mut met = 0;
        for round in 0..20_000 {
            let reach = [2, 50, 1 << 14][round % 3];
            let mut plane =
                || Plane { normal: random.point(reach), limit: i128::from(random.point(1 << 40)[0]) };
            let planes = [plane(), plane(), plane()];
            let other = plane();
            let [a, b, c] = planes.map(|p| p.normal.map(i128::from));
            if dot(a, cross(b, c)) == 0 {
                continue;
            }
            let point = Homogeneous::of(planes);
            met += 1;
            assert!(point.denominator > 0 && planes.iter().all(|p| point.side(*p) == 0));
            let value = dot(other.normal.map(i128::from), point.numerator) as f64 / point.denominator as f64;
            let beyond = value - other.limit as f64;
            if beyond.abs() > 1e-9 * (value.abs() + other.limit.unsigned_abs() as f64) {
                assert_eq!(f64::from(point.side(other)), beyond.signum());
            }
        }
        assert!(met > 15_000);
    }

    /// The determinant, expanded along its last row.
    fn determinant([u, v, w]: [[i128; 3]; 3]) -> i128 {
        w[0] * (u[1] * v[2] - u[2] * v[1]) - w[1] * (u[0] * v[2] - u[2] * v[0])
            + w[2] * (u[0] * v[1] - u[1] * v[0])
    }

    #[test]
    fn sides_of_a_triangle_are_those_of_the_determinant() {
        let mut random = Random(11);
        let mut in_plane = 0;
        for round in 0..100_000 {
            let reach = [2, 1000, 1 << 39][round % 3];
            let [a, b, c, mut d] = [0; 4].map(|_| random.point(reach));
            if round % 2 == 0 {
                // As near to the plane as whole numbers go.
                d = [0, 1, 2].map(|k| (a[k] + b[k]) / 2);
            }
            let rows = [b, c, d].map(|p| minus(p, a).map(i128::from));
            let exact = determinant(rows);
            let found = orient(a, b, c, d);
            assert_eq!(found.partial_cmp(&0.0), Some(exact.cmp(&0)), "{a:?} {b:?} {c:?} {d:?}");
            in_plane += usize::from(exact == 0);
        }
        assert!(in_plane > 1000);
    }

    #[test]
    fn a_segment_crosses_a_triangle_where_fractions_say_so() {
        let mut random = Random(13);
        let (mut crossed, mut passed, mut refused) = (0, 0, 0);
        for _ in 0..50_000 {
            let [a, b, c, p, q] = [0; 5].map(|_| random.point(6));
            let normal = cross(minus(b, a), minus(c, a));
            let (first, last) = (dot(normal, minus(p, a)), dot(normal, minus(q, a)));
            match crossing(p, q, [a, b, c]) {
                Err(InOnePlane) => refused += 1,
                Ok(None) => passed += 1,
                Ok(Some(found)) => {
                    crossed += 1;
                    assert_eq!((first < 0, last > 0), (found.to_front, found.to_front));
                    assert!((found.at - first as f64 / (first - last) as f64).abs() < 1e-12);
                    // The place, times first - last, is on the inner side of all three edges.
                    let place = [0, 1, 2].map(|k| p[k] * (first - last) + (q[k] - p[k]) * first);
                    for (from, to) in [(a, b), (b, c), (c, a)] {
                        let along = minus(place, from.map(|v| v * (first - last)));
                        let inner = dot(normal, cross(minus(to, from), along));
                        assert_eq!(inner.signum(), (first - last).signum());
                    }
                }
            }
        }
        assert!(crossed > 2000 && passed > 10_000 && refused > 1000, "{crossed} {passed} {refused}");
    }
}
