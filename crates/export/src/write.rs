//! The way out: one function that writes pieces in any format.
//!
//! In: an [`Assembly`], a format, a folder. Out: the files that the format has there. Which files those are
//! is decided here.

use std::path::Path;

use crate::voxelize::Progress;

use super::{Assembly, ExportError, bonds, glb, obj, ply, usd, vox, voxels};

/// Formats of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Binary glTF: a node and a mesh a piece
    Glb,
    /// Wavefront OBJ: an object a piece
    Obj,
    /// Binary PLY: a file a piece
    Ply,
    /// OpenUSD text: a rigid body a piece
    Usda,
    /// MagicaVoxel: a model a piece
    Vox,
    /// NumPy arrays of the voxels
    Npz,
}

impl Format {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 6] = [Self::Glb, Self::Obj, Self::Ply, Self::Usda, Self::Vox, Self::Npz];

    /// As options and reports name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Glb => "glb",
            Self::Obj => "obj",
            Self::Ply => "ply",
            Self::Usda => "usda",
            Self::Vox => "vox",
            Self::Npz => "npz",
        }
    }

    /// Whether it holds meshes of the pieces.
    #[must_use]
    pub fn has_meshes(self) -> bool {
        matches!(self, Self::Glb | Self::Obj | Self::Ply | Self::Usda)
    }

    /// The file, or the folder of files, that it writes.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Glb => "pieces.glb",
            Self::Obj => "pieces.obj",
            Self::Ply => "ply",
            Self::Usda => "pieces.usda",
            Self::Vox => "pieces.vox",
            Self::Npz => "voxels.npz",
        }
    }
}

/// Says how far an export is, and hears whether it should stop.
#[derive(Clone, Debug)]
pub struct Watch {
    progress: Progress,
    from: f32,
    share: f32,
}

impl Watch {
    /// All of `progress` is this export's.
    #[must_use]
    pub fn whole(progress: &Progress) -> Self {
        Self { progress: progress.clone(), from: 0.0, share: 1.0 }
    }

    /// The share of `progress` that belongs to part `i` of `n`.
    #[must_use]
    pub fn part(progress: &Progress, i: usize, n: usize) -> Self {
        let share = 1.0 / n.max(1) as f32;
        Self { progress: progress.clone(), from: i as f32 * share, share }
    }

    /// `done` of `all` steps lie behind.
    ///
    /// # Errors
    /// [`ExportError::Cancelled`] where it should stop.
    pub fn at(&self, done: usize, all: usize) -> Result<(), ExportError> {
        if self.progress.is_cancelled() {
            return Err(ExportError::Cancelled);
        }
        self.progress.set(self.from + self.share * done as f32 / all.max(1) as f32);
        Ok(())
    }
}

/// Writes `what` in `format` into `folder`, which is there. Returns notes for the user.
///
/// # Errors
/// [`ExportError`]; files may then be there in part.
pub fn write(
    what: &Assembly,
    format: Format,
    folder: &Path,
    watch: &Watch,
) -> Result<Vec<String>, ExportError> {
    write_to(&folder.join(format.file()), what, format, watch)
}

/// Collision shapes of all pieces, under nodes of the same names and places as in the GLB.
pub const COLLISION_FILE: &str = "collision.glb";
/// Neighbours and the crack that they share.
pub const BONDS_FILE: &str = "bonds.csv";

/// Writes what `what` asks for beside formats into `folder`, after [`Assembly::prepare`]; names of the files.
///
/// # Errors
/// [`ExportError`]; files may then be there in part.
pub fn write_beside(what: &Assembly, folder: &Path, watch: &Watch) -> Result<Vec<&'static str>, ExportError> {
    let mut files = Vec::new();
    if !what.hulls.is_empty() {
        glb::write_hulls(&folder.join(COLLISION_FILE), what, watch)?;
        files.push(COLLISION_FILE);
    }
    if what.handover.bonds {
        bonds::write(&folder.join(BONDS_FILE), what, watch)?;
        files.push(BONDS_FILE);
    }
    Ok(files)
}

/// The same as [`write()`] at a place of the caller's own.
///
/// # Errors
/// [`ExportError`].
pub fn write_to(
    path: &Path,
    what: &Assembly,
    format: Format,
    watch: &Watch,
) -> Result<Vec<String>, ExportError> {
    match format {
        Format::Glb => glb::write(path, what, watch),
        Format::Obj => obj::write(path, what, watch),
        Format::Ply => ply::write(path, what, watch),
        Format::Usda => usd::write(path, what, watch),
        Format::Vox => vox::write(path, what, watch),
        Format::Npz => voxels::write(path, what, watch),
    }
}
