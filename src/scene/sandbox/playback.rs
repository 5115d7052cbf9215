//! Recording every step, and showing recorded states again.

use super::Sandbox;
use crate::{bodies::StepReport, scene::Timeline};

impl Sandbox {
    /// What was recorded.
    #[must_use]
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The state before the first step of a recording.
    pub(super) fn record_first(&mut self) {
        if self.timeline.is_empty() {
            self.record();
        }
    }

    pub(super) fn record(&mut self) {
        if self.objects.is_empty() {
            return;
        }
        let mut timeline = std::mem::take(&mut self.timeline);
        timeline.record((self.time, self.next_event), &self.world.bodies, || self.snapshot());
        self.timeline = timeline;
    }

    /// Keeps what has just become of the bodies between two steps. Where the last step itself led to it, the state of that moment in which
    /// it had not happened yet is not to go on from, and is forgotten.
    pub(super) fn record_change(&mut self, by_itself: bool) {
        if self.timeline.is_empty() {
            return;
        }
        if by_itself {
            self.timeline.forget_last(self.time);
        }
        self.record();
    }

    /// Shows a recorded state: bodies, time and what has not happened yet are as they were then. Time can go on from there;
    /// then what came after it is forgotten. False where there is no such state.
    pub fn show_recorded(&mut self, frame: usize) -> bool {
        let wanted = self.timeline.wanted(frame, &self.world.bodies);
        let owned = wanted.map(|w| (w.snapshot.cloned(), w.states.to_vec(), w.time, w.next_event));
        let Some((snapshot, states, time, next_event)) = owned else {
            return false;
        };
        // Fractures on their way belong to the state that is left.
        self.breaking = None;
        self.waiting.clear();
        self.recoils.clear();
        self.world.drag = None;
        if let Some(snapshot) = snapshot {
            self.put_back(&snapshot);
        }
        for (body, (state, asleep)) in self.world.bodies.iter_mut().zip(states) {
            (body.state, body.asleep) = (state, asleep);
            (body.still_secs, body.slow_secs) = (0.0, 0.0);
        }
        self.time = time;
        self.next_event = next_event.min(self.scene.events.len());
        self.timeline.shown(frame, &self.world.bodies);
        self.last_step = StepReport { time, ..StepReport::default() };
        self.revision += 1;
        true
    }
}
