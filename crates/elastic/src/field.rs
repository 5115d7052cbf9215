//! Vectors over the nodes of a lattice, eight nodes at a time, and sums over them in one fixed order.

use kintsugi_geometry::simd::{F32x8, F64x4, Simd};
use rayon::prelude::*;

/// Nodes of a chunk.
pub(crate) const LANES: usize = 8;

/// Values of eight nodes in a row: one array for each axis.
pub(crate) type Chunk<T> = [[T; LANES]; 3];

/// A vector for each node of a lattice. The chunk behind the last is zero: chunks that do not exist are read there.
pub(crate) type Field<T> = Vec<Chunk<T>>;

/// Chunks that one task works on. Sums are taken by such blocks, so the number of threads changes none of them.
pub(crate) const BLOCK: usize = 64;

/// Eight numbers in registers.
pub(crate) trait Octet<T>: Copy {
    /// Of eight numbers.
    fn of(values: [T; LANES]) -> Self;
    /// The numbers.
    fn array(self) -> [T; LANES];
    /// The same number eight times.
    fn splat(value: T) -> Self;
    /// The sum.
    fn add(self, other: Self) -> Self;
    /// The difference.
    fn sub(self, other: Self) -> Self;
    /// The product.
    fn mul(self, other: Self) -> Self;
}

/// Floats and doubles.
pub(crate) trait Real: Copy + Default + PartialEq + Send + Sync + 'static {
    /// Eight of them.
    type Octet<S: Simd>: Octet<Self>;
    /// The nearest to a double.
    fn of(value: f64) -> Self;
    /// Of a float.
    fn single(value: f32) -> Self;
}

impl Real for f32 {
    type Octet<S: Simd> = One<S::F32x8>;
    fn of(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn single(value: f32) -> Self {
        value
    }
}

impl Real for f64 {
    type Octet<S: Simd> = Two<S::F64x4>;
    fn of(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn single(value: f32) -> Self {
        f64::from(value)
    }
}

/// Eight floats.
#[derive(Clone, Copy)]
pub(crate) struct One<V>(V);

impl<V: F32x8> Octet<f32> for One<V> {
    #[inline(always)]
    fn of(values: [f32; LANES]) -> Self {
        Self(V::of(values))
    }
    #[inline(always)]
    fn array(self) -> [f32; LANES] {
        self.0.array()
    }
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(V::splat(value))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0.sub(other.0))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(self.0.mul(other.0))
    }
}

/// Twice four doubles.
#[derive(Clone, Copy)]
pub(crate) struct Two<V>(V, V);

impl<V: F64x4> Octet<f64> for Two<V> {
    #[inline(always)]
    fn of([a, b, c, d, e, f, g, h]: [f64; LANES]) -> Self {
        Self(V::of([a, b, c, d]), V::of([e, f, g, h]))
    }
    #[inline(always)]
    fn array(self) -> [f64; LANES] {
        let ([a, b, c, d], [e, f, g, h]) = (self.0.array(), self.1.array());
        [a, b, c, d, e, f, g, h]
    }
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(V::splat(value), V::splat(value))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0), self.1.add(other.1))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0.sub(other.0), self.1.sub(other.1))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(self.0.mul(other.0), self.1.mul(other.1))
    }
}

/// Zeros for `chunks` chunks and the one behind.
pub(crate) fn zeros<T: Real>(chunks: usize) -> Field<T> {
    vec![Chunk::default(); chunks + 1]
}

/// Sums one number per chunk, block by block.
pub(crate) fn sum_of<const N: usize>(chunks: usize, of: impl Fn(usize) -> [f64; N] + Sync) -> [f64; N] {
    let add = |mut sum: [f64; N], more: [f64; N]| {
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        sum
    };
    let blocks: Vec<[f64; N]> = (0..chunks.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| (block * BLOCK..chunks.min((block + 1) * BLOCK)).map(&of).fold([0.0; N], add))
        .collect();
    blocks.into_iter().fold([0.0; N], add)
}

/// The scalar product.
pub(crate) fn dot(a: &Field<f64>, b: &Field<f64>) -> f64 {
    let [sum] = sum_of(a.len().min(b.len()), |i| {
        let mut lanes = [0.0; LANES];
        for (x, y) in a[i].iter().zip(&b[i]) {
            (0..LANES).for_each(|l| lanes[l] += x[l] * y[l]);
        }
        [lanes.iter().sum()]
    });
    sum
}

/// The largest magnitude.
pub(crate) fn largest(field: &Field<f64>) -> f64 {
    let of =
        |chunks: &[Chunk<f64>]| chunks.iter().flatten().flatten().fold(0.0, |most: f64, f| most.max(f.abs()));
    field.par_chunks(BLOCK).map(of).reduce(|| 0.0, f64::max)
}

/// Changes every chunk of `to` by the chunk of `from` beside it.
pub(crate) fn zip<A: Send, B: Sync>(to: &mut [A], from: &[B], change: impl Fn(&mut A, &B) + Sync) {
    to.par_chunks_mut(BLOCK)
        .zip(from.par_chunks(BLOCK))
        .for_each(|(to, from)| to.iter_mut().zip(from).for_each(|(to, from)| change(to, from)));
}

/// `to += factor * from`.
pub(crate) fn add_times(to: &mut Field<f64>, factor: f64, from: &Field<f64>) {
    zip(to, from, |to, from| {
        for (to, from) in to.iter_mut().zip(from) {
            (0..LANES).for_each(|l| to[l] += factor * from[l]);
        }
    });
}

/// `to = from + factor * to`.
pub(crate) fn scale_add(to: &mut Field<f64>, factor: f64, from: &Field<f64>) {
    zip(to, from, |to, from| {
        for (to, from) in to.iter_mut().zip(from) {
            (0..LANES).for_each(|l| to[l] = from[l] + factor * to[l]);
        }
    });
}
