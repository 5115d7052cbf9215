//! Light, backdrop and floor of a picture: a sun, the sky, a weak lamp.
//!
//! In: values of a scene file or a panel. Out: directions, and factors of the renderer's own colours of light, so that
//! the default changes nothing.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use glam::{DVec3, Vec3};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{
    fracture::interior::{hex_color, parse_color},
    geometry::srgb,
};

/// Linear colours of the studio backdrop: warm grey at the horizon, cooler and darker above.
pub(super) const HORIZON: [f32; 3] = [0.44, 0.42, 0.40];
pub(super) const ZENITH: [f32; 3] = [0.13, 0.155, 0.20];

/// A colour, sRGB, written `"#rrggbb"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub [u8; 3]);

impl Rgb {
    /// White: a factor of 1.
    pub const WHITE: Self = Self([255; 3]);

    /// Linear light, 0 to 1.
    #[must_use]
    pub fn linear(self) -> Vec3 {
        Vec3::from(self.0.map(srgb::linear))
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex_color(self.0))
    }
}

impl FromStr for Rgb {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_color(text).map(Self).ok_or_else(|| format!("`{text}` is no colour; write it \"#rrggbb\""))
    }
}

impl Serialize for Rgb {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rgb {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Colours behind the scene. They light nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Background {
    /// At the horizon and below.
    pub horizon: Rgb,
    /// Overhead.
    pub zenith: Rgb,
}

impl Default for Background {
    /// The colours nearest to the studio backdrop's.
    fn default() -> Self {
        Self { horizon: Rgb(HORIZON.map(srgb::byte)), zenith: Rgb(ZENITH.map(srgb::byte)) }
    }
}

/// Squares of a second colour on a floor that has a colour of its own. A corner of four lies at the world's origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Checker {
    /// Colour of every other square.
    pub color: Rgb,
    /// Edge of a square, m, [`Checker::SIZES`].
    pub size: f64,
}

impl Default for Checker {
    /// Dark squares of a quarter of a metre.
    fn default() -> Self {
        Self { color: Rgb([0x50; 3]), size: 0.25 }
    }
}

impl Checker {
    /// Allowed values of [`Checker::size`], m.
    pub const SIZES: RangeInclusive<f64> = 0.0001..=10_000.0;

    fn sane(self) -> Self {
        Self { size: clamped(self.size, Self::default().size, &Self::SIZES), ..self }
    }
}

/// Light, backdrop and floor of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lighting {
    /// Towards the sun, world, of any length but zero.
    pub sun_direction: DVec3,
    /// Factor of the sun's light, [`Lighting::STRENGTHS`].
    pub sun_strength: f64,
    /// Colour by which the sun's light is multiplied.
    pub sun_color: Rgb,
    /// Tangent of the sun's angular radius, [`Lighting::SOFTNESSES`]: how soft shadows are. The default is about ten
    /// times the real one.
    pub sun_softness: f64,
    /// Factor of the light of sky and ground, [`Lighting::STRENGTHS`].
    pub sky_strength: f64,
    /// Colour by which the light of sky and ground is multiplied.
    pub sky_color: Rgb,
    /// Factor of the light of a weak lamp without shadows, [`Lighting::STRENGTHS`].
    pub lamp_strength: f64,
    /// Colour by which the lamp's light is multiplied.
    pub lamp_color: Rgb,
    /// Towards the lamp, world, of any length but zero; `None`: behind the camera's right shoulder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lamp_direction: Option<DVec3>,
    /// Colours of the backdrop; `None`: a studio's warm and cool grey.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<Background>,
    /// Base colour of the floor; `None`: the backdrop's at the horizon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor_color: Option<Rgb>,
    /// Squares of a second colour on a floor with [`Lighting::floor_color`]; `None`: the floor is plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor_checker: Option<Checker>,
}

impl Default for Lighting {
    fn default() -> Self {
        Self {
            // Over the left shoulder of the default view.
            sun_direction: DVec3::new(-0.335, 0.735, 0.589),
            sun_strength: 1.0,
            sun_color: Rgb::WHITE,
            sun_softness: 0.045,
            sky_strength: 1.0,
            sky_color: Rgb::WHITE,
            lamp_strength: 1.0,
            lamp_color: Rgb::WHITE,
            lamp_direction: None,
            background: None,
            floor_color: None,
            floor_checker: None,
        }
    }
}

impl Lighting {
    /// Allowed factors of lights.
    pub const STRENGTHS: RangeInclusive<f64> = 0.0..=20.0;
    /// Allowed values of [`Lighting::sun_softness`].
    pub const SOFTNESSES: RangeInclusive<f64> = 0.0..=0.5;

    /// The same light with every field finite and in range: what is not finite, or a direction without length, becomes
    /// the default, and numbers are clamped.
    #[must_use]
    pub fn sane(self) -> Self {
        let plain = Self::default();
        let strength = |value: f64| clamped(value, 1.0, &Self::STRENGTHS);
        Self {
            sun_direction: sane_direction(self.sun_direction).unwrap_or(plain.sun_direction),
            sun_strength: strength(self.sun_strength),
            sun_softness: clamped(self.sun_softness, plain.sun_softness, &Self::SOFTNESSES),
            sky_strength: strength(self.sky_strength),
            lamp_strength: strength(self.lamp_strength),
            lamp_direction: self.lamp_direction.and_then(sane_direction),
            floor_checker: self.floor_checker.map(Checker::sane),
            ..self
        }
    }

