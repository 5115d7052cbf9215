//! Planes of leaves in whole numbers of 32 bits. `shaders/fracture/voronoi/surface/plane.wgsl` says the same line for
//! line, so a leaf's words come out the same on every device and here.
//!
//! A whole vector of any size is kept to 15 bits: shifted until its largest component is 2^14 to 2^15, halves away
//! from zero, with its length rounded to a whole number. Nothing leaves 32 bits:
//!
//! - vectors: components up to 2^24 (cross products of edges within a transition voxel are at most 2^19, differences
//!   of seeds 2^15, sums of normals below 2^24), so shifts are -15 to 9 and squares add up to at most 3 * 2^30;
//! - lengths: 2^14 to sqrt(3) * 2^15 < 56,756, off by half at most, 2^-15 of themselves;
//! - offsets: at most two voxels, 2^13; a product of an offset and a length is below 2^29;
//! - heights of planes: any `i32`; they are compared with the largest that count before they are shifted.
//!
//! These hold at every level up to 12. Points are counted in 2^14 a grid side, or 2^9 a transition voxel's, whatever
//! the level; finer leaves only have a smaller edge there, 4 units at level 12 and 2 in a transition voxel eight levels
//! above them, so the middle of a leaf is a whole number still.
//!
//! Rounding is half away from zero throughout: the two sides of a crack see opposite planes, to the bit.

use glam::{IVec3, UVec3};

/// A plane through a leaf, or near it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    /// Out of the object; largest component 2^14 to 2^15.
    pub normal: IVec3,
    /// Length of the normal, rounded.
    pub length: u32,
    /// Signed distance from the leaf's centre along the normal, 1/4096 voxel, within two voxels.
    pub offset: i32,
}

/// Units of an offset in a voxel.
pub const VOXEL: i32 = 1 << VOXEL_BITS;
/// The same number in bits.
pub const VOXEL_BITS: i32 = 12;
/// The largest offset.
pub const FARTHEST: u32 = 2 << VOXEL_BITS;

/// A whole vector rounded to 15 bits: about `vector` * 2^shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaled {
    /// Largest component 2^14 to 2^15; (0, 0, 2^15) for a zero vector.
    pub vector: IVec3,
    /// Its length, rounded.
    pub length: u32,
    /// -15 to 9; 0 for a zero vector.
    pub shift: i32,
}

/// Square root, rounded to the nearest whole number.
#[must_use]
pub fn root(square: u32) -> u32 {
    // Exact in 64-bit floats: no root of a whole number comes nearer to a half than they can tell.
    f64::from(square).sqrt().round() as u32
}

impl Scaled {
    /// Rounds a vector with components up to 2^24.
    #[must_use]
    pub fn new(vector: IVec3) -> Self {
        let size = vector.abs().as_uvec3();
        let largest = size.max_element();
        if largest == 0 {
            return Self { vector: IVec3::new(0, 0, 1 << 15), length: 1 << 15, shift: 0 };
        }
        let shift = 17 - (largest - 1).leading_zeros() as i32;
        let scaled = if shift > 0 {
            (size + UVec3::splat(1 << (shift - 1))) >> shift.unsigned_abs()
        } else {
            size << shift.unsigned_abs()
        };
        Self { vector: scaled.as_ivec3() * vector.signum(), length: root(scaled.dot(scaled)), shift }
    }
}

/// `numerator` * 2^shift / `denominator`, rounded and at most [`FARTHEST`]; the denominator is a length (1 to
/// 56,756), the shift -14 to 31.
#[must_use]
pub fn quotient(numerator: u32, shift: i32, denominator: u32) -> u32 {
    // A denominator takes 3 bits more (2^13 * 56,756 * 8 < 2^32); what a numerator loses beyond them is below the precision.
    let numerator = numerator >> (-3 - shift).max(0);
    let denominator = denominator << (-shift).clamp(0, 3);
    let left = shift.max(0);
    let most = FARTHEST * denominator;
    if numerator > most >> left {
        return FARTHEST;
    }
    ((numerator << left) + denominator / 2) / denominator
}

/// `value` / `step`, rounded, halves away from zero.
fn rounded(value: i32, step: i32) -> i32 {
    (value.abs() + step / 2) / step * value.signum()
}

/// Octahedral coordinates of a normal with components up to 2^15, in whole `steps` from -`steps` to `steps`.
fn to_octahedral(normal: IVec3, steps: u32) -> [i32; 2] {
    let size = normal.abs().as_uvec3();
    let sum = (size.x + size.y + size.z).max(1);
    let part = |v: u32| ((steps * v + sum / 2) / sum) as i32;
    let (x, y) = (part(size.x), part(size.y));
    let fold = steps as i32;
    let (x, y) = if normal.z < 0 { (fold - y, fold - x) } else { (x, y) };
    let signed = |v: i32, like: i32| if like < 0 { -v } else { v };
    [signed(x, normal.x), signed(y, normal.y)]
}

