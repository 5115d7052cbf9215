//! Pieces as the arrays of `voxels.npz`, without a file, and what identifies a result.

use super::{Error, Pieces};
use crate::{
    export::{self, NamedArray, Watch},
    voxelize::Progress,
};

impl Pieces {
    /// The arrays of `voxels.npz`, in their order and in memory; docs/files.md describes them. Many bytes at fine
    /// levels: 100 to 200 a leaf voxel of the pieces.
    ///
    /// ```
    /// use kintsugi::{Fracture, Object, export::Numbers};
    ///
    /// let pieces = Object::open("builtin:box", 3)?.fracture(&Fracture::new().cells(3))?;
    /// let arrays = pieces.arrays()?;
    /// let level = arrays.iter().find(|array| array.name == "level").unwrap();
    /// assert_eq!((&level.shape[..], &level.numbers), (&[][..], &Numbers::I32(vec![3])));
    /// # Ok::<(), kintsugi::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Export`].
    pub fn arrays(&self) -> Result<Vec<NamedArray>, Error> {
        self.arrays_while(None, &Progress::default())
    }

    /// The same, or only those with the given names, which saves the time that the others take, unless `progress` is
    /// cancelled.
    ///
    /// # Errors
    /// [`Error::Export`], also for a name of no array.
    pub fn arrays_while(
        &self,
        names: Option<&[String]>,
        progress: &Progress,
    ) -> Result<Vec<NamedArray>, Error> {
        Ok(export::arrays(&self.assembly, names, &Watch::whole(progress))?)
    }

    /// SHA-256 of [`Pieces::arrays`], in hexadecimal digits: the same break has the same digest on every machine. Of
    /// each array are hashed, in order: name, a zero byte, NumPy's name of the element type (`<f4`), a zero byte, the
    /// number of axes and the length of each (uint64), and the elements in C order, all numbers little-endian. No array
    /// is held in memory as a whole.
    ///
    /// # Errors
    /// [`Error::Export`].
    pub fn digest(&self) -> Result<String, Error> {
        self.digest_while(&Progress::default())
    }

    /// The same, unless `progress` is cancelled.
    ///
    /// # Errors
    /// [`Error::Export`].
    pub fn digest_while(&self, progress: &Progress) -> Result<String, Error> {
        Ok(export::digest(&self.assembly, &Watch::whole(progress))?)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::{Fracture, Object, export::Numbers, fracture::Surface};

    fn broken(seed: u64, surface: Surface) -> Pieces {
        let how = Fracture::new().cells(7).random_seed(seed).surface(surface);
        Object::open("builtin:sphere", 5).unwrap().fracture(&how).unwrap()
    }

    fn bytes(numbers: &Numbers) -> (&'static str, &[u8]) {
        match numbers {
            Numbers::U8(list) => ("|u1", list),
            Numbers::I32(list) => ("<i4", bytemuck::cast_slice(list)),
            Numbers::U32(list) => ("<u4", bytemuck::cast_slice(list)),
            Numbers::F32(list) => ("<f4", bytemuck::cast_slice(list)),
            Numbers::F64(list) => ("<f8", bytemuck::cast_slice(list)),
        }
    }

    #[test]
    fn arrays_in_memory_are_those_of_the_file_byte_for_byte() {
        let folder = std::env::temp_dir().join(format!("kintsugi-arrays-{}", std::process::id()));
        for surface in [Surface::Planar, Surface::Dusty] {
            let pieces = broken(3, surface);
            pieces.export(&folder, &[]).unwrap();
            let file = std::fs::File::open(folder.join("voxels.npz")).unwrap();
            let mut archive = zip::ZipArchive::new(file).unwrap();
            let arrays = pieces.arrays().unwrap();
            assert_eq!(archive.len(), arrays.len());
            for (i, array) in arrays.iter().enumerate() {
                let mut entry = archive.by_index(i).unwrap();
                assert_eq!(entry.name().unwrap(), format!("{}.npy", array.name));
                let mut content = Vec::new();
                entry.read_to_end(&mut content).unwrap();
                let start = 10 + usize::from(u16::from_le_bytes([content[8], content[9]]));
                let header = String::from_utf8_lossy(&content[10..start]);
                let (kind, data) = bytes(&array.numbers);
                assert!(header.contains(&format!("'{kind}'")), "{}: {header}", array.name);
                let dims = array.shape.iter().map(|n| format!("{n},")).collect::<String>();
                let said = header.split_once("'shape': (").unwrap().1.split_once(')').unwrap().0;
                let said: String =
                    said.split([',', ' ']).filter(|n| !n.is_empty()).map(|n| format!("{n},")).collect();
                assert_eq!(said, dims, "{}", array.name);
                assert!(content[start..] == *data, "{} differs", array.name);
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn named_arrays_are_made_alone_and_other_names_are_refused() {
        let pieces = broken(3, Surface::Planar);
        let all = pieces.arrays().unwrap();
        let named = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            pieces.arrays_while(Some(&names), &Progress::default())
        };
        for names in [&["coords", "piece"][..], &["piece_inside", "source_inside", "level"], &[]] {
            let wanted: Vec<_> =
                all.iter().filter(|array| names.contains(&array.name.as_str())).cloned().collect();
            assert_eq!((wanted.len(), named(names).unwrap()), (names.len(), wanted));
        }
        let error = named(&["coords", "peice"]).unwrap_err().to_string();
        assert!(error.contains("\"peice\"") && error.contains("coords, piece, cell"), "{error}");
    }

    #[test]
    fn a_digest_repeats_and_tells_breaks_apart() {
        let digest = |seed| broken(seed, Surface::Planar).digest().unwrap();
        let first = digest(1);
        assert!(first.len() == 64 && first.bytes().all(|c| c.is_ascii_hexdigit()), "{first}");
        assert_eq!(first, digest(1));
        assert_ne!(first, digest(2));
        let progress = Progress::default();
        progress.cancel();
        assert!(broken(1, Surface::Planar).digest_while(&progress).is_err());
    }
}
