//! Units of length: what the numbers of a mesh file mean.
//!
//! In: a unit, a length with its unit as a user types it, a mesh. Out: metres.

use super::{Format, Mesh};

/// A unit of the lengths in a mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Units {
    /// Millimetres.
    Mm,
    /// Centimetres.
    Cm,
    /// Metres.
    M,
    /// Inches.
    In,
    /// Feet.
    Ft,
}

// A unit follows every one whose name ends with its name: `length` looks for the first that fits.
crate::names! { Units: Mm = "mm", Cm = "cm", M = "m", In = "in", Ft = "ft" }

impl Units {
    /// Its length, m.
    #[must_use]
    pub fn metres(self) -> f64 {
        match self {
            Self::Mm => 0.001,
            Self::Cm => 0.01,
            Self::M => 1.0,
            Self::In => 0.0254,
            Self::Ft => 0.3048,
        }
    }

    /// A length with its unit, as `2mm` or `0.5 in`, in metres.
    ///
    /// # Errors
    /// What is wanted instead.
    pub fn length(text: &str) -> Result<f64, String> {
        let text = text.trim();
        let wanted = "a length above 0 with its unit is wanted, as in 2mm; units are mm, cm, m, in and ft";
        let split = |unit: Self| Some((text.strip_suffix(unit.name())?, unit));
        let (number, unit) = Self::ALL.into_iter().find_map(split).ok_or(wanted)?;
        let number: f64 = number.trim().parse().map_err(|_| wanted)?;
        let length = number * unit.metres();
        if length.is_finite() && length > 0.0 { Ok(length) } else { Err(wanted.into()) }
    }
}

/// What is longer than this, or shorter than [`SHORT`], may well be in another unit where its file does not say so, m.
const LONG: f64 = 50.0;
/// See [`LONG`], m.
const SHORT: f64 = 0.001;

/// Whether a file of this format may be in another unit than metres: it names none, and its longest side has this length,
/// file units, which would be improbable in metres.
#[must_use]
pub fn may_be_in_another_unit(format: Option<Format>, length: f64) -> bool {
    // glTF is in metres, FBX and USD name their unit, VOX counts voxels, and shapes of the program have no format.
    let is_named = matches!(format, None | Some(Format::Gltf | Format::Vox | Format::Fbx | Format::Usd));
    !is_named && (length > LONG || (length > 0.0 && length < SHORT))
}

/// Reads a length of a file of TOML: a number in metres, or a text with a unit as [`Units::length`] takes it.
///
/// # Errors
/// What is wanted instead.
pub fn length_in_metres<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Length {
        Metres(f64),
        Text(String),
    }
    let length = match <Length as serde::Deserialize>::deserialize(from)? {
        Length::Metres(length) => length,
        Length::Text(text) => Units::length(&text).map_err(<D::Error as serde::de::Error>::custom)?,
    };
    Ok(Some(length))
}

impl Mesh {
    /// Length of the longest side of the bounds of its triangles, as voxels have it; 0 where it has none.
    #[must_use]
    pub fn longest_side(&self) -> f64 {
        let side = |k: usize| {
            let used = self.triangles.iter().flatten().filter_map(|i| self.positions.get(*i as usize));
            let of = used.map(|p| f64::from(p[k]));
            let (low, high) =
                of.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
            (high - low).max(0.0)
        };
        (0..3).map(side).fold(0.0, f64::max)
    }

    /// The mesh, `factor` times as large.
    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Self {
        if factor != 1.0 {
            self.positions.iter_mut().flatten().for_each(|v| *v = (f64::from(*v) * factor) as f32);
            self.origin = self.origin.map(|v| v * factor);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_a_number_and_a_unit() {
        let lengths =
            ["2mm", " 3 cm", "1.5m", "1in", "2 ft", "1e-3m"].map(|text| Units::length(text).unwrap());
        assert_eq!(lengths, [0.002, 0.03, 1.5, 0.0254, 0.6096, 0.001]);
        for bad in ["2", "mm", "-2mm", "0m", "nanmm", "infm", "2 miles", "", "1e400m"] {
            assert!(Units::length(bad).is_err_and(|why| why.contains("as in 2mm")), "{bad}");
        }
    }

    #[test]
    fn a_mesh_is_measured_and_scaled() {
        let mesh = Mesh {
            // No triangle uses the last one.
            positions: vec![[1.0, 2.0, 3.0], [-1.0, 8.0, 4.0], [100.0, 0.0, 0.0]],
            triangles: vec![[0, 1, 1]],
            origin: [4.0, 0.0, 2.0],
            ..Mesh::default()
        };
        assert_eq!((mesh.longest_side(), Mesh::default().longest_side()), (6.0, 0.0));
        let half = mesh.clone().scaled(0.5);
        assert_eq!(half.positions, [[0.5, 1.0, 1.5], [-0.5, 4.0, 2.0], [50.0, 0.0, 0.0]]);
        assert_eq!(half.origin, [2.0, 0.0, 1.0]);
        assert_eq!(mesh.clone().scaled(1.0), mesh);
        let formats = [
            Some(Format::Stl),
            Some(Format::Gltf),
            Some(Format::Fbx),
            Some(Format::Usd),
            Some(Format::Vox),
            None,
        ];
        let may = formats.map(|format| may_be_in_another_unit(format, 494.0));
        assert_eq!(may, [true, false, false, false, false, false]);
        let of_obj =
            [50.1, 40.0, 0.0011, 0.0009, 0.0].map(|length| may_be_in_another_unit(Some(Format::Obj), length));
        assert_eq!(of_obj, [true, false, false, true, false]);
    }

    #[test]
    fn units_have_their_lengths_in_metres() {
        // By their definitions: a foot is 12 inches of 25.4 mm.
        let table = [("mm", 0.001), ("cm", 0.01), ("m", 1.0), ("in", 0.0254), ("ft", 12.0 * 0.0254)];
        for (unit, (name, metres)) in Units::ALL.into_iter().zip(table) {
            assert_eq!(unit.name(), name);
            assert!((unit.metres() - metres).abs() < 1e-15, "{name}");
        }
    }

    #[test]
    fn a_length_of_a_file_is_a_number_or_a_text() {
        #[derive(serde::Deserialize)]
        struct Row {
            #[serde(default, deserialize_with = "length_in_metres")]
            edge: Option<f64>,
        }
        let of =
            |text: &str| serde_json::from_str::<Row>(text).map(|row| row.edge).map_err(|why| why.to_string());
        assert_eq!((of("{\"edge\": 0.5}"), of("{\"edge\": \"2mm\"}")), (Ok(Some(0.5)), Ok(Some(0.002))));
        assert_eq!(of("{}"), Ok(None));
        assert!(of("{\"edge\": \"2\"}").is_err_and(|why| why.contains("as in 2mm")));
    }
}
