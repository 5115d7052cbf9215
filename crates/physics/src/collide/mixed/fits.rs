//! How well bodies fit their convex hulls.
//!
//! In: bodies. Out: for each whether it is plain, only contained in its hull, or neither. Computed once per shape and
//! collision level.

use crate::{
    Body, BodyDef,
    collide::{
        MARGIN_CELLS,
        convex::{HullFit, fit},
    },
    shape::Shape,
};
use rayon::prelude::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

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
