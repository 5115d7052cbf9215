//! How two bodies meet: the points of each that lie in the other.
//!
//! In: two bodies with their fields and sphere trees. Out: their manifold. Each tree is asked against the other field
//! (Glondu et al. 2012, sec. 3), and points that will come to lie in the other body within the step are contacts, too. The
//! normal of a contact is the direction in which the surface is nearest.

use super::{
    distance::Fragment,
    interior::Interior,
    nearest::nearest,
    parts::Part,
    spheres::{Beyond, HalfSpace, Placement, Scratch, Selection, TreeContact},
};
use crate::bodies::{
    Body, Plane, broad_phase,
    collide::{
        MARGIN_CELLS, Manifold, Point, RelativePose, inherit, moved,
        pairwise::{Met, NearTwo, Record, plane_key},
        reduce,
    },
};
use glam::DVec3;

/// So many contacts of a query are enough (sec. 5.3).
const ENOUGH: usize = 8;
/// How deep may lie what is left out, shares of the body's radius (sec. 5.3).
const EPSILON: f64 = 0.002;
/// What a point of a sibling's crack was too deep where both were made is forgiven within the first of these of that place,
/// and no more beyond the second, voxels.
const FORGIVEN: [f64; 2] = [1.0, 2.0];
/// Two places on smooth surfaces are one within so many cells, with normals that agree so well.
const SAME_CELLS: f64 = 0.5;
const SAME_NORMAL: f64 = 0.99;
/// In the names of points: whose they are.
const OF_SECOND: u64 = 1 << 32;

/// How a body's tree is asked where lengths are in units of `unit_m`.
fn selection(body: &Body, near_m: f64, unit_m: f64) -> Selection {
    Selection {
        enough: Some(ENOUGH),
        epsilon: EPSILON * body.def.radius() / unit_m,
        tolerance: near_m / unit_m,
        beyond: Beyond::Deepest,
    }
}

/// The manifold of two bodies that may meet within the step, and the record of it.
#[must_use]
pub fn meet(near: &NearTwo<'_, ()>, parts: [&Part; 2], scratch: &mut Scratch) -> Met<()> {
    let [a, b] = near.bodies;
    let cell = a.def.resolution_m().min(b.def.resolution_m());
    let reach = MARGIN_CELLS * cell + broad_phase::closer(a, b, near.dt);
    let mut points = points_in([a, b], parts, reach, scratch, false)?;
    points.extend(points_in([b, a], [parts[1], parts[0]], reach, scratch, true)?);
    let record = Record { pose: RelativePose::new(a, Some(b)), touches: points.len(), known: () };
    if points.is_empty() {
        return Some((None, record));
    }
    let known: Vec<Point> =
        near.old.map_or(&[][..], |m| &m.points).iter().map(|p| moved(p, a, Some(b))).collect();
    let mut kept = reduce(&points, &known, cell);
    if a.def.family != b.def.family {
        let [of_a, of_b] = [parts[0].fragment()?, parts[1].fragment()?];
        kept = at_nearest(kept, [(a, &of_a), (b, &of_b)], (cell, reach + cell));
    }
    inherit(&mut kept, &known, cell);
    let rolling_impulse = near.old.map_or(DVec3::ZERO, |m| m.rolling_impulse);
    let manifold =
        Manifold { first: a.id, second: Some(b.id), points: kept, rolling_impulse, resolution_m: cell };
    Some((Some(manifold), record))
}

/// The same points where smooth surfaces are nearest; those that come to one place become one, the deepest.
fn at_nearest(
    points: Vec<Point>,
    [a, b]: [(&Body, &Fragment<'_>); 2],
    (cell, within): (f64, f64),
) -> Vec<Point> {
    let mut out: Vec<Point> = Vec::with_capacity(points.len());
    for point in points {
        let second = point.key & OF_SECOND != 0;
        let (own, other) = if second { (b, a) } else { (a, b) };
        let Some(touch) = nearest(own, other, point.position, (cell, within)) else {
            out.push(point);
            continue;
        };
        let normal = if second { -touch.normal } else { touch.normal };
        let at = touch.at - touch.normal * (0.5 * touch.height);
        let moved = Point::new(point.key, [Some(a.0), Some(b.0)], at, normal, touch.height);
        let same =
            |p: &Point| p.position.distance(at) < SAME_CELLS * cell && p.normal.dot(normal) > SAME_NORMAL;
        match out.iter_mut().find(|p| same(p)) {
            Some(known) if moved.separation < known.separation => *known = moved,
            Some(_) => {}
            None => out.push(moved),
        }
    }
    out
}

/// Contacts at points of the first body near the second. `turned`: the first is the pair's second.
fn points_in(
    [own, other]: [&Body; 2],
    [part, of_other]: [&Part; 2],
    reach: f64,
    scratch: &mut Scratch,
    turned: bool,
) -> Option<Vec<Point>> {
    let fragment = of_other.fragment()?;
    let world_from_own = own.def.world_from_grid(&own.state);
    let world_from_other = other.def.world_from_grid(&other.state);
    let unit = other.def.shape.unit_m();
    let placement = Placement::new(world_from_other.inverse() * world_from_own);
    part.forest.query(&fragment, &placement, &selection(own, reach, unit), scratch);
    // Pieces of one object lie in one local space. What overlapped where they were made pushes nobody.
    let are_siblings = own.def.family == other.def.family && own.def.shape.unit_m() == unit;
    let point = |contact: &TreeContact| {
        let at_birth = if are_siblings {
            forgiven(&fragment, part.forest.position(contact.point), contact.position)
        } else {
            0.0
        };
        let gap = (at_birth - contact.depth) * unit;
        let out = other.state.rotation * contact.direction;
        // Halfway between the point and the surface.
        let place =
            world_from_other.transform_point3(contact.position + contact.direction * (0.5 * contact.depth));
        let key = u64::from(contact.point) | if turned { OF_SECOND } else { 0 };
        let (bodies, normal) = if turned { ([other, own], -out) } else { ([own, other], out) };
        Point::new(key, bodies.map(Some), place, normal, gap)
    };
    Some(scratch.contacts().iter().map(point).collect())
}

/// How deep a point was in its sibling where both were made, as far as that still counts, local units: siblings have one
/// local space, so there it lay at `made`, where it lies at `now`.
fn forgiven(other: &Fragment<'_>, made: DVec3, now: DVec3) -> f64 {
    let counts = (FORGIVEN[1] - made.distance(now)) / (FORGIVEN[1] - FORGIVEN[0]);
    if counts <= 0.0 {
        return 0.0;
    }
    counts.min(1.0) * other.penetration(made).map_or(0.0, |depth| depth.distance)
}

/// Contacts at points of a body within `near` m of the plane of that number.
#[must_use]
pub fn at_plane(
    body: &Body,
    part: &Part,
    (number, plane): (usize, &Plane),
    near: f64,
    scratch: &mut Scratch,
) -> Vec<Point> {
    let placement = Placement::new(body.def.world_from_grid(&body.state));
    let floor = HalfSpace { normal: plane.normal, offset: plane.offset };
    part.forest.query(&floor, &placement, &selection(body, near, 1.0), scratch);
    let point = |contact: &TreeContact| {
        let key = plane_key(number, contact.point);
        Point::new(key, [Some(body), None], contact.position, plane.normal, -contact.depth)
    };
    scratch.contacts().iter().map(point).collect()
}
