//! Values of a binary layer: each is a word, which has its kind and either itself or its place in the file.
//!
//! In: what the text of a value has, its numbers and its texts, and the type of the attribute. Out: the word; what does not fit
//! into it is put into the file. Layout: pxr/usd/sdf/crateFile.cpp and crateDataTypes.h of `OpenUSD`.

use std::io;

use super::tables::{Tables, number, pack_integers};

/// Bits of a word.
const LIST: u64 = 1 << 63;
const INSIDE: u64 = 1 << 62;
const PACKED: u64 = 1 << 61;
/// Lists shorter than this are never packed.
const LEAST_PACKED: usize = 16;

/// Kinds of values that are no attributes'.
mod kind {
    pub const DICTIONARY: u8 = 31;
    pub const TOKENS_EDIT: u8 = 32;
    pub const PATHS_EDIT: u8 = 34;
    pub const TOKENS: u8 = 41;
    pub const SPECIFIER: u8 = 42;
    pub const VARIABILITY: u8 = 44;
    pub const SAMPLES: u8 = 46;
    pub const DOUBLES: u8 = 48;
}
const QUATERNION: u8 = 17;
/// Bits of an edit of a list: it is the whole list, it has one, it puts one before another layer's.
const WHOLE: u8 = 1 | 1 << 1;
const PREPENDED: u8 = 1 << 5;

/// What the parts of a value are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Bool,
    Int,
    Long,
    Float,
    Double,
    String,
    Token,
    Asset,
}

/// A type of attributes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Type {
    kind: u8,
    part: Part,
    /// Parts of a value.
    width: usize,
}

impl Type {
    pub const STRING: Self = Self::new(10, Part::String, 1);
    pub const TOKEN: Self = Self::new(11, Part::Token, 1);
    pub const DOUBLE: Self = Self::new(9, Part::Double, 1);

    const fn new(kind: u8, part: Part, width: usize) -> Self {
        Self { kind, part, width }
    }

    /// The type of a name, without the brackets of lists; none of those that this exporter does not write.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Self::new(1, Part::Bool, 1),
            "int" => Self::new(3, Part::Int, 1),
            "int64" => Self::new(5, Part::Long, 1),
            "float" => Self::new(8, Part::Float, 1),
            "double" => Self::DOUBLE,
            "string" => Self::STRING,
            "token" => Self::TOKEN,
            "asset" => Self::new(12, Part::Asset, 1),
            "quatf" => Self::new(QUATERNION, Part::Float, 4),
            "float2" | "texCoord2f" => Self::new(20, Part::Float, 2),
            "double3" => Self::new(23, Part::Double, 3),
            "float3" | "point3f" | "normal3f" | "vector3f" | "color3f" => Self::new(24, Part::Float, 3),
            "float4" => Self::new(28, Part::Float, 4),
            _ => return None,
        })
    }

    fn word(self) -> u64 {
        u64::from(self.kind) << 48
    }
}

/// What the text of a value has, brackets left out.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub numbers: Vec<f64>,
    pub texts: Vec<String>,
}

fn wrong(what: &str) -> io::Error {
    io::Error::other(format!("{what} cannot be written as binary USD; use --format usda"))
}

impl Tables {
    fn placed(&mut self, kind: u8, bytes: &[u8]) -> io::Result<u64> {
        Ok(u64::from(kind) << 48 | self.put(bytes)?)
    }

    /// The word of a value.
    pub fn value(&mut self, of: Type, is_list: bool, parts: &Parts) -> io::Result<u64> {
        let mut bytes = Vec::new();
        match of.part {
            Part::String | Part::Token | Part::Asset => {
                for text in &parts.texts {
                    let number = if of.part == Part::String { self.string(text)? } else { self.token(text)? };
                    bytes.extend(number.to_le_bytes());
                }
            }
            Part::Bool => bytes.extend(parts.numbers.iter().map(|x| u8::from(*x != 0.0))),
            Part::Int => bytes.extend(parts.numbers.iter().flat_map(|x| (*x as i32).to_le_bytes())),
            Part::Long => bytes.extend(parts.numbers.iter().flat_map(|x| (*x as i64).to_le_bytes())),
            Part::Float => bytes.extend(parts.numbers.iter().flat_map(|x| (*x as f32).to_le_bytes())),
            Part::Double => bytes.extend(parts.numbers.iter().flat_map(|x| x.to_le_bytes())),
        }
        let count = parts.numbers.len() + parts.texts.len();
        if !count.is_multiple_of(of.width) || (!is_list && count != of.width) {
            return Err(wrong("a value of another length than its type"));
        }
        if of.kind == QUATERNION {
            // The real part comes first in text, and last here.
            bytes.as_chunks_mut::<16>().0.iter_mut().for_each(|q| q.rotate_left(4));
        }
        if is_list {
            return self.list(of, &bytes);
        }
        if of.part == Part::Double && of.width == 1 {
            // One that single precision has lies in its word.
            let single = parts.numbers[0] as f32;
            if f64::from(single) == parts.numbers[0] {
                return Ok(INSIDE | of.word() | u64::from(single.to_bits()));
            }
        }
        if bytes.len() <= 4 {
            let inside = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            return Ok(INSIDE | of.word() | inside);
        }
        self.placed(of.kind, &bytes)
    }

