//! Several numbers as one: in an array for every processor, in a register for those with AVX2.

/// The lanes for which work is compiled.
pub trait Simd {
    /// Eight floats.
    type F32x8: F32x8;
    /// Four doubles.
    type F64x4: F64x4;
    /// Eight whole numbers.
    type I32x8: I32x8;
}

/// Arrays, for every processor.
pub(super) struct Arrays;

impl Simd for Arrays {
    type F32x8 = Array<[f32; 8]>;
    type F64x4 = Array<[f64; 4]>;
    type I32x8 = Array<[i32; 8]>;
}

/// Registers, for processors with AVX2. Only work run by [`super::Width`] may have these.
#[cfg(target_arch = "x86_64")]
pub(super) struct Registers;

#[cfg(target_arch = "x86_64")]
impl Simd for Registers {
    type F32x8 = Register<x86::__m256>;
    type F64x4 = Register<x86::__m256d>;
    type I32x8 = Register<x86::__m256i>;
}

#[derive(Clone, Copy)]
pub struct Array<T>(T);

#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Register<T>(T);

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64 as x86;

/// Calls intrinsics.
#[cfg(target_arch = "x86_64")]
macro_rules! call {
    ($($what:tt)*) => {
        // SAFETY: `Width` tests the processor for AVX2 before any register is made.
        unsafe {
            #[allow(unused_imports, reason = "not every call needs one by its bare name")]
            use x86::*;
            $($what)*
        }
    };
}

