//! Hulls of the shapes whose bodies came near each other, made on first use.

use super::solid::Solid;
use crate::{Body, shape::Shape};
use rayon::prelude::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Hulls by shape.
#[derive(Debug, Default)]
pub struct HullCache {
    /// Keyed by `Arc` pointer. The `Arc` is stored so that the address cannot be reused. Never iterated, so order does
    /// not matter.
    hulls: BTreeMap<usize, (Arc<Shape>, Arc<Solid>)>,
}

fn address(shape: &Arc<Shape>) -> usize {
    Arc::as_ptr(shape) as usize
}

impl HullCache {
    /// Makes what is missing of these bodies, on all cores.
    pub fn prepare<'a>(&mut self, bodies: impl Iterator<Item = &'a Body>) {
        let mut missing: BTreeMap<usize, &Arc<Shape>> = BTreeMap::new();
        for shape in bodies.map(|body| &body.def.shape) {
            if !self.hulls.contains_key(&address(shape)) {
                missing.insert(address(shape), shape);
            }
        }
        let missing: Vec<_> = missing.into_iter().collect();
        let make = |(at, shape): (usize, &Arc<Shape>)| {
            (at, (Arc::clone(shape), Arc::new(Solid::of(shape.convex_hull()))))
        };
        let made: Vec<_> = missing.into_par_iter().map(make).collect();
        self.hulls.extend(made);
    }

    /// The hull of a body, where it was prepared.
    #[must_use]
    pub fn of(&self, body: &Body) -> Option<&Solid> {
        self.hulls.get(&address(&body.def.shape)).map(|(_, solid)| &**solid)
    }

    /// How many there are.
    #[cfg(test)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.hulls.len()
    }

    /// Forgets shapes that no body has.
    pub fn keep(&mut self, left: &[Body]) {
        let used: BTreeSet<usize> = left.iter().map(|body| address(&body.def.shape)).collect();
        self.hulls.retain(|at, _| used.contains(at));
    }
}
