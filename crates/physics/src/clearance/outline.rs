//! A few corners round which a body lies.
//!
//! In: a shape. Out: corners of its convex hull, and how far anything may lie outside.

use crate::{Body, shape::Shape, support::SupportPoints};
use rayon::prelude::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Corners in body axes, from the centre of mass, m.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// In no order.
    pub corners: SupportPoints,
    /// So far anything may lie outside their hull, m.
    pub slack: f64,
}

impl Outline {
    /// The outline of a shape.
    #[must_use]
    pub fn of(shape: &Shape) -> Self {
        let hull = shape.convex_hull();
        Self { corners: SupportPoints::new(&hull.hull.points), slack: hull.beyond }
    }
}

/// Outlines of the shapes of bodies that have been near others.
#[derive(Default)]
pub struct Outlines {
    /// Keyed by `Arc` pointer. The `Arc` is stored so that the address cannot be reused. Never iterated, so order does
    /// not matter.
    known: BTreeMap<usize, (Arc<Shape>, Arc<Outline>)>,
    /// Outlines by the bodies' ids, with the addresses of their shapes, to avoid a second look-up.
    of_body: Vec<Option<(usize, Arc<Outline>)>>,
}

fn address(shape: &Arc<Shape>) -> usize {
    Arc::as_ptr(shape) as usize
}

impl Outlines {
    /// Makes what is missing of the bodies with these numbers, on all cores.
    pub fn prepare(&mut self, bodies: &[Body], near: impl Iterator<Item = usize>) {
        let mut asked = vec![false; bodies.len()];
        near.for_each(|k| asked[k] = true);
        self.of_body.resize(bodies.len(), None);
        for (body, of_body) in bodies.iter().zip(&mut self.of_body) {
            if of_body.as_ref().is_some_and(|(at, _)| *at != address(&body.def.shape)) {
                *of_body = None;
            }
        }
        let unknown: Vec<usize> =
            (0..bodies.len()).filter(|&k| asked[k] && self.of_body[k].is_none()).collect();
        let mut missing: BTreeMap<usize, &Arc<Shape>> = BTreeMap::new();
        for shape in unknown.iter().map(|&k| &bodies[k].def.shape) {
            if !self.known.contains_key(&address(shape)) {
                missing.insert(address(shape), shape);
            }
        }
        let missing: Vec<_> = missing.into_iter().collect();
        let make =
            |(at, shape): (usize, &Arc<Shape>)| (at, (Arc::clone(shape), Arc::new(Outline::of(shape))));
        let made: Vec<_> = missing.into_par_iter().map(make).collect();
        self.known.extend(made);
        for k in unknown {
            let at = address(&bodies[k].def.shape);
            self.of_body[k] = self.known.get(&at).map(|(_, outline)| (at, Arc::clone(outline)));
        }
    }

    /// That of the body with this number, where it was prepared.
    #[must_use]
    pub fn of(&self, k: usize) -> Option<&Outline> {
        self.of_body[k].as_ref().map(|(_, outline)| &**outline)
    }

    /// Forgets shapes that no body has.
    pub fn keep(&mut self, left: &[Body]) {
        let used: BTreeSet<usize> = left.iter().map(|body| address(&body.def.shape)).collect();
        self.known.retain(|at, _| used.contains(at));
        self.of_body.clear();
    }
}
