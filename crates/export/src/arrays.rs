//! Named arrays in memory, and the trait by which one description of a break fills an archive, memory or a digest.
//!
//! In: arrays as slices of numbers or part by part. Out: [`NamedArray`]s, or one SHA-256 over all of them. [`Npz`](crate::Npz)
//! takes the same calls, so a program that asks for the arrays gets what `voxels.npz` has, by construction.

use std::path::PathBuf;

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::{ExportError, mesh::digest::hexadecimal};

/// The numbers of an array, in C order.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Bytes.
    U8(Vec<u8>),
    /// Signed whole numbers of 32 bits.
    I32(Vec<i32>),
    /// Whole numbers of 32 bits.
    U32(Vec<u32>),
    /// Floating-point numbers of 32 bits.
    F32(Vec<f32>),
    /// Floating-point numbers of 64 bits.
    F64(Vec<f64>),
}

/// An array with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedArray {
    /// Its name, as in `voxels.npz`.
    pub name: String,
    /// Elements along each axis; empty for a single number.
    pub shape: Vec<usize>,
    /// Its elements.
    pub numbers: Numbers,
}

/// A number type of NumPy, stored little-endian.
pub trait Element: bytemuck::Pod + Send + Sync {
    /// NumPy's name of the type.
    const DESCR: &'static str;

    /// A list of such numbers as one of lists of any type.
    fn numbers(list: Vec<Self>) -> Numbers;
}

macro_rules! element {
    ($($t:ty = $name:literal, $variant:ident;)*) => {
        $(impl Element for $t {
            const DESCR: &'static str = $name;

            fn numbers(list: Vec<Self>) -> Numbers {
                Numbers::$variant(list)
            }
        })*
    };
}
element!(u8 = "|u1", U8; i32 = "<i4", I32; u32 = "<u4", U32; f32 = "<f4", F32; f64 = "<f8", F64;);

impl NamedArray {
    /// An array of `shape` with these elements, in C order.
    #[must_use]
    pub fn new(name: impl Into<String>, shape: &[usize], numbers: Numbers) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), numbers }
    }
}

/// What arrays go into.
pub trait Arrays {
    /// Whether the array of this name is kept; one that is not may be added with any elements.
    fn wants(&self, _name: &str) -> bool {
        true
    }

    /// Adds an array of `shape`, C order.
    ///
    /// # Errors
    /// [`ExportError::Format`] when `data` does not fill the shape; [`ExportError::Write`] of a file.
    fn array<T: Element>(&mut self, name: &str, shape: &[usize], data: &[T]) -> Result<(), ExportError>;

    /// The same for an array that is made part by part.
    ///
    /// # Errors
    /// As [`Arrays::array`], and the first error of a part.
    fn array_of_parts<T: Element>(
        &mut self,
        name: &str,
        shape: &[usize],
        parts: impl Iterator<Item = Result<Vec<T>, ExportError>>,
    ) -> Result<(), ExportError>;

    /// The same for an array of which every part is made by itself: `fill` writes all elements of one, which are zero before.
    ///
    /// # Errors
    /// As [`Arrays::array_of_parts`].
    fn array_of_spans<T: Element, S: Sync>(
        &mut self,
        name: &str,
        shape: &[usize],
        spans: &[Span<S>],
        fill: impl Fn(&S, &mut [T]) -> Result<(), ExportError> + Sync,
    ) -> Result<(), ExportError> {
        let parts = spans.iter().map(|span| {
            let mut part = vec![T::zeroed(); span.elements];
            fill(&span.what, &mut part)?;
            Ok(part)
        });
        self.array_of_parts(name, shape, parts)
    }

