//! One transition voxel with its separation points and triangles.
//!
//! ```text
//! corner c          at (c & 1, c >> 1 & 1, c >> 2)
//! edge  4 axis + k  along `axis`; k & 1 and k >> 1 are its places on the next axis and the one after (cyclic: x,
//! y, z, x) face  2 axis + s  normal to `axis`, on its low (0) or high (1) side triangle 2 edge + s   edge point,
//! face point, voxel point; its face is normal to the next axis after the edge's (s = 0) or the one
//!                   after that (s = 1)
//! ```

use super::UNITS;

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
