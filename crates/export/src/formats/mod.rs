//! The table of formats: `--format`, the export panel, refusals and the axes of targets are made from it.
//!
//! To add one: a file with a [`FormatEntry`], a line here, and a section in docs/files.md.

#[cfg(test)]
mod carried_tests;
#[cfg(test)]
mod glass_tests;
mod glb;
mod looks;
mod obj;
mod ply;
pub(crate) mod usd;
mod vdb;
mod vox;
mod voxels;

use std::path::Path;

use crate::{Assembly, ExportError, FileSpace, Handover, Target, Watch};

pub(crate) use glb::write_hulls;
pub(crate) use looks::write_textures;
pub use voxels::{arrays, coordinates, digest, internal_rows};

/// Data of pieces that a format needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing beside the pieces themselves.
    Nothing,
    /// Their meshes.
    Meshes,
    /// Voxels of one object, not rotated.
    Voxels,
    /// Voxels of one object, not rotated, and the whole object that broke.
    Breaks,
}

/// A line of the table.
pub struct FormatEntry {
    /// Its name in options and reports.
    pub name: &'static str,
    /// The file, or the folder of files, that it writes.
    pub file: &'static str,
    /// Its label in the export panel.
    pub label: &'static str,
    /// Its content, in a few words.
    pub help: &'static str,
    /// The data of pieces that it needs.
    pub needs: Needs,
    /// Whether each piece is a node with a pivot, as motion needs.
    pub has_nodes: bool,
    /// Axes and units for a target's importer.
    pub space: fn(Target) -> FileSpace,
    /// Writes an assembly to a path. Returns notes for the user; files may be there in part after an error.
    pub write: fn(&Path, &Assembly, &Watch) -> Result<Vec<String>, ExportError>,
}

kintsugi_core::table! {
    /// Formats of pieces, in the order in which they are offered.
    pub enum Format: FormatEntry {
        Glb = glb::FORMAT,
        Obj = obj::FORMAT,
        Ply = ply::FORMAT,
        Usda = usd::FORMAT,
        Usdc = usd::binary::FORMAT,
        Usdz = usd::package::FORMAT,
        Vox = vox::FORMAT,
        Npz = voxels::FORMAT,
        Vdb = vdb::FORMAT,
        VdbFog = vdb::FOG,
    }
}

impl FormatEntry {
    /// Whether it contains meshes of the pieces.
    #[must_use]
    pub fn has_meshes(&self) -> bool {
        self.needs == Needs::Meshes
    }
}

impl Handover {
    /// Transform for the files of a format: right-handed, since importers convert to left-handed axes themselves.
    #[must_use]
    pub fn space(&self, format: &FormatEntry) -> FileSpace {
        self.target.map_or(FileSpace::METRES, format.space)
    }
}

impl Format {
    /// Names of the formats that pass `wanted`, as a list to choose from.
    #[must_use]
    pub fn names(wanted: fn(&FormatEntry) -> bool) -> String {
        let picked = Self::ALL.iter().filter(|format| wanted(format));
        picked.map(|format| format.name).collect::<Vec<_>>().join(", ")
    }

    /// Labels of the formats that pass `wanted`, for a sentence.
    #[must_use]
    pub fn labels(wanted: impl Fn(&FormatEntry) -> bool) -> String {
        let picked: Vec<&str> = Self::ALL.iter().filter(|f| wanted(f)).map(|format| format.label).collect();
        match picked.split_last() {
            Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
            _ => picked.concat(),
        }
    }
}
