//! Hulls at the floor and the walls: the corners that are near.

use super::solid::Solid;
use crate::{
    Body, Plane,
    collide::{Point, pairwise::plane_key},
};
use glam::DVec3;

/// The corners of a body within `near` m of the plane of that number.
#[must_use]
pub fn at_plane(body: &Body, solid: &Solid, (number, plane): (usize, &Plane), near: f64) -> Vec<Point> {
    let at = |(corner, p): (usize, &DVec3)| {
        let place = body.state.position + body.state.rotation * *p;
        let gap = plane.distance(place);
        let key = plane_key(number, corner as u32);
        (gap < near).then(|| Point::new(key, [Some(body), None], place, plane.normal, gap))
    };
    solid.corners.iter().enumerate().filter_map(at).collect()
}
