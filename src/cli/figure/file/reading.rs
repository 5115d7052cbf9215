//! Values of a figure file as words of a command, pixels and letters.
//!
//! In: a table of options, or a value, as TOML. Out: the options of `kintsugi render` as words, with files relative to the
//! working directory; sizes and lengths in pixels; the letter of a panel. What cannot be meant is refused with its key.

use std::path::Path;

use clap::ArgAction;
use toml::{Table, Value};

use crate::{
    cli::{figure::page::LARGEST, repeat::allowed::is_file, sweep::run::beside},
    scene::is_below,
};

/// Keys of a panel that are no options of `render`.
const OWN: [&str; 4] = ["file", "caption", "letter", "label"];
/// Options of `render` that a panel does not have.
const REFUSED: [&str; 4] = ["out", "compute", "json-progress", "legend-file"];
/// Most letters of a caption, a letter or a label.
const LONGEST: usize = 1000;

/// The size that a figure is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Whole {
    /// Width and height, pixels.
    pub pixels: [u32; 2],
    /// The same in millimetres, where the file has them so.
    pub mm: Option<[f64; 2]>,
}

/// What panels are read with.
pub struct Reading<'a> {
    /// The figure file.
    pub path: &'a Path,
    /// Pixels in an inch.
    pub dpi: f64,
    /// Whether the page sets the sizes of panels.
    pub is_sized: bool,
    /// The grammar of `kintsugi render`.
    pub render: clap::Command,
}

impl Reading<'_> {
    /// The options of a table as words.
    pub fn options(&self, table: &Table) -> Result<Vec<String>, String> {
        let mut words = Vec::new();
        for (key, value) in table.iter().map(|(key, value)| (key.as_str(), value)) {
            if OWN.contains(&key) {
                continue;
            }
            if REFUSED.contains(&key) {
                return Err(format!(
                    "`{key}` is no key of a panel; `kintsugi figure --help` has what there is"
                ));
            }
            if key == "size" && self.is_sized {
                return Err("size: the `size` of the whole sets that of each panel; keep one of them".into());
            }
            let known = |name: &str| self.render.get_arguments().find(|arg| arg.get_long() == Some(name));
            let Some(argument) = known(key) else {
                let hint = match known(&key.replace('_', "-")) {
                    Some(_) => format!("it is spelt `{}`", key.replace('_', "-")),
                    None => format!("panels have {} and the options of `kintsugi render`", OWN.join(", ")),
                };
                return Err(format!("unknown key `{key}`; {hint}"));
            };
            match (value, argument.get_action().takes_values()) {
                // It takes away what [all] says.
                (Value::Boolean(false), _) => {}
                (Value::Boolean(true), false) => words.push(format!("--{key}")),
                (other, false) => return Err(format!("{key} is {other}; true or false is wanted")),
                (Value::Array(list), true) if matches!(argument.get_action(), ArgAction::Append) => {
                    for one in list {
                        words.push(format!("--{key}={}", self.word(key, one)?));
                    }
                }
                (one, true) => words.push(format!("--{key}={}", self.word(key, one)?)),
            }
        }
        Ok(words)
    }

    /// A value as the command has it.
    fn word(&self, key: &str, value: &Value) -> Result<String, String> {
        match value {
            Value::String(text) if is_file(key, text) => self.place(key, text),
            Value::String(text) => Ok(text.clone()),
            Value::Integer(number) => Ok(number.to_string()),
            Value::Float(number) => Ok(number.to_string()),
            Value::Array(list) => {
                let words: Result<Vec<_>, _> = list.iter().map(|one| self.word(key, one)).collect();
                Ok(words?.join(","))
            }
            Value::Table(camera) if key == "camera" => {
                serde_json::to_string(camera).map_err(|e| format!("{key}: {e}"))
            }
            other => Err(format!("{key} is {other}, which is no value of this option")),
        }
    }

    /// A file that the figure file names, relative to the working directory.
    pub fn place(&self, key: &str, name: &str) -> Result<String, String> {
        match is_below(self.path.parent().unwrap_or(Path::new("")), name) {
            true => Ok(beside(self.path, name)),
            false => Err(format!(
                "{key} {name:?} lies outside the folder of the figure file; move one of them, or add \
                 --outside-references if you trust the file"
            )),
        }
    }
}

/// Refuses a text that no page has room for.
pub fn short(key: &str, text: &str) -> Result<(), String> {
    let count = text.chars().count();
    if count > LONGEST {
        return Err(format!("{key} has {count} letters; {LONGEST} are the most"));
    }
    Ok(())
}

/// The size of the whole: `1800x900`, pixels, or `180x90mm`.
pub fn whole(text: &str, dpi: f64) -> Result<Whole, String> {
    let (numbers, is_mm) = text.strip_suffix("mm").map_or((text, false), |numbers| (numbers, true));
    let sides = numbers.split_once('x').map(|(width, height)| [width, height].map(str::parse::<f64>));
    if let Some([Ok(width), Ok(height)]) = sides {
        let pixels =
            [width, height].map(|side| if is_mm { (side / 25.4 * dpi).round() } else { side.round() });
        if pixels.iter().all(|side| (1.0..=f64::from(LARGEST)).contains(side)) {
            let pixels = pixels.map(|side| side as u32);
            return Ok(Whole { pixels, mm: is_mm.then_some([width, height]) });
        }
    }
    Err(format!(
        "size {text:?}: WIDTHxHEIGHT is wanted, as in 1800x900 or 180x90mm, and at most {LARGEST} pixels each"
    ))
}

/// A length in pixels: a number of them, or `3mm`, `8pt`.
pub fn length(value: &Value, dpi: f64) -> Result<f32, String> {
    let of_text = |text: &str| {
        let units = [("mm", dpi / 25.4), ("pt", dpi / 72.0)];
        let (number, unit) = units.iter().find_map(|(name, unit)| Some((text.strip_suffix(*name)?, unit)))?;
        Some(number.trim().parse::<f64>().ok()? * unit)
    };
    let pixels = match value {
        Value::Integer(pixels) => Some(*pixels as f64),
        Value::Float(pixels) => Some(*pixels),
        Value::String(text) => of_text(text),
        _ => None,
    };
    let pixels = pixels.filter(|pixels| pixels.abs() <= 1e6).map(|pixels| pixels as f32);
    pixels.ok_or_else(|| format!("{value} is no length; pixels are wanted, or a text as 3mm or 8pt"))
}

/// The letter of a panel, by its number from 0: in the pattern the first `a` or `A` that is no part of a word counts.
pub fn letter(pattern: &str, number: usize) -> String {
    let counted = char::from(b'a' + (number % 26) as u8).to_string().repeat(number / 26 + 1);
    let ends_word = |beside: Option<char>| beside.is_none_or(|letter| !letter.is_alphabetic());
    let alone = |(at, found): &(usize, char)| {
        let (before, after) = (&pattern[..*at], &pattern[at + 1..]);
        matches!(found, 'a' | 'A') && ends_word(before.chars().next_back()) && ends_word(after.chars().next())
    };
    // Only a letter of one byte is followed by `at + 1`.
    let found = pattern.char_indices().filter(|(_, letter)| letter.is_ascii()).find(alone);
    let Some((at, found)) = found else { return pattern.to_owned() };
    let counted = if found == 'A' { counted.to_uppercase() } else { counted };
    format!("{}{counted}{}", &pattern[..at], &pattern[at + 1..])
}
