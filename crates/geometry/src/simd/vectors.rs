//! Four or eight vectors as one.

use super::{F32x8, F64x4};
use std::ops::{Add, Sub};

/// Vectors in lanes of one kind, with what is computed alike at both precisions.
macro_rules! vectors {
    ($(#[$about:meta])* $vectors:ident: $lanes:ident of $numbers:ty) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub struct $vectors<F>(pub [F; 3]);

        impl<F: $lanes> $vectors<F> {
            /// Of their x, y and z.
            #[inline(always)]
            pub fn of(values: &[$numbers; 3]) -> Self {
                Self([F::of(values[0]), F::of(values[1]), F::of(values[2])])
            }

            /// Their x, y and z.
            #[inline(always)]
            pub fn arrays(self) -> [$numbers; 3] {
                [self.0[0].array(), self.0[1].array(), self.0[2].array()]
            }

            /// Multiples.
            #[inline(always)]
            pub fn scaled(self, by: F) -> Self {
                let [a, b, c] = self.0;
                Self([a.mul(by), b.mul(by), c.mul(by)])
            }

            /// Dot products.
            #[inline(always)]
            pub fn dot(self, other: Self) -> F {
                let ([a, b, c], [x, y, z]) = (self.0, other.0);
                a.mul(x).add(b.mul(y)).add(c.mul(z))
            }

            /// Cross products.
            #[inline(always)]
            pub fn cross(self, other: Self) -> Self {
                let ([a, b, c], [x, y, z]) = (self.0, other.0);
                Self([b.mul(z).sub(y.mul(c)), c.mul(x).sub(z.mul(a)), a.mul(y).sub(x.mul(b))])
            }

            /// The products of symmetric matrices (xx, xy, xz, yy, yz, zz) with the vectors.
            #[inline(always)]
            pub fn by(self, m: &[$numbers; 6]) -> Self {
                let [x, y, z] = self.0;
                // Not in a closure, which would not be compiled for wide vectors.
                let [xx, xy, xz] = [F::of(m[0]), F::of(m[1]), F::of(m[2])];
                let [yy, yz, zz] = [F::of(m[3]), F::of(m[4]), F::of(m[5])];
                Self([
                    xx.mul(x).add(xy.mul(y)).add(xz.mul(z)),
                    xy.mul(x).add(yy.mul(y)).add(yz.mul(z)),
                    xz.mul(x).add(yz.mul(y)).add(zz.mul(z)),
                ])
            }
        }

        impl<F: $lanes> Add for $vectors<F> {
            type Output = Self;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                let ([a, b, c], [x, y, z]) = (self.0, other.0);
                Self([a.add(x), b.add(y), c.add(z)])
            }
        }

        impl<F: $lanes> Sub for $vectors<F> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                let ([a, b, c], [x, y, z]) = (self.0, other.0);
                Self([a.sub(x), b.sub(y), c.sub(z)])
            }
        }
    };
}

vectors! {
    /// Vectors in lanes: x, y and z of four of them.
    Vectors: F64x4 of [f64; 4]
}

vectors! {
    /// Vectors in lanes, single precision: x, y and z of eight of them.
    Vectors8: F32x8 of [f32; 8]
}

impl<F: F64x4> Vectors<F> {
    /// The sum of the sizes of x, y and z: no less than the length.
    #[inline(always)]
    pub fn size(self) -> F {
        let [a, b, c] = self.0;
        a.abs().add(b.abs()).add(c.abs())
    }
}

impl<F: F32x8> Vectors8<F> {
    /// The products of matrices, given by rows, with the vectors.
    #[inline(always)]
    pub fn turned(self, rows: &[[f32; 8]; 9]) -> Self {
        let row = [
            Self([F::of(rows[0]), F::of(rows[1]), F::of(rows[2])]),
            Self([F::of(rows[3]), F::of(rows[4]), F::of(rows[5])]),
            Self([F::of(rows[6]), F::of(rows[7]), F::of(rows[8])]),
        ];
        Self([row[0].dot(self), row[1].dot(self), row[2].dot(self)])
    }

    /// Each vector, no longer than its limit.
    #[inline(always)]
    pub fn limited(self, limit: F) -> Self {
        let square = self.dot(self);
        let share = limit.mul(limit).below(square).select(limit.div(square.sqrt()), F::splat(1.0));
        self.scaled(share)
    }
}

/// Symmetric matrices: xx, xy, xz, yy, yz, zz.
pub type Matrices = [[f64; 4]; 6];

/// Each matrix times its vector.
#[inline(always)]
pub fn times<F: F64x4>(m: &Matrices, v: Vectors<F>) -> Vectors<F> {
    v.by(m)
}
