//! A body that is a convex polyhedron.

use super::{MassProperties, PieceMesh, solid::nearest_hit};
use crate::geometry::{Aabb, triangle};
use glam::DVec3;

/// If a vertex is farther outside a face's plane than this share of the size, the polyhedron is not convex.
const FLAT: f64 = 1e-6;

/// Why vertices and faces do not form a convex polyhedron.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvexError {
    /// A face has fewer than three vertices, or an invalid one.
    #[error("face {face} of a convex polyhedron needs three or more vertices that exist")]
    Face {
        /// Index of the face.
        face: usize,
    },
    /// A vertex lies outside a face.
    #[error(
        "vertex {vertex} lies outside face {face}: the polyhedron is not convex, or that face is turned inside out"
    )]
    NotConvex {
        /// Index of the face.
        face: usize,
        /// Index of the vertex.
        vertex: usize,
    },
    /// It has no volume, or a number is not finite.
    #[error("a convex polyhedron needs a volume above zero and finite vertices")]
    Flat,
}

/// A convex polyhedron in metres, shape space.
#[derive(Clone, Debug, PartialEq)]
pub struct Convex {
    vertices: Vec<DVec3>,
    /// Vertex indices of each face, counter-clockwise seen from outside.
    faces: Vec<Vec<u32>>,
    bounds: Aabb,
}

impl Convex {
    /// `vertices` (m) and `faces`, counter-clockwise seen from outside.
    ///
    /// # Errors
    /// [`ConvexError`] if they do not bound a convex solid.
    pub fn new(vertices: Vec<DVec3>, faces: Vec<Vec<u32>>) -> Result<Self, ConvexError> {
        for (face, corners) in faces.iter().enumerate() {
            if corners.len() < 3 || corners.iter().any(|v| *v as usize >= vertices.len()) {
                return Err(ConvexError::Face { face });
            }
        }
        if !vertices.iter().all(|p| p.is_finite()) || vertices.is_empty() {
            return Err(ConvexError::Flat);
        }
        let bounds = Aabb::of(vertices.iter().copied());
        let convex = Self { vertices, faces, bounds };
        let slack = FLAT * bounds.size().max_element();
        for face in 0..convex.faces.len() {
            let (normal, at) = convex.plane(face);
            let outside = |p: &DVec3| normal.dot(*p - at) > slack;
            if let Some(vertex) = convex.vertices.iter().position(outside) {
                return Err(ConvexError::NotConvex { face, vertex });
            }
        }
        if convex.mass_properties(1.0).kg <= 0.0 {
            return Err(ConvexError::Flat);
        }
        Ok(convex)
    }

    /// Vertices, m.
    #[must_use]
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// Faces as vertex indices, counter-clockwise seen from outside.
    #[must_use]
    pub fn faces(&self) -> &[Vec<u32>] {
        &self.faces
    }

    /// Bounds, m.
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        self.bounds
    }

    /// Outward unit normal of a face (zero where it has no area) and a point on it.
    fn plane(&self, face: usize) -> (DVec3, DVec3) {
        let corners = &self.faces[face];
        let at = |k: usize| self.vertices[corners[k % corners.len()] as usize];
        // Newell's sum, which is correct even for three collinear vertices.
        let sum: DVec3 = (0..corners.len()).map(|k| (at(k) - at(0)).cross(at(k + 1) - at(0))).sum();
        (sum.normalize_or_zero(), at(0))
    }

    /// Vertices, m, and faces triangulated as fans.
    #[must_use]
    pub fn indexed_triangles(&self) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let fan = |face: &Vec<u32>| -> Vec<[u32; 3]> {
            let first = face.first().copied().unwrap_or_default();
            face.windows(2).skip(1).map(|edge| [first, edge[0], edge[1]]).collect()
        };
        (self.vertices.clone(), self.faces.iter().flat_map(fan).collect())
    }

    /// Faces triangulated as fans.
    pub fn triangles(&self) -> impl Iterator<Item = [DVec3; 3]> {
        self.faces.iter().flat_map(move |face| {
            let at = move |k: usize| self.vertices[face[k] as usize];
            (1..face.len() - 1).map(move |k| [at(0), at(k), at(k + 1)])
        })
    }

    /// Its faces as triangles of one colour.
    pub(super) fn surface(&self, color: [u8; 3]) -> PieceMesh {
        let fan = |face: &Vec<u32>| {
            let face = face.clone();
            (1..face.len() - 1).map(move |k| [face[0], face[k], face[k + 1]])
        };
        PieceMesh::flat(self.vertices.clone(), self.faces.iter().flat_map(fan).collect(), |_| color)
    }

    pub(super) fn mass_properties(&self, density: f64) -> MassProperties {
        MassProperties::of_triangles(self.triangles(), density)
    }

    /// The smallest ray parameter, not below 0, at which a ray meets a face.
    #[must_use]
    pub fn pick(&self, origin: DVec3, direction: DVec3) -> Option<f64> {
        nearest_hit(self.triangles(), origin, direction)
    }

    /// Distance of a point from the solid, m; 0 inside.
    #[must_use]
    pub fn distance(&self, point: DVec3) -> f64 {
        let inside = (0..self.faces.len()).all(|face| {
            let (normal, at) = self.plane(face);
            normal.dot(point - at) <= 0.0
        });
        if inside {
            return 0.0;
        }
        self.triangles().map(|t| triangle::distance(point, t)).fold(f64::INFINITY, f64::min)
    }
}
