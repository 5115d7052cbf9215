//! Contacts by hulls, checked for whether the hulls are the bodies' surfaces there.
//!
//! In: two bodies whose hulls contain them. Out: their manifold by hulls, or that octrees must be used. Since hulls
//! contain their bodies, bodies with separated hulls do not touch. If hulls touch and overlap by little, the bodies
//! touch in the same places if both have surface there; hulls that touch over a dent give other contacts, and deep
//! overlap gives no valid ones. So a piece with one hollow side has contacts with its siblings, along the planes of the
//! cracks, by hulls, and only those in the hollow by octrees.
//!
//! # How well bodies fit their convex hulls
//!
//! In: bodies. Out: for each whether it is plain, only contained in its hull, or neither. Computed once per shape and
//! collision level.

use glam::DVec3;

use crate::{
    Body, BodyDef, Plane,
    by_shape::ByShape,
    collide::{
        MARGIN_CELLS, Manifold, Point,
        convex::{HullFit, Hulls, Known, fit},
        octree::has_leaf_at,
        pairwise::{Met, NarrowPhase, NearTwo, Record},
    },
};

/// Hulls that overlap by more than this, shares of the resolution, are not used.
const DEEP_CELLS: f64 = 0.5;

/// Cached data of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verified {
    /// Data of the hulls.
    hulls: Known,
    /// Whether octrees have to search the pair.
    is_left: bool,
}

/// Hulls of the bodies that came near each other, and how these fit them.
#[derive(Default)]
pub struct VerifiedHulls {
    hulls: Hulls,
    /// How bodies fit; nothing for those that stick out.
    fits: ByShape<Option<HullFit>, true>,
}

impl VerifiedHulls {
    /// By body: how it fits, where it is among these.
    pub fn fit(&mut self, bodies: &[Body], near: impl Iterator<Item = usize>) -> Vec<Option<HullFit>> {
        let asked = self.fits.prepare(bodies, near, |body| fit(&body.def, tolerance(&body.def)));
        let of = |(k, asked): (usize, bool)| *self.fits.at(k).filter(|_| asked)?;
        asked.into_iter().enumerate().map(of).collect()
    }

    /// Number of shapes whose fit is cached.
    #[cfg(test)]
    pub fn fits_known(&self) -> usize {
        self.fits.len()
    }

    /// Whether the contacts of the hulls are contacts of the bodies.
    fn holds(&self, bodies: [&Body; 2], manifold: &Manifold, forgiven: f64) -> bool {
        if bodies.iter().all(|body| self.fits.of(body) == Some(&Some(HullFit::Tight))) {
            return true;
        }
        let deep = DEEP_CELLS * manifold.resolution_m;
        manifold.points.iter().all(|p| {
            // Hulls that touch only later in the step do not touch yet.
            p.follows.is_none()
                && p.separation - forgiven > -deep
                && bodies.iter().zip(p.anchors).all(|(body, at)| has_surface(body, at))
        })
    }
}

/// Whether a body has any of its voxels at a place, body axes, from its centre of mass, m.
fn has_surface(body: &Body, at: DVec3) -> bool {
    let shape = &body.def.shape;
    let Some(octree) = shape.as_octree() else { return false };
    let p = at / shape.unit_m() + shape.centre();
    has_leaf_at(&octree.forest, octree.tree, p.as_vec3())
}

impl NarrowPhase for VerifiedHulls {
    type Known = Verified;
    type Scratch = ();
    type Memory = ();

    fn resolution(&self, body: &Body) -> f64 {
        self.hulls.resolution(body)
    }

    fn foresight(&self, pair: [&Body; 2]) -> f64 {
        self.hulls.foresight(pair)
    }

    fn is_left_to_others(known: &Verified) -> bool {
        known.is_left
    }

    fn prepare<'a>(&mut self, near: impl Iterator<Item = &'a Body>) {
        self.hulls.prepare(near);
    }

    fn meet(&self, near: &NearTwo<'_, Verified>, (): &mut ()) -> Met<Verified> {
        let NearTwo { bodies, record, old, dt } = *near;
        let known = record.map(|record| &record.known.hulls);
        let (manifold, Record { pose, touches, clear_m, known }) = self.hulls.met(bodies, known, old, dt)?;
        let is_left = manifold.as_ref().is_some_and(|found| !self.holds(bodies, found, known.forgiven));
        let known = Verified { hulls: known, is_left };
        Some((manifold.filter(|_| !is_left), Record { pose, touches, clear_m, known }))
    }

    fn at_plane(
        &self,
        body: &Body,
        plane: (usize, &Plane),
        known_and_near: (&[Point], f64),
        (): &mut (),
    ) -> Option<Vec<Point>> {
        self.hulls.at_plane(body, plane, known_and_near, &mut ())
    }

    fn keep(&mut self, left: &[Body]) {
        self.hulls.keep(left);
        self.fits.keep(left);
    }

    // Made again of the shapes.
    fn memory(&self) {}

    fn recall(&mut self, (): &()) {}
}

/// How far the surface of a plain body may lie from its hull, voxels, where cells are so fine that a quarter of one is
/// less.
const PLAIN_VOXELS: f64 = 0.5;

/// The tolerance, m.
fn tolerance(def: &BodyDef) -> f64 {
    (MARGIN_CELLS * def.resolution_m()).max(PLAIN_VOXELS * def.grain_m())
}
