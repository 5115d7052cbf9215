//! A folder of files in the place of another one.
//!
//! In: a folder that is complete, its place, and a name for what lies there. Out: the new folder in its place, flushed; a
//! folder with other files is kept under a free name.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{Disk, Kind, RealDisk, changing, flush_names, free_name, remove_all};
use crate::{ExportError, aside::make_parents};

/// Puts the folder `from`, which has only files, in the place of `to`. Where `to` has the same files, byte for byte, `from`
/// goes. What else lies there is kept beside `kept`, with `.before` at the end of its name; the answer is its path.
///
/// # Errors
/// [`ExportError::Write`]. What was there is then in its place; or kept, where its place could not be had again or the last flush failed.
pub fn put_folder(from: &Path, to: &Path, kept: &Path) -> Result<Option<PathBuf>, ExportError> {
    let failed = |e: io::Error| ExportError::write(to, e);
    let [from, place, kept] = [from, to, kept].map(std::path::absolute);
    let _changing = changing();
    let put = || put_folder_on(&RealDisk, &from?, &place?, &kept?);
    put().map_err(failed)
}

/// The same on any disk, with absolute paths.
pub(super) fn put_folder_on(
    disk: &dyn Disk,
    from: &Path,
    to: &Path,
    kept: &Path,
) -> io::Result<Option<PathBuf>> {
    let above = parent_of(to);
    let names = disk.list(from)?;
    names.iter().try_for_each(|name| disk.sync_file(&from.join(name)))?;
    flush_names(disk, from)?;
    if disk.kind(to)?.is_none() {
        make_flushed(disk, above)?;
        disk.rename(from, to)?;
        return flush_names(disk, above).map(|()| None);
    }
    if disk.kind(to)? == Some(Kind::Folder) && hold_the_same(disk, &names, from, to)? {
        return remove_all(disk, from).map(|()| None);
    }
    make_flushed(disk, parent_of(kept))?;
    let kept = free_name(disk, kept)?;
    disk.rename(to, &kept)?;
    // The other folder must have its other name on the disk before the new one has its own.
    let placed = flush_names(disk, parent_of(&kept))
        .and_then(|()| flush_names(disk, above))
        .and_then(|()| disk.rename(from, to));
    if let Err(error) = placed {
        // Otherwise the folder stays under the name that keeps it.
        let _ = disk.rename(&kept, to);
        return Err(error);
    }
    flush_names(disk, above)?;
    Ok(Some(kept))
}

fn parent_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// Makes the folders that are missing, such that a power loss takes none of them.
fn make_flushed(disk: &dyn Disk, folder: &Path) -> io::Result<()> {
    make_parents(disk, folder)?.iter().try_for_each(|made| flush_names(disk, parent_of(made)))
}

/// Whether `to` has files of these names and no others, all with the bytes that those of `from` have.
fn hold_the_same(disk: &dyn Disk, names: &[String], from: &Path, to: &Path) -> io::Result<bool> {
    if disk.list(to)? != names {
        return Ok(false);
    }
    for name in names {
        let there = to.join(name);
        // A pipe would make the program wait.
        if disk.kind(&there)? != Some(Kind::File) || disk.mark(&there)? != disk.mark(&from.join(name))? {
            return Ok(false);
        }
    }
    Ok(true)
}
