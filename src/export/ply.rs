//! Pieces as binary PLY, a file each (the format has no objects): positions, normals, colours, triangles.

use std::{fs::File, io::BufWriter, io::Write, path::Path};

use super::{
    Assembly, ExportError, Placing, Watch,
    surface::{PieceMesh, piece_mesh},
};

/// Writes `folder/piece_000.ply` and so on. Returns notes for the user.
///
/// # Errors
/// [`ExportError`].
pub(super) fn write(folder: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    std::fs::create_dir_all(folder).map_err(|e| ExportError::write(folder, e))?;
    for (done, piece) in what.pieces.iter().enumerate() {
        watch.at(done, what.pieces.len())?;
        let path = folder.join(format!("{}.ply", piece.name()));
        let file = File::create(&path).map_err(|e| ExportError::write(&path, e))?;
        let mesh = piece_mesh(&piece.shape);
        write_mesh(&mut BufWriter::new(file), &mesh, &piece.placing)
            .map_err(|e| ExportError::write(&path, e))?;
    }
    Ok(Vec::new())
}

fn write_mesh(out: &mut impl Write, mesh: &PieceMesh, placing: &Placing) -> std::io::Result<()> {
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\ncomment kintsugi {}\nelement vertex {}\n\
         property float x\nproperty float y\nproperty float z\n\
         property float nx\nproperty float ny\nproperty float nz\n\
         property uchar red\nproperty uchar green\nproperty uchar blue\n\
         element face {}\nproperty list uchar uint vertex_indices\nend_header\n",
        env!("CARGO_PKG_VERSION"),
        mesh.positions.len(),
        mesh.quads.len() * 2 + mesh.loose.len()
    )?;
    for ((p, n), color) in mesh.positions.iter().zip(&mesh.normals).zip(&mesh.colors) {
        let (p, n) = (placing.point(*p).as_vec3(), placing.direction(*n));
        for v in p.to_array().into_iter().chain(n.to_array()) {
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
