//! Contacts between convex hulls (Chlubna, sec. 6): every body, of whatever kind, collides by its convex hull.
//!
//! In: near pairs. Out: manifolds. `solid.rs` has the hull of a shape; `axes.rs` finds along which axis
//! two hulls are apart, `clip.rs` where they touch, `meeting.rs` whether they do so now or later in the step,
//! [`hull_at_plane`] has the corners at the floor and the walls. Octree levels do not matter: a hull has as many
//! corners as it needs, 64 at most.
//!
//! What is hollow is filled by its hull. Pieces of one object may overlap by as much as their hulls did where they were
//! made (`Meeting::forgiven`).

mod axes;
mod clip;
mod meeting;
mod solid;

#[cfg(test)]
mod tests;

pub use solid::{Face, Solid};
pub(super) use solid::{HullFit, fit};

use super::{
    Body, GeneratorEntry, Manifold, Plane, Point,
    pairwise::{Met, NarrowPhase, NearTwo, PairGenerator, plane_key},
};
use crate::by_shape::ByShape;
use axes::{Axis, Feature, Pair, Relative};
use glam::DVec3;
use meeting::Meeting;
use std::sync::Arc;

/// How the table has it.
pub const ENTRY: GeneratorEntry = GeneratorEntry {
    name: "hull",
    label: "convex hulls",
    about: "Every body is met by its convex hull, along separating axes; what is hollow is filled.",
    accepts: |_| true,
    options: &[],
    make: |_| Ok(Box::new(HullGenerator::default())),
};

/// Finds contacts of convex hulls with each other and with planes.
pub type HullGenerator = PairGenerator<Hulls>;

/// A pair is searched again before its bodies have come half of this share of the smaller radius towards each other.
const FORESIGHT: f64 = 0.5;

/// Distance of two bodies by their hulls (negative: overlap), m, up to `enough`, and its direction, from the second to
/// the first, world.
#[must_use]
pub fn apart(solids: [&Solid; 2], bodies: [&Body; 2], enough: f64) -> (f64, DVec3) {
    let [a, b] = bodies.map(|body| (body.state.position, body.state.rotation));
    let Axis { normal, separation, .. } = Pair::new(solids, Relative::new(a, b)).axis(enough, None, 0.0);
    (separation, a.1 * normal)
}

/// Cached data of a pair of hulls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Known {
    /// The axis along which they were farthest apart, axes of the second body, and its feature.
    pub axis: Option<(DVec3, Feature)>,
    /// Pieces of one object: how far they may overlap without being pushed, m.
    pub forgiven: f64,
}

/// Hulls of the bodies that came near each other.
#[derive(Default)]
pub struct Hulls {
    cache: ByShape<Arc<Solid>, false>,
}

impl Hulls {
    /// The contacts of two bodies with the cached data `known`; `None` if they were not prepared.
    pub fn met(
        &self,
        bodies: [&Body; 2],
        known: Option<&Known>,
        old: Option<&Manifold>,
        dt: f64,
    ) -> Met<Known> {
        let [Some(a), Some(b)] = bodies.map(|body| self.cache.of(body)) else { return None };
        Some(Meeting { bodies, solids: [a, b], record: known, old, dt }.found())
    }
}

impl NarrowPhase for Hulls {
    type Known = Known;
    type Scratch = ();
    type Memory = ();

    fn resolution(&self, body: &Body) -> f64 {
        meeting::resolution(body)
    }

    // Fast bodies collide where they will be (`Meeting::later`), so cells do not matter, only which bodies are in the
    // way.
    fn foresight(&self, pair: [&Body; 2]) -> f64 {
        let cell = pair.map(|body| self.resolution(body)).into_iter().fold(f64::MAX, f64::min);
        let radius = pair.map(|body| body.def.radius()).into_iter().fold(f64::MAX, f64::min);
        cell.max(FORESIGHT * radius)
    }

    fn prepare<'a>(&mut self, near: impl Iterator<Item = &'a Body>) {
        self.cache.make(near, |body| Arc::new(Solid::of(body.def.shape.convex_hull())));
    }

    fn meet(&self, near: &NearTwo<'_, Known>, (): &mut ()) -> Met<Known> {
        self.met(near.bodies, near.record.map(|record| &record.known), near.old, near.dt)
    }

    fn at_plane(
        &self,
        body: &Body,
        plane: (usize, &Plane),
        (_, near): (&[Point], f64),
        (): &mut (),
    ) -> Option<Vec<Point>> {
        let solid = self.cache.of(body)?;
        Some(hull_at_plane(body, solid, plane, near))
    }

    fn keep(&mut self, left: &[Body]) {
        self.cache.keep(left);
    }

    // Hulls are made again of the shapes.
    fn memory(&self) {}

    fn recall(&mut self, (): &()) {}
}

/// The corners of a body within `near` m of the plane of that number.
#[must_use]
pub fn hull_at_plane(body: &Body, solid: &Solid, (number, plane): (usize, &Plane), near: f64) -> Vec<Point> {
    let at = |(corner, p): (usize, &DVec3)| {
        let place = body.state.position + body.state.rotation * *p;
        let gap = plane.distance(place);
        let key = plane_key(number, corner as u32);
        (gap < near).then(|| Point::new(key, [Some(body), None], place, plane.normal, gap))
    };
    solid.corners.iter().enumerate().filter_map(at).collect()
}
