//! Compact storage of leaves' Morton codes: 32 bits each, and high bytes only if needed.
//!
//! Up to level 10 a code has 30 bits, so a leaf costs four bytes as in the passes' buffers; codes of 33 and 36 bits, at
//! levels 11 and 12, cost five. A list of [`Key`]s would cost eight at all levels, and every fracture temporarily holds
//! two such arrays.
//!
//! # Morton codes on a backend: in a buffer of the device, or in memory

use std::{ops::Range, sync::Arc};

use super::{MAX_PASSES_LEVEL, morton::Key};
use crate::{
    compute::Compute,
    gpu::{Buffer, GpuError},
};

/// Morton codes, one per leaf.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    low: Vec<u32>,
    /// Bits 32 to 40, of all codes or of none.
    high: Vec<u8>,
}

/// A range of [`Keys`].
#[derive(Clone, Copy, Debug, Default)]
pub struct KeySlice<'a> {
    low: &'a [u32],
    high: &'a [u8],
}

/// A mutable range of [`Keys`].
#[derive(Debug, Default)]
pub struct KeySliceMut<'a> {
    low: &'a mut [u32],
    high: &'a mut [u8],
}

fn join(low: u32, high: u8) -> Key {
    Key::from(low) | Key::from(high) << 32
}

fn high_byte(key: Key) -> u8 {
    debug_assert!(key >> 40 == 0, "octrees end long before");
    (key >> 32) as u8
}

impl Keys {
    /// `count` zeros, with space for codes of `level`.
    #[must_use]
    pub fn zeroed(level: u32, count: usize) -> Self {
        Self { low: vec![0; count], high: if 3 * level > 32 { vec![0; count] } else { Vec::new() } }
    }

    /// Codes of 32 bits.
    #[must_use]
    pub fn narrow(low: Vec<u32>) -> Self {
        Self { low, high: Vec::new() }
    }

    /// Number of codes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// Whether there are no codes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// The code of leaf `i`.
    ///
    /// # Panics
    /// If there is no such leaf, as for slices.
    #[must_use]
    pub fn at(&self, i: usize) -> Key {
        join(self.low[i], if self.high.is_empty() { 0 } else { self.high[i] })
    }

    /// All codes.
    #[must_use]
    pub fn as_slice(&self) -> KeySlice<'_> {
        KeySlice { low: &self.low, high: &self.high }
    }

    /// The codes of a range of leaves; panics beyond the end, as for slices.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> KeySlice<'_> {
        self.as_slice().slice(range)
    }

    /// All codes, for writing codes of the level that they were created for.
    #[must_use]
    pub fn as_mut(&mut self) -> KeySliceMut<'_> {
        KeySliceMut { low: &mut self.low, high: &mut self.high }
    }

    /// The codes in order.
    #[must_use]
    pub fn iter(&self) -> KeyIter<'_> {
        self.as_slice().iter()
    }

    /// Index of a code in ascending codes.
    ///
    /// # Errors
    /// The index at which it would be inserted.
    pub fn binary_search(&self, key: Key) -> Result<usize, usize> {
        self.as_slice().binary_search(key)
    }

    /// Appends a code.
    pub fn push(&mut self, key: Key) {
        let high = high_byte(key);
        if high != 0 || !self.high.is_empty() {
            self.high.resize(self.low.len(), 0);
            self.high.push(high);
        }
        self.low.push(key as u32);
    }

    /// Appends codes.
    pub fn extend_from_slice(&mut self, keys: KeySlice<'_>) {
        if !keys.high.is_empty() || !self.high.is_empty() {
            self.high.resize(self.low.len(), 0);
            self.high.extend_from_slice(keys.high);
        }
        self.low.extend_from_slice(keys.low);
        if !self.high.is_empty() {
            self.high.resize(self.low.len(), 0);
        }
    }

    /// Reserves space for `count` more codes.
    pub fn reserve(&mut self, count: usize) {
        self.low.reserve(count);
    }

    /// Keeps the codes for whose index `keep` returns true; called once for every code in order.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        fn by_index<T>(values: &mut Vec<T>, keep: impl Fn(usize) -> bool) {
            let mut at = 0;
            values.retain(|_| {
                at += 1;
                keep(at - 1)
            });
        }
        by_index(&mut self.low, &keep);
        by_index(&mut self.high, &keep);
    }
}

/// Compares the codes, not their storage.
impl PartialEq for Keys {
    fn eq(&self, other: &Self) -> bool {
        self.low == other.low && (self.high == other.high || self.iter().eq(other.iter()))
    }
}

