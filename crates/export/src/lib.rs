//! Writing results: arrays for Python, the report, meshes and pictures. Everything here is plain CPU work on finished
//! data.
//!
//! [`write()`] writes pieces in every format, for the window and all commands.

#![deny(missing_docs)]
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests normalise vectors that they know not to be zero")
)]
#![recursion_limit = "256"]

use kintsugi_core::{compute, fracture, import, memory, mesh, shape, svo, voxelize};
use kintsugi_geometry as geometry;
use kintsugi_gpu as gpu;
use kintsugi_physics as bodies;

mod arrays;
mod aside;
mod assembly;
mod beside;
mod bonds;
mod cells;
pub mod checks;
mod column;
mod contact_log;
pub mod debris;
pub mod disk;
mod error;
mod formats;
mod handover;
#[cfg(test)]
mod handover_tests;
mod hulls;
mod insides;
pub mod meshes;
pub mod motion;
mod npy;
mod numbers;
mod origins;
mod pair_log;
mod picture;
pub mod provenance;
mod piece_report;
mod pieces;
mod plain_ply;
pub mod report;
pub mod scene_report;
mod sheet;
mod step_log;
pub mod touching;
mod trajectory;
pub mod video;
mod watch;
mod write;

pub use crate::fracture::{BreakStep, BrokenObject, PieceRef};
pub use arrays::{ArrayDigest, Arrays, Collected, Element, NamedArray, Numbers};
pub use aside::Aside;
pub use assembly::{Assembly, BreakArrays, BreakKind, MeshFigures, Meshes, Skin};
pub use bonds::{BONDS_FILE, Bond, Capacity, HeldBond, bonds};
pub use cells::Cells;
pub use contact_log::{ContactLog, halves, relative_velocity, velocity_apart};
pub use error::ExportError;
pub use formats::{Format, FormatEntry, Needs, arrays, coordinates, digest, internal_rows};
pub use handover::{Axes, Collision, FileSpace, Handover, Pivot, Target};
pub use hulls::Hull;
pub use meshes::{MeshCheck, MeshKind, MeshReport, MeshTally, PieceMesh, SMALLEST_MESH};
pub use npy::{Npz, read_points};
pub use numbers::{to_nanoseconds, to_picoseconds};
pub use origins::{PieceOrigin, Source};
pub use pair_log::PairLog;
pub use picture::{
    Signature, SignedPicture, png_bytes, read_signed, write_png, write_signed, write_signed_new,
};
pub use piece_report::PieceReport;
pub use pieces::{ExportPiece, Figures, Generation, Lying, Placing, made_of_voxels, widest_gap};
pub use plain_ply::PlainPly;
pub use report::{FractureReport, InputReport, InteriorReport, ParameterReport};
pub use sheet::Sheet;
pub use step_log::StepLog;
pub use trajectory::Trajectory;
pub use watch::Watch;
pub use write::{BESIDE, COLLISION_FILE, write, write_beside};
