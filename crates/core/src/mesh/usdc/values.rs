//! The values of a binary USD file: numbers, texts and paths, beside their field or where it points to.
//!
//! In: the word that stands for a value. Out: what the text of the value would be read as: its numbers and its texts.
//! Layout: pxr/usd/sdf/crateFile.cpp and crateDataTypes.h of `OpenUSD`.

use std::borrow::Cow;

use super::super::{unchecked::Problem, usda::Attribute};
use super::{
    bytes::{Budget, Bytes, damaged, integers},
    tables::Binary,
};

/// Arrays shorter than this are never packed.
const LEAST_PACKED: usize = 16;
/// Words of memory that a text of a value takes.
const TEXT: usize = 3;
/// The same of a child while prims are made.
const CHILD: usize = 6;

/// Kinds of values that are no numbers.
mod kind {
    pub const STRING: u8 = 10;
    pub const TOKEN: u8 = 11;
    pub const ASSET: u8 = 12;
    pub const DICTIONARY: u8 = 31;
    pub const PATHS: u8 = 34;
    pub const SAMPLES: u8 = 46;
    pub const BLOCK: u8 = 51;
}

/// The word that stands for a value: its kind, whether it is a list, packed, or lies in the word itself, and else where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word(pub u64);

impl Word {
    fn has(self, bit: u32) -> bool {
        self.0 >> bit & 1 == 1
    }

    fn kind(self) -> u8 {
        (self.0 >> 48) as u8
    }

    fn is_list(self) -> bool {
        self.has(63)
    }

    fn is_inside(self) -> bool {
        self.has(62)
    }

    fn is_packed(self) -> bool {
        self.has(61)
    }

    /// Whether it only changes a list of another layer.
    fn is_edit(self) -> bool {
        self.has(60)
    }

    fn place(self) -> u64 {
        self.0 & ((1 << 48) - 1)
    }

    /// The value in the word itself.
    pub fn inside(self) -> u32 {
        self.0 as u32
    }

    /// Whether it says that there is no value.
    pub fn is_blocked(self) -> bool {
        self.kind() == kind::BLOCK
    }
}

/// How a number lies in a file.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    Byte,
    Int,
    Unsigned,
    Long,
    UnsignedLong,
    Half,
    Float,
    Double,
}

impl Number {
    /// The numbers of a kind of value, and how many of them a value has.
    fn of(kind: u8) -> Option<(Self, usize)> {
        let of_vectors = [Self::Double, Self::Float, Self::Half, Self::Int];
        Some(match kind {
            1 | 2 => (Self::Byte, 1),
            3 => (Self::Int, 1),
            4 => (Self::Unsigned, 1),
            5 => (Self::Long, 1),
            6 => (Self::UnsignedLong, 1),
            7 => (Self::Half, 1),
            8 => (Self::Float, 1),
            9 | 56 => (Self::Double, 1),
            MATRIX_2..=MATRIX_4 => (Self::Double, side_of(kind) * side_of(kind)),
            QUATERNION..=QUATERNION_HALF => (of_vectors[usize::from(kind - QUATERNION)], 4),
            19..=30 => (of_vectors[usize::from(kind - 19) % 4], 2 + usize::from(kind - 19) / 4),
            _ => return None,
        })
    }

    fn width(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Half => 2,
            Self::Int | Self::Unsigned | Self::Float => 4,
            Self::Long | Self::UnsignedLong | Self::Double => 8,
        }
    }

    /// Adds the numbers that lie in `bytes`.
    fn read(self, bytes: &[u8], into: &mut Vec<f64>) {
        let four = || bytes.as_chunks::<4>().0.iter().copied();
        let eight = || bytes.as_chunks::<8>().0.iter().copied();
        match self {
            Self::Byte => into.extend(bytes.iter().map(|byte| f64::from(*byte))),
            Self::Int => into.extend(four().map(|word| f64::from(i32::from_le_bytes(word)))),
            Self::Unsigned => into.extend(four().map(|word| f64::from(u32::from_le_bytes(word)))),
            Self::Float => into.extend(four().map(|word| f64::from(f32::from_le_bytes(word)))),
            Self::Long => into.extend(eight().map(|word| i64::from_le_bytes(word) as f64)),
            Self::UnsignedLong => into.extend(eight().map(|word| u64::from_le_bytes(word) as f64)),
            Self::Double => into.extend(eight().map(f64::from_le_bytes)),
            Self::Half => {
                into.extend(bytes.as_chunks::<2>().0.iter().map(|word| of_half(u16::from_le_bytes(*word))));
            }
        }
    }

    /// A whole number that was unpacked as one with a sign.
    fn whole(self, number: i64) -> f64 {
        match self {
            Self::Unsigned => f64::from(number as u32),
            Self::UnsignedLong => number as u64 as f64,
            _ => number as f64,
        }
    }
}

