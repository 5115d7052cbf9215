//! Planes of the leaves of a crossed voxel, from the nearest triangles, like `rough/attributes.wgsl`.

use glam::IVec3;

use super::{TransitionVoxel, nearest::NearTriangle, voxel::edge_corners};
use crate::{
    fracture::voronoi::{
        descent::native::LeafWords,
        octrees::NO_LEAF,
        surface::plane::{Plane, cut_offset},
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
    /// Those that there are.
    pub all: u32,
}

/// A leaf whose copies are written.
pub(in crate::fracture) struct ShownLeaf<'a> {
    pub leaves: &'a Leaves,
    /// Leaf of the source, where it has one.
    pub source: Option<usize>,
    /// Triangles that touch it.
    pub touched: u32,
    pub centre: IVec3,
    /// Bits of its edge.
    pub bits: u32,
    /// Colour of crack voxels.
    pub paint: u32,
}

impl Default for Facets {
    fn default() -> Self {
        Self { facets: [Facet::NONE; 24], all: 0 }
    }
}

impl Facets {
    pub fn fill(&mut self, voxel: &TransitionVoxel) {
        self.all = 0;
        for triangle in voxel.triangles() {
            let near = NearTriangle::new(triangle.points.map(IVec3::from_array));
            let edge = triangle.bit as usize / 2;
            let sides = edge_corners(edge).map(|corner| voxel.objects[corner]);
            let out_of_high = near.normal[triangle.axis] <= 0;
            self.facets[triangle.bit as usize] = Facet { triangle: near, out_of_high, sides };
            self.all |= 1 << triangle.bit;
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
        leaf: &ShownLeaf<'_>,
        slots: impl Iterator<Item = u32>,
        mut put: impl FnMut(u32, LeafWords),
    ) {
        let ShownLeaf { leaves, source, touched, centre, bits, paint } = *leaf;
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