    /// The same for arrays of one type that are made of the same things, row by row: `columns` has the name of each and
    /// how many numbers a row has, spans count rows, and `fill` writes the parts of those arrays that it gets.
    ///
    /// # Errors
    /// As [`Arrays::array_of_parts`].
    fn columns_of_spans<T: Element, S: Sync, const K: usize>(
        &mut self,
        columns: [(&str, usize); K],
        spans: &[Span<S>],
        fill: impl Fn(&S, [Option<&mut [T]>; K]) -> Result<(), ExportError> + Sync,
    ) -> Result<(), ExportError> {
        let rows: usize = spans.iter().map(|span| span.elements).sum();
        for (k, (name, width)) in columns.into_iter().enumerate() {
            let of_one = spans.iter().map(|span| Span { what: &span.what, elements: width * span.elements });
            let of_one: Vec<Span<&S>> = of_one.collect();
            self.array_of_spans(name, &shape_of(rows, width), &of_one, |&what, into: &mut [T]| {
                let mut into = Some(into);
                fill(what, std::array::from_fn(|at| if at == k { into.take() } else { None }))
            })?;
        }
        Ok(())
    }
}

/// A part of an array, in the order of the elements.
#[derive(Clone, Debug)]
pub struct Span<S> {
    /// What it is made of.
    pub what: S,
    /// How many elements it has, or rows.
    pub elements: usize,
}

/// The shape of so many rows of `width` numbers.
fn shape_of(rows: usize, width: usize) -> Vec<usize> {
    if width == 1 { vec![rows] } else { vec![rows, width] }
}

/// Keeps arrays in memory.
#[derive(Debug, Default)]
pub struct Collected<'a> {
    /// Names of the arrays that are kept; without it all are.
    pub names: Option<&'a [String]>,
    /// The arrays, in the order in which they came.
    pub arrays: Vec<NamedArray>,
    /// Names of all arrays that came, also of those that are not kept.
    pub seen: Vec<String>,
}

impl Collected<'_> {
    /// Whether the array of this name, which came, is kept.
    fn takes(&mut self, name: &str) -> bool {
        self.seen.push(name.to_owned());
        self.wants(name)
    }

    fn keep<T: Element>(&mut self, name: &str, shape: &[usize], list: Vec<T>) {
        self.arrays.push(NamedArray::new(name, shape, T::numbers(list)));
    }
}

impl Arrays for Collected<'_> {
    fn wants(&self, name: &str) -> bool {
        self.names.is_none_or(|names| names.iter().any(|wanted| wanted == name))
    }

    fn array<T: Element>(&mut self, name: &str, shape: &[usize], data: &[T]) -> Result<(), ExportError> {
        self.array_of_parts(name, shape, std::iter::once_with(|| Ok(data.to_vec())))
    }

    fn array_of_parts<T: Element>(
        &mut self,
        name: &str,
        shape: &[usize],
        parts: impl Iterator<Item = Result<Vec<T>, ExportError>>,
    ) -> Result<(), ExportError> {
        if !self.takes(name) {
            return Ok(());
        }
        let mut all: Vec<T> = Vec::new();
        for part in parts {
            let part = part?;
            if all.is_empty() && part.len() == elements(shape) {
                // The only part needs no copy.
                all = part;
            } else {
                all.reserve_exact(elements(shape).saturating_sub(all.len()));
                all.extend_from_slice(&part);
            }
        }
        check_count(name, shape, all.len())?;
        self.keep(name, shape, all);
        Ok(())
    }

    fn array_of_spans<T: Element, S: Sync>(
        &mut self,
        name: &str,
        shape: &[usize],
        spans: &[Span<S>],
        fill: impl Fn(&S, &mut [T]) -> Result<(), ExportError> + Sync,
    ) -> Result<(), ExportError> {
        if !self.takes(name) {
            return Ok(());
        }
        check_count(name, shape, spans.iter().map(|span| span.elements).sum())?;
        let [list] = filled([Some(1)], spans, |what, [into]| fill(what, into.unwrap_or_default()))?;
        self.keep(name, shape, list.unwrap_or_default());
        Ok(())
    }

    fn columns_of_spans<T: Element, S: Sync, const K: usize>(
        &mut self,
        columns: [(&str, usize); K],
        spans: &[Span<S>],
        fill: impl Fn(&S, [Option<&mut [T]>; K]) -> Result<(), ExportError> + Sync,
    ) -> Result<(), ExportError> {
        let wanted = columns.map(|(name, width)| self.takes(name).then_some(width));
        let rows: usize = spans.iter().map(|span| span.elements).sum();
        for ((name, width), list) in columns.into_iter().zip(filled(wanted, spans, fill)?) {
            if let Some(list) = list {
                self.keep(name, &shape_of(rows, width), list);
            }
        }
        Ok(())
    }
}

