//! A parameter with its values on a sheet.
//!
//! In: `seeds=20,40`. Out: for every combination the parameters of a fracture, by the names that scene files have.

use serde::Deserialize as _;
use toml::{Table, Value};

use crate::{cli::sweep::jobs::put, fracture::FractureParams};

/// The octree level, which is not a fracture parameter.
const LEVEL: &str = "level";

/// Options whose names differ from the scene file's.
const OTHER_NAMES: [(&str, &str); 9] = [
    ("pattern", "preset"),
    ("pieces", "target_pieces"),
    ("transition_level", "crack.transition_level"),
    ("offset", "crack.offset"),
    ("strength", "crack.strength"),
    ("sides", "crack.sides"),
    ("noise", "crack.noise.amplitude"),
    ("dust", "crack.dusty.width"),
    ("material", "interior.material"),
];

/// A varied parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Vary {
    /// Its name as the user wrote it.
    name: String,
    path: Vec<String>,
    pub values: Vec<Value>,
}

/// Parameters of one picture.
#[derive(Clone, Debug)]
pub struct Variant {
    pub level: u32,
    pub params: FractureParams,
    /// Label that distinguishes it from the others.
    pub label: String,
}

impl Vary {
    /// `PARAM=A,B,..`: values are numbers, words, or lists in brackets.
    ///
    /// # Errors
    /// The syntax that is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wanted = "PARAM=A,B,.. is wanted, as in seeds=20,40,80 or radii=[0.1,0.3],[0.2]";
        let (name, list) = text.split_once('=').ok_or(wanted)?;
        let name = name.trim();
        let plain = name.replace('-', "_");
        let known =
            OTHER_NAMES.iter().find(|(other, _)| *other == plain).map_or(plain.as_str(), |(_, own)| own);
        let path: Vec<String> = known.split('.').map(str::to_owned).collect();
        // Numbers and lists are valid TOML; words lack quotes.
        let whole = toml::from_str::<Table>(&format!("v = [{list}]")).ok();
        let values = match whole.and_then(|mut table| table.remove("v")) {
            Some(Value::Array(values)) => values,
            _ => list
                .split(',')
                .map(|word| Value::String(word.trim().trim_matches(['"', '\'']).to_owned()))
                .collect(),
        };
        if name.is_empty() || values.is_empty() || values.iter().any(|v| v.as_str() == Some("")) {
            return Err(wanted.into());
        }
        Ok(Self { name: name.to_owned(), path, values })
    }

    /// One label per value.
    pub fn labels(&self) -> Vec<String> {
        self.values.iter().map(|value| self.label(value)).collect()
    }

    fn label(&self, value: &Value) -> String {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{} = {value}", self.name)
    }
}

/// Every combination; the first parameter changes fastest.
///
/// # Errors
/// The label of the first invalid combination, and why it is invalid.
pub fn variants(base: &FractureParams, level: u32, vary: &[Vary]) -> Result<Vec<Variant>, (String, String)> {
    if let [one, other] = vary
        && one.path == other.path
    {
        return Err((other.name.clone(), "it is given twice; put all its values in one list".into()));
    }
    let base = Table::try_from(base).map_err(|e| (String::new(), e.to_string()))?;
    let mut all = vec![(base, i64::from(level), Vec::<String>::new())];
    for one in vary.iter().rev() {
        let mut with = Vec::with_capacity(all.len() * one.values.len());
        for (table, level, labels) in &all {
            for value in &one.values {
                let (mut table, mut level) = (table.clone(), *level);
                let label = one.label(value);
                if one.path == [LEVEL] {
                    level = value
                        .as_integer()
                        .ok_or_else(|| (label.clone(), "a level is a whole number".to_owned()))?;
                } else {
                    put(&mut table, &one.path, value.clone());
                }
                with.push((table, level, [&[label][..], labels].concat()));
            }
        }
        all = with;
    }
    let of = |(table, level, labels): (Table, i64, Vec<String>)| {
        let label = labels.join(", ");
        let refused = |why: String| (label.clone(), why);
        let level = u32::try_from(level).ok().filter(|level| crate::cli::LEVELS.contains(&i64::from(*level)));
        let (low, high) = (crate::cli::LEVELS.start(), crate::cli::LEVELS.end());
        let level = level.ok_or_else(|| refused(format!("a level is a number from {low} to {high}")))?;
        let params = FractureParams::deserialize(Value::Table(table))
            .map_err(|e| refused(e.message().replace('\n', " ")))?;
        Ok(Variant { level, params, label })
    };
    all.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::Surface;

    #[test]
    fn values_are_numbers_words_and_lists() {
        let values = |text: &str| Vary::parse(text).unwrap().labels();
        assert_eq!(values("seeds=20, 40"), ["seeds = 20", "seeds = 40"]);
        assert_eq!(values("surface=planar,rough"), ["surface = planar", "surface = rough"]);
        assert_eq!(values("radii=[0.1,0.3],[0.2]"), ["radii = [0.1, 0.3]", "radii = [0.2]"]);
        for bad in ["seeds", "=3", "seeds=", "surface=planar,"] {
            assert!(Vary::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn combinations_change_what_they_name_and_the_first_changes_fastest() {
        let base = FractureParams { rng: 5, seeds: 30, ..FractureParams::default() };
        let of = |texts: &[&str]| {
            let vary: Vec<Vary> = texts.iter().map(|text| Vary::parse(text).unwrap()).collect();
            variants(&base, 6, &vary)
        };
        let all = of(&["surface=planar,dusty", "dust=1,2.5"]).unwrap();
        let seen: Vec<_> =
            all.iter().map(|v| (v.params.surface, v.params.crack.dusty.width, v.params.rng)).collect();
        let (planar, dusty) = (Surface::Planar, Surface::Dusty);
        assert_eq!(seen, [(planar, 1.0, 5), (dusty, 1.0, 5), (planar, 2.5, 5), (dusty, 2.5, 5)]);
        assert_eq!(all[3].label, "surface = dusty, dust = 2.5");
        let levels: Vec<u32> = of(&["level=4,7"]).unwrap().iter().map(|v| v.level).collect();
        assert_eq!(levels, [4, 7]);
        let refused = |text: &str| of(&[text]).unwrap_err();
        assert!(refused("sedes=3").1.contains("unknown field `sedes`"));
        assert!(refused("seeds=many").1.contains("invalid type"));
        assert!(refused("level=40").1.contains("from 1 to 12"));
        assert!(of(&["dust=1", "crack.dusty.width=2"]).unwrap_err().1.contains("given twice"));
    }
}
