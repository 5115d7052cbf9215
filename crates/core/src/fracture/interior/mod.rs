//! The material inside an object (2016, sec. 4.4), which crack faces show.
//!
//! In: a choice of material and the object's own colours. Out: a [`Volume`], four words that kernels and the references
//! in `volume` and `relief` turn into a colour and a displacement of cracks at every point of the grid.

mod clay;
mod insides;
mod paint;
mod relief;
#[cfg(test)]
mod relief_tests;
#[cfg(test)]
mod tests;
mod volume;

pub use insides::{Insides, LATER};
pub(in crate::fracture) use paint::{Painter, VolumeGrid};
pub use relief::{RELIEFS, Relief};

use crate::geometry::srgb;
use crate::svo::Forest;

/// Kinds of material. The number is the one in [`Volume`]'s first word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u32)]
pub enum Material {
    /// One even colour.
    Plain = 1,
    /// Fired clay: a soft body with grit and pores.
    #[default]
    Clay = 2,
    /// Granite: grains of four kinds.
    Stone = 3,
    /// Marble: clouds and veins.
    Marble = 4,
    /// Wood: rings, fibres, rays.
    Wood = 5,
    /// Porcelain: dense and nearly white.
    Porcelain = 6,
    /// Glass: clear, with ripples round the place where it broke first.
    Glass = 7,
    /// Concrete: cement with sand and gravel.
    Concrete = 8,
    /// Plaster: pale and crumbly.
    Plaster = 9,
    /// Brick: coarse red clay with grog.
    Brick = 10,
}

crate::names! { Material:
    Clay = "clay", Porcelain = "porcelain", Glass = "glass", Stone = "stone", Marble = "marble",
    Concrete = "concrete", Brick = "brick", Plaster = "plaster", Wood = "wood", Plain = "plain",
}

/// The material that a break opens.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Interior {
    /// Kind.
    pub material: Material,
    /// Base colour, sRGB, written `"#rrggbb"`; `None` follows the colours of the object's surface.
    #[serde(with = "hex", skip_serializing_if = "Option::is_none")]
    pub color: Option<[u8; 3]>,
    /// Size of the features, [`SCALES`]; 1 suits an object that fills its grid.
    pub scale: f64,
    /// Another seed is another block of the material.
    pub seed: u32,
    /// How far grains, fibres and ripples bend cracks, [`RELIEFS`]; 1 is usual for the material, 0 leaves faces smooth.
    pub relief: f64,
    /// Whether a file named no material, so that a blow of its scene opens that of the body. It has no meaning elsewhere and
    /// makes no difference to equality.
    #[serde(skip)]
    pub is_left_out: bool,
}

impl PartialEq for Interior {
    fn eq(&self, other: &Self) -> bool {
        let values = |one: &Self| (one.material, one.color, one.scale, one.seed, one.relief);
        values(self) == values(other)
    }
}

/// Allowed values of [`Interior::scale`].
pub const SCALES: std::ops::RangeInclusive<f64> = 0.1..=10.0;

impl Default for Interior {
    fn default() -> Self {
        Self { material: Material::Clay, color: None, scale: 1.0, seed: 1, relief: 1.0, is_left_out: false }
    }
}

/// A material with its colours, in the layout of `shaders/shared/volume.wgsl`, which has a drawing of the words. All
/// zero is no material.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Volume(pub [u32; 4]);

impl Volume {
    /// Base colour, sRGB.
    #[must_use]
    pub fn base(&self) -> [u8; 3] {
        let [r, g, b, _] = self.0[0].to_le_bytes();
        [r, g, b]
    }

    /// Size of its features, 256 is 1.
    pub(in crate::fracture) fn size(&self) -> u32 {
        self.0[2] & 0xffff
    }

    /// Whether it is glass, which light passes through.
    #[must_use]
    pub fn is_glass(&self) -> bool {
        self.material() == Material::Glass as u32
    }

    /// Its material, if it has one.
    #[must_use]
    pub fn kind(&self) -> Option<Material> {
        Material::ALL.into_iter().find(|material| *material as u32 == self.material())
    }

    /// Number of its [`Material`]; 0 is none.
    pub(in crate::fracture) fn material(&self) -> u32 {
        self.0[0] >> 24
    }
}

impl Interior {
    /// The volume inside an object whose surface has the colour `surface` on the whole (see [`surface_color`]). A
    /// scale out of range is pulled in.
    #[must_use]
    pub fn volume(&self, surface: [u8; 3]) -> Volume {
        let base = self.color.unwrap_or_else(|| follow(self.material, surface));
        let second = second(self.material, base);
        let within = |value: f64, range: &std::ops::RangeInclusive<f64>, unit: f64| {
            let value = if value.is_finite() { value } else { 1.0 };
            (value.clamp(*range.start(), *range.end()) * unit).round() as u32
        };
        let size = within(self.scale, &SCALES, 256.0);
        let relief = within(self.relief, &RELIEFS, relief::FULL);
        let material = self.material as u32;
        Volume([word(base) | material << 24, word(second), size | relief << 16, self.seed])
    }
}

fn word([r, g, b]: [u8; 3]) -> u32 {
    u32::from(r) | u32::from(g) << 8 | u32::from(b) << 16
}

