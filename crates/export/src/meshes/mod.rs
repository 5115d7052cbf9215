//! Meshes of pieces, of three kinds, and their checks.

mod crack_distance;
mod kind;
pub mod original;
mod report;
mod simplify;
mod smooth;
mod tally;
mod tree;
mod vertices;
mod voxels;
mod written;

use crack_distance::CrackDistance;
pub use kind::MeshKind;
pub use report::{MeshReport, SMALLEST_MESH};
pub use simplify::simplify;
pub use smooth::{smooth, smooth_with};
pub use tally::MeshTally;
pub use tree::{Tagged, TriangleTree};
pub use vertices::{Primitive, primitives};
pub use written::WrittenMesh;

pub use crate::shape::{Corner, Face, MeshCheck, PieceMesh, Side, world_uv};
