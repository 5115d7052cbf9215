//! The octree generator's data of each manifold, beside its contact points.

use crate::{
    BodyId,
    collide::{InOrder, Manifold, RelativePose},
};

/// Data of one manifold.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// First body.
    pub first: BodyId,
    /// Second body; `None` is the planes.
    pub second: Option<BodyId>,
    /// Levels of the search (0 for planes).
    pub levels: [u32; 2],
    /// Relative pose at the search.
    pub pose: RelativePose,
    /// Collision points then.
    pub collision_points: usize,
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
    /// By manifold of a sorted list: the index of its record.
    #[must_use]
    pub fn of(&self, manifolds: &[Manifold]) -> Vec<Option<usize>> {
        let mut records = InOrder::new(&self.0, Record::order);
        manifolds.iter().map(|m| records.find(&m.order())).collect()
    }

    /// The record of a pair, or of a body at the planes.
    #[must_use]
    pub fn get(&self, first: BodyId, second: Option<BodyId>) -> Option<&Record> {
        let order = (second.is_none(), first, second);
        let k = self.0.binary_search_by(|record| record.order().cmp(&order)).ok()?;
        Some(&self.0[k])
    }

    /// Forgets all but the records with these numbers, and takes in those of other manifolds.
    pub fn renew(&mut self, known: impl Iterator<Item = usize>, new: Vec<Record>) {
        let mut stays = vec![false; self.0.len()];
        known.for_each(|k| stays[k] = true);
        let mut stays = stays.into_iter();
        self.0.retain(|_| stays.next() == Some(true));
        self.0.extend(new);
        self.0.sort_by_key(Record::order);
    }

    /// Forgets a body.
    pub fn forget(&mut self, id: BodyId) {
        self.0.retain(|record| record.first != id && record.second != Some(id));
    }
}

/// State before a search: manifolds, and their records.
#[derive(Clone, Copy)]
pub struct Before<'a> {
    manifolds: &'a [Manifold],
    records: &'a Records,
    record_of: &'a [Option<usize>],
}

impl<'a> Before<'a> {
    /// `record_of` is [`Records::of`] these manifolds.
    #[must_use]
    pub fn new(manifolds: &'a [Manifold], records: &'a Records, record_of: &'a [Option<usize>]) -> Self {
        Self { manifolds, records, record_of }
    }

    /// All manifolds, sorted.
    #[must_use]
    pub fn manifolds(&self) -> &'a [Manifold] {
        self.manifolds
    }

    /// The record of manifold `k`.
    #[must_use]
    pub fn record(&self, k: usize) -> Option<&'a Record> {
        self.record_of[k].map(|record| &self.records.0[record])
    }
}
