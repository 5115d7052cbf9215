//! Four vectors as one.

use super::F64x4;
use std::ops::{Add, Sub};

/// Vectors in lanes: x, y and z of four of them.
#[derive(Clone, Copy)]
pub struct Vectors<F>(pub [F; 3]);

impl<F: F64x4> Vectors<F> {
    /// Of their x, y and z.
    #[inline(always)]
    pub fn of(values: &[[f64; 4]; 3]) -> Self {
        Self([F::of(values[0]), F::of(values[1]), F::of(values[2])])
    }

    /// Their x, y and z.
    #[inline(always)]
    pub fn arrays(self) -> [[f64; 4]; 3] {
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

    /// The sum of the sizes of x, y and z: no less than the length.
    #[inline(always)]
    pub fn size(self) -> F {
        let [a, b, c] = self.0;
        a.abs().add(b.abs()).add(c.abs())
    }
}

impl<F: F64x4> Add for Vectors<F> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([a.add(x), b.add(y), c.add(z)])
    }
}

impl<F: F64x4> Sub for Vectors<F> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([a.sub(x), b.sub(y), c.sub(z)])
    }
}

/// Symmetric matrices: xx, xy, xz, yy, yz, zz.
pub type Matrices = [[f64; 4]; 6];

/// Each matrix times its vector.
#[inline(always)]
pub fn times<F: F64x4>(m: &Matrices, v: Vectors<F>) -> Vectors<F> {
    let [x, y, z] = v.0;
    // Not in a closure, which would not be compiled for wide vectors.
    let [xx, xy, xz, yy, yz, zz] =
        [F::of(m[0]), F::of(m[1]), F::of(m[2]), F::of(m[3]), F::of(m[4]), F::of(m[5])];
    Vectors([
        xx.mul(x).add(xy.mul(y)).add(xz.mul(z)),
        xy.mul(x).add(yy.mul(y)).add(yz.mul(z)),
        xz.mul(x).add(yz.mul(y)).add(zz.mul(z)),
    ])
}
