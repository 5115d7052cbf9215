//! What the leaves of a crossed voxel show: planes of the nearest triangles, as `rough/attributes.wgsl` has them.

use glam::IVec3;

use super::{TransitionVoxel, nearest::triangle_distance_by, voxel::edge_corners};
use crate::{
    fracture::voronoi::{
        descent::native::LeafWords,
        octrees::NO_LEAF,
        surface::plane::{Plane, Scaled, VOXEL_BITS, cut_offset, quotient},
    },
    svo::Leaves,
};

/// A triangle as its leaves need it.
#[derive(Clone, Copy)]
struct Facet {
    points: [IVec3; 3],
    /// Out of the object at the low end of its edge.
    out: IVec3,
    scaled: Scaled,
    /// Of the plane, along `out`, from the voxel's low corner.
    height: i32,
    /// Objects at the low and the high end of its edge.
    sides: [u32; 2],
}

impl Facet {
    const NONE: Self = Self {
        points: [IVec3::ZERO; 3],
        out: IVec3::ZERO,
        scaled: Scaled { vector: IVec3::ZERO, length: 1, shift: 0 },
        height: 0,
        sides: [0; 2],
    };

    /// The plane as the object on a side sees it.
    fn plane(&self, side: usize, centre: IVec3, bits: u32) -> Plane {
        let height = self.height - self.out.dot(centre);
        let Scaled { vector, length, shift } = self.scaled;
        let size = quotient(height.unsigned_abs(), VOXEL_BITS - bits as i32 - shift, length) as i32;
        let plane = Plane { normal: vector, length, offset: size * height.signum() };
        if side == 0 { plane } else { plane.turned() }
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
            let points = triangle.points.map(IVec3::from_array);
            let normal = (points[1] - points[0]).cross(points[2] - points[0]);
            let out = normal * normal[triangle.axis].signum();
            let edge = triangle.bit as usize / 2;
            let sides = edge_corners(edge).map(|corner| voxel.objects[corner]);
            let height = out.dot(points[0]);
            self.facets[triangle.bit as usize] =
                Facet { points, out, scaled: Scaled::new(out), height, sides };
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

    /// How far the points of one triangle stand out before the plane of another, seen from the object on a side of
    /// that: the most and the least, times the normal's length.
    fn before(&self, bit: usize, other: usize, side: usize) -> [i32; 2] {
        let Facet { out, height, .. } = self.facets[other];
        let heights = self.facets[bit].points.map(|p| {
            let above = out.dot(p) - height;
            if side == 0 { above } else { -above }
        });
        let [a, b, c] = heights;
        [a.max(b).max(c), a.min(b).min(c)]
    }

    /// Whether an object is what lies behind both triangles.
    fn is_ridge(&self, bit: usize, other: usize, object: u32) -> bool {
        let side = |bit: usize| usize::from(self.facets[bit].sides[1] == object);
        let a = self.before(bit, other, side(other));
        if a[0] > 0 {
            return false;
        }
        let b = self.before(other, bit, side(bit));
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
        Self::each(touched, |bit| {
            let Facet { points, out, scaled, .. } = &self.facets[bit];
            // The distance is the same, whichever way the normal points, if the corners go round it the same way.
            distances[bit] = triangle_distance_by(points.map(|p| p - centre), *out, scaled, bits);
        });
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
            let side = |bit: usize| usize::from(self.facets[bit].sides[1] == object);
            let seen = |bit: usize| self.facets[bit].plane(side(bit), centre, bits);
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
