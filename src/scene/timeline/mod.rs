//! The timeline: recorded states of a scene, in bounded memory, to be shown again.
//!
//! In: the bodies after each step. Out: any recorded state. Poses and velocities are stored for each recorded step,
//! those of sleeping bodies only once; other data of the bodies are stored once as long as the set of bodies is the
//! same, and shared between sets with common bodies.
//!
//! Continuing from an earlier state, undoing or resetting loses nothing: the recorded states are kept as a take, which
//! shares its beginning with the new recording. If memory is full, the oldest take loses every second of the states
//! that it alone has; then takes that use more than half of the memory are dropped; then the current recording loses
//! every second state and records half as often from then on, so that the whole past remains, less finely. Data of the
//! bodies count, too, and are freed with the last state that refers to them.

mod recording;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{
    Moment,
    stage::{Motion, Runs, motions},
};
use crate::bodies::Body;
pub(super) use recording::Frame;
use recording::{Recording, is_of};

/// Memory of states and bodies' data above which states are thinned out, bytes.
const BUDGET: usize = 64 << 20;
/// Most takes besides the current one.
const MOST_TAKES: usize = 8;
/// A take with fewer states of its own is dropped rather than thinned out.
const LEAST_STATES: usize = 32;

/// A recorded state to restore.
pub(super) struct Wanted {
    /// The snapshot, if the present bodies are others.
    pub moment: Option<Arc<Moment>>,
    /// Motions of the bodies in their order.
    pub motions: Runs<Motion>,
    pub time: f64,
    pub next_event: usize,
}

/// A position in the timeline, for undo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mark {
    take: u64,
    scene: u32,
    /// Serial number of the last state.
    last: Option<u64>,
    /// Serial number of the state shown, if that is not the last.
    shown: Option<u64>,
}

/// A take, for display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TakeInfo {
    /// Number by which the user chooses it, from 1.
    pub number: u32,
    /// Duration from its first to its last state, s.
    pub seconds: f64,
    /// Number of bodies at its end.
    pub bodies: usize,
    /// Whether it is the take shown and recorded.
    pub is_current: bool,
}

/// All recorded states.
pub struct Timeline {
    /// The current recording.
    now: Recording,
    /// Other takes, the oldest first.
    takes: Vec<Recording>,
    bytes: usize,
    /// Index of the state shown, if that is not the last.
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
            // The first recording has id 0.
            next_serial: 1,
            scenes: 0,
        }
    }
}

impl Timeline {
    /// Number of recorded states in the current take.
    #[must_use]
    pub fn len(&self) -> usize {
        self.now.frames.len()
    }

