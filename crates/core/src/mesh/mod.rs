//! Triangles: readers, built-in shapes and the health report.

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
    /// A second set of texture coordinates per vertex, v up, as the file has them; empty if it has none.
    pub uvs2: Vec<[f32; 2]>,
    /// Unit normal per vertex for the file's shading; zero where it has none, empty if it has none at all.
    pub normals: Vec<[f32; 3]>,
    /// Material per triangle; empty when there are no materials.
    pub triangle_material: Vec<u32>,
    /// Materials.
    pub materials: Vec<Material>,
    /// How each triangle is shaded at corners without a normal: [`Mesh::FLAT`], [`Mesh::CREASED`], or the number of a
    /// smoothing group, in which triangles that share a position are smooth there. Empty: all are creased.
    pub smoothing: Vec<u32>,
    /// Part of the file that each triangle is of, a number in `parts`; empty if the file has no parts.
    pub triangle_part: Vec<u32>,
    /// The parts of the file: nodes of glTF, objects or groups of OBJ.
    pub parts: Vec<Part>,
    /// Place in the file's space from which `positions` are counted, file's units. Zero unless single precision would
    /// round the file's own numbers noticeably.
    pub origin: [f64; 3],
}

/// Where the triangles of a mesh come from in its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Name of the object: of the node, else of its mesh, in OBJ of the object or group.
    pub object: String,
    /// Names of the nodes from the scene's root down to it, with slashes between; in OBJ the object's name.
    pub node: String,
    /// Number of the copy, from 0, where one node places several.
    pub instance: Option<u32>,
}

impl Mesh {
    /// Shading of a triangle with its own normal at every corner.
    pub const FLAT: u32 = 0;
    /// Shading of a triangle that is smooth with those at its corners that it meets at 40 degrees or less.
    pub const CREASED: u32 = u32::MAX;
}

mod away;
mod builtin;
mod corners;
pub mod digest;
mod unchecked;
mod unite;
mod units;
mod fbx;
mod gltf;
mod gltf_draco;
#[cfg(all(test, feature = "draco"))]
mod gltf_draco_tests;
mod gltf_json;
mod gltf_material;
mod gltf_meshopt;
mod gltf_nodes;
mod gltf_pose;
#[cfg(test)]
mod gltf_tests;
mod heal;
mod health;
#[cfg(test)]
mod hostile;
mod household;
mod implicit;
mod itself;
mod left_out;
mod load;
mod material;
mod mtl;
mod mtl_look;
mod obj;
mod off;
mod orient;
mod paint;
mod parts;
mod pig;
mod ply;
mod polygonize;
mod revolve;
mod statue;
mod stl;
mod topology;
mod up;
mod usd;
mod usda;
mod usdc;
mod usdz;
mod vox;

pub use builtin::{BUILTIN_NAMES, builtin};
pub(crate) use heal::{capped, without_inner_walls};
pub(crate) use health::check_apart;
pub use health::{Checked, HealthReport, UnionReport, check, check_while};
pub use load::{
    Format, MeshError, allow_references_outside, checked, format_of, load, load_bytes, load_bytes_while,
    load_while, references_may_lie_outside,
};
pub use material::{
    Alpha, MapUse, Material, MaterialMap, Picture, PictureKind, Sampler, Texture, TextureTransform, Wrap,
};
pub use parts::{Objects, struck, unlike};
pub use topology::{Topology, boundary_cones, topology};
pub use unchecked::LoadWarning;
pub use units::{Units, length_in_metres, may_be_in_another_unit};
pub use up::{Up, z_up_program};
#[cfg(any(test, feature = "testing"))]
pub use usdc::{UsdField, usd_fields};

/// Reads the bytes of a file of `format` into `unchecked`; files that they name lie `around` it.
fn read_as(
    format: load::Format,
    bytes: &[u8],
    around: &load::Surroundings,
    unchecked: &mut unchecked::UncheckedMesh,
) -> Result<(), unchecked::Problem> {
    match format {
        load::Format::Obj => obj::read(bytes, around, unchecked),
        load::Format::Ply => ply::read(bytes, around, unchecked),
        load::Format::Stl => stl::read(bytes, unchecked),
        load::Format::Off => off::read(bytes, unchecked),
        load::Format::Gltf => gltf::read(bytes, around, unchecked),
        load::Format::Vox => vox::read(bytes, unchecked),
        load::Format::Fbx => fbx::read(bytes, around, unchecked),
        load::Format::Usd => usd::read(bytes, around, unchecked),
    }
}

/// The format whose mark stands at the start of a file, of those that have one of their own.
fn marked_as(bytes: &[u8]) -> Option<load::Format> {
    match () {
        () if vox::is_start(bytes) => Some(load::Format::Vox),
        () if fbx::is_start(bytes) => Some(load::Format::Fbx),
        () if usd::is_start(bytes) => Some(load::Format::Usd),
        () => None,
    }
}
