//! Tells the crack faces of a piece apart where its breaks opened different materials.
//!
//! In: a mesh, the octree of the piece, the materials of its breaks, and their numbers in the object. Out: the mesh, with
//! [`Side::Later`] on the faces that a break with another material made. A face of a mesh that is made of voxels has the
//! material of the crack voxel behind it; any other face the one whose colours its corners have.

use glam::DVec3;

use super::{PieceMesh, Side, relief::units_per_metre};
use crate::{
    fracture::{Insides, UNIT_BITS},
    shape::Octree,
};

/// How far behind a face its voxel is looked for, voxels, in this order.
const BEHIND: [f64; 4] = [0.5, 0.1, 0.9, -0.4];

/// Tells faces apart; `numbers` are those of [`Insides::all`], 0 for what [`Side::Inside`] shows. `of_voxels`: whether the mesh
/// was made of the octree's voxels.
pub fn tell_apart(
    mesh: &mut PieceMesh,
    (octree, of_voxels): (&Octree, bool),
    (insides, numbers): (&Insides, &[u8]),
) {
    let units = units_per_metre(&octree.grid);
    let PieceMesh { positions, triangles, faces, corners, .. } = mesh;
    for ((triangle, face), corners) in triangles.iter().zip(faces.iter_mut()).zip(corners.iter()) {
        if face.side != Side::Inside {
            continue;
        }
        let at = triangle.map(|v| positions[v as usize]);
        let of_corners = || {
            [0, 1, 2].map(|k| {
                let point = ((at[k] - octree.grid.origin) * units).round();
                (corners[k].color, point.as_ivec3().to_array())
            })
        };
        let number = match of_voxels.then(|| voxel_behind(octree, at)).flatten() {
            Some(voxel) => insides.painter_of(&[voxel]),
            None => insides.painter_of(&of_corners()),
        };
        if let Some(number) = numbers.get(number).copied().filter(|number| *number != 0) {
            face.side = Side::Later(number);
        }
    }
}

/// Colour and centre (2^14 units a grid side) of the crack voxel behind a triangle, shape space.
fn voxel_behind(octree: &Octree, [a, b, c]: [DVec3; 3]) -> Option<([u8; 3], [i32; 3])> {
    let normal = (b - a).cross(c - a).normalize_or_zero();
    let middle = ((a + b + c) / 3.0 - octree.grid.origin) / octree.grid.h;
    let edge = 1i32 << (UNIT_BITS - octree.grid.level);
    BEHIND.into_iter().find_map(|depth| {
        let cell = (middle - normal * depth).floor();
        // A cell beyond the low sides of the grid becomes one beyond its high sides, which is empty as well.
        let cell = cell.to_array().map(|v| if v < 0.0 { u32::MAX } else { v as u32 });
        let leaf = octree.forest.leaf_at(octree.tree as usize, cell)?;
        let color = octree.forest.leaves.colors.get(leaf as usize).filter(|color| color.crack())?;
        Some((color.rgb(), cell.map(|v| v as i32 * edge + edge / 2)))
    })
}