impl Extend<Key> for Keys {
    fn extend<I: IntoIterator<Item = Key>>(&mut self, keys: I) {
        let keys = keys.into_iter();
        self.reserve(keys.size_hint().0);
        keys.for_each(|key| self.push(key));
    }
}

impl FromIterator<Key> for Keys {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        let mut all = Self::default();
        all.extend(keys);
        all
    }
}

impl From<Vec<Key>> for Keys {
    fn from(keys: Vec<Key>) -> Self {
        keys.into_iter().collect()
    }
}

impl<'a> IntoIterator for &'a Keys {
    type Item = Key;
    type IntoIter = KeyIter<'a>;

    fn into_iter(self) -> KeyIter<'a> {
        self.iter()
    }
}

impl<'a> KeySlice<'a> {
    /// Number of codes.
    #[must_use]
    pub fn len(self) -> usize {
        self.low.len()
    }

    /// Whether there are no codes.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.low.is_empty()
    }

    /// The code at `i`; panics beyond the end, as for slices.
    #[must_use]
    pub fn at(self, i: usize) -> Key {
        join(self.low[i], if self.high.is_empty() { 0 } else { self.high[i] })
    }

    /// A subrange; panics beyond the end, as for slices.
    #[must_use]
    pub fn slice(self, range: Range<usize>) -> Self {
        let high = if self.high.is_empty() { self.high } else { &self.high[range.clone()] };
        Self { low: &self.low[range], high }
    }

    /// The codes in order.
    #[must_use]
    pub fn iter(self) -> KeyIter<'a> {
        KeyIter { low: self.low.iter(), high: self.high.iter() }
    }

    /// The codes as words, if they have 32 bits.
    #[must_use]
    pub fn words(self) -> Option<&'a [u32]> {
        self.high.is_empty().then_some(self.low)
    }

    /// The first index whose code does not satisfy `holds`; all codes before it must, and none after it.
    #[must_use]
    pub fn partition_point(self, holds: impl Fn(Key) -> bool) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            if holds(self.at(middle)) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// Index of a code in ascending codes.
    ///
    /// # Errors
    /// The index at which it would be inserted.
    pub fn binary_search(self, key: Key) -> Result<usize, usize> {
        let at = self.partition_point(|other| other < key);
        if at < self.len() && self.at(at) == key { Ok(at) } else { Err(at) }
    }
}

impl<'a> IntoIterator for KeySlice<'a> {
    type Item = Key;
    type IntoIter = KeyIter<'a>;

    fn into_iter(self) -> KeyIter<'a> {
        self.iter()
    }
}

impl<'a> KeySliceMut<'a> {
    /// Splits `count` codes off its front.
    #[must_use]
    pub fn take(&mut self, count: usize) -> Self {
        let (low, rest) = std::mem::take(&mut self.low).split_at_mut(count);
        self.low = rest;
        let bytes = if self.high.is_empty() { 0 } else { count };
        let (high, rest) = std::mem::take(&mut self.high).split_at_mut(bytes);
        self.high = rest;
        Self { low, high }
    }

    /// Writes a code.
    pub fn set(&mut self, i: usize, key: Key) {
        self.low[i] = key as u32;
        if !self.high.is_empty() {
            self.high[i] = high_byte(key);
        }
    }

    /// Writes codes of the same level from `first` on.
    pub fn copy_from(&mut self, first: usize, keys: KeySlice<'_>) {
        let to = first..first + keys.len();
        self.low[to.clone()].copy_from_slice(keys.low);
        if self.high.is_empty() {
            return;
        }
        if keys.high.is_empty() {
            self.high[to].fill(0);
        } else {
            self.high[to].copy_from_slice(keys.high);
        }
    }
}

/// Codes in order.
#[derive(Clone, Debug)]
pub struct KeyIter<'a> {
    low: std::slice::Iter<'a, u32>,
    high: std::slice::Iter<'a, u8>,
}

