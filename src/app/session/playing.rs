//! Simulated time in the window: real-time steps, slow motion, the recording; and the hand that drags or throws.
//!
//! Playback of the recording, without simulating or discarding anything.

use std::time::{Duration, Instant};

use super::Session;
use crate::{
    app::clock::{Clock, Time},
    scene::Sandbox,
    ui::{Command, DragView, NoticeKind},
};

/// Longest time per frame for comparison views to catch up with the document.
const CATCH_UP: Duration = Duration::from_millis(30);

/// The clock, and the hand.
pub(super) struct Playing {
    clock: Clock,
    last_advance: Option<Instant>,
    /// Simulated seconds per real second over the last frames.
    pace: f64,
    /// Depth of the hand's point along the view direction, m.
    depth: Option<f32>,
    /// Playback of the recording.
    pub replay: Replay,
    /// Whether the user was told that speeds are cut.
    told_of_cut_speeds: bool,
    /// Whether time stands still only until another scene comes.
    stands_for_now: bool,
}

impl Default for Playing {
    fn default() -> Self {
        Self {
            clock: Clock::new(Time::Realtime),
            last_advance: None,
            pace: 1.0,
            depth: None,
            replay: Replay::default(),
            told_of_cut_speeds: false,
            stands_for_now: false,
        }
    }
}

impl Playing {
    /// Starts afresh for another scene, with no time to catch up.
    pub fn begin_anew(&mut self) {
        if std::mem::take(&mut self.stands_for_now) {
            self.clock.time = Time::Realtime;
        }
        self.clock.forget();
        self.last_advance = None;
        self.replay.running = false;
    }

    /// Stops simulated time for the scene that has just come, if it runs.
    pub fn stand_for_now(&mut self) {
        self.stands_for_now = self.clock.time != Time::Paused;
        self.pause();
    }

    /// Stops simulated time.
    pub fn pause(&mut self) {
        self.clock.time = Time::Paused;
        self.last_advance = None;
    }

    /// Stops simulated time and playback.
    pub fn stop(&mut self) {
        self.pause();
        self.replay.running = false;
    }

    /// Simulated seconds per real second that the user chose.
    pub fn speed(&self) -> f64 {
        self.clock.speed
    }

    /// Drops the real time that passed during a long computation.
    pub fn take_a_breath(&mut self) {
        self.last_advance = None;
    }
}

impl Session {
    /// Whether time runs.
    pub fn playing(&self) -> bool {
        self.playing.clock.time != Time::Paused
    }

    /// Simulated seconds per real second over the last frames.
    pub fn pace(&self) -> f64 {
        self.playing.pace
    }

    /// Simulated seconds per real second that the user chose.
    pub fn speed(&self) -> f64 {
        self.playing.speed()
    }

    /// Advances the simulation by the real time passed.
    pub fn advance(&mut self) {
        let passed =
            self.playing.last_advance.replace(Instant::now()).map_or(0.0, |t| t.elapsed().as_secs_f64());
        self.times.steps_took(0, 0.0);
        let eye = self.camera.eye().as_dvec3();
        let Some(sandbox) = self.sandbox.as_mut() else { return };
        sandbox.catch_up_beside(Instant::now() + CATCH_UP);
        if self.playing.replay.running {
            self.advance_replay(passed);
            return;
        }
        if !sandbox.has_motion() && !sandbox.has_motion_beside() {
            self.playing.clock.forget();
            return;
        }
        sandbox.set_eye(eye);
        // During a fracture time stops, so that the blow and its effect happen at the same moment; this holds for all
        // methods in comparison views.
        if sandbox.is_breaking() || sandbox.time_waits_for_beside() {
            return;
        }
        let dt = sandbox.settings().dt;
        let wanted = self.playing.clock.steps(passed, dt);
        let budget = self.times.step_budget();
        let (start, frozen, take) = (Instant::now(), sandbox.frozen(), sandbox.timeline().take());
        let mut done = 0;
        for _ in 0..wanted {
            let stepped = if sandbox.has_motion() { sandbox.step() } else { Ok(()) };
            if let Err(error) = stepped {
                if !error.is_loss() {
                    self.playing.clock.time = Time::Paused;
                }
                self.tell_of(error);
                break;
            }
            sandbox.step_beside();
            done += 1;
            // The bodies that broke in this step must be replaced before the next step.
            if sandbox.is_breaking() {
                self.playing.clock.forget();
                break;
            }
            if start.elapsed().as_secs_f64() > budget {
                self.playing.clock.forget();
                break;
            }
        }
        self.times.steps_took(done, start.elapsed().as_secs_f64() * 1e3);
        if passed > 0.0 && self.playing() {
            self.playing.pace +=
                0.15 * (f64::from(done) * dt / (passed * self.playing.clock.speed) - self.playing.pace);
        }
        self.tell_frozen(frozen);
        self.tell_take(take);
    }

