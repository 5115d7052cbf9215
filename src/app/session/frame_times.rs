//! Time budgets of a frame, from measured times: for simulation steps, for previews and for the picture.

use std::time::{Duration, Instant};

use crate::{app::resolution::BUDGET_SHARE, scene::PreviewReport};

/// Longest time for a frame's steps, s, unless a single step or the rest of the frame takes longer.
const STEP_BUDGET: f64 = 0.025;
/// Time for steps per second spent on picture and panels, so that a slow picture does not stop the simulation.
const STEP_SHARE: f64 = 0.6;
/// The same ratio up to [`STEPS_FIRST`]: with a small picture, keeping up with real time comes before a larger picture.
const STEP_SHARE_FIRST: f64 = 3.0;
/// Time for steps that a picture leaves free, s.
const STEPS_FIRST: f64 = 0.05;
/// Largest share of the frame time that pictures leave to steps; beyond it, simulated time runs slower.
const MOST_STEPS_SHARE: f64 = 0.75;
/// Share of the frame time that is planned; the rest is a reserve.
const FORESEEN: f64 = 0.95;
/// Previews per second that the preview's level leaves time for, beside panels and a picture.
const PREVIEWS_A_SECOND: f64 = 10.0;
/// Assumed time of a coarse picture, ms.
const PREVIEW_PICTURE_MS: f64 = 15.0;
/// Least number of previews per second that pictures leave time for while a value moves, somewhat above the thirty
/// wanted. At a higher target frame rate, previews follow that rate.
const TUNED_A_SECOND: f64 = 33.0;
/// Tuning ends after a pause of this length.
const TUNING_FOR: Duration = Duration::from_millis(250);
/// Least time for a picture while a value moves, ms.
const LEAST_PICTURE_MS: f64 = 12.0;
/// Weight of a new measurement in a running mean.
const NEW: f64 = 0.2;

/// Times of a frame's parts on the window's thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameParts {
    /// Number of simulation steps.
    pub steps: u32,
    /// Time of the simulation steps, ms.
    pub steps_ms: f64,
    /// Time for the point under the pointer and its preview, ms.
    pub aim_ms: f64,
    /// Time of the picture, ms; 0 if the last one was kept.
    pub picture_ms: f64,
    /// Time of laying out the panels, ms.
    pub panels_ms: f64,
    /// Time of drawing and presenting the window, ms.
    pub present_ms: f64,
}

/// Running means over the last frames.
#[derive(Default)]
pub(super) struct FrameTimes {
    /// The current frame.
    pub parts: FrameParts,
    /// Mean time per picture, ms.
    frame_ms: f64,
    /// Mean time per simulation step, ms.
    step_ms: f64,
    /// Mean time of everything else (preview, panels, presenting), ms.
    rest_ms: f64,
    /// The same without the preview, over frames that had one, ms.
    panels_ms: f64,
    /// The preview's counter in the last frame.
    previewed: u64,
    /// When the preview's counter last changed, and its value.
    tuned: Option<(Instant, u64)>,
}

impl FrameTimes {
    /// Mean time per picture, ms.
    pub fn frame_ms(&self) -> f64 {
        self.frame_ms
    }

    /// Longest time for the steps of a frame, s.
    pub fn step_budget(&self) -> f64 {
        let others = 1e-3 * (self.parts.picture_ms + self.rest_ms);
        STEP_BUDGET.max(STEP_SHARE * others).max(STEPS_FIRST.min(STEP_SHARE_FIRST * others))
    }

    /// Records the number of steps in a frame and their time, ms.
    pub fn steps_took(&mut self, steps: u32, ms: f64) {
        (self.parts.steps, self.parts.steps_ms) = (steps, ms);
        if steps > 0 {
            self.step_ms += NEW * (ms / f64::from(steps) - self.step_ms);
        }
    }

    /// Frame rate to aim at while the simulation runs with steps of `dt` (s of real time): the target rate, drawn in
    /// the time that real-time steps leave.
    pub fn fps_beside_steps(&self, dt: f64, target_fps: f64) -> f64 {
        let between_ms = 1000.0 / target_fps.max(1.0);
        let steps = (self.step_ms * 1e-3 / dt.max(1e-6)).min(MOST_STEPS_SHARE);
        let room_ms = (FORESEEN * between_ms * (1.0 - steps) - self.rest_ms).max(LEAST_PICTURE_MS);
        BUDGET_SHARE * 1000.0 / room_ms
    }

    /// Starts a frame; it may turn out to have no picture.
    pub fn begin(&mut self) {
        self.parts.picture_ms = 0.0;
    }

