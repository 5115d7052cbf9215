//! The past of a scene: states at recorded steps, in bounded memory, to be shown again.
//!
//! In: the bodies after each step. Out: any recorded state. Poses and velocities are kept for each recorded
//! step, of bodies that sleep but once; what the bodies are is kept for as long as the same ones live, and shared by those
//! that live on when others come or go.
//!
//! Who goes on from an earlier state, takes a step back or begins anew loses nothing: what was recorded is kept as a
//! take, which shares its beginning with what is recorded from then on. When the memory is full, the oldest take loses
//! every second state that it alone has; then takes are forgotten that use more than half of the memory; then what is
//! being recorded loses every second state, and half as many are recorded from then on, so that the whole past stays,
//! less finely. What bodies are counts, too, and goes with the last state that needs it.

mod recording;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{
    Moment,
    stage::{Motion, Runs, motions},
};
use crate::bodies::Body;
use recording::{Frame, Recording, is_of};

/// Bytes of states, and of what the bodies are, above which they are thinned out.
const BUDGET: usize = 64 << 20;
/// Takes beside the one that goes on.
const MOST_TAKES: usize = 8;
/// States of its own that a take keeps until it is forgotten.
const LEAST_STATES: usize = 32;

/// What has to be put back.
pub(super) struct Wanted {
    /// Other bodies than live now.
    pub moment: Option<Arc<Moment>>,
    /// Of the bodies in their order.
    pub motions: Runs<Motion>,
    pub time: f64,
    pub next_event: usize,
}

/// Where in the past something was, for undo to go back to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mark {
    take: u64,
    scene: u32,
    /// The last state that there was.
    last: Option<u64>,
    /// The state that was shown, where that was not the last.
    shown: Option<u64>,
}

/// A take as people see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TakeInfo {
    /// By which it is chosen, from 1.
    pub number: u32,
    /// From its first state to its last, s.
    pub seconds: f64,
    /// Bodies at its end.
    pub bodies: usize,
    /// Whether it is the one that is shown, and goes on.
    pub is_current: bool,
}

/// Recorded states.
pub struct Timeline {
    /// What goes on.
    now: Recording,
    /// What went another way, the one kept longest first.
    takes: Vec<Recording>,
    bytes: usize,
    /// The frame that is shown, where that is not the last.
    cursor: Option<usize>,
    next_serial: u64,
    scenes: u32,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            now: Recording { number: 1, ..Recording::default() },
            takes: Vec::new(),
            bytes: 0,
            cursor: None,
            // The first recording has the first.
            next_serial: 1,
            scenes: 0,
        }
    }
}

impl Timeline {
    /// Recorded states of the take that is shown.
    #[must_use]
    pub fn len(&self) -> usize {
        self.now.frames.len()
    }