impl Iterator for KeyIter<'_> {
    type Item = Key;

    fn next(&mut self) -> Option<Key> {
        let low = *self.low.next()?;
        Some(join(low, self.high.next().copied().unwrap_or(0)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.low.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<Key> {
        let low = *self.low.nth(n)?;
        Some(join(low, self.high.nth(n).copied().unwrap_or(0)))
    }
}

impl DoubleEndedIterator for KeyIter<'_> {
    fn next_back(&mut self) -> Option<Key> {
        let low = *self.low.next_back()?;
        Some(join(low, self.high.next_back().copied().unwrap_or(0)))
    }
}

impl ExactSizeIterator for KeyIter<'_> {}

/// Morton codes of the boundary voxels of an octree, ascending, on the backend of the stages.
#[derive(Clone, Debug)]
pub enum KeyArray {
    /// On the device, in 32 bits.
    Device(Buffer<u32>),
    /// In memory.
    Host(Arc<Keys>),
}

impl KeyArray {
    /// Uploads the codes of an octree of `level`; `label` names the array in errors.
    ///
    /// # Errors
    /// [`GpuError::TooFine`] for a level too fine for passes, [`GpuError::TooLarge`].
    pub fn new(
        compute: impl Into<Compute>,
        label: &str,
        keys: KeySlice<'_>,
        level: u32,
    ) -> Result<Self, GpuError> {
        match compute.into() {
            Compute::Gpu(gpu) => {
                let words = keys.words().filter(|_| level <= MAX_PASSES_LEVEL);
                let words = words.ok_or(GpuError::TooFine { level, most: MAX_PASSES_LEVEL })?;
                Ok(Self::Device(Buffer::from_slice(&gpu, label, words)?))
            }
            Compute::Cpu => {
                let mut own = Keys::default();
                own.extend_from_slice(keys);
                Ok(Self::Host(Arc::new(own)))
            }
        }
    }

    /// The buffer, for a pass.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] if the codes are in memory.
    pub fn device(&self) -> Result<&Buffer<u32>, GpuError> {
        match self {
            Self::Device(buffer) => Ok(buffer),
            Self::Host(_) => Err(GpuError::NoPasses),
        }
    }

    /// The codes, for a native stage.
    ///
    /// # Errors
    /// [`GpuError::NoPasses`] if they are on the device.
    pub fn host(&self) -> Result<KeySlice<'_>, GpuError> {
        match self {
            Self::Host(keys) => Ok(keys.as_slice()),
            Self::Device(_) => Err(GpuError::NoPasses),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ascending codes, some below and some above 2^32.
    fn mixed() -> Vec<Key> {
        (0..60).map(|i: Key| i * i * i * 300_001).collect()
    }

    #[test]
    fn codes_come_back_however_they_lie() {
        let codes = mixed();
        assert!(codes[10] >> 32 == 0 && codes[59] >> 32 > 1);
        let keys = Keys::from(codes.clone());
        assert_eq!(keys.iter().collect::<Vec<_>>(), codes);
        assert!(keys.iter().rev().step_by(7).eq(codes.iter().copied().rev().step_by(7)));
        let (before, after) = (Keys::from(codes[..10].to_vec()), Keys::from(codes[10..].to_vec()));
        assert!(before.as_slice().words().is_some() && after.as_slice().words().is_none());
        for order in [[&before, &after], [&after, &before]] {
            let mut joined = order[0].clone();
            joined.extend_from_slice(order[1].as_slice());
            joined.push(7);
            let wanted: Vec<Key> = order[0].iter().chain(order[1].iter()).chain([7]).collect();
            assert_eq!(joined.iter().collect::<Vec<_>>(), wanted);
            joined.retain(|i| i % 3 == 1);
            assert_eq!(
                joined.iter().collect::<Vec<_>>(),
                wanted.into_iter().skip(1).step_by(3).collect::<Vec<_>>()
            );
        }
        for key in [0, 1, codes[20], codes[20] + 1, codes[59], codes[59] + 1] {
            assert_eq!(keys.binary_search(key), codes.binary_search(&key));
            assert_eq!(keys.slice(9..40).binary_search(key), codes[9..40].binary_search(&key));
        }
    }

    #[test]
    fn codes_are_written_where_there_is_room_for_their_level() {
        let codes = mixed();
        let mut written = Keys::zeroed(12, codes.len());
        let mut all = written.as_mut();
        let mut front = all.take(20);
        codes[..20].iter().enumerate().for_each(|(i, key)| front.set(i, *key));
        all.copy_from(0, Keys::from(codes.clone()).slice(20..60));
        assert_eq!(written, Keys::from(codes.clone()));
        // Codes with a high byte are overwritten by words.
        written.as_mut().copy_from(50, Keys::from(codes.clone()).slice(0..10));
        assert_eq!(written.slice(50..60).iter().collect::<Vec<_>>(), codes[..10]);

        let mut narrow = Keys::zeroed(10, 3);
        assert!(narrow.as_slice().words().is_some());
        narrow.as_mut().set(1, (1 << 30) - 1);
        let mut wide = Keys::zeroed(11, 3);
        wide.as_mut().set(1, (1 << 30) - 1);
        assert_eq!(narrow, wide);
        wide.as_mut().set(1, (1 << 32) | ((1 << 30) - 1));
        assert_ne!(narrow, wide);
    }
}
