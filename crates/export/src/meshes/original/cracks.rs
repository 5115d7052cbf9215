//! Crack surfaces as one triangle mesh that divides space into regions.
//!
//! In: triangles with the regions on both sides. Out: the same with their edges, at which two or more meet.

use super::exact::Point;

/// Crack surfaces: triangles that divide space into regions, without gaps within the solid's bounds.
#[derive(Clone, Debug, Default)]
pub struct Cracks {
    /// Vertices in whole units, odd.
    pub points: Vec<Point>,
    /// Counter-clockwise seen from their front.
    pub triangles: Vec<[u32; 3]>,
    /// Regions behind and in front of each triangle.
    pub sides: Vec<[u32; 2]>,
    /// The region of all space if there are no triangles.
    pub everywhere: u32,
}

/// An edge of [`Cracks`] with the triangles round it.
#[derive(Clone, Debug)]
pub struct CrackEdge {
    /// Its ends.
    pub ends: [u32; 2],
    /// Triangle, and whether it traverses the edge forwards.
    pub around: Vec<(u32, bool)>,
}

impl Cracks {
    /// All edges, and the three edges of every triangle.
    #[must_use]
    pub fn edges(&self) -> (Vec<CrackEdge>, Vec<[u32; 3]>) {
        let mut sides: Vec<(u32, u32, u32, bool)> = Vec::with_capacity(3 * self.triangles.len());
        for (t, corners) in self.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                sides.push((a.min(b), a.max(b), (3 * t + k) as u32, a < b));
            }
        }
        sides.sort_unstable();
        let mut of_triangle = vec![[0; 3]; self.triangles.len()];
        let mut list = Vec::new();
        for group in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            for side in group {
                of_triangle[side.2 as usize / 3][side.2 as usize % 3] = list.len() as u32;
            }
            let around = group.iter().map(|side| (side.2 / 3, side.3)).collect();
            list.push(CrackEdge { ends: [group[0].0, group[0].1], around });
        }
        (list, of_triangle)
    }
}

/// Hashes a number, to perturb crack vertices into general position.
#[must_use]
pub fn mix(value: u64) -> u64 {
    let a = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let b = (a ^ a >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    b ^ b >> 31
}

/// Perturbs a crack vertex by at most 2^14 units (about a hundred-thousandth of a voxel) to odd coordinates; the same
/// `name` gives the same shift.
#[must_use]
pub fn by_a_hair(point: Point, name: u64, salt: u64) -> Point {
    let random = mix(name ^ mix(salt));
    [0, 1, 2].map(|k| (point[k] + (random >> (20 * k) & 0x3fff) as i64 - 0x2000) | 1)
}
