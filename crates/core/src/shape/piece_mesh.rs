//! A closed surface with attributes, in which pieces are drawn, weighed and written.
//!
//! In: meshes of pieces from several sources. Out: one list of points shared by triangles, the source of every
//! triangle, and attributes of each of its corners.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::mesh::Mesh;

/// A closed mesh that faces outward, shape space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PieceMesh {
    /// Points of the surface. Adjacent triangles share them whatever their attributes, so closedness depends only on
    /// them.
    pub positions: Vec<DVec3>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Source of each triangle.
    pub faces: Vec<Face>,
    /// Attributes of each corner of each triangle.
    pub corners: Vec<[Corner; 3]>,
}

/// Source of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// The imported surface, or a crack.
    pub side: Side,
    /// For crack faces: the cell beyond, as a number over all breaks of its object, if known.
    pub beyond: Option<u32>,
}

/// Side of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The surface of the imported object.
    Outside {
        /// Index of its material.
        material: u32,
    },
    /// A crack.
    Inside,
}

/// Attributes of a triangle's corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Unit normal.
    pub normal: Vec3,
    /// Colour, sRGB.
    pub color: [u8; 3],
    /// Texture coordinates; outside: the object's own; inside: in world size, 1 = 1 m of shape space.
    pub uv: [f32; 2],
}

impl PieceMesh {
    /// Its memory, bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.positions)
            + size_of_val(&*self.triangles)
            + size_of_val(&*self.faces)
            + size_of_val(&*self.corners)
    }

    /// These triangles with flat shading, all of them outside.
    #[must_use]
    pub fn flat(
        positions: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
        color: impl Fn(u32) -> [u8; 3] + Sync,
    ) -> Self {
        let corners = triangles
            .par_iter()
            .map(|triangle| {
                let [a, b, c] = triangle.map(|i| positions[i as usize]);
                let normal = (b - a).cross(c - a).normalize_or(DVec3::Y).as_vec3();
                triangle.map(|i| Corner { normal, color: color(i), uv: [0.0; 2] })
            })
            .collect();
        let face = Face { side: Side::Outside { material: 0 }, beyond: None };
        Self { faces: vec![face; triangles.len()], positions, triangles, corners }
    }

    /// The triangles of `mesh` with flat shading and `meters_per_unit`, with its colours, materials and texture
    /// coordinates; `color` if it has none.
    #[must_use]
    pub fn of_mesh(mesh: &Mesh, meters_per_unit: f64, color: [u8; 3]) -> Self {
        let place = |p: &[f32; 3]| DVec3::from_array(p.map(f64::from)) * meters_per_unit;
        let positions: Vec<DVec3> = mesh.positions.iter().map(place).collect();
        let own = mesh.colors.len() == positions.len();
        let there = |(_, t): &(usize, &[u32; 3])| t.iter().all(|i| (*i as usize) < positions.len());
        let (kept, triangles): (Vec<usize>, Vec<[u32; 3]>) =
            mesh.triangles.iter().enumerate().filter(there).map(|(k, t)| (k, *t)).unzip();
        let mut surface =
            Self::flat(positions, triangles, |i| if own { mesh.colors[i as usize] } else { color });
        for (at, k) in kept.into_iter().enumerate() {
            let material = mesh.triangle_material.get(k).copied().unwrap_or(0);
            surface.faces[at].side = Side::Outside { material };
            let base = mesh.triangle_material.get(k).and_then(|m| mesh.materials.get(*m as usize));
            for (corner, i) in surface.corners[at].iter_mut().zip(surface.triangles[at]) {
                corner.uv = mesh.uvs.get(i as usize).copied().unwrap_or_default();
                if let (false, Some(material)) = (own, base) {
                    corner.color = material.color;
                }
            }
        }
        surface
    }

    /// Vertices of the triangles, shape space.
    pub fn corners_of_triangles(&self) -> impl Iterator<Item = [DVec3; 3]> {
        self.triangles.iter().map(|t| t.map(|i| self.positions[i as usize]))
    }
}
