//! Files to [`Mesh`].
use super::Mesh;
use std::path::Path;
/// Why a file was refused: what, where, what to do.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct MeshError {
    /// One line.
    pub message: String,
}
/// Something odd that did not stop the import.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadWarning(pub String);
/// Reads a mesh file or `builtin:NAME`.
///
/// # Errors
/// [`MeshError`], one clear line.
pub fn load(_path: &Path) -> Result<(Mesh, Vec<LoadWarning>), MeshError> {
    todo!()
}
/// Reads bytes in the format that `extension` names (lower case, no dot); for tests and fuzzing.
///
/// # Errors
/// [`MeshError`].
pub fn load_bytes(_bytes: &[u8], _extension: &str) -> Result<(Mesh, Vec<LoadWarning>), MeshError> {
    todo!()
}
