//! Four numbers that are worked on at once, and vectors of them. Nothing is fused, so the results are the same whatever
//! they are made of.

/// Four numbers.
pub trait Four: Copy {
    fn of(values: [f64; 4]) -> Self;
    fn array(self) -> [f64; 4];
    fn splat(value: f64) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// The greater ones; of what is no number the other.
    fn max(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    /// Bit i says whether lane i is less than the other's.
    fn less(self, other: Self) -> u32;
    /// Where it is less than `other`, `one`, elsewhere `two`.
    fn if_less(self, other: Self, one: Self, two: Self) -> Self;

    /// The greatest of the four.
    #[inline(always)]
    fn greatest(self) -> f64 {
        let [a, b, c, d] = self.array();
        a.max(b).max(c.max(d))
    }
}

/// Three lanes of vectors: x, y and z of four of them.
#[derive(Clone, Copy)]
pub struct Vectors<F>(pub [F; 3]);

impl<F: Four> Vectors<F> {
    #[inline(always)]
    pub fn of(values: &[[f64; 4]; 3]) -> Self {
        Self([F::of(values[0]), F::of(values[1]), F::of(values[2])])
    }

    #[inline(always)]
    pub fn arrays(self) -> [[f64; 4]; 3] {
        [self.0[0].array(), self.0[1].array(), self.0[2].array()]
    }

    #[inline(always)]
    pub fn add(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([a.add(x), b.add(y), c.add(z)])
    }

    #[inline(always)]
    pub fn sub(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([a.sub(x), b.sub(y), c.sub(z)])
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

    /// The sum of the sizes of x, y and z: no less than the length.
    #[inline(always)]
    pub fn size(self) -> F {
        let [a, b, c] = self.0;
        a.abs().add(b.abs()).add(c.abs())
    }
}

/// Symmetric matrices: xx, xy, xz, yy, yz, zz.
pub type Matrices = [[f64; 4]; 6];

/// Each matrix times its vector.
#[inline(always)]
pub fn times<F: Four>(m: &Matrices, v: Vectors<F>) -> Vectors<F> {
    let [x, y, z] = v.0;
    // Written out: a closure would not be compiled for wide vectors.
    let [xx, xy, xz, yy, yz, zz] =
        [F::of(m[0]), F::of(m[1]), F::of(m[2]), F::of(m[3]), F::of(m[4]), F::of(m[5])];
    Vectors([
        xx.mul(x).add(xy.mul(y)).add(xz.mul(z)),
        xy.mul(x).add(yy.mul(y)).add(yz.mul(z)),
        xz.mul(x).add(yz.mul(y)).add(zz.mul(z)),
    ])
}

/// For every processor.
#[derive(Clone, Copy)]
pub struct Plain([f64; 4]);

impl Plain {
    #[inline(always)]
    fn with(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|i| of(self.0[i], other.0[i])))
    }
}

impl Four for Plain {
    #[inline(always)]
    fn of(values: [f64; 4]) -> Self {
        Self(values)
    }
    #[inline(always)]
    fn array(self) -> [f64; 4] {
        self.0
    }
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; 4])
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.with(other, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.with(other, |a, b| a / b)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.with(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.map(f64::abs))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f64::sqrt))
    }
    #[inline(always)]
    fn less(self, other: Self) -> u32 {
        (0..4).fold(0, |mask, i| mask | u32::from(self.0[i] < other.0[i]) << i)
    }
    #[inline(always)]
    fn if_less(self, other: Self, one: Self, two: Self) -> Self {
        Self(std::array::from_fn(|i| if self.0[i] < other.0[i] { one.0[i] } else { two.0[i] }))
    }
}

/// For processors with 256-bit vectors. Only made and used by what has asked the processor for them.
#[cfg(target_arch = "x86_64")]
pub mod avx {
    use super::Four;
    use std::arch::x86_64::{
        __m256d, _CMP_LT_OQ, _mm256_add_pd, _mm256_andnot_pd, _mm256_blendv_pd, _mm256_cmp_pd, _mm256_div_pd,
        _mm256_max_pd, _mm256_movemask_pd, _mm256_mul_pd, _mm256_set1_pd, _mm256_sqrt_pd, _mm256_sub_pd,
    };

    #[derive(Clone, Copy)]
    pub struct Avx(__m256d);

    /// Calls an intrinsic.
    macro_rules! call {
        ($($what:tt)*) => {
            // SAFETY: whoever works with these has asked the processor for AVX.
            unsafe { $($what)* }
        };
    }

    impl Four for Avx {
        #[inline(always)]
        fn of(values: [f64; 4]) -> Self {
            Self(bytemuck::cast(values))
        }
        #[inline(always)]
        fn array(self) -> [f64; 4] {
            bytemuck::cast(self.0)
        }
        #[inline(always)]
        fn splat(value: f64) -> Self {
            Self(call!(_mm256_set1_pd(value)))
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(call!(_mm256_add_pd(self.0, other.0)))
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(call!(_mm256_sub_pd(self.0, other.0)))
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Self(call!(_mm256_mul_pd(self.0, other.0)))
        }
        #[inline(always)]
        fn div(self, other: Self) -> Self {
            Self(call!(_mm256_div_pd(self.0, other.0)))
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            Self(call!(_mm256_max_pd(self.0, other.0)))
        }
        #[inline(always)]
        fn abs(self) -> Self {
            Self(call!(_mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0)))
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            Self(call!(_mm256_sqrt_pd(self.0)))
        }
        #[inline(always)]
        fn less(self, other: Self) -> u32 {
            call!(_mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0))) as u32
        }
        #[inline(always)]
        fn if_less(self, other: Self, one: Self, two: Self) -> Self {
            Self(call!({
                let is_less = _mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0);
                _mm256_blendv_pd(two.0, one.0, is_less)
            }))
        }
    }
}
