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

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use glam::DVec3;
use rayon::prelude::*;

use crate::{
    Body, BodyDef, Plane,
    collide::{
        MARGIN_CELLS, Manifold, Point,
        convex::{HullFit, Hulls, Known, fit},
        octree::has_leaf_at,
        pairwise::{Met, NarrowPhase, NearTwo, Record},
    },
    shape::Shape,
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
    fits: Fits,
}

impl VerifiedHulls {
    /// By body: how it fits, where it is among these.
    pub fn fit(&mut self, bodies: &[Body], near: impl Iterator<Item = usize>) -> Vec<Option<HullFit>> {
        self.fits.prepare(bodies, near)
    }

    /// Number of shapes whose fit is cached.
    #[cfg(test)]
    pub fn fits_known(&self) -> usize {
        self.fits.len()
    }

    /// Whether the contacts of the hulls are contacts of the bodies.
    fn holds(&self, bodies: [&Body; 2], manifold: &Manifold, forgiven: f64) -> bool {
        if bodies.iter().all(|body| self.fits.of(body) == Some(HullFit::Tight)) {
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

/// How bodies fit, by shape and the level at which they collide.
#[derive(Default)]
pub struct Fits {
    /// Keyed by `Arc` pointer. The `Arc` is stored so that the address cannot be reused. Never iterated, so order does
    /// not matter.
    known: BTreeMap<Name, (Arc<Shape>, Option<HullFit>)>,
    /// Fits by the bodies' ids, to avoid a second look-up.
    of_body: Vec<Option<(Name, Option<HullFit>)>>,
}

/// Address of the shape, and the level.
type Name = (usize, u32);

fn name(body: &Body) -> Name {
    (Arc::as_ptr(&body.def.shape) as usize, body.def.collision_level())
}

impl Fits {
    /// How a body fits; `None` if it was not prepared, or sticks out.
    #[must_use]
    pub fn of(&self, body: &Body) -> Option<HullFit> {
        self.known.get(&name(body)).and_then(|(_, fit)| *fit)
    }

    /// By body: how it fits, where it is among these. Finds out what is missing, on all cores.
    pub fn prepare(&mut self, bodies: &[Body], near: impl Iterator<Item = usize>) -> Vec<Option<HullFit>> {
        let mut asked = vec![false; bodies.len()];
        near.for_each(|k| asked[k] = true);
        self.of_body.resize(bodies.len(), None);
        for (body, of_body) in bodies.iter().zip(&mut self.of_body) {
            if of_body.is_some_and(|(known, _)| known != name(body)) {
                *of_body = None;
            }
        }
        let unknown: Vec<usize> =
            (0..bodies.len()).filter(|&k| asked[k] && self.of_body[k].is_none()).collect();
        let mut missing: BTreeMap<Name, &Body> = BTreeMap::new();
        for body in unknown.iter().map(|&k| &bodies[k]) {
            if !self.known.contains_key(&name(body)) {
                missing.insert(name(body), body);
            }
        }
        let missing: Vec<_> = missing.into_iter().collect();
        let known = |(at, body): (Name, &Body)| {
            (at, (Arc::clone(&body.def.shape), fit(&body.def, tolerance(&body.def))))
        };
        self.known.par_extend(missing.into_par_iter().map(known));
        for k in unknown {
            self.of_body[k] = Some((name(&bodies[k]), self.of(&bodies[k])));
        }
        let of = |(asked, known): (bool, &Option<(Name, Option<HullFit>)>)| known.filter(|_| asked)?.1;
        asked.into_iter().zip(&self.of_body).map(of).collect()
    }

    /// Forgets shapes that no body has.
    pub fn keep(&mut self, left: &[Body]) {
        let used: BTreeSet<_> = left.iter().map(name).collect();
        self.known.retain(|at, _| used.contains(at));
        self.of_body.clear();
    }

    /// How many shapes are known.
    #[cfg(test)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }
}
