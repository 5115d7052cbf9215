//! Writing results: arrays for Python, the report, meshes and pictures. Everything here is plain CPU work on finished data.

mod cells;
pub mod checks;
mod glb;
mod npy;
mod obj;
mod pair_log;
mod picture;
mod ply;
pub mod report;
mod surface;
mod trajectory;
mod vox;
mod voxels;

pub use crate::fracture::{BreakStep, BrokenObject, PieceRef};
pub use cells::Cells;
pub use glb::write_glb;
pub use npy::{Npz, read_points};
pub use obj::write_obj;
pub use pair_log::PairLog;
pub use picture::write_png;
pub use ply::write_ply;
pub use report::{FractureReport, InputReport, InteriorReport, ParameterReport};
pub use surface::{PieceMesh, piece_mesh};
pub use trajectory::Trajectory;
pub use vox::write_vox;
pub use voxels::write_voxels;

use std::path::{Path, PathBuf};

/// Why a result could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The file system refused.
    #[error("{path} could not be written: {reason}; check that the folder exists, is writable and has room")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The format cannot hold the data.
    #[error("{path} could not be written: {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What does not fit, and what to do.
        reason: String,
    },
}

impl ExportError {
    /// Wraps anything that writing `path` failed with.
    pub fn write(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Write { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// `piece_000`, `piece_001`, ...
fn piece_name(id: usize) -> String {
    format!("piece_{id:03}")
}
