//! Why a call of the library failed.

use crate::{
    export::{ExportError, meshes::original::NotOriginal},
    fracture::{FractureError, PatternError},
    gpu::GpuError,
    import::ImportError,
    mesh::MeshError,
    scene::{SandboxError, SceneError, overlays::OverlayFileError},
};

/// Why a call of the library failed. Each message is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The mesh could not be read or voxelised.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A parameter is out of range, or contradicts another.
    #[error("{0}")]
    Parameter(String),
    /// The direction of the blow has no length.
    #[error("the direction of the blow is zero or not finite; say which way it goes")]
    Direction,
    /// The method could not break the object.
    #[error(transparent)]
    Fracture(#[from] FractureError),
    /// The pieces cannot have meshes that are cut from the object's own.
    #[error(transparent)]
    NotOriginal(#[from] NotOriginal),
    /// A file could not be written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The graphics adapter failed, or there is none.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A scene cannot be read, or names what does not exist.
    #[error("{0}")]
    Scene(String),
}

impl From<SceneError> for Error {
    fn from(error: SceneError) -> Self {
        Self::Scene(error.message)
    }
}

impl From<SandboxError> for Error {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::Import(error) => Self::Import(error),
            SandboxError::Fracture(error) => Self::Fracture(error),
            SandboxError::Gpu(error) => Self::Gpu(error),
            SandboxError::Busy
            | SandboxError::NoCrack
            | SandboxError::NoSuchPart(_)
            | SandboxError::Bonds(_)
            | SandboxError::CannotMerge(_) => Self::Scene(error.to_string()),
        }
    }
}

impl From<OverlayFileError> for Error {
    fn from(error: OverlayFileError) -> Self {
        match error {
            OverlayFileError::Export(error) => Self::Export(error),
            OverlayFileError::Gpu(error) => Self::Gpu(error),
        }
    }
}

impl From<MeshError> for Error {
    fn from(error: MeshError) -> Self {
        Self::Import(error.into())
    }
}

impl From<PatternError> for Error {
    fn from(error: PatternError) -> Self {
        Self::Fracture(error.into())
    }
}
