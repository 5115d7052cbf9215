//! The way out: one function that writes pieces in any format.
//!
//! In: an [`Assembly`], a format, a folder. Out: the files that the format has there, and what goes beside them.

use std::path::Path;

use crate::voxelize::Progress;

use super::{Assembly, ExportError, Format, bonds, formats};

/// Reports the progress of an export, and tests whether it was cancelled.
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
    (format.write)(&folder.join(format.file), what, watch)
}

/// Collision shapes of all pieces, under nodes of the same names and places as in the GLB.
pub const COLLISION_FILE: &str = "collision.glb";

/// Files that an export may write beside those of formats.
pub const BESIDE: [&str; 9] = {
    let [table, usd, blender, houdini, unreal] = bonds::NAMES;
    ["report.json", "scene.toml", "pieces.mtl", COLLISION_FILE, table, usd, blender, houdini, unreal]
};

/// Writes what `what` asks for beside formats into `folder`, after [`Assembly::prepare`]; names of the files.
///
/// # Errors
/// [`ExportError`]; files may then be there in part.
pub fn write_beside(what: &Assembly, folder: &Path, watch: &Watch) -> Result<Vec<&'static str>, ExportError> {
    let mut files = Vec::new();
    if !what.hulls.is_empty() {
        formats::write_hulls(&folder.join(COLLISION_FILE), what, watch)?;
        files.push(COLLISION_FILE);
    }
    if what.handover.bonds {
        files.extend(bonds::write(folder, what, watch)?);
    }
    Ok(files)
}