/// Inverse of [`to_octahedral`], of no certain length.
fn from_octahedral(x: i32, y: i32, steps: i32) -> IVec3 {
    let z = steps - x.abs() - y.abs();
    let back = (-z).max(0);
    let inwards = |v: i32| if v < 0 { v + back } else { v - back };
    IVec3::new(inwards(x), inwards(y), z)
}

impl Plane {
    /// Through the leaf's centre, facing +z: used if nothing is known.
    pub const UP: Self = Self { normal: IVec3::new(0, 0, 1 << 15), length: 1 << 15, offset: 0 };

    fn with_offset(normal: IVec3, offset: i32) -> Self {
        let Scaled { vector, length, .. } = Scaled::new(normal);
        Self { normal: vector, length, offset }
    }

    /// The plane where dot(`normal`, x) is `height`, x counted from the leaf's centre; the leaf's edge is 2^`bits`
    /// (1 to 14) of x's units. The normal's components are at most 2^19.
    #[must_use]
    pub fn through(normal: IVec3, height: i32, bits: u32) -> Self {
        Self::by_scaled(&Scaled::new(normal), height, bits)
    }

    /// Like [`Plane::through`] with a normal already rounded to 15 bits.
    #[must_use]
    pub fn by_scaled(normal: &Scaled, height: i32, bits: u32) -> Self {
        let Scaled { vector, length, shift } = *normal;
        let size = quotient(height.unsigned_abs(), VOXEL_BITS - bits as i32 - shift, length);
        Self { normal: vector, length, offset: size as i32 * height.signum() }
    }

    /// The bisector of two seeds, facing `other`; `own_distance2` is the squared distance of the leaf's centre from
    /// `own`, `edge` the leaf's, a power of two. Fixed point of the fracture (2^14 a grid side).
    #[must_use]
    pub fn bisector(own: IVec3, own_distance2: i32, other: IVec3, centre: IVec3, edge: i32) -> Self {
        let ahead = (centre - other).length_squared() - own_distance2;
        Self::through(other - own, ahead, edge.trailing_zeros() + 1)
    }

    /// A leaf's own plane, from its normal and its colour word.
    #[must_use]
    pub fn of_surface(normal: u32, color: u32) -> Self {
        // The lowest snorm is the same as the next.
        let part = |v: u32| ((v << 16) as i32 >> 16).max(-32767);
        let normal = from_octahedral(part(normal), part(normal >> 16), 32767);
        Self::with_offset(normal, (color as i32 >> 25) * (VOXEL / 64))
    }

    /// A leaf's second plane; `None` if there is none.
    #[must_use]
    pub fn of_cut(word: u32) -> Option<Self> {
        let part = |v: u32| (v << 20) as i32 >> 20;
        let normal = from_octahedral(part(word), part(word >> 12), 2047);
        (word >> 24 != 0).then(|| Self::with_offset(normal, cut_offset(word)))
    }

    /// The same plane, reversed.
    #[must_use]
    pub fn turned(self) -> Self {
        Self { normal: -self.normal, offset: -self.offset, ..self }
    }

    /// As a leaf's normal.
    #[must_use]
    pub fn normal_word(&self) -> u32 {
        let [x, y] = to_octahedral(self.normal, 32767);
        x as u32 & 0xffff | (y as u32) << 16
    }

    /// The offset as in a colour word: 1/64 voxel, 7 bits.
    #[must_use]
    pub fn color_offset(&self) -> u32 {
        let offset = rounded(self.offset, VOXEL / 64).clamp(-64, 63);
        (offset as u32 & 0x7f) << 25
    }

    /// The colour word of a crack voxel that is still without a colour.
    #[must_use]
    pub fn crack_word(&self) -> u32 {
        1 << 24 | self.color_offset()
    }

    /// As a leaf's second plane.
    #[must_use]
    pub fn cut_word(&self) -> u32 {
        let [x, y] = to_octahedral(self.normal, 2047);
        let offset = rounded(self.offset, VOXEL / 128).clamp(-127, 127) + 128;
        x as u32 & 0xfff | (y as u32 & 0xfff) << 12 | (offset as u32) << 24
    }
}

/// Offset of a leaf's second plane, 1/4096 voxel; only where there is one.
#[must_use]
pub fn cut_offset(word: u32) -> i32 {
    ((word >> 24) as i32 - 128) * (VOXEL / 128)
}

#[cfg(test)]
#[path = "plane_tests.rs"]
mod tests;
