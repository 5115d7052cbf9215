//! Pieces as binary PLY, one file each (the format has no objects): points with normals and colours that all adjacent
//! triangles share, so that the meshes are closed; triangles with texture coordinates and a crack flag.

use std::{fs::File, io::BufWriter, io::Write, path::Path};

use glam::Vec3;

use super::looks::{one_set, shown_color};
use crate::{
    Assembly, ExportError, FileSpace, FormatEntry, Needs, Placing, Target, Watch,
    meshes::{Corner, PieceMesh, Side},
};

/// The format.
pub(super) static FORMAT: FormatEntry = FormatEntry {
    name: "ply",
    file: "ply",
    label: "PLY",
    help: "A file a piece, with normals and colours",
    needs: Needs::Meshes,
    has_nodes: false,
    space: Target::file_space,
    write,
};

/// Writes `folder/piece_000.ply` and so on. Returns notes for the user.
///
/// # Errors
/// [`ExportError`].
fn write(folder: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    std::fs::create_dir_all(folder).map_err(|e| ExportError::write(folder, e))?;
    let mut has_second = false;
    for (done, piece) in what.pieces.iter().enumerate() {
        watch.at(done, what.pieces.len())?;
        let path = folder.join(format!("{}.ply", piece.name()));
        let file = File::create(&path).map_err(|e| ExportError::write(&path, e))?;
        let space = what.handover.space(&FORMAT);
        let color = |side: Side, corner: &Corner| shown_color(what, piece, side, corner);
        let mesh = what.mesh(done);
        has_second |= mesh.has_second_set();
        write_mesh(&mut BufWriter::new(file), &mesh, (&piece.placing, &space), &color)
            .map_err(|e| ExportError::write(&path, e))?;
    }
    Ok(one_set("PLY", has_second).into_iter().collect())
}

/// The colour of a corner of a face on this side.
type ColorOf<'a> = &'a dyn Fn(Side, &Corner) -> [u8; 3];

/// Unit normal and mean colour of each point, over all adjacent triangles.
fn shown_by_points(mesh: &PieceMesh, color: ColorOf<'_>) -> (Vec<Vec3>, Vec<[u8; 3]>) {
    let count = mesh.positions.len();
    let (mut normals, mut sums) = (vec![Vec3::ZERO; count], vec![([0u32; 3], 0u32); count]);
    for ((triangle, face), corners) in mesh.triangles.iter().zip(&mesh.faces).zip(&mesh.corners) {
        let [a, b, c] = triangle.map(|i| mesh.positions[i as usize]);
        let area = (b - a).cross(c - a).length() as f32;
        for (i, corner) in triangle.iter().zip(corners) {
            normals[*i as usize] += corner.normal * area;
            let (sum, count) = &mut sums[*i as usize];
            sum.iter_mut().zip(color(face.side, corner)).for_each(|(sum, part)| *sum += u32::from(part));
            *count += 1;
        }
    }
    let normals = normals.into_iter().map(|n| n.normalize_or(Vec3::Y)).collect();
    let mean = |(sum, count): ([u32; 3], u32)| sum.map(|part| (part / count.max(1)) as u8);
    (normals, sums.into_iter().map(mean).collect())
}

fn write_mesh(
    out: &mut impl Write,
    mesh: &PieceMesh,
    (placing, space): (&Placing, &FileSpace),
    color: ColorOf<'_>,
) -> std::io::Result<()> {
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\ncomment kintsugi {}\nelement vertex {}\n\
         property float x\nproperty float y\nproperty float z\n\
         property float nx\nproperty float ny\nproperty float nz\n\
         property uchar red\nproperty uchar green\nproperty uchar blue\n\
         element face {}\nproperty list uchar uint vertex_indices\nproperty list uchar float texcoord\n\
         property uchar inside\nend_header\n",
        env!("CARGO_PKG_VERSION"),
        mesh.positions.len(),
        mesh.triangles.len()
    )?;
    let (normals, colors) = shown_by_points(mesh, color);
    for ((p, n), color) in mesh.positions.iter().zip(&normals).zip(&colors) {
        let p = space.point(placing.point(*p)).as_vec3();
        let n = space.direction(placing.direction(*n).as_dvec3()).as_vec3();
        for v in p.to_array().into_iter().chain(n.to_array()) {
            out.write_all(&v.to_le_bytes())?;
        }
        out.write_all(color)?;
    }
    for ((triangle, face), corners) in mesh.triangles.iter().zip(&mesh.faces).zip(&mesh.corners) {
        out.write_all(&[3])?;
        for i in triangle {
            out.write_all(&i.to_le_bytes())?;
        }
        out.write_all(&[6])?;
        for v in corners.iter().flat_map(|corner| corner.uv) {
            out.write_all(&v.to_le_bytes())?;
        }
        out.write_all(&[u8::from(face.side.is_crack())])?;
    }
    out.flush()
}
