//! The selected pieces. Selecting is no undo step; ids of removed bodies stay in the selection, in case undo restores
//! the body.

use std::{collections::BTreeSet, sync::Arc};

use crate::bodies::BodyId;

/// The selected bodies.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    ids: Arc<BTreeSet<BodyId>>,
    /// The body last picked in the picture, and the number of the pick.
    picked: Option<(u64, BodyId)>,
}

impl Selection {
    /// Ids of all selected bodies, including removed ones.
    #[must_use]
    pub fn ids(&self) -> Arc<BTreeSet<BodyId>> {
        Arc::clone(&self.ids)
    }

    /// Whether a body is selected.
    #[must_use]
    pub fn contains(&self, id: BodyId) -> bool {
        self.ids.contains(&id)
    }

    /// The body last picked in the picture, and the number of the pick, so that a list scrolls to each pick once.
    #[must_use]
    pub fn picked(&self) -> Option<(u64, BodyId)> {
        self.picked
    }

    /// Replaces the selection; returns whether it changed.
    pub(in crate::scene) fn set(&mut self, ids: impl IntoIterator<Item = BodyId>) -> bool {
        let ids: BTreeSet<BodyId> = ids.into_iter().collect();
        let changes = ids != *self.ids;
        if changes {
            self.ids = Arc::new(ids);
        }
        changes
    }

    /// Selects a picked body: alone, or, if it `joins`, toggled in the selection.
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
