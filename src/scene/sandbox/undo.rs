//! Taking back and doing again: snapshots of the bodies, and the tuned values.

use std::sync::Arc;

use super::{Sandbox, values::Touch};
use crate::{
    bodies::{Adaptive, BodyDef, StepReport},
    scene::{Pin, Snapshot, Tuning, history::Step},
};

impl Sandbox {
    pub(super) fn snapshot(&self) -> Snapshot {
        let bodies =
            self.world.bodies.iter().filter_map(|b| Some((b.clone(), *self.info.get(&b.id)?))).collect();
        Snapshot {
            bodies,
            objects: self.objects.clone(),
            scene: self.scene.clone(),
            time: self.time,
            next_event: self.next_event,
            projectiles: self.projectiles.clone(),
            settings: self.world.settings,
            first: self.first.clone(),
        }
    }

    fn restore(&mut self, snapshot: &Snapshot) {
        self.timeline.clear();
        self.put_back(snapshot);
        self.world.settings = snapshot.settings;
        // The first moment itself knows of none.
        if let Some(first) = &snapshot.first {
            self.first = Some(Arc::clone(first));
        }
    }

    /// As it was then; the bodies get new names.
    pub(super) fn put_back(&mut self, snapshot: &Snapshot) {
        self.breaking = None;
        self.waiting.clear();
        self.recoils.clear();
        self.world.drag = None;
        self.clear_world();
        for (body, info) in &snapshot.bodies {
            // Under its old name, so that a pinned impact finds its body again.
            let id = self.world.add_as(body.id, BodyDef { state: body.state, ..body.def.clone() });
            if let Some(new) = self.world.bodies.iter_mut().find(|b| b.id == id) {
                new.asleep = body.asleep;
            }
            self.info.insert(id, *info);
        }
        self.objects = snapshot.objects.clone();
        self.scene = snapshot.scene.clone();
        self.time = snapshot.time;
        self.next_event = snapshot.next_event;
        self.projectiles = snapshot.projectiles.clone();
        self.last_step = StepReport::default();
        self.last_break = None;
        self.looking.forget();
        self.revision += 1;
    }

    /// Takes back the last step; its name, or `None`.
    pub fn undo(&mut self) -> Option<String> {
        let (tuning, now) = (self.tuning.clone(), self.snapshot());
        let step = self.history.undo(|step| mirrored(step, tuning, now))?;
        Some(self.apply(step))
    }

    /// Does again what was taken back; its name, or `None`.
    pub fn redo(&mut self) -> Option<String> {
        let (tuning, now) = (self.tuning.clone(), self.snapshot());
        let step = self.history.redo(|step| mirrored(step, tuning, now))?;
        Some(self.apply(step))
    }

    fn apply(&mut self, step: Step) -> String {
        if let Some(snapshot) = &step.world {
            self.restore(snapshot);
        }
        self.editing = None;
        self.set_tuning(step.tuning);
        step.label
    }

    /// Back to the first moment of the open scene.
    pub fn reset(&mut self) {
        if let Some(first) = self.first.clone() {
            let step =
                Step { label: "reset".into(), tuning: self.tuning.clone(), world: Some(self.snapshot()) };
            self.history.push(step);
            self.restore(&first);
            self.set_tuning(self.tuning.clone());
        }
    }

    /// Changes the tuned values. Calls with one `gesture` until [`Sandbox::end_gesture`] are one undo step.
    pub fn tune(&mut self, gesture: &'static str, tuning: Tuning) {
        if tuning == self.tuning {
            return;
        }
        if self.editing != Some(gesture) {
            self.history.push(Step { label: gesture.into(), tuning: self.tuning.clone(), world: None });
            self.editing = Some(gesture);
        }
        self.set_tuning(tuning);
    }

    /// As many levels as the panels say, from where on the scene says.
    pub(super) fn adaptive(&self) -> Option<Adaptive> {
        let near = self.scene.adaptive_level.unwrap_or_default().near;
        (self.tuning.far_levels > 0).then_some(Adaptive { near, most: self.tuning.far_levels })
    }

    /// The mouse button was released.
    pub fn end_gesture(&mut self) {
        self.editing = None;
    }

    fn set_tuning(&mut self, tuning: Tuning) {
        let moved = tuning.gravity != self.tuning.gravity
            || Touch::tuned(&tuning) != Touch::tuned(&self.tuning)
            || tuning.far_levels != self.tuning.far_levels
            || tuning.response != self.tuning.response;
        self.tuning = tuning;
        let gone = |pin: &Pin| !self.info.contains_key(&pin.aim.body);
        if self.tuning.pin.as_ref().is_some_and(gone) {
            self.tuning.pin = None;
        }
        self.world.settings.gravity.y = -self.tuning.gravity;
        self.world.settings.response = self.tuning.response;
        self.world.settings.adaptive = self.adaptive();
        self.spread_values();
        if moved {
            self.world.wake_all();
        }
        self.revision += 1;
    }
}

fn mirrored(step: &Step, tuning: Tuning, now: Snapshot) -> Step {
    Step { label: step.label.clone(), tuning, world: step.world.is_some().then_some(now) }
}
