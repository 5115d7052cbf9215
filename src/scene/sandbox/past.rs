//! Undo, reset, and recorded states.

use std::{collections::BTreeSet, sync::Arc};

use super::Sandbox;
use crate::fracture::{Dab, Paint};
use crate::scene::{
    BreakSummary, History, Moment, Timeline, Tuning,
    document::Document,
    history::Step,
    stage::{Hand, Stage},
    step_trace::StepTrace,
};

/// A snapshot of everything; it shares unchanged parts with `like`.
pub(super) fn moment(
    document: &Document,
    stage: &Stage,
    (first, last_break): (Option<&Arc<Moment>>, Option<&Arc<BreakSummary>>),
    like: Option<&Moment>,
) -> Moment {
    let stage = stage.standing(like.map(|like| &like.stage));
    let document = document.was_open(like.map(|like| &like.document));
    Moment { stage, document, first: first.cloned(), last_break: last_break.cloned() }
}

impl Sandbox {
    /// The undo steps.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Memory of present and stored octrees and of recorded motion, which have budgets, bytes. `None` while octrees are
    /// being uploaded.
    #[must_use]
    pub fn kept_bytes(&self) -> Option<u64> {
        let arena = self.stage.arena().try_read().ok()?;
        Some(arena.used_bytes() + self.timeline.bytes() as u64)
    }

    /// The recording.
    #[must_use]
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    pub(super) fn moment(&self) -> Moment {
        let first = self.history.first();
        let like = self.history.last().or(self.timeline.last()).or(first.map(|first| &**first));
        moment(&self.document, &self.stage, (first, self.last_break.as_ref()), like)
    }

    /// Restores a snapshot. Tuned values stay.
    fn put_back(&mut self, moment: &Moment) {
        self.jobs.forget_pieces();
        (self.remaking, self.generations) = (None, None);
        (self.taken_back, self.waits_for_pieces, self.hand) = (0, false, Hand::Free);
        self.placing = None;
        self.looking.forget();
        self.last_break.clone_from(&moment.last_break);
        // A push of what happened otherwise, maybe on an object that has another number here or is not there.
        self.push = None;
        self.stage.put_back(&moment.stage);
        self.document.put_back(&moment.document);
    }

    fn restore(&mut self, moment: &Moment) {
        self.put_back(moment);
        // The first snapshot does not refer to itself.
        if let Some(first) = &moment.first {
            self.history.set_first(Arc::clone(first));
        }
    }

    /// Removes breaks from the log that no body comes of: none on the stage, in undo or in the timeline.
    pub(super) fn forget_breaks(&mut self) {
        // The breaks of a scene that is being opened name each other.
        if self.remaking.is_some() {
            return;
        }
        let all = self.history.moments().chain(self.timeline.moments());
        let all = all.flat_map(|moment| [Some(moment), moment.first.as_deref()]).flatten();
        let mut seen = BTreeSet::new();
        let moments = all.filter(|moment| seen.insert(std::ptr::from_ref::<Moment>(*moment)));
        self.breaks.keep(self.stage.infos().chain(moments.flat_map(|moment| moment.stage.infos())));
    }

    /// A snapshot of the present state as an undo step.
    fn now(&self) -> Step {
        let tuning = self.document.tuning().clone();
        let (world, recorded) = (Some(self.moment()), Some(self.timeline.mark()));
        let state = self.document.homes.state();
        Step { label: String::new(), tuning, state, world, recorded, statuses: Some(self.stage.statuses()) }
    }

    /// Adds an undo step with the present state, before the user changes the document.
    pub(super) fn keep_step(&mut self, label: &str) {
        self.keep_step_of_itself(label);
        self.document.homes.changed();
    }

    /// The same before something happens that the document describes already, such as a break by a collision.
    pub(super) fn keep_step_of_itself(&mut self, label: &str) {
        self.end_placing();
        let step = Step { label: label.into(), statuses: None, ..self.now() };
        self.history.push(step);
    }

