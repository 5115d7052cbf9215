//! Points and polygons with colours and whole numbers as binary PLY, which ParaView, Blender, Open3D and meshio open.
//! All attributes belong to points, since few readers support attributes of polygons.
//!
//! In: lists of equal length. Out: a file; coordinates are 64-bit, as in the arrays.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use super::ExportError;

/// A named attribute of points.
pub type Column<'a> = (&'a str, Vec<i32>);

/// Contents of a file.
#[derive(Default)]
pub struct PlainPly<'a> {
    /// Points.
    pub points: Vec<[f64; 3]>,
    /// Colour of each point, sRGB.
    pub colors: Vec<[u8; 3]>,
    /// Attributes of points.
    pub columns: Vec<Column<'a>>,
    /// Polygons as point indices.
    pub polygons: Vec<Vec<u32>>,
}

impl PlainPly<'_> {
    /// Writes the file.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn write(&self, path: &Path) -> Result<(), ExportError> {
        let file = File::create(path).map_err(|e| ExportError::write(path, e))?;
        self.fill(&mut BufWriter::new(file)).map_err(|e| ExportError::write(path, e))
    }

    fn fill(&self, out: &mut impl Write) -> std::io::Result<()> {
        write!(
            out,
            "ply\nformat binary_little_endian 1.0\ncomment kintsugi {}\nelement vertex {}\n\
             property double x\nproperty double y\nproperty double z\n\
             property uchar red\nproperty uchar green\nproperty uchar blue\n",
            env!("CARGO_PKG_VERSION"),
            self.points.len()
        )?;
        self.columns.iter().try_for_each(|(name, _)| writeln!(out, "property int {name}"))?;
        if !self.polygons.is_empty() {
            let count = self.polygons.len();
            write!(out, "element face {count}\nproperty list uchar int vertex_indices\n")?;
        }
        out.write_all(b"end_header\n")?;
        let number = |out: &mut dyn Write, column: &Column<'_>, row: usize| {
            out.write_all(&column.1.get(row).copied().unwrap_or_default().to_le_bytes())
        };
        for (row, point) in self.points.iter().enumerate() {
            point.iter().try_for_each(|x| out.write_all(&(x + 0.0).to_le_bytes()))?;
            out.write_all(&self.colors.get(row).copied().unwrap_or([128; 3]))?;
            self.columns.iter().try_for_each(|column| number(out, column, row))?;
        }
        for corners in &self.polygons {
            // A convex face of a cell among 8192 has far fewer vertices.
            let count = u8::try_from(corners.len())
                .map_err(|_| std::io::Error::other("a face has over 255 corners"))?;
            out.write_all(&[count])?;
            corners.iter().try_for_each(|corner| out.write_all(&corner.to_le_bytes()))?;
        }
        out.flush()
    }
}
