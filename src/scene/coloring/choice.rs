//! What colours mean: something that pictures show by themselves, or a quantity of bodies or of their voxels.
//!
//! In: a name of a scene file, a command or a panel. Out: the choice.

use super::Quantity;
use crate::render::ColorBy;

/// What colours mean in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Coloring {
    /// Something that the picture shows by itself.
    Look(ColorBy),
    /// A quantity of the bodies.
    Value(Quantity),
}

impl Default for Coloring {
    fn default() -> Self {
        Self::Look(ColorBy::Material)
    }
}

/// Names of what pictures show by themselves, as scene files have them.
const LOOKS: [(ColorBy, &str); 5] = [
    (ColorBy::Material, "Material"),
    (ColorBy::Piece, "Piece"),
    (ColorBy::Normal, "Normal"),
    (ColorBy::Crack, "Crack"),
    (ColorBy::Level, "Level"),
];

impl From<Coloring> for String {
    fn from(coloring: Coloring) -> Self {
        match coloring {
            Coloring::Value(quantity) => quantity.name.to_owned(),
            Coloring::Look(look) => {
                LOOKS.iter().find(|(of, _)| *of == look).map_or("Material", |(_, name)| name).to_owned()
            }
        }
    }
}

impl TryFrom<String> for Coloring {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

impl std::str::FromStr for Coloring {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if let Some((look, _)) = LOOKS.iter().find(|(_, of)| of.eq_ignore_ascii_case(name)) {
            return Ok(Self::Look(*look));
        }
        if Quantity::named(name).is_some() {
            return name.parse().map(Self::Value);
        }
        Err(format!("there is no `{name}`; there are {}", Self::names().join(", ")))
    }
}

impl Coloring {
    /// How the renderer draws it.
    #[must_use]
    pub fn rendered(self) -> ColorBy {
        match self {
            Self::Look(look) => look,
            // Voxels have colours of their own, in copies of the shapes.
            Self::Value(quantity) if quantity.of_voxels => ColorBy::Material,
            Self::Value(_) => ColorBy::Piece,
        }
    }

    /// The quantity, if it is one.
    #[must_use]
    pub fn quantity(self) -> Option<Quantity> {
        match self {
            Self::Look(_) => None,
            Self::Value(quantity) => Some(quantity),
        }
    }

    /// All names, lower case.
    #[must_use]
    pub fn names() -> Vec<String> {
        let looks = LOOKS.iter().map(|(_, name)| name.to_lowercase());
        let values = Quantity::ALL.into_iter().filter(|quantity| quantity.is_built());
        looks.chain(values.map(|quantity| quantity.name.to_owned())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        for name in Coloring::names() {
            let coloring: Coloring = name.parse().unwrap();
            let text = String::from(coloring);
            assert_eq!(text.parse(), Ok(coloring));
        }
        assert_eq!("Material".parse(), Ok(Coloring::default()));
        assert_eq!("coverage".parse::<Coloring>().map(Coloring::rendered), Ok(ColorBy::Material));
        assert_eq!("mass".parse::<Coloring>().map(Coloring::rendered), Ok(ColorBy::Piece));
        assert!("hue".parse::<Coloring>().unwrap_err().contains("material, piece"));
    }
}
