//! Playback of the recording, without simulating or discarding anything.

use super::Session;
use crate::{scene::Sandbox, ui::Command};

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
                | Command::Throw(_)
                | Command::Grab(_)
                | Command::EditPieces(_)
                | Command::SetLevel(_)
                | Command::SetImport { .. }
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
