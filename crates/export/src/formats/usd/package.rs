//! Pieces as one USDZ file: the layer of the format `usdc` and its pictures in an archive without compression, in which
//! every file begins at a multiple of 64 bytes, the layer first.
//!
//! In: pieces. Out: one file, which viewers and phones open as it is. The layer is written into a folder beside it first,
//! which goes in the end.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::super::looks::write_textures;
use crate::{Assembly, ExportError, FormatEntry, Needs, Target, Watch, meshes::bake::TEXTURES};

/// Where files begin, bytes.
const ALIGNMENT: u16 = 64;

/// The format.
pub(crate) static FORMAT: FormatEntry = FormatEntry {
    name: "usdz",
    file: "pieces.usdz",
    label: "USDZ",
    help: "OpenUSD in one file with its pictures",
    needs: Needs::Meshes,
    has_nodes: true,
    space: Target::file_space,
    write,
};

/// Writes all pieces and their pictures into one file. Returns notes for the user.
///
/// # Errors
/// [`ExportError`].
fn write(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let folder = path.with_extension("usdz-parts");
    let failed = |e: io::Error| ExportError::write(&folder, e);
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let layer = folder.join(path.with_extension("usdc").file_name().unwrap_or_default());
    let notes = super::binary::write(&layer, what, watch).and_then(|notes| {
        if !what.maps.is_empty() {
            write_textures(&folder.join(TEXTURES), what)?;
        }
        pack(path, &folder, &layer)?;
        Ok(notes)
    });
    std::fs::remove_dir_all(&folder).map_err(failed)?;
    notes
}

/// Packs the files below a folder, `first` before the others.
fn pack(path: &Path, folder: &Path, first: &Path) -> Result<(), ExportError> {
    let failed = |e: io::Error| ExportError::write(path, e);
    let mut files = Vec::new();
    let size = files_below(folder, &mut files).map_err(failed)?;
    if size > u64::from(u32::MAX / 2) {
        return Err(ExportError::Format {
            path: path.to_owned(),
            reason: "a USDZ file cannot exceed 2 GiB; use --format usdc, or a lower --level".into(),
        });
    }
    files.sort_by_key(|file| (file != first, file.clone()));
    let mut zip = ZipWriter::new(BufWriter::new(File::create(path).map_err(failed)?));
    for file in files {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(0o644)
            // Otherwise archives from two systems would differ.
            .system(zip::System::Unix)
            .with_alignment(ALIGNMENT);
        let below = file.strip_prefix(folder).unwrap_or(&file);
        let names: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        zip.start_file(names.join("/"), options).map_err(|e| ExportError::write(path, e))?;
        io::copy(&mut File::open(&file).map_err(failed)?, &mut zip).map_err(failed)?;
    }
    zip.finish().map_err(|e| ExportError::write(path, e))?.flush().map_err(failed)
}

/// Adds all files below a folder; their bytes.
fn files_below(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        if about.is_dir() {
            size += files_below(&entry.path(), files)?;
        } else {
            size += about.len();
            files.push(entry.path());
        }
    }
    Ok(size)
}
