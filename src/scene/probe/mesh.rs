//! The place on a mesh that a probe was put on.
//!
//! In: a body that is a mesh, a point of its surface or inside. Out: fields of a probe beside those of the voxel that
//! stands in for the place. The tree over the mesh's triangles finds the nearest one.

use glam::DVec3;
use serde::Serialize;

use crate::shape::{Shape, Side};

/// A point that lies farther from the surface than this share of the longest side is on no triangle.
const ON: f64 = 1e-5;

/// What a mesh has at a probed place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProbeMesh {
    /// Whether the voxel, its kind, node, Morton code, coverage and planes are of an octree that stands in for the
    /// surface: always true.
    pub voxel_stands_in: bool,
    /// Mass of the piece, kg.
    pub mass_kg: f64,
    /// Volume of the piece, m^3.
    pub volume_m3: f64,
    /// The triangle of the surface, by its index in the mesh of the piece.
    pub triangle: Option<u32>,
    /// Whether that triangle is part of a crack or of the outside.
    pub face: Option<ProbeFace>,
    /// Unit normal of that triangle, outward, axes of the object.
    pub normal: Option<[f64; 3]>,
    /// The cell beyond a triangle of a crack, as a number over all breaks of its object.
    pub beyond: Option<u32>,
}

/// The side of a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProbeFace {
    /// A crack face.
    Crack,
    /// The surface that the object was imported with.
    Outside,
}

impl ProbeMesh {
    /// What a shape has at a point (shape space, m); `None` of a shape that is no mesh.
    #[must_use]
    pub fn at(shape: &Shape, point: DVec3) -> Option<Self> {
        let solid = shape.as_mesh()?;
        let surface = solid.surface();
        let nearest = solid.nearest_triangle(point).filter(|(far, _)| *far <= ON * shape.longest_side_m());
        let hit = nearest.map(|(_, index)| index);
        let face = hit.and_then(|hit| surface.faces.get(hit as usize));
        let normal = hit.and_then(|hit| {
            let corners = surface.triangles.get(hit as usize)?;
            let [a, b, c] = corners.map(|corner| surface.positions[corner as usize]);
            (b - a).cross(c - a).try_normalize()
        });
        Some(Self {
            voxel_stands_in: true,
            mass_kg: shape.mass().kg,
            volume_m3: shape.mass().volume_m3,
            triangle: hit,
            face: face.map(|face| match face.side {
                Side::Inside | Side::Later(_) => ProbeFace::Crack,
                Side::Outside { .. } => ProbeFace::Outside,
            }),
            normal: normal.map(|normal| normal.to_array()),
            beyond: face.and_then(|face| face.beyond),
        })
    }
}