    /// The word of a list whose values have these bytes.
    pub fn list(&mut self, of: Type, bytes: &[u8]) -> io::Result<u64> {
        let part = match of.part {
            Part::Bool => 1,
            Part::Long | Part::Double => 8,
            _ => 4,
        };
        let count = bytes.len() / (part * of.width);
        if count * part * of.width != bytes.len() {
            return Err(wrong("a list of another length than its type"));
        }
        number(count)?;
        if count == 0 {
            return Ok(LIST | of.word());
        }
        let length = (count as u64).to_le_bytes();
        if of.part == Part::Int && count >= LEAST_PACKED {
            let numbers = bytes.as_chunks::<4>().0.iter().map(|word| i32::from_le_bytes(*word));
            let packed = pack_integers(numbers)?;
            return Ok(LIST | PACKED | self.placed(of.kind, &[&length, &packed[..]].concat())?);
        }
        Ok(LIST | self.placed(of.kind, &[&length, bytes].concat())?)
    }

    /// The word of a list of names that belongs to a prim.
    pub fn tokens(&mut self, tokens: &[u32]) -> io::Result<u64> {
        self.placed(kind::TOKENS, &numbered(&[], tokens))
    }

    /// The word of names that come before those of another layer.
    pub fn prepended(&mut self, names: &[String]) -> io::Result<u64> {
        let tokens: Vec<u32> = names.iter().map(|name| self.token(name)).collect::<io::Result<_>>()?;
        self.placed(kind::TOKENS_EDIT, &numbered(&[PREPENDED], &tokens))
    }

    /// The word of the targets of a connection or a relationship.
    pub fn targets(&mut self, paths: &[String]) -> io::Result<u64> {
        let paths: Vec<u32> = paths.iter().map(|path| self.path(path)).collect::<io::Result<_>>()?;
        self.placed(kind::PATHS_EDIT, &numbered(&[WHOLE], &paths))
    }

    /// The word of entries with names.
    pub fn dictionary(&mut self, entries: &[(String, u64)]) -> io::Result<u64> {
        let mut bytes = (entries.len() as u64).to_le_bytes().to_vec();
        for (name, word) in entries {
            bytes.extend(self.string(name)?.to_le_bytes());
            // From here to the word.
            bytes.extend(8u64.to_le_bytes());
            bytes.extend(word.to_le_bytes());
        }
        self.placed(kind::DICTIONARY, &bytes)
    }

    /// The word of values at ascending times.
    pub fn samples(&mut self, samples: &[(f64, u64)]) -> io::Result<u64> {
        let count = samples.len() as u64;
        let times = samples.iter().map(|(time, _)| time.to_bits());
        let bytes: Vec<u8> = [count].into_iter().chain(times).flat_map(u64::to_le_bytes).collect();
        let times = self.placed(kind::DOUBLES, &bytes)?;
        // Before the times and before the values stands how far they are from there.
        let words = samples.iter().map(|(_, word)| *word);
        let bytes =
            [8, times, 8, count].into_iter().chain(words).flat_map(u64::to_le_bytes).collect::<Vec<_>>();
        self.placed(kind::SAMPLES, &bytes)
    }

    /// The word of what defines a prim.
    pub const DEFINED: u64 = INSIDE | (kind::SPECIFIER as u64) << 48;
    /// The word of an attribute that no sample of time changes.
    pub const UNIFORM: u64 = INSIDE | (kind::VARIABILITY as u64) << 48 | 1;
}

/// Numbers behind their count, which stands behind `head`.
fn numbered(head: &[u8], numbers: &[u32]) -> Vec<u8> {
    let count = (numbers.len() as u64).to_le_bytes();
    head.iter().copied().chain(count).chain(numbers.iter().flat_map(|number| number.to_le_bytes())).collect()
}
