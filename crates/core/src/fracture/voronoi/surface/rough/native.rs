//! Rough surfaces on the processor's cores: what the passes of `rough/pass.rs` do below the transition level.
//! [`RoughCracks`] follows the triangles of coarser voxels; where the leaves are the transition voxels,
//! [`RoughLeaves`] makes one voxel a leaf.
//!
//! The side of a point of a crossed voxel that no triangle passes through: the same as `rough/sides.wgsl`.
//!
//! # One transition voxel with its separation points and triangles
//!
//! ```text
//! corner c          at (c & 1, c >> 1 & 1, c >> 2)
//! edge  4 axis + k  along `axis`; k & 1 and k >> 1 are its places on the next axis and the one after (cyclic: x,
//! y, z, x) face  2 axis + s  normal to `axis`, on its low (0) or high (1) side triangle 2 edge + s   edge point,
//! face point, voxel point; its face is normal to the next axis after the edge's (s = 0) or the one
//!                   after that (s = 1)
//! ```

use glam::IVec3;

use super::{
    CrackUniform, UNITS,
    facets::Facets,
    points::{Corners, Cracking},
};
use crate::{
    fracture::voronoi::{
        descent::native::LeafWords,
        surface::{
            leaf_voxels::LeafVoxels,
            refine::{Asked, Crossed, Gets, Refined, RefinedCracks, SharedLeaf, ranks_of},
        },
    },
    geometry::set_bits,
};

/// Triangles through the voxels of a level above the leaves.
pub(in crate::fracture) type RoughCracks = RefinedCracks<RoughVoxel>;

/// A crossed voxel and its objects.
pub(in crate::fracture) struct RoughVoxel {
    voxel: TransitionVoxel,
    slots: Vec<u32>,
    /// Per triangle the ranks of its sides, a bit each.
    sides: [u8; 24],
    triangles: u32,
    votes: bool,
}

impl RoughVoxel {
    fn rank_of(&self, object: u32) -> usize {
        self.slots.partition_point(|known| *known < object)
    }
}

impl Refined for RoughVoxel {
    type Near = Facets;

    fn of(corners: &Corners, words: &CrackUniform) -> Self {
        let voxel = corners.separate(words);
        let (slots, ranks) = ranks_of(&voxel.objects);
        let mut sides = [0; 24];
        let mut triangles = 0;
        for (bit, side) in sides.iter_mut().enumerate() {
            if voxel.edge_points[bit / 2].is_some() {
                let ends = edge_corners(bit / 2);
                *side = ends.iter().fold(0, |set, corner| set | 1 << ranks[*corner]);
                triangles |= 1 << bit;
            }
        }
        Self { voxel, slots, sides, triangles, votes: words.votes != 0 }
    }

    fn remember(&self, facets: &mut Facets) {
        facets.fill(&self.voxel);
    }

    fn copies(&self, facets: &Facets, crack: &Cracking, leaf: &SharedLeaf, put: impl FnMut(u32, LeafWords)) {
        let taking = (0..).zip(&self.slots).filter(|(rank, _)| leaf.gets.takes >> rank & 1 == 1);
        facets.copies(&crack.source.leaves, leaf, taking.map(|(_, slot)| *slot), put);
    }
}

impl Crossed for RoughVoxel {
    fn slots(&self) -> &[u32] {
        &self.slots
    }

    fn corners(&self, bit: usize) -> [IVec3; 3] {
        let face = edge_faces(bit / 2)[bit % 2];
        let point = |point: Option<[i32; 3]>| IVec3::from_array(point.unwrap_or_default());
        [
            point(self.voxel.edge_points[bit / 2]),
            point(self.voxel.face_points[face]),
            self.voxel.voxel_point.into(),
        ]
    }

    fn triangles(&self) -> u32 {
        self.triangles
    }

    fn gets(&self, of: &Asked) -> [Gets; 8] {
        let untouched = !of.touched_by(u32::MAX) & 0xff;
        let voting = if self.votes { of.solid & !of.internal } else { 0 };
        let mut all = [Gets::default(); 8];
        of.each_part(untouched, |part, octant| {
            let held = 1 << self.rank_of(cone_object(&self.voxel, of.centre(octant)));
            for octant in (0..8).filter(|octant| part >> octant & 1 == 1) {
                all[octant as usize].holds = held;
            }
        });
        for octant in 0..8 {
            let gets = &mut all[octant as usize];
            let votes = voting >> octant & 1 == 1;
            let left = of.touching[octant as usize];
            if votes && !of.are_leaves {
                *gets = Gets { takes: of.alive, ..Gets::default() };
            } else if votes && left == 0 {
                gets.holds = 1 << self.rank_of(elected_object(&self.voxel, of.centre(octant)));
            } else {
                set_bits(left).for_each(|t| gets.takes |= self.sides[t as usize]);
            }
        }
        all
    }
}

/// Triangles through the leaves.
pub(in crate::fracture) type RoughLeaves = LeafVoxels<RoughVoxel>;