    /// Shows a message if the simulation diverged from the take shown before.
    pub(super) fn tell_take(&mut self, before: u32) {
        let Some(sandbox) = &self.sandbox else { return };
        let timeline = sandbox.timeline();
        let is_kept = timeline.takes().iter().any(|take| take.number == before);
        if timeline.take() != before && is_kept {
            let text = format!(
                "What was recorded after this moment is kept as take {before} (Takes, below the picture)"
            );
            self.say(NoticeKind::Remark, text);
        }
    }

    /// Shows a message if bodies were frozen, and the first time that a speed was cut.
    fn tell_frozen(&mut self, before: usize) {
        let cut = self.sandbox.as_ref().map_or(0, |sandbox| sandbox.last_step().cut);
        if cut > 0 && !self.playing.told_of_cut_speeds {
            self.playing.told_of_cut_speeds = true;
            let text = "A body was to move faster than 200 m/s, or turn by more than half a radian a substep; its speed \
                        is cut to that";
            self.say(NoticeKind::Remark, text);
        }
        let now = self.sandbox.as_ref().map_or(0, Sandbox::frozen);
        if now > before {
            let text = format!(
                "{now} bodies moved too far or got numbers that are not finite; they are frozen where they were"
            );
            self.say(NoticeKind::Remark, text);
        }
    }

    /// Executes a command of time or of the hand.
    pub(super) fn play(&mut self, command: &Command) {
        match command {
            Command::Play(play) => {
                self.playing.stands_for_now = false;
                let speed = self.playing.clock.speed;
                self.playing.clock = Clock::new(if *play { Time::Realtime } else { Time::Paused });
                self.playing.clock.speed = speed;
                self.playing.last_advance = None;
                self.playing.replay.running = false;
            }
            Command::Speed(speed) => self.playing.clock.speed = speed.clamp(0.001, 1.0),
            Command::Step => {
                self.playing.clock.time = Time::Paused;
                let waits = |s: &&mut Sandbox| s.is_breaking() || s.time_waits_for_beside();
                let Some(sandbox) = self.sandbox.as_mut().filter(|s| !waits(s)) else { return };
                let (frozen, take) = (sandbox.frozen(), sandbox.timeline().take());
                match sandbox.step() {
                    Ok(()) => sandbox.step_beside(),
                    Err(error) => self.tell_of(error),
                }
                self.tell_frozen(frozen);
                self.tell_take(take);
            }
            Command::ShowRecorded(frame) => {
                self.playing.clock.time = Time::Paused;
                self.playing.replay.running = false;
                if let Some(sandbox) = &mut self.sandbox {
                    sandbox.show_recorded(*frame);
                }
            }
            Command::Grab(at) => {
                if let Some((pick, _)) = self.pick_through(*at)
                    && let Some(sandbox) = &mut self.sandbox
                {
                    sandbox.grab(&pick);
                    let forward = self.camera.axes().forward;
                    let depth = (pick.point.as_vec3() - self.camera.eye()).dot(forward);
                    self.playing.depth = sandbox.held().map(|_| depth);
                }
            }
            Command::Drag([x, y]) => {
                let (origin, direction) = self.camera.ray(*x, *y, self.aspect);
                let along = direction.dot(self.camera.axes().forward).max(1e-3);
                if let (Some(depth), Some(sandbox)) = (self.playing.depth, &mut self.sandbox) {
                    sandbox.drag((origin + direction * (depth / along)).as_dvec3());
                }
            }
            Command::Release => {
                self.playing.depth = None;
                if let Some(sandbox) = &mut self.sandbox {
                    sandbox.release();
                }
            }
            Command::Throw([x, y]) => {
                let (origin, direction) = self.camera.ray(*x, *y, self.aspect);
                // Slightly below the camera, so that the throw is visible.
                let hand = origin + direction * 0.3 - self.camera.axes().up * 0.12;
                if let Some(sandbox) = &mut self.sandbox {
                    sandbox.throw(hand.as_dvec3(), direction.as_dvec3());
                }
            }
            _ => {}
        }
    }