    /// Nothing recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.now.frames.is_empty()
    }

    /// The state that is shown.
    #[must_use]
    pub fn cursor(&self) -> usize {
        self.cursor.unwrap_or(self.len().saturating_sub(1))
    }

    /// Whether something was recorded after the state that is shown: what is done now goes another way.
    #[must_use]
    pub fn has_future(&self) -> bool {
        self.cursor.is_some()
    }

    /// Time of a recorded state, s.
    #[must_use]
    pub fn time(&self, frame: usize) -> Option<f64> {
        self.now.frames.get(frame).map(|f| f.time)
    }

    /// The last recorded state of at most that time (s), else the first one.
    #[must_use]
    pub fn frame_at(&self, time: f64) -> usize {
        self.now.at(time)
    }

    /// Memory of the states and of what the bodies are, in all takes, bytes; octrees and meshes are counted elsewhere.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of the take that is shown.
    #[must_use]
    pub fn take(&self) -> u32 {
        self.now.number
    }

    /// What was recorded of the open scene, by number; what holds a single state is none.
    #[must_use]
    pub fn takes(&self) -> Vec<TakeInfo> {
        let of_scene = self.takes.iter().chain([&self.now]).filter(|take| take.scene == self.now.scene);
        let told = |take: &Recording| {
            let ([first, .., last] | [first @ last]) = &take.frames[..] else { return None };
            let is_current = take.number == self.now.number;
            (is_current || take.frames.len() > 1).then(|| TakeInfo {
                number: take.number,
                seconds: last.time - first.time,
                bodies: last.epoch.stage.ids().count(),
                is_current,
            })
        };
        let mut all: Vec<TakeInfo> = of_scene.filter_map(told).collect();
        all.sort_by_key(|take| take.number);
        all
    }

    /// What the bodies were and where, in another take at that time (s), or at its end where it is shorter.
    pub(super) fn in_take(&self, number: u32, time: f64) -> Option<(&Arc<Moment>, &Runs<Motion>)> {
        let take = self.takes.iter().find(|take| take.number == number && take.scene == self.now.scene)?;
        let frame = take.frames.get(take.at(time))?;
        Some((&frame.epoch, &frame.motions))
    }

    /// The last moment that it keeps.
    pub(super) fn last(&self) -> Option<&Moment> {
        self.now.frames.last().map(|frame| &*frame.epoch)
    }

    /// Another scene is open. What was recorded of the one before is there when undo opens that again.
    pub(super) fn open_another(&mut self) {
        self.scenes += 1;
        self.go_on_with(Recording { scene: self.scenes, ..Recording::default() });
    }

    /// Time begins anew; what was recorded is a take.
    pub(super) fn begin_anew(&mut self) {
        self.go_on_with(Recording { scene: self.now.scene, ..Recording::default() });
    }

    /// Keeps the state of `bodies`; `moment` is asked for where other bodies live than before, and told what it may
    /// share. What was recorded after the state that is shown becomes a take: time goes on from there.
    pub(super) fn record(
        &mut self,
        (time, next_event): (f64, usize),
        bodies: &[Body],
        moment: impl FnOnce(Option<&Moment>) -> Moment,
    ) {
        self.fork();
        let now = &mut self.now;
        let step = now.steps;
        now.steps += 1;
        let before = now.frames.last();
        let epoch = before.map(|before| &before.epoch);
        let same = epoch.filter(|epoch| is_of(epoch, bodies)).cloned();
        if same.is_some() && step & ((1 << now.stride_log) - 1) != 0 {
            return;
        }
        let epoch = same.unwrap_or_else(|| {
            let like = epoch.map(|epoch| &**epoch);
            let new = moment(like);
            self.bytes += new.bytes_beside(like);
            Arc::new(new)
        });
        let motions = Runs::of(motions(bodies), before.map(|before| &before.motions));
        let serial = self.next_serial;
        self.next_serial += 1;
        let frame = Frame { time, next_event, serial, epoch, motions };
        self.bytes += frame.bytes_beside(before.map(|before| &**before));
        now.frames.push(Arc::new(frame));
        self.keep_to_budget();
    }

    /// Forgets the last state, where it is of `time`: what is recorded next is what became of it at once.
    pub(super) fn forget_last(&mut self, time: f64) {
        self.fork();
        let frames = &mut self.now.frames;
        if frames.len() > 1 && frames.pop_if(|frame| frame.time == time).is_some() {
            self.count();
        }
    }

    /// Goes on from the state that is shown; what was recorded after it becomes a take.
    fn fork(&mut self) {
        if let Some(cursor) = self.cursor
            && let Some(serial) = self.now.frames.get(cursor).map(|frame| frame.serial)
        {
            self.go_on_with(self.now.until(serial));
        }
    }

    /// Lets that take be the one that goes on, and keeps the one that did where it has something that no other has.
    fn go_on_with(&mut self, take: Recording) {
        self.cursor = None;
        let before = std::mem::replace(&mut self.now, take);
        self.park(before);
        if self.now.number == 0 {
            let of_scene = self.takes.iter().filter(|take| take.scene == self.now.scene);
            self.now.number = 1 + of_scene.map(|take| take.number).max().unwrap_or(0);
            self.now.id = self.next_serial;
            self.next_serial += 1;
        }
        self.count();
    }

    fn park(&mut self, take: Recording) {
        let is_own = take.frames.last().is_some_and(|last| Arc::strong_count(last) == 1);
        if !is_own || take.frames.len() < 2 {
            return;
        }
        self.takes.push(take);
        if self.takes.len() > MOST_TAKES {
            self.takes.remove(0);
        }
    }

    /// Shows another take from now on. [`Timeline::wanted`] says what has to be put back. False where there is none of
    /// that number.
    pub(super) fn choose_take(&mut self, number: u32) -> bool {
        let is_it = |take: &Recording| take.number == number && take.scene == self.now.scene;
        let Some(at) = self.takes.iter().position(is_it) else { return false };
        let take = self.takes.remove(at);
        self.go_on_with(take);
        true
    }

    /// Where it is now, for undo.
    pub(super) fn mark(&self) -> Mark {
        let shown = self.cursor.and_then(|cursor| self.now.frames.get(cursor)).map(|frame| frame.serial);
        Mark { take: self.now.id, scene: self.now.scene, last: self.now.last(), shown }
    }

    /// As it was there; what was recorded since is a take. Where that was forgotten, nothing is recorded.
    pub(super) fn go_back(&mut self, mark: &Mark) {
        let is_whole = |take: &Recording| take.id == mark.take && take.last() == mark.last;
        if is_whole(&self.now) {
            self.cursor = None;
        } else if let Some(at) = self.takes.iter().position(is_whole) {
            let take = self.takes.remove(at);
            self.go_on_with(take);
        } else {
            let all = || self.takes.iter().chain([&self.now]).filter(|take| take.scene == mark.scene);
            let part = mark.last.and_then(|last| {
                let named = all().find(|take| take.id == mark.take);
                named.or_else(|| all().find(|take| take.has(last))).map(|take| take.until(last))
            });
            self.go_on_with(part.unwrap_or(Recording { scene: mark.scene, ..Recording::default() }));
        }
        if let Some(shown) = mark.shown {
            let after = self.now.frames.partition_point(|frame| frame.serial <= shown);
            self.shown(after.saturating_sub(1));
        }
    }

    fn count(&mut self) {
        self.bytes = self.takes.iter().chain([&self.now]).map(Recording::bytes).sum::<f64>() as usize;
    }

    /// Takes go first, and never take more than half of the memory from what goes on.
    fn keep_to_budget(&mut self) {
        while self.bytes > BUDGET {
            if let Some(take) = self.takes.iter_mut().find(|take| take.own() > LEAST_STATES) {
                take.thin(true);
            } else if !self.takes.is_empty() && (self.len() <= 2 || self.now.bytes() < 0.5 * BUDGET as f64) {
                self.takes.remove(0);
            } else if self.len() > 2 {
                self.now.thin(false);
            } else {
                return;
            }
            self.count();
        }
    }

    /// Forgets the oldest take, else the older half, with the octrees that only it holds; false when there was nothing to
    /// forget.
    pub(super) fn shrink(&mut self) -> bool {
        if !self.takes.is_empty() {
            self.takes.remove(0);
            self.count();
            return true;
        }
        let epochs = self.now.epochs();
        if epochs < 2 {
            return false;
        }
        let lost = self.now.forget_epochs(epochs / 2);
        self.cursor = self.cursor.and_then(|c| c.checked_sub(lost)).filter(|c| *c < self.len());
        self.count();
        true
    }

    /// What has to be put back to show `frame`: the moment where other bodies live now, and the states. Call
    /// [`Timeline::shown`] afterwards.
    pub(super) fn wanted(&self, frame: usize, now: &[Body]) -> Option<Wanted> {
        let frame = self.now.frames.get(frame)?;
        Some(Wanted {
            moment: (!is_of(&frame.epoch, now)).then(|| Arc::clone(&frame.epoch)),
            motions: frame.motions.clone(),
            time: frame.time,
            next_event: frame.next_event,
        })
    }

    /// `frame` is shown now.
    pub(super) fn shown(&mut self, frame: usize) {
        self.cursor = (frame + 1 < self.len()).then_some(frame);
    }
}
