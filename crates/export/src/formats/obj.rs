//! Pieces as Wavefront OBJ: one object per piece, with normals and texture coordinates, colours after the points (as
//! Blender and MeshLab read them), and materials for the outside and the inside in an MTL file.
//!
//! In: pieces. Out: `pieces.obj`, `pieces.mtl` and, where the object has textures, PNG files named after the materials.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use crate::mesh::Material;
use crate::{
    Assembly, ExportError, ExportPiece, FileSpace, FormatEntry, Needs, Target, Watch,
    meshes::{PieceMesh, Side, bake::TEXTURES},
};

/// The format.
pub(super) static FORMAT: FormatEntry = FormatEntry {
    name: "obj",
    file: "pieces.obj",
    label: "OBJ",
    help: "Wavefront: an object a piece, with materials",
    needs: Needs::Meshes,
    has_nodes: false,
    // Blender's importer turns what it reads.
    space: |target| if target == Target::Blender { FileSpace::METRES } else { target.file_space() },
    write,
};

/// Writes all pieces into one file. Returns notes for the user.
///
/// # Errors
/// [`ExportError`].
fn write(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let failed = |e: std::io::Error| ExportError::write(path, e);
    let mut out = BufWriter::new(File::create(path).map_err(failed)?);
    let count = what.pieces.len();
    let materials = path.with_extension("mtl");
    let name = materials.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    writeln!(out, "# kintsugi {}: {count} pieces\nmtllib {name}", env!("CARGO_PKG_VERSION"))
        .map_err(failed)?;
    let mut used = BTreeMap::new();
    let mut first = [1; 3];
    for done in 0..count {
        watch.at(done, count)?;
        first = write_piece(&mut out, what, done, first, &mut used).map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    write_materials(&materials, what, &used)?;
    Ok(Vec::new())
}

/// Material names, with the object's materials if it has any.
type Used<'a> = BTreeMap<String, Option<&'a Material>>;

/// The name of a side's material.
fn material_name(what: &Assembly, piece: &ExportPiece, side: Side) -> String {
    match side {
        Side::Inside => what.inside_name(piece.object),
        Side::Outside { material } if what.material(piece.object, material).is_some() => {
            let object = piece.object.map_or(String::new(), |object| format!("_{object}"));
            format!("outside{object}_{material}")
        }
        Side::Outside { .. } => "outside".into(),
    }
}

/// Numbers of rows already written, by the bits of their values.
#[derive(Default)]
struct Rows(HashMap<[u32; 3], u64>);

impl Rows {
    /// The number of a row, and whether it is new.
    fn number(&mut self, values: [f32; 3], first: u64) -> (u64, bool) {
        let next = first + self.0.len() as u64;
        let number = *self.0.entry(values.map(f32::to_bits)).or_insert(next);
        (number, number == next)
    }
}

/// Writes a piece whose points, texture coordinates and normals count from `first`; returns the next numbers.
fn write_piece<'a>(
    out: &mut impl Write,
    what: &'a Assembly,
    number: usize,
    first: [u64; 3],
    used: &mut Used<'a>,
) -> std::io::Result<[u64; 3]> {
    let (piece, mesh) = (&what.pieces[number], what.mesh(number));
    let space = what.handover.space(&FORMAT);
    writeln!(out, "o {}", piece.name())?;
    for (p, color) in mesh.positions.iter().zip(point_colors(&mesh)) {
        let (p, [r, g, b]) = (space.point(piece.placing.point(*p)), color.map(|v| f32::from(v) / 255.0));
        writeln!(out, "v {} {} {} {r:.4} {g:.4} {b:.4}", p.x as f32, p.y as f32, p.z as f32)?;
    }
    let (mut uvs, mut normals) = (Rows::default(), Rows::default());
    let mut faces = Vec::with_capacity(mesh.triangles.len());
    for (triangle, corners) in mesh.triangles.iter().zip(&mesh.corners) {
        let mut face = [[0u64; 3]; 3];
        for ((i, corner), at) in triangle.iter().zip(corners).zip(&mut face) {
            // No negative zero.
            let [u, v] = corner.uv.map(|x| x + 0.0);
            let (uv, new) = uvs.number([u, v, 0.0], first[1]);
            if new {
                writeln!(out, "vt {u} {v}")?;
            }
            let n = space.direction(piece.placing.direction(corner.normal).as_dvec3()).as_vec3();
            let (normal, new) = normals.number(n.to_array(), first[2]);
            if new {
                writeln!(out, "vn {} {} {}", n.x, n.y, n.z)?;
            }
            *at = [first[0] + u64::from(*i), uv, normal];
        }
        faces.push(face);
    }
    let mut order: Vec<(String, usize)> =
        mesh.faces.iter().enumerate().map(|(i, face)| (material_name(what, piece, face.side), i)).collect();
    order.sort();
    let mut last: Option<&str> = None;
    for (name, i) in &order {
        if last != Some(name) {
            writeln!(out, "usemtl {name}")?;
            last = Some(name);
            let own = match mesh.faces[*i].side {
                Side::Outside { material } => what.material(piece.object, material),
                Side::Inside => None,
            };
            used.insert(name.clone(), own);
        }
        let [a, b, c] = faces[*i].map(|[v, vt, vn]| format!("{v}/{vt}/{vn}"));
        writeln!(out, "f {a} {b} {c}")?;
    }
    let [points, uvs, normals] = [mesh.positions.len(), uvs.0.len(), normals.0.len()].map(|n| n as u64);
    Ok([first[0] + points, first[1] + uvs, first[2] + normals])
}

/// A colour for each point: that of its first corner.
fn point_colors(mesh: &PieceMesh) -> Vec<[u8; 3]> {
    let mut colors = vec![None; mesh.positions.len()];
    for (triangle, corners) in mesh.triangles.iter().zip(&mesh.corners) {
        for (i, corner) in triangle.iter().zip(corners) {
            colors[*i as usize].get_or_insert(corner.color);
        }
    }
    colors.into_iter().map(Option::unwrap_or_default).collect()
}

fn write_materials(path: &Path, what: &Assembly, used: &Used<'_>) -> Result<(), ExportError> {
    let mut text = String::new();
    for (name, material) in used {
        let [r, g, b] = material.map_or([255; 3], |m| m.color).map(|v| f32::from(v) / 255.0);
        text += &format!("newmtl {name}\nKd {r:.4} {g:.4} {b:.4}\nNs 30\nillum 2\n");
        if let Some(texture) = material.and_then(|m| m.texture.as_ref()) {
            let file = format!("{name}.png");
            let to = path.with_file_name(&file);
            crate::write_png(&to, [texture.width, texture.height], &texture.rgba)?;
            text += &format!("map_Kd {file}\n");
        }
        if what.is_baked(name) {
            let map = format!("{TEXTURES}/{name}");
            text += &format!("map_Kd {map}_color.png\nmap_Bump {map}_normal.png\n");
        }
        text.push('\n');
    }
    std::fs::write(path, text).map_err(|e| ExportError::write(path, e))
}
