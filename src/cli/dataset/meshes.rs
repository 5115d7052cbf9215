//! The mesh files of a set, told by their contents.
//!
//! In: files, or a folder to look for them in. Out: the SHA-256 of a file's bytes, and the file that has a wanted one.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::mesh::digest::hexadecimal;

/// Most files that are looked at below a folder.
const MOST_FILES: usize = 100_000;
/// Bytes that are read at a time.
const AT_ONCE: usize = 1 << 16;

/// The contents of a mesh file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// SHA-256 of its bytes, hexadecimal.
    pub sha256: String,
    /// Number of its bytes.
    pub bytes: u64,
}

impl Contents {
    /// Of a regular file.
    ///
    /// # Errors
    /// The file system's.
    pub fn of(path: &Path) -> io::Result<Self> {
        // A pipe would wait for somebody who writes.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("this is no regular file"));
        }
        let (mut file, mut hash, mut bytes) = (File::open(path)?, Sha256::new(), 0);
        let mut part = vec![0; AT_ONCE];
        loop {
            let count = file.read(&mut part)?;
            if count == 0 {
                break;
            }
            hash.update(&part[..count]);
            bytes += count as u64;
        }
        Ok(Self { sha256: hexadecimal(&hash.finalize()), bytes })
    }
}

/// Files below a folder by their sizes; their contents are read only where a size is wanted.
pub struct Finder {
    folder: PathBuf,
    by_size: BTreeMap<u64, Vec<PathBuf>>,
}

impl Finder {
    /// Lists the files below a folder. Links to folders are not followed.
    ///
    /// # Errors
    /// A line that says what is wrong with the folder.
    pub fn new(folder: &Path) -> Result<Self, String> {
        let mut by_size: BTreeMap<u64, Vec<PathBuf>> = BTreeMap::new();
        let (mut below, mut count) = (vec![folder.to_owned()], 0);
        while let Some(place) = below.pop() {
            let told = |e: io::Error| format!("{}: the folder cannot be read: {e}", place.display());
            let mut entries =
                fs::read_dir(&place).map_err(told)?.collect::<io::Result<Vec<_>>>().map_err(told)?;
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    below.push(path);
                } else if let Ok(about) = fs::metadata(&path).map(|about| (about.is_file(), about.len()))
                    && about.0
                {
                    count += 1;
                    by_size.entry(about.1).or_default().push(path);
                }
            }
            if count > MOST_FILES {
                let folder = folder.display();
                return Err(format!(
                    "{folder}: it has more than {MOST_FILES} files; name a folder nearer to the meshes"
                ));
            }
        }
        Ok(Self { folder: folder.to_owned(), by_size })
    }

    /// The first file with these contents.
    ///
    /// # Errors
    /// A line about the mesh called `name` that is not there.
    pub fn find(&self, name: &str, wanted: &Contents) -> Result<PathBuf, String> {
        let mut same_size = self.by_size.get(&wanted.bytes).into_iter().flatten();
        let is_wanted = |path: &&PathBuf| Contents::of(path).is_ok_and(|there| there == *wanted);
        same_size.find(is_wanted).cloned().ok_or_else(|| {
            let (folder, sha256) = (self.folder.display(), &wanted.sha256);
            format!("no file below {folder} has the contents of {name}, SHA-256 {sha256}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_its_contents_whatever_its_name() {
        let home = std::env::temp_dir().join(format!("kintsugi-finder-{}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(home.join("a/b")).unwrap();
        for (name, text) in [("a/one.obj", "first"), ("a/b/two.obj", "other"), ("three", "third one")] {
            fs::write(home.join(name), text).unwrap();
        }
        let wanted = |text: &str| Contents {
            sha256: crate::mesh::digest::sha256(text.as_bytes()),
            bytes: text.len() as u64,
        };
        assert_eq!(Contents::of(&home.join("three")).unwrap(), wanted("third one"));
        assert!(Contents::of(&home).is_err());
        let finder = Finder::new(&home).unwrap();
        assert_eq!(finder.find("x", &wanted("other")).unwrap(), home.join("a/b/two.obj"));
        let missing = finder.find("cow.obj", &wanted("fifth")).unwrap_err();
        assert!(missing.contains("cow.obj") && missing.contains("SHA-256"), "{missing}");
        assert!(Finder::new(&home.join("none")).is_err());
        fs::remove_dir_all(home).unwrap();
    }
}
