//! The kinds of crack surface: the bisector plane, a rough surface through the voxels of a coarser level, or two such
//! surfaces with a gap of dust between them. `boundary_set` writes the voxels of all three, [`plane`] is the
//! arithmetic of their planes.

pub(in crate::fracture) mod boundary_set;
pub mod dusty;
pub(in crate::fracture) mod leaf_voxels;
pub mod planar;
pub mod plane;
#[cfg(test)]
mod plane_parity;
#[cfg(test)]
pub(in crate::fracture) mod random;
pub(in crate::fracture) mod refine;
pub mod rough;

use crate::{
    fracture::UNIT_BITS,
    svo::{Key, morton},
};

/// The middle of a leaf, fixed point.
pub(in crate::fracture) fn leaf_centre(key: Key, level: u32) -> [i32; 3] {
    let bits = UNIT_BITS - level;
    morton::decode(key).map(|v| (v << bits) as i32 + ((1 << bits) >> 1))
}
