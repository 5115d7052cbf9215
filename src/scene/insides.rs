//! The materials inside bodies: every break keeps the one that was chosen when it happened.
//!
//! In: the log of breaks, and what is chosen for each object now. Out: the materials that the cracks of a body show.

use std::collections::BTreeMap;

use super::{BodyInfo, BreakLog};
use crate::fracture::{Insides, Volume};

/// The materials inside bodies.
#[derive(Clone, Debug)]
pub struct BodyInsides {
    /// What the next break of each object will show; at least one.
    chosen: Vec<Volume>,
    /// What the pieces of each break show, by its index in the log.
    breaks: BTreeMap<usize, Insides>,
}

impl BodyInsides {
    /// Those of the bodies that come of the breaks of a log.
    pub(super) fn new(chosen: Vec<Volume>, log: &BreakLog) -> Self {
        let mut breaks: BTreeMap<usize, Insides> = BTreeMap::new();
        // A body breaks after the break that it comes of.
        for (at, record) in log.records() {
            let before = record.broken.and_then(|origin| breaks.get(&origin.record));
            let here = before.map_or_else(|| Insides::of([record.inside]), |one| one.with(record.inside));
            breaks.insert(at, here);
        }
        Self { chosen, breaks }
    }

    /// The materials of a body: of the breaks in its ancestry; of a whole body what is chosen.
    #[must_use]
    pub fn of(&self, info: &BodyInfo) -> Insides {
        let broken = info.origin.and_then(|origin| self.breaks.get(&origin.record));
        broken.copied().unwrap_or_else(|| Insides::of([self.chosen(info.object)]))
    }

    /// What the next break of an object will show.
    pub(super) fn chosen(&self, object: usize) -> Volume {
        self.chosen.get(object).or(self.chosen.last()).copied().unwrap_or_default()
    }
}
