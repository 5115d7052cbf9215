//! Round numbers as whole digits times a power of ten, so that neither their value nor their text has the dust of
//! floating point.

/// `digits` times ten to the power of `exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    pub digits: i64,
    pub exponent: i32,
}

impl Decimal {
    /// The double nearest to it.
    pub fn value(self) -> f64 {
        // Parsing rounds once; a product with a power of ten would round twice.
        format!("{}e{}", self.digits, self.exponent).parse().unwrap_or(f64::NAN)
    }

    /// The power of ten of its first digit; none for zero.
    pub fn order(self) -> Option<i32> {
        let more = self.digits.unsigned_abs().checked_ilog10()?;
        Some(self.exponent + i32::try_from(more).unwrap_or_default())
    }

    /// As a person writes it, in full: 0.001, -20, 350.
    pub fn plain(self) -> String {
        let Self { digits, exponent } = self.trimmed();
        let text = digits.unsigned_abs().to_string();
        let sign = if digits < 0 { "-" } else { "" };
        let fractional = usize::try_from(-exponent).unwrap_or_default();
        if fractional == 0 {
            let zeros = "0".repeat(usize::try_from(exponent).unwrap_or_default());
            return format!("{sign}{text}{zeros}");
        }
        let text = format!("{text:0>width$}", width = fractional + 1);
        let (whole, rest) = text.split_at(text.len() - fractional);
        format!("{sign}{whole}.{rest}")
    }

    /// With a power of ten: 1e-6, -2.5e7; zero is 0.
    pub fn scientific(self) -> String {
        let Self { digits, .. } = self.trimmed();
        let Some(order) = self.order() else { return "0".to_owned() };
        let text = digits.unsigned_abs().to_string();
        let sign = if digits < 0 { "-" } else { "" };
        let (first, rest) = text.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{sign}{first}{point}{rest}e{order}")
    }

    /// In full where that is short, from a thousandth to below a million; else with a power of ten.
    pub fn text(self) -> String {
        if self.order().is_none_or(reads_in_full) { self.plain() } else { self.scientific() }
    }

    /// The same number without zeros at the end of its digits.
    fn trimmed(self) -> Self {
        let mut out = self;
        if out.digits == 0 {
            return Self { digits: 0, exponent: 0 };
        }
        while out.digits % 10 == 0 {
            out = Self { digits: out.digits / 10, exponent: out.exponent + 1 };
        }
        out
    }
}

/// Whether numbers whose first digit has this power of ten are written in full.
pub(super) fn reads_in_full(order: i32) -> bool {
    (-3..=5).contains(&order)
}

/// A power of ten that a positive number reaches; the number is below a hundred times that power. A logarithm that is
/// rounded the wrong way at a power of ten stays within these bounds.
pub(super) fn order_below(value: f64) -> i32 {
    libm::floor(libm::log10(value) - 1e-9) as i32
}

/// The factors of round numbers.
pub(super) const ROUND: [i64; 3] = [1, 2, 5];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_dust() {
        for (digits, exponent, value, text) in [
            (0, -7, 0.0, "0"),
            (3, -1, 0.3, "0.3"),
            (10, -1, 1.0, "1"),
            (-25, -1, -2.5, "-2.5"),
            (1, -3, 0.001, "0.001"),
            (1, -6, 1e-6, "1e-6"),
            (35, -5, 0.00035, "3.5e-4"),
            (-120, 9, -1.2e11, "-1.2e11"),
            (5, 5, 500_000.0, "500000"),
            (10, 5, 1e6, "1e6"),
            (1, 300, 1e300, "1e300"),
        ] {
            let number = Decimal { digits, exponent };
            assert_eq!((number.value(), number.text().as_str()), (value, text));
            assert_eq!(number.plain().parse::<f64>().unwrap(), value, "{}", number.plain());
            assert_eq!(number.scientific().parse::<f64>().unwrap(), value, "{}", number.scientific());
        }
    }

    #[test]
    fn orders_hold_their_numbers() {
        for exponent in -300..=300 {
            for digits in [1, 3, 9] {
                let value = Decimal { digits, exponent }.value();
                let order = order_below(value);
                let [low, high] = [order, order + 2].map(|exponent| Decimal { digits: 1, exponent }.value());
                assert!(low <= value && value < high, "{value} is not between {low} and {high}");
            }
        }
    }
}
