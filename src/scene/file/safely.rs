//! Atomic writing of files, and the folders that the program uses.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

/// Writes `bytes` beside `path`, flushes them to the disk, and renames.
///
/// # Errors
/// The file system's.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = fs::File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&temporary, path)).and_then(|()| sync_folder(path));
    if renamed.is_err() {
        // A temporary file that cannot be removed is left behind.
        let _ = fs::remove_file(&temporary);
    }
    renamed
}

/// Flushes the folder: otherwise a power failure could lose the new name along with the old file.
fn sync_folder(of: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let folder = of.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = of;
    Ok(())
}

/// The folder of the window's own files: in the user's state folder, or else in the temporary folder.
#[must_use]
pub fn state_folder() -> PathBuf {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let folder = std::env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute())
        .or(home)
        .unwrap_or_else(std::env::temp_dir);
    folder.join("kintsugi")
}

/// The folder of the shipped scenes: beside the executable, or in the source tree. `None` if only the executable was
/// installed.
#[must_use]
pub fn shipped_scenes() -> Option<PathBuf> {
    let program = std::env::current_exe().ok();
    let above = program.iter().flat_map(|program| program.ancestors().skip(1));
    let places = above.chain(std::iter::once(Path::new(env!("CARGO_MANIFEST_DIR"))));
    places.map(|place| place.join("assets/scenes")).find(|folder| folder.join("vase.toml").is_file())
}
