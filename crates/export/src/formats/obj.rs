//! Pieces as Wavefront OBJ: one object per piece, with normals and texture coordinates, colours after the points (as
//! Blender and MeshLab read them), and materials for the outside and the inside in an MTL file.
//!
//! In: pieces. Out: `pieces.obj`, `pieces.mtl` and, where the object has textures, their files, named after the materials. A
//! point has one colour, by which programs multiply: of a point of the object's own materials it is the vertex colour alone.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use super::looks::{IOR, Names, OPACITY, is_clear, left_out, one_set, own_material, roughness, seen};
use crate::{
    Assembly, ExportError, ExportPiece, FileSpace, FormatEntry, Needs, Target, Watch,
    geometry::srgb,
    mesh::{Alpha, MapUse, Material, Wrap},
    meshes::{Face, PieceMesh, Side, bake::TEXTURES},
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
    let mut used = Used { names: Names::of(what, clean), by_name: BTreeMap::new(), has_second: false };
    let mut first = [1; 3];
    for done in 0..count {
        watch.at(done, count)?;
        first = write_piece(&mut out, what, done, first, &mut used).map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    let mut notes = write_materials(&materials, what, &used)?;
    notes.extend(one_set("OBJ", used.has_second));
    Ok(notes)
}

/// What is said of maps that lie at a second set of texture coordinates, which OBJ lacks.
fn second_set_left_out(name: &str, material: &Material) -> Option<String> {
    let second: Vec<&str> =
        material.maps.iter().filter(|(_, map)| map.is_second).map(|(of, _)| of.name()).collect();
    (!second.is_empty()).then(|| {
        format!(
            "MTL: maps of material {name} at the second texture coordinates left out: {}",
            second.join(", ")
        )
    })
}

/// Names of materials; of those that pieces show, the object and the side of one that does.
struct Used {
    names: Names,
    by_name: BTreeMap<String, (Option<usize>, Side)>,
    /// Whether a piece has a second set of texture coordinates.
    has_second: bool,
}

/// A name that MTL has: a number sign begins a comment, a backslash goes on in the next line.
fn clean(name: &str) -> String {
    let kept = |c: char| if c.is_control() || matches!(c, '#' | '\\') { '_' } else { c };
    let name: String = name.trim().chars().map(kept).collect();
    if name.is_empty() { "_".to_owned() } else { name }
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
fn write_piece(
    out: &mut impl Write,
    what: &Assembly,
    number: usize,
    first: [u64; 3],
    used: &mut Used,
) -> std::io::Result<[u64; 3]> {
    let (piece, mesh) = (&what.pieces[number], what.mesh(number));
    let space = what.handover.space(&FORMAT);
    used.has_second |= mesh.has_second_set();
    writeln!(out, "o {}", piece.name())?;
    if let Some(origin) = what.origins.get(&number) {
        // A name with blanks would be several groups.
        writeln!(out, "g {}", clean(&origin.object).replace(char::is_whitespace, "_"))?;
    }
    for (p, color) in mesh.positions.iter().zip(point_colors(&mesh, what, piece)) {
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
    let name = |face: &Face| used.names.name(piece.object, Some(face.side));
    let mut order: Vec<(&str, usize)> =
        mesh.faces.iter().enumerate().map(|(i, face)| (name(face), i)).collect();
    order.sort_unstable();
    let mut last: Option<&str> = None;
    for (name, i) in order {
        if last != Some(name) {
            writeln!(out, "usemtl {name}")?;
            last = Some(name);
            used.by_name.entry(name.to_owned()).or_insert((piece.object, mesh.faces[i].side));
        }
        let [a, b, c] = faces[i].map(|[v, vt, vn]| format!("{v}/{vt}/{vn}"));
        writeln!(out, "f {a} {b} {c}")?;
    }
    let [points, uvs, normals] = [mesh.positions.len(), uvs.0.len(), normals.0.len()].map(|n| n as u64);
    Ok([first[0] + points, first[1] + uvs, first[2] + normals])
}

/// A colour for each point: the vertex colour of the object's own materials, else that of its first corner.
fn point_colors(mesh: &PieceMesh, what: &Assembly, piece: &ExportPiece) -> Vec<[u8; 3]> {
    let mut colors: Vec<Option<[u8; 3]>> = vec![None; mesh.positions.len()];
    for is_own in [true, false] {
        for ((triangle, face), corners) in mesh.triangles.iter().zip(&mesh.faces).zip(&mesh.corners) {
            let own = own_material(what, piece.object, Some(face.side));
            if own.is_some() != is_own {
                continue;
            }
            for (i, corner) in triangle.iter().zip(corners) {
                let paint = |(_, own): (u32, &Material)| {
                    if own.is_painted { own.paint_of(corner.color) } else { [255; 3] }
                };
                let plain = || seen(what, piece, Some(face.side), corner.color);
                colors[*i as usize].get_or_insert_with(|| own.map_or_else(plain, paint));
            }
        }
    }
    colors.into_iter().map(Option::unwrap_or_default).collect()
}

fn write_materials(path: &Path, what: &Assembly, used: &Used) -> Result<Vec<String>, ExportError> {
    let (mut text, mut notes) = (String::new(), Vec::new());
    // Blender takes `Kd` for linear, others for what a screen shows; its own libraries begin in the same way.
    let is_linear = what.handover.target == Some(Target::Blender);
    let digits = if is_linear { 6 } else { 4 };
    if is_linear {
        text += "# Blender's colours: Kd is linear\n";
    }
    for (name, (object, side)) in &used.by_name {
        let own = own_material(what, *object, Some(*side));
        let shown = own.map_or([255; 3], |(_, m)| m.color);
        let linear = own.and_then(|(_, m)| m.factor).map(|[r, g, b, _]| [r, g, b]);
        let [r, g, b] = if is_linear {
            linear.unwrap_or_else(|| shown.map(srgb::precise_linear))
        } else {
            shown.map(|v| f64::from(v) / 255.0)
        };
        text += &format!("newmtl {name}\nKd {r:.digits$} {g:.digits$} {b:.digits$}\nNs 30\nillum 2\n");
        if let Some((number, material)) = own {
            let file = |of: MapUse| used.names.file(*object, number, of);
            text += &described(material, &file);
            notes.extend(second_set_left_out(name, material));
            used.names.write_files(path, (*object, number), material, &mut notes)?;
            left_out("MTL", (name, material), &["KHR_materials_ior"], &mut notes);
            for of in [MapUse::MetallicRoughness, MapUse::Occlusion] {
                if material.maps.contains_key(&of) {
                    notes.push(format!(
                        "MTL: the {} map of material {name} lies beside it and is not used",
                        of.name()
                    ));
                }
            }
        }
        if own.is_none() && is_clear(what, *object, Some(*side)) {
            text += &format!("d {OPACITY}\nNi {IOR}\nPr {}\n", roughness(what, *object, Some(*side)));
        }
        if side.is_crack() && what.maps.contains_key(object) {
            let map = format!("{TEXTURES}/{}", what.inside_name(*object));
            text += &format!("map_Kd {map}_color.png\n{} {map}_normal.png\n", bump(1.0));
        }
        text.push('\n');
    }
    std::fs::write(path, text).map_err(|e| ExportError::write(path, e))?;
    Ok(notes)
}

/// The statement of a normal map with its scale, which is written even where it is 1: without it Blender 4.2 takes 0.
fn bump(scale: f64) -> String {
    format!("map_Bump -bm {scale}")
}

/// The lines of an object's own material: opacity, the factors of its roughness and metal (the extension of MTL that Blender has,
/// too), emitted light, and maps.
fn described<'a>(material: &Material, file: &impl Fn(MapUse) -> Option<&'a str>) -> String {
    let mut text = String::new();
    // An opaque material's opacity does not count.
    if material.opacity() < 1.0 && material.alpha != Alpha::Opaque {
        text += &format!("d {}\n", material.opacity());
    }
    text += &format!("Pr {}\nPm {}\n", material.roughness, material.metallic);
    if let Some(ior) = material.refraction() {
        text += &format!("Ni {ior}\n");
    }
    if material.emissive != [0.0; 3] {
        let [r, g, b] = material.emissive;
        text += &format!("Ke {r} {g} {b}\n");
    }
    let map = |of: MapUse, words: &str| {
        if material.maps.get(&of).is_some_and(|map| map.is_second) {
            return String::new();
        }
        let wrap = material.maps.get(&of).map(|map| map.sampler.wrap);
        let clamp = if wrap == Some([Wrap::Clamp; 2]) { "-clamp on " } else { "" };
        file(of).map_or(String::new(), |file| format!("{words} {clamp}{file}\n"))
    };
    text += &map(MapUse::Color, "map_Kd");
    if material.alpha != Alpha::Opaque {
        text += &map(MapUse::Color, "map_d");
    }
    text += &map(MapUse::Emissive, "map_Ke");
    text += &map(MapUse::Normal, &bump(material.normal_scale));
    text += &map(MapUse::Normal, "norm");
    text
}
