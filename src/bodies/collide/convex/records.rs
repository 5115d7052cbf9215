//! What the finder of hulls knows of each pair, beside the points that hold the bodies apart.

use super::axes::Feature;
use crate::bodies::{BodyId, Manifold, collide::RelativePose};
use glam::DVec3;
use std::collections::BTreeMap;

/// What is known of a pair, or of a body at the planes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// How the bodies lay when they were looked at.
    pub pose: RelativePose,
    /// The axis along which they were farthest apart, axes of the second body, and what gave it.
    pub axis: Option<(DVec3, Feature)>,
    /// Pieces of one object: how far they may overlap without being pushed, m.
    pub forgiven: f64,
    /// Places that touched, before they were reduced to a few.
    pub touches: usize,
}

type Name = (BodyId, Option<BodyId>);

/// Records by pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records(BTreeMap<Name, Record>);

impl Records {
    /// What is known of a pair.
    #[must_use]
    pub fn get(&self, first: BodyId, second: Option<BodyId>) -> Option<&Record> {
        self.0.get(&(first, second))
    }

    /// What is known of the bodies of a manifold.
    #[must_use]
    pub fn of(&self, manifold: &Manifold) -> Option<&Record> {
        self.get(manifold.first, manifold.second)
    }

    /// Forgets all but the pairs of these manifolds, and takes in others.
    pub fn renew<'a>(
        &mut self,
        known: impl Iterator<Item = &'a Manifold>,
        new: impl Iterator<Item = (Name, Record)>,
    ) {
        let stays: Vec<_> = known.filter_map(|m| Some(((m.first, m.second), *self.of(m)?))).collect();
        self.0 = stays.into_iter().chain(new).collect();
    }

    /// Forgets a body.
    pub fn forget(&mut self, id: BodyId) {
        self.0.retain(|(first, second), _| *first != id && *second != Some(id));
    }
}
