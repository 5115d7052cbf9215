//! A bar of a round length. In a picture with perspective it holds at the distance of the camera's target.
//!
//! In: a camera and the height of a picture. Out: a bar with its length as rectangles and a line of text.

use super::{
    decimal::{Decimal, ROUND, order_below},
    plate::{Plate, Text, opaque},
};
use crate::render::Camera;

/// Sizes, in heights of the text.
const THICK: f32 = 0.15;
const END: f32 = 0.5;
const GAP: f32 = 0.3;

/// Metres of the world for a pixel of a picture `height` pixels high, at the distance of the camera's target.
#[must_use]
pub fn metres_per_pixel(camera: &Camera, height: f32) -> f64 {
    let seen = 2.0 * f64::from(camera.distance) * libm::tan(0.5 * f64::from(camera.fov_y));
    seen / f64::from(height.max(1.0))
}

/// A bar with its length below it: 1, 2 or 5 times a power of ten of metres, said in mm, cm or m, and at most `longest`
/// pixels long. `em` is the height of the text in pixels, `ink` the colour (sRGB); `width` measures a line of text of a
/// height, in pixels. Empty where the numbers leave no bar.
#[must_use]
pub fn scale_bar(
    metres_per_pixel: f64,
    longest: f32,
    em: f32,
    ink: [u8; 3],
    width: impl Fn(&str, f32) -> f32,
) -> Plate {
    let mut plate = Plate::default();
    let Some(length) = round_length(metres_per_pixel * f64::from(longest)) else { return plate };
    let text = said(length);
    let pixels = (length.value() / metres_per_pixel) as f32;
    let letters = width(&text, em);
    let [bar, label] = [pixels, letters].map(|own| 0.5 * (pixels.max(letters) - own));
    let [thick, end] = [THICK * em, END * em].map(|side| side.round().max(1.0));
    let middle = (0.5 * (end - thick)).round().max(0.0);
    plate.fill([bar, middle, pixels, thick], opaque(ink));
    let ends = thick.min(0.5 * pixels);
    for left in [bar, bar + pixels - ends] {
        plate.fill([left, 0.0, ends, end], opaque(ink));
    }
    let at = [label, end + (GAP * em).round()];
    plate.text(Text { at, text, height: em, color: ink }, letters);
    plate
}

/// The greatest round length, m, that is not above `most`.
fn round_length(most: f64) -> Option<Decimal> {
    if !(1e-12..=1e12).contains(&most) {
        return None;
    }
    let order = order_below(most);
    let mut lengths = (order..=order + 1).rev().flat_map(|exponent| {
        let [one, two, five] = ROUND;
        [five, two, one].map(|digits| Decimal { digits, exponent })
    });
    // What rounding takes from a length that just fits may be given back.
    lengths.find(|length| length.value() <= most * (1.0 + 1e-6))
}

/// A length with its unit.
fn said(Decimal { digits, exponent }: Decimal) -> String {
    let (unit, power) = match exponent {
        0.. => ("m", 0),
        -2..=-1 => ("cm", 2),
        _ => ("mm", 3),
    };
    format!("{} {unit}", Decimal { digits, exponent: exponent + power }.text())
}

#[cfg(test)]
mod tests {
    use super::super::plate::testing::{outside, width};
    use super::*;

    const INK: [u8; 3] = [200, 200, 200];

    #[test]
    fn bars_are_round_and_as_long_as_they_say() {
        for (metres_per_pixel, longest, text, pixels) in [
            (0.001, 100.0, "10 cm", 100.0),
            (0.001, 99.0, "5 cm", 50.0),
            (0.001, 250.0, "20 cm", 200.0),
            (0.01, 100.0, "1 m", 100.0),
            (0.01, 350.0, "2 m", 200.0),
            (0.0001, 70.0, "5 mm", 50.0),
            (0.0001, 150.0, "1 cm", 100.0),
            (1e-6, 300.0, "0.2 mm", 200.0),
            (30.0, 100.0, "2000 m", 66.666_67),
        ] {
            let plate = scale_bar(metres_per_pixel, longest, 10.0, INK, width);
            assert_eq!(plate.texts[0].text, text, "{metres_per_pixel} m a pixel, {longest} pixels");
            let left = plate.fills.iter().map(|fill| fill.rect[0]).fold(f32::INFINITY, f32::min);
            let right = plate.fills.iter().map(|fill| fill.rect[0] + fill.rect[2]).fold(0.0, f32::max);
            assert!(
                (right - left - pixels).abs() < 0.01,
                "{text} has {} pixels and not {pixels}; leaving out the width of the ends shows this",
                right - left
            );
            assert_eq!(outside(&plate), None);
            assert_eq!(plate, scale_bar(metres_per_pixel, longest, 10.0, INK, width));
        }
    }

    #[test]
    fn a_metre_at_the_target_has_as_many_pixels_as_the_camera_gives_it() {
        let camera = Camera { distance: 2.5, pitch: 0.0, ..Camera::default() };
        let (width, height) = (1200.0, 800.0);
        let up =
            |y: f32| camera.project(camera.target + glam::Vec3::Y * y, width / height).unwrap()[1] * height;
        // A length so short that perspective does not bend it.
        let pixels = f64::from(up(-0.005) - up(0.005));
        let told = 0.01 / metres_per_pixel(&camera, height);
        assert!((pixels / told - 1.0).abs() < 1e-3, "{pixels} pixels, and not {told}");
    }

    #[test]
    fn numbers_without_a_bar_give_an_empty_plate() {
        for (metres_per_pixel, longest) in
            [(0.0, 100.0), (-1.0, 100.0), (f64::NAN, 100.0), (f64::INFINITY, 100.0), (1.0, 0.0), (1.0, -3.0)]
        {
            assert_eq!(scale_bar(metres_per_pixel, longest, 10.0, INK, width), Plate::default());
        }
    }
}