    /// The grabbed point and the hand, as the panels draw them.
    pub fn drag_view(&self) -> Option<DragView> {
        let (point, target) = self.sandbox.as_ref()?.held()?;
        Some(DragView { point: point.as_vec3(), target: target.as_vec3() })
    }
}

/// Longest real time that one picture advances the playback by, s.
const MOST_SECS: f64 = 0.25;

/// State of the playback.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Replay {
    /// Whether playback is running.
    pub running: bool,
    /// Whether playback starts over at the end.
    pub looped: bool,
    /// Recorded time of the playback, s.
    time: f64,
}

impl Replay {
    /// Starts at the moment shown, in a recording from `first` to `last` (s), or at its beginning if the moment shown
    /// is its end.
    fn start(&mut self, shown: f64, [first, last]: [f64; 2]) {
        self.running = last > first;
        self.time = if shown >= last { first } else { shown.max(first) };
    }

    /// The recorded time after `secs` more seconds. At the end playback stops or starts over.
    fn next(&mut self, secs: f64, [first, last]: [f64; 2]) -> f64 {
        // The last moment is shown before the first one follows.
        let over = self.looped && self.time >= last;
        self.time += secs.clamp(0.0, MOST_SECS);
        if self.time >= last {
            self.time = if over { first } else { last };
            self.running = self.looped && last > first;
        }
        self.time
    }
}

/// First and last recorded time, s.
fn recorded(sandbox: &Sandbox) -> Option<[f64; 2]> {
    let timeline = sandbox.timeline();
    Some([timeline.time(0)?, timeline.time(timeline.len().checked_sub(1)?)?])
}

impl Session {
    /// Whether playback is running.
    pub fn replaying(&self) -> bool {
        self.playing.replay.running
    }

    /// The playback's state for the panels.
    pub fn replay_view(&self) -> crate::ui::ReplayView {
        let Replay { running, looped, .. } = self.playing.replay;
        crate::ui::ReplayView { running, looped }
    }

    pub(super) fn advance_replay(&mut self, passed: f64) {
        let Some(sandbox) = &mut self.sandbox else { return };
        let Some(recorded) = recorded(sandbox) else {
            self.playing.replay.running = false;
            return;
        };
        let time = self.playing.replay.next(passed * self.playing.speed(), recorded);
        let frame = sandbox.timeline().frame_at(time);
        if frame != sandbox.timeline().cursor() {
            sandbox.show_recorded(frame);
        }
    }

    /// Executes a command of the recording or of takes.
    pub(super) fn use_recording(&mut self, command: &Command) {
        let Some(sandbox) = &mut self.sandbox else { return };
        match command {
            Command::Replay(false) => self.playing.replay.running = false,
            Command::Replay(true) => {
                if let Some(recorded) = recorded(sandbox) {
                    let shown = sandbox.timeline().time(sandbox.timeline().cursor()).unwrap_or(0.0);
                    self.playing.replay.start(shown, recorded);
                    self.playing.pause();
                }
            }
            Command::LoopReplay(looped) => self.playing.replay.looped = *looped,
            // Everything stops, so that the user can look at the chosen moment.
            Command::ShowTake(number) if sandbox.show_take(*number) => self.playing.stop(),
            Command::SwapTakes if sandbox.swap_takes() => self.playing.stop(),
            Command::Compare(take) => sandbox.compare(*take),
            _ => {}
        }
    }

