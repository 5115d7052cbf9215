//! Adapts the picture's resolution to the measured time per picture, so that a machine without a GPU stays usable.
//!
//! In: measured times. Out: the size at which rays are cast. During motion the size aims at the target frame rate; at
//! rest, pictures at a larger size are accumulated, each of which may take [`STILL_MS`] at most.

/// Longest time for one picture at rest, ms: longer would delay the response to the next click noticeably.
const STILL_MS: f64 = 200.0;
/// Share of the frame time that the picture may take.
pub const BUDGET_SHARE: f64 = 0.8;
/// Smallest scale of the picture's sides.
const LEAST: f64 = 0.3;
/// Smallest scale while the user tunes a preview: its frame rate matters more than its sharpness.
const LEAST_TUNED: f64 = 0.2;
/// Pictures accumulated at rest.
pub const REFINEMENTS: u32 = 48;

/// What the next picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Nothing moves; it refines the last picture.
    Still,
    /// Something moves.
    Moving,
    /// A preview that the user is tuning.
    Tuned,
}

/// Chooses the picture's size.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// Smoothed time per megapixel, ms; `None` before the first picture.
    ms_per_megapixel: Option<f64>,
    size: [u32; 2],
}

impl Resolution {
    /// Records the time that a picture of `size` took.
    pub fn measured(&mut self, size: [u32; 2], ms: f64) {
        let megapixels = f64::from(size[0]) * f64::from(size[1]) * 1e-6;
        if megapixels <= 0.0 || !ms.is_finite() {
            return;
        }
        let new = ms.max(0.01) / megapixels;
        self.ms_per_megapixel = Some(self.ms_per_megapixel.map_or(new, |old| old + 0.25 * (new - old)));
    }

    /// The size for the next picture in a viewport of `full` pixels.
    pub fn choose(&mut self, full: [u32; 2], target_fps: f64, sharpness: f64, pace: Pace) -> [u32; 2] {
        let budget_ms =
            if pace == Pace::Still { STILL_MS } else { BUDGET_SHARE * 1000.0 / target_fps.max(1.0) };
        let megapixels = f64::from(full[0]) * f64::from(full[1]) * 1e-6;
        // Before the first measurement, a small picture is a safe choice.
        let least = if pace == Pace::Tuned { LEAST_TUNED } else { LEAST };
        let share = self.ms_per_megapixel.map_or(LEAST, |ms| (budget_ms / (ms * megapixels)).sqrt());
        let share = share.clamp(least, sharpness.clamp(LEAST, 1.0));
        let wanted =
            full.map(|side| ((f64::from(side) * share / 8.0).round() as u32 * 8).clamp(8, side.max(8)));
        // Small changes of size would only make the picture flicker.
        let near = |a: u32, b: u32| (f64::from(a) - f64::from(b)).abs() <= 0.12 * f64::from(b);
        let kept = self.size;
        let fits = kept[0] <= full[0].max(8) && kept[1] <= full[1].max(8);
        let same_shape = near(kept[0] * full[1].max(1) / full[0].max(1), kept[1]);
        if !(fits && same_shape && near(wanted[0], kept[0]) && near(wanted[1], kept[1])) || share >= 1.0 {
            self.size = wanted;
        }
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_machine_gets_a_coarse_picture_and_a_finer_one_when_still() {
        let mut resolution = Resolution::default();
        let full = [1000, 800];
        for _ in 0..30 {
            let size = resolution.choose(full, 30.0, 1.0, Pace::Moving);
            resolution.measured(size, f64::from(size[0] * size[1]) * 3e-4);
        }
        let moving = resolution.choose(full, 30.0, 1.0, Pace::Moving);
        let ms = f64::from(moving[0] * moving[1]) * 3e-4;
        assert!((18.0..34.0).contains(&ms), "{moving:?} takes {ms} ms");
        let still = resolution.choose(full, 30.0, 1.0, Pace::Still);
        assert!(still[0] > moving[0] && f64::from(still[0] * still[1]) * 3e-4 < 250.0, "{still:?}");
    }

    #[test]
    fn previews_that_follow_a_hand_may_be_coarser_still() {
        let mut resolution = Resolution::default();
        let full = [1440, 960];
        for _ in 0..30 {
            resolution.measured([400, 300], 400.0 * 300.0 * 2e-3);
        }
        let moving = resolution.choose(full, 15.0, 1.0, Pace::Moving);
        let tuned = resolution.choose(full, 15.0, 1.0, Pace::Tuned);
        assert_eq!((moving, tuned), ([432, 288], [288, 192]));
        assert_eq!(resolution.choose(full, 15.0, 1.0, Pace::Moving), moving, "and back");
    }

    #[test]
    fn a_fast_machine_gets_every_pixel() {
        let mut resolution = Resolution::default();
        for _ in 0..10 {
            let size = resolution.choose([1000, 800], 60.0, 1.0, Pace::Moving);
            resolution.measured(size, 0.5);
        }
        assert_eq!(resolution.choose([1000, 800], 60.0, 1.0, Pace::Moving), [1000, 800]);
        assert_eq!(resolution.choose([1000, 800], 60.0, 0.5, Pace::Moving), [504, 400]);
    }

    #[test]
    fn a_viewport_of_nothing_is_survived() {
        let mut resolution = Resolution::default();
        resolution.measured([0, 0], 5.0);
        let size = resolution.choose([0, 3], 30.0, 1.0, Pace::Moving);
        assert!(size[0] >= 1 && size[1] >= 1);
    }
}
