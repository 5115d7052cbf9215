//! Thresholds of speed, time and length by a body's size.
//!
//! Under gravity g, objects that differ only in their size L move alike if lengths are measured in L, speeds in sqrt(L
//! g) and times in sqrt(L / g) (Froude's similarity). The constants of sleep and of the solver are given for an object
//! of a metre on the Earth; this scales them to any other size and gravity.

use super::BodyDef;
use glam::DVec3;

/// The Earth's gravity, m/s^2; also used without gravity, otherwise nothing would ever count as slow.
const EARTH: f64 = 9.81;

/// Factors for the constants of an object of a metre on the Earth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// For lengths: the size of the object, m.
    pub length: f64,
    /// For speeds.
    pub speed: f64,
    /// For times.
    pub time: f64,
}

impl Scale {
    /// The scale of the constants themselves.
    #[cfg(test)]
    pub const METRE: Self = Self { length: 1.0, speed: 1.0, time: 1.0 };

    /// The scale of an unbounded object, as the floor: the other body decides.
    pub const BOUNDLESS: Self = Self { length: f64::MAX, speed: 1.0, time: 1.0 };

    /// The scale of a body under this gravity.
    pub fn of(def: &BodyDef, gravity: DVec3) -> Self {
        Self::new(def.object_size_m, gravity.length())
    }

    fn new(size: f64, pull: f64) -> Self {
        let size = if size.is_finite() { size.clamp(1e-4, 1e4) } else { 1.0 };
        let pull = if pull > 0.0 { pull.clamp(0.1, 1e3) } else { EARTH } / EARTH;
        Self { length: size, speed: (size * pull).sqrt(), time: (size / pull).sqrt() }
    }

    /// The one of the smaller object.
    pub fn smaller(self, other: Self) -> Self {
        if other.length < self.length { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metre_on_the_earth_is_one_and_falls_take_their_time() {
        assert_eq!(Scale::new(1.0, DVec3::new(0.0, -9.81, 0.0).length()), Scale::METRE);
        assert_eq!(Scale::new(1.0, 0.0), Scale::METRE, "without gravity");
        for (size, pull) in [(0.01, 9.81), (20.0, 9.81), (0.3, 1.62)] {
            let scale = Scale::new(size, pull);
            // A fall from its own height, in seconds and in m/s at its end.
            let (time, speed) = ((2.0 * size / pull).sqrt(), (2.0 * size * pull).sqrt());
            let of_metre = ((2.0 / EARTH).sqrt(), (2.0 * EARTH).sqrt());
            assert!((time / scale.time / of_metre.0 - 1.0).abs() < 1e-12);
            assert!((speed / scale.speed / of_metre.1 - 1.0).abs() < 1e-12);
        }
        for odd in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            assert!(Scale::new(odd, 9.81).speed > 0.0);
        }
    }
}