/// Lists with so many numbers in a row, or `None` in place of one that is not wanted. All cores write into the lists
/// themselves: most of the time goes into memory that the system hands out.
fn filled<T: Element, S: Sync, const K: usize>(
    widths: [Option<usize>; K],
    spans: &[Span<S>],
    fill: impl Fn(&S, [Option<&mut [T]>; K]) -> Result<(), ExportError> + Sync,
) -> Result<[Option<Vec<T>>; K], ExportError> {
    if widths.iter().all(Option::is_none) {
        return Ok(widths.map(|_| None));
    }
    let rows: usize = spans.iter().map(|span| span.elements).sum();
    let mut all = widths.map(|width| width.map(|width| zeros(width * rows)));
    let mut rest = all.each_mut().map(|list| list.as_deref_mut());
    let mut places = Vec::with_capacity(spans.len());
    for span in spans {
        let here: [Option<&mut [T]>; K] = std::array::from_fn(|k| {
            let (here, after) = rest[k].take()?.split_at_mut(widths[k]? * span.elements);
            rest[k] = Some(after);
            Some(here)
        });
        places.push((&span.what, here));
    }
    places.into_par_iter().try_for_each(|(what, here)| fill(what, here))?;
    Ok(all)
}

/// So many zeros. All cores write them: memory that the allocator has used before it would clear on one core, with all
/// others waiting, and the pages that the system adds come one after the other.
fn zeros<T: Element>(count: usize) -> Vec<T> {
    const BLOCK: usize = 1024;
    let blocks = (0..count.div_ceil(BLOCK)).into_par_iter().map(|_| [T::zeroed(); BLOCK]);
    let mut all = blocks.collect::<Vec<[T; BLOCK]>>().into_flattened();
    all.truncate(count);
    all
}

/// Hashes arrays instead of keeping them, by SHA-256. Of each array, in order, are hashed: its name, a zero byte, NumPy's name
/// of its element type (`<f4`), a zero byte, the number of axes and the length of each (uint64 all), and the elements in C
/// order. Numbers are little-endian.
#[derive(Default)]
pub struct ArrayDigest(Sha256);

impl ArrayDigest {
    /// Hexadecimal digits of the hash of all arrays so far.
    #[must_use]
    pub fn finish(self) -> String {
        hexadecimal(&self.0.finalize())
    }

    /// Adds an array that is in memory.
    pub fn add(&mut self, array: &NamedArray) {
        let (name, shape) = (&array.name, &array.shape);
        match &array.numbers {
            Numbers::U8(list) => self.whole(name, shape, list),
            Numbers::I32(list) => self.whole(name, shape, list),
            Numbers::U32(list) => self.whole(name, shape, list),
            Numbers::F32(list) => self.whole(name, shape, list),
            Numbers::F64(list) => self.whole(name, shape, list),
        }
    }

    fn whole<T: Element>(&mut self, name: &str, shape: &[usize], data: &[T]) {
        self.start::<T>(name, shape);
        self.0.update(bytemuck::cast_slice::<T, u8>(data));
    }