const MATRIX_2: u8 = 13;
const MATRIX_4: u8 = 15;
const QUATERNION: u8 = 16;
const QUATERNION_HALF: u8 = 18;

/// The side of a square matrix of this kind.
fn side_of(kind: u8) -> usize {
    usize::from(kind - MATRIX_2) + 2
}

/// A number of half precision.
fn of_half(bits: u16) -> f64 {
    let (exponent, fraction) = (bits >> 10 & 31, f64::from(bits & 1023));
    // The bias of 15 becomes that of 1,023.
    let power = |exponent: u16| f64::from_bits((u64::from(exponent) + 1008) << 52);
    let size = match exponent {
        0 => fraction / 1024.0 * power(1),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * power(exponent),
    };
    if bits >> 15 == 1 { -size } else { size }
}

impl<'a> Binary<'a> {
    /// Adds the numbers and the texts of a value to `into`; `false` for a kind of value that is not known.
    pub(super) fn value<'s>(
        &'s self,
        word: Word,
        budget: &mut Budget,
        into: &mut Attribute<'s>,
    ) -> Result<bool, Problem> {
        if word.is_edit() {
            return Ok(false);
        }
        match word.kind() {
            kind::BLOCK | kind::DICTIONARY => {}
            kind::STRING | kind::TOKEN | kind::ASSET if !word.is_list() => {
                budget.take(TEXT)?;
                let text = match word.kind() {
                    kind::STRING => self.string(word.inside())?,
                    _ => self.token(word.inside())?,
                };
                into.texts.push(text.into());
            }
            // A list that lies nowhere has nothing in it.
            kind::STRING | kind::TOKEN | kind::ASSET if word.place() == 0 => {}
            kind::STRING | kind::TOKEN | kind::ASSET => {
                let mut at = self.at(word.place())?;
                let count = self.count(&mut at)?;
                budget.take(count.saturating_mul(TEXT))?;
                for _ in 0..count {
                    let number = at.u32()?;
                    let is_token = word.kind() == kind::TOKEN;
                    let text = if is_token { self.token(number)? } else { self.string(number)? };
                    into.texts.push(text.into());
                }
            }
            kind::PATHS => self.paths(word, budget, into)?,
            of => match Number::of(of) {
                Some((number, width)) if word.is_list() => self.list(word, (number, width), budget, into)?,
                Some((number, width)) if !word.is_inside() => {
                    budget.take(width)?;
                    number.read(self.at(word.place())?.take(width * number.width())?, &mut into.numbers);
                }
                Some(layout) => return read_inside(word, layout, budget, into),
                None => return Ok(false),
            },
        }
        if (QUATERNION..=QUATERNION_HALF).contains(&word.kind()) {
            // The real part comes first in text, and last here.
            into.numbers.as_chunks_mut::<4>().0.iter_mut().for_each(|q| q.rotate_right(1));
        }
        Ok(true)
    }

    /// The numbers of the tokens in a list of children.
    pub(super) fn children(&self, word: Word, budget: &mut Budget) -> Result<Vec<u32>, Problem> {
        let mut at = self.at(word.place())?;
        let count = at.count()?;
        budget.take(count.saturating_mul(CHILD))?;
        (0..count).map(|_| at.u32()).collect()
    }

    /// The value of the first time sample, and whether there are more.
    pub(super) fn first_sample(&self, word: Word) -> Result<(Option<Word>, bool), Problem> {
        if word.kind() != kind::SAMPLES || word.is_inside() {
            return Err(damaged("samples of time are missing"));
        }
        // Each of two offsets counts from where it stands: to the word of the times, and behind that word to the values.
        let times = self.at(word.place())?.leap()?;
        let mut values = self.at(times)?;
        values.u64()?;
        let mut values = self.at(values.leap()?)?;
        let count = values.u64()?;
        let first = if count > 0 { Some(Word(values.u64()?)) } else { None };
        Ok((first, count > 1))
    }

    /// The number of things in a list, at its start.
    fn count(&self, at: &mut Bytes<'_>) -> Result<usize, Problem> {
        if self.version < 5 {
            // The number of dimensions, which is always 1.
            at.u32()?;
        }
        if self.version < 7 { Ok(at.u32()? as usize) } else { at.count() }
    }

    fn list(
        &self,
        word: Word,
        (number, width): (Number, usize),
        budget: &mut Budget,
        into: &mut Attribute<'_>,
    ) -> Result<(), Problem> {
        if word.place() == 0 {
            return Ok(());
        }
        let mut at = self.at(word.place())?;
        let values = self.count(&mut at)?;
        let count = values.saturating_mul(width);
        budget.take(count)?;
        if !word.is_packed() || values < LEAST_PACKED {
            let bytes = at.take(count.saturating_mul(number.width()))?;
            into.numbers.reserve_exact(count);
            number.read(bytes, &mut into.numbers);
            return Ok(());
        }
        let wrong = || damaged("a packed list does not unpack");
        if width != 1 || number == Number::Byte {
            return Err(wrong());
        }
        if matches!(number, Number::Half | Number::Float | Number::Double) {
            match at.take(1)? {
                // Numbers that are all whole.
                b"i" => {
                    let whole = integers(at.packed()?, count, false).ok_or_else(wrong)?;
                    into.numbers.extend(whole.into_iter().map(|x| x as f64));
                }
                // Places in a table of the numbers that there are.
                b"t" => {
                    let length = at.u32()? as usize;
                    let bytes = at.take(length.saturating_mul(number.width()))?;
                    budget.take(length)?;
                    let mut table = Vec::with_capacity(length);
                    number.read(bytes, &mut table);
                    let places = integers(at.packed()?, count, false).ok_or_else(wrong)?;
                    let found = |place: i64| table.get(place as u32 as usize).copied().ok_or_else(wrong);
                    into.numbers.reserve_exact(count);
                    for place in places {
                        into.numbers.push(found(place)?);
                    }
                }
                _ => return Err(wrong()),
            }
        } else {
            let whole = integers(at.packed()?, count, number.width() == 8).ok_or_else(wrong)?;
            into.numbers.extend(whole.into_iter().map(|x| number.whole(x)));
        }
        Ok(())
    }

    /// The paths of a list that says what is there, or what is added to another; not what it takes away.
    fn paths(&self, word: Word, budget: &mut Budget, into: &mut Attribute<'_>) -> Result<(), Problem> {
        let mut at = self.at(word.place())?;
        let has = at.take(1)?[0];
        // Explicit, added, prepended, appended: in this order.
        for bit in [1, 2, 5, 6] {
            if has >> bit & 1 == 0 {
                continue;
            }
            for _ in 0..at.count()? {
                budget.take(TEXT)?;
                if let Some(path) = self.path(at.u32()?, budget)? {
                    into.texts.push(Cow::Owned(path));
                }
            }
        }
        Ok(())
    }
}

