//! Meshes of pieces, of three kinds, and what must hold of them.

pub mod check;
mod crack_distance;
mod kind;
pub mod original;
mod rays;
mod report;
mod simplify;
mod smooth;
mod tree;
mod vertices;
mod voxels;
mod world_uv;

pub use check::MeshCheck;
pub use crack_distance::CrackDistance;
pub use kind::MeshKind;
pub use report::{MeshReport, SMALLEST_MESH};
pub use simplify::simplify;
pub use smooth::{smooth, smooth_with};
pub use tree::{Tagged, TriangleTree};
pub use vertices::{Primitive, primitives};
pub use world_uv::world_uv;

use glam::{DVec3, Vec3};

/// A closed mesh that faces outward, shape space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PieceMesh {
    /// Points of the surface. Triangles that meet share them, whatever they look like: closedness is a question of
    /// these alone.
    pub positions: Vec<DVec3>,
    /// Counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// What each triangle is part of.
    pub faces: Vec<Face>,
    /// What each corner of each triangle shows.
    pub corners: Vec<[Corner; 3]>,
}

/// What a triangle is part of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// Of the imported object, or of a crack.
    pub side: Side,
    /// Crack faces: the cell beyond, as a number over all breaks of its object, where known.
    pub beyond: Option<u32>,
}

/// Where a face comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The surface of the imported object.
    Outside {
        /// Index of its material.
        material: u32,
    },
    /// A crack made it.
    Inside,
}

/// What a corner of a triangle shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Unit.
    pub normal: Vec3,
    /// sRGB.
    pub color: [u8; 3],
    /// Outside: the object's own; inside: world size, 1 = 1 m of shape space.
    pub uv: [f32; 2],
}