    fn start<T: Element>(&mut self, name: &str, shape: &[usize]) {
        for text in [name, T::DESCR] {
            self.0.update(text.as_bytes());
            self.0.update([0u8]);
        }
        self.0.update((shape.len() as u64).to_le_bytes());
        shape.iter().for_each(|length| self.0.update((*length as u64).to_le_bytes()));
    }
}

impl Arrays for ArrayDigest {
    fn array<T: Element>(&mut self, name: &str, shape: &[usize], data: &[T]) -> Result<(), ExportError> {
        check_count(name, shape, data.len())?;
        self.whole(name, shape, data);
        Ok(())
    }

    fn array_of_parts<T: Element>(
        &mut self,
        name: &str,
        shape: &[usize],
        parts: impl Iterator<Item = Result<Vec<T>, ExportError>>,
    ) -> Result<(), ExportError> {
        self.start::<T>(name, shape);
        let mut count = 0;
        for part in parts {
            let part = part?;
            count += part.len();
            self.0.update(bytemuck::cast_slice::<T, u8>(&part));
        }
        check_count(name, shape, count)
    }
}

fn elements(shape: &[usize]) -> usize {
    shape.iter().product()
}

fn check_count(name: &str, shape: &[usize], count: usize) -> Result<(), ExportError> {
    if elements(shape) == count {
        return Ok(());
    }
    let reason = format!("it has {count} elements for the shape {shape:?}");
    Err(ExportError::Format { path: PathBuf::from(format!("array {name}")), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_give_the_array_that_the_whole_gives_and_a_missing_part_is_seen() {
        let data: Vec<i32> = (0..300).map(|i| i * i - 7).collect();
        let shape = [100, 3];
        let of_spans = |spans: &[(usize, usize)]| -> Vec<Span<(usize, usize)>> {
            spans.iter().map(|&(from, to)| Span { what: (from, to), elements: to - from }).collect()
        };
        let copy = |(from, to): &(usize, usize), into: &mut [i32]| {
            into.copy_from_slice(&data[*from..*to]);
            Ok(())
        };
        for ends in [vec![300], vec![1, 1, 170, 300], vec![0, 300], vec![150, 300]] {
            let spans: Vec<(usize, usize)> =
                std::iter::once(0).chain(ends.clone()).zip(ends.iter().copied()).collect();
            let parts = || spans.iter().map(|(from, to)| Ok(data[*from..*to].to_vec()));
            let (mut whole, mut pieced) = (Collected::default(), Collected::default());
            whole.array("a", &shape, &data).unwrap();
            pieced.array_of_parts("a", &shape, parts()).unwrap();
            assert_eq!(whole.arrays, pieced.arrays);
            let mut spanned = Collected::default();
            spanned.array_of_spans("a", &shape, &of_spans(&spans), copy).unwrap();
            assert_eq!(whole.arrays, spanned.arrays);
            assert_eq!(whole.arrays[0].numbers, Numbers::I32(data.clone()));
            let (mut whole, mut pieced) = (ArrayDigest::default(), ArrayDigest::default());
            whole.array("a", &shape, &data).unwrap();
            pieced.array_of_parts("a", &shape, parts()).unwrap();
            let mut spanned = ArrayDigest::default();
            spanned.array_of_spans("a", &shape, &of_spans(&spans), copy).unwrap();
            let digest = whole.finish();
            assert_eq!(digest, pieced.finish());
            assert_eq!(digest, spanned.finish());
        }
        let short = || std::iter::once(Ok(data[..299].to_vec()));
        assert!(Collected::default().array_of_parts("a", &shape, short()).is_err());
        let short_spans = of_spans(&[(0, 299)]);
        assert!(Collected::default().array_of_spans("a", &shape, &short_spans, copy).is_err());
        let cancelled = |_: &(usize, usize), _: &mut [i32]| Err(ExportError::Cancelled);
        let spans = of_spans(&[(0, 150), (150, 300)]);
        assert!(Collected::default().array_of_spans("a", &shape, &spans, cancelled).is_err());
        let error = ArrayDigest::default().array_of_parts("a", &shape, short()).unwrap_err().to_string();
        assert!(error.contains("array a") && error.contains("299"), "{error}");
    }

    #[test]
    fn arrays_that_are_made_together_are_those_that_are_made_alone() {
        // More rows than a block of zeros, and no multiple of it.
        let spans = [0, 1, 3000, 17].map(|elements| Span { what: elements as f32, elements });
        let fill = |what: &f32, [one, four]: [Option<&mut [f32]>; 2]| {
            assert!(one.as_ref().is_none_or(|one| one.iter().all(|x| *x == 0.0)));
            one.into_iter().flatten().for_each(|x| *x = *what);
            for (i, row) in four.unwrap_or_default().as_chunks_mut::<4>().0.iter_mut().enumerate() {
                *row = [i as f32, *what, 7.0, -1.0];
            }
            if *what > 5000.0 { Err(ExportError::Cancelled) } else { Ok(()) }
        };
        let columns = [("one", 1), ("four", 4)];
        let mut together = Collected::default();
        together.columns_of_spans(columns, &spans, fill).unwrap();
        let [one, four] = &together.arrays[..] else { panic!("{} arrays", together.arrays.len()) };
        assert_eq!((&one.shape[..], &four.shape[..]), (&[3018][..], &[3018, 4][..]));
        let Numbers::F32(list) = &four.numbers else { panic!("{:?}", four.shape) };
        assert_eq!(list[4 * 3000..4 * 3002], [2999.0, 3000.0, 7.0, -1.0, 0.0, 17.0, 7.0, -1.0]);
        // One after the other, as files and digests take them.
        let (mut alone, mut whole) = (ArrayDigest::default(), ArrayDigest::default());
        alone.columns_of_spans(columns, &spans, fill).unwrap();
        together.arrays.iter().for_each(|array| whole.add(array));
        assert_eq!(alone.finish(), whole.finish());
        let names = ["four".to_owned()];
        let mut named = Collected { names: Some(&names), ..Collected::default() };
        named.columns_of_spans(columns, &spans, fill).unwrap();
        assert_eq!((&named.arrays[..], &named.seen), (&together.arrays[1..], &together.seen));
        let cancelled = [Span { what: 6000.0, elements: 2 }];
        assert!(Collected::default().columns_of_spans(columns, &cancelled, fill).is_err());
    }

    /// The bytes by hand, so that a program in another language can compute the digest.
    #[test]
    fn a_digest_is_of_names_types_shapes_and_bytes() {
        let hashed = |fill: &dyn Fn(&mut ArrayDigest)| {
            let mut digest = ArrayDigest::default();
            fill(&mut digest);
            digest.finish()
        };
        let usual = hashed(&|digest| digest.array("ab", &[2, 1], &[1.0f32, -2.5]).unwrap());
        let mut bytes = b"ab\0<f4\0".to_vec();
        for axis in [2u64, 2, 1] {
            bytes.extend(axis.to_le_bytes());
        }
        bytes.extend([1.0f32, -2.5].into_iter().flat_map(f32::to_le_bytes));
        assert_eq!(usual, crate::mesh::digest::sha256(&bytes));
        let others = [
            hashed(&|digest| digest.array("ac", &[2, 1], &[1.0f32, -2.5]).unwrap()),
            hashed(&|digest| digest.array("ab", &[1, 2], &[1.0f32, -2.5]).unwrap()),
            hashed(&|digest| digest.array("ab", &[2], &[1.0f32, -2.5]).unwrap()),
            hashed(&|digest| digest.array("ab", &[2, 1], &[1.0f32, 2.5]).unwrap()),
            hashed(&|digest| {
                let bits = [1.0f32, -2.5].map(f32::to_bits);
                digest.array("ab", &[2, 1], &bits).unwrap();
            }),
            hashed(&|_| {}),
        ];
        assert!(others.iter().all(|other| *other != usual));
    }
}
