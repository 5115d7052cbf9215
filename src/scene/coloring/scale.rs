//! Scales: which colour a value has.
//!
//! In: the ends that a scene file names, if it does, and the values shown. Out: a [`Range`], from values to shares and
//! colours.

use serde::{Deserialize, Serialize};

use super::ColorMap;

/// Farthest from zero that an end may be, so that the difference of two ends is finite.
const LARGEST: f64 = 1e300;

/// Nearest to zero that an end of a logarithmic scale, and the difference of two ends, may be.
const SMALLEST: f64 = 1e-300;

/// Ends closer than this share of their size are moved apart: values that differ less differ by rounding.
const CLOSEST: f64 = 1e-9;

/// A colour map with its ends, as scene files have it: `[view.scale]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scale {
    /// The colours.
    pub map: ColorMap,
    /// Value of the first colour, in the unit of what is shown; none: the least value shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Value of the last colour, in the unit of what is shown; none: the greatest value shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Whether equal factors have equal distances on the scale, rather than equal differences.
    pub log: bool,
}

impl Scale {
    /// Checks the ends.
    ///
    /// # Errors
    /// What is wrong and what to do, in one line that begins with the name of the field.
    pub fn check(&self) -> Result<(), String> {
        for (name, end) in [("low", self.low), ("high", self.high)] {
            let Some(end) = end else { continue };
            if !end.is_finite() || end.abs() > LARGEST {
                return Err(format!(
                    "{name} is {end:?}; it must be a number from {:?} to {LARGEST:?}",
                    -LARGEST
                ));
            }
            if self.log && end < SMALLEST {
                return Err(format!("{name} is {end:?}; a logarithmic scale has ends above 0"));
            }
        }
        match (self.low, self.high) {
            (Some(low), Some(high)) if low > high => {
                Err(format!("low is {low:?}, above high, which is {high:?}; exchange them"))
            }
            _ => Ok(()),
        }
    }

    /// The range that holds the values, where the scale names no ends of its own. Values that are not finite do not
    /// count, nor do values of 0 or less on a logarithmic scale. Ends that are equal, or that the values leave in the
    /// wrong order, are moved apart, so that the range has an extent. None where there is neither a value nor two ends.
    #[must_use]
    pub fn over(&self, values: impl IntoIterator<Item = f64>) -> Option<Range> {
        let counts = |value: &f64| value.is_finite() && (!self.log || *value > 0.0);
        let mut found: Option<[f64; 2]> = None;
        for value in values.into_iter().filter(counts) {
            let [low, high] = found.unwrap_or([value; 2]);
            found = Some([low.min(value), high.max(value)]);
        }
        let (own_low, own_high) = (self.low.filter(counts), self.high.filter(counts));
        let low = own_low.or(found.map(|[low, _]| low))?;
        let high = own_high.or(found.map(|[_, high]| high))?;
        // An end that the scale names stays; the other one follows it.
        let (low, high) = match (own_low, own_high) {
            (None, Some(high)) => (low.min(high), high),
            _ => (low, high.max(low)),
        };
        let least = if self.log { SMALLEST } else { -LARGEST };
        let [low, high] = apart(low.clamp(least, LARGEST), high.clamp(least, LARGEST), self.log);
        Some(Range { map: self.map, low, high, log: self.log })
    }
}

/// The ends, moved apart where they are too close to divide by their difference.
fn apart(low: f64, high: f64, log: bool) -> [f64; 2] {
    let size = low.abs().max(high.abs());
    if high - low > (CLOSEST * size).max(SMALLEST) {
        return [low, high];
    }
    if log {
        return [(0.5 * low).max(0.5 * SMALLEST), 2.0 * high];
    }
    let margin = if size > SMALLEST { 0.1 * size } else { 1.0 };
    [low - margin, high + margin]
}

/// A colour map between two values, the first below the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The colours.
    pub map: ColorMap,
    /// Value of the first colour.
    pub low: f64,
    /// Value of the last colour.
    pub high: f64,
    /// Whether equal factors have equal distances. Both ends are above 0 then.
    pub log: bool,
}

impl Range {
    /// How far from low to high a value lies, 0 to 1; values beyond the ends have the ends' shares. NaN for NaN, and
    /// for values of 0 or less on a logarithmic scale.
    #[must_use]
    pub fn share(&self, value: f64) -> f64 {
        let share = if !self.log {
            (value - self.low) / (self.high - self.low)
        } else if value > 0.0 {
            let [value, low, high] = [value, self.low, self.high].map(libm::log10);
            (value - low) / (high - low)
        } else {
            f64::NAN
        };
        share.clamp(0.0, 1.0)
    }

    /// Colour of a value, sRGB; [`NO_VALUE`](super::NO_VALUE) where the value has no share.
    #[must_use]
    pub fn color(&self, value: f64) -> [u8; 3] {
        self.map.color(self.share(value))
    }
}

