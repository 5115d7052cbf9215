//! Prepares the mesh of a mesh piece for files.
//!
//! Methods that cut meshes identify every point by its origin, so their pieces are closed however the points are
//! rounded. In a file's 32-bit coordinates two very near points coincide, and other programs then find edges of four
//! triangles or triangles that face inward. Such short edges and thin triangles are removed, as from pieces that are
//! cut for the file alone.

use glam::DVec3;
use std::sync::Arc;

use super::{
    body::Body,
    exact::UNIT_BITS,
    slivers::{part_crowded, take_out},
    solid::Solid,
};
use crate::shape::{PieceMesh, Side, SolidMesh};

/// The surface of a piece, shape space, without edges and triangles too small for a file. A surface without cracks is
/// the imported one and stays unchanged.
#[must_use]
pub fn of_solid(solid: &SolidMesh) -> Arc<PieceMesh> {
    let surface = solid.surface();
    if !surface.faces.iter().any(|face| face.side == Side::Inside) {
        return Arc::clone(surface);
    }
    let farthest = surface.positions.iter().fold(0.0, |most: f64, p| most.max(p.abs().max_element()));
    let grid = solid.voxels().map_or(0.0, |octree| octree.grid.h * f64::from(octree.grid.side()));
    let side = grid.max(2.0 * farthest).max(f64::MIN_POSITIVE);
    let units = (1u64 << UNIT_BITS) as f64 / side;
    let whole = |p: &DVec3| (*p * units).to_array().map(|v| v.round() as i64);
    let mut body = Body {
        solid: Solid {
            points: surface.positions.iter().map(whole).collect(),
            places: surface.positions.clone(),
            triangles: surface.triangles.clone(),
        },
        faces: surface.faces.clone(),
        corners: surface.corners.clone(),
    };
    take_out(&mut body);
    part_crowded(&mut body);
    let Body { solid: Solid { places, triangles, .. }, faces, corners } = body;
    Arc::new(PieceMesh { positions: places, triangles, faces, corners })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        meshes::MeshCheck,
        shape::{Corner, Face},
    };

    /// A unit cube whose top is divided by a crack triangle so thin that it collapses to a line in 32-bit coordinates.
    fn cube(gap: f64) -> SolidMesh {
        let at = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
        let mut positions: Vec<DVec3> =
            (0..8).map(|c| at(f64::from(c & 1), f64::from(c >> 1 & 1), f64::from(c >> 2))).collect();
        positions.push(at(0.5, 1.0, 0.5));
        positions.push(at(0.5, 1.0, 0.5 + gap));
        let mut triangles: Vec<[u32; 3]> = vec![
            [0, 1, 5],
            [0, 5, 4],
            [0, 2, 3],
            [0, 3, 1],
            [4, 5, 7],
            [4, 7, 6],
            [0, 4, 6],
            [0, 6, 2],
            [1, 3, 7],
            [1, 7, 5],
        ];
        // The top: 2, 6, 7, 3 round 8 and 9, which lie close together.
        triangles.extend([[2, 8, 3], [2, 6, 9], [2, 9, 8], [6, 7, 9], [3, 8, 9], [3, 9, 7]]);
        let side = |t: usize| if t >= 10 { Side::Inside } else { Side::Outside { material: 0 } };
        let faces = (0..triangles.len()).map(|t| Face { side: side(t), beyond: None }).collect();
        let corner = Corner { normal: glam::Vec3::Y, color: [9; 3], uv: [0.0; 2] };
        let corners = vec![[corner; 3]; triangles.len()];
        let surface = PieceMesh { positions, triangles, faces, corners };
        SolidMesh::new(Arc::new(surface), Arc::from([]))
    }

    /// The check of the mesh with points merged that coincide in 32-bit coordinates.
    fn as_filed(mesh: &PieceMesh) -> MeshCheck {
        let filed: Vec<[u32; 3]> =
            mesh.positions.iter().map(|p| p.as_vec3().to_array().map(f32::to_bits)).collect();
        let first = |v: u32| filed.iter().position(|p| *p == filed[v as usize]).unwrap_or_default() as u32;
        let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(first)).collect();
        let positions: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_vec3().as_dvec3()).collect();
        MeshCheck::of_triangles(&positions, &triangles)
    }

    #[test]
    fn what_a_file_cannot_tell_apart_is_one_point() {
        let solid = cube(1e-9);
        let before = as_filed(solid.surface());
        assert!(MeshCheck::of(solid.surface()).is_manifold());
        assert!(before.flat_triangles > 0, "{before:?}");
        let mesh = of_solid(&solid);
        let after = as_filed(&mesh);
        assert!(after.holds() && (after.volume - 1.0).abs() < 1e-6, "{after:?}");
        assert_eq!(mesh.triangles.len(), solid.surface().triangles.len() - 2);
        assert_eq!(mesh.corners.len(), mesh.triangles.len());
        assert_eq!(mesh.faces.iter().filter(|face| face.side == Side::Inside).count(), 4);
    }

    #[test]
    fn what_is_large_enough_stays() {
        let solid = cube(0.01);
        assert_eq!(of_solid(&solid).triangles, solid.surface().triangles);
    }

    #[test]
    fn an_unbroken_surface_is_left_alone() {
        let mesh = cube(1e-9);
        let mut whole = PieceMesh::clone(mesh.surface());
        whole.faces.iter_mut().for_each(|face| face.side = Side::Outside { material: 0 });
        let whole = SolidMesh::new(Arc::new(whole), Arc::from([]));
        assert!(Arc::ptr_eq(&of_solid(&whole), whole.surface()));
    }
}
