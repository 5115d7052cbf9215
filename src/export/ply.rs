//! Pieces as binary PLY, a file each (the format has no objects): positions, normals, colours, triangles.

use std::{fs::File, io::BufWriter, io::Write, path::Path};

use super::{
    BrokenObject, ExportError, piece_name,
    surface::{PieceMesh, piece_mesh},
};

/// Writes `folder/piece_000.ply` and so on. Returns notes for the user.
///
/// # Errors
/// [`ExportError::Write`].
pub fn write_ply(folder: &Path, broken: &BrokenObject) -> Result<Vec<String>, ExportError> {
    std::fs::create_dir_all(folder).map_err(|e| ExportError::write(folder, e))?;
    for (id, &at) in broken.pieces.iter().enumerate() {
        let path = folder.join(format!("{}.ply", piece_name(id)));
        let file = File::create(&path).map_err(|e| ExportError::write(&path, e))?;
        let mesh = piece_mesh(broken, at);
        write(&mut BufWriter::new(file), &mesh).map_err(|e| ExportError::write(&path, e))?;
    }
    Ok(Vec::new())
}

fn write(out: &mut impl Write, mesh: &PieceMesh) -> std::io::Result<()> {
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\ncomment kintsugi {}\nelement vertex {}\n\
         property float x\nproperty float y\nproperty float z\n\
         property float nx\nproperty float ny\nproperty float nz\n\
         property uchar red\nproperty uchar green\nproperty uchar blue\n\
         element face {}\nproperty list uchar uint vertex_indices\nend_header\n",
        env!("CARGO_PKG_VERSION"),
        mesh.positions.len(),
        mesh.quads.len() * 2
    )?;
    for ((p, n), color) in mesh.positions.iter().zip(&mesh.normals).zip(&mesh.colors) {
        for v in p.as_vec3().to_array().into_iter().chain(n.to_array()) {
            out.write_all(&v.to_le_bytes())?;
        }
        out.write_all(color)?;
    }
    for triangle in mesh.triangles() {
        out.write_all(&[3])?;
        for i in triangle {
            out.write_all(&i.to_le_bytes())?;
        }
    }
    out.flush()
}
