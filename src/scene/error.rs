//! What goes wrong while a sandbox works.

use super::ImportError;
use crate::{fracture::FractureError, gpu::GpuError};

/// What goes wrong while a sandbox works.
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
    /// Workers are computing, and what was asked for must wait until they are done.
    #[error("something is being computed; try again when it is done")]
    Busy,
    /// The blow did not split anything.
    #[error("the blow made no crack here; use more seeds or larger radii, or hit elsewhere")]
    NoCrack,
    /// A break that the scene says was made cannot be made: it names a part that is not there.
    #[error("{0}")]
    NoSuchPart(String),
    /// The selected pieces cannot be one body.
    #[error("not merged: {0}")]
    CannotMerge(String),
}

impl SandboxError {
    /// Whether the graphics device is gone.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        match self {
            Self::Gpu(error) => error.is_loss(),
            Self::Fracture(error) => error.is_loss(),
            _ => false,
        }
    }
}
