//! Colour maps: a share from 0 to 1 becomes a colour.
//!
//! In: a share. Out: an sRGB colour, a straight line in bytes between two published stops. The stops are entries of the
//! tables that the maps' authors published, at even steps; what lies between them differs from the published tables by
//! at most 1 of 255 (viridis, turbo), 2 (cividis) and 6 (batlow, of which the ten swatches of batlow10 serve; a line in
//! `OKLab` between these differs by up to 8). The crate colorous computes cividis and turbo by polynomials, which differ
//! from those tables by up to 18 and 32.

use serde::{Deserialize, Serialize};

/// Colour of what has no value, sRGB.
pub const NO_VALUE: [u8; 3] = [128, 128, 128];

/// A sequence of colours for values from low to high.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColorMap {
    /// Violet over green to yellow, evenly lighter (van der Walt and Smith 2015).
    #[default]
    Viridis,
    /// Blue over grey to yellow, evenly lighter; looks nearly the same with red-green colour blindness (Nuñez, Anderton
    /// and Renslow 2018).
    Cividis,
    /// Blue over green and orange to pink, evenly lighter (Crameri 2018).
    Batlow,
    /// The rainbow with smooth lightness, dark at both ends (Mikhailov 2019); shows small differences, but its
    /// lightness has no order.
    Turbo,
}

kintsugi_core::names! { ColorMap:
    Viridis = "viridis", Cividis = "cividis", Batlow = "batlow", Turbo = "turbo",
}

impl ColorMap {
    /// As the window spells it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Viridis => "Viridis",
            Self::Cividis => "Cividis",
            Self::Batlow => "Batlow",
            Self::Turbo => "Turbo",
        }
    }

    /// Colour at a share of the way from low to high, sRGB. The share is clamped to 0..=1; NaN gives [`NO_VALUE`].
    #[must_use]
    pub fn color(self, share: f64) -> [u8; 3] {
        if share.is_nan() {
            return NO_VALUE;
        }
        let stops = self.stops();
        let along = share.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
        // The last stop ends a line and begins none.
        let first = (along as usize).min(stops.len() - 2);
        let part = along - first as f64;
        let [from, to] = [stops[first], stops[first + 1]].map(bytes);
        std::array::from_fn(|i| {
            let (from, to) = (f64::from(from[i]), f64::from(to[i]));
            (from + (to - from) * part).round() as u8
        })
    }

    /// Colours `0xRRGGBB` at even steps, two at least.
    fn stops(self) -> &'static [u32] {
        match self {
            Self::Viridis => &VIRIDIS,
            Self::Cividis => &CIVIDIS,
            Self::Batlow => &BATLOW,
            Self::Turbo => &TURBO,
        }
    }
}

fn bytes(stop: u32) -> [u8; 3] {
    let [_, red, green, blue] = stop.to_be_bytes();
    [red, green, blue]
}

/// Every fifth of 256 entries.
#[rustfmt::skip]
const VIRIDIS: [u32; 52] = [
    0x440154, 0x46085C, 0x471063, 0x481769, 0x481D6F, 0x482475, 0x472A7A, 0x46307E, 0x453781, 0x433D84, 0x414287,
    0x3F4889, 0x3D4E8A, 0x3A538B, 0x38598C, 0x355E8D, 0x33638D, 0x31688E, 0x2E6D8E, 0x2C718E, 0x2A768E, 0x297B8E,
    0x27808E, 0x25848E, 0x23898E, 0x218E8D, 0x20928C, 0x1F978B, 0x1E9C89, 0x1FA188, 0x21A585, 0x24AA83, 0x28AE80,
    0x2EB37C, 0x35B779, 0x3DBC74, 0x46C06F, 0x50C46A, 0x5AC864, 0x65CB5E, 0x70CF57, 0x7CD250, 0x89D548, 0x95D840,
    0xA2DA37, 0xB0DD2F, 0xBDDF26, 0xCAE11F, 0xD8E219, 0xE5E419, 0xF1E51D, 0xFDE725,
];

/// Every third of 256 entries: the map bends sharply near its dark end.
#[rustfmt::skip]
const CIVIDIS: [u32; 86] = [
    0x00224E, 0x002553, 0x002758, 0x00295D, 0x002B62, 0x002D68, 0x002F6D, 0x003170, 0x053371, 0x0F3570, 0x163770,
    0x1C396F, 0x213B6E, 0x263D6E, 0x2A3F6D, 0x2E416D, 0x32436D, 0x35456C, 0x39486C, 0x3C4A6C, 0x3F4C6C, 0x424E6C,
    0x45506C, 0x48526C, 0x4B546C, 0x4E566C, 0x51586D, 0x545A6D, 0x565C6D, 0x595E6E, 0x5C616E, 0x5E636F, 0x61656F,
    0x646770, 0x666970, 0x696B71, 0x6C6D72, 0x6E6F73, 0x717274, 0x737475, 0x767676, 0x787877, 0x7B7A78, 0x7E7C78,
    0x807F78, 0x838179, 0x868379, 0x898578, 0x8C8878, 0x8F8A78, 0x928C78, 0x948E77, 0x979177, 0x9A9376, 0x9D9576,
    0xA09875, 0xA39A74, 0xA69C74, 0xA99F73, 0xACA172, 0xAFA471, 0xB3A670, 0xB6A96F, 0xB9AB6D, 0xBCAE6C, 0xBFB06B,
    0xC2B369, 0xC5B568, 0xC8B866, 0xCCBA64, 0xCFBD62, 0xD2C060, 0xD5C25E, 0xD9C55C, 0xDCC859, 0xDFCA57, 0xE2CD54,
    0xE6D051, 0xE9D34E, 0xEDD54A, 0xF0D846, 0xF3DB42, 0xF7DE3E, 0xFBE138, 0xFEE434, 0xFEE838,
];

