//! The one door to the disk for results: every change of somebody's folder is a call of [`Disk`].
//!
//! In: paths. Out: the file system's answers. Tests put a disk behind the door that fails at the n-th call, stops there
//! as a killed process does, or forgets what was not flushed as a power loss does.

mod change;
#[cfg(test)]
mod crash_tests;
mod growing;
mod manifest;
#[cfg(test)]
mod model;
mod single;
mod under_way;
mod whole_folder;

use std::{
    any::Any,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

pub use change::clear_away;
#[cfg(any(feature = "testing", fuzzing))]
pub use change::recover_folder;
pub use growing::Growing;
pub use single::{put_file, put_listed, put_new, replace_file};
pub use under_way::{UnderWay, leave_nothing};
pub use whole_folder::put_folder;
pub(crate) use {
    change::{Change, STAGING, carry_out, recover, sweep_up},
    manifest::{MANIFEST, Manifest, is_below},
    single::{beside, clear_away_parts, nameless},
    under_way::changing,
};

/// Size and SHA-256 of a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Mark {
    /// Size, bytes.
    pub bytes: u64,
    /// SHA-256, hexadecimal digits.
    pub sha256: String,
}

/// What has a name in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, a pipe or a device; links are never followed.
    Other,
}

/// A lock that is held until it is dropped or its process ends.
pub type Lock = Box<dyn Any + Send + Sync>;

/// The calls by which results reach the disk. Errors are the file system's.
#[allow(clippy::missing_errors_doc, reason = "every call fails only as the file system does")]
pub trait Disk: Send + Sync {
    /// Creates a file with these bytes; an error if the name is taken.
    fn create(&self, file: &Path, bytes: &[u8]) -> io::Result<()>;
    /// The same for a file that is to take the place of `like`, whose access rights it gets before its bytes. Where `like`
    /// is missing it is [`Disk::create`].
    fn create_like(&self, file: &Path, like: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Adds bytes to the end of a file that is there. Where that fails, it may have some of them.
    fn append(&self, file: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Shortens a file to its first `bytes` bytes; a shorter one stays as it is.
    fn cut(&self, file: &Path, bytes: u64) -> io::Result<()>;
    /// All bytes of a file.
    fn read(&self, file: &Path) -> io::Result<Vec<u8>>;
    /// Size and digest of a file.
    fn mark(&self, file: &Path) -> io::Result<Mark>;
    /// What has this name, without following a link; `None` if nothing has.
    fn kind(&self, path: &Path) -> io::Result<Option<Kind>>;
    /// Names in a folder, ascending.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Makes a folder; an error if the name is taken.
    fn make_folder(&self, folder: &Path) -> io::Result<()>;
    /// Gives a file or folder another name; a file of that name is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file or a link.
    fn remove_file(&self, file: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_folder(&self, folder: &Path) -> io::Result<()>;
    /// Flushes the bytes of a file.
    fn sync_file(&self, file: &Path) -> io::Result<()>;
    /// Flushes the names in a folder.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Creates or opens a file and locks it; `None` while another process holds the lock.
    fn lock(&self, file: &Path) -> io::Result<Option<Lock>>;
}

/// The disk of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create(&self, file: &Path, bytes: &[u8]) -> io::Result<()> {
        File::create_new(file)?.write_all(bytes)
    }

    fn create_like(&self, file: &Path, like: &Path, bytes: &[u8]) -> io::Result<()> {
        let Ok(about) = fs::metadata(like) else { return self.create(file, bytes) };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // Who opens the file while it is empty reads what comes later.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(file)?;
        // A system that has no such rights has nothing to keep.
        let _ = file.set_permissions(about.permissions());
        file.write_all(bytes)
    }

    fn append(&self, file: &Path, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new().append(true).open(file)?.write_all(bytes)
    }

    fn cut(&self, file: &Path, bytes: u64) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(file)?;
        if file.metadata()?.len() > bytes { file.set_len(bytes) } else { Ok(()) }
    }

    fn read(&self, file: &Path) -> io::Result<Vec<u8>> {
        fs::read(file)
    }

