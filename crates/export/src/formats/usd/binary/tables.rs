//! The tables of a binary layer: names, paths, fields, and what stands at each path; values lie in the file before them.
//!
//! In: specs with their fields, values as bytes. Out: a file of version 0.8. `crates/core` reads it back
//! (`mesh/usdc/tables.rs`), where the sections are drawn. Layout: pxr/usd/sdf/crateFile.cpp and integerCoding.cpp,
//! pxr/base/tf/fastCompression.cpp of `OpenUSD`.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufWriter, Seek, SeekFrom, Write},
    path::Path,
};

use lz4_flex::block::{compress_into, get_maximum_output_size};

/// The first bytes, and the version.
const MARK: [u8; 16] = *b"PXR-USDC\0\x08\0\0\0\0\0\0";
/// Bytes before the values: mark, place of the contents, 64 reserved ones.
const HEAD: u64 = 88;
/// Bits of a word that say where a value is.
const PLACE: u64 = (1 << 48) - 1;
/// Longest value that is looked up, so that equal ones are stored once, bytes.
const SHARED: usize = 64;
/// Most bytes of one LZ4 block.
const MOST_OF_BLOCK: usize = 0x7e00_0000;
/// The end of a set of fields.
const END: u32 = u32::MAX;

/// What stands at a path.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum SpecKind {
    Attribute = 1,
    Prim = 6,
    Root = 7,
    Relationship = 8,
}

/// What stands at a path, with its fields: tokens and words of values.
pub(super) struct Spec {
    pub path: u32,
    pub kind: SpecKind,
    pub fields: Vec<(u32, u64)>,
    /// Tokens of the prims and of the properties in it.
    pub children: [Vec<u32>; 2],
}

/// A path: one step below another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Step {
    above: u32,
    token: u32,
    is_property: bool,
}

/// A file in progress.
pub(super) struct Tables {
    file: BufWriter<File>,
    at: u64,
    /// Places of short values.
    shared: HashMap<Vec<u8>, u64>,
    tokens: Interned<String>,
    /// Numbers of tokens.
    strings: Interned<u32>,
    fields: Interned<(u32, u64)>,
    /// Numbers of fields, [`END`] behind each set; where each set begins.
    sets: Vec<u32>,
    starts: HashMap<Vec<u32>, u32>,
    paths: Interned<Step>,
}

/// Things of which each has a number.
struct Interned<T> {
    all: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { all: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    fn number<Q: ?Sized + Eq + std::hash::Hash + ToOwned<Owned = T>>(&mut self, one: &Q) -> io::Result<u32>
    where
        T: std::borrow::Borrow<Q>,
    {
        if let Some(number) = self.numbers.get(one) {
            return Ok(*number);
        }
        let number = number(self.all.len())?;
        self.all.push(one.to_owned());
        self.numbers.insert(one.to_owned(), number);
        Ok(number)
    }
}

/// A length as a number of a table or list, which has 31 bits.
pub(super) fn number(length: usize) -> io::Result<u32> {
    let fits = u32::try_from(length).ok().filter(|number| *number < 1 << 31);
    fits.ok_or_else(|| io::Error::other("a table or a list has 2^31 entries or more; use a lower --level"))
}

/// Bytes as one block, behind their packed length.
fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    if bytes.len() > MOST_OF_BLOCK {
        return Err(io::Error::other("a list has more than 2 GB; use --format usda, or a lower --level"));
    }
    // A 0 in front says that there is one block only.
    let mut packed = vec![0; 9 + get_maximum_output_size(bytes.len())];
    let length = 1 + compress_into(bytes, &mut packed[9..]).map_err(io::Error::other)?;
    packed.truncate(8 + length);
    packed[..8].copy_from_slice(&(length as u64).to_le_bytes());
    Ok(packed)
}

