//! Text tables that grow during a run: written in whole lines, on disk as soon as [`Sheet::flush`] returns. A table is
//! begun in a folder aside, moves into its place, and grows there.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, BufWriter, Write as _},
    path::Path,
};

use super::ExportError;
use crate::disk::{Growing, UnderWay, beside};

/// A file of lines being written.
#[derive(Debug)]
pub struct Sheet {
    file: Growing,
    /// Lines not yet written.
    lines: String,
}

impl Sheet {
    /// Creates the file with its first line.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn create(path: &Path, header: &str) -> Result<Self, ExportError> {
        let file = Growing::open(path, 0).map_err(|e| ExportError::write(path, e))?;
        let mut sheet = Self { file, lines: String::new() };
        sheet.line(header);
        sheet.flush()?;
        Ok(sheet)
    }

    /// The file lies in `folder` now, under the same name.
    pub fn moved_to(&mut self, folder: &Path) {
        self.file.moved_to(folder);
    }

    /// Adds a line, for the next [`Sheet::flush`].
    pub fn line(&mut self, line: &str) {
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    /// Writes the added lines. If that fails, the file ends with the last whole line written before.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn flush(&mut self) -> Result<(), ExportError> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let added = self.file.add(self.lines.as_bytes());
        added.map_err(|error| ExportError::write(self.file.path(), error))?;
        self.lines.clear();
        Ok(())
    }

    /// Adds a column to the first line and to all that follow it: a new file replaces the old one by renaming.
    ///
    /// # Errors
    /// [`ExportError::Write`]; the file is then unchanged.
    pub fn add_column(&mut self, name: &str, value: &str) -> Result<(), ExportError> {
        self.flush()?;
        let beside = beside(self.file.path());
        let _under_way = UnderWay::at(&beside);
        let widened = self.widen(&beside, name, value);
        if widened.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_file(&beside);
        }
        widened.map_err(|e| ExportError::write(self.file.path(), e))
    }

    fn widen(&mut self, beside: &Path, name: &str, value: &str) -> std::io::Result<()> {
        let mut wide = BufWriter::new(File::create(beside)?);
        let mut whole = 0;
        for (number, line) in BufReader::new(File::open(self.file.path())?).lines().enumerate() {
            let line = format!("{},{}\n", line?, if number == 0 { name } else { value });
            wide.write_all(line.as_bytes())?;
            whole += line.len() as u64;
        }
        wide.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        self.file.replace_by(beside, whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_there_when_they_were_flushed_and_columns_join_all_of_them() {
        let path = std::env::temp_dir().join(format!("kintsugi-sheet-{}.csv", std::process::id()));
        let mut sheet = Sheet::create(&path, "a").unwrap();
        sheet.line("1");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\n");
        sheet.flush().unwrap();
        sheet.line("2");
        sheet.add_column("b", "0").unwrap();
        sheet.line("3,4");
        sheet.flush().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a,b\n1,0\n2,0\n3,4\n");
        assert_eq!(fs::metadata(&path).unwrap().len(), sheet.file.whole());
        fs::remove_file(&path).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told() {
        // Writing to this device always fails for lack of space.
        let full = Sheet::create(Path::new("/dev/full"), "a").unwrap_err().to_string();
        assert!(full.contains("has room"), "{full}");
    }
}
