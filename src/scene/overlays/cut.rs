//! Where a slice through an object lies.

/// Where a slice goes through the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Cut {
    /// The axis across it: 0, 1, 2 for x, y, z of the mesh.
    pub axis: u8,
    /// How far along that axis, hundredths of the object's extent.
    pub percent: u8,
}

impl Default for Cut {
    fn default() -> Self {
        Self { axis: 2, percent: 50 }
    }
}

impl std::str::FromStr for Cut {
    type Err = String;

    /// An axis and hundredths, as in `x40`; without a number the middle.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut letters = text.chars();
        let axis = letters.next().and_then(|letter| "xyz".find(letter));
        let rest = letters.as_str();
        let percent = if rest.is_empty() { Some(50) } else { rest.parse().ok().filter(|p| *p <= 100) };
        match (axis, percent) {
            (Some(axis), Some(percent)) => Ok(Self { axis: axis as u8, percent }),
            _ => Err(format!("`{text}` should be an axis and hundredths of the object, as in x40")),
        }
    }
}
