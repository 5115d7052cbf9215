//! The tables of a binary USD file: names, paths, fields, and what stands at each path.
//!
//! In: bytes. Out: tables whose numbers are checked where they are used.
//!
//! ```text
//! "PXR-USDC" | version: 8 bytes | place of the contents: 8 | reserved: 64 | values | sections | contents
//!
//! contents   number of sections, and of each the name (16 bytes), the place and the size
//! TOKENS     all names, each with a 0 behind it         STRINGS    numbers of tokens
//! FIELDS     number of a token, word of a value         FIELDSETS  numbers of fields, u32::MAX behind each set
//! PATHS      a tree of paths, see `read_paths`          SPECS      path, set of fields, kind of what is there
//! ```

use std::collections::HashMap;

use super::super::{
    unchecked::{Pace, Problem},
    usda::MOST_DEPTH,
};
use super::bytes::{Budget, Bytes, damaged, integers, unpack_all};

/// The first bytes of a file.
pub(in crate::mesh) const MARK: &[u8] = b"PXR-USDC";
/// Versions that are read, by their second number; the first is 0.
const VERSIONS: std::ops::RangeInclusive<u8> = 4..=16;
/// Where the place of the contents stands.
const CONTENTS_AT: u64 = 16;
/// Number of no path, and the end of a set of fields.
pub(super) const NONE: u32 = u32::MAX;

/// A path: one step below another.
#[derive(Clone, Copy, Default)]
pub(super) struct Step {
    /// The path above; [`NONE`] of the root.
    pub parent: u32,
    pub token: u32,
    is_property: bool,
    is_known: bool,
}

/// What stands at a path.
pub(super) struct Spec {
    pub path: u32,
    /// The first of its fields in the sets.
    pub fields: u32,
    pub kind: u32,
}

/// The tables of a binary file.
pub(in crate::mesh) struct Binary<'a> {
    bytes: &'a [u8],
    /// The second number of the version.
    pub(super) version: u8,
    /// All tokens behind each other, and where each begins and ends.
    text: String,
    tokens: Vec<(u32, u32)>,
    /// Numbers of tokens.
    strings: Vec<u32>,
    pub(super) fields: Vec<(u32, u64)>,
    pub(super) sets: Vec<u32>,
    paths: Vec<Step>,
    pub(super) specs: Vec<Spec>,
    /// Memory that is left for prims and values.
    pub(super) budget: Budget,
}

impl<'a> Binary<'a> {
    /// Reads the tables of a file.
    pub fn open(bytes: &'a [u8], pace: &mut Pace) -> Result<Self, Problem> {
        let version = bytes.get(MARK.len()..MARK.len() + 2).unwrap_or_default();
        let version = match version {
            [0, minor] if VERSIONS.contains(minor) => *minor,
            _ => {
                let version: Vec<String> = version.iter().map(u8::to_string).collect();
                let (version, first, last) = (version.join("."), VERSIONS.start(), VERSIONS.end());
                return Err(Problem::whole(format!(
                    "is binary USD of version {version}, and 0.{first} to 0.{last} are read; write text of it with \
                     `usdcat --flatten -o model.usda` (USD's tools), or export glTF 2.0 (.glb)"
                )));
            }
        };
        let mut sections: HashMap<&[u8], Bytes<'a>> = HashMap::new();
        let mut contents = Bytes::at(bytes, Bytes::at(bytes, CONTENTS_AT)?.u64()?)?;
        for _ in 0..contents.count()? {
            let name = contents.take(16)?.split(|byte| *byte == 0).next().unwrap_or_default();
            let (start, size) = (contents.u64()?, contents.u64()?);
            let end = start.checked_add(size).and_then(|end| usize::try_from(end).ok());
            let inside = end.and_then(|end| bytes.get(..end));
            let inside = inside.ok_or_else(|| damaged("a section ends beyond its end"))?;
            sections.insert(name, Bytes::at(inside, start)?);
        }
        let section = |name: &str| {
            let missing = || damaged(&format!("it has no section {name}"));
            sections.get(name.as_bytes()).cloned().ok_or_else(missing)
        };
        let mut budget = Budget::of(bytes);
        let (text, tokens) = read_tokens(section("TOKENS")?, &mut budget)?;
        let mut strings = section("STRINGS")?;
        let count = strings.count()?;
        budget.take(count)?;
        let strings = strings.take(count.saturating_mul(4))?.as_chunks::<4>().0;
        let strings = strings.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let mut fields = section("FIELDS")?;
        let count = fields.count()?;
        let names = whole(&mut fields, count, &mut budget)?;
        let words = unpack_all(fields.packed()?, count.saturating_mul(8));
        let words = words.ok_or_else(|| damaged("its fields do not unpack"))?;
        let words = words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let fields = names.into_iter().zip(words).collect();
        let mut sets = section("FIELDSETS")?;
        let count = sets.count()?;
        let sets = whole(&mut sets, count, &mut budget)?;
        let paths = read_paths(section("PATHS")?, &mut budget, pace)?;
        let mut specs = section("SPECS")?;
        let count = specs.count()?;
        let paths_of = whole(&mut specs, count, &mut budget)?;
        let fields_of = whole(&mut specs, count, &mut budget)?;
        let kinds = whole(&mut specs, count, &mut budget)?;
        let specs = paths_of.into_iter().zip(fields_of).zip(kinds);
        let specs = specs.map(|((path, fields), kind)| Spec { path, fields, kind }).collect();
        pace.go_on_now()?;
        Ok(Self { bytes, version, text, tokens, strings, fields, sets, paths, specs, budget })
    }

