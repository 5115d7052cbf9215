//! Morton codes: bit i of x, y, z becomes bit 3i, 3i+1, 3i+2, so `key >> 3` is the parent and `key & 7` the octant.
//!
//! Computations use 64 bits, 16 per coordinate; octrees use 36 bits at most ([`MAX_LEVEL`](super::MAX_LEVEL)). Leaves
//! store codes in [`Keys`](super::Keys), in 32 bits if these suffice. Passes use 32 bits, 10 per coordinate
//! (`shaders/shared/octree.wgsl`), up to [`MAX_PASSES_LEVEL`](super::MAX_PASSES_LEVEL).

/// A Morton code.
pub type Key = u64;

/// Code of a cell.
#[must_use]
pub fn encode([x, y, z]: [u32; 3]) -> Key {
    spread(x) | spread(y) << 1 | spread(z) << 2
}

/// Cell of a code.
#[must_use]
pub fn decode(key: Key) -> [u32; 3] {
    [gather(key), gather(key >> 1), gather(key >> 2)]
}

fn spread(v: u32) -> Key {
    let mut v = Key::from(v) & 0xffff;
    v = (v | v << 16) & 0x0000_ff00_00ff;
    v = (v | v << 8) & 0x00f0_0f00_f00f;
    v = (v | v << 4) & 0x0c30_c30c_30c3;
    (v | v << 2) & 0x2492_4924_9249
}

fn gather(mut v: Key) -> u32 {
    v &= 0x2492_4924_9249;
    v = (v | v >> 2) & 0x0c30_c30c_30c3;
    v = (v | v >> 4) & 0x00f0_0f00_f00f;
    v = (v | v >> 8) & 0x0000_ff00_00ff;
    ((v | v >> 16) & 0xffff) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip_and_nest() {
        let corners = [[0, 0, 0], [1, 2, 3], [1023, 0, 512], [1023, 1023, 1023], [700, 300, 1]];
        let finer = [[4095, 0, 2048], [2047, 4095, 1024], [4095; 3], [0xffff; 3], [0xaaaa, 0x5555, 0x8001]];
        for p in corners.into_iter().chain(finer) {
            assert_eq!(decode(encode(p)), p);
            assert_eq!(encode(p) >> 3, encode(p.map(|v| v / 2)));
            assert_eq!(encode(p) & 7, Key::from((p[0] & 1) | (p[1] & 1) << 1 | (p[2] & 1) << 2));
        }
        assert_eq!(encode([4095; 3]), (1 << 36) - 1);
    }

    #[test]
    fn every_bit_has_its_place() {
        for bit in 0..16 {
            for axis in 0..3 {
                let mut cell = [0; 3];
                cell[axis] = 1 << bit;
                assert_eq!(encode(cell), 1 << (3 * bit + axis));
            }
        }
    }
}