    /// Records the time of the frame's picture, ms.
    pub fn picture_took(&mut self, ms: f64) {
        self.parts.picture_ms = ms;
        self.frame_ms += NEW * (ms - self.frame_ms);
    }

    /// Records the time of the whole frame, ms. Returns the time available to a preview, ms, if this frame computed
    /// one.
    pub fn frame_took(&mut self, ms: f64, preview: Option<PreviewReport>) -> Option<f64> {
        if self.parts.picture_ms <= 0.0 {
            return None;
        }
        self.rest_ms += NEW * ((ms - self.parts.picture_ms).max(0.0) - self.rest_ms);
        let preview = preview?;
        if std::mem::replace(&mut self.previewed, preview.recomputed) == preview.recomputed {
            return None;
        }
        let others_ms = (ms - self.parts.picture_ms - preview.ms).max(0.0);
        self.panels_ms += NEW * (others_ms - self.panels_ms);
        Some(1000.0 / PREVIEWS_A_SECOND - self.panels_ms - PREVIEW_PICTURE_MS)
    }

    /// Whether the user is tuning a preview, judged by the preview's counter, and the frame rate to aim at, which then
    /// leaves previews their time.
    pub fn wanted_fps(&mut self, recomputed: u64, target_fps: f64) -> (bool, f64) {
        if self.tuned.is_none_or(|(_, known)| known != recomputed) {
            self.tuned = Some((Instant::now(), recomputed));
        }
        if self.tuned.is_none_or(|(at, _)| at.elapsed() >= TUNING_FOR) {
            return (false, target_fps);
        }
        let room_ms = (1000.0 / TUNED_A_SECOND.max(target_fps) - self.rest_ms).max(LEAST_PICTURE_MS);
        (true, target_fps.max(BUDGET_SHARE * 1000.0 / room_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_panels_leave_less_room_and_more_time_for_steps() {
        let mut times = FrameTimes::default();
        assert_eq!(times.step_budget(), STEP_BUDGET);
        let mut rooms = Vec::new();
        for recomputed in 1..40 {
            times.begin();
            assert_eq!(times.frame_took(500.0, None), None, "a frame without a picture says nothing");
            times.picture_took(30.0);
            let preview = PreviewReport { recomputed, ms: 20.0, ..PreviewReport::default() };
            rooms.push(times.frame_took(80.0, Some(preview)).unwrap());
            assert_eq!(times.frame_took(80.0, Some(preview)), None, "nothing was computed anew");
        }
        // Of each 100 ms the panels take 80 - 30 - 20, the coarse picture 15.
        assert!(rooms[0] > rooms[38] && (rooms[38] - 55.0).abs() < 0.1, "{rooms:?}");
        assert!((times.frame_ms() - 30.0).abs() < 0.1);
        assert!((times.step_budget() - STEPS_FIRST).abs() < 1e-3, "{}", times.step_budget());
    }

    #[test]
    fn pictures_leave_time_to_steps() {
        let mut times = FrameTimes::default();
        assert!((times.fps_beside_steps(0.01, 20.0) - BUDGET_SHARE * 20.0 / FORESEEN).abs() < 1e-6);
        for _ in 0..60 {
            times.steps_took(5, 25.0);
        }
        // Steps take half of the time, so a picture has half of it.
        assert!((times.fps_beside_steps(0.01, 20.0) - 2.0 * BUDGET_SHARE * 20.0 / FORESEEN).abs() < 0.1);
        // In slow motion they take less of it.
        assert!(times.fps_beside_steps(0.1, 20.0) < 1.1 * BUDGET_SHARE * 20.0 / FORESEEN);
        for _ in 0..60 {
            times.steps_took(1, 400.0);
        }
        let least = BUDGET_SHARE * 1000.0 / LEAST_PICTURE_MS;
        assert!(times.fps_beside_steps(0.01, 20.0) <= least, "a picture has its least time all the same");
        times.begin();
        times.picture_took(12.0);
        assert!(times.step_budget() >= 3.0 * 0.012, "steps come before larger pictures");
        times.picture_took(200.0);
        assert!((times.step_budget() - STEP_SHARE * 0.2).abs() < 1e-6, "but not before pictures at all");
    }

    #[test]
    fn pictures_hurry_while_a_hand_tunes() {
        let mut times = FrameTimes::default();
        let (tuned, fps) = times.wanted_fps(1, 30.0);
        assert!(tuned && fps >= 30.0);
        std::thread::sleep(TUNING_FOR);
        assert_eq!(times.wanted_fps(1, 30.0), (false, 30.0));
        assert!(times.wanted_fps(2, 30.0).0, "a value has moved again");
    }
}