    /// Stops playback before a command that changes the scene.
    pub(super) fn stop_replay_for(&mut self, command: &Command) {
        let changes = matches!(
            command,
            Command::Open(_)
                | Command::Undo
                | Command::Redo
                | Command::Reset
                | Command::Hit(_)
                | Command::BreakPin
                | Command::CrackPin
                | Command::Throw(_)
                | Command::Grab(_)
                | Command::EditPieces(_)
                | Command::SetLevel(_)
                | Command::SetImport { .. }
                | Command::TakeAs(..)
                | Command::StandUp(..)
                | Command::TakeObjects(..)
        );
        if changes {
            self.playing.replay.running = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing, *};
    use crate::scene::Arrived;

    #[test]
    fn a_recording_ends_or_begins_again() {
        let mut replay = Replay::default();
        replay.start(0.0, [0.0, 0.0]);
        assert!(!replay.running, "there is nothing to show");
        replay.start(1.0, [0.0, 1.0]);
        assert!(replay.running && replay.time == 0.0, "from the start where it is at its end");
        replay.start(0.5, [0.0, 1.0]);
        let mut times: Vec<f64> = (0..3).map(|_| replay.next(0.2, [0.0, 1.0])).collect();
        assert!(!replay.running);
        (replay.running, replay.looped) = (true, true);
        times.extend((0..3).map(|_| replay.next(0.2, [0.0, 1.0])));
        let rounded: Vec<f64> = times.iter().map(|t| (t * 10.0).round() / 10.0).collect();
        assert_eq!(rounded, [0.7, 0.9, 1.0, 0.0, 0.2, 0.4]);
        assert!(replay.running);
        replay.next(1e9, [0.0, 1.0]);
        assert!(replay.time < 0.7, "a long frame is not made up for");
    }

    #[test]
    fn the_recording_is_played_again_and_nothing_of_it_is_lost() {
        let mut session = testing::session();
        session.apply(Command::Play(false));
        let sandbox = session.sandbox.as_mut().unwrap();
        let body = sandbox.bodies()[0].id;
        sandbox.break_at(body, sandbox.bodies()[0].state.position, glam::DVec3::NEG_Y);
        while sandbox.poll().unwrap() != Some(Arrived::Broke) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        for _ in 0..20 {
            sandbox.step().unwrap();
        }
        let positions = |session: &Session| -> Vec<glam::DVec3> {
            session.sandbox.as_ref().unwrap().bodies().iter().map(|b| b.state.position).collect()
        };
        let (end, count) = (positions(&session), session.sandbox.as_ref().unwrap().timeline().len());
        let cursor = |session: &Session| session.sandbox.as_ref().unwrap().timeline().cursor();
        session.apply(Command::Replay(true));
        assert!(session.replaying() && !session.playing());
        session.advance_replay(0.0);
        assert_eq!(cursor(&session), 0);
        assert_ne!(positions(&session), end);
        let mut seen = Vec::new();
        while session.replaying() {
            session.advance_replay(0.03);
            seen.push(cursor(&session));
        }
        assert!(seen.is_sorted() && seen.len() > 5, "{seen:?}");
        assert_eq!(positions(&session), end);
        let timeline = session.sandbox.as_ref().unwrap().timeline();
        assert_eq!((timeline.len(), timeline.takes().len()), (count, 1));
        // In a loop it starts over; a blow ends it.
        session.apply(Command::LoopReplay(true));
        session.apply(Command::Replay(true));
        (0..20).for_each(|_| session.advance_replay(0.03));
        assert!(session.replaying());
        session.apply(Command::Hit([0.5, 0.5]));
        assert!(!session.replaying());
        // Space stops playback; the simulation does not continue from an earlier moment by itself.
        session.apply(Command::ShowRecorded(3));
        session.apply(Command::Replay(true));
        session.advance_replay(0.01);
        assert_eq!(cursor(&session), 4);
        session.apply(Command::Replay(false));
        session.advance();
        assert_eq!((cursor(&session), session.playing()), (4, false));
        // A simulation that continues from there keeps the rest as a take.
        session.apply(Command::Step);
        let timeline = session.sandbox.as_ref().unwrap().timeline();
        assert_eq!((timeline.len(), timeline.takes().len(), timeline.take()), (6, 2, 2));
        assert!(session.remarks().iter().any(|text| text.contains("take 1")), "{:?}", session.remarks());
        session.apply(Command::Compare(Some(1)));
        session.apply(Command::SwapTakes);
        let sandbox = session.sandbox.as_ref().unwrap();
        assert_eq!((sandbox.timeline().take(), sandbox.compared()), (1, Some(2)));
    }
}
