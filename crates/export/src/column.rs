//! Columns of numbers that grow during a run, for arrays that are written once their lengths are known.
//!
//! In: numbers in the order in which they come. Out: all of them, part by part. Only the last ones are in memory; those
//! before wait in a file without a name, so that memory does not grow with a run.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use super::{ExportError, arrays::Element};
use crate::disk::nameless;

/// Numbers that are held in memory, and that are copied at a time.
pub const HELD: usize = 1 << 16;

/// Numbers in the order in which they came, of which the last are in memory.
#[derive(Debug, Default)]
pub struct Column<T> {
    file: Option<File>,
    /// Size of what is in the file, bytes.
    whole: u64,
    last: Vec<T>,
}

impl<T: Element> Column<T> {
    /// Adds numbers.
    pub fn extend(&mut self, numbers: impl IntoIterator<Item = T>) {
        self.last.extend(numbers);
    }

    /// Count of the numbers in memory.
    #[cfg(test)]
    pub fn in_memory(&self) -> usize {
        self.last.len()
    }

    /// Moves the numbers in memory, where these are at least `held`, to the file, which has no name in `folder`. If that
    /// fails, they stay.
    ///
    /// # Errors
    /// [`ExportError::Write`] of the folder.
    pub fn spill_from(&mut self, held: usize, folder: &Path) -> Result<(), ExportError> {
        if self.last.len() < held {
            return Ok(());
        }
        self.spill(folder).map_err(|e| ExportError::write(folder, e))
    }

    fn spill(&mut self, folder: &Path) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(nameless(folder)?),
        };
        // A write that failed may have left a part behind this place.
        file.seek(SeekFrom::Start(self.whole))?;
        let bytes: &[u8] = bytemuck::cast_slice(&self.last);
        file.write_all(bytes)?;
        self.whole += bytes.len() as u64;
        self.last.clear();
        Ok(())
    }

    /// All numbers as bytes, from the first.
    ///
    /// # Errors
    /// The file system's.
    pub fn numbers(&self) -> io::Result<Box<dyn Read + '_>> {
        let last: &[u8] = bytemuck::cast_slice(&self.last);
        let Some(mut file) = self.file.as_ref() else { return Ok(Box::new(last)) };
        file.seek(SeekFrom::Start(0))?;
        Ok(Box::new(BufReader::with_capacity(8 * HELD, file.take(self.whole)).chain(last)))
    }

    /// All numbers in parts, from the first, for an array of the file `path`, which errors name.
    ///
    /// # Errors
    /// [`ExportError::Write`], of a part, too.
    pub fn parts(
        &self,
        path: &Path,
    ) -> Result<impl Iterator<Item = Result<Vec<T>, ExportError>>, ExportError> {
        let failed = |e: io::Error| ExportError::write(path, e);
        let mut numbers = self.numbers().map_err(failed)?;
        let count = (self.whole / size_of::<T>() as u64) as usize + self.last.len();
        Ok((0..count).step_by(HELD).map(move |first| {
            let mut part = vec![T::zeroed(); HELD.min(count - first)];
            numbers.read_exact(bytemuck::cast_slice_mut(&mut part)).map_err(failed)?;
            Ok(part)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_their_order_however_many_were_held() {
        let folder = std::env::temp_dir().join(format!("kintsugi-column-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // More than one part, and no multiple of one.
        let all: Vec<i32> = (0..2 * HELD as i32 + 5).map(|i| i * 7 - 3).collect();
        for held in [1000, HELD, usize::MAX] {
            let mut column = Column::default();
            for few in all.chunks(777) {
                column.extend(few.iter().copied());
                column.spill_from(held, &folder).unwrap();
                assert!(column.in_memory() < held);
            }
            let parts: Vec<Vec<i32>> =
                column.parts(&folder).unwrap().collect::<Result<_, ExportError>>().unwrap();
            assert!(parts.len() == 3 && parts.concat() == all, "{held}");
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "the files have no names");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
