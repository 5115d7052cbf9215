//! Meshes of pieces, of three kinds, and their checks.

mod kind;
pub mod original;
mod report;
mod simplify;
mod smooth;
mod voxels;
mod written;

pub use kind::MeshKind;
pub use report::{MeshReport, MeshTally, SMALLEST_MESH};
pub use simplify::simplify;
pub use smooth::{smooth, smooth_with};
pub use written::{Primitive, Tagged, TriangleTree, WrittenMesh, primitives};

pub use crate::shape::{Corner, Face, MeshCheck, PieceMesh, Side, world_uv};
