//! Why results could not be written.

use std::path::{Path, PathBuf};

use crate::memory::Short;

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
    /// A picture could not be drawn.
    #[error("the pictures could not be drawn: {0}; try smaller ones")]
    Draw(String),
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
            other @ (Self::Replaces { .. }
            | Self::Memory(_)
            | Self::Draw(_)
            | Self::Cancelled
            | Self::Stopped(_)) => other,
        }
    }
}
