//! Ticks of a scale: round values between its ends, with their texts.

use super::{
    Range,
    decimal::{Decimal, ROUND, order_below, reads_in_full},
};

/// How far beyond an end a tick may be, as a share of a step or of the end: what rounding takes from an end that is
/// itself round.
const SLACK: f64 = 1e-9;

impl Range {
    /// At most `most` round values from low to high, each with its share of the way and its text: 1, 2 or 5 times a
    /// power of ten apart. On a logarithmic scale they are powers of ten, with 2 and 5 times these between them where
    /// there is room; a range that holds fewer than two of them has ticks at equal differences.
    #[must_use]
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let by_factors = if self.log { self.by_factors(most) } else { Vec::new() };
        if by_factors.len() > 1 {
            return by_factors;
        }
        let by_differences = self.by_differences(most);
        if by_differences.len() > by_factors.len() { by_differences } else { by_factors }
    }

    fn by_differences(&self, most: usize) -> Vec<(f64, String)> {
        let most = most.min(1000) as f64;
        if most < 1.0 {
            return Vec::new();
        }
        // The finest step that leaves at most so many; the coarsest one tried is above the whole range.
        let start = order_below((self.high - self.low) / most);
        let steps = (start..=start + 4).flat_map(|exponent| ROUND.map(|digits| Decimal { digits, exponent }));
        let whole = |step: Decimal| {
            let step = step.value();
            [(self.low / step - SLACK).ceil(), (self.high / step + SLACK).floor()]
        };
        let mut fitting = steps.map(|step| (step, whole(step)));
        let Some((step, [first, last])) = fitting.find(|(_, [first, last])| last - first + 1.0 <= most)
        else {
            return Vec::new();
        };
        let values: Vec<Decimal> = (first as i64..=last as i64)
            .map(|i| Decimal { digits: i.saturating_mul(step.digits), exponent: step.exponent })
            .collect();
        // All texts of a scale are of one kind.
        let in_full = values.iter().filter_map(|value| value.order()).max().is_none_or(reads_in_full);
        let text = |value: &Decimal| if in_full { value.plain() } else { value.scientific() };
        let ticks = values.iter().map(|value| (self.share(value.value()), text(value)));
        // Zero, just below the low end, has no place on a logarithmic scale.
        ticks.filter(|(share, _)| !share.is_nan()).collect()
    }

    fn by_factors(&self, most: usize) -> Vec<(f64, String)> {
        let inside = |tick: &Decimal| {
            let value = tick.value();
            value >= self.low * (1.0 - SLACK) && value <= self.high * (1.0 + SLACK)
        };
        let orders = order_below(self.low)..=order_below(self.high) + 1;
        let all: Vec<Decimal> = orders
            .flat_map(|exponent| ROUND.map(|digits| Decimal { digits, exponent }))
            .filter(inside)
            .collect();
        let ticks = if all.len() <= most {
            all
        } else {
            let powers: Vec<Decimal> = all.into_iter().filter(|tick| tick.digits == 1).collect();
            // Every n-th power of ten, counted from 1, so that 1 is among them.
            let apart = i32::try_from(powers.len().div_ceil(most.max(1))).unwrap_or(i32::MAX);
            let kept = powers.into_iter().filter(|tick| tick.exponent % apart == 0).take(most);
            kept.collect()
        };
        ticks.iter().map(|tick| (self.share(tick.value()), tick.text())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ColorMap, Scale};
    use super::*;

    fn range(low: f64, high: f64, log: bool) -> Range {
        Range { map: ColorMap::Viridis, low, high, log }
    }

    fn texts(range: Range, most: usize) -> Vec<String> {
        range.ticks(most).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_have_no_dust() {
        for (low, high, most, wanted) in [
            (0.0, 1.0, 6, &["0", "0.2", "0.4", "0.6", "0.8", "1"][..]),
            (0.0, 1.0, 11, &["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"]),
            (0.0, 0.00037, 6, &["0", "1e-4", "2e-4", "3e-4"]),
            (-0.7, 1.3, 6, &["-0.5", "0", "0.5", "1"]),
            (-3.0, -1.0, 3, &["-3", "-2", "-1"]),
            (0.0, 123_456.0, 4, &["0", "50000", "100000"]),
            (0.0, 3e9, 4, &["0", "1e9", "2e9", "3e9"]),
            (0.0, 1e300, 3, &["0", "5e299", "1e300"]),
            (0.0, 1.0, 1, &["0"]),
            (0.0, 1.0, 0, &[]),
        ] {
            assert_eq!(texts(range(low, high, false), most), wanted, "{low} to {high}");
        }
        let one = Scale::default().over([5.0]).unwrap();
        assert_eq!(texts(one, 6), ["4.6", "4.8", "5", "5.2", "5.4"], "a single value has a range about it");
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten_with_more_where_there_is_room() {
        for (low, high, most, wanted) in [
            (1e-6, 1e3, 10, &["1e-6", "1e-5", "1e-4", "0.001", "0.01", "0.1", "1", "10", "100", "1000"][..]),
            (1e-6, 1e3, 6, &["1e-6", "1e-4", "0.01", "1", "100"]),
            (1.0, 100.0, 7, &["1", "2", "5", "10", "20", "50", "100"]),
            (1.0, 100.0, 6, &["1", "10", "100"]),
            (0.3, 40.0, 7, &["0.5", "1", "2", "5", "10", "20"]),
            (2.1, 4.7, 6, &["2.5", "3", "3.5", "4", "4.5"]),
        ] {
            assert_eq!(texts(range(low, high, true), most), wanted, "{low} to {high}");
        }
    }

    /// Ticks rise, lie where their texts say, and are not too many. From 2 to 5 times a power of ten the step grows by
    /// most; room for five leaves two ticks even there.
    #[test]
    fn ticks_of_any_range_lie_where_their_texts_say() {
        let ends = [-1e300, -4e7, -1.0, -3e-9, 0.0, 1e-300, 2.5e-12, 0.1, 0.99, 1.0, 7.3, 1e5, 6e20, 1e300];
        let mut tried = 0;
        for (i, low) in ends.iter().enumerate() {
            for high in &ends[i + 1..] {
                for log in [false, true] {
                    for most in [1, 2, 3, 6, 7, 12, 1000] {
                        let scale = Scale { low: Some(*low), high: Some(*high), log, ..Scale::default() };
                        let Some(range) = scale.check().ok().and_then(|()| scale.over([])) else { continue };
                        let ticks = range.ticks(most);
                        assert!(ticks.len() <= most, "{} ticks and not {most} in {range:?}", ticks.len());
                        assert!(most < 5 || ticks.len() >= 2, "{ticks:?} in {range:?}");
                        assert!(ticks.windows(2).all(|pair| pair[0].0 < pair[1].0), "{ticks:?} in {range:?}");
                        for (share, text) in ticks {
                            let off = (range.share(text.parse().unwrap()) - share).abs();
                            assert!(
                                off < 1e-12,
                                "{text} is at {share} in {range:?}; another step's text shows this"
                            );
                        }
                        tried += 1;
                    }
                }
            }
        }
        assert!(tried > 800, "{tried}");
    }
}
