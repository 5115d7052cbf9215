//! What all crack surfaces share on the processor's cores: places and colours of crack voxels (`paint.wgsl`).

use crate::{
    fracture::{UNIT_BITS, Volume},
    svo::{Key, morton},
};

/// The middle of a leaf, fixed point.
pub(in crate::fracture) fn leaf_centre(key: Key, level: u32) -> [i32; 3] {
    let bits = UNIT_BITS - level;
    morton::decode(key).map(|v| (v << bits) as i32 + ((1 << bits) >> 1))
}

/// Colours crack voxels.
#[derive(Default)]
pub(in crate::fracture) struct Painter;

impl Painter {
    /// The low bits of the colour word of a crack voxel with its middle at `centre`.
    pub fn color(&mut self, volume: Volume, centre: [i32; 3]) -> u32 {
        if volume.material() == 0 {
            return 0;
        }
        let [r, g, b] = volume.color_at(centre);
        u32::from(r) | u32::from(g) << 8 | u32::from(b) << 16
    }
}
