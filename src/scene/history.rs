//! Undo and redo: snapshots before each change.
//!
//! A fracture or an import stores the [`Moment`] before it; a slider stores the tuned values only, so that undoing it
//! does not move the bodies back.

use std::{collections::HashSet, sync::Arc};

use super::{Moment, StateId, Tuning, stage::Statuses, timeline::Mark};
use crate::render::{Backdrop, Surroundings};

/// One undoable step.
pub(super) struct Step {
    /// Name of the change, for the menu.
    pub label: String,
    /// The tuned values before it.
    pub tuning: Tuning,
    /// The state of the document before it.
    pub state: StateId,
    /// The bodies before it, if it changed them.
    pub world: Option<Moment>,
    /// The timeline's position before it, if it changed the bodies.
    pub recorded: Option<Mark>,
    /// Hidden and locked bodies before it, if it changed those.
    pub statuses: Option<Statuses>,
}

/// Steps that can be undone and redone.
#[derive(Default)]
pub struct History {
    done: Vec<Step>,
    undone: Vec<Step>,
    /// The gesture in progress, whose further changes belong to the last step.
    gesture: Option<&'static str>,
    /// Snapshot of the open scene at its start.
    first: Option<Arc<Moment>>,
}

/// Most steps kept.
const MOST: usize = 100;
/// Most pictures behind the scene that steps hold, each of up to 8 MiB.
const MOST_PICTURES: usize = 16;

impl History {
    /// Snapshot of the open scene at its start.
    pub(super) fn first(&self) -> Option<&Arc<Moment>> {
        self.first.as_ref()
    }

    /// The last snapshot that undo would restore.
    pub(super) fn last(&self) -> Option<&Moment> {
        self.done.iter().rev().find_map(|step| step.world.as_ref())
    }

    /// All snapshots but the first ones of scenes that are not open.
    pub(super) fn moments(&self) -> impl Iterator<Item = &Moment> {
        let steps = self.done.iter().chain(&self.undone).filter_map(|step| step.world.as_ref());
        steps.chain(self.first.as_deref())
    }

    /// Sets the snapshot of a newly opened scene.
    pub(super) fn set_first(&mut self, first: Arc<Moment>) {
        self.first = Some(first);
    }

    /// Records a step before a value changes from what `tuning` has in `state`; `label` names the value. Calls with the
    /// same `gesture` until [`History::end_gesture`] are one step.
    pub(super) fn change(&mut self, gesture: &'static str, label: &str, tuning: &Tuning, state: StateId) {
        if self.gesture != Some(gesture) {
            self.push(Step {
                label: label.into(),
                tuning: tuning.clone(),
                state,
                world: None,
                recorded: None,
                statuses: None,
            });
            self.gesture = Some(gesture);
        }
    }

    /// Ends a gesture, because the mouse button was released or something else changed the values.
    pub(super) fn end_gesture(&mut self) {
        self.gesture = None;
    }

    /// Whether the user is changing a value.
    pub(super) fn is_changing(&self) -> bool {
        self.gesture.is_some()
    }

    /// Appends a step.
    pub(super) fn push(&mut self, step: Step) {
        self.undone.clear();
        self.done.push(step);
        while self.done.len() > MOST || self.pictures() > MOST_PICTURES {
            self.done.remove(0);
        }
    }

    /// How many pictures behind the scene the steps hold.
    fn pictures(&self) -> usize {
        let behind = self.done.iter().filter_map(|step| step.tuning.backdrop.as_ref());
        let held = behind.filter_map(Backdrop::picture).map(std::ptr::from_ref::<Surroundings>);
        held.collect::<HashSet<_>>().len()
    }

    /// Undoes the last step; `current` turns a step into its inverse.
    pub(super) fn undo(&mut self, current: impl FnOnce(&Step) -> Step) -> Option<Step> {
        let step = self.done.pop()?;
        self.undone.push(current(&step));
        Some(step)
    }

    /// Redoes the step undone last; `current` turns a step into its inverse.
    pub(super) fn redo(&mut self, current: impl FnOnce(&Step) -> Step) -> Option<Step> {
        let step = self.undone.pop()?;
        self.done.push(current(&step));
        Some(step)
    }

    /// Drops the older half of the steps to free memory; returns false if there were none.
    pub(super) fn shrink(&mut self) -> bool {
        if self.undone.is_empty() && self.done.is_empty() {
            return false;
        }
        self.undone.clear();
        self.done.drain(..self.done.len().div_ceil(2));
        true
    }

    /// Name of the step that undo would revert.
    #[must_use]
    pub fn undo_label(&self) -> Option<&str> {
        self.done.last().map(|step| step.label.as_str())
    }

    /// Name of the step that redo would repeat.
    #[must_use]
    pub fn redo_label(&self) -> Option<&str> {
        self.undone.last().map(|step| step.label.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(label: &str, seeds: u32) -> Step {
        let mut tuning = Tuning::default();
        tuning.fracture.seeds = seeds;
        let state = StateId::default();
        Step { label: label.into(), tuning, state, world: None, recorded: None, statuses: None }
    }

    #[test]
    fn undo_and_redo_walk_the_same_road() {
        let mut history = History::default();
        history.push(step("a", 1));
        history.push(step("b", 2));
        let back = history.undo(|s| step(&s.label, 3)).unwrap();
        assert_eq!((back.tuning.fracture.seeds, history.undo_label()), (2, Some("a")));
        let forth = history.redo(|s| step(&s.label, 2)).unwrap();
        assert_eq!((forth.tuning.fracture.seeds, history.undo_label()), (3, Some("b")));
        history.undo(|s| step(&s.label, 3));
        history.push(step("c", 4));
        assert_eq!(history.redo_label(), None, "a new step forgets what was undone");
    }

    #[test]
    fn a_gesture_is_one_step() {
        let mut history = History::default();
        let mut tuning = Tuning::default();
        for seeds in [10, 11, 12] {
            tuning.fracture.seeds = seeds;
            history.change("seeds", "seeds", &tuning, StateId::default());
        }
        history.change("radius", "radius", &tuning, StateId::default());
        assert!(history.is_changing());
        history.end_gesture();
        history.change("radius", "radius", &tuning, StateId::default());
        assert_eq!(history.done.len(), 3);
        assert_eq!(history.done[0].tuning.fracture.seeds, 10, "back to before the first change");
    }

    #[test]
    fn steps_hold_a_bounded_number_of_pictures() {
        let mut history = History::default();
        let mut next = step("x", 1);
        for i in 0..2 * MOST_PICTURES as u32 {
            let picture = Surroundings::new([2, 1], |_, _| [i as f32; 3]);
            next.tuning.backdrop = Some(Backdrop::of(picture));
            for seeds in 0..2 {
                let again = step("x", seeds);
                history.push(Step { tuning: next.tuning.clone(), ..again });
            }
        }
        assert_eq!((history.pictures(), history.done.len()), (MOST_PICTURES, 2 * MOST_PICTURES));
        assert_eq!(history.done.last().unwrap().tuning, next.tuning, "the newest stay");
    }

    #[test]
    fn shrinking_ends() {
        let mut history = History::default();
        for i in 0..MOST as u32 + 5 {
            history.push(step("x", i));
        }
        assert_eq!(history.done.len(), MOST);
        let mut rounds = 0;
        while history.shrink() {
            rounds += 1;
        }
        assert!(rounds < 10 && history.undo_label().is_none());
    }
}
