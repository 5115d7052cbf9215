//! Errors of a sandbox.

use super::ImportError;
use crate::{fracture::FractureError, gpu::GpuError};

/// Errors of a sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A file could not be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A fracture failed; nothing has changed.
    #[error(transparent)]
    Fracture(#[from] FractureError),
    /// The device failed.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// Workers are still computing; try again when they are done.
    #[error("something is being computed; try again when it is done")]
    Busy,
    /// The blow did not split the body.
    #[error("the blow made no crack here; use more seeds or larger radii, or hit elsewhere")]
    NoCrack,
    /// A break that the scene lists cannot be repeated, because it names a part that does not exist.
    #[error("{0}")]
    NoSuchPart(String),
    /// Bonds cannot hold or fail as a scene says; the text says why, and what to do.
    #[error("{0}")]
    Bonds(String),
    /// The selected pieces cannot be merged; the text says why.
    #[error("not merged: {0}")]
    CannotMerge(String),
}

impl SandboxError {
    /// Whether the graphics device was lost.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        match self {
            Self::Gpu(error) => error.is_loss(),
            Self::Fracture(error) => error.is_loss(),
            _ => false,
        }
    }
}
