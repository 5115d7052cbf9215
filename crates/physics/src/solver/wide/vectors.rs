//! Eight vectors as one, in single precision.

use std::ops::{Add, Sub};

use crate::geometry::simd::F32x8;

/// Manifolds of a batch.
pub(super) const LANES: usize = 8;

/// A number of each lane.
pub(super) type Lane = [f32; LANES];

/// Symmetric matrices: xx, xy, xz, yy, yz, zz.
pub(super) type Matrices = [Lane; 6];

/// Vectors in lanes: x, y and z of eight of them.
#[derive(Clone, Copy)]
pub(super) struct Vectors<F>([F; 3]);

impl<F: F32x8> Vectors<F> {
    #[inline(always)]
    pub fn of(values: &[Lane; 3]) -> Self {
        Self([F::of(values[0]), F::of(values[1]), F::of(values[2])])
    }

    #[inline(always)]
    pub fn arrays(self) -> [Lane; 3] {
        [self.0[0].array(), self.0[1].array(), self.0[2].array()]
    }

    #[inline(always)]
    pub fn scaled(self, by: F) -> Self {
        let [a, b, c] = self.0;
        Self([a.mul(by), b.mul(by), c.mul(by)])
    }

    #[inline(always)]
    pub fn dot(self, other: Self) -> F {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        a.mul(x).add(b.mul(y)).add(c.mul(z))
    }

    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([b.mul(z).sub(y.mul(c)), c.mul(x).sub(z.mul(a)), a.mul(y).sub(x.mul(b))])
    }

    /// The products of matrices, given by rows, with the vectors.
    #[inline(always)]
    pub fn turned(self, rows: &[Lane; 9]) -> Self {
        let row = [
            Self([F::of(rows[0]), F::of(rows[1]), F::of(rows[2])]),
            Self([F::of(rows[3]), F::of(rows[4]), F::of(rows[5])]),
            Self([F::of(rows[6]), F::of(rows[7]), F::of(rows[8])]),
        ];
        Self([row[0].dot(self), row[1].dot(self), row[2].dot(self)])
    }

    /// The products of symmetric matrices with the vectors.
    #[inline(always)]
    pub fn by(self, m: &Matrices) -> Self {
        let [x, y, z] = self.0;
        let [xx, xy, xz] = [F::of(m[0]), F::of(m[1]), F::of(m[2])];
        let [yy, yz, zz] = [F::of(m[3]), F::of(m[4]), F::of(m[5])];
        Self([
            xx.mul(x).add(xy.mul(y)).add(xz.mul(z)),
            xy.mul(x).add(yy.mul(y)).add(yz.mul(z)),
            xz.mul(x).add(yz.mul(y)).add(zz.mul(z)),
        ])
    }

    /// Each vector, no longer than its limit.
    #[inline(always)]
    pub fn limited(self, limit: F) -> Self {
        let square = self.dot(self);
        let share = limit.mul(limit).below(square).select(limit.div(square.sqrt()), F::splat(1.0));
        self.scaled(share)
    }
}

impl<F: F32x8> Add for Vectors<F> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([a.add(x), b.add(y), c.add(z)])
    }
}

impl<F: F32x8> Sub for Vectors<F> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([a.sub(x), b.sub(y), c.sub(z)])
    }
}

/// Inverses of symmetric matrices that have one; zero where there is none, as for two bodies that cannot turn.
#[inline(always)]
pub(super) fn inverses<F: F32x8>(m: &Matrices) -> Matrices {
    let (zero, one) = (F::splat(0.0), F::splat(1.0));
    let trace = F::of(m[0]).add(F::of(m[3])).add(F::of(m[5]));
    // By the trace, since determinants of small bodies' inertia leave the range of single precision.
    let turns = zero.below(trace);
    let scale = turns.select(one.div(turns.select(trace, one)), zero);
    let [xx, xy, xz] = [F::of(m[0]).mul(scale), F::of(m[1]).mul(scale), F::of(m[2]).mul(scale)];
    let [yy, yz, zz] = [F::of(m[3]).mul(scale), F::of(m[4]).mul(scale), F::of(m[5]).mul(scale)];
    let [a, b, c] = [yy.mul(zz).sub(yz.mul(yz)), xz.mul(yz).sub(xy.mul(zz)), xy.mul(yz).sub(xz.mul(yy))];
    let determinant = xx.mul(a).add(xy.mul(b)).add(xz.mul(c));
    let is_sound = F::splat(1e-9).below(determinant);
    let by = is_sound.select(scale.div(is_sound.select(determinant, one)), zero);
    [
        a.mul(by).array(),
        b.mul(by).array(),
        c.mul(by).array(),
        xx.mul(zz).sub(xz.mul(xz)).mul(by).array(),
        xy.mul(xz).sub(xx.mul(yz)).mul(by).array(),
        xx.mul(yy).sub(xy.mul(xy)).mul(by).array(),
    ]
}
