//! An axis of a plot: its range and its ticks at round numbers.

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// What it measures, with the unit.
    pub label: String,
    /// Whether equal steps are equal factors; values that are not above 0 are then left out.
    pub log: bool,
    /// Whether its values are whole numbers, such as levels: it need not begin at 0.
    pub whole: bool,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// An axis of whole numbers that have no size, such as levels.
    pub fn whole(label: impl Into<String>) -> Self {
        Self { label: label.into(), whole: true, ..Self::default() }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), log: true, ..Self::default() }
    }

    /// Whether a value has a place on it.
    pub(super) fn takes(&self, value: f64) -> bool {
        value.is_finite() && (value > 0.0 || !self.log)
    }

    /// The range and the ticks for these values.
    pub(super) fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| self.takes(*value)) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = if self.log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        match (self.log, self.whole) {
            (true, _) => Scale::log(low, high),
            (false, true) => Scale::whole(low, high),
            (false, false) => Scale::linear(low, high),
        }
    }
}

/// The range of an axis, with ticks and their labels.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    log: bool,
    low: f64,
    high: f64,
    /// Ticks in ascending order: value and label.
    pub ticks: Vec<(f64, String)>,
}

impl Scale {
    /// About six ticks; values that lie all on one side of 0 have the axis begin at 0.
    fn linear(low: f64, high: f64) -> Self {
        let (low, high) = (low.min(0.0), high.max(0.0));
        // A step below the smallest normal number has no power of ten.
        let (low, high) = if high - low > 1e-300 { (low, high) } else { (0.0, 1.0) };
        let rough = (high - low) / 6.0;
        let power = libm::floor(libm::log10(rough));
        let ten = libm::pow(10.0, power);
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|by| by * ten).find(|step| *step >= rough);
        let step = step.unwrap_or(10.0 * ten);
        let digits = if step < 1.0 { (-libm::floor(libm::log10(step * 1.001))) as usize } else { 0 };
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        let count = (last - first) as usize;
        let at = |k: usize| (first + k as f64) * step;
        let ticks = (0..=count).map(|k| (at(k), format!("{:.digits$}", at(k) + 0.0))).collect();
        Self { log: false, low: first * step, high: last * step, ticks }
    }

    /// A tick at each whole number, with some room at both ends.
    fn whole(low: f64, high: f64) -> Self {
        let (low, high) = (low.floor(), high.ceil());
        let ticks = (0..=(high - low) as usize).map(|k| low + k as f64);
        let ticks = ticks.map(|at| (at, format!("{at:.0}"))).collect();
        Self { log: false, low: low - 0.25, high: high + 0.25, ticks }
    }

    /// A tick at each power of ten.
    fn log(low: f64, high: f64) -> Self {
        let first = libm::floor(libm::log10(low) + 1e-9);
        let last = libm::ceil(libm::log10(high) - 1e-9).max(first + 1.0);
        let count = (last - first) as usize;
        let every = count / 8 + 1;
        let ticks = (0..=count).step_by(every).map(|k| {
            let power = first + k as f64;
            (libm::pow(10.0, power), power_of_ten(power as i32))
        });
        Self { log: true, low: first, high: last, ticks: ticks.collect() }
    }

    /// Where a value lies between both ends, 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        let value = if self.log { libm::log10(value) } else { value };
        (value - self.low) / (self.high - self.low)
    }
}

/// A power of ten as a label.
fn power_of_ten(power: i32) -> String {
    match power {
        0..=6 => format!("1{}", "0".repeat(power.unsigned_abs() as usize)),
        -6..0 => format!("0.{}1", "0".repeat(power.unsigned_abs() as usize - 1)),
        _ => format!("1e{power}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, values: &[f64]) -> Vec<String> {
        axis.scale(values.iter().copied()).ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_numbers_round_the_values() {
        let axis = Axis::linear("ms");
        assert_eq!(labels(&axis, &[3.0, 47.0]), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!(labels(&axis, &[0.2, 1.1]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2"]);
        assert_eq!(labels(&axis, &[-4.0, -1.0]), ["-4", "-3", "-2", "-1", "0"]);
        assert_eq!(labels(&axis, &[]).first().map(String::as_str), Some("0.0"));
        // Planted error to see this fail: `max` instead of `min` for the low end.
        assert!((axis.scale([10.0].into_iter()).share(10.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn an_axis_of_levels_begins_at_the_first_level() {
        let axis = Axis::whole("level");
        assert_eq!(labels(&axis, &[5.0, 7.0]), ["5", "6", "7"]);
        assert_eq!(labels(&axis, &[5.0]), ["5"]);
        assert!((axis.scale([5.0, 7.0].into_iter()).share(6.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_logarithmic_axis_has_a_tick_at_each_power_of_ten() {
        let axis = Axis::log("sites");
        assert_eq!(labels(&axis, &[0.05, 3.0, 900.0]), ["0.01", "0.1", "1", "10", "100", "1000"]);
        assert_eq!(labels(&axis, &[0.0, -1.0]), ["1", "10"]);
        assert!((axis.scale([1.0, 100.0].into_iter()).share(10.0) - 0.5).abs() < 1e-9);
        assert_eq!([power_of_ten(-1), power_of_ten(-7), power_of_ten(7)], ["0.1", "1e-7", "1e7"]);
    }
}