    fn mark(&self, file: &Path) -> io::Result<Mark> {
        let mut file = File::open(file)?;
        let (mut digest, mut bytes, mut part) = (Sha256::new(), 0, vec![0; 1 << 20]);
        loop {
            match file.read(&mut part) {
                Ok(0) => {
                    let sha256 = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
                    return Ok(Mark { bytes, sha256 });
                }
                Ok(n) => {
                    digest.update(&part[..n]);
                    bytes += n as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn kind(&self, path: &Path) -> io::Result<Option<Kind>> {
        match fs::symlink_metadata(path) {
            Ok(about) if about.is_file() => Ok(Some(Kind::File)),
            Ok(about) if about.is_dir() => Ok(Some(Kind::Folder)),
            Ok(_) => Ok(Some(Kind::Other)),
            // Below a file there is nothing.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut names: Vec<String> = names.collect::<io::Result<_>>()?;
        names.sort();
        Ok(names)
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir(folder)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, file: &Path) -> io::Result<()> {
        fs::remove_file(file)
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        fs::remove_dir(folder)
    }

    fn sync_file(&self, file: &Path) -> io::Result<()> {
        // Windows flushes only what was opened for writing.
        OpenOptions::new().read(true).write(cfg!(windows)).open(file)?.sync_all()
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }

    fn lock(&self, file: &Path) -> io::Result<Option<Lock>> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(file)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) => Ok(Some(Box::new(()))),
        }
    }
}

/// Flushes the names in a folder. A file system that cannot do that (some shared and network ones) is no error: nothing
/// else can be done there.
pub(crate) fn flush_names(disk: &dyn Disk, folder: &Path) -> io::Result<()> {
    match disk.sync_folder(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        other => other,
    }
}

/// Makes a folder below `root`, and those above it that are missing; `root` is there. A link in between is an error.
pub(crate) fn make_below(disk: &dyn Disk, root: &Path, name: &str) -> io::Result<()> {
    let mut path = root.to_owned();
    for part in Path::new(name).components() {
        path.push(part);
        match disk.kind(&path)? {
            Some(Kind::Folder) => {}
            None => disk.make_folder(&path)?,
            Some(_) => return Err(in_the_way(&path)),
        }
    }
    Ok(())
}

/// An error about something that is no folder, where a folder must be.
pub(crate) fn in_the_way(path: &Path) -> io::Error {
    let path = path.display();
    io::Error::other(format!("{path} is a file or a link, and a folder is wanted there; move it away"))
}

/// The folder of a name with slashes, if it has one.
pub(crate) fn folder_of(name: &str) -> Option<&str> {
    name.rsplit_once('/').map(|(folder, _)| folder)
}

/// Files below a folder, as paths with slashes, ascending; links are listed and not followed.
pub(crate) fn files_below(disk: &dyn Disk, folder: &Path) -> io::Result<Vec<String>> {
    let (mut files, mut open) = (Vec::new(), vec![String::new()]);
    while let Some(before) = open.pop() {
        for name in disk.list(&folder.join(&before))? {
            let name = format!("{before}{name}");
            match disk.kind(&folder.join(&name))? {
                Some(Kind::Folder) => open.push(format!("{name}/")),
                Some(_) => files.push(name),
                None => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Removes a folder and all that is in it; links are removed and not followed.
pub(crate) fn remove_all(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.kind(path)? {
        Some(Kind::Folder) => {
            for name in disk.list(path)? {
                remove_all(disk, &path.join(name))?;
            }
            disk.remove_folder(path)
        }
        Some(_) => disk.remove_file(path),
        None => Ok(()),
    }
}

/// The first free name for somebody's own file: `x.before.obj`, `x.before-2.obj` and so on.
pub(crate) fn free_name(disk: &dyn Disk, path: &Path) -> io::Result<PathBuf> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ending = path.extension().map_or(String::new(), |ending| format!(".{}", ending.to_string_lossy()));
    for i in 1..100_000 {
        let number = if i == 1 { String::new() } else { format!("-{i}") };
        let name = path.with_file_name(format!("{stem}.before{number}{ending}"));
        if disk.kind(&name)?.is_none() {
            return Ok(name);
        }
    }
    Err(io::Error::other(format!("{}: there are too many .before files; move some away", path.display())))
}