/// Whole numbers as one block: the most frequent difference, two bits for each number, and behind them the other differences in
/// as many bytes as these bits say.
pub(super) fn pack_integers(numbers: impl Iterator<Item = i32>) -> io::Result<Vec<u8>> {
    let mut before = 0;
    let step = |number: i32| number.wrapping_sub(std::mem::replace(&mut before, number));
    let steps: Vec<i32> = numbers.map(step).collect();
    let mut sorted = steps.clone();
    sorted.sort_unstable();
    let common = sorted.chunk_by(|a, b| a == b).max_by_key(|run| run.len());
    let common = common.map_or(0, |run| run[0]);
    let mut bytes = common.to_le_bytes().to_vec();
    bytes.resize(4 + steps.len().div_ceil(4), 0);
    for (k, step) in steps.into_iter().enumerate() {
        let code = if step == common {
            0
        } else if let Ok(small) = i8::try_from(step) {
            bytes.extend(small.to_le_bytes());
            1
        } else if let Ok(short) = i16::try_from(step) {
            bytes.extend(short.to_le_bytes());
            2
        } else {
            bytes.extend(step.to_le_bytes());
            3
        };
        bytes[4 + k / 4] |= code << (2 * (k % 4));
    }
    pack(&bytes)
}

/// Numbers of a table behind their packed length.
fn whole(numbers: impl Iterator<Item = u32>) -> io::Result<Vec<u8>> {
    pack_integers(numbers.map(u32::cast_signed))
}

fn count(length: usize) -> Vec<u8> {
    (length as u64).to_le_bytes().to_vec()
}