    pub(super) fn at(&self, place: u64) -> Result<Bytes<'a>, Problem> {
        Bytes::at(self.bytes, place)
    }

    pub(super) fn token(&self, number: u32) -> Result<&str, Problem> {
        let place = self.tokens.get(number as usize);
        let text = place.and_then(|(start, end)| self.text.get(*start as usize..*end as usize));
        text.ok_or_else(|| damaged("a name that it does not have is named"))
    }

    pub(super) fn string(&self, number: u32) -> Result<&str, Problem> {
        let token = self.strings.get(number as usize).copied();
        self.token(token.ok_or_else(|| damaged("a text that it does not have is named"))?)
    }

    pub(super) fn step(&self, path: u32) -> Result<Step, Problem> {
        let step = self.paths.get(path as usize).copied().filter(|step| step.is_known);
        step.ok_or_else(|| damaged("a path that it does not have is named"))
    }

    /// The text of a path; none for one with more steps than prims may lie in each other.
    pub(super) fn path(&self, number: u32, budget: &mut Budget) -> Result<Option<String>, Problem> {
        let mut steps: Vec<[&str; 2]> = Vec::new();
        let mut step = self.step(number)?;
        while step.parent != NONE {
            if steps.len() > MOST_DEPTH + 1 {
                return Ok(None);
            }
            let token = self.token(step.token)?;
            let mark = match token.as_bytes().first() {
                _ if step.is_property => ".",
                // Selections of variants, and targets of connections.
                Some(b'{' | b'[') => "",
                _ => "/",
            };
            steps.push([mark, token]);
            step = self.step(step.parent)?;
        }
        budget.take(steps.as_flattened().iter().map(|text| text.len()).sum::<usize>() / 8 + 1)?;
        Ok(Some(steps.into_iter().rev().flatten().collect()))
    }
}

/// Whole numbers of a table.
fn whole(at: &mut Bytes<'_>, count: usize, budget: &mut Budget) -> Result<Vec<u32>, Problem> {
    budget.take(count.saturating_mul(2))?;
    let numbers = integers(at.packed()?, count, false).ok_or_else(|| damaged("its tables do not unpack"))?;
    Ok(numbers.into_iter().map(|number| number as u32).collect())
}

fn read_tokens(mut at: Bytes<'_>, budget: &mut Budget) -> Result<(String, Vec<(u32, u32)>), Problem> {
    let (count, size) = (at.count()?, at.count()?);
    budget.take((size / 8).saturating_add(count))?;
    let text = unpack_all(at.packed()?, size).ok_or_else(|| damaged("its names do not unpack"))?;
    let text = String::from_utf8(text).map_err(|_| damaged("its names are no text in UTF-8"))?;
    let mut tokens = Vec::with_capacity(count);
    let mut start = 0;
    for token in text.split('\0').take(count) {
        let end = start + token.len();
        tokens.push((start as u32, end as u32));
        start = end + 1;
    }
    Ok((text, tokens))
}

/// The paths, as the tree that is stored has them: in each place the number of a path, the token of its last step, below 0 for
/// a property, and a jump: -2 for a path without more behind it, -1 where the next place has its first child, 0 where that has
/// its next sibling, else both: a child in the next place, and the sibling that many places on.
fn read_paths(mut at: Bytes<'_>, budget: &mut Budget, pace: &mut Pace) -> Result<Vec<Step>, Problem> {
    let wrong = || damaged("its paths are no tree");
    let (count, places) = (at.count()?, at.count()?);
    budget.take(count.saturating_mul(2))?;
    let numbers = whole(&mut at, places, budget)?;
    let tokens = whole(&mut at, places, budget)?;
    let jumps = whole(&mut at, places, budget)?;
    let mut paths = vec![Step::default(); count];
    let mut open = vec![(0, NONE)];
    while let Some((mut place, mut parent)) = open.pop() {
        loop {
            pace.go_on()?;
            let here = numbers.get(place).zip(tokens.get(place)).zip(jumps.get(place));
            let ((number, token), jump) = here.ok_or_else(wrong)?;
            let (token, jump) = (token.cast_signed(), jump.cast_signed());
            // No path comes twice, so that none is above itself.
            let step = paths.get_mut(*number as usize).filter(|step| !step.is_known).ok_or_else(wrong)?;
            *step = Step { parent, token: token.unsigned_abs(), is_property: token < 0, is_known: true };
            if jump > 0 {
                open.push((place.saturating_add(jump as usize), parent));
            }
            match jump {
                0 => {}
                -1 | 1.. => parent = *number,
                _ => break,
            }
            place += 1;
        }
    }
    Ok(paths)
}
