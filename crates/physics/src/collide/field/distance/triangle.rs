//! The point of a triangle nearest to another, and which part of the triangle it lies on.

use glam::DVec3;

/// Where on a triangle a point lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Within.
    Face,
    /// On the edge from this corner to the next.
    Edge(u8),
    /// At this corner.
    Corner(u8),
}

/// The point of the triangle nearest to `p`.
///
/// Corners are asked first, then edges, then the face, by barycentric coordinates; a triangle without area
/// has corners and edges only.
#[must_use]
pub fn nearest_on_triangle(p: DVec3, corners: [DVec3; 3]) -> (DVec3, Part) {
    let [a, b, c] = corners;
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    let area = normal.length_squared();
    if area > 0.0 {
        // How far p lies on the inner side of each edge, as shares of the triangle.
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
