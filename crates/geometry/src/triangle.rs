//! The point of a segment or triangle nearest to another point, its distance, and how often triangles go round a point.
//!
//! In: points and corners. Out: one distance in three variants with different rounding: [`distance`] in lengths,
//! [`distance_squared`] in squares and with slivers reduced to their edges, [`nearest`] with the part of the triangle;
//! [`winding_number`].

use glam::DVec3;

/// The point of the segment from `a` to `b` nearest to `p`.
#[must_use]
pub fn nearest_on_segment(p: DVec3, a: DVec3, b: DVec3) -> DVec3 {
    let along = b - a;
    let t = (p - a).dot(along) / along.length_squared().max(f64::MIN_POSITIVE);
    a + along * t.clamp(0.0, 1.0)
}

fn edges([a, b, c]: [DVec3; 3]) -> [(DVec3, DVec3); 3] {
    [(a, b), (b, c), (c, a)]
}

/// Generalised winding number of `point`: the solid angle of all triangles over 4 pi (Jacobson and others
/// 2013, ACM Transactions on Graphics 32; the solid angle of one is van Oosterom and Strackee's). Of a closed surface
/// it is 1 inside, 0 outside, up to rounding.
pub fn winding_number(triangles: impl Iterator<Item = [DVec3; 3]>, point: DVec3) -> f64 {
    let angle = |corners: [DVec3; 3]| {
        let [a, b, c] = corners.map(|p| p - point);
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        2.0 * libm::atan2(a.dot(b.cross(c)), below)
    };
    triangles.map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
}

/// Distance of a point from a triangle: from its plane if the foot lies inside, else from the nearest edge.
#[must_use]
pub fn distance(p: DVec3, corners: [DVec3; 3]) -> f64 {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    let inside = |(from, to): (DVec3, DVec3)| normal.cross(to - from).dot(p - from) >= 0.0;
    if normal.length_squared() > 0.0 && edges(corners).into_iter().all(inside) {
        return normal.dot(p - a).abs() / normal.length();
    }
    let to_edge = |(from, to)| p.distance(nearest_on_segment(p, from, to));
    edges(corners).into_iter().map(to_edge).fold(f64::INFINITY, f64::min)
}

/// Squared distance of a point from a triangle: the smallest of those from its plane, if the foot lies inside, and from
/// its edges.
#[must_use]
pub fn distance_squared(p: DVec3, corners: [DVec3; 3]) -> f64 {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    // The normal of a sliver is only rounding; its edges represent it.
    let longest = edges(corners).iter().map(|(from, to)| (*to - *from).length_squared()).fold(0.0, f64::max);
    let inside = |(from, to): (DVec3, DVec3)| (to - from).cross(p - from).dot(normal) >= 0.0;
    if normal.length_squared() > 1e-20 * longest * longest && edges(corners).into_iter().all(inside) {
        let height = (p - a).dot(normal);
        return height * height / normal.length_squared();
    }
    let to_edge = |(from, to)| p.distance_squared(nearest_on_segment(p, from, to));
    edges(corners).into_iter().map(to_edge).fold(f64::INFINITY, f64::min)
}

/// Barycentric coordinates of a point of a triangle; of the first corner, if it has no area.
#[must_use]
pub fn shares([a, b, c]: [DVec3; 3], p: DVec3) -> [f64; 3] {
    let normal = (b - a).cross(c - a);
    let of = |u: DVec3, v: DVec3| (u - p).cross(v - p).dot(normal).max(0.0);
    let all = [of(b, c), of(c, a), of(a, b)];
    let sum: f64 = all.iter().sum();
    if sum > 0.0 { all.map(|share| share / sum) } else { [1.0, 0.0, 0.0] }
}

/// The part of a triangle on which a point lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The interior.
    Face,
    /// The edge from this corner to the next.
    Edge(u8),
    /// This corner.
    Corner(u8),
}

