//! Smooth surfaces touch where they are nearest, which is seldom a point of a tree: such a contact moves there.
//!
//! In: a point of contact and the fields of both bodies. Out: the place where the height above the other body is least along
//! the body's own surface. There both normals are opposite; on the way to it, the height's slope along the surface is the
//! part of the other's normal across one's own, and the bend is that slope's change from place to place (secants). What has
//! no such place near by, as the edge of a box on a face, stays where it is.

use super::{distance::Fragment, interior::Interior};
use crate::bodies::Body;
use glam::DVec3;

/// Places that are tried at most.
const TRIES: usize = 5;
/// Slope at which the surfaces are as good as parallel: a twentieth of a degree.
const PARALLEL: f64 = 1e-3;
/// Slope with which a place counts as found.
const FOUND: f64 = 0.02;
/// Surfaces that face each other less than this do not touch as smooth ones do.
const FACING: f64 = -0.9;
/// How far a contact may move, cells.
const FARTHEST: f64 = 8.0;
/// The first step against the slope, cells.
const FIRST_STEP: f64 = 0.5;

/// Where a body's surface is from a point: height above it (m, negative inside) and its outward normal, world.
type Height = (f64, DVec3);

/// A place on the body's own surface.
#[derive(Clone, Copy)]
struct Place {
    at: DVec3,
    height: f64,
    /// Of the height along the surface.
    slope: DVec3,
    /// Out of the other body, the mean of both.
    normal: DVec3,
}

/// Where two smooth surfaces touch.
pub struct Nearest {
    /// On the body's own surface, world.
    pub at: DVec3,
    /// Out of the other body, world.
    pub normal: DVec3,
    /// Height above the other, m.
    pub height: f64,
}

fn height_over((body, asked): (&Body, &Fragment), p: DVec3, within: f64) -> Option<Height> {
    let unit = body.def.shape.unit_m();
    let local = body.def.shape.to_local(body.state.position, body.state.rotation, p);
    let inside = asked.penetration(local).map(|depth| (-depth.distance, depth.direction));
    let found = inside.or_else(|| {
        asked.outside_distance(local, within / unit).map(|depth| (depth.distance, depth.direction))
    });
    found.map(|(height, direction)| (height * unit, body.state.rotation * direction))
}

/// The place near `from` where `own` is nearest to `other`; cells are `cell` m, heights are known up to `within` m.
#[must_use]
pub fn nearest(
    own: (&Body, &Fragment),
    other: (&Body, &Fragment),
    from: DVec3,
    (cell, within): (f64, f64),
) -> Option<Nearest> {
    let place = |p: DVec3| -> Option<Place> {
        let (off, own_normal) = height_over(own, p, within)?;
        let at = p - own_normal * off;
        let (height, normal) = height_over(other, at, within)?;
        let slope = normal - own_normal * normal.dot(own_normal);
        let mean = (normal - own_normal).normalize_or(normal);
        (normal.dot(own_normal) < FACING).then_some(Place { at, height, slope, normal: mean })
    };
    let mut now = place(from)?;
    let mut step = -now.slope.normalize_or_zero() * FIRST_STEP * cell;
    let mut tries = 0;
    while now.slope.length() > PARALLEL && tries < TRIES {
        let next = place(now.at + step)?;
        let way = next.at - now.at;
        let bend = (next.slope - now.slope).dot(way) / way.length_squared().max(f64::MIN_POSITIVE);
        if bend <= 0.0 || next.at.distance(from) > FARTHEST * cell {
            return None;
        }
        now = next;
        step = -now.slope / bend;
        if step.length() > FARTHEST * cell {
            return None;
        }
        tries += 1;
    }
    let found = tries > 0 && now.slope.length() <= FOUND;
    found.then_some(Nearest { at: now.at, normal: now.normal, height: now.height })
}