/// The ten swatches of batlow10.
#[rustfmt::skip]
const BATLOW: [u32; 10] = [
    0x011959, 0x103F60, 0x1C5A62, 0x3C6D56, 0x687B3E, 0x9D892B, 0xD29343, 0xF8A17B, 0xFDB7BC, 0xFACCFA,
];

/// Every fifth of 256 entries.
#[rustfmt::skip]
const TURBO: [u32; 52] = [
    0x30123B, 0x36215F, 0x3B2F80, 0x3F3E9C, 0x424BB5, 0x4559CB, 0x4666DD, 0x4773EB, 0x4680F6, 0x458CFD, 0x4099FF,
    0x38A5FB, 0x2FB2F4, 0x27BEE9, 0x1FC9DD, 0x1AD4D0, 0x18DDC2, 0x1AE4B6, 0x22EBAA, 0x2FF19B, 0x3FF68A, 0x52FA7A,
    0x65FD69, 0x79FE59, 0x8BFF4B, 0x9CFE40, 0xA9FB39, 0xB7F735, 0xC3F134, 0xD0EA34, 0xDBE236, 0xE5D938, 0xEECF3A,
    0xF5C53A, 0xFABA39, 0xFDAE35, 0xFEA130, 0xFE932A, 0xFC8423, 0xF9751D, 0xF46617, 0xEF5811, 0xE84B0C, 0xE14109,
    0xD83706, 0xCE2D04, 0xC32503, 0xB71D02, 0xA91601, 0x9B0F01, 0x8B0902, 0x7A0403,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::srgb;

    /// CIE L*, 0 to 100, of an sRGB colour under D65.
    fn lightness([red, green, blue]: [u8; 3]) -> f64 {
        let of = srgb::precise_linear;
        let y = 0.2126 * of(red) + 0.7152 * of(green) + 0.0722 * of(blue);
        if y > 216.0 / 24389.0 { 116.0 * libm::cbrt(y) - 16.0 } else { 24389.0 / 27.0 * y }
    }

    fn farthest(a: [u8; 3], b: [u8; 3]) -> u8 {
        a.iter().zip(b).map(|(a, b)| a.abs_diff(b)).max().unwrap_or_default()
    }

    /// The colours at the middles and the second one of viridis lie between two stops.
    #[test]
    fn maps_have_the_published_colors() {
        let published: [(ColorMap, &[(f64, u32)]); 4] = [
            (
                ColorMap::Viridis,
                &[(0.0, 0x440154), (64.0 / 255.0, 0x3B528B), (0.5, 0x21918C), (1.0, 0xFDE725)],
            ),
            (ColorMap::Cividis, &[(0.0, 0x00224E), (0.5, 0x7D7C78), (1.0, 0xFEE838)]),
            (
                ColorMap::Batlow,
                &[(0.0, 0x011959), (1.0 / 3.0, 0x3C6D56), (2.0 / 3.0, 0xD29343), (1.0, 0xFACCFA)],
            ),
            (ColorMap::Turbo, &[(0.0, 0x30123B), (0.5, 0xA3FD3C), (1.0, 0x7A0403)]),
        ];
        for (map, colors) in published {
            for (share, color) in colors {
                let (found, wanted) = (map.color(*share), bytes(*color));
                assert!(
                    farthest(found, wanted) <= 2,
                    "{} at {share} is {found:?} and not {wanted:?}; leaving a stop of its table out shows this",
                    map.name()
                );
            }
        }
    }

    #[test]
    fn three_maps_get_lighter_all_the_way() {
        for map in [ColorMap::Viridis, ColorMap::Cividis, ColorMap::Batlow] {
            let steps: Vec<f64> = (0..=100).map(|i| lightness(map.color(f64::from(i) / 100.0))).collect();
            for (i, pair) in steps.windows(2).enumerate() {
                assert!(
                    pair[1] > pair[0] + 0.2,
                    "{} gets no lighter at {i} of 100: {pair:?}; swapping two stops shows this",
                    map.name()
                );
            }
        }
        let turbo = ColorMap::Turbo;
        let [dark, light, end] = [0.0, 0.5, 1.0].map(|share| lightness(turbo.color(share)));
        assert!(light > dark + 50.0 && light > end + 50.0, "the measure tells turbo, dark at both ends");
    }

    #[test]
    fn shares_outside_get_the_ends_and_no_share_gets_grey() {
        for map in ColorMap::ALL {
            assert_eq!([-1.0, f64::NEG_INFINITY, -0.0].map(|share| map.color(share)), [map.color(0.0); 3]);
            assert_eq!([2.0, f64::INFINITY].map(|share| map.color(share)), [map.color(1.0); 2]);
            assert_eq!(map.color(f64::NAN), NO_VALUE);
            assert_ne!(map.color(0.0), map.color(1.0));
        }
    }

    #[test]
    fn files_spell_maps_by_their_names() {
        for map in ColorMap::ALL {
            assert_eq!(serde_json::to_value(map).unwrap(), serde_json::json!(map.name()));
            let again: ColorMap = serde_json::from_value(serde_json::json!(map.name())).unwrap();
            assert_eq!((again, map.label().to_lowercase().as_str()), (map, map.name()));
        }
        assert!(serde_json::from_value::<ColorMap>(serde_json::json!("jet")).is_err());
    }
}