    /// Whether nothing is recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.now.frames.is_empty()
    }

    /// Index of the state shown.
    #[must_use]
    pub fn cursor(&self) -> usize {
        self.cursor.unwrap_or(self.len().saturating_sub(1))
    }

    /// Whether there are recorded states after the one shown, so that continuing makes a new take.
    #[must_use]
    pub fn has_future(&self) -> bool {
        self.cursor.is_some()
    }

    /// Time of a recorded state, s.
    #[must_use]
    pub fn time(&self, frame: usize) -> Option<f64> {
        self.now.frames.get(frame).map(|f| f.time)
    }

    /// The last recorded state up to that time (s), or else the first one.
    #[must_use]
    pub fn frame_at(&self, time: f64) -> usize {
        self.now.at(time)
    }

    /// Memory of states and bodies' data in all takes, bytes; octrees and meshes are counted elsewhere.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Snapshots of all sets of bodies in all takes, some more than once.
    pub(super) fn moments(&self) -> impl Iterator<Item = &Moment> {
        let takes = self.takes.iter().chain([&self.now]);
        takes.flat_map(|take| take.frames.iter().map(|frame| &*frame.epoch))
    }

    /// The number of the current take.
    #[must_use]
    pub fn take(&self) -> u32 {
        self.now.number
    }

    /// The id of the current take, which no other take of any scene ever has.
    pub(super) fn take_id(&self) -> u64 {
        self.now.id
    }

    /// Whether the take with an id is there, current or not.
    pub(super) fn has_take(&self, id: u64) -> bool {
        self.takes.iter().chain([&self.now]).any(|take| take.id == id)
    }

    /// The takes of the open scene, by number, without those of a single state.
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

    /// Bodies and motions in another take at that time (s), or at its end if it is shorter.
    pub(super) fn in_take(&self, number: u32, time: f64) -> Option<(&Arc<Moment>, &Runs<Motion>)> {
        let take = self.takes.iter().find(|take| take.number == number && take.scene == self.now.scene)?;
        let frame = take.frames.get(take.at(time))?;
        Some((&frame.epoch, &frame.motions))
    }

    /// The states of the current take from the moment `from` to the moment `until` (s): each is the last state up to that
    /// time.
    pub(super) fn part(&self, [from, until]: [f64; 2]) -> Vec<Arc<Frame>> {
        let (first, last) = (self.now.at(from), self.now.at(until));
        self.now.frames.get(first..=last).map_or_else(Vec::new, <[_]>::to_vec)
    }

    /// The last snapshot in the current take.
    pub(super) fn last(&self) -> Option<&Moment> {
        self.now.frames.last().map(|frame| &*frame.epoch)
    }

    /// Starts the timeline of another scene, or of the open one once its objects have other numbers than recorded
    /// states. Takes of the previous scene are available again if undo reopens it.
    pub(super) fn open_another(&mut self) {
        self.scenes += 1;
        self.go_on_with(Recording { scene: self.scenes, ..Recording::default() });
    }

    /// Starts a new recording; the present one becomes a take.
    pub(super) fn begin_anew(&mut self) {
        self.go_on_with(Recording { scene: self.now.scene, ..Recording::default() });
    }

    /// Records the state of `bodies`. If the set of bodies has changed, or if the state is to begin an epoch `anew`, calls
    /// `moment` for a snapshot, with an earlier one to share data with. States after the one shown become a take.
    pub(super) fn record(
        &mut self,
        (time, next_event): (f64, usize),
        bodies: &[Body],
        anew: bool,
        moment: impl FnOnce(Option<&Moment>) -> Moment,
    ) {
        self.fork();
        let now = &mut self.now;
        let step = now.steps;
        now.steps += 1;
        let before = now.frames.last();
        let epoch = before.map(|before| &before.epoch);
        let same = epoch.filter(|epoch| !anew && is_of(epoch, bodies)).cloned();
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

    /// Removes the last state if its time is `time`, because the next record replaces it.
    pub(super) fn forget_last(&mut self, time: f64) {
        self.fork();
        let frames = &mut self.now.frames;
        if frames.len() > 1 && frames.pop_if(|frame| frame.time == time).is_some() {
            self.count();
        }
    }

    /// Continues from the state shown; the states after it become a take.
    fn fork(&mut self) {
        if let Some(cursor) = self.cursor
            && let Some(serial) = self.now.frames.get(cursor).map(|frame| frame.serial)
        {
            self.go_on_with(self.now.until(serial));
        }
    }

    /// Makes a take the current one, and keeps the present one if it has states of its own.
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

    /// Makes another take the current one; [`Timeline::wanted`] then gives the state to restore. Returns false if there
    /// is no take of that number.
    pub(super) fn choose_take(&mut self, number: u32) -> bool {
        let is_it = |take: &Recording| take.number == number && take.scene == self.now.scene;
        let Some(at) = self.takes.iter().position(is_it) else { return false };
        let take = self.takes.remove(at);
        self.go_on_with(take);
        true
    }

    /// The present position, for undo.
    pub(super) fn mark(&self) -> Mark {
        let shown = self.cursor.and_then(|cursor| self.now.frames.get(cursor)).map(|frame| frame.serial);
        Mark { take: self.now.id, scene: self.now.scene, last: self.now.last(), shown }
    }

    /// Serial numbers of the states of the current take, ascending; [`Timeline::shared_with`] compares another take with
    /// them.
    pub(super) fn serials(&self) -> Vec<u64> {
        self.now.frames.iter().map(|frame| frame.serial).collect()
    }

    /// Time until which the current take is the one whose states have these serial numbers, s; `None` if both share no
    /// state. Takes share nothing but their first states.
    pub(super) fn shared_with(&self, serials: &[u64]) -> Option<f64> {
        let is_shared = |frame: &&Arc<Frame>| serials.binary_search(&frame.serial).is_ok();
        self.now.frames.iter().rev().find(is_shared).map(|frame| frame.time)
    }

    /// Whether a position is in another scene than the open one.
    pub(super) fn is_elsewhere(&self, mark: &Mark) -> bool {
        self.now.scene != mark.scene
    }

    /// Returns to a position; states recorded since become a take. If the position's states were dropped, the recording
    /// is empty.
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

    /// Thins out and drops takes first; they never take more than half of the memory from the current recording.
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

    /// Drops the oldest take, or else the older half of the recording, with their octrees; returns false if there is
    /// nothing to drop.
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

    /// What must be restored to show `frame`: a snapshot if the set of bodies or the epoch differs, and the motions. Call
    /// [`Timeline::shown`] afterwards.
    pub(super) fn wanted(&self, frame: usize, now: &[Body]) -> Option<Wanted> {
        let frame = self.now.frames.get(frame)?;
        let shown = self.now.frames.get(self.cursor());
        let is_another = shown.is_none_or(|shown| !Arc::ptr_eq(&shown.epoch, &frame.epoch));
        Some(Wanted {
            moment: (is_another || !is_of(&frame.epoch, now)).then(|| Arc::clone(&frame.epoch)),
            motions: frame.motions.clone(),
            time: frame.time,
            next_event: frame.next_event,
        })
    }

    /// Sets the state shown.
    pub(super) fn shown(&mut self, frame: usize) {
        self.cursor = (frame + 1 < self.len()).then_some(frame);
    }
}
