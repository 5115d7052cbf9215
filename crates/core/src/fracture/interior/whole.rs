//! Eight whole numbers that are worked on at once, and work compiled for the widest vectors that the processor has.
//! The same results whatever the numbers are made of; overflow wraps.

/// How many.
pub(super) const LANES: usize = 8;

/// Eight numbers of 32 bits.
pub(super) trait Whole: Copy {
    fn of(values: [i32; LANES]) -> Self;
    fn array(self) -> [i32; LANES];
    fn splat(value: i32) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    /// The low bits of the product.
    fn mul(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// All bits where it is less than the other's, none elsewhere.
    fn less(self, other: Self) -> Self;
    /// Shifted right with its sign.
    fn down<const BITS: i32>(self) -> Self;
    /// Shifted right as a number without sign.
    fn down_unsigned<const BITS: i32>(self) -> Self;
    /// Whether all are zero.
    fn is_zero(self) -> bool;
    /// The quotient, cut off towards zero, of a number below 2^24 (either sign) by one above zero.
    fn quotient(self, by: Self) -> Self;
}

/// Work that is always inlined, so that it is compiled anew for every width.
pub(super) trait Work {
    /// Does it.
    fn run<W: Whole>(self);
}

/// Does it with the widest vectors that the processor has.
#[inline]
pub(super) fn wide(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2(work: impl Work) {
            work.run::<avx::Avx>();
        }
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512dq,avx512bw")]
        fn avx512(work: impl Work) {
            work.run::<avx::Avx>();
        }
        use std::arch::is_x86_feature_detected as has;
        if has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt") {
            let is_wider = has!("avx512f") && has!("avx512vl") && has!("avx512dq") && has!("avx512bw");
            // SAFETY: the processor has every feature that the function is compiled for: it was asked just now.
            unsafe {
                if is_wider {
                    avx512(work);
                } else {
                    avx2(work);
                }
            };
            return;
        }
    }
    work.run::<Plain>();
}

/// For every processor.
#[derive(Clone, Copy)]
pub(super) struct Plain([i32; LANES]);

impl Plain {
    #[inline(always)]
    fn with(self, other: Self, of: impl Fn(i32, i32) -> i32) -> Self {
        let Self(mut values) = self;
        for (value, other) in values.iter_mut().zip(other.0) {
            *value = of(*value, other);
        }
        Self(values)
    }
}

