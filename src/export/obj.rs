//! Pieces as Wavefront OBJ: one object a piece, quads, colours after the coordinates (as Blender and MeshLab
//! read them).

use std::{fs::File, io::BufWriter, io::Write, path::Path};

use super::{Assembly, ExportError, ExportPiece, Watch, surface::piece_mesh};

/// Writes all pieces into one file. Returns notes for the user.
///
/// # Errors
/// [`ExportError`].
pub(super) fn write(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let failed = |e: std::io::Error| ExportError::write(path, e);
    let mut out = BufWriter::new(File::create(path).map_err(failed)?);
    let count = what.pieces.len();
    writeln!(out, "# kintsugi {}: {count} pieces", env!("CARGO_PKG_VERSION")).map_err(failed)?;
    let mut first = 1;
    for (done, piece) in what.pieces.iter().enumerate() {
        watch.at(done, count)?;
        first = write_piece(&mut out, piece, first).map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    Ok(Vec::new())
}

/// Writes a piece whose vertices count from `first`; returns the number of the next one's first.
fn write_piece(out: &mut impl Write, piece: &ExportPiece, first: u64) -> std::io::Result<u64> {
    let mesh = piece_mesh(&piece.shape);
    writeln!(out, "o {}", piece.name())?;
    for (p, color) in mesh.positions.iter().zip(&mesh.colors) {
        let (p, [r, g, b]) = (piece.placing.point(*p), color.map(|v| f32::from(v) / 255.0));
        writeln!(out, "v {} {} {} {r:.4} {g:.4} {b:.4}", p.x as f32, p.y as f32, p.z as f32)?;
    }
    for quad in &mesh.quads {
        let [a, b, c, d] = quad.map(|i| first + u64::from(i));
        writeln!(out, "f {a} {b} {c} {d}")?;
    }
    for triangle in &mesh.loose {
        let [a, b, c] = triangle.map(|i| first + u64::from(i));
        writeln!(out, "f {a} {b} {c}")?;
    }
    Ok(first + mesh.positions.len() as u64)
}
