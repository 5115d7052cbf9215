//! Geometry that several crates use: boxes, trees of boxes, triangles, polygons, hulls, principal axes, exact predicates, union-find,
//! SIMD lanes, sRGB, bits of masks.
//!
//! In and out: numbers, points and lists of them. Every result is the same on every processor, bit for bit.

#![deny(missing_docs)]
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests compare with the functions of the system")
)]

mod aabb;
mod box_tree;
pub mod exact;
pub mod hull;
mod inertia;
pub mod polygon;
pub mod simd;
pub mod srgb;
pub mod triangle;
mod union_find;

pub use aabb::Aabb;
pub use box_tree::BoxTree;
pub use inertia::principal;
pub use union_find::UnionFind;

/// Numbers of the bits that are set in a mask, ascending.
#[inline(always)]
pub fn set_bits(mask: impl Into<u64>) -> impl Iterator<Item = u32> {
    let mut left = mask.into();
    std::iter::from_fn(move || {
        let bit = left.trailing_zeros();
        // Zero has 64 of them.
        (bit < u64::BITS).then(|| {
            left &= left - 1;
            bit
        })
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn bits_are_those_that_are_set_from_the_lowest_on() {
        for mask in [0u64, 1, 0b1010, 1 << 63, u64::MAX, 0x8000_0001_0000_0100] {
            let plain: Vec<u32> = (0..64).filter(|bit| mask >> bit & 1 == 1).collect();
            assert_eq!(super::set_bits(mask).collect::<Vec<_>>(), plain, "{mask:x}");
        }
        assert_eq!(super::set_bits(0x81u8).collect::<Vec<_>>(), [0, 7]);
    }
}
