//! Files that a user names: regular files only, up to a size.
//!
//! Reading a pipe would wait and a device never ends, so the kind is tested before opening. The size is counted while
//! reading, since a file may grow meanwhile.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
};

/// Why a file was not read; the part of a sentence after its name, with what to do.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// It does not exist.
    #[error("not found; check the name")]
    NotFound,
    /// Its permissions forbid it.
    #[error("no permission to read it; change its permissions")]
    Forbidden,
    /// It is a folder.
    #[error("is a folder; name a file in it")]
    Folder,
    /// It is a pipe, a device or a socket.
    #[error("is not a regular file; copy its contents to one")]
    NotRegular,
    /// It is larger than the limit.
    #[error("has more than the {} that are read", size(*.limit))]
    TooLarge {
        /// The limit, bytes.
        limit: u64,
    },
    /// Another error of the file system.
    #[error("cannot be read ({0})")]
    Other(io::Error),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            io::ErrorKind::PermissionDenied => Self::Forbidden,
            _ => Self::Other(error),
        }
    }
}

/// A path as text, as scenes and reports name meshes.
///
/// # Errors
/// A sentence's end after the path, with what to do, for a path that is not UTF-8.
pub fn as_text(path: &Path) -> Result<&str, &'static str> {
    path.to_str()
        .ok_or("the name is not UTF-8, as names in scenes and reports are; rename the file, or its folder")
}

fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) }
}

/// The whole of a regular file of at most `limit` bytes.
///
/// # Errors
/// [`Unread`].
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Unread> {
    // Tested before opening, since opening a pipe would wait for a writer.
    let about = fs::metadata(path)?;
    if about.is_dir() {
        return Err(Unread::Folder);
    }
    if !about.is_file() {
        return Err(Unread::NotRegular);
    }
    if about.len() > limit {
        return Err(Unread::TooLarge { limit });
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(Unread::TooLarge { limit }) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let path = std::env::temp_dir().join(format!("kintsugi-read-{}", std::process::id()));
        fs::write(&path, [7; 2048]).unwrap();
        assert_eq!(read(&path, 2048).unwrap(), [7; 2048]);
        let refused = read(&path, 2047).unwrap_err();
        assert!(matches!(refused, Unread::TooLarge { limit: 2047 }), "{refused}");
        fs::remove_file(&path).unwrap();
        assert!(matches!(read(&path, 1).unwrap_err(), Unread::NotFound));
        assert!(matches!(read(&std::env::temp_dir(), 1).unwrap_err(), Unread::Folder));
    }

    /// Neither ends: the device never does, the pipe waits for somebody who writes.
    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_refused_at_once() {
        assert!(matches!(read(Path::new("/dev/zero"), 1 << 20).unwrap_err(), Unread::NotRegular));
        let pipe = std::env::temp_dir().join(format!("kintsugi-pipe-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let refused = read(&pipe, 1 << 20).unwrap_err();
        fs::remove_file(&pipe).unwrap();
        assert!(matches!(refused, Unread::NotRegular), "{refused}");
    }
}
