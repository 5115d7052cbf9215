//! What frames take, and what that leaves: to steps of time, to previews, to pictures.

use std::time::{Duration, Instant};

use crate::{app::resolution::BUDGET_SHARE, scene::PreviewReport};

/// Longest time that one picture spends on steps, s, unless a single step takes longer or the rest of the
/// picture does.
const STEP_BUDGET: f64 = 0.025;
/// What steps may take for each second that panels and picture take: on a slow machine time must not stand
/// still for the picture's sake.
const STEP_SHARE: f64 = 0.6;
/// The same, up to [`STEPS_FIRST`]: a small picture is quickly drawn, and time that keeps up comes before a larger one.
const STEP_SHARE_FIRST: f64 = 3.0;
/// Time for steps that a picture makes room for, s.
const STEPS_FIRST: f64 = 0.05;
/// Share of the time that steps may have for pictures to make room for them: beyond, time runs slower.
const MOST_STEPS_SHARE: f64 = 0.75;
/// What is left of the time between two pictures for what nobody foresees.
const FORESEEN: f64 = 0.95;
/// Previews a second that the level of a preview makes room for, beside the panels and a picture.
const PREVIEWS_A_SECOND: f64 = 10.0;
/// What a coarse picture takes, ms.
const PREVIEW_PICTURE_MS: f64 = 15.0;
/// Previews a second that pictures make room for while a value moves, at the least: somewhat more than the thirty that
/// are wanted. Where more pictures a second are aimed at, previews keep up with them.
const TUNED_A_SECOND: f64 = 33.0;
/// A hand that rested this long no longer tunes.
const TUNING_FOR: Duration = Duration::from_millis(250);
/// Least time for a picture while a value moves, ms.
const LEAST_PICTURE_MS: f64 = 12.0;
/// Share of a new measurement in a mean.
const NEW: f64 = 0.2;

/// What the parts of a frame took on the window's thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameParts {
    /// Steps of simulated time.
    pub steps: u32,
    /// They took, ms.
    pub steps_ms: f64,
    /// What the pointer is over, and the preview there, ms.
    pub aim_ms: f64,
    /// The picture in the middle, ms; 0 where the last one stayed.
    pub picture_ms: f64,
    /// Layout of the panels, ms.
    pub panels_ms: f64,
    /// Drawing all of it onto the window, and waiting for that, ms.
    pub present_ms: f64,
}

/// Times of the last frames.
#[derive(Default)]
pub(super) struct FrameTimes {
    /// Of the frame that is being made.
    pub parts: FrameParts,
    /// One picture, a mean, ms.
    frame_ms: f64,
    /// One step of simulated time, a mean, ms.
    step_ms: f64,
    /// What frames take beside their pictures and steps (preview, panels, presenting), a mean, ms.
    rest_ms: f64,
    /// The same without the preview, in frames that had one, a mean, ms.
    panels_ms: f64,
    /// How often the preview had been computed by the last frame.
    previewed: u64,
    /// When the preview was last computed anew, and how often it had been by then.
    tuned: Option<(Instant, u64)>,
}

impl FrameTimes {
    /// Time for one picture, a mean, ms.
    pub fn frame_ms(&self) -> f64 {
        self.frame_ms
    }

    /// Longest time for the steps of a frame, s.
    pub fn step_budget(&self) -> f64 {
        let others = 1e-3 * (self.parts.picture_ms + self.rest_ms);
        STEP_BUDGET.max(STEP_SHARE * others).max(STEPS_FIRST.min(STEP_SHARE_FIRST * others))
    }

    /// So many steps were taken for the frame, in so many ms.
    pub fn steps_took(&mut self, steps: u32, ms: f64) {
        (self.parts.steps, self.parts.steps_ms) = (steps, ms);
        if steps > 0 {
            self.step_ms += NEW * (ms / f64::from(steps) - self.step_ms);
        }
    }

    /// Pictures a second to aim at while steps of `dt` (s, of real time) go on: those that are wanted, drawn in the
    /// time that steps that keep up leave between two of them.
    pub fn fps_beside_steps(&self, dt: f64, target_fps: f64) -> f64 {
        let between_ms = 1000.0 / target_fps.max(1.0);
        let steps = (self.step_ms * 1e-3 / dt.max(1e-6)).min(MOST_STEPS_SHARE);
        let room_ms = (FORESEEN * between_ms * (1.0 - steps) - self.rest_ms).max(LEAST_PICTURE_MS);
        BUDGET_SHARE * 1000.0 / room_ms
    }

    /// A frame begins, which may have no picture.
    pub fn begin(&mut self) {
        self.parts.picture_ms = 0.0;
    }

    /// Its picture took so long, ms.
    pub fn picture_took(&mut self, ms: f64) {
        self.parts.picture_ms = ms;
        self.frame_ms += NEW * (ms - self.frame_ms);
    }

    /// All the work for it took so long, ms; the time that this leaves to a preview, ms, where one was
    /// computed in it.
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

    /// Whether previews follow a hand, by how often they were computed, and pictures a second to aim at: then
    /// pictures leave them room for ten a second.
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
        // The panels take 80 - 30 - 20 of each hundred milliseconds, the coarse picture 15.
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
