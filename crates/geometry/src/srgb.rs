//! sRGB bytes and linear light.
//!
//! In: bytes, or linear fractions. Out: the others. Powers are those of the crate libm, the same on every system.

use std::sync::LazyLock;

static LINEAR: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        let c = byte as f32 / 255.0;
        if c <= 0.04045 { c / 12.92 } else { libm::powf((c + 0.055) / 1.055, 2.4) }
    })
});

/// The linear fraction of every sRGB byte.
#[must_use]
pub fn linear_of_bytes() -> &'static [f32; 256] {
    &LINEAR
}

/// The linear fraction of an sRGB byte.
#[must_use]
pub fn linear(byte: u8) -> f32 {
    LINEAR[usize::from(byte)]
}

/// The sRGB byte nearest to a linear fraction, which is clamped to 0..=1.
#[must_use]
pub fn byte(linear: f32) -> u8 {
    let c = linear.clamp(0.0, 1.0);
    let encoded = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * libm::powf(c, 1.0 / 2.4) - 0.055 };
    (encoded * 255.0).round() as u8
}

/// [`linear`] in double precision.
#[must_use]
pub fn precise_linear(byte: u8) -> f64 {
    let c = f64::from(byte) / 255.0;
    if c <= 0.04045 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) }
}

/// [`byte()`] in double precision.
#[must_use]
pub fn precise_byte(linear: f64) -> u8 {
    let c = linear.clamp(0.0, 1.0);
    let encoded = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * libm::pow(c, 1.0 / 2.4) - 0.055 };
    (encoded * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_whose_light_is_nearest() {
        for byte_in in 0..=255u8 {
            assert_eq!(byte(linear(byte_in)), byte_in);
            assert_eq!(precise_byte(precise_linear(byte_in)), byte_in);
            assert!((f64::from(linear(byte_in)) - precise_linear(byte_in)).abs() < 1e-6);
        }
        // Half way between the bytes, on the curve, is where one byte follows the other.
        let curve = |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        for low in 0..255u8 {
            let middle = curve((f64::from(low) + 0.5) / 255.0);
            for (share, wanted) in [(0.999, low), (1.001, low + 1)] {
                assert_eq!(byte((middle * share) as f32), wanted);
                assert_eq!(precise_byte(middle * share), wanted);
            }
        }
        assert_eq!([-1.0, 0.0, 1.0, 7.0, f32::NAN].map(byte), [0, 0, 255, 255, 0]);
    }
}
