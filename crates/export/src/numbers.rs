//! Formatting of numbers: no negative zero, and times that are multiples of the step without rounding noise.

use std::io;

use serde_json::ser::{Formatter, PrettyFormatter};

/// The same number, with negative zero replaced by zero.
#[must_use]
pub fn unsigned_zero(x: f64) -> f64 {
    x + 0.0
}

/// Step number times the step, s, rounded to a picosecond: 2.01, not 2.0100000000000002.
#[must_use]
pub fn to_picoseconds(time: f64) -> f64 {
    rounded(time, 1e12)
}

/// A sum of steps, s, rounded to a nanosecond: after a hundred seconds the sum is off by ten picoseconds.
#[must_use]
pub fn to_nanoseconds(time: f64) -> f64 {
    rounded(time, 1e9)
}

/// Rounded to a multiple of 1/`parts` s, unless it is too large to have this precision.
fn rounded(time: f64, parts: f64) -> f64 {
    /// Above this, floats cannot represent all integers.
    const MOST: f64 = 9e15;
    if (time * parts).abs() < MOST { unsigned_zero((time * parts).round() / parts) } else { time }
}

/// Indented JSON without negative zeros.
#[derive(Default)]
pub struct PlainJson(PrettyFormatter<'static>);

/// Methods of a formatter that are those of the one that it wraps.
macro_rules! as_wrapped {
    ($($method:ident($($first:ident: bool)?);)*) => {$(
        fn $method<W: ?Sized + io::Write>(&mut self, to: &mut W $(, $first: bool)?) -> io::Result<()> {
            self.0.$method(to $(, $first)?)
        }
    )*};
}

impl Formatter for PlainJson {
    fn write_f64<W: ?Sized + io::Write>(&mut self, to: &mut W, value: f64) -> io::Result<()> {
        self.0.write_f64(to, value + 0.0)
    }

    fn write_f32<W: ?Sized + io::Write>(&mut self, to: &mut W, value: f32) -> io::Result<()> {
        self.0.write_f32(to, value + 0.0)
    }

    as_wrapped! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        begin_object_value();
        end_object_value();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    /// Fails where `serde_json` reads without `float_roundtrip`: every tenth number then has another last bit, and what is
    /// made again from a report differs.
    #[test]
    fn numbers_of_a_file_are_read_back_to_the_bit() {
        let mut state = 1u64;
        let random = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        });
        for number in [0.218_339_684_976_050_86].into_iter().chain(random.take(10_000)) {
            let read: f64 = serde_json::from_str(&number.to_string()).unwrap();
            assert_eq!(read.to_bits(), number.to_bits(), "{number}");
        }
    }

    #[test]
    fn times_are_multiples_of_the_step_as_one_writes_them() {
        let mut sum = 0.0;
        for step in 1..=20_000u32 {
            sum += 0.01;
            let want = (f64::from(step) / 100.0).to_string();
            let of_product = to_picoseconds(f64::from(step) * 0.01);
            assert_eq!([to_nanoseconds(sum), of_product].map(|t| t.to_string()), [want.clone(), want]);
        }
        assert_ne!(201.0 * 0.01, 2.01, "there is something to round");
        for time in [0.0, 1.0 / 60.0, 1e5 + 1.0 / 3.0, -0.5] {
            assert!((to_picoseconds(time) - time).abs() <= 5e-13, "{time}");
        }
        assert!(to_picoseconds(-1e-14).is_sign_positive() && to_nanoseconds(1e9) == 1e9);
    }

    #[test]
    fn json_is_as_before_but_for_signs_of_zero() {
        let value =
            serde_json::json!({ "a": [1.5, -0.25, []], "b": { "c": -0.0, "d": null }, "e": -3, "f": {} });
        let mut plain = Vec::new();
        value
            .serialize(&mut serde_json::Serializer::with_formatter(&mut plain, PlainJson::default()))
            .unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        assert!(pretty.contains("-0.0"));
        assert_eq!(String::from_utf8(plain).unwrap(), pretty.replace("-0.0", "0.0"));
    }
}
