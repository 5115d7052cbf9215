//! The way out: one function that writes pieces in any format.
//!
//! In: an [`Assembly`], a format, a folder. Out: the files that the format has there, and what goes beside them.

use std::path::Path;

use super::{Assembly, ExportError, Format, Watch, bonds, formats, meshes::bake::TEXTURES};

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

/// Files and folders that an export may write beside those of formats.
pub const BESIDE: [&str; 10] = {
    let [table, usd, blender, houdini, unreal] = bonds::NAMES;
    [
        "report.json",
        "scene.toml",
        "pieces.mtl",
        COLLISION_FILE,
        TEXTURES,
        table,
        usd,
        blender,
        houdini,
        unreal,
    ]
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
    if !what.maps.is_empty() {
        formats::write_textures(&folder.join(TEXTURES), what)?;
        files.push(TEXTURES);
    }
    if what.handover.bonds {
        files.extend(bonds::write(folder, what, watch)?);
    }
    Ok(files)
}