#[cfg(test)]
mod tests {
    use super::super::NO_VALUE;
    use super::*;

    fn of(low: Option<f64>, high: Option<f64>, log: bool) -> Scale {
        Scale { map: ColorMap::Batlow, low, high, log }
    }

    #[test]
    fn ranges_hold_the_values_that_count() {
        let values = [3.0, f64::NAN, -2.0, f64::INFINITY, 0.0, 0.5];
        let ends = |scale: Scale| scale.over(values).map(|range| [range.low, range.high]);
        assert_eq!(ends(of(None, None, false)), Some([-2.0, 3.0]));
        assert_eq!(ends(of(None, None, true)), Some([0.5, 3.0]), "0 and less have no logarithm");
        assert_eq!(ends(of(Some(1.0), None, false)), Some([1.0, 3.0]));
        assert_eq!(ends(of(None, Some(1.0), false)), Some([-2.0, 1.0]));
        assert_eq!(ends(of(Some(-7.0), Some(9.0), false)), Some([-7.0, 9.0]));
        assert_eq!(of(None, None, false).over([f64::NAN]), None);
        assert_eq!(of(Some(1.0), None, false).over([]), None);
        assert!(of(Some(1.0), Some(2.0), false).over([]).is_some(), "two ends need no value");
    }

    #[test]
    fn every_range_has_an_extent() {
        let lists = [
            vec![0.0],
            vec![5.0],
            vec![-5.0, -5.0],
            vec![1e16, 1e16 + 2.0],
            vec![f64::MAX],
            vec![f64::MIN, f64::MAX],
            vec![5e-324],
            vec![0.0, 5e-324],
            vec![1e-310, 1e-305],
        ];
        for values in lists {
            for log in [false, true] {
                for (low, high) in
                    [(None, None), (Some(7.0), None), (None, Some(7.0)), (Some(7.0), Some(7.0))]
                {
                    let Some(range) = of(low, high, log).over(values.iter().copied()) else {
                        assert!(log && values.iter().all(|value| *value <= 0.0), "{values:?}");
                        continue;
                    };
                    let span = range.high - range.low;
                    assert!(
                        span > 0.0 && span.is_finite(),
                        "{range:?} of {values:?}; not moving ends apart shows this"
                    );
                    assert!(!log || range.low > 0.0, "{range:?}");
                    assert_eq!([range.low, range.high].map(|end| range.share(end)), [0.0, 1.0], "{range:?}");
                    for end in [low, high].into_iter().flatten() {
                        assert!(range.low <= end && end <= range.high, "{range:?} has lost {end}");
                    }
                }
            }
        }
    }

    #[test]
    fn shares_follow_differences_or_factors() {
        let even = of(Some(-1.0), Some(3.0), false).over([]).unwrap();
        assert_eq!([-9.0, -1.0, 0.0, 1.0, 3.0, 9.0].map(|v| even.share(v)), [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]);
        assert_eq!(even.color(f64::NAN), NO_VALUE);
        assert_eq!(even.color(f64::INFINITY), ColorMap::Batlow.color(1.0));
        let factors = of(Some(0.01), Some(100.0), true).over([]).unwrap();
        for (value, share) in [(0.001, 0.0), (0.01, 0.0), (0.1, 0.25), (1.0, 0.5), (10.0, 0.75), (1e9, 1.0)] {
            assert!((factors.share(value) - share).abs() < 1e-12, "{value} has {}", factors.share(value));
        }
        assert_eq!([0.0, -1.0, f64::NAN].map(|value| factors.color(value)), [NO_VALUE; 3]);
    }

    #[test]
    fn bad_ends_are_refused() {
        for (scale, says) in [
            (of(Some(f64::NAN), None, false), "low is NaN"),
            (of(None, Some(f64::INFINITY), false), "high is inf"),
            (of(None, Some(1e301), false), "high is 1e301"),
            (of(Some(0.0), None, true), "low is 0.0; a logarithmic scale"),
            (of(None, Some(-1.0), true), "high is -1.0; a logarithmic scale"),
            (of(Some(2.0), Some(1.0), false), "exchange them"),
        ] {
            let refused = scale.check().unwrap_err();
            assert!(refused.contains(says), "{refused}");
        }
        for good in [Scale::default(), of(Some(1.0), Some(1.0), true), of(Some(-1e300), Some(1e300), false)] {
            assert_eq!(good.check(), Ok(()));
        }
    }

    #[test]
    fn files_leave_out_ends_that_the_values_give() {
        assert_eq!(toml::to_string(&Scale::default()).unwrap(), "map = \"viridis\"\nlog = false\n");
        let read: Scale = toml::from_str("map = \"turbo\"\nlow = 2.5").unwrap();
        assert_eq!(read, Scale { map: ColorMap::Turbo, low: Some(2.5), ..Scale::default() });
        assert!(toml::from_str::<Scale>("least = 2.5").is_err());
    }
}
