//! Wavefront OBJ: polygons, negative indices, materials with textures, vertex colours. In: bytes. Out: triangles.
//!
//! The geometry is read here rather than by tobj, which fails at the first index out of range without giving the line;
//! tobj reads material libraries.

use super::{
    Material, Texture,
    load::Surroundings,
    unchecked::{
        MISSING, Problem, TEXTURE_FILE_LIMIT, UncheckedMesh, Wanted, byte, line_of, number, plain,
        triangles_within,
    },
};
use std::{borrow::Cow, collections::HashMap, io::Cursor, sync::Arc};

/// Largest material library, bytes.
const LIBRARY_LIMIT: u64 = 16 << 20;
const NO_MATERIAL: u32 = u32::MAX;

#[derive(Default)]
struct Scan {
    uvs: Vec<[f32; 2]>,
    normals: Vec<[f32; 3]>,
    /// Texture coordinate and normal of each triangle corner, or [`MISSING`].
    corners: Vec<[[u32; 2]; 3]>,
    /// Material of each triangle, a number in `names`.
    material: Vec<u32>,
    names: Vec<String>,
    libraries: Vec<String>,
    colored: usize,
    odd_lines: usize,
    first_odd_line: usize,
}

/// Reads an OBJ file into `unchecked`.
pub(super) fn read(
    bytes: &[u8],
    around: &Surroundings,
    unchecked: &mut UncheckedMesh,
) -> Result<(), Problem> {
    let mut scan = Scan::default();
    scan_lines(bytes, unchecked, &mut scan)?;
    if scan.odd_lines > 0 {
        unchecked.warn(format!(
            "{} faces that are not lists of indices left out, the first in line {}",
            scan.odd_lines, scan.first_odd_line
        ));
    }
    if scan.colored != unchecked.mesh.positions.len() {
        if scan.colored > 0 {
            unchecked.warn("only some vertices have colours: they are not used");
        }
        unchecked.mesh.colors.clear();
    }
    split_vertices(unchecked, &scan)?;
    if !scan.names.is_empty() {
        add_materials(around, unchecked, &scan)?;
    }
    Ok(())
}

/// A line with its continuations after backslashes, and the start of the next one.
fn logical_line(bytes: &[u8], start: usize) -> (Cow<'_, [u8]>, usize) {
    let mut joined: Cow<[u8]> = Cow::Borrowed(&[]);
    let mut at = start;
    loop {
        let rest = &bytes[at..];
        let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        let line = rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]);
        at += length + 1;
        let (line, more) = match line.strip_suffix(b"\\") {
            Some(line) => (line, at < bytes.len()),
            None => (line, false),
        };
        if joined.is_empty() && !more {
            return (Cow::Borrowed(line), at);
        }
        joined.to_mut().extend_from_slice(line);
        joined.to_mut().push(b' ');
        if !more {
            return (joined, at);
        }
    }
}

