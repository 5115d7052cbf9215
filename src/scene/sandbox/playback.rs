//! Recording every step, and showing recorded states again.

use super::Sandbox;
use crate::{
    bodies::{BodyState, StepReport},
    scene::{Snapshot, Timeline},
};

/// A state to put back.
type Wanted = (Option<Snapshot>, Vec<(BodyState, bool)>, f64);

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
        timeline.record(self.time, &self.world.bodies, || self.snapshot());
        self.timeline = timeline;
    }

    /// Shows a recorded state: bodies, time and what has not happened yet are as they were then. Time can go on from there;
    /// then what came after it is forgotten. False where there is no such state.
    pub fn show_recorded(&mut self, frame: usize) -> bool {
        let wanted = self.timeline.wanted(frame, &self.world.bodies);
        let owned: Option<Wanted> = wanted.map(|(s, states, time)| (s.cloned(), states.to_vec(), time));
        let Some((snapshot, states, time)) = owned else {
            return false;
        };
        // Fractures on their way belong to the state that is left.
        self.breaking = None;
        self.waiting.clear();
        self.recoils.clear();
        self.world.hold = None;
        if let Some(snapshot) = snapshot {
            self.put_back(&snapshot);
        }
        for (body, (state, asleep)) in self.world.bodies.iter_mut().zip(states) {
            (body.state, body.asleep) = (state, asleep);
            (body.still_secs, body.slow_secs) = (0.0, 0.0);
        }
        self.time = time;
        // The step to this state began a step earlier and saw what was due then; a little for rounding.
        let began = time - self.world.settings.dt * (1.0 - 1e-6);
        let first = |e: &crate::scene::Event| e.time() > began;
        self.next_event = self.scene.events.iter().position(first).unwrap_or(self.scene.events.len());
        self.timeline.shown(frame, &self.world.bodies);
        self.last_step = StepReport { time, ..StepReport::default() };
        self.revision += 1;
        true
    }
}
