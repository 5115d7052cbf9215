//! Hulls at the floor and the walls: the corners that are near.

use super::{
    Known,
    meeting::{margin, resolution},
    solid::Solid,
};
use crate::bodies::{
    Body,
    collide::{
        ContactQuery, Manifold, Point, RelativePose, inherit, moved,
        pairwise::{Record, plane_key},
        reduce,
    },
};
use glam::DVec3;

/// The manifold of a body that is near a plane, and what is known of it then.
#[must_use]
pub fn at_planes(
    body: &Body,
    solid: &Solid,
    old: Option<&Manifold>,
    query: &ContactQuery<'_>,
) -> Option<(Manifold, Record<Known>)> {
    let (cell, state) = (resolution(body), &body.state);
    let speed = state.linear_velocity.length() + state.angular_velocity.length() * body.def.radius();
    let near = margin(cell) + speed * query.dt;
    let known: Vec<Point> = old.map_or(&[][..], |m| &m.points).iter().map(|p| moved(p, body, None)).collect();
    let (mut points, mut touches, mut close) = (Vec::new(), 0, false);
    for (number, plane) in query.planes.iter().enumerate() {
        if plane.distance(state.position) > body.def.radius() + near {
            continue;
        }
        close = true;
        let at = |(corner, p): (usize, &DVec3)| {
            let place = state.position + state.rotation * *p;
            let gap = plane.distance(place);
            let key = plane_key(number, corner as u32);
            (gap < near).then(|| Point::new(key, [Some(body), None], place, plane.normal, gap))
        };
        let found: Vec<Point> = solid.corners.iter().enumerate().filter_map(at).collect();
        touches += found.len();
        points.extend(reduce(&found, &known, cell));
    }
    if !close {
        return None;
    }
    inherit(&mut points, &known, cell);
    let rolling_impulse = old.map_or(DVec3::ZERO, |m| m.rolling_impulse);
    let manifold = Manifold { first: body.id, second: None, points, rolling_impulse, resolution_m: cell };
    let record = Record { pose: RelativePose::new(body, None), touches, known: Known::default() };
    Some((manifold, record))
}
