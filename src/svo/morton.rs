//! Morton codes: bit i of x, y, z becomes bit 3i, 3i+1, 3i+2, so `key >> 3` is the parent and `key & 7` the octant.
//!
//! 10 bits a coordinate fit a `u32`. Everything above calls these functions, so a wider key is a change in
//! this file and in
//! `shaders/shared/octree.wgsl`.

/// A Morton code.
pub type Key = u32;

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

fn spread(mut v: u32) -> u32 {
    v &= 0x3ff;
    v = (v | v << 16) & 0x0300_00ff;
    v = (v | v << 8) & 0x0300_f00f;
    v = (v | v << 4) & 0x030c_30c3;
    (v | v << 2) & 0x0924_9249
}

fn gather(mut v: u32) -> u32 {
    v &= 0x0924_9249;
    v = (v | v >> 2) & 0x030c_30c3;
    v = (v | v >> 4) & 0x0300_f00f;
    v = (v | v >> 8) & 0x0300_00ff;
    (v | v >> 16) & 0x3ff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip_and_nest() {
        for p in [[0, 0, 0], [1, 2, 3], [1023, 0, 512], [1023, 1023, 1023], [700, 300, 1]] {
            assert_eq!(decode(encode(p)), p);
            assert_eq!(encode(p) >> 3, encode(p.map(|v| v / 2)));
            assert_eq!(encode(p) & 7, (p[0] & 1) | (p[1] & 1) << 1 | (p[2] & 1) << 2);
        }
    }
}
