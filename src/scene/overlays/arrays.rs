//! A fracture's internals as arrays for other programs: crack triangles with the two objects on their sides, separation
//! points, transition voxels, Voronoi faces.
//!
//! In: an [`Inside`]. Out: arrays in leaf units of its grid, in the order of the transition voxels (Morton) or of the
//! seeds. `docs/files.md` describes them.

use glam::DVec3;

use super::{CrackArrays, Inside, crack::Frame};
use crate::fracture::{crack::edge_corners, voronoi_faces};

impl CrackArrays {
    /// The arrays of a fracture.
    #[must_use]
    pub fn of(inside: &Inside) -> Self {
        let mut out = Self::default();
        let Some(frame) = Frame::of(inside) else { return out };
        for (row, voxel) in inside.voxels.iter().enumerate() {
            let [x, y, z] = voxel.place.map(|v| v as i32 * frame.edge as i32);
            out.voxels.push([x, y, z, frame.edge as i32]);
            out.objects.push(voxel.objects.map(|object| object as i32));
            let at = |point: [i64; 3]| frame.at(voxel.place, point).to_array();
            let row = row as i32;
            if let Some(dusty) = inside.dusty.get(row as usize) {
                for object in dusty.owners() {
                    let mut last = None;
                    for triangle in dusty.border(object) {
                        let [edge, _, middle] = triangle.points;
                        // The crossed edge connects the two objects.
                        let ends =
                            edge_corners(triangle.bit as usize / 2).map(|corner| voxel.objects[corner]);
                        let beyond = ends[1 - triangle.bit as usize % 2];
                        out.triangle(triangle.points.map(at), [object, beyond], row);
                        out.point(at(edge), 0, row);
                        // The triangles of a fan are consecutive and share its centre.
                        if last.replace(middle) != Some(middle) {
                            out.point(at(middle), 2, row);
                        }
                    }
                }
                continue;
            }
            for triangle in voxel.triangles() {
                let [a, b, c] = triangle.points.map(|p| at(p.map(i64::from)));
                // The objects at the low and high end of an edge along the axis.
                let along =
                    (DVec3::from(b) - DVec3::from(a)).cross(DVec3::from(c) - DVec3::from(a))[triangle.axis];
                let corners = if along < 0.0 { [a, c, b] } else { [a, b, c] };
                out.triangle(corners, triangle.sides, row);
            }
            let wide = |p: &[i32; 3]| at(p.map(i64::from));
            voxel.edge_points.iter().flatten().for_each(|p| out.point(wide(p), 0, row));
            voxel.face_points.iter().flatten().for_each(|p| out.point(wide(p), 1, row));
            out.point(wide(&voxel.voxel_point), 2, row);
        }
        out
    }

    /// The same with object numbers starting at `first`, as in a later break.
    #[must_use]
    pub fn numbered_from(mut self, first: i32) -> Self {
        self.objects.as_flattened_mut().iter_mut().for_each(|object| *object += first);
        self.triangle_cells.as_flattened_mut().iter_mut().for_each(|object| *object += first);
        self
    }

    fn triangle(&mut self, corners: [[f64; 3]; 3], cells: [u32; 2], row: i32) {
        self.triangles.push(corners);
        self.triangle_cells.push(cells.map(|cell| cell as i32));
        self.triangle_voxels.push(row);
    }

    fn point(&mut self, at: [f64; 3], kind: i32, row: i32) {
        self.points.push(at);
        self.point_kinds.push(kind);
        self.point_voxels.push(row);
    }
}

/// Faces of the Voronoi diagram inside the object's bounds, leaf units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaceArrays {
    /// Vertices of all faces, one face after the other; counter-clockwise as seen from the second seed.
    pub corners: Vec<[f64; 3]>,
    /// First vertex of each face, then the number of vertices.
    pub starts: Vec<i32>,
    /// The two seeds, the lower first.
    pub seeds: Vec<[i32; 2]>,
}

impl FaceArrays {
    /// The faces of a fracture's seeds.
    #[must_use]
    pub fn of(inside: &Inside) -> Self {
        let mut out = Self { starts: vec![0], ..Self::default() };
        for face in voronoi_faces(&inside.blueprint.pattern, inside.forest.level, inside.bounds()) {
            out.corners.extend(face.polygon.iter().map(|p| p.to_array()));
            out.starts.push(out.corners.len() as i32);
            out.seeds.push(face.seeds.map(|seed| seed as i32));
        }
        out
    }
    /// The same with seed numbers starting at `first`.
    #[must_use]
    pub fn numbered_from(mut self, first: i32) -> Self {
        self.seeds.as_flattened_mut().iter_mut().for_each(|seed| *seed += first);
        self
    }
}
