//! Adapts the picture's resolution to the measured time per picture, so that a machine without a GPU stays usable.
//!
//! In: measured times. Out: the size at which rays are cast, at most the *full size*: the viewport times the sharpness.
//! During motion the size aims at the target frame rate, but keeps half of each side, since thin lines would come and
//! go in coarser pixels. At rest pictures are accumulated: at full size where the cores draw, by the window's thread or,
//! if that takes long ([`Resolution::fits_at_rest`]), by a worker (`fine_picture.rs`); on a device at a size whose
//! pictures take [`STILL_MS`] at most.

/// Longest time for one picture at rest on a device, ms: longer would delay the response to the next click noticeably.
const STILL_MS: f64 = 200.0;
/// The same on the cores. A worker takes over earlier there, since it can be stopped within a picture: a hand that rests
/// for a moment while it turns the camera goes on at once.
const STILL_HERE_MS: f64 = 100.0;
/// Share of the frame time that the picture may take.
pub const BUDGET_SHARE: f64 = 0.8;
/// Smallest scale of the picture's sides while something moves, as a share of the full size.
const LEAST: f64 = 0.5;
/// Longest time for a moving picture at that scale, ms: with eight pictures a second motion can still be followed. A
/// slower machine gets pictures of this time, down to the scale [`LEAST_SLOW`].
const SLOWEST_MS: f64 = 125.0;
/// Smallest scale on a slower machine, and at rest.
const LEAST_SLOW: f64 = 0.3;
/// Smallest scale while the user tunes a preview, which follows a hand: thirty previews a second leave some 12 ms for a
/// picture, in which two cores drew a rough preview at 0.37 of the sides (`docs/lab/window-frames.md`).
const LEAST_TUNED: f64 = 0.2;
/// Smallest sharpness.
const LEAST_SHARPNESS: f64 = 0.1;
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

    /// Time that a picture of `size` takes, ms; `None` before the first picture.
    fn ms_of(&self, size: [u32; 2]) -> Option<f64> {
        self.ms_per_megapixel.map(|ms| ms * f64::from(size[0]) * f64::from(size[1]) * 1e-6)
    }

    /// Whether the window's thread may draw the full size at rest.
    pub fn fits_at_rest(&self, viewport: [u32; 2], sharpness: f64) -> bool {
        self.ms_of(full_size(viewport, sharpness)).is_none_or(|ms| ms <= STILL_HERE_MS)
    }

    /// The size for the next picture in a viewport of `full` pixels.
    pub fn choose(&mut self, full: [u32; 2], target_fps: f64, sharpness: f64, pace: Pace) -> [u32; 2] {
        let sharpness = sharpness.clamp(LEAST_SHARPNESS, 1.0);
        let moving_ms = BUDGET_SHARE * 1000.0 / target_fps.max(1.0);
        let is_slow = self.ms_of(scaled(full, LEAST * sharpness)).is_some_and(|ms| ms > SLOWEST_MS);
        let (budget_ms, least) = match pace {
            Pace::Still => (STILL_MS, LEAST_SLOW),
            Pace::Moving if is_slow => (SLOWEST_MS, LEAST_SLOW),
            Pace::Moving => (moving_ms, LEAST),
            Pace::Tuned => (moving_ms, LEAST_TUNED),
        };
        // Before the first measurement, a small picture is a safe choice.
        let share = self.ms_of(full).map_or(LEAST * sharpness, |ms| (budget_ms / ms).sqrt());
        let least = least * sharpness;
        let share = share.clamp(least, sharpness);
        let wanted = scaled(full, share);
        // Small changes of size would only make the picture flicker.
        let near = |a: u32, b: u32| (f64::from(a) - f64::from(b)).abs() <= 0.12 * f64::from(b);
        let kept = self.size;
        let fits = kept[0] <= full[0].max(8) && kept[1] <= full[1].max(8);
        let same_shape = near(kept[0] * full[1].max(1) / full[0].max(1), kept[1]);
        let is_near = near(wanted[0], kept[0]) && near(wanted[1], kept[1]);
        let is_too_small = kept[0] < scaled(full, least)[0];
        if !(fits && same_shape && is_near) || is_too_small || share >= sharpness {
            self.size = wanted;
        }
        self.size
    }
}

/// The largest size of a picture in a viewport.
pub fn full_size(viewport: [u32; 2], sharpness: f64) -> [u32; 2] {
    scaled(viewport, sharpness.clamp(LEAST_SHARPNESS, 1.0))
}

/// A share of the viewport, in steps of 8 pixels.
fn scaled(viewport: [u32; 2], share: f64) -> [u32; 2] {
    viewport.map(|side| ((f64::from(side) * share / 8.0).round() as u32 * 8).clamp(8, side.max(8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine on which a pixel takes `ns`, after some pictures.
    fn machine(ns: f64) -> Resolution {
        let mut resolution = Resolution::default();
        (0..30).for_each(|_| resolution.measured([1000, 1000], ns));
        resolution
    }

    #[test]
    fn a_slow_machine_keeps_half_of_the_size_and_gets_a_finer_picture_when_still() {
        let mut resolution = machine(300.0);
        let full = [1000, 800];
        // Within the frame time of 60 pictures a second there would be a quarter of the sides, of 15 nearly half.
        for fps in [60.0, 30.0, 15.0] {
            assert_eq!(resolution.choose(full, fps, 1.0, Pace::Moving), [504, 400], "{fps}");
        }
        let still = resolution.choose(full, 30.0, 1.0, Pace::Still);
        assert!(still[0] > 800 && f64::from(still[0] * still[1]) * 3e-4 < 250.0, "{still:?}");
        // A size that was right for something else is no reason to be below half.
        resolution.size = [456, 368];
        assert_eq!(resolution.choose(full, 30.0, 1.0, Pace::Moving), [504, 400]);
        // Half of what the user allows.
        assert_eq!(resolution.choose(full, 60.0, 0.5, Pace::Moving), [248, 200]);
    }

    #[test]
    fn a_much_slower_machine_keeps_eight_pictures_a_second_first() {
        for ns in [1000.0, 4000.0] {
            let mut resolution = machine(ns);
            let [width, height] = resolution.choose([1000, 800], 15.0, 1.0, Pace::Moving);
            let ms = f64::from(width * height) * ns * 1e-6;
            assert!((300..500).contains(&width), "{width}");
            assert!(ms < 1.1 * SLOWEST_MS || width == 304, "{width} x {height} take {ms} ms");
        }
    }

    #[test]
    fn the_full_size_fits_at_rest_within_its_time() {
        assert!(Resolution::default().fits_at_rest([1000, 800], 1.0), "nothing is known");
        let resolution = machine(300.0);
        assert!(!resolution.fits_at_rest([1000, 800], 1.0), "240 ms");
        assert!(resolution.fits_at_rest([600, 496], 1.0), "89 ms");
        assert!(resolution.fits_at_rest([1000, 800], 0.5), "60 ms");
        assert_eq!(full_size([1000, 800], 1.0), [1000, 800]);
        assert_eq!(full_size([1000, 800], 0.5), [504, 400]);
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
        let half = resolution.choose([1000, 800], 60.0, 0.5, Pace::Moving);
        assert_eq!((half, full_size([1000, 800], 0.5)), ([504, 400], [504, 400]));
    }

    #[test]
    fn a_viewport_of_nothing_is_survived() {
        let mut resolution = Resolution::default();
        resolution.measured([0, 0], 5.0);
        let size = resolution.choose([0, 3], 30.0, 1.0, Pace::Moving);
        assert!(size[0] >= 1 && size[1] >= 1);
    }
}
