//! Predicates that are never wrong about a sign, on points in whole numbers.
//!
//! In: points in [`UNIT_BITS`] bits a grid side. Out: on which side of a plane a point is. A filter in floats
//! decides nearly all; 128-bit integers the rest.

/// A point in whole units: 2^39 a grid side, at most half a side outside the grid, so that a determinant of
/// differences fits 128 bits.
pub type Point = [i64; 3];

/// log2 of the units of a grid side.
pub const UNIT_BITS: u32 = 39;

/// Six times the signed volume of the tetrahedron (a, b, c, d): positive where d is in front of the triangle,
/// which is counter-clockwise seen from there. The sign is exact, the size approximate.
#[must_use]
pub fn orient(a: Point, b: Point, c: Point, d: Point) -> f64 {
    let from_a = |p: Point| [p[0] - a[0], p[1] - a[1], p[2] - a[2]];
    let (u, v, w) = (from_a(b), from_a(c), from_a(d));
    let (x, y, z) = (u.map(|k| k as f64), v.map(|k| k as f64), w.map(|k| k as f64));
    let minors = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| (x[i] * y[j], x[j] * y[i]));
    let value: f64 = (0..3).map(|k| (minors[k].0 - minors[k].1) * z[k]).sum();
    let size: f64 = (0..3).map(|k| (minors[k].0.abs() + minors[k].1.abs()) * z[k].abs()).sum();
    // Differences are exact, so four roundings a term and two of the sum are all there is.
    if value.abs() > size * 1.0e-15 {
        return value;
    }
    let (u, v, w) = (u.map(i128::from), v.map(i128::from), w.map(i128::from));
    let exact = (u[1] * v[2] - u[2] * v[1]) * w[0]
        + (u[2] * v[0] - u[0] * v[2]) * w[1]
        + (u[0] * v[1] - u[1] * v[0]) * w[2];
    exact as f64
}

/// Where a segment meets a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Share of the way from the segment's first end.
    pub at: f64,
    /// Whether it goes from behind the triangle to its front.
    pub to_front: bool,
}

/// A sign that a predicate could not tell: four points in one plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InOnePlane;

/// Whether the segment p-q passes through the triangle; a triangle without area is met by nothing.
///
/// # Errors
/// [`InOnePlane`] where an end of the segment or a side of the triangle is in line with the other.
pub fn crossing(p: Point, q: Point, t: [Point; 3]) -> Result<Option<Crossing>, InOnePlane> {
    let [a, b, c] = t;
    let (first, last) = (orient(a, b, c, p), orient(a, b, c, q));
    if first == 0.0 || last == 0.0 {
        return if without_area(t) { Ok(None) } else { Err(InOnePlane) };
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

fn without_area([a, b, c]: [Point; 3]) -> bool {
    let (u, v) = ([0, 1, 2].map(|k| i128::from(b[k] - a[k])), [0, 1, 2].map(|k| i128::from(c[k] - a[k])));
    [(1, 2), (2, 0), (0, 1)].iter().all(|&(i, j)| u[i] * v[j] == u[j] * v[i])
}
