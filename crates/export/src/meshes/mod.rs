//! Meshes of pieces, of three kinds, and their checks.

pub mod bake;
mod crumb;
mod dress;
mod kind;
mod opposite;
pub mod original;
pub mod relief;
#[cfg(test)]
mod relief_tests;
mod report;
mod simplify;
mod smooth;
mod tangents;
mod told_apart;
mod voxels;
mod written;

pub use crumb::is_crumb;
pub use dress::Dress;
pub use kind::MeshKind;
pub use opposite::{CrackFace, CrackFaces, places};
pub use report::{MeshReport, MeshTally, SMALLEST_MESH, TextureReport};
pub use simplify::{simplify, simplify_outside};
pub use smooth::{smooth, smooth_with};
pub use told_apart::tell_apart;
pub use written::{Primitive, Tagged, TriangleTree, WrittenMesh, primitives};

pub use crate::shape::{Corner, Face, MeshCheck, PieceMesh, Side, world_uv};