/// The point of the triangle nearest to `p`.
///
/// Corners are tested first, then edges, then the face, by barycentric coordinates; a triangle without area has corners
/// and edges only.
#[must_use]
pub fn nearest(p: DVec3, corners: [DVec3; 3]) -> (DVec3, Part) {
    let [a, b, c] = corners;
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    let area = normal.length_squared();
    if area > 0.0 {
        // Distance of p on the inner side of each edge, as shares of the triangle.
        let inner = |from: DVec3, to: DVec3| normal.cross(to - from).dot(p - from) / area;
        if inner(a, b) > 0.0 && inner(b, c) > 0.0 && inner(c, a) > 0.0 {
            return (p - normal * (normal.dot(p - a) / area), Part::Face);
        }
    }
    let mut best = (f64::INFINITY, a, Part::Corner(0));
    for k in 0..3u8 {
        let (from, to) = (corners[k as usize], corners[(k as usize + 1) % 3]);
        let along = to - from;
        let t = (p - from).dot(along) / along.length_squared().max(f64::MIN_POSITIVE);
        let (q, part) = if t <= 0.0 {
            (from, Part::Corner(k))
        } else if t >= 1.0 {
            (to, Part::Corner((k + 1) % 3))
        } else {
            (from + along * t, Part::Edge(k))
        };
        let distance = q.distance_squared(p);
        if distance < best.0 {
            best = (distance, q, part);
        }
    }
    (best.1, best.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(i: u32) -> f64 {
        let mixed = i.wrapping_mul(2_654_435_761);
        f64::from((mixed ^ mixed >> 15).wrapping_mul(2_246_822_519) >> 8) / f64::from(1 << 24) * 2.0 - 1.0
    }

    /// The least distance from points of the triangle on a fine lattice: no less than the distance, and hardly more.
    fn sampled(p: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
        const STEPS: u32 = 200;
        let mut least = f64::INFINITY;
        for i in 0..=STEPS {
            for k in 0..=STEPS - i {
                let (u, v) = (f64::from(i) / f64::from(STEPS), f64::from(k) / f64::from(STEPS));
                least = least.min(p.distance(a + (b - a) * u + (c - a) * v));
            }
        }
        least
    }

    #[test]
    fn all_ways_agree_with_points_of_the_triangle() {
        let mut parts = [0; 3];
        for i in 0..300 {
            let at = |k: u32| {
                DVec3::new(number(12 * i + 3 * k), number(12 * i + 3 * k + 1), number(12 * i + 3 * k + 2))
            };
            let (mut corners, mut p) = ([at(0), at(1), at(2)], at(3) * 1.5);
            if i % 3 == 1 {
                // Over its middle.
                p = (corners[0] + corners[1] + corners[2]) / 3.0 + at(3) * 0.2;
            }
            if i % 10 == 0 {
                // Without area.
                corners[2] = corners[0].lerp(corners[1], 0.3);
            }
            let wanted = sampled(p, corners);
            let (q, part) = nearest(p, corners);
            let found = [distance(p, corners), distance_squared(p, corners).sqrt(), q.distance(p)];
            for d in found {
                assert!(
                    (d - found[0]).abs() < 1e-12 && d <= wanted + 1e-12 && wanted - d < 0.02,
                    "{found:?} {wanted}"
                );
            }
            let [a, b, c] = corners;
            match part {
                Part::Face => assert!((b - a).cross(c - a).dot(q - a).abs() < 1e-12),
                Part::Edge(k) => {
                    let (from, to) = edges(corners)[k as usize];
                    assert!((to - from).cross(q - from).length() < 1e-12);
                }
                Part::Corner(k) => assert_eq!(q, corners[k as usize]),
            }
            parts[match part {
                Part::Face => 0,
                Part::Edge(_) => 1,
                Part::Corner(_) => 2,
            }] += 1;
        }
        assert!(parts.iter().all(|count| *count > 20), "{parts:?}");
    }
}