/// Mean colour of the surface of an octree: of its leaves that no fracture made, in linear light. A piece from deep
/// inside has none and gets a middle grey, unless [`super::Recipe::surface_color`] has the colour of its object.
#[must_use]
pub fn surface_color(forest: &Forest, tree: u32) -> [u8; 3] {
    let linear: Vec<f64> = (0..=255u8).map(srgb::precise_linear).collect();
    let range = tree as usize..tree as usize + 2;
    let leaves = match forest.tree_start.get(range) {
        Some(&[first, end]) => forest.leaves.colors.get(first as usize..end as usize).unwrap_or_default(),
        _ => &[],
    };
    let mut sum = [0.0; 3];
    let mut count = 0u64;
    for color in leaves.iter().filter(|color| !color.crack()) {
        for (total, value) in sum.iter_mut().zip(color.rgb()) {
            *total += linear[usize::from(value)];
        }
        count += 1;
    }
    if count == 0 {
        return [140; 3];
    }
    sum.map(|total| srgb::precise_byte(total / count as f64))
}

/// The base colour that goes with a surface: a pull towards the material's own colour, with some of the surface's
/// lightness.
fn follow(material: Material, surface: [u8; 3]) -> [u8; 3] {
    // The material's own colour, how far it pulls, and how much of the surface's lightness comes along.
    let (own, pull, lightness): ([u8; 3], f64, f64) = match material {
        Material::Plain => return surface,
        Material::Clay => ([196, 148, 112], 0.74, 0.45),
        Material::Stone => ([152, 149, 145], 0.78, 0.5),
        Material::Marble => ([228, 224, 217], 0.9, 0.2),
        Material::Wood => ([190, 144, 94], 0.7, 0.45),
        Material::Porcelain => ([238, 234, 226], 0.88, 0.1),
        Material::Glass => ([190, 218, 210], 0.85, 0.2),
        Material::Concrete => ([150, 148, 142], 0.82, 0.3),
        Material::Plaster => ([226, 221, 211], 0.88, 0.15),
        Material::Brick => ([168, 88, 64], 0.82, 0.3),
    };
    let (own, surface) = (own.map(srgb::precise_linear), surface.map(srgb::precise_linear));
    let (own_light, light) = (luminance(own), luminance(surface).max(1e-4));
    // First brought to equal lightness, so that the pull changes the hue and `lightness` alone determines how pale it
    // gets.
    let wanted = own_light * libm::pow(light / own_light, lightness);
    std::array::from_fn(|k| {
        let mixed = own[k] / own_light * pull + surface[k] / light * (1.0 - pull);
        srgb::precise_byte(mixed * wanted)
    })
}

/// Veins, late wood, dark grains: what the base colour is mixed with.
fn second(material: Material, base: [u8; 3]) -> [u8; 3] {
    // Factors on linear red, green, blue.
    let factors = match material {
        Material::Plain => [1.0; 3],
        Material::Clay => [0.62, 0.46, 0.38],
        Material::Stone => [0.14, 0.135, 0.14],
        Material::Marble => [0.2, 0.22, 0.25],
        Material::Wood => [0.42, 0.33, 0.24],
        Material::Porcelain => [0.8, 0.8, 0.78],
        Material::Glass => [0.72, 0.9, 0.85],
        Material::Concrete => [0.32, 0.31, 0.3],
        Material::Plaster => [0.62, 0.6, 0.56],
        Material::Brick => [0.3, 0.26, 0.26],
    };
    std::array::from_fn(|k| srgb::precise_byte(srgb::precise_linear(base[k]) * factors[k]))
}

/// The colour by which a surface of glass of this colour (sRGB) dyes the light that passes: its hue, half way to white, since light
/// crosses many surfaces on its way through pieces that lie together.
#[must_use]
pub fn dye(color: [u8; 3]) -> [u8; 3] {
    let linear = color.map(srgb::precise_linear);
    let most = linear.into_iter().fold(1e-3, f64::max);
    linear.map(|part| srgb::precise_byte(0.5 + 0.5 * part / most))
}

fn luminance([r, g, b]: [f64; 3]) -> f64 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// `#rrggbb`.
#[must_use]
pub fn hex_color([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// `#rrggbb`, the `#` optional.
#[must_use]
pub fn parse_color(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let value = u32::from_str_radix(digits, 16).ok()?;
    Some([(value >> 16) as u8, (value >> 8) as u8, value as u8])
}

// `NAME`, or `NAME:#RRGGBB`.
impl std::str::FromStr for Interior {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, color) = match text.split_once(':') {
            Some((name, color)) => (name, Some(color)),
            None => (text, None),
        };
        let material = Material::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| {
            let names = Material::ALL.map(Material::name).join(", ");
            format!("`{name}` is no material; one of {names} is wanted, as in marble or clay:#b07050")
        })?;
        let color = color
            .map(|c| {
                parse_color(c)
                    .ok_or_else(|| format!("`{c}` is no colour; #RRGGBB is wanted, as in clay:#b07050"))
            })
            .transpose()?;
        Ok(Self { material, color, ..Self::default() })
    }
}

mod hex {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(color: &Option<[u8; 3]>, to: S) -> Result<S::Ok, S::Error> {
        match color {
            Some(color) => to.serialize_str(&super::hex_color(*color)),
            None => to.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<[u8; 3]>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        let parse = |text: String| {
            super::parse_color(&text)
                .ok_or_else(|| D::Error::custom(format!("`{text}` is no colour; write it \"#rrggbb\"")))
        };
        text.map(parse).transpose()
    }
}
