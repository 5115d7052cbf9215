//! Planes of the leaves of a crossed voxel, from the nearest triangles, like `rough/attributes.wgsl`.
//!
//! How near a triangle is to a leaf's centre: whole numbers, 1/4096 of the leaf's edge, at most two edges. The same
//! as `shaders/fracture/voronoi/surface/rough/nearest.wgsl`.
//!
//! Corners are counted from the centre, within 512 units of it on every axis, and so are differences of corners; the
//! leaf's edge is 2^bits units (1 to 9). Lengths and areas are whole vectors kept to 15 bits
//! ([`Scaled`]), so a distance is off by about 1/4096, however far the corners are.

use glam::IVec3;

use super::{TransitionVoxel, native::edge_corners};
use crate::{
    fracture::voronoi::{
        descent::native::LeafWords,
        octrees::NO_LEAF,
        surface::{
            plane::{Plane, Scaled, VOXEL_BITS, cut_offset, quotient},
            refine::SharedLeaf,
        },
    },
    svo::Leaves,
};

/// A triangle as its leaves need it.
#[derive(Clone, Copy)]
struct Facet {
    triangle: NearTriangle,
    /// Whether its normal points out of the object at the high end of its edge.
    out_of_high: bool,
    /// Objects at the low and the high end of its edge.
    sides: [u32; 2],
}

impl Facet {
    const NONE: Self = Self { triangle: NearTriangle::NONE, out_of_high: false, sides: [0; 2] };

    /// Whether the object sees it from where its normal points to.
    fn is_turned(&self, object: u32) -> bool {
        self.out_of_high != (self.sides[1] == object)
    }

    /// The plane as the object sees it.
    fn plane(&self, object: u32, centre: IVec3, bits: u32) -> Plane {
        let plane = self.triangle.plane(centre, bits);
        if self.is_turned(object) { plane.turned() } else { plane }
    }
}

/// All triangles of one voxel.
pub(in crate::fracture) struct Facets {
    facets: [Facet; 24],
}

impl Default for Facets {
    fn default() -> Self {
        Self { facets: [Facet::NONE; 24] }
    }
}

impl Facets {
    pub fn fill(&mut self, voxel: &TransitionVoxel) {
        for triangle in voxel.triangles() {
            let near = NearTriangle::new(triangle.points.map(IVec3::from_array));
            let edge = triangle.bit as usize / 2;
            let sides = edge_corners(edge).map(|corner| voxel.objects[corner]);
            let out_of_high = near.normal[triangle.axis] <= 0;
            self.facets[triangle.bit as usize] = Facet { triangle: near, out_of_high, sides };
        }
    }

    /// Calls with every triangle of a set.
    fn each(mut set: u32, mut call: impl FnMut(usize)) {
        while set != 0 {
            call(set.trailing_zeros() as usize);
            set &= set - 1;
        }
    }

    /// Least and largest height of one triangle's points over the plane of another, as seen from an object, times the
    /// normal's length.
    fn before(&self, bit: usize, other: usize, object: u32) -> [i32; 2] {
        let NearTriangle { points, normal, .. } = self.facets[other].triangle;
        let normal = if self.facets[other].is_turned(object) { -normal } else { normal };
        let [a, b, c] = self.facets[bit].triangle.points.map(|p| normal.dot(p - points[0]));
        [a.max(b).max(c), a.min(b).min(c)]
    }

    /// Whether an object is what lies behind both triangles.
    fn is_ridge(&self, bit: usize, other: usize, object: u32) -> bool {
        let a = self.before(bit, other, object);
        if a[0] > 0 {
            return false;
        }
        let b = self.before(other, bit, object);
        b[0] <= 0 && a[1].min(b[1]) < 0
    }

    /// How many objects are sides of a set of triangles.
    fn side_count(&self, set: u32) -> u32 {
        let mut found = [0u32; 8];
        let mut count = 0;
        Self::each(set, |bit| {
            for side in self.facets[bit].sides {
                if !found[..count].contains(&side) {
                    found[count] = side;
                    count += 1;
                }
            }
        });
        count as u32
    }

