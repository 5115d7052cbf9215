//! The surface of one leaf of an octree, and whether a point of its voxel is solid.
//!
//! A leaf's solid is what of its voxel lies below its plane and below its cut (`svo/format.rs`). Its surface is the
//! part of the plane inside the voxel and below the cut, and the part of the cut inside the voxel and below the plane:
//! two convex polygons. The steps between polygons of neighbouring voxels, smaller than the planes' error, are ignored.
//! A plane that misses its voxel (stored offsets are rounded to 1/64 voxel) is moved to touch it.

use super::polygon::Polygon;
use crate::svo::{Forest, unpack_cut, unpack_normal};
use glam::DVec3;

/// Half the edge of a voxel.
const HALF: f64 = 0.5;
/// A point beyond a voxel or a plane by less than this still counts as on it, voxels.
const HAIR: f64 = 1e-9;

/// A plane `normal . x = offset`, from the middle of a voxel, voxels.
#[derive(Clone, Copy, Debug)]
pub struct LeafPlane {
    /// Outward; a unit vector as far as 32 bits go.
    pub normal: DVec3,
    /// Signed distance from the middle.
    pub offset: f64,
}

impl LeafPlane {
    /// The own plane of leaf `index`; `None` where there is no such leaf.
    #[must_use]
    pub fn of(forest: &Forest, index: usize) -> Option<Self> {
        let normal = unpack_normal(*forest.leaves.normals.get(index)?).as_dvec3();
        Some(Self { normal, offset: f64::from(forest.leaves.colors.get(index)?.offset()) })
    }

    /// Height of a point, relative to the voxel's middle, above the plane.
    fn height(&self, from_middle: DVec3) -> f64 {
        from_middle.dot(self.normal) - self.offset
    }

    /// The plane, moved to touch the voxel if it misses it.
    fn touching(self) -> Self {
        let reach = HALF * self.normal.abs().element_sum();
        Self { offset: self.offset.clamp(-reach, reach), ..self }
    }
}

/// The planes of a leaf.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// Middle of its voxel, voxels.
    pub middle: DVec3,
    /// Its own plane.
    pub plane: LeafPlane,
    /// The plane of a fracture that cut the voxel.
    pub cut: Option<LeafPlane>,
}

/// The point of a surface nearest to another, and the normal there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foot {
    /// Local space.
    pub point: DVec3,
    /// Unit, outward: of the plane that the point lies on.
    pub normal: DVec3,
    /// Distance from the query point, local units.
    pub distance: f64,
}

impl Leaf {
    /// Leaf `index` of a forest, whose voxel has the low corner `low`; `None` where there is no such leaf.
    #[must_use]
    pub fn at(forest: &Forest, index: usize, low: [u32; 3]) -> Option<Self> {
        let plane = LeafPlane::of(forest, index)?;
        let cut = forest.leaves.cuts.get(index).copied().and_then(unpack_cut);
        let cut = cut.map(|(n, offset)| LeafPlane { normal: n.as_dvec3(), offset: f64::from(offset) });
        Some(Self { middle: DVec3::from(low.map(f64::from)) + HALF, plane, cut })
    }

    /// Whether a point of the voxel is solid.
    #[must_use]
    pub fn holds(&self, p: DVec3) -> bool {
        let from_middle = p - self.middle;
        self.plane.height(from_middle) < 0.0 && self.cut.is_none_or(|cut| cut.height(from_middle) < 0.0)
    }

    /// Its surface polygons with their planes, from the voxel's middle; polygons without area are skipped.
    #[must_use]
    pub fn polygons(&self) -> [Option<(Polygon, LeafPlane)>; 2] {
        let plane = self.plane.touching();
        let of_plane = Polygon::in_voxel(plane, self.cut);
        // A cut beyond the voxel removes nothing, so it has no face there.
        let meets = |cut: &LeafPlane| cut.offset.abs() <= HALF * cut.normal.abs().element_sum();
        let of_cut = self.cut.filter(meets).map(|cut| (Polygon::in_voxel(cut, Some(self.plane)), cut));
        [Some((of_plane, plane)), of_cut].map(|face| face.filter(|(polygon, _)| polygon.has_area()))
    }

    /// Its nearest point, where it is nearer than `within`.
    #[must_use]
    pub fn nearest(&self, p: DVec3, within: f64) -> Option<Foot> {
        let from_middle = p - self.middle;
        let in_voxel = |q: DVec3| q.abs().max_element() <= HALF + HAIR;
        if self.cut.is_none() && self.plane.touching().height(from_middle).abs() >= within {
            return None;
        }
        let mut best: Option<Foot> = None;
        let faces = [(Some(self.plane.touching()), self.cut), (self.cut, Some(self.plane))];
        for (face, other) in faces {
            let Some(face) = face else { continue };
            let height = face.height(from_middle);
            let bound = best.map_or(within, |foot| foot.distance);
            if height.abs() >= bound {
                continue;
            }
            let straight = from_middle - face.normal * height;
            // The distance from the voxel, or above the other plane, is a lower bound of the distance to the face.
            let off_voxel = (straight.abs() - HALF).max(DVec3::ZERO).length();
            let aside = other.map_or(off_voxel, |o| off_voxel.max(o.height(straight)));
            if height * height + aside * aside >= bound * bound {
                continue;
            }
            let on_face = if in_voxel(straight) && other.is_none_or(|o| o.height(straight) <= HAIR) {
                Some(straight)
            } else {
                let polygon = Polygon::in_voxel(face, other);
                polygon.has_area().then(|| polygon.nearest_on_rim(straight))
            };
            let Some(q) = on_face else { continue };
            let distance = q.distance(from_middle);
            if distance < bound {
                best = Some(Foot { point: self.middle + q, normal: face.normal, distance });
            }
        }
        best
    }
}