impl Whole for Plain {
    #[inline(always)]
    fn of(values: [i32; LANES]) -> Self {
        Self(values)
    }
    #[inline(always)]
    fn array(self) -> [i32; LANES] {
        self.0
    }
    #[inline(always)]
    fn splat(value: i32) -> Self {
        Self([value; LANES])
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, i32::wrapping_add)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, i32::wrapping_sub)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.with(other, i32::wrapping_mul)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.with(other, |a, b| a ^ b)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.with(other, |a, b| a & b)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.with(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.with(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn less(self, other: Self) -> Self {
        self.with(other, |a, b| -i32::from(a < b))
    }
    #[inline(always)]
    fn down<const BITS: i32>(self) -> Self {
        self.with(self, |a, _| a >> BITS)
    }
    #[inline(always)]
    fn down_unsigned<const BITS: i32>(self) -> Self {
        self.with(self, |a, _| (a as u32 >> BITS) as i32)
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0 == [0; LANES]
    }
    #[inline(always)]
    fn quotient(self, by: Self) -> Self {
        self.with(by, |a, b| a / b)
    }
}

/// For processors with 256-bit vectors. Only made and used by work that [`wide`] has compiled for them.
#[cfg(target_arch = "x86_64")]
pub(super) mod avx {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_cmpgt_epi32, _mm256_cvtepi32_ps,
        _mm256_cvttps_epi32, _mm256_div_ps, _mm256_max_epi32, _mm256_min_epi32, _mm256_mullo_epi32,
        _mm256_set1_epi32, _mm256_srai_epi32, _mm256_srli_epi32, _mm256_sub_epi32, _mm256_testz_si256,
        _mm256_xor_si256,
    };

    use super::{LANES, Whole};

    #[derive(Clone, Copy)]
    pub struct Avx(__m256i);

    /// Calls an intrinsic.
    macro_rules! call {
        ($($what:tt)*) => {
            // SAFETY: the work was handed to `wide`, which asked the processor for AVX2.
            unsafe { $($what)* }
        };
    }

    impl Whole for Avx {
        #[inline(always)]
        fn of(values: [i32; LANES]) -> Self {
            Self(bytemuck::cast(values))
        }
        #[inline(always)]
        fn array(self) -> [i32; LANES] {
            bytemuck::cast(self.0)
        }
        #[inline(always)]
        fn splat(value: i32) -> Self {
            Self(call!(_mm256_set1_epi32(value)))
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(call!(_mm256_add_epi32(self.0, other.0)))
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(call!(_mm256_sub_epi32(self.0, other.0)))
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Self(call!(_mm256_mullo_epi32(self.0, other.0)))
        }
        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            Self(call!(_mm256_xor_si256(self.0, other.0)))
        }
        #[inline(always)]
        fn and(self, other: Self) -> Self {
            Self(call!(_mm256_and_si256(self.0, other.0)))
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            Self(call!(_mm256_min_epi32(self.0, other.0)))
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            Self(call!(_mm256_max_epi32(self.0, other.0)))
        }
        #[inline(always)]
        fn less(self, other: Self) -> Self {
            Self(call!(_mm256_cmpgt_epi32(other.0, self.0)))
        }
        #[inline(always)]
        fn down<const BITS: i32>(self) -> Self {
            Self(call!(_mm256_srai_epi32::<BITS>(self.0)))
        }
        #[inline(always)]
        fn down_unsigned<const BITS: i32>(self) -> Self {
            Self(call!(_mm256_srli_epi32::<BITS>(self.0)))
        }
        #[inline(always)]
        fn is_zero(self) -> bool {
            call!(_mm256_testz_si256(self.0, self.0)) == 1
        }
        /// Floats hold such numbers, and a quotient that is no whole number lies farther below the next one than it
        /// is rounded.
        #[inline(always)]
        fn quotient(self, by: Self) -> Self {
            let (dividend, divisor) = (call!(_mm256_cvtepi32_ps(self.0)), call!(_mm256_cvtepi32_ps(by.0)));
            Self(call!(_mm256_cvttps_epi32(_mm256_div_ps(dividend, divisor))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on numbers of all sizes, one after the other.
    struct Tried<'a>(&'a mut Vec<[i32; LANES]>);

    impl Work for Tried<'_> {
        #[inline(always)]
        fn run<W: Whole>(self) {
            let mut word = 1u32;
            let mut next = || {
                word = word.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
                (word >> ((word >> 28) / 2)) as i32
            };
            for turn in 0..2000 {
                let (a, b) = (W::of(std::array::from_fn(|_| next())), W::of(std::array::from_fn(|_| next())));
                let small = a.down::<8>();
                let divisor = b.down_unsigned::<9>().max(W::splat(1));
                let all = [
                    a.add(b),
                    a.sub(b),
                    a.mul(b),
                    a.xor(b),
                    a.and(b),
                    a.min(b),
                    a.max(b),
                    a.less(b),
                    a.down::<5>(),
                    a.down_unsigned::<5>(),
                    small.quotient(divisor),
                    // Just below a multiple, where rounding would show.
                    divisor.mul(W::splat(2)).sub(W::splat(1)).quotient(divisor),
                ];
                self.0.extend(all.map(W::array));
                let one = W::of(std::array::from_fn(|lane| i32::from(lane == turn % LANES)));
                let zeros = [W::splat(0), a.xor(a), one, a].map(|v| i32::from(v.is_zero()));
                assert_eq!(zeros[..3], [1, 1, 0]);
                self.0.push([zeros[3]; LANES]);
            }
        }
    }

    #[test]
    fn all_widths_give_the_same() {
        let (mut plain, mut widest) = (Vec::new(), Vec::new());
        Tried(&mut plain).run::<Plain>();
        wide(Tried(&mut widest));
        let different = plain.iter().zip(&widest).position(|(a, b)| a != b).map(|at| at % 13);
        assert_eq!((plain.len(), different), (26_000, None));
    }
}