/// The object whose region a point lies in: the regions are cones over the walls, seen from the voxel point. All
/// products stay below 2^29.
pub(in crate::fracture) fn cone_object(voxel: &TransitionVoxel, p: IVec3) -> u32 {
    let v = IVec3::from_array(voxel.voxel_point);
    let d = p - v;
    let gap = |axis: usize| if d[axis] > 0 { UNITS - v[axis] } else { v[axis] };
    let mut axis = 0;
    for k in 1..3 {
        if d[k].abs() * gap(axis) > d[axis].abs() * gap(k) {
            axis = k;
        }
    }
    let side = usize::from(d[axis] > 0);
    let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
    let Some(f) = voxel.face_points[2 * axis + side] else { return voxel.objects[side << axis] };
    // Intersection of the ray with the wall, seen from the face point, times `scale`.
    let scale = d[axis].abs();
    let across = [b, c].map(|k| (v[k] - f[k]) * scale + d[k] * gap(axis));
    let rest = |k: usize, across: i32| if across > 0 { UNITS - f[k] } else { f[k] };
    let rest = [rest(b, across[0]), rest(c, across[1])];
    // The wall's edge that it hits: at an end of one axis, along the other.
    let end_of_b = across[0].abs() * rest[1] >= across[1].abs() * rest[0];
    let (ends, runs, reach) =
        if end_of_b { (across[0], across[1], rest[0]) } else { (across[1], across[0], rest[1]) };
    let (ends_axis, runs_axis) = if end_of_b { (b, c) } else { (c, b) };
    let low = side << axis | usize::from(ends > 0) << ends_axis;
    let edge = 4 * runs_axis + (low >> ((runs_axis + 1) % 3) & 1) + 2 * (low >> ((runs_axis + 2) % 3) & 1);
    let offset = voxel.edge_points[edge].map_or(0, |point| point[runs_axis]);
    let beyond = (f[runs_axis] - offset) * ends.abs() + runs * reach > 0;
    voxel.objects[low | usize::from(beyond) << runs_axis]
}

/// 2018, sec. 5.3: every triangle votes for the end of its edge on whose side the point lies; the lowest object of
/// the most voted.
pub(in crate::fracture) fn elected_object(voxel: &TransitionVoxel, p: IVec3) -> u32 {
    let mut votes = [0u32; 8];
    for triangle in voxel.triangles() {
        let [e, f, v] = triangle.points.map(IVec3::from_array);
        let normal = (f - e).cross(v - e);
        let high = normal.dot(p - e) * normal[triangle.axis].signum() > 0;
        let object = triangle.sides[usize::from(high)];
        let corner = voxel.objects.iter().position(|known| *known == object);
        votes[corner.unwrap_or(0)] += 1;
    }
    let winner = (0..8).max_by_key(|c| (votes[*c], std::cmp::Reverse(voxel.objects[*c])));
    voxel.objects[winner.unwrap_or(0)]
}

/// A crossed voxel of the transition level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransitionVoxel {
    /// Its place on the grid of the transition level.
    pub place: [u32; 3],
    /// Object of each corner.
    pub objects: [u32; 8],
    /// Edge separation points in 1/512 of the voxel's edge from its low corner; `None` if both ends belong to one
    /// object.
    pub edge_points: [Option<[i32; 3]>; 12],
    /// Face separation points; `None` if all four corners belong to one object.
    pub face_points: [Option<[i32; 3]>; 6],
    /// The voxel separation point.
    pub voxel_point: [i32; 3],
}

/// One triangle of a crack surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrackTriangle {
    /// 2 x edge + side, 0 to 23.
    pub bit: u32,
    /// Edge, face and voxel separation point, units of [`TransitionVoxel`].
    pub points: [[i32; 3]; 3],
    /// Objects of the edge's low and high end: the triangle's two sides.
    pub sides: [u32; 2],
    /// Axis of the edge. The plane is never parallel to it, so the sign of the normal there gives the side.
    pub axis: usize,
}

/// Low and high corner of an edge.
#[must_use]
pub fn edge_corners(edge: usize) -> [usize; 2] {
    let (axis, k) = (edge / 4, edge % 4);
    let low = (k & 1) << ((axis + 1) % 3) | (k >> 1) << ((axis + 2) % 3);
    [low, low | 1 << axis]
}

/// The two faces at an edge.
#[must_use]
pub fn edge_faces(edge: usize) -> [usize; 2] {
    let (axis, k) = (edge / 4, edge % 4);
    [2 * ((axis + 1) % 3) + (k & 1), 2 * ((axis + 2) % 3) + (k >> 1)]
}

impl TransitionVoxel {
    /// Its triangles by ascending bit.
    pub fn triangles(&self) -> impl Iterator<Item = CrackTriangle> + '_ {
        (0..24).filter_map(move |bit: usize| {
            let edge = bit / 2;
            let edge_point = self.edge_points[edge]?;
            let face_point = self.face_points[edge_faces(edge)[bit % 2]]?;
            Some(CrackTriangle {
                bit: bit as u32,
                points: [edge_point, face_point, self.voxel_point],
                sides: edge_corners(edge).map(|corner| self.objects[corner]),
                axis: edge / 4,
            })
        })
    }

    /// A point of this voxel in leaf units of a grid of `leaf_level`, the voxel being of level `transition`.
    #[must_use]
    pub fn in_grid(&self, point: [i32; 3], transition: u32, leaf_level: u32) -> [f64; 3] {
        let edge = f64::from(1u32 << (leaf_level - transition));
        [0, 1, 2].map(|a| (f64::from(self.place[a]) + f64::from(point[a]) / f64::from(UNITS)) * edge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_corners_and_faces_fit_together() {
        for edge in 0..12 {
            let [low, high] = edge_corners(edge);
            assert_eq!(low ^ high, 1 << (edge / 4));
            assert!(low < high);
            for face in edge_faces(edge) {
                let (axis, side) = (face / 2, face % 2);
                assert_ne!(axis, edge / 4);
                assert!([low, high].iter().all(|corner| corner >> axis & 1 == side));
            }
        }
        for face in 0..6 {
            assert_eq!((0..12).filter(|e| edge_faces(*e).contains(&face)).count(), 4);
        }
    }
}
