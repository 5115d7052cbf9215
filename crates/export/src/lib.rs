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

use kintsugi_core::{
    compute, fracture, import,
    memory::{self, Short},
    mesh, shape, svo, voxelize,
};
use kintsugi_geometry as geometry;
use kintsugi_gpu as gpu;
use kintsugi_physics as bodies;

mod aside;
mod assembly;
mod bonds;
mod cells;
pub mod checks;
pub mod debris;
pub mod disk;
mod formats;
mod handover;
#[cfg(test)]
mod handover_tests;
mod hulls;
pub mod meshes;
pub mod motion;
mod npy;
mod numbers;
mod pair_log;
mod picture;
pub mod provenance;
mod pieces;
mod plain_ply;
pub mod report;
pub mod scene_report;
mod sheet;
mod step_log;
mod trajectory;
mod write;

pub use crate::fracture::{BreakStep, BrokenObject, PieceRef};
pub use aside::Aside;
pub use assembly::{Assembly, BreakArrays, BreakKind, Generation, MeshFigures, Meshes, Skin, widest_gap};
pub use bonds::{BONDS_FILE, Bond, Capacity, HeldBond, bonds};
pub use cells::Cells;
pub use formats::{Format, FormatEntry, Needs, coordinates, internal_rows};
pub use handover::{Axes, Collision, FileSpace, Handover, Pivot, Target};
pub use hulls::Hull;
pub use meshes::{MeshCheck, MeshKind, MeshReport, MeshTally, PieceMesh, SMALLEST_MESH};
pub use npy::{Npz, read_points};
pub use numbers::{to_nanoseconds, to_picoseconds};
pub use pair_log::PairLog;
pub use picture::{Signature, SignedPicture, read_signed, write_png, write_signed, write_signed_new};
pub use pieces::{ExportPiece, Figures, Lying, Placing, made_of_voxels};
pub use plain_ply::PlainPly;
pub use report::{FractureReport, InputReport, InteriorReport, ParameterReport, PieceReport};
pub use sheet::Sheet;
pub use step_log::StepLog;
pub use trajectory::Trajectory;
pub use write::{BESIDE, COLLISION_FILE, Watch, write, write_beside};

use std::path::{Path, PathBuf};

/// Why a result could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The file system reported an error.
    #[error("{path} could not be written: {reason}; check that the folder exists, is writable and has room")]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
    /// The format cannot hold the data.
    #[error("{path} could not be written: {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What the format cannot hold, and what to do.
        reason: String,
    },
    /// A result would replace what the run reads.
    #[error("{path} is what this run reads, and a result would take its place; give another folder or name")]
    Replaces {
        /// The file.
        path: PathBuf,
    },
    /// The meshes do not fit into the free memory.
    #[error("for the meshes of the pieces {0}; choose a lower level, or close other programs")]
    Memory(Short),
    /// The user cancelled.
    #[error("the export was cancelled")]
    Cancelled,
    /// The worker ended without a result.
    #[error("the export failed: {0}")]
    Stopped(&'static str),
}

impl ExportError {
    /// An error while writing `path`.
    pub fn write(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Write { path: path.to_owned(), reason: reason.to_string() }
    }

    /// The same error with paths in `from` replaced by paths in `to`, where the file was to be moved.
    #[must_use]
    pub fn moved(self, from: &Path, to: &Path) -> Self {
        let there =
            |path: PathBuf| path.strip_prefix(from).map_or_else(|_| path.clone(), |rest| to.join(rest));
        match self {
            Self::Write { path, reason } => Self::Write { path: there(path), reason },
            Self::Format { path, reason } => Self::Format { path: there(path), reason },
            other @ (Self::Replaces { .. } | Self::Memory(_) | Self::Cancelled | Self::Stopped(_)) => other,
        }
    }
}
