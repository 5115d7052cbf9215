//! Kinds of meshes that pieces are written as, and the meshes of shapes without voxels.

use super::{
    Dress, PieceMesh,
    crumb::{crumb, is_crumb},
    original::of_solid,
    smooth, voxels,
};
use crate::shape::{CLAY, Convex, Geometry, Shape};
use std::sync::Arc;

/// Kind of mesh for pieces of voxels.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum MeshKind {
    /// The imported triangles, cut along the cracks
    Original,
    /// A surface through the octree's planes, with its edges and corners
    #[default]
    Smooth,
    /// The voxels' own faces
    Voxels,
}

kintsugi_core::names! { MeshKind: Original = "original", Smooth = "smooth", Voxels = "voxels" }

impl MeshKind {
    /// The mesh of a shape, shape space. A mesh is written as it is ([`of_solid`]); an octree alone does not contain
    /// its original, so it gives the smooth mesh instead, and a crumb a box.
    #[must_use]
    pub fn of(self, shape: &Shape) -> PieceMesh {
        let color = shape.look().surface_color.unwrap_or(CLAY);
        match (shape.geometry(), self) {
            (Geometry::Octree(octree), Self::Original | Self::Smooth) if is_crumb(octree) => crumb(octree),
            (Geometry::Octree(octree), Self::Original | Self::Smooth) => smooth(octree),
            (Geometry::Octree(octree), Self::Voxels) => voxels::voxels(octree),
            (Geometry::Mesh(solid), _) => Arc::unwrap_or_clone(of_solid(solid)),
            (Geometry::Convex(convex), _) => of_convex(convex, color),
        }
    }

    /// The same, with what the object's surface shows where the mesh is the smooth one of an octree.
    #[must_use]
    pub fn dressed(self, shape: &Shape, dress: Option<&Dress>) -> PieceMesh {
        let mut mesh = self.of(shape);
        let is_smooth = self != Self::Voxels && matches!(shape.geometry(), Geometry::Octree(_));
        if let Some(dress) = dress.filter(|_| is_smooth) {
            dress.put_on(&mut mesh);
        }
        mesh
    }
}

fn of_convex(convex: &Convex, color: [u8; 3]) -> PieceMesh {
    let (positions, triangles) = convex.indexed_triangles();
    PieceMesh::flat(positions, triangles, |_| color)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{meshes::MeshCheck, shape::Look};
    use glam::DVec3;

    #[test]
    fn other_geometries_are_closed_outward_and_have_their_volumes() {
        let look = Look { surface_color: Some([1, 2, 3]), is_bare: true };
        let mesh = Arc::new(crate::mesh::builtin("box").unwrap());
        let solid = Shape::mesh(&mesh, 0.5, 1.0, look);
        let check = MeshCheck::of(&MeshKind::Smooth.of(&solid));
        assert!(check.holds(), "{check:?}");
        assert!((check.volume / solid.mass().volume_m3 - 1.0).abs() < 1e-6, "{check:?}");
        let corners = (0..8).map(|c| DVec3::new(f64::from(c & 1), f64::from(c >> 1 & 1), f64::from(c >> 2)));
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let cube = Convex::new(corners.collect(), faces.map(|f| f.to_vec()).to_vec()).unwrap();
        let mesh = MeshKind::Voxels.of(&Shape::convex(cube, 1.0, look));
        let check = MeshCheck::of(&mesh);
        assert!(check.holds() && (check.volume - 1.0).abs() < 1e-12, "{check:?}");
        assert_eq!((mesh.triangles.len(), mesh.corners[7][0].color), (12, [1, 2, 3]));
    }
}
