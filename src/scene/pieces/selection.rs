//! Which pieces are selected. It is no step of undo; names of bodies that are gone select nothing, and do so again when
//! undo brings the body back.

use std::{collections::BTreeSet, sync::Arc};

use crate::bodies::BodyId;

/// The selected bodies.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    ids: Arc<BTreeSet<BodyId>>,
    /// The body that was picked in the picture last, and how many were before it.
    picked: Option<(u64, BodyId)>,
}

impl Selection {
    /// All of them, those too whose bodies are gone.
    #[must_use]
    pub fn ids(&self) -> Arc<BTreeSet<BodyId>> {
        Arc::clone(&self.ids)
    }

    /// Whether a body is selected.
    #[must_use]
    pub fn contains(&self, id: BodyId) -> bool {
        self.ids.contains(&id)
    }

    /// The body that was picked in the picture last, with a number that tells one pick from the next: a list scrolls to
    /// it once.
    #[must_use]
    pub fn picked(&self) -> Option<(u64, BodyId)> {
        self.picked
    }

    /// Selects these and no others; `true` where that is a change.
    pub(in crate::scene) fn set(&mut self, ids: impl IntoIterator<Item = BodyId>) -> bool {
        let ids: BTreeSet<BodyId> = ids.into_iter().collect();
        let changes = ids != *self.ids;
        if changes {
            self.ids = Arc::new(ids);
        }
        changes
    }

    /// A body was picked in the picture: it alone is selected, or where it `joins` the others, it comes to them or
    /// goes.
    pub(in crate::scene) fn pick(&mut self, id: BodyId, joins: bool) {
        if joins {
            let ids = Arc::make_mut(&mut self.ids);
            if !ids.remove(&id) {
                ids.insert(id);
            }
        } else {
            self.set([id]);
        }
        self.picked = Some((self.picked.map_or(0, |(serial, _)| serial + 1), id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pick_selects_one_and_a_joining_one_comes_or_goes() {
        let mut selection = Selection::default();
        let ids = |selection: &Selection| selection.ids().iter().map(|id| id.0).collect::<Vec<_>>();
        selection.pick(BodyId(3), false);
        selection.pick(BodyId(1), true);
        assert_eq!(ids(&selection), [1, 3]);
        selection.pick(BodyId(3), true);
        assert_eq!((ids(&selection), selection.picked()), (vec![1], Some((2, BodyId(3)))));
        selection.pick(BodyId(7), false);
        assert_eq!(ids(&selection), [7]);
        assert!(!selection.set([BodyId(7)]) && selection.set([]));
        assert!(ids(&selection).is_empty());
    }
}
