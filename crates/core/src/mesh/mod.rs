//! Triangles: readers, built-in shapes and the health report.

use std::sync::Arc;

/// An image in memory, RGBA8 rows from the top.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texture {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// `width * height * 4` bytes, sRGB.
    pub rgba: Vec<u8>,
}

/// A surface material: a colour, optionally multiplied by a texture.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// sRGB base colour.
    pub color: [u8; 3],
    /// Base colour texture; materials may share one.
    pub texture: Option<Arc<Texture>>,
}

/// An indexed triangle mesh in its file's own units. Readers ensure that indices are valid and positions finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertex positions.
    pub positions: Vec<[f32; 3]>,
    /// Triangles as vertex indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// sRGB colour per vertex; empty if the file has none. A point's colour is vertex colour times material colour
    /// times texture.
    pub colors: Vec<[u8; 3]>,
    /// Texture coordinates per vertex, v up; empty if the file has none.
    pub uvs: Vec<[f32; 2]>,
    /// Unit normal per vertex for the file's shading; zero where it has none, empty if it has none at all.
    pub normals: Vec<[f32; 3]>,
    /// Material per triangle; empty when there are no materials.
    pub triangle_material: Vec<u32>,
    /// Materials.
    pub materials: Vec<Material>,
}

mod builtin;
pub mod digest;
mod unchecked;
mod gltf;
mod gltf_json;
mod gltf_pose;
#[cfg(test)]
mod gltf_tests;
mod health;
#[cfg(test)]
mod hostile;
mod household;
mod implicit;
mod load;
mod obj;
mod off;
mod orient;
mod paint;
mod pig;
mod ply;
mod polygonize;
mod revolve;
mod statue;
mod stl;
mod topology;
mod up;
mod vox;

pub use builtin::{BUILTIN_NAMES, builtin};
pub use health::{HealthReport, check, check_while};
pub use load::{
    Format, MeshError, allow_references_outside, checked, format_of, load, load_bytes, load_bytes_while,
    load_while, references_may_lie_outside,
};
pub use topology::{Topology, boundary_cones, topology};
pub use unchecked::LoadWarning;
pub use up::Up;
