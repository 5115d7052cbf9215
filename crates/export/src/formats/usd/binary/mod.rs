//! Pieces as binary OpenUSD (a "crate file"): the layer of the format `usda`, a third of its size.
//!
//! In: pieces. Out: one layer, and textures beside it. What text says is encoded from the text itself, statement by statement, so
//! that the two forms cannot differ in what they hold; lists of numbers come as values.

mod tables;
#[cfg(test)]
mod tests;
mod text;
mod values;

use std::{
    io::{self, Write},
    path::Path,
};

use super::{
    layer::{Item, Layer},
    materials,
};
use crate::{Assembly, ExportError, FormatEntry, Needs, Target, Watch};
use text::Specs;

/// The format.
pub(crate) static FORMAT: FormatEntry = FormatEntry {
    name: "usdc",
    file: "pieces.usdc",
    label: "USDC",
    help: "OpenUSD in binary: what USD has, in a third of the bytes",
    needs: Needs::Meshes,
    has_nodes: true,
    space: Target::file_space,
    write,
};

/// Writes all pieces into one layer. Returns notes for the user.
///
/// # Errors
/// [`ExportError`].
pub(super) fn write(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let failed = |e: io::Error| ExportError::write(path, e);
    let mut out = Binary::create(path).map_err(failed)?;
    let used = super::write_layer(&mut out, path, what, watch)?;
    out.finish().map_err(failed)?;
    materials::write_textures(path, what, &used)
}

/// A binary layer in progress.
pub(super) struct Binary {
    specs: Specs,
    /// Text that has not been read yet.
    text: Vec<u8>,
}

impl Binary {
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { specs: Specs::create(path)?, text: Vec::new() })
    }

    fn read(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.text);
        self.specs.read(&text)
    }

    /// Ends the file.
    pub fn finish(mut self) -> io::Result<()> {
        self.read()?;
        self.specs.finish()
    }
}

impl Write for Binary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend(bytes);
        Ok(bytes.len())
    }

    /// Reads what came: statements are whole wherever the exporter flushes, and nowhere else.
    fn flush(&mut self) -> io::Result<()> {
        self.read()
    }
}

impl Layer for Binary {
    fn list<T: Item>(&mut self, head: &str, values: impl Iterator<Item = T>) -> io::Result<()> {
        self.read()?;
        let mut bytes = Vec::new();
        values.for_each(|value| value.bytes(&mut bytes));
        self.specs.list(head, &bytes)
    }
    fn samples(&mut self, head: &str, all: impl Iterator<Item = (f64, String)>) -> io::Result<()> {
        self.read()?;
        self.specs.samples(head, all)
    }
}
