//! Crack surfaces as one triangle mesh that divides space into regions.
//!
//! In: triangles with the regions on both sides. Out: the same with their edges, at which two or more meet.
//!
//! # Voronoi cells as crack surfaces: the triangulated facets between cells of different objects
//!
//! In: a pattern, a box. Out: [`Cracks`]. The cells are those by which box cutting cuts a mesh: cut out of the box
//! exactly, every facet and every vertex once, so that neighbouring cells agree on every vertex.

use super::solid::{Point, UNIT_BITS};
use crate::fracture::{
    Pattern,
    box_cut::{Beyond, Complex, Point as Unit, Vertex},
};

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

/// The facets within the box `bounds` (low, high; seeds' units). `salt` selects the perturbation of vertices.
#[must_use]
pub fn cracks(pattern: &Pattern, [low, high]: [Unit; 2], salt: u64) -> Cracks {
    let complex = Complex::new(&pattern.seeds, low, high);
    let object = |s: u32| pattern.objects.get(s as usize).copied().unwrap_or(s);
    let unit = (1u64 << (UNIT_BITS - crate::fracture::UNIT_BITS)) as f64;
    let point = |(v, vertex): (u64, &Vertex)| -> Point {
        by_a_hair((vertex.position() * unit).to_array().map(|x| x.round() as i64), v, salt)
    };
    let points = (0..).zip(&complex.vertices).map(point).collect();
    // A seed whose cell lies outside the box has no facets, not even walls.
    let has_cell = |s: &u32| complex.facets_of.get(*s as usize).is_some_and(|facets| !facets.is_empty());
    let first = (0..pattern.seeds.len() as u32).find(has_cell).unwrap_or_default();
    let mut cracks = Cracks { points, everywhere: object(first), ..Cracks::default() };
    for facet in &complex.facets {
        let Beyond::Site(beyond) = facet.beyond else { continue };
        let sides = [facet.site, beyond].map(object);
        if sides[0] == sides[1] {
            continue;
        }
        for pair in facet.ring[1..].windows(2) {
            cracks.triangles.push([facet.ring[0], pair[0], pair[1]]);
            cracks.sides.push(sides);
        }
    }
    cracks
}