    /// Calls with every object that gets a copy of a touched leaf and its words, without a key; `slots` ascending.
    pub fn copies(
        &self,
        leaves: &Leaves,
        leaf: &SharedLeaf,
        slots: impl Iterator<Item = u32>,
        mut put: impl FnMut(u32, LeafWords),
    ) {
        let SharedLeaf { source, touched, centre, bits, paint, .. } = *leaf;
        let code = (self.side_count(touched) - 1) << 28;
        let mut distances = [0u32; 24];
        let measured = if touched.is_power_of_two() { 0 } else { touched };
        Self::each(measured, |bit| distances[bit] = self.facets[bit].triangle.distance(centre, bits));
        for object in slots {
            let mut mine = 0;
            let mut first: Option<usize> = None;
            Self::each(touched, |bit| {
                if self.facets[bit].sides.contains(&object) {
                    mine |= 1 << bit;
                    if first.is_none_or(|first| distances[bit] < distances[first]) {
                        first = Some(bit);
                    }
                }
            });
            let seen = |bit: usize| self.facets[bit].plane(object, centre, bits);
            let shown = first.map_or(Plane::UP, seen);
            let words = if let Some(leaf) = source {
                let old = leaves.cuts[leaf];
                let stays = mine == 0 || old >> 24 != 0 && cut_offset(old) <= shown.offset;
                LeafWords {
                    key: 0,
                    origin: leaf as u32 | code,
                    normal: leaves.normals[leaf],
                    color: leaves.colors[leaf].0,
                    cut: if stays { old } else { shown.cut_word() },
                }
            } else {
                let mut second: Option<usize> = None;
                if let Some(first) = first {
                    Self::each(mine, |bit| {
                        let nearer = second.is_none_or(|second| distances[bit] < distances[second]);
                        if nearer && self.is_ridge(bit, first, object) {
                            second = Some(bit);
                        }
                    });
                }
                LeafWords {
                    key: 0,
                    origin: NO_LEAF | code,
                    normal: shown.normal_word(),
                    color: shown.crack_word() | paint,
                    cut: second.map_or(0, |bit| seen(bit).cut_word()),
                }
            };
            put(object, words);
        }
    }
}

/// More than the roundings of two distances can differ by, together.
pub const ROUNDING: u32 = 8;

/// Length of a vector.
fn distance_to(p: IVec3, bits: u32) -> u32 {
    if p == IVec3::ZERO {
        return 0;
    }
    let Scaled { length, shift, .. } = Scaled::new(p);
    quotient(length, VOXEL_BITS - bits as i32 + shift, 1)
}

/// Distance from a segment; `base` is b - a, kept to 15 bits.
fn segment_distance(a: IVec3, b: IVec3, base: &Scaled, bits: u32) -> u32 {
    let along = b - a;
    let foot = -a.dot(along);
    if foot <= 0 {
        return distance_to(a, bits);
    }
    if foot >= along.length_squared() {
        return distance_to(b, bits);
    }
    // Twice the area between the centre and the segment, over the segment's length.
    let area = a.cross(b);
    if area == IVec3::ZERO {
        return 0;
    }
    let over = Scaled::new(area);
    quotient(over.length, VOXEL_BITS - bits as i32 + over.shift - base.shift, base.length)
}

/// A triangle, with data that all leaves share.
#[derive(Clone, Copy, Debug)]
pub struct NearTriangle {
    /// Units from the voxel's low corner.
    pub points: [IVec3; 3],
    /// (second - first) x (third - first).
    pub normal: IVec3,
    scaled: Scaled,
    edges: [Scaled; 3],
}

impl NearTriangle {
    /// Without extent.
    pub const NONE: Self = {
        let none = Scaled { vector: IVec3::ZERO, length: 1, shift: 0 };
        Self { points: [IVec3::ZERO; 3], normal: IVec3::ZERO, scaled: none, edges: [none; 3] }
    };

