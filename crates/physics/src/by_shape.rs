//! What is made once of each shape that bodies have, on first use.
//!
//! In: bodies that came near others. Out: one value for each shape, or with `LEVELS` for each shape and level at which a
//! body collides.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rayon::prelude::*;

use crate::{Body, shape::Shape};

/// Address of a shape, and a level, or 0.
type Name = (usize, u32);

fn name_of<const LEVELS: bool>(body: &Body) -> Name {
    let level = if LEVELS { body.def.collision_level() } else { 0 };
    (Arc::as_ptr(&body.def.shape) as usize, level)
}

/// Values by shape.
pub struct ByShape<T, const LEVELS: bool> {
    /// Keyed by `Arc` pointer. The `Arc` is stored so that the address cannot be reused. Never iterated, so order does
    /// not matter.
    known: BTreeMap<Name, (Arc<Shape>, T)>,
    /// Values by the bodies' numbers, to avoid a second look-up.
    of_body: Vec<Option<(Name, T)>>,
}

impl<T, const LEVELS: bool> Default for ByShape<T, LEVELS> {
    fn default() -> Self {
        Self { known: BTreeMap::new(), of_body: Vec::new() }
    }
}

impl<T: Clone + Send, const LEVELS: bool> ByShape<T, LEVELS> {
    /// Makes what is missing of these bodies, on all cores.
    pub fn make<'a>(&mut self, bodies: impl Iterator<Item = &'a Body>, make: impl Fn(&Body) -> T + Sync) {
        let mut missing: BTreeMap<Name, &Body> = BTreeMap::new();
        for body in bodies {
            let name = name_of::<LEVELS>(body);
            if !self.known.contains_key(&name) {
                missing.insert(name, body);
            }
        }
        let missing: Vec<(Name, &Body)> = missing.into_iter().collect();
        let made = |(name, body): (Name, &Body)| (name, (Arc::clone(&body.def.shape), make(body)));
        self.known.par_extend(missing.into_par_iter().map(made));
    }

    /// The same for the bodies with the numbers `near`, which [`ByShape::at`] answers for from then on. By body: whether it
    /// is among them.
    pub fn prepare(
        &mut self,
        bodies: &[Body],
        near: impl Iterator<Item = usize>,
        make: impl Fn(&Body) -> T + Sync,
    ) -> Vec<bool> {
        let mut asked = vec![false; bodies.len()];
        near.for_each(|k| asked[k] = true);
        self.of_body.resize(bodies.len(), None);
        for (body, of_body) in bodies.iter().zip(&mut self.of_body) {
            if of_body.as_ref().is_some_and(|(known, _)| *known != name_of::<LEVELS>(body)) {
                *of_body = None;
            }
        }
        let unknown: Vec<usize> =
            (0..bodies.len()).filter(|&k| asked[k] && self.of_body[k].is_none()).collect();
        self.make(unknown.iter().map(|&k| &bodies[k]), make);
        for k in unknown {
            let known = self.of(&bodies[k]).cloned();
            self.of_body[k] = known.map(|known| (name_of::<LEVELS>(&bodies[k]), known));
        }
        asked
    }

    /// That of the body with this number, where it was prepared.
    #[must_use]
    pub fn at(&self, k: usize) -> Option<&T> {
        self.of_body[k].as_ref().map(|(_, known)| known)
    }

    /// That of a body, where it was made.
    #[must_use]
    pub fn of(&self, body: &Body) -> Option<&T> {
        self.known.get(&name_of::<LEVELS>(body)).map(|(_, known)| known)
    }

    /// How many there are.
    #[cfg(test)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Forgets shapes that no body has.
    pub fn keep(&mut self, left: &[Body]) {
        let used: BTreeSet<Name> = left.iter().map(name_of::<LEVELS>).collect();
        self.known.retain(|at, _| used.contains(at));
        self.of_body.clear();
    }
}