fn scan_lines(bytes: &[u8], unchecked: &mut UncheckedMesh, scan: &mut Scan) -> Result<(), Problem> {
    let mut name_numbers: HashMap<String, u32> = HashMap::new();
    let mut material = NO_MATERIAL;
    let (mut corners, mut shown): (Vec<u32>, Vec<[u32; 2]>) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        unchecked.pace.go_on()?;
        let start = at;
        let (line, next) = logical_line(bytes, start);
        at = next;
        let code = line.split(|&b| b == b'#').next().unwrap_or_default();
        let mut words = code.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        match words.next() {
            Some(b"v") => {
                let mut value = || words.next().and_then(number).map(|x| x as f32);
                let (Some(x), Some(y), Some(z)) = (value(), value(), value()) else {
                    return Err(Problem::at_text(
                        start,
                        "a vertex needs three numbers; repair or export it again",
                    ));
                };
                unchecked.mesh.positions.push([x, y, z]);
                let color = [value(), value(), value()];
                if let [Some(r), Some(g), Some(b)] = color {
                    scan.colored += 1;
                    unchecked.mesh.colors.push([r, g, b].map(byte));
                }
            }
            Some(b"vt") => {
                let mut value = || words.next().and_then(number).map_or(0.0, |x| x as f32);
                scan.uvs.push([value(), value()]);
            }
            Some(b"vn") => {
                let mut value = || words.next().and_then(number).map_or(0.0, |x| x as f32);
                scan.normals.push([value(), value(), value()]);
            }
            Some(b"f") => {
                corners.clear();
                shown.clear();
                for word in words {
                    unchecked.pace.go_on()?;
                    let mut parts = word.split(|&b| b == b'/');
                    corners.push(index(parts.next(), unchecked.mesh.positions.len()));
                    let uv = index(parts.next(), scan.uvs.len());
                    shown.push([uv, index(parts.next(), scan.normals.len())]);
                }
                if corners.len() < 3 {
                    scan.odd_lines += 1;
                    if scan.odd_lines == 1 {
                        scan.first_odd_line = line_of(bytes, start);
                    }
                    continue;
                }
                for part in triangles_within(&corners, &unchecked.mesh.positions) {
                    unchecked.mesh.triangles.push(part.map(|k| corners[k as usize]));
                    scan.corners.push(part.map(|k| shown[k as usize]));
                    scan.material.push(material);
                }
            }
            Some(word @ (b"usemtl" | b"mtllib")) => {
                // Names may contain blanks and number signs, so the whole rest of the line counts.
                let after = line.windows(word.len()).position(|w| w == word).map_or(0, |k| k + word.len());
                let rest = String::from_utf8_lossy(&line[after..]);
                let name = rest.split(" #").next().unwrap_or_default().trim().to_string();
                if word == b"mtllib" {
                    if !scan.libraries.contains(&name) && scan.libraries.len() < 64 {
                        scan.libraries.push(name);
                    }
                } else {
                    material = *name_numbers.entry(name).or_insert_with_key(|name| {
                        scan.names.push(name.clone());
                        scan.names.len() as u32 - 1
                    });
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// An index that counts from 1, or backwards from `count`; [`MISSING`] if invalid.
fn index(word: Option<&[u8]>, count: usize) -> u32 {
    let parsed = word.and_then(|w| std::str::from_utf8(w).ok()).and_then(|w| w.parse::<i64>().ok());
    let zero_based = match parsed {
        Some(k @ 1..) => k - 1,
        Some(k @ ..=-1) => count as i64 + k,
        _ => -1,
    };
    u32::try_from(zero_based).unwrap_or(MISSING)
}

/// Splits positions so that each combination of position, texture coordinate and normal is a vertex.
fn split_vertices(unchecked: &mut UncheckedMesh, scan: &Scan) -> Result<(), Problem> {
    let counts = [scan.uvs.len(), scan.normals.len()];
    let usable =
        |shown: [u32; 2]| [0, 1].map(|k| if (shown[k] as usize) < counts[k] { shown[k] } else { MISSING });
    let used = |k: usize| scan.corners.iter().flatten().any(|shown| usable(*shown)[k] != MISSING);
    let [has_uvs, has_normals] = [0, 1].map(used);
    if !has_uvs && !has_normals {
        return Ok(());
    }
    let UncheckedMesh { mesh, pace, .. } = unchecked;
    let count = mesh.positions.len();
    // Vertices 0..count keep their numbers and take their first corner's attributes; others are found by position and
    // attributes.
    const FREE: [u32; 2] = [MISSING - 1; 2];
    let mut shown_at: Vec<[u32; 2]> = vec![FREE; count];
    let mut others: HashMap<(u32, [u32; 2]), u32> = HashMap::new();
    for (triangle, corners) in mesh.triangles.iter_mut().zip(&scan.corners) {
        pace.go_on()?;
        for (corner, &shown) in triangle.iter_mut().zip(corners) {
            let shown = usable(shown);
            let Some(first) = shown_at.get_mut(*corner as usize).filter(|_| (*corner as usize) < count)
            else {
                continue;
            };
            if *first == FREE {
                *first = shown;
            }
            if *first != shown {
                *corner = *others.entry((*corner, shown)).or_insert_with(|| {
                    let place = *corner as usize;
                    mesh.positions.push(mesh.positions[place]);
                    if let Some(&color) = mesh.colors.get(place) {
                        mesh.colors.push(color);
                    }
                    shown_at.push(shown);
                    mesh.positions.len() as u32 - 1
                });
            }
        }
    }
    if has_uvs {
        let uv = |shown: &[u32; 2]| scan.uvs.get(shown[0] as usize).copied().unwrap_or_default();
        mesh.uvs = shown_at.iter().map(uv).collect();
    }
    if has_normals {
        let normal = |shown: &[u32; 2]| scan.normals.get(shown[1] as usize).copied().unwrap_or_default();
        mesh.normals = shown_at.iter().map(normal).collect();
    }
    Ok(())
}

fn add_materials(around: &Surroundings, unchecked: &mut UncheckedMesh, scan: &Scan) -> Result<(), Problem> {
    let mut found: HashMap<String, (tobj::Material, usize)> = HashMap::new();
    for (number, library) in scan.libraries.iter().enumerate() {
        unchecked.pace.go_on_now()?;
        let text = match around.read(library, LIBRARY_LIMIT) {
            Ok(text) => text,
            Err(why) => {
                unchecked.warn(format!("material library {library}: {why}"));
                continue;
            }
        };
        let text = usable_lines(&text);
        let mut wanted = Wanted { bytes: Cursor::new(text.as_bytes()), pace: unchecked.pace.clone() };
        match tobj::load_mtl_buf(&mut wanted) {
            Ok((materials, _)) => {
                for material in materials {
                    found.entry(material.name.clone()).or_insert((material, number));
                }
            }
            Err(error) => unchecked.warn(format!("material library {library} cannot be understood: {error}")),
        }
    }
    let neutral = plain(if unchecked.mesh.colors.is_empty() { [204; 3] } else { [255; 3] });
    let mut materials: Vec<Material> = Vec::new();
    let mut absent = Vec::new();
    // A file that several materials name is read once, and fails once.
    let mut textures: HashMap<(usize, &str), Option<Arc<Texture>>> = HashMap::new();
    for name in &scan.names {
        unchecked.pace.go_on_now()?;
        let Some((material, library)) = found.get(name) else {
            absent.push(name.as_str());
            materials.push(neutral.clone());
            continue;
        };
        let texture = material.diffuse_texture.as_ref().and_then(|reference| {
            let file = texture_file(reference);
            let known = textures.entry((*library, file));
            known.or_insert_with(|| texture_of(around, unchecked, &scan.libraries[*library], file)).clone()
        });
        let color = material.diffuse.map_or(neutral.color, |kd| kd.map(byte));
        // Some exporters write black for materials whose texture should be visible.
        let color = if texture.is_some() && color == [0; 3] { [255; 3] } else { color };
        materials.push(Material { color, texture });
    }
    if !absent.is_empty() && !found.is_empty() {
        absent.truncate(5);
        unchecked.warn(format!("materials not found in any library: {}", absent.join(", ")));
    }
    let fallback = materials.len() as u32;
    if scan.material.contains(&NO_MATERIAL) {
        materials.push(neutral);
    }
    unchecked.mesh.triangle_material =
        scan.material.iter().map(|&m| if m == NO_MATERIAL { fallback } else { m }).collect();
    unchecked.mesh.materials = materials;
    unchecked.pace.go_on_now()
}

/// The lines of a material library that are used: tobj panics at a colour of fewer than three numbers, and gives up the
/// whole library at any line that it cannot read.
fn usable_lines(library: &[u8]) -> String {
    let is_usable = |line: &&str| {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("newmtl" | "map_Kd") => words.next().is_some(),
            Some("Kd") => words.take(3).filter(|word| word.parse::<f32>().is_ok()).count() == 3,
            _ => false,
        }
    };
    let text = String::from_utf8_lossy(library);
    text.lines().filter(is_usable).flat_map(|line| [line, "\n"]).collect()
}

/// The picture in `file`, which a material library names.
fn texture_of(
    around: &Surroundings,
    unchecked: &mut UncheckedMesh,
    library: &str,
    file: &str,
) -> Option<Arc<Texture>> {
    match around.of_file(library).read(file, TEXTURE_FILE_LIMIT) {
        Ok(encoded) => unchecked.decode_texture(file, &encoded).map(Arc::new),
        Err(why) => {
            unchecked.warn(format!("texture {file}: {why}"));
            None
        }
    }
}

/// The file in a map statement, which may have options such as `-s 1 1 1` in front.
fn texture_file(reference: &str) -> &str {
    let reference = reference.trim();
    if reference.starts_with('-') { reference.rsplit(' ').next().unwrap_or(reference) } else { reference }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::load_bytes;

    pub const MIXED: &str = concat!(
        "# a comment\r\no thing\r\nv 0 0 0 1 0 0\r\nv 1 0 0 0 1 0 # odd\r\nv 1 1 0 0 0 1\r\n",
        "v 0 1 0 1 1 1\r\nvt 0 0\r\nvt 1 0\r\nvt 1 1\r\nvn 0 0 1\r\nmtllib gone.mtl\r\ng left\r\n",
        "f 1/1/1 2/2/1 \\\r\n 3/3/1 4//1\r\nusemtl some name\r\ns off\r\n",
        "f -4/1/1 -3/2/1 -2/1/1 # again\r\nf 1 2 99\r\nf 1 2\r\n",
    );

    #[test]
    fn a_line_that_cannot_be_read_costs_a_library_that_line_alone() {
        let library =
            b"newmtl a\nKd 0.5\nKd\nKd x 0 0\nKd spectral s.rfl\nillum\nNs\nmap_Kd\n# \xff\nKd 1 0.5 0 1\r\n\
            newmtl\nnewmtl b c\n  map_Kd -s 1 1 1 a b.png\n";
        let text = super::usable_lines(library);
        let (materials, _) = tobj::load_mtl_buf(&mut text.as_bytes()).unwrap();
        let [a, b] = &materials[..] else { panic!("{materials:?}") };
        assert_eq!((a.name.as_str(), a.diffuse), ("a", Some([1.0, 0.5, 0.0])));
        assert_eq!((b.name.as_str(), b.diffuse_texture.as_deref()), ("b c", Some("-s 1 1 1 a b.png")));
    }

    #[test]
    fn concave_polygons_are_filled_within_their_outline() {
        // An L, whose fan from the first corner lies outside in part, in all three formats and both ways round.
        let outline = [[2, 1], [1, 1], [1, 2], [0, 2], [0, 0], [2, 0]];
        for is_turned in [false, true] {
            let mut corners: Vec<usize> = (0..6).collect();
            if is_turned {
                corners.reverse();
            }
            let list =
                |first: usize| corners.iter().map(|k| (k + first).to_string()).collect::<Vec<_>>().join(" ");
            let points = |word: &str| {
                outline.iter().map(|[x, y]| format!("{word}{x} {y} 0.001\n")).collect::<String>()
            };
            let ply = "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float z\n\
                       element face 1\nproperty list uchar int vertex_indices\nend_header\n";
            let files = [
                (format!("{}f {}\n", points("v "), list(1)), "obj"),
                (format!("OFF\n6 1 0\n{}6 {}\n", points(""), list(0)), "off"),
                (format!("{ply}{}6 {}\n", points(""), list(0)), "ply"),
            ];
            for (text, extension) in files {
                let (mesh, warnings) = load_bytes(text.as_bytes(), extension).unwrap();
                let area = |t: &[u32; 3]| {
                    let [a, b, c] = t.map(|i| glam::Vec3::from(mesh.positions[i as usize]));
                    (b - a).cross(c - a).z / 2.0
                };
                let areas: Vec<f32> = mesh.triangles.iter().map(area).collect();
                assert!(areas.len() == 4 && warnings.is_empty(), "{extension}: {warnings:?}");
                assert!(areas.iter().all(|area| (*area > 0.0) != is_turned), "{extension}: {areas:?}");
                assert_eq!(areas.iter().sum::<f32>().abs(), 3.0, "{extension}");
            }
        }
    }

    #[test]
    fn polygons_negative_indices_and_odd_lines() {
        let (mesh, warnings) = load_bytes(MIXED.as_bytes(), "obj").unwrap();
        assert_eq!(mesh.triangles.len(), 3);
        assert_eq!(&mesh.triangles[..2], &[[0, 1, 2], [0, 2, 3]]);
        // The third corner now has another texture coordinate, hence another vertex at the same position.
        let [a, b, c] = mesh.triangles[2];
        assert_eq!((a, b), (0, 1));
        assert_eq!(mesh.positions[c as usize], [1.0, 1.0, 0.0]);
        assert_eq!((mesh.uvs[c as usize], mesh.uvs[2]), ([0.0, 0.0], [1.0, 1.0]));
        assert!(mesh.normals.iter().all(|n| [[0.0, 0.0, 1.0], [0.0; 3]].contains(n)));
        assert_eq!((mesh.colors[c as usize], mesh.colors.len()), ([0, 0, 255], mesh.positions.len()));
        assert_eq!(mesh.triangle_material, [1, 1, 0]);
        let all = warnings.iter().map(|w| w.0.as_str()).collect::<Vec<_>>().join("|");
        println!("{all}");
        assert!(all.contains("gone.mtl") && all.contains("1 triangle dropped") && all.contains("line 19"));
    }

    /// Two triangles share an edge without sharing normals: its ends are duplicated. Lengths of normals do not count.
    #[test]
    fn normals_part_vertices() {
        let text =
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 -2\nvn 0 -1 0\nf 1//1 3//1 2//1\nf 1//2 2//2 4//9\n";
        let (mesh, _) = load_bytes(text.as_bytes(), "obj").unwrap();
        assert_eq!(mesh.triangles, [[0, 2, 1], [4, 5, 3]]);
        assert_eq!(mesh.positions[4..], [mesh.positions[0], mesh.positions[1]]);
        let [down, front, none] = [[0.0, 0.0, -1.0], [0.0, -1.0, 0.0], [0.0; 3]];
        assert_eq!(mesh.normals, [down, down, down, none, front, front]);
        assert!(mesh.uvs.is_empty());
    }

    #[test]
    fn a_vertex_that_is_no_number_names_its_line() {
        let message = load_bytes(b"v 0 0 0\nv 1 zero 0\n", "obj").unwrap_err().message;
        assert!(message.contains("line 2: a vertex"), "{message}");
    }
}
