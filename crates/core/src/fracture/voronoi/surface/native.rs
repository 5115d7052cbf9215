//! The common part of all crack surfaces on the processor's cores.

use crate::{
    fracture::UNIT_BITS,
    svo::{Key, morton},
};

/// The middle of a leaf, fixed point.
pub(in crate::fracture) fn leaf_centre(key: Key, level: u32) -> [i32; 3] {
    let bits = UNIT_BITS - level;
    morton::decode(key).map(|v| (v << bits) as i32 + ((1 << bits) >> 1))
}