/// Adds a value that lies in its word; `false` for a kind that does not.
fn read_inside(
    word: Word,
    (number, width): (Number, usize),
    budget: &mut Budget,
    into: &mut Attribute<'_>,
) -> Result<bool, Problem> {
    budget.take(width)?;
    let bytes = word.inside().to_le_bytes();
    let small = bytes.map(|byte| f64::from(byte.cast_signed()));
    match (word.kind(), number) {
        (MATRIX_2..=MATRIX_4, _) => {
            // The diagonal of a matrix that has nothing else.
            let side = side_of(word.kind());
            into.numbers
                .extend((0..side * side).map(|k| if k % (side + 1) == 0 { small[k / side] } else { 0.0 }));
        }
        (QUATERNION..=QUATERNION_HALF, _) => return Ok(false),
        _ if width * number.width() <= bytes.len() => {
            number.read(&bytes[..width * number.width()], &mut into.numbers);
        }
        (_, Number::Double) if width == 1 => into.numbers.push(f64::from(f32::from_le_bytes(bytes))),
        (_, Number::Long) => into.numbers.push(f64::from(i32::from_le_bytes(bytes))),
        (_, Number::UnsignedLong) => into.numbers.push(f64::from(u32::from_le_bytes(bytes))),
        // A vector of small whole numbers.
        _ => into.numbers.extend(&small[..width]),
    }
    Ok(true)
}
