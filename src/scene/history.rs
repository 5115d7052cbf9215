//! Undo and redo: what the world was before each change.
//!
//! A fracture or an import keeps the [`Moment`] before it; a slider keeps the tuned values only, so that
//! undoing it does not move the bodies back.

use std::sync::Arc;

use super::{Moment, Tuning, stage::Statuses, timeline::Mark};

/// One undoable step.
pub(super) struct Step {
    /// What was done, for the menu.
    pub label: String,
    /// The tuned values before it.
    pub tuning: Tuning,
    /// The bodies before it, where it changed them.
    pub world: Option<Moment>,
    /// What was recorded then, where it changed the bodies.
    pub recorded: Option<Mark>,
    /// What was hidden and locked before it, where it changed that.
    pub statuses: Option<Statuses>,
}

/// Steps that can be undone and done again.
#[derive(Default)]
pub struct History {
    done: Vec<Step>,
    undone: Vec<Step>,
    /// The change that goes on: what it does next is no step of its own.
    gesture: Option<&'static str>,
    /// The first moment of the open scene.
    first: Option<Arc<Moment>>,
}

/// Steps kept.
const MOST: usize = 100;

impl History {
    /// The first moment of the open scene.
    pub(super) fn first(&self) -> Option<&Arc<Moment>> {
        self.first.as_ref()
    }

    /// The last moment that undo would put back.
    pub(super) fn last(&self) -> Option<&Moment> {
        self.done.iter().rev().find_map(|step| step.world.as_ref())
    }

    /// Another scene is open.
    pub(super) fn set_first(&mut self, first: Arc<Moment>) {
        self.first = Some(first);
    }

    /// A value is about to change from what `tuning` has; `label` says which. Calls with one `gesture` until
    /// [`History::end_gesture`] are one step.
    pub(super) fn change(&mut self, gesture: &'static str, label: &str, tuning: &Tuning) {
        if self.gesture != Some(gesture) {
            self.push(Step {
                label: label.into(),
                tuning: tuning.clone(),
                world: None,
                recorded: None,
                statuses: None,
            });
            self.gesture = Some(gesture);
        }
    }

    /// The mouse button was released, or something else changed the values.
    pub(super) fn end_gesture(&mut self) {
        self.gesture = None;
    }

    /// Whether a value is being changed by hand.
    pub(super) fn is_changing(&self) -> bool {
        self.gesture.is_some()
    }

    /// Keeps a step.
    pub(super) fn push(&mut self, step: Step) {
        self.undone.clear();
        self.done.push(step);
        if self.done.len() > MOST {
            self.done.remove(0);
        }
    }

    /// Takes the last step back; `current` turns a step into its opposite.
    pub(super) fn undo(&mut self, current: impl FnOnce(&Step) -> Step) -> Option<Step> {
        let step = self.done.pop()?;
        self.undone.push(current(&step));
        Some(step)
    }

    /// Does the last step again that was taken back.
    pub(super) fn redo(&mut self, current: impl FnOnce(&Step) -> Step) -> Option<Step> {
        let step = self.undone.pop()?;
        self.done.push(current(&step));
        Some(step)
    }

    /// Forgets the older half to free memory; false when there was nothing to forget.
    pub(super) fn shrink(&mut self) -> bool {
        if self.undone.is_empty() && self.done.is_empty() {
            return false;
        }
        self.undone.clear();
        self.done.drain(..self.done.len().div_ceil(2));
        true
    }

    /// What undo would take back.
    #[must_use]
    pub fn undo_label(&self) -> Option<&str> {
        self.done.last().map(|step| step.label.as_str())
    }

    /// What redo would do again.
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
        Step { label: label.into(), tuning, world: None, recorded: None, statuses: None }
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
            history.change("seeds", "seeds", &tuning);
        }
        history.change("radius", "radius", &tuning);
        assert!(history.is_changing());
        history.end_gesture();
        history.change("radius", "radius", &tuning);
        assert_eq!(history.done.len(), 3);
        assert_eq!(history.done[0].tuning.fracture.seeds, 10, "back to before the first change");
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
