//! A parameter with its values on a sheet.
//!
//! In: `seeds=20,40`. Out: for every combination the parameters of a fracture, by the names that scene files have; and
//! the values that a parameter is shown with unless the user says others.

use serde::Deserialize as _;
use toml::{Table, Value};

use crate::{
    fracture::{CHIPS, FractureParams, Material, Preset, by_any_blow, crack::CrackShape},
    parameter::Row,
    svo::MAX_LEVEL,
};

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
    /// What it is in the pictures, in their order.
    pub values: Vec<Value>,
}

/// Parameters of one picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Leaf level of the object.
    pub level: u32,
    /// How it breaks.
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
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        self.values.iter().map(|value| self.label(value)).collect()
    }

    fn label(&self, value: &Value) -> String {
        format!("{} = {}", self.name, plain(value))
    }

    /// `PARAM=A,B,..`, as [`Vary::parse`] reads it.
    #[must_use]
    pub fn text(&self) -> String {
        let values: Vec<String> = self.values.iter().map(plain).collect();
        format!("{}={}", self.name, values.join(","))
    }
}

/// A value without the quotes of a word.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Sets the value at a path, replacing non-tables along the path.
pub fn put(table: &mut Table, path: &[String], value: Value) {
    match path {
        [] => {}
        [name] => {
            table.insert(name.clone(), value);
        }
        [name, rest @ ..] => {
            let inner = table.entry(name.clone()).or_insert_with(|| Value::Table(Table::new()));
            if !inner.is_table() {
                *inner = Value::Table(Table::new());
            }
            if let Some(inner) = inner.as_table_mut() {
                put(inner, rest, value);
            }
        }
    }
}

/// The random seed, which is no number of the table, since its range is wider than a slider's.
const RNG: &str = "rng";
/// So many random seeds are tried, below this number.
const RANDOM_SEEDS: u64 = 9;
const BELOW: u64 = 1_000_000;

/// The parameters that a window can vary: numbers, words, and the random seed. A tile shows a break before its chips.
pub fn varied() -> impl Iterator<Item = &'static Row<FractureParams>> {
    let is_varied = |path: &str| path == RNG || !words(path).is_empty();
    let is_of_chips = |row: &&Row<FractureParams>| CHIPS.iter().any(|chips| chips.of.path == row.of.path);
    let rows = FractureParams::rows().filter(move |row| !is_of_chips(row));
    rows.filter(move |row| row.is_number() || is_varied(row.of.path))
}

/// The name by which commands call the parameter of this path.
#[must_use]
pub fn short(path: &str) -> &str {
    OTHER_NAMES.iter().find(|(_, own)| *own == path).map_or(path, |(other, _)| other)
}

/// All words that a parameter can be, as files spell them. Labelling is not among them: it changes no piece.
fn words(path: &str) -> Vec<&'static str> {
    match path {
        "method" => by_any_blow().iter().map(|method| method.name).collect(),
        // A whole object has no crack that chips could break out of.
        "preset" => Preset::ALL.into_iter().filter(|of| *of != Preset::Chips).map(Preset::name).collect(),
        "surface" => vec!["planar", "rough", "dusty"],
        "crack.sides" => vec!["cone", "votes"],
        "crack.offset" => vec!["plane", "balance"],
        "interior.material" => Material::ALL.map(Material::name).to_vec(),
        _ => Vec::new(),
    }
}

/// The values that a parameter is shown with unless the user says others, with commas between them: all words; nine new
/// random seeds; all levels from the coarsest that a crack can have to the leaves at `leaf`; of counts and of numbers
/// with a logarithmic slider the half, the same, twice and four times the present one; of others five places along the
/// slider.
#[must_use]
pub fn usual(path: &str, params: &FractureParams, leaf: u32) -> String {
    let joined = |values: Vec<f64>| values.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    let words = words(path);
    if !words.is_empty() {
        return words.join(", ");
    }
    let seed = match path {
        RNG => Some(params.rng),
        "interior.seed" => Some(u64::from(params.interior.seed)),
        _ => None,
    };
    if let Some(seed) = seed {
        return joined((1..=RANDOM_SEEDS).map(|more| ((seed % BELOW + more) % BELOW) as f64).collect());
    }
    let Some(row) = FractureParams::rows().find(|row| row.of.path == path) else { return String::new() };
    if path.ends_with("level") {
        return joined((CrackShape::lowest_transition(leaf)..=leaf).map(f64::from).collect());
    }
    let seeds = || (path == "target_pieces").then_some(f64::from(params.seed_count()));
    let now = (row.get)(params).or_else(seeds).filter(|now| *now > 0.0);
    let (low, high) = row.of.slider;
    let mut values: Vec<f64> = match now.filter(|_| row.of.whole || row.of.logarithmic) {
        Some(now) => [0.5, 1.0, 2.0, 4.0].map(|times| now * times).to_vec(),
        None => (0..5).map(|place| low + (high - low) * f64::from(place) / 4.0).collect(),
    };
    // A few digits are enough to choose by.
    let digits = if row.of.whole { 1.0 } else { 1e3 };
    for value in &mut values {
        *value = ((*value * digits).round() / digits).clamp(row.of.range.0, row.of.range.1);
    }
    values.dedup();
    joined(values)
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
        let level = u32::try_from(level).ok().filter(|level| (1..=MAX_LEVEL).contains(level));
        let level = level.ok_or_else(|| refused(format!("a level is a number from 1 to {MAX_LEVEL}")))?;
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

    #[test]
    fn a_text_is_read_as_what_it_was_made_of() {
        for text in ["seeds=20,40", "surface=planar,rough", "radii=[0.1, 0.3],[0.2]", "dust=1,2.5"] {
            let vary = Vary::parse(text).unwrap();
            assert_eq!((vary.text().as_str(), Vary::parse(&vary.text()).unwrap()), (text, vary), "{text}");
        }
    }

    /// What a window proposes can be read, is in range, and gives pictures that differ.
    #[test]
    fn usual_values_are_read_and_in_range() {
        let mut base = FractureParams { surface: Surface::Rough, rng: 999_995, ..FractureParams::default() };
        base.interior.material = Material::Marble;
        let paths: Vec<&str> = varied().map(|row| row.of.path).collect();
        assert!(
            ["seeds", "rng", "surface", "crack.transition_level"].iter().all(|path| paths.contains(path))
        );
        assert!(!paths.contains(&"radii") && !paths.contains(&"seeds_file"), "lists and files are no choice");
        for path in paths {
            let vary = Vary::parse(&format!("{}={}", short(path), usual(path, &base, 6))).unwrap();
            let all = variants(&base, 6, &[vary]).unwrap_or_else(|why| panic!("{path}: {why:?}"));
            assert!(all.len() > 1 && all[0].params != all[1].params, "{path}: {all:?}");
            for Variant { params, .. } in &all {
                let problem = FractureParams::rows().find_map(|row| row.problem(params));
                assert_eq!(problem, None, "{path}");
            }
        }
        assert_eq!(usual("seeds", &base, 6), "20, 40, 80, 160");
        assert_eq!(usual("surface", &base, 6), "planar, rough, dusty");
        assert_eq!(usual("crack.transition_level", &base, 6), "2, 3, 4, 5, 6");
        let seeds = usual("rng", &base, 6);
        assert!(seeds.starts_with("999996, ") && seeds.ends_with(", 3, 4"), "{seeds}");
    }
}