    /// Undoes the last step; returns its name, or `None`.
    pub fn undo(&mut self) -> Option<String> {
        self.end_placing();
        let now = self.now();
        let step = self.history.undo(|step| mirrored(step, now))?;
        Some(self.apply(step))
    }

    /// Redoes the step undone last; returns its name, or `None`.
    pub fn redo(&mut self) -> Option<String> {
        self.end_placing();
        let now = self.now();
        let step = self.history.redo(|step| mirrored(step, now))?;
        Some(self.apply(step))
    }

    fn apply(&mut self, step: Step) -> String {
        if let Some(moment) = &step.world {
            self.restore(moment);
        }
        if let Some(mark) = &step.recorded {
            if self.timeline.is_elsewhere(mark) {
                self.forget_bonds();
            }
            let before = (self.timeline.take_id(), self.timeline.serials());
            self.timeline.go_back(mark);
            self.forget_figures_not_of(&before);
            self.trace.forget_after(self.stage.time());
        }
        if let Some(statuses) = step.statuses {
            self.stage.set_statuses(statuses);
        }
        self.history.end_gesture();
        let has_world = step.world.is_some();
        let mut tuning = step.tuning;
        tuning.view.explode = self.document.tuning().view.explode;
        self.set_tuning(tuning);
        if has_world {
            self.strengthen();
        }
        self.document.homes.go_back(step.state);
        step.label
    }

    /// Forgets figures of steps that the current take does not share with the take that was current before: its id, and the
    /// serial numbers of its states. Of bonds the current take has those that it keeps.
    fn forget_figures_not_of(&mut self, (take, states): &(u64, Vec<u64>)) {
        self.follow_bonds(*take, states);
        match self.timeline.shared_with(states) {
            Some(time) => self.trace.forget_after(time),
            None => self.trace = StepTrace::default(),
        }
    }

    /// Restores the open scene's start.
    pub fn reset(&mut self) {
        if let Some(first) = self.history.first().cloned() {
            self.keep_step("reset");
            let before = (self.timeline.take_id(), self.timeline.serials());
            self.timeline.begin_anew();
            self.restore(&first);
            self.forget_figures_not_of(&before);
            self.set_tuning(self.document.tuning().clone());
            self.strengthen();
        }
    }

    /// Changes the tuned values. Calls with one `gesture` until [`Sandbox::end_gesture`] are one undo step.
    pub fn tune(&mut self, gesture: &'static str, mut tuning: Tuning) {
        self.end_placing();
        let before = self.document.tuning();
        let mut as_shown = tuning.clone();
        (as_shown.view.explode, as_shown.focus) = (before.view.explode, before.focus);
        as_shown.own.clone_from(&before.own);
        let is_look = as_shown == *before;
        let label = before.named_difference(&tuning).unwrap_or(gesture);
        self.document.spread(&mut tuning);
        // How far apart pieces are drawn, and whose values the panels show, is a look at them, and no change.
        if !is_look {
            self.history.change(gesture, label, self.document.tuning(), self.document.homes.state());
            self.document.homes.changed();
        }
        self.set_tuning(tuning);
    }

    /// Names an object, as an undo step; an empty name gives it its file's again. A name that another object has gets a
    /// number.
    pub fn name_object(&mut self, object: usize, name: &str) {
        if let Some(tuning) = self.document.named(object, name) {
            self.end_gesture();
            self.history.change("name", "name", self.document.tuning(), self.document.homes.state());
            self.history.end_gesture();
            self.set_tuning(tuning);
            self.document.homes.changed();
        }
    }

    /// Ends the gesture, because the mouse button was released.
    pub fn end_gesture(&mut self) {
        self.end_placing();
        self.history.end_gesture();
        self.stroke = None;
    }