impl Tables {
    /// Begins a file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(&[0; HEAD as usize])?;
        let mut tables = Self {
            file,
            at: HEAD,
            shared: HashMap::new(),
            tokens: Interned::default(),
            strings: Interned::default(),
            fields: Interned::default(),
            sets: Vec::new(),
            starts: HashMap::new(),
            paths: Interned::default(),
        };
        // Paths of properties have numbers of tokens below 0, so that the first is none that a property has.
        tables.token("")?;
        tables.paths.number(&Step { above: 0, token: 0, is_property: false })?;
        Ok(tables)
    }

    /// The number of a name.
    pub fn token(&mut self, name: &str) -> io::Result<u32> {
        self.tokens.number(name)
    }

    /// The number of a text.
    pub fn string(&mut self, text: &str) -> io::Result<u32> {
        let token = self.token(text)?;
        self.strings.number(&token)
    }

    /// The number of the path one step below another. That of the root is 0.
    pub fn step(&mut self, above: u32, token: u32, is_property: bool) -> io::Result<u32> {
        self.paths.number(&Step { above, token, is_property })
    }

    /// The number of a path from the root on: `/a/b`, `/a/b.c:d`.
    pub fn path(&mut self, text: &str) -> io::Result<u32> {
        let (prims, property) = text.split_once('.').map_or((text, None), |(a, b)| (a, Some(b)));
        let mut path = 0;
        for name in prims.split('/').filter(|name| !name.is_empty()) {
            let token = self.token(name)?;
            path = self.step(path, token, false)?;
        }
        match property {
            Some(name) => {
                let token = self.token(name)?;
                self.step(path, token, true)
            }
            None => Ok(path),
        }
    }

    /// Puts a value into the file; its place.
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<u64> {
        if let Some(place) = self.shared.get(bytes) {
            return Ok(*place);
        }
        // Programs map long lists into memory where they are aligned.
        let gap = self.at.next_multiple_of(8) - self.at;
        self.file.write_all(&[0; 8][..gap as usize])?;
        let place = self.at + gap;
        self.file.write_all(bytes)?;
        self.at = place + bytes.len() as u64;
        if self.at > PLACE {
            return Err(io::Error::other("binary USD ends at 2^48 bytes; use a lower --level"));
        }
        if bytes.len() <= SHARED {
            self.shared.insert(bytes.to_vec(), place);
        }
        Ok(place)
    }

    /// The number of the first field of a set.
    fn set(&mut self, fields: &[(u32, u64)]) -> io::Result<u32> {
        let set: Vec<u32> =
            fields.iter().map(|field| self.fields.number(field)).collect::<io::Result<_>>()?;
        if let Some(start) = self.starts.get(&set) {
            return Ok(*start);
        }
        let start = number(self.sets.len())?;
        self.sets.extend(set.iter().chain([&END]));
        self.starts.insert(set, start);
        Ok(start)
    }

    /// The tree of paths: in each place the number of a path, the token of its last step, below 0 for a property, and a jump: -2
    /// for a path without more behind it, -1 where only a child comes next, 0 where only a sibling does, else both: the child
    /// next, the sibling that many places on.
    fn tree(&self) -> [Vec<u32>; 3] {
        let steps = &self.paths.all;
        // A path is behind the one above it.
        let mut sizes = vec![1i32; steps.len()];
        let mut below = vec![Vec::new(); steps.len()];
        for (path, step) in steps.iter().enumerate().skip(1).rev() {
            sizes[step.above as usize] += sizes[path];
            below[step.above as usize].push(path);
        }
        let mut tree = [Vec::new(), Vec::new(), Vec::new()];
        let mut open = vec![(0, false)];
        while let Some((path, has_next)) = open.pop() {
            let token = steps[path].token.cast_signed();
            let jump = match (below[path].is_empty(), has_next) {
                (true, false) => -2,
                (false, false) => -1,
                (true, true) => 0,
                (false, true) => sizes[path],
            };
            tree[0].push(path as u32);
            tree[1].push(if steps[path].is_property { -token } else { token }.cast_unsigned());
            tree[2].push(jump.cast_unsigned());
            // The last child is the first of the list.
            open.extend(below[path].iter().enumerate().map(|(k, path)| (*path, k > 0)));
        }
        tree
    }

    /// Writes the tables and ends the file.
    pub fn finish(mut self, specs: &[Spec]) -> io::Result<()> {
        let sets: Vec<u32> = specs.iter().map(|spec| self.set(&spec.fields)).collect::<io::Result<_>>()?;
        let text: String = self.tokens.all.iter().flat_map(|token| [token.as_str(), "\0"]).collect();
        let strings = self.strings.all.iter().flat_map(|token| token.to_le_bytes()).collect();
        let fields = &self.fields.all;
        let words: Vec<u8> = fields.iter().flat_map(|(_, word)| word.to_le_bytes()).collect();
        let [paths, steps, jumps] = self.tree();
        let sections = [
            ("TOKENS", [count(self.tokens.all.len()), count(text.len()), pack(text.as_bytes())?].concat()),
            ("STRINGS", [count(self.strings.all.len()), strings].concat()),
            (
                "FIELDS",
                [count(fields.len()), whole(fields.iter().map(|(token, _)| *token))?, pack(&words)?].concat(),
            ),
            ("FIELDSETS", [count(self.sets.len()), whole(self.sets.iter().copied())?].concat()),
            (
                "PATHS",
                [
                    count(paths.len()),
                    count(paths.len()),
                    whole(paths.into_iter())?,
                    whole(steps.into_iter())?,
                    whole(jumps.into_iter())?,
                ]
                .concat(),
            ),
            (
                "SPECS",
                [
                    count(specs.len()),
                    whole(specs.iter().map(|spec| spec.path))?,
                    whole(sets.into_iter())?,
                    whole(specs.iter().map(|spec| spec.kind as u32))?,
                ]
                .concat(),
            ),
        ];
        let mut contents = count(sections.len());
        for (name, bytes) in sections {
            contents.extend(name.bytes().chain(std::iter::repeat(0)).take(16));
            contents.extend([self.at, bytes.len() as u64].map(u64::to_le_bytes).concat());
            self.file.write_all(&bytes)?;
            self.at += bytes.len() as u64;
        }
        self.file.write_all(&contents)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&MARK)?;
        self.file.write_all(&self.at.to_le_bytes())?;
        self.file.flush()
    }
}
