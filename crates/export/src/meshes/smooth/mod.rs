//! The *smooth* mesh of a piece: manifold dual contouring of its octree.
//!
//! In: an octree, whose leaves are the voxels that the surface touches, each with the plane of the surface in it, and a
//! cut if a crack passes through it. Out: a closed 2-manifold that faces outward. After Ju, Losasso, Schaefer & Warren,
//! *Dual contouring of Hermite data* (2002), with a vertex for each sheet of the surface (Nielson, *Dual marching
//! cubes*, 2004; Schaefer, Ju & Warren, *Manifold dual contouring*, 2007). Stages, in their order in `surface.rs`:
//!
//! 1. `sharpen`: leaves at sharp edges of the object get the planes that meet there. `walls`: leaves that hold both
//!    sides of a wall get its thickness.
//! 2. `thin`: voxels whose middle lies outside are taken away where that changes no connection. Samples of the solid
//!    are therefore the middles of voxels, and a cell of dual contouring lies round a corner of the grid.
//! 3. `faces`, `around`: faces between solid and empty voxels are dual to the edges that the surface crosses; they
//!    share a vertex where they belong to one sheet round a corner.
//! 4. `place`: vertices lie nearest to the planes of the faces round them.
//! 5. `untangle`, `touching`: where faces turned over or met, vertices go back towards their corners.
//! 6. `with_attributes`: sides, normals, colours, texture coordinates.
//!
//! A shell thinner than a voxel keeps its voxels, so it keeps its connections and gets two sides. The two pieces at a
//! crack hold opposite planes in the same voxels, so they sample the crack alike and meet in the same vertices.
//!
//! Measured at level 8 (60 seeds; planar, rough) on merged 32-bit points: no open edge, no edge of four faces, no two
//! triangles that pass through each other, nothing that faces inward, whole objects within 0.03 % of their volume.

mod bricks;
mod faces;
mod leaves;
mod place;
mod self_intersection;
mod surface;
#[cfg(test)]
mod tests;
mod untangle;

use glam::IVec3;

use super::PieceMesh;
use crate::{
    shape::Octree,
    svo::{morton::decode, unpack_cut, unpack_normal},
};
use leaves::{Leaf, Plane};
use surface::Surface;

/// The smooth mesh of a piece, shape space.
///
/// Mass is not divided along the planes of a crack (`docs/fracture.md`): a voxel shared by two pieces counts half for
/// each. So that the mesh's volume matches the piece's mass, its cracks are moved along their normals, at most by a
/// tenth of a voxel; [`smooth_with`] returns by how much, or leaves them in place.
#[must_use]
pub fn smooth(octree: &Octree) -> PieceMesh {
    smooth_with(octree, true).0
}

/// The same, with the distance by which cracks were moved outward, voxels; zero unless `meet_volume` is set.
#[must_use]
pub fn smooth_with(octree: &Octree, meet_volume: bool) -> (PieceMesh, f64) {
    let leaves = leaves_of(octree);
    let mut inside = Vec::new();
    octree.forest.visit_internal(octree.tree as usize, &mut |_, low, size| {
        inside.push((IVec3::from_array(low.map(|v| v as i32)), size as i32));
    });
    let surface = Surface::new(leaves, &inside, meet_volume.then_some(octree.mass.volume));
    (surface::with_attributes(&surface, &octree.grid), surface.crack_shift)
}

fn leaves_of(octree: &Octree) -> Vec<Leaf> {
    let leaves = &octree.forest.leaves;
    octree
        .leaves()
        .map(|i| {
            let color = leaves.colors[i];
            let at = IVec3::from_array(decode(leaves.keys.at(i)).map(|v| v as i32));
            let plane = Plane {
                normal: unpack_normal(leaves.normals[i]),
                offset: color.offset(),
                crack: color.crack(),
            };
            let cut = leaves.cuts.get(i).and_then(|word| unpack_cut(*word));
            let cut = cut.map(|(normal, offset)| Plane { normal, offset, crack: true });
            let coverage = leaves.coverage.get(i).copied().unwrap_or(1.0);
            Leaf::new(at, plane, cut, color.rgb(), coverage)
        })
        .collect()
}
