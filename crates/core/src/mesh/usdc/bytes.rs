//! The bytes of a binary USD file: numbers that follow each other, what is packed in LZ4 blocks, and the memory that reading may
//! take.
//!
//! Layout of what is packed: pxr/base/tf/fastCompression.cpp and pxr/usd/sdf/integerCoding.cpp of `OpenUSD`.

use super::super::unchecked::Problem;
use crate::memory::{self, Short};

/// A mistake that no program makes.
pub(super) fn damaged(what: &str) -> Problem {
    Problem::whole(format!("{what}, so the file is damaged; export it again"))
}

/// Memory that is left for what is read. A few packed bytes can stand for millions of numbers, and any number of attributes
/// may have the same list.
#[derive(Clone)]
pub(super) struct Budget {
    all: usize,
    left: usize,
    /// Whether the machine has no more.
    is_all_memory: bool,
}

impl Budget {
    /// Words for any file.
    const LEAST: usize = 1 << 20;
    /// Words for each byte of a file. A mesh takes about one, a list that many prims share any number.
    const OF_A_BYTE: usize = 64;
    /// Words for the largest file: 2 GiB.
    const MOST: usize = 1 << 28;

    pub fn of(bytes: &[u8]) -> Self {
        Self::within(bytes.len(), memory::free())
    }

    /// That of a file of `size` bytes where so many bytes of memory are free, if that is known. The file's size says little of
    /// what is packed in it, so what it says of its lists is what counts: each is taken before it is read.
    pub fn within(size: usize, free: Option<u64>) -> Self {
        let all = Self::MOST.min(Self::LEAST + size.saturating_mul(Self::OF_A_BYTE));
        let free = free.and_then(|free| usize::try_from(free / 8).ok()).filter(|words| *words < all);
        let all = free.unwrap_or(all);
        Self { all, left: all, is_all_memory: free.is_some() }
    }

    /// Takes this many words of eight bytes.
    pub fn take(&mut self, words: usize) -> Result<(), Problem> {
        if let Some(left) = self.left.checked_sub(words) {
            self.left = left;
            return Ok(());
        }
        if !self.is_all_memory {
            return Err(Problem::whole(
                "it holds far more than its size or 2 GiB when it is unpacked; split it, or export glTF 2.0 (.glb)",
            ));
        }
        let bytes = |words: usize| (words as u64).saturating_mul(8);
        let needed = bytes((self.all - self.left).saturating_add(words));
        let short = Short { needed, free: bytes(self.all) };
        Err(Problem::whole(format!("{short}; split it, or close other programs")))
    }
}

/// Bytes of a file from a place on.
#[derive(Clone)]
pub(super) struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    /// From byte `at` of the file on.
    pub fn at(all: &'a [u8], at: u64) -> Result<Self, Problem> {
        match usize::try_from(at) {
            Ok(at) if at <= all.len() => Ok(Self { all, at }),
            _ => Err(damaged("a place beyond its end is named")),
        }
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Problem> {
        let end = self.at.checked_add(count);
        let taken = end.and_then(|end| self.all.get(self.at..end)).ok_or_else(|| {
            Problem::at_byte(self.at, "more is announced there than the file has; export it again")
        })?;
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub fn u32(&mut self) -> Result<u32, Problem> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64, Problem> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A number of things.
    pub fn count(&mut self) -> Result<usize, Problem> {
        // One that no memory could hold is refused by the budget.
        Ok(usize::try_from(self.u64()?).unwrap_or(usize::MAX))
    }

    /// Packed bytes behind their number.
    pub fn packed(&mut self) -> Result<&'a [u8], Problem> {
        let count = self.count()?;
        self.take(count)
    }

    /// The place that an offset from where it stands leads to.
    pub fn leap(mut self) -> Result<u64, Problem> {
        let from = self.at as u64;
        let offset = self.u64()?.cast_signed();
        from.checked_add_signed(offset).ok_or_else(|| damaged("a place before its start is named"))
    }
}

/// Most bytes that LZ4 makes of one.
const MOST_OF_ONE: usize = 255;

/// Bytes of LZ4 blocks that have at most `limit` of them. The number of blocks comes first, with a length before each, or 0
/// before a single one without.
pub(super) fn unpack(packed: &[u8], limit: usize) -> Option<Vec<u8>> {
    let (blocks, mut rest) = packed.split_first()?;
    let mut unpacked = vec![0; limit];
    let mut filled = 0;
    if *blocks == 0 {
        filled = lz4_flex::block::decompress_into(rest, &mut unpacked).ok()?;
    }
    for _ in 0..*blocks {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(i32::from_le_bytes(*length)).ok()?;
        let (block, after) = after.split_at_checked(length)?;
        filled += lz4_flex::block::decompress_into(block, unpacked.get_mut(filled..)?).ok()?;
        rest = after;
    }
    unpacked.truncate(filled);
    Some(unpacked)
}

/// Bytes of LZ4 blocks that have exactly `count` of them.
pub(super) fn unpack_all(packed: &[u8], count: usize) -> Option<Vec<u8>> {
    let may_be = count / MOST_OF_ONE <= packed.len();
    may_be.then(|| unpack(packed, count))?.filter(|unpacked| unpacked.len() == count)
}

/// `count` whole numbers of four bytes, or of eight if `is_wide`. Packed are the most frequent difference from one to the
/// next, two bits for each number, and the other differences in as many bytes as these bits say.
pub(super) fn integers(packed: &[u8], count: usize, is_wide: bool) -> Option<Vec<i64>> {
    let width = if is_wide { 8 } else { 4 };
    let codes = count.div_ceil(4);
    if codes / MOST_OF_ONE > packed.len() {
        return None;
    }
    let unpacked = unpack(packed, count.checked_mul(width)?.checked_add(codes + width)?)?;
    let (common, rest) = unpacked.split_at_checked(width)?;
    let (codes, mut rest) = rest.split_at_checked(codes)?;
    let common = signed(common);
    let mut number = 0i64;
    let mut numbers = Vec::with_capacity(count);
    for k in 0..count {
        let code = usize::from(codes.get(k / 4)? >> (2 * (k % 4)) & 3);
        let difference = if code == 0 {
            common
        } else {
            let (own, after) = rest.split_at_checked(width >> (3 - code))?;
            rest = after;
            signed(own)
        };
        number = number.wrapping_add(difference);
        if !is_wide {
            number = i64::from(number as i32);
        }
        numbers.push(number);
    }
    Some(numbers)
}

/// A whole number of one to eight bytes.
fn signed(bytes: &[u8]) -> i64 {
    let word = bytes.iter().rev().fold(0, |word: i64, byte| (word << 8) | i64::from(*byte));
    let unused = 64 - 8 * bytes.len();
    (word << unused) >> unused
}