    /// Sets the tuned values and applies them to the bodies.
    pub(super) fn set_tuning(&mut self, tuning: Tuning) {
        let other_pairs = tuning.pairs != self.document.tuning().pairs;
        let before = self.document.tuning();
        let weak = |tuning: &Tuning| -> Vec<Dab> {
            let paint = tuning.fracture.paint.iter();
            paint.filter(|dab| dab.kind == Paint::Weak).copied().collect()
        };
        let other_strength = tuning.strength != before.strength || weak(&tuning) != weak(before);
        let moved = self.document.set_tuning(tuning, |body| self.stage.info(body).is_some());
        if other_pairs {
            self.stage.set_pairs(self.document.scene().bodies.len(), &self.document.tuning().pairs);
        }
        self.stage.go_by(self.document.settings(), &self.document.touches());
        if other_strength {
            self.strengthen();
        }
        if moved {
            self.stage.wake_all();
        }
        self.beside.go_by(&self.stage, &self.document.touches(), moved);
    }

    /// Records the state before the first step, if nothing is recorded yet.
    pub(super) fn record_first(&mut self) {
        if self.timeline.is_empty() {
            self.record();
        }
    }

    pub(super) fn record(&mut self) {
        self.record_as(false);
    }

    /// Records the present state as the first of an epoch, because the document has other events now: a state before this
    /// one is restored without them.
    pub(super) fn record_anew(&mut self) {
        if !self.timeline.is_empty() {
            self.record_as(true);
        }
    }

    fn record_as(&mut self, anew: bool) {
        if self.document.is_empty() {
            return;
        }
        // What was recorded after the present state is another take now.
        self.forget_later_bonds();
        let now = (self.stage.time(), self.document.events_over());
        let past = (self.history.first(), self.last_break.as_ref());
        let moment = |like: Option<&Moment>| moment(&self.document, &self.stage, past, like);
        self.timeline.record(now, self.stage.bodies(), anew, moment);
        self.trace.forget_after(now.0);
    }

    /// Records a change of the bodies between two steps. If the simulation itself caused it, the state recorded just
    /// before at the same time is removed, since it must not be a state to continue from.
    pub(super) fn record_change(&mut self, by_itself: bool) {
        if self.timeline.is_empty() {
            return;
        }
        if by_itself {
            self.timeline.forget_last(self.stage.time());
        }
        self.record();
    }

    /// Restores a recorded state: bodies, time and future events. The simulation can continue from there; the states
    /// after it are then kept as a take. Returns false if there is no such state.
    pub fn show_recorded(&mut self, frame: usize) -> bool {
        let Some(wanted) = self.timeline.wanted(frame, self.stage.bodies()) else {
            return false;
        };
        // Fractures in progress belong to the state being left.
        self.jobs.forget_pieces();
        self.generations = None;
        if let Some(moment) = wanted.moment {
            self.put_back(&moment);
            // Present tuned values apply to the restored bodies.
            self.stage.go_by(self.document.settings(), &self.document.touches());
            self.strengthen();
        }
        (self.hand, self.placing) = (Hand::Free, None);
        self.stage.go_to(wanted.time, &wanted.motions);
        self.document.go_to_event(wanted.next_event);
        self.timeline.shown(frame);
        true
    }

    /// Shows another take at the same time, or at its end if it is shorter. Returns false if there is no take of that
    /// number.
    pub fn show_take(&mut self, number: u32) -> bool {
        let (time, before) = (self.stage.time(), (self.timeline.take_id(), self.timeline.serials()));
        if !self.timeline.choose_take(number) {
            return false;
        }
        self.forget_figures_not_of(&before);
        self.show_recorded(self.timeline.frame_at(time))
    }
}

