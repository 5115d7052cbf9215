//! Text tables that grow during a run: written in whole lines, on disk as soon as [`Sheet::flush`] returns. A table is
//! begun in a folder aside, moves into its place, and grows there.

use std::{
    fs::{self, File, OpenOptions},
    io::{BufRead as _, BufReader, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use super::ExportError;
use crate::disk::{UnderWay, beside};

/// A file of lines being written.
#[derive(Debug)]
pub struct Sheet {
    path: PathBuf,
    /// `None` until the next write: an open file could keep its folder from being moved.
    file: Option<File>,
    /// Size of the whole lines in the file, bytes.
    whole: u64,
    /// Lines not yet written.
    lines: String,
}

impl Sheet {
    /// Creates the file with its first line.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn create(path: &Path, header: &str) -> Result<Self, ExportError> {
        let file = File::create(path).map_err(|e| ExportError::write(path, e))?;
        let mut sheet = Self { path: path.to_owned(), file: Some(file), whole: 0, lines: String::new() };
        sheet.line(header);
        sheet.flush()?;
        sheet.file = None;
        Ok(sheet)
    }

    /// The file lies in `folder` now, under the same name.
    pub fn moved_to(&mut self, folder: &Path) {
        self.path = folder.join(self.path.file_name().unwrap_or_default());
        self.file = None;
    }

    fn file(&mut self) -> std::io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => OpenOptions::new().append(true).open(&self.path)?,
        };
        Ok(self.file.insert(file))
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
        let (whole, lines) = (self.whole, std::mem::take(&mut self.lines));
        let written = self.file().and_then(|file| {
            file.write_all(lines.as_bytes()).inspect_err(|_| {
                // The first error is the one to report.
                let _ = file.set_len(whole);
            })
        });
        self.lines = lines;
        written.map_err(|error| ExportError::write(&self.path, error))?;
        self.whole += self.lines.len() as u64;
        self.lines.clear();
        Ok(())
    }

    /// Adds a column to the first line and to all that follow it: a new file replaces the old one by renaming.
    ///
    /// # Errors
    /// [`ExportError::Write`]; the file is then unchanged.
    pub fn add_column(&mut self, name: &str, value: &str) -> Result<(), ExportError> {
        self.flush()?;
        let beside = beside(&self.path);
        let _under_way = UnderWay::at(&beside);
        let widened = self.widen(&beside, name, value);
        if widened.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_file(&beside);
        }
        widened.map_err(|e| ExportError::write(&self.path, e))
    }

    fn widen(&mut self, beside: &Path, name: &str, value: &str) -> std::io::Result<()> {
        let mut wide = BufWriter::new(File::create(beside)?);
        let mut whole = 0;
        for (number, line) in BufReader::new(File::open(&self.path)?).lines().enumerate() {
            let line = format!("{},{}\n", line?, if number == 0 { name } else { value });
            wide.write_all(line.as_bytes())?;
            whole += line.len() as u64;
        }
        let wide = wide.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        fs::rename(beside, &self.path)?;
        (self.file, self.whole) = (Some(wide), whole);
        Ok(())
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
        assert_eq!(fs::metadata(&path).unwrap().len(), sheet.whole);
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