    /// Checks the values of a scene file.
    ///
    /// # Errors
    /// The field that is out of range, its value, and the range.
    pub fn check(&self) -> Result<(), String> {
        within("sun_strength", self.sun_strength, &Self::STRENGTHS)?;
        within("sun_softness", self.sun_softness, &Self::SOFTNESSES)?;
        within("sky_strength", self.sky_strength, &Self::STRENGTHS)?;
        within("lamp_strength", self.lamp_strength, &Self::STRENGTHS)?;
        let squares = self.floor_checker.map_or(Checker::default().size, |checker| checker.size);
        within("size of floor_checker", squares, &Checker::SIZES)?;
        let directions =
            [("sun_direction", Some(self.sun_direction)), ("lamp_direction", self.lamp_direction)];
        for (name, direction) in directions {
            if let Some(direction) = direction.filter(|of| sane_direction(*of).is_none()) {
                return Err(format!("{name} is {direction}; a direction of any length but zero is wanted"));
            }
        }
        Ok(())
    }
}

/// Azimuth and height of a direction, radians. An azimuth of 0 is +z, and grows towards +x; a height is above the
/// horizon.
#[must_use]
pub fn azimuth_and_height(direction: DVec3) -> (f64, f64) {
    let DVec3 { x, y, z } = direction;
    (libm::atan2(x, z), libm::atan2(y, libm::hypot(x, z)))
}

/// The unit vector with an azimuth and a height, radians: the inverse of [`azimuth_and_height`].
#[must_use]
pub fn direction_at(azimuth: f64, height: f64) -> DVec3 {
    let ((sa, ca), (sh, ch)) = (libm::sincos(azimuth), libm::sincos(height));
    DVec3::new(sa * ch, sh, ca * ch)
}

/// Checks a field of a scene file.
pub(super) fn within(name: &str, value: f64, range: &RangeInclusive<f64>) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!("{name} is {value}; a number from {} to {} is wanted", range.start(), range.end()))
}

/// A number in range; `fallback` for one that is not finite.
pub(super) fn clamped(value: f64, fallback: f64, range: &RangeInclusive<f64>) -> f64 {
    if value.is_finite() { value.clamp(*range.start(), *range.end()) } else { fallback }
}

/// A direction whose square has digits in `f32`; `None` without length.
fn sane_direction(direction: DVec3) -> Option<DVec3> {
    let unit = direction.try_normalize()?;
    // Usual lengths stay, so that a file's numbers come back as they were.
    let is_usual = (1e-3..1e3).contains(&direction.length());
    Some(if is_usual { direction } else { unit })
}

#[cfg(test)]
mod tests {
    use serde::de::{IntoDeserializer, value::StrDeserializer};

    use super::*;

    #[test]
    fn azimuth_and_height_come_back() {
        for (azimuth, height) in [(0.0, 0.0), (0.7, 0.3), (-2.9, 1.2), (3.1, -0.8), (1.55, 1.5)] {
            let lighting = Lighting { sun_direction: direction_at(azimuth, height), ..Lighting::default() };
            let back = azimuth_and_height(lighting.sun_direction);
            assert!((back.0 - azimuth).abs() < 1e-12 && (back.1 - height).abs() < 1e-12, "{back:?}");
            assert!((lighting.sun_direction.length() - 1.0).abs() < 1e-12);
        }
        assert!(direction_at(0.0, 0.0).distance(DVec3::Z) < 1e-15);
        assert!(direction_at(std::f64::consts::FRAC_PI_2, 0.0).distance(DVec3::X) < 1e-15);
        let (_, height) = azimuth_and_height(DVec3::new(0.0, 7.0, 0.0));
        assert!((height - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    }

    #[test]
    fn the_default_is_a_factor_of_one_and_sane() {
        let plain = Lighting::default();
        assert_eq!(Rgb::WHITE.linear(), Vec3::ONE);
        assert_eq!(plain.sun_direction.as_vec3(), Vec3::new(-0.335, 0.735, 0.589));
        assert_eq!((plain.sane(), plain.check()), (plain, Ok(())));
    }

    #[test]
    fn odd_values_are_replaced_and_named() {
        type Change = fn(&mut Lighting);
        let odd: [(&str, Change); 9] = [
            ("sun_direction", |of| of.sun_direction = DVec3::ZERO),
            ("sun_direction", |of| of.sun_direction.y = f64::NAN),
            ("sun_strength", |of| of.sun_strength = -1.0),
            ("sun_softness", |of| of.sun_softness = 0.6),
            ("sky_strength", |of| of.sky_strength = f64::NAN),
            ("lamp_strength", |of| of.lamp_strength = 21.0),
            ("lamp_direction", |of| of.lamp_direction = Some(DVec3::ZERO)),
            ("lamp_direction", |of| of.lamp_direction = Some(DVec3::INFINITY)),
            ("floor_checker", |of| of.floor_checker = Some(Checker { size: 0.0, ..Checker::default() })),
        ];
        for (name, change) in odd {
            let mut lighting = Lighting::default();
            change(&mut lighting);
            let error = lighting.check().expect_err(name);
            assert!(error.contains(name), "{error}");
            assert_eq!(lighting.sane().check(), Ok(()), "{name}");
        }
        let tiny = Lighting { sun_direction: DVec3::X * 1e-60, ..Lighting::default() };
        assert!(tiny.sane().sun_direction.distance(DVec3::X) < 1e-12);
    }

    #[test]
    fn colours_are_hex_text() {
        let read = |text: &'static str| {
            let text: StrDeserializer<'_, serde::de::value::Error> = text.into_deserializer();
            Rgb::deserialize(text)
        };
        assert_eq!(read("#1a2B3c"), Ok(Rgb([0x1a, 0x2b, 0x3c])));
        assert_eq!(Rgb([0x1a, 0x2b, 0x3c]).to_string(), "#1a2b3c");
        let error = read("blue").expect_err("no colour").to_string();
        assert!(error.contains("blue") && error.contains("#rrggbb"), "{error}");
    }
}
