//! Eight numbers that are worked on at once.

/// Eight numbers; the same results whatever they are made of.
pub(super) trait Lanes: Copy {
    fn of(values: [f32; LANES]) -> Self;
    fn array(self) -> [f32; LANES];
    fn splat(value: f32) -> Self;
    /// A word on every lane; only to be selected and taken out again.
    fn word(word: u32) -> Self;
    /// Lanes for [`Lanes::select`]: those whose bit is set.
    fn mask(bits: u32) -> Self;
    /// Where this mask is set one, elsewhere the other.
    fn select(self, one: Self, other: Self) -> Self;
    /// The mask of lanes that are less than the other's.
    fn below(self, other: Self) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    /// Bit i says whether lane i is less than the other's.
    fn less(self, other: Self) -> u32;
    /// Bit i says whether lane i is no more than the other's.
    fn at_most(self, other: Self) -> u32;
    /// Bit i says whether lane i has its sign bit set.
    fn signs(self) -> u32;

    /// The sum of the lanes, halves first.
    #[inline(always)]
    fn sum(self) -> f32 {
        let [a, b, c, d, e, f, g, h] = self.array();
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }

    /// The least of the lanes.
    #[inline(always)]
    fn least(self) -> f32 {
        let [a, b, c, d, e, f, g, h] = self.array();
        let min = super::wide::min;
        min(min(min(a, e), min(b, f)), min(min(c, g), min(d, h)))
    }
    /// The greatest of the lanes.
    #[inline(always)]
    fn greatest(self) -> f32 {
        let [a, b, c, d, e, f, g, h] = self.array();
        let max = super::wide::max;
        max(max(max(a, e), max(b, f)), max(max(c, g), max(d, h)))
    }
}

pub(super) const LANES: usize = 8;

/// What an expression is for each axis, written out: a closure would not be compiled for wide vectors.
macro_rules! each_axis {
    ($axis:ident: $value:expr) => {
        [
            {
                let $axis = 0usize;
                $value
            },
            {
                let $axis = 1usize;
                $value
            },
            {
                let $axis = 2usize;
                $value
            },
        ]
    };
}
pub(super) use each_axis;

/// For every processor.
#[derive(Clone, Copy)]
pub(super) struct Plain([f32; LANES]);

impl Plain {
    #[inline(always)]
    fn with(self, other: Self, of: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|i| of(self.0[i], other.0[i])))
    }
}

impl Lanes for Plain {
    #[inline(always)]
    fn of(values: [f32; LANES]) -> Self {
        Self(values)
    }
    #[inline(always)]
    fn array(self) -> [f32; LANES] {
        self.0
    }
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; LANES])
    }
    #[inline(always)]
    fn word(word: u32) -> Self {
        Self([f32::from_bits(word); LANES])
    }
    #[inline(always)]
    fn mask(bits: u32) -> Self {
        Self(std::array::from_fn(|i| f32::from_bits(if bits >> i & 1 == 1 { u32::MAX } else { 0 })))
    }
    #[inline(always)]
    fn select(self, one: Self, other: Self) -> Self {
        Self(std::array::from_fn(|i| if self.0[i].to_bits() >> 31 == 1 { one.0[i] } else { other.0[i] }))
    }
    #[inline(always)]
    fn below(self, other: Self) -> Self {
        Self::mask(self.less(other))
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
    fn min(self, other: Self) -> Self {
        self.with(other, super::wide::min)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.with(other, super::wide::max)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.map(f32::abs))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }
    #[inline(always)]
    fn less(self, other: Self) -> u32 {
        (0..LANES).fold(0, |mask, i| mask | u32::from(self.0[i] < other.0[i]) << i)
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u32 {
        (0..LANES).fold(0, |mask, i| mask | u32::from(self.0[i] <= other.0[i]) << i)
    }
    #[inline(always)]
    fn signs(self) -> u32 {
        (0..LANES).fold(0, |mask, i| mask | (self.0[i].to_bits() >> 31) << i)
    }
}

/// For processors with 256-bit vectors. Only made and used by work that [`super::wide`] has compiled for them.
#[cfg(target_arch = "x86_64")]
pub(super) mod avx {
    use std::arch::x86_64::{
        __m256, _CMP_LE_OQ, _CMP_LT_OQ, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehdup_ps,
        _mm_movehl_ps, _mm256_add_ps, _mm256_and_si256, _mm256_andnot_ps, _mm256_blendv_ps,
        _mm256_castps256_ps128, _mm256_castsi256_ps, _mm256_cmp_ps, _mm256_cmpeq_epi32, _mm256_div_ps,
        _mm256_extractf128_ps, _mm256_max_ps, _mm256_min_ps, _mm256_movemask_ps, _mm256_mul_ps,
        _mm256_set1_epi32, _mm256_set1_ps, _mm256_setr_epi32, _mm256_sqrt_ps, _mm256_sub_ps,
    };

    use super::{LANES, Lanes};

    #[derive(Clone, Copy)]
    pub struct Avx(__m256);

    /// Calls an intrinsic.
    macro_rules! call {
        ($($what:tt)*) => {
            // SAFETY: the work was handed to `wide`, which asked the processor for AVX2.
            unsafe { $($what)* }
        };
    }

    impl Lanes for Avx {
        #[inline(always)]
        fn of(values: [f32; LANES]) -> Self {
            Self(bytemuck::cast(values))
        }
        #[inline(always)]
        fn array(self) -> [f32; LANES] {
            bytemuck::cast(self.0)
        }
        #[inline(always)]
        fn splat(value: f32) -> Self {
            Self(call!(_mm256_set1_ps(value)))
        }
        #[inline(always)]
        fn word(word: u32) -> Self {
            Self::splat(f32::from_bits(word))
        }
        #[inline(always)]
        fn mask(bits: u32) -> Self {
            Self(call!({
                let own = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
                let set = _mm256_and_si256(_mm256_set1_epi32(bits as i32), own);
                _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, own))
            }))
        }
        #[inline(always)]
        fn select(self, one: Self, other: Self) -> Self {
            Self(call!(_mm256_blendv_ps(other.0, one.0, self.0)))
        }
        #[inline(always)]
        fn sum(self) -> f32 {
            call!({
                let halves = _mm_add_ps(_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0));
                let quarters = _mm_add_ps(halves, _mm_movehl_ps(halves, halves));
                _mm_cvtss_f32(_mm_add_ss(quarters, _mm_movehdup_ps(quarters)))
            })
        }
        #[inline(always)]
        fn below(self, other: Self) -> Self {
            Self(call!(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0)))
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(call!(_mm256_add_ps(self.0, other.0)))
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(call!(_mm256_sub_ps(self.0, other.0)))
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Self(call!(_mm256_mul_ps(self.0, other.0)))
        }
        #[inline(always)]
        fn div(self, other: Self) -> Self {
            Self(call!(_mm256_div_ps(self.0, other.0)))
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            Self(call!(_mm256_min_ps(self.0, other.0)))
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            Self(call!(_mm256_max_ps(self.0, other.0)))
        }
        #[inline(always)]
        fn abs(self) -> Self {
            Self(call!(_mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0)))
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            Self(call!(_mm256_sqrt_ps(self.0)))
        }
        #[inline(always)]
        fn less(self, other: Self) -> u32 {
            call!(_mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0))) as u32
        }
        #[inline(always)]
        fn at_most(self, other: Self) -> u32 {
            call!(_mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0))) as u32
        }
        #[inline(always)]
        fn signs(self) -> u32 {
            call!(_mm256_movemask_ps(self.0)) as u32
        }
    }
}
