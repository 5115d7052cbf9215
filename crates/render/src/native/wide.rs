//! What loops over lanes need: how many lanes there are, and functions that the compiler turns into vector code.
//!
//! Nothing in these functions calls or branches: powers and exponentials are polynomials.

use crate::geometry::simd::F32x8;

/// Rays that are cast at once.
pub(super) const LANES: usize = 8;

/// Dot product with one vector.
#[inline(always)]
pub(super) fn along<L: F32x8>(v: [L; 3], n: [f32; 3]) -> L {
    v[0].mul(L::splat(n[0])).add(v[1].mul(L::splat(n[1]))).add(v[2].mul(L::splat(n[2])))
}

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

/// Unlike `f32::max`, without handling of NaN: one instruction.
#[inline(always)]
pub(super) fn max(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline(always)]
pub(super) fn min(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[inline(always)]
pub(super) fn unit(x: f32) -> f32 {
    min(max(x, 0.0), 1.0)
}

/// 0 at `low`, 1 at `high`, a cubic in between.
#[inline(always)]
pub(super) fn smooth(low: f32, high: f32, x: f32) -> f32 {
    let t = unit((x - low) * (1.0 / (high - low)));
    t * t * (3.0 - 2.0 * t)
}

#[inline(always)]
pub(super) fn mix(a: f32, b: f32, share: f32) -> f32 {
    a * (1.0 - share) + b * share
}

/// 1.5 * 2^23: adding it to a small number rounds that to an integer in the low bits.
const ROUND: f32 = 12_582_912.0;

/// 2 to the power of `x`, clamped to -126..126, to a few parts in 10^7.
#[inline(always)]
pub(super) fn exp2(x: f32) -> f32 {
    let x = min(max(x, -126.0), 126.0);
    let shifted = x + ROUND;
    let f = x - (shifted - ROUND);
    // Taylor's series with its last terms fitted to [-1/2, 1/2].
    let p = 1.535_336_2e-4;
    let p = p * f + 1.339_887_4e-3;
    let p = p * f + 9.618_437e-3;
    let p = p * f + 5.550_332_5e-2;
    let p = p * f + 2.402_264_8e-1;
    let p = p * f + 6.931_472e-1;
    let p = p * f + 1.0;
    f32::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// 2 to the power of `x`, at most 126 and clamped at -126, to one part in 10^4, which is enough for a weight.
#[inline(always)]
pub(super) fn short_exp2(x: f32) -> f32 {
    let x = max(x, -126.0);
    let shifted = x + ROUND;
    let f = x - (shifted - ROUND);
    let p = 5.517_167e-2;
    let p = p * f + 2.426_111_3e-1;
    let p = p * f + 6.932_61e-1;
    let p = p * f + 9.999_281e-1;
    f32::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// Logarithm to base 2 of a positive normal number, to a few parts in 10^7.
#[inline(always)]
pub(super) fn log2(x: f32) -> f32 {
    // Mantissa between sqrt(1/2) and sqrt(2).
    let bits = x.to_bits() as i32;
    let exponent = bits.wrapping_sub(0x3f35_04f3) >> 23;
    let m = f32::from_bits(bits.wrapping_sub(exponent << 23) as u32);
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let p = 2.0 / 9.0 * s2 + 2.0 / 7.0;
    let p = p * s2 + 2.0 / 5.0;
    let p = p * s2 + 2.0 / 3.0;
    let p = p * s2 + 2.0;
    exponent as f32 + s * p * std::f32::consts::LOG2_E
}

/// `x` to the power of `a`, for positive `x`.
#[inline(always)]
pub(super) fn power(x: f32, a: f32) -> f32 {
    exp2(a * log2(x))
}

/// Reciprocal square root, to the last bits.
#[inline(always)]
pub(super) fn over_root(x: f32) -> f32 {
    1.0 / x.sqrt()
}

/// Converts linear light to sRGB.
#[inline(always)]
pub(super) fn srgb_from_linear(c: f32) -> f32 {
    let curve = 1.055 * power(max(c, 1e-8), 1.0 / 2.4) - 0.055;
    if c <= 0.003_130_8 { 12.92 * c } else { curve }
}

/// Converts 0..=1 to a byte.
#[inline(always)]
pub(super) fn byte(x: f32) -> u32 {
    (x * 255.0 + ROUND).to_bits() & 0xff
}

/// The unit vector of two snorm halves of a word: `normal_unpack` in `shaders/shared/octree.wgsl`.
#[inline(always)]
pub(super) fn normal_of(word: u32) -> [f32; 3] {
    let x = max(((word << 16) as i32 >> 16) as f32 / 32767.0, -1.0);
    let y = max((word as i32 >> 16) as f32 / 32767.0, -1.0);
    from_octahedral(x, y)
}

/// The normal of a leaf's second plane and its offset, voxels; meaningless unless [`has_cut`].
#[inline(always)]
pub(super) fn cut_of(word: u32) -> ([f32; 3], f32) {
    let x = ((word << 20) as i32 >> 20) as f32 / 2047.0;
    let y = ((word << 8) as i32 >> 20) as f32 / 2047.0;
    (from_octahedral(x, y), ((word >> 24) as i32 - 128) as f32 / 128.0)
}

/// Whether a leaf's cut word contains a second plane.
#[inline(always)]
pub(super) fn has_cut(word: u32) -> bool {
    word >> 24 != 0
}

#[inline(always)]
fn from_octahedral(x: f32, y: f32) -> [f32; 3] {
    let z = 1.0 - x.abs() - y.abs();
    let t = max(-z, 0.0);
    let x = x - if x >= 0.0 { t } else { -t };
    let y = y - if y >= 0.0 { t } else { -t };
    let scale = over_root(x * x + y * y + z * z);
    [x * scale, y * scale, z * scale]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_near_the_library_s() {
        for i in 0..4000 {
            let x = -20.0 + i as f32 * 0.01;
            assert!((exp2(x) / x.exp2() - 1.0).abs() < 1e-6, "2^{x}: {} {}", exp2(x), x.exp2());
            assert!((short_exp2(x) / x.exp2() - 1.0).abs() < 1.2e-4, "2^{x}: {}", short_exp2(x));
            let x = (i as f32 * 0.004 + 1e-7) * 1.7;
            assert!((log2(x) - x.log2()).abs() < 2e-6 * x.log2().abs().max(0.2), "log2 {x}: {}", log2(x));
            assert!((power(x, 1.22) - x.powf(1.22)).abs() <= 4e-6 * x.powf(1.22), "{x}");
        }
        assert!(exp2(-1e9) < 1e-37 && exp2(-1e9) >= 0.0);
        assert_eq!((0..=255u8).find(|b| byte(f32::from(*b) / 255.0) != u32::from(*b)), None);
    }

    #[test]
    fn normals_are_unpacked_as_the_format_says() {
        for word in (0..100_000u32).map(|i| i.wrapping_mul(0x9e37_79b1)) {
            let [x, y, z] = normal_of(word);
            let wanted = crate::svo::unpack_normal(word);
            // -32768 is not clamped here.
            assert!((glam::Vec3::new(x, y, z) - wanted).length() < 1e-4, "{word:x}: {x} {y} {z}, {wanted}");
            let (normal, offset) = cut_of(word);
            let wanted = crate::svo::unpack_cut(word);
            assert_eq!(has_cut(word).then_some((glam::Vec3::from(normal), offset)), wanted, "{word:x}");
        }
    }
}
