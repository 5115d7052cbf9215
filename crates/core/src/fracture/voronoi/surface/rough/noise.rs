//! Random numbers of crack surfaces, in whole numbers: the same as `rough/noise.wgsl` (2018, sec. 5.2: a procedural
//! value for every vertex).

use super::CrackUniform;
use crate::fracture::UNIT_BITS;

/// A random word of a lattice point.
pub(in crate::fracture) fn hash(p: [u32; 3], salt: u32) -> u32 {
    let stirred = p.iter().fold(salt, |h, v| {
        let h = (h ^ v).wrapping_mul(0x9e37_79b1);
        let h = (h ^ h >> 15).wrapping_mul(0x85eb_ca77);
        h ^ h >> 13
    });
    let h = stirred.wrapping_mul(0xc2b2_ae3d);
    h ^ h >> 16
}

fn mix(a: u32, b: u32, t: u32) -> u32 {
    (a * (256 - t) + b * t) >> 8
}

/// Value noise, 0 to 255; `p` in fixed point, `frequency` lattice cells a grid side.
fn value_noise(p: [u32; 3], frequency: u32, salt: u32) -> u32 {
    let scaled = p.map(|v| v * frequency);
    let cell = scaled.map(|v| v >> UNIT_BITS);
    let smooth = scaled.map(|v| {
        let t = (v & ((1 << UNIT_BITS) - 1)) >> 6;
        (t * t * (768 - 2 * t)) >> 16
    });
    let at = |x: u32, y: u32, z: u32| hash([cell[0] + x, cell[1] + y, cell[2] + z], salt) >> 24;
    let row = |y: u32, z: u32| mix(at(0, y, z), at(1, y, z), smooth[0]);
    let sheet = |z: u32| mix(row(0, z), row(1, z), smooth[1]);
    mix(sheet(0), sheet(1), smooth[2])
}

/// Weight of a corner of the transition grid, 0 to 255; `salt` is that of the words or another noise's.
pub(in crate::fracture) fn weight(p: [u32; 3], words: &CrackUniform, salt: u32) -> i32 {
    let layer = |octave: u32| {
        let salt = salt.wrapping_add(octave.wrapping_mul(0x3c6e_f372));
        value_noise(p, words.frequency << octave, salt) << (words.octaves - 1 - octave)
    };
    ((0..words.octaves).map(layer).sum::<u32>() / ((1 << words.octaves) - 1)) as i32
}

/// -1 to 1 times `reach`, from one byte of a random word.
pub(in crate::fracture) fn stray(random: u32, byte: usize, reach: i32) -> i32 {
    (((random >> (8 * byte) & 0xff) as i32 - 128) * reach) / 128
}