/// Lanes of one kind: a trait, and its implementations for arrays and registers. Operations of one and of two operands
/// are given per lane and as intrinsics; each other operation has a block for arrays and one of intrinsics, or a body for
/// both.
macro_rules! lanes {
    (
        $(#[$about:meta])*
        $lanes:ident: [$element:ident; $count:literal] or $register:ident by $splat:ident
        one { $($one:ident: $v:ident => $value1:expr, $wide1:expr;)* }
        two { $($(#[$doc2:meta])* $two:ident: $a:ident, $b:ident => $value2:expr, $wide2:ident;)* }
        each {
            $(
                $(#[$doc3:meta])*
                fn $three:ident $([$($generic:tt)*])? ($($operands:tt)*) -> $result:ty = $value3:block or $wide3:block
            )*
        }
        both { $($both:tt)* }
        registers { $($registers:tt)* }
    ) => {
        $(#[$about])*
        pub trait $lanes: Copy {
            /// Lanes of these numbers.
            fn of(values: [$element; $count]) -> Self;
            /// The numbers.
            fn array(self) -> [$element; $count];
            /// The same number in all lanes.
            fn splat(value: $element) -> Self;
            $(#[doc = concat!("Of each lane `", stringify!($value1), "`.")] fn $one(self) -> Self;)*
            $(
                #[doc = concat!("Of each pair of lanes `", stringify!($value2), "`.")]
                $(#[$doc2])*
                fn $two(self, other: Self) -> Self;
            )*
            $($(#[$doc3])* fn $three $(<$($generic)*>)? ($($operands)*) -> $result;)*
            $($both)*
        }

        impl $lanes for Array<[$element; $count]> {
            #[inline(always)]
            fn of(values: [$element; $count]) -> Self {
                Self(values)
            }
            #[inline(always)]
            fn array(self) -> [$element; $count] {
                self.0
            }
            #[inline(always)]
            fn splat(value: $element) -> Self {
                Self([value; $count])
            }
            $(
                #[inline(always)]
                fn $one(self) -> Self {
                    Self(self.0.map(|$v| $value1))
                }
            )*
            $(
                #[inline(always)]
                fn $two(self, other: Self) -> Self {
                    let of = |$a: $element, $b: $element| $value2;
                    Self(std::array::from_fn(|i| of(self.0[i], other.0[i])))
                }
            )*
            $(#[inline(always)] fn $three $(<$($generic)*>)? ($($operands)*) -> $result $value3)*
        }

        #[cfg(target_arch = "x86_64")]
        impl $lanes for Register<x86::$register> {
            #[inline(always)]
            fn of(values: [$element; $count]) -> Self {
                Self(call!(std::mem::transmute::<[$element; $count], $register>(values)))
            }
            #[inline(always)]
            fn array(self) -> [$element; $count] {
                call!(std::mem::transmute::<$register, [$element; $count]>(self.0))
            }
            #[inline(always)]
            fn splat(value: $element) -> Self {
                Self(call!($splat(value)))
            }
            $(
                #[inline(always)]
                fn $one(self) -> Self {
                    let $v = self.0;
                    Self(call!($wide1))
                }
            )*
            $(
                #[inline(always)]
                fn $two(self, other: Self) -> Self {
                    Self(call!($wide2(self.0, other.0)))
                }
            )*
            $(#[inline(always)] fn $three $(<$($generic)*>)? ($($operands)*) -> $result { call!($wide3) })*
            $($registers)*
        }
    };
}

lanes! {
    /// Eight floats.
    F32x8: [f32; 8] or __m256 by _mm256_set1_ps
    one {
        abs: v => v.abs(), _mm256_andnot_ps(_mm256_set1_ps(-0.0), v);
        sqrt: v => v.sqrt(), _mm256_sqrt_ps(v);
    }
    two {
        add: a, b => a + b, _mm256_add_ps;
        sub: a, b => a - b, _mm256_sub_ps;
        mul: a, b => a * b, _mm256_mul_ps;
        div: a, b => a / b, _mm256_div_ps;
        min: a, b => if a < b { a } else { b }, _mm256_min_ps;
        max: a, b => if a > b { a } else { b }, _mm256_max_ps;
    }
    each {
        /// Mask for [`F32x8::select`]: lanes whose bit is set.
        fn mask(bits: u32) -> Self = {
            Self(std::array::from_fn(|i| f32::from_bits(if bits >> i & 1 == 1 { u32::MAX } else { 0 })))
        } or {
            let own = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let set = _mm256_and_si256(_mm256_set1_epi32(bits as i32), own);
            Self(_mm256_castsi256_ps(_mm256_cmpeq_epi32(set, own)))
        }
        /// `one` in lanes of this mask, else `other`.
        fn select(self, one: Self, other: Self) -> Self = {
            Self(std::array::from_fn(|i| if self.0[i].to_bits() >> 31 == 1 { one.0[i] } else { other.0[i] }))
        } or {
            Self(_mm256_blendv_ps(other.0, one.0, self.0))
        }
        /// The mask of lanes less than the other's.
        fn below(self, other: Self) -> Self = { Self::mask(self.less(other)) } or {
            Self(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0))
        }
        /// Bit i is 1 if lane i is less than the other's.
        fn less(self, other: Self) -> u32 = {
            (0..8).fold(0, |mask, i| mask | u32::from(self.0[i] < other.0[i]) << i)
        } or {
            _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0)) as u32
        }
        /// Bit i is 1 if lane i is at most the other's.
        fn at_most(self, other: Self) -> u32 = {
            (0..8).fold(0, |mask, i| mask | u32::from(self.0[i] <= other.0[i]) << i)
        } or {
            _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0)) as u32
        }
        /// Bit i is the sign bit of lane i.
        fn signs(self) -> u32 = { (0..8).fold(0, |mask, i| mask | (self.0[i].to_bits() >> 31) << i) } or {
            _mm256_movemask_ps(self.0) as u32
        }
    }
    both {
        /// A word in every lane; only for `select` and extraction.
        #[inline(always)]
        fn word(word: u32) -> Self {
            Self::splat(f32::from_bits(word))
        }
        /// The sum of the lanes, halves first.
        #[inline(always)]
        fn sum(self) -> f32 {
            let [a, b, c, d, e, f, g, h] = self.array();
            ((a + e) + (c + g)) + ((b + f) + (d + h))
        }
        /// The smallest lane.
        #[inline(always)]
        fn least(self) -> f32 {
            let [a, b, c, d, e, f, g, h] = self.array();
            let min = |a: f32, b: f32| if a < b { a } else { b };
            min(min(min(a, e), min(b, f)), min(min(c, g), min(d, h)))
        }
        /// The largest lane.
        #[inline(always)]
        fn greatest(self) -> f32 {
            let [a, b, c, d, e, f, g, h] = self.array();
            let max = |a: f32, b: f32| if a > b { a } else { b };
            max(max(max(a, e), max(b, f)), max(max(c, g), max(d, h)))
        }
    }
    registers {
        #[inline(always)]
        fn sum(self) -> f32 {
            call!({
                let halves = _mm_add_ps(_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0));
                let quarters = _mm_add_ps(halves, _mm_movehl_ps(halves, halves));
                _mm_cvtss_f32(_mm_add_ss(quarters, _mm_movehdup_ps(quarters)))
            })
        }
    }
}

lanes! {
    /// Four doubles.
    F64x4: [f64; 4] or __m256d by _mm256_set1_pd
    one {
        abs: v => v.abs(), _mm256_andnot_pd(_mm256_set1_pd(-0.0), v);
        sqrt: v => v.sqrt(), _mm256_sqrt_pd(v);
    }
    two {
        add: a, b => a + b, _mm256_add_pd;
        sub: a, b => a - b, _mm256_sub_pd;
        mul: a, b => a * b, _mm256_mul_pd;
        div: a, b => a / b, _mm256_div_pd;
        max: a, b => if a > b { a } else { b }, _mm256_max_pd;
    }
    each {
        /// Bit i is 1 if lane i is less than the other's.
        fn less(self, other: Self) -> u32 = {
            (0..4).fold(0, |mask, i| mask | u32::from(self.0[i] < other.0[i]) << i)
        } or {
            _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0)) as u32
        }
        /// `one` in lanes less than `other`, else `two`.
        fn if_less(self, other: Self, one: Self, two: Self) -> Self = {
            Self(std::array::from_fn(|i| if self.0[i] < other.0[i] { one.0[i] } else { two.0[i] }))
        } or {
            Self(_mm256_blendv_pd(two.0, one.0, _mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0)))
        }
    }
    both {
        /// The largest of the four.
        #[inline(always)]
        fn greatest(self) -> f64 {
            let [a, b, c, d] = self.array();
            a.max(b).max(c.max(d))
        }
    }
    registers {}
}

lanes! {
    /// Eight whole numbers of 32 bits; overflow wraps.
    I32x8: [i32; 8] or __m256i by _mm256_set1_epi32
    one {}
    two {
        add: a, b => a.wrapping_add(b), _mm256_add_epi32;
        sub: a, b => a.wrapping_sub(b), _mm256_sub_epi32;
        /// The low bits of the product.
        mul: a, b => a.wrapping_mul(b), _mm256_mullo_epi32;
        xor: a, b => a ^ b, _mm256_xor_si256;
        and: a, b => a & b, _mm256_and_si256;
        min: a, b => if a < b { a } else { b }, _mm256_min_epi32;
        max: a, b => if a > b { a } else { b }, _mm256_max_epi32;
        /// All bits in lanes that are greater, else none.
        more: a, b => -i32::from(a > b), _mm256_cmpgt_epi32;
    }
    each {
        /// Shifted right with its sign.
        fn down[const BITS: i32](self) -> Self = { Self(self.0.map(|v| v >> BITS)) } or {
            Self(_mm256_srai_epi32::<BITS>(self.0))
        }
        /// Shifted right as a number without sign.
        fn down_unsigned[const BITS: i32](self) -> Self = {
            Self(self.0.map(|v| (v as u32 >> BITS) as i32))
        } or {
            Self(_mm256_srli_epi32::<BITS>(self.0))
        }
        /// Whether all are zero.
        fn is_zero(self) -> bool = { self.0 == [0; 8] } or { _mm256_testz_si256(self.0, self.0) == 1 }
        /// The quotient, truncated towards zero, of a number below 2^24 (either sign) by a positive number. Floats
        /// represent such numbers, and a quotient that is not whole lies farther below the next whole number than its
        /// rounding.
        fn quotient(self, by: Self) -> Self = { Self(std::array::from_fn(|i| self.0[i] / by.0[i])) } or {
            let (dividend, divisor) = (_mm256_cvtepi32_ps(self.0), _mm256_cvtepi32_ps(by.0));
            Self(_mm256_cvttps_epi32(_mm256_div_ps(dividend, divisor)))
        }
    }
    both {}
    registers {}
}
