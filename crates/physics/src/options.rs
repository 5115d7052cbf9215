//! Numbers that a generator or a response lets its user choose, beyond the settings that all share.

use crate::fracture::MethodOption;
use std::collections::BTreeMap;

/// Values of options by name. An option without a value has its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options(BTreeMap<&'static str, f64>);

impl Options {
    /// Sets a value.
    pub fn set(&mut self, option: &MethodOption, value: f64) {
        self.0.insert(option.name, value);
    }

    /// The value of an option, within the range of the option.
    #[must_use]
    pub fn value(&self, option: &MethodOption) -> f64 {
        let (low, high) = option.range;
        let value = self.0.get(option.name).copied().filter(|value| value.is_finite());
        let value = value.unwrap_or(option.default).clamp(low, high);
        if option.whole { value.round() } else { value }
    }
}

impl<const N: usize> From<[(&'static str, f64); N]> for Options {
    fn from(values: [(&'static str, f64); N]) -> Self {
        Self(values.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVEL: MethodOption =
        MethodOption { name: "level", help: "A level.", default: 5.0, range: (1.0, 7.0), whole: true };

    #[test]
    fn a_value_is_within_the_range_and_a_missing_one_is_the_default() {
        let value = |value: f64| Options::from([("level", value)]).value(&LEVEL);
        assert_eq!([3.0, 3.4, 0.0, 9.0, -1e300].map(value), [3.0, 3.0, 1.0, 7.0, 1.0]);
        assert_eq!([f64::NAN, f64::INFINITY].map(value), [5.0, 5.0]);
        assert_eq!(Options::default().value(&LEVEL), 5.0);
        let mut options = Options::from([("other", 2.0)]);
        assert_eq!(options.value(&LEVEL), 5.0);
        options.set(&LEVEL, 4.0);
        assert_eq!(options.value(&LEVEL), 4.0);
    }
}
