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

/// The sRGB bytes of a mixture of three colours, of which each has its share: light adds up, bytes do not.
#[must_use]
pub fn mixed(colors: [[u8; 3]; 3], shares: [f64; 3]) -> [u8; 3] {
    let [first, second, third] = colors;
    if first == second && second == third {
        return first;
    }
    std::array::from_fn(|k| {
        precise_byte((0..3).map(|i| f64::from(linear(colors[i][k])) * shares[i]).sum::<f64>())
    })
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

    #[test]
    fn mixtures_have_the_light_of_their_parts() {
        // Half of the light of white is the byte 188.
        assert_eq!(mixed([[0, 255, 0], [255, 0, 0], [9; 3]], [0.5, 0.5, 0.0]), [188, 188, 0]);
        assert_eq!(mixed([[7, 8, 9]; 3], [0.3, 0.3, 0.3]), [7, 8, 9]);
        let colors = [[10, 200, 90], [250, 30, 0], [128, 128, 255]];
        for (a, b) in [(1.0, 0.0), (0.0, 1.0), (0.2, 0.5), (0.0, 0.0)] {
            let shares = [a, b, 1.0 - a - b];
            for (k, found) in mixed(colors, shares).into_iter().enumerate() {
                let light = |i: usize| precise_linear(colors[i][k]) * shares[i];
                let wanted = light(0) + light(1) + light(2);
                let near = |byte: u8| (precise_linear(byte) - wanted).abs();
                let nearest = (0..=255).map(near).fold(f64::MAX, f64::min);
                // The curve is bent: the nearest byte is not always that of the nearest light.
                assert!(near(found) <= nearest * 1.1 + 1e-6, "{found}: {wanted}");
            }
        }
    }
}