    /// With its corners in units of the transition voxel.
    #[must_use]
    pub fn new(points: [IVec3; 3]) -> Self {
        let [a, b, c] = points;
        let normal = (b - a).cross(c - a);
        let edges = [b - a, c - b, a - c].map(Scaled::new);
        Self { points, normal, scaled: Scaled::new(normal), edges }
    }

    /// Its plane, seen from where its corners run counter-clockwise, for a leaf with its middle at `centre` and an edge
    /// of 2^bits.
    #[must_use]
    pub fn plane(&self, centre: IVec3, bits: u32) -> Plane {
        Plane::by_scaled(&self.scaled, self.normal.dot(self.points[0] - centre), bits)
    }

    /// Its distance from a leaf's middle.
    #[must_use]
    pub fn distance(&self, centre: IVec3, bits: u32) -> u32 {
        let [a, b, c] = self.points.map(|p| p - centre);
        let not_against = |v: IVec3| v.as_i64vec3().dot(self.normal.as_i64vec3()) >= 0;
        if not_against(a.cross(b)) && not_against(b.cross(c)) && not_against(c.cross(a)) {
            return Plane::by_scaled(&self.scaled, self.normal.dot(a), bits).offset.unsigned_abs();
        }
        let [ab, bc, ca] = &self.edges;
        let sides = [(a, b, ab), (b, c, bc), (c, a, ca)];
        sides.map(|(a, b, base)| segment_distance(a, b, base, bits)).into_iter().fold(u32::MAX, u32::min)
    }
}

#[cfg(test)]
/// Distance of the leaf's centre from a triangle, its corners counted from there.
#[must_use]
pub fn triangle_distance(corners: [IVec3; 3], bits: u32) -> u32 {
    NearTriangle::new(corners).distance(IVec3::ZERO, bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::voronoi::surface::{plane::FARTHEST, random::Random};
    use glam::DVec3;

    /// By the foot of the perpendicular where it falls inside, else the nearest point of the border.
    fn distance(corners: [DVec3; 3]) -> f64 {
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        let sides = [0, 1, 2].map(|k| (corners[k], corners[(k + 1) % 3]));
        if normal != DVec3::ZERO && sides.iter().all(|(a, b)| a.cross(*b).dot(normal) >= 0.0) {
            return corners[0].dot(normal.normalize()).abs();
        }
        let to_side = |(a, b): (DVec3, DVec3)| {
            let t = (-a).dot(b - a) / (b - a).length_squared().max(1.0);
            a.lerp(b, t.clamp(0.0, 1.0)).length()
        };
        sides.into_iter().map(to_side).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn distances_equal_those_of_floats() {
        let mut rng = Random::new(19);
        let (mut off, mut near, mut on) = (0f64, 0, 0);
        for _ in 0..300_000 {
            let bits = 1 + rng.below(9) as u32;
            // Within a voxel of 512, round a centre in it.
            let half = 1 << (bits - 1);
            let centre =
                IVec3::from_array(std::array::from_fn(|_| half * (2 * rng.below(512 >> bits) as i32 + 1)));
            let size = 9 - rng.below(9);
            let corners: [IVec3; 3] = std::array::from_fn(|_| {
                let p = IVec3::from_array(std::array::from_fn(|_| rng.below(1 << size) as i32));
                (centre + p - (1 << size) / 2).clamp(IVec3::ZERO, IVec3::splat(512)) - centre
            });
            let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
            if normal == IVec3::ZERO {
                continue;
            }
            let exact = distance(corners.map(|p| p.as_dvec3())) / f64::from(1 << bits) * 4096.0;
            let got = f64::from(triangle_distance(corners, bits));
            near += i32::from(exact < 4096.0);
            on += i32::from(got == 0.0);
            off = off.max((got - exact.min(f64::from(FARTHEST))).abs());
        }
        println!("{near} near ones, {on} that meet the centre; {off:.3} / 4096 off");
        assert!(near > 30_000 && on > 100 && off < 1.5);
    }
}
