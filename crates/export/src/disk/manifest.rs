//! `.kintsugi-files.json`: what the program wrote into a folder, each file with its size and SHA-256.
//!
//! A file that is not byte for byte what the list says is somebody's own. No list, or one that cannot be read: all files
//! are.

use std::{collections::BTreeMap, io, path::Path};

use serde::{Deserialize, Serialize};

use super::{Disk, Kind, Mark};

/// File name of the list.
pub const MANIFEST: &str = ".kintsugi-files.json";

/// The list of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of Kintsugi.
    pub version: String,
    /// Files by path below the folder, with slashes.
    pub files: BTreeMap<String, Mark>,
}

impl Manifest {
    /// The list of a folder. Names that lead out of the folder are left out.
    ///
    /// # Errors
    /// The file system's; a file that is no list is none.
    pub fn read(disk: &dyn Disk, folder: &Path) -> io::Result<Self> {
        Ok(Self::at(disk, &folder.join(MANIFEST))?.unwrap_or_default())
    }

    /// A list at any place; `None` where there is none. Names that lead out of its folder are left out.
    ///
    /// # Errors
    /// The file system's.
    pub fn at(disk: &dyn Disk, path: &Path) -> io::Result<Option<Self>> {
        if disk.kind(path)? != Some(Kind::File) {
            return Ok(None);
        }
        let mut list: Option<Self> = serde_json::from_slice(&disk.read(path)?).ok();
        if let Some(list) = &mut list {
            list.files.retain(|name, _| is_below(name) && name != MANIFEST);
        }
        Ok(list)
    }

    /// The list as bytes.
    ///
    /// # Errors
    /// None that can happen: the list is plain data.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        text.push(b'\n');
        Ok(text)
    }
}

/// Whether a name leads to a place below the folder.
pub fn is_below(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    !name.is_empty() && parts.all(|part| matches!(part, std::path::Component::Normal(_)))
}
