//! Pieces as Wavefront OBJ: one object a piece, quads, colours after the coordinates (as Blender and MeshLab read them).

use std::{fs::File, io::BufWriter, io::Write, path::Path};

use super::{BrokenObject, ExportError, piece_name, surface::piece_mesh};

/// Writes all pieces into one file. Returns notes for the user.
///
/// # Errors
/// [`ExportError::Write`].
pub fn write_obj(path: &Path, broken: &BrokenObject) -> Result<Vec<String>, ExportError> {
    let file = File::create(path).map_err(|e| ExportError::write(path, e))?;
    write(&mut BufWriter::new(file), broken).map_err(|e| ExportError::write(path, e))?;
    Ok(Vec::new())
}

fn write(out: &mut impl Write, broken: &BrokenObject) -> std::io::Result<()> {
    writeln!(out, "# kintsugi {}: {} pieces", env!("CARGO_PKG_VERSION"), broken.pieces.len())?;
    let mut first = 1u64;
    for (id, &at) in broken.pieces.iter().enumerate() {
        let mesh = piece_mesh(broken, at);
        writeln!(out, "o {}", piece_name(id))?;
        for (p, color) in mesh.positions.iter().zip(&mesh.colors) {
            let [r, g, b] = color.map(|v| f32::from(v) / 255.0);
            writeln!(out, "v {} {} {} {r:.4} {g:.4} {b:.4}", p.x as f32, p.y as f32, p.z as f32)?;
        }
        for quad in &mesh.quads {
            let [a, b, c, d] = quad.map(|i| first + u64::from(i));
            writeln!(out, "f {a} {b} {c} {d}")?;
        }
        first += mesh.positions.len() as u64;
    }
    out.flush()
}
