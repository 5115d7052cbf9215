//! Where two hulls touch along an axis.
//!
//! In: two hulls and the axis along which they are apart. Out: contact points on both. If the axis is the normal of a
//! face, the other hull's most opposed face is clipped by that face's sides (Sutherland & Hodgman 1974); if two edges
//! give the axis, they touch in one point.

use super::axes::{Axis, Feature, Pair};
use crate::collide::tangents;
use glam::DVec3;
use smallvec::{SmallVec, smallvec};

/// Places of one pair: most have no more.
pub type Few<T> = SmallVec<[T; 12]>;

/// Where two hulls touch, axes of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Identifies the point from step to step, by faces, edges and corners.
    pub key: u64,
    /// On the first hull and on the second.
    pub on: [DVec3; 2],
    /// Distance of the hulls there, m.
    pub separation: f64,
}

/// Stride of side numbers in keys.
const SIDE: u32 = 1 << 10;
/// Sideways components of the directions in which the next corners are searched, for 1 along the normal.
const TURNED: [(f64, f64); 8] =
    [(1.0, 0.0), (0.7, 0.7), (0.0, 1.0), (-0.7, 0.7), (-1.0, 0.0), (-0.7, -0.7), (0.0, -1.0), (0.7, -0.7)];
/// Key of a corner that no clipped point represents.
const LONE: u64 = 1 << 31;

/// A corner of a polygon that is being clipped.
#[derive(Clone, Copy)]
struct Corner {
    at: DVec3,
    /// Its own name.
    name: u32,
    /// That of the side from it to the next.
    side: u32,
}

/// The places nearer than `margin`, at least one, and one about as near as the hulls are: within `slack`.
#[must_use]
pub fn touches(pair: &Pair<'_>, axis: &Axis, margin: f64, slack: f64) -> Few<Touch> {
    match axis.feature {
        Feature::Edges(edges) => smallvec![at_edges(pair, axis, edges)],
        Feature::Face { of, face } => at_face(pair, axis, (of, face), margin, slack),
    }
}

/// The corners of hull `of` that touch next if it turns about the contact, within the distance of its points to the
/// contact plane: a fast body turns by much before its next search, and with one corner alone it would turn into the
/// other body.
#[must_use]
pub fn turned_corners(pair: &Pair<'_>, axis: &Axis, of: usize) -> Few<Touch> {
    // Out of the hull, towards the other.
    let out = if of == 0 { -axis.normal } else { axis.normal };
    let (t, u) = tangents(out);
    let corners = pair.lined_up(of);
    let reach = -pair.lined_up(1 - of).reach(-out);
    let mut found: Few<Touch> = Few::new();
    for (along, across) in TURNED {
        let (corner, _) = corners.farthest(out + t * along + u * across);
        let key = 3u64 << 48 | (of as u64) << 32 | corner as u64;
        if found.iter().all(|touch| touch.key != key) {
            let p = corners.at(corner);
            let separation = reach - p.dot(out);
            let foot = p + out * separation;
            found.push(Touch { key, on: if of == 0 { [p, foot] } else { [foot, p] }, separation });
        }
    }
    found
}

fn at_face(pair: &Pair<'_>, axis: &Axis, (of, face): (usize, usize), margin: f64, slack: f64) -> Few<Touch> {
    let (out, reach) = (pair.normal(of, face), pair.reach(of, face));
    let other = 1 - of;
    let named = (of as u64) << 48 | (face as u64) << 32;
    let touch = |name: u64, p: DVec3| {
        let separation = p.dot(out) - reach;
        let foot = p - out * separation;
        Touch { key: named | name, on: if of == 0 { [foot, p] } else { [p, foot] }, separation }
    };
    let polygon = clipped(pair, of, face, against(pair, other, out));
    let places = polygon.iter().map(|corner| touch(u64::from(corner.name), corner.at));
    let mut found: Few<Touch> = places.filter(|touch| touch.separation < margin).collect();
    // The deepest corner may lie beside the face, or be one that its own face lacks.
    let deepest = found.iter().map(|touch| touch.separation).fold(f64::MAX, f64::min);
    if deepest > axis.separation + slack {
        let (corner, _) = pair.lined_up(other).farthest(-out);
        found.push(touch(LONE | corner as u64, pair.corners(other)[corner]));
    }
    found
}

/// The face that looks most against a direction.
fn against(pair: &Pair<'_>, of: usize, way: DVec3) -> usize {
    let faces = 0..pair.solids[of].faces.len();
    let look = |face: usize| pair.normal(of, face).dot(way);
    faces.min_by(|a, b| look(*a).total_cmp(&look(*b))).unwrap_or(0)
}

/// The part of face `incident` of the other hull within the sides of a face of hull `of`.
fn clipped(pair: &Pair<'_>, of: usize, face: usize, incident: usize) -> Few<Corner> {
    let other = pair.corners(1 - of);
    let whole = &pair.solids[1 - of].faces[incident].corners;
    let mut polygon: Few<Corner> =
        whole.iter().map(|v| Corner { at: other[*v as usize], name: *v, side: *v }).collect();
    let (out, sides) = (pair.normal(of, face), &pair.solids[of].faces[face].corners);
    for (k, from) in sides.iter().enumerate() {
        let [from, to] = [*from, sides[(k + 1) % sides.len()]].map(|v| pair.corners(of)[v as usize]);
        polygon = cut(&polygon, from, (to - from).cross(out), SIDE / 2 + k as u32);
    }
    polygon
}

/// The part of a polygon that does not lie beyond the plane through `at`; the new side gets the key `side`.
fn cut(polygon: &[Corner], at: DVec3, beyond: DVec3, side: u32) -> Few<Corner> {
    let mut out = Few::with_capacity(polygon.len() + 1);
    for (k, a) in polygon.iter().enumerate() {
        let b = &polygon[(k + 1) % polygon.len()];
        let [far_a, far_b] = [a, b].map(|corner| (corner.at - at).dot(beyond));
        let crossing = |side_from: u32| {
            let at = a.at.lerp(b.at, far_a / (far_a - far_b));
            Corner { at, name: (a.side + 1) * SIDE + side, side: side_from }
        };
        match (far_a <= 0.0, far_b <= 0.0) {
            (true, true) => out.push(*a),
            // The edge leaves: its intersection with the plane follows.
            (true, false) => out.extend([*a, crossing(side)]),
            (false, true) => out.push(crossing(a.side)),
            (false, false) => {}
        }
    }
    out
}

/// Where two edges are nearest.
fn at_edges(pair: &Pair<'_>, axis: &Axis, edges: [usize; 2]) -> Touch {
    let [(p, u), (q, v)] = [0, 1].map(|of| {
        let [from, to] = pair.solids[of].edges[edges[of]].ends.map(|c| pair.corners(of)[c as usize]);
        (from, to - from)
    });
    let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
    let (r, across) = (q - p, uu * vv - uv * uv);
    // Edges that give an axis are not parallel.
    let share = |num: f64| if across > 0.0 { (num / across).clamp(0.0, 1.0) } else { 0.5 };
    let s = share(u.dot(r) * vv - v.dot(r) * uv);
    let t = share(u.dot(r) * uv - v.dot(r) * uu);
    let on = [p + u * s, q + v * t];
    let middle = (on[0] + on[1]) * 0.5;
    let half = axis.normal * (0.5 * axis.separation);
    let key = 2u64 << 48 | (edges[0] as u64) << 32 | edges[1] as u64;
    Touch { key, on: [middle + half, middle - half], separation: axis.separation }
}

#[cfg(test)]
mod tests;