/// The step that leads from the result of `step` back to `now`.
fn mirrored(step: &Step, now: Step) -> Step {
    let world = now.world.filter(|_| step.world.is_some());
    Step {
        label: step.label.clone(),
        world,
        recorded: now.recorded.filter(|_| step.recorded.is_some()),
        statuses: now.statuses.filter(|_| step.statuses.is_some()),
        ..now
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing, *};
    use crate::{
        fracture::FractureParams,
        gpu::Gpu,
        scene::{Arrived, Scene, SceneBody},
    };

    /// Two boxes with different values.
    fn two() -> Scene {
        let body = |friction: f64, level: u32, rng: u64| SceneBody {
            friction,
            physics_level: Some(level),
            fracture: FractureParams { rng, ..FractureParams::default() },
            ..SceneBody::standing("builtin:box".to_owned(), 5)
        };
        Scene { bodies: vec![body(0.5, 5, 3), body(0.05, 4, 4)], ..Scene::default() }
    }

    fn open(scene: Scene) -> Option<Sandbox> {
        Some(testing::shown(&Gpu::for_test()?, scene))
    }

    fn show(sandbox: &mut Sandbox, scene: Scene) {
        sandbox.open_scene(scene);
        testing::until(sandbox, Arrived::Opened);
    }

    fn frictions(sandbox: &Sandbox) -> Vec<f64> {
        sandbox.bodies().iter().map(|b| b.def.friction).collect()
    }

    #[test]
    fn bodies_keep_their_own_values_until_the_panels_change_them() {
        let Some(mut sandbox) = open(two()) else { return };
        let mut tuning = sandbox.tuning().clone();
        tuning.fracture.seeds += 1;
        tuning.view.explode = 0.5;
        sandbox.tune("seeds", tuning.clone());
        assert_eq!(frictions(&sandbox), [0.5, 0.05]);
        let saved = sandbox.scene(crate::render::Camera::default());
        let of = |f: fn(&SceneBody) -> f64| saved.bodies.iter().map(f).collect::<Vec<_>>();
        assert_eq!(of(|b| b.friction), [0.5, 0.05]);
        assert_eq!(of(|b| f64::from(b.physics_level.unwrap())), [5.0, 4.0]);
        // Values set in the panels apply to all bodies; random seeds stay.
        let seeds = f64::from(tuning.fracture.seeds);
        assert_eq!(of(|b| f64::from(b.fracture.seeds)), [seeds; 2]);
        assert_eq!(of(|b| b.fracture.rng as f64), [3.0, 4.0]);

        sandbox.end_gesture();
        tuning.friction = 0.9;
        sandbox.tune("friction", tuning);
        assert_eq!(frictions(&sandbox), [0.9, 0.9]);
        sandbox.undo();
        assert_eq!(frictions(&sandbox), [0.5, 0.05]);
        sandbox.undo();
        let saved = sandbox.scene(crate::render::Camera::default());
        assert_eq!(saved.bodies, two().bodies, "what nobody changed is saved as it was");
    }

    #[test]
    fn drawing_pieces_apart_is_no_step_of_undo_and_undo_leaves_it() {
        let Some(mut sandbox) = open(two()) else { return };
        let mut tuning = sandbox.tuning().clone();
        tuning.friction = 0.9;
        sandbox.tune("friction", tuning.clone());
        sandbox.end_gesture();
        tuning.view.explode = 0.7;
        sandbox.tune("explode", tuning);
        sandbox.end_gesture();
        assert_eq!(sandbox.undo().as_deref(), Some("friction"));
        assert_eq!((sandbox.tuning().view.explode, frictions(&sandbox)), (0.7, vec![0.5, 0.05]));
        assert_eq!(sandbox.redo().as_deref(), Some("friction"));
        assert_eq!((sandbox.tuning().view.explode, frictions(&sandbox)), (0.7, vec![0.9, 0.9]));
    }

    #[test]
    fn undoing_an_open_brings_the_world_back() {
        let Some(mut sandbox) = open(two()) else { return };
        let settings = sandbox.settings().clone();
        let mut other = two();
        other.bodies.truncate(1);
        other.floor = false;
        other.gravity.x = 3.0;
        show(&mut sandbox, other);
        assert_eq!(sandbox.settings().floor, None);
        sandbox.undo();
        assert_eq!(
            (sandbox.settings().floor, sandbox.settings().gravity),
            (settings.floor, settings.gravity)
        );
        sandbox.reset();
        assert_eq!(sandbox.bodies().len(), 2, "reset goes back to the scene that is open");
        sandbox.undo();
        sandbox.redo();
        assert_eq!(sandbox.bodies().len(), 2);
    }
}
