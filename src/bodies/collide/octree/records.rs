//! What the finder of octrees knows of each manifold, beside the points that hold the bodies apart.

use crate::bodies::{
    BodyId,
    collide::{Manifold, RelativePose, Totals},
};

/// What is known of one manifold.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// First body.
    pub first: BodyId,
    /// Second body; none is the planes.
    pub second: Option<BodyId>,
    /// Levels at which contacts were looked for (of planes: 0).
    pub levels: [u32; 2],
    /// How the bodies lay when they were looked for.
    pub pose: RelativePose,
    /// What all collision points added up to then.
    pub totals: Totals,
    /// All collision points that were let in then, by key, with their separation, m.
    pub seen: Vec<(u64, f64)>,
}

impl Record {
    fn order(&self) -> (bool, BodyId, Option<BodyId>) {
        (self.second.is_none(), self.first, self.second)
    }
}

/// Records, in the order of their manifolds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records(Vec<Record>);

impl Records {
    /// Of these records, each of another manifold.
    #[must_use]
    pub fn new(mut records: Vec<Record>) -> Self {
        records.sort_by_key(Record::order);
        Self(records)
    }

    fn index(&self, first: BodyId, second: Option<BodyId>) -> Option<usize> {
        let order = (second.is_none(), first, second);
        self.0.binary_search_by(|record| record.order().cmp(&order)).ok()
    }

    /// What is known of a pair, or of a body at the planes.
    #[must_use]
    pub fn get(&self, first: BodyId, second: Option<BodyId>) -> Option<&Record> {
        self.index(first, second).map(|k| &self.0[k])
    }

    /// The same of a manifold, to be handed on: what was seen is gone from here.
    #[must_use]
    pub fn take(&mut self, manifold: &Manifold) -> Option<Record> {
        let k = self.index(manifold.first, manifold.second)?;
        let seen = std::mem::take(&mut self.0[k].seen);
        Some(Record { seen, ..self.0[k].clone() })
    }

    /// Forgets a body.
    pub fn forget(&mut self, id: BodyId) {
        self.0.retain(|record| record.first != id && record.second != Some(id));
    }
}
