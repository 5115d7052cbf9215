//! Wavefront OBJ: polygons, negative indices, smoothing groups, materials with textures, vertex colours. In: bytes. Out:
//! triangles.

use super::{
    Alpha, MapUse, Material, MaterialMap, Mesh, Part,
    corners::{Corners, split_vertices},
    left_out::listed,
    load::{Shown, Surroundings, as_utf8},
    mtl, mtl_look,
    unchecked::{MISSING, Problem, UncheckedMesh, byte, line_of, number, plain},
};
use crate::geometry::srgb;
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
};

/// Largest material library, bytes.
const LIBRARY_LIMIT: u64 = 16 << 20;
/// Most material libraries.
const MOST_LIBRARIES: usize = 64;
/// The kind of statements that are left out.
const STATEMENTS: &str = "statements";
const NO_MATERIAL: u32 = u32::MAX;
const NO_PART: u32 = u32::MAX;
/// Most characters of the name of an object.
const LONGEST_NAME: usize = 120;

#[derive(Default)]
struct Scan {
    uvs: Vec<[f32; 2]>,
    normals: Vec<[f32; 3]>,
    /// Texture coordinate and normal of each triangle corner, or [`MISSING`].
    corners: Vec<[[u32; 2]; 3]>,
    /// Material of each triangle, a number in `names`.
    material: Vec<u32>,
    names: Vec<String>,
    /// Part of each triangle, a number in `objects`, or [`NO_PART`].
    part: Vec<u32>,
    /// Names of objects, or of groups where there are no objects.
    objects: Vec<String>,
    /// The rest of each `mtllib` line.
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
    add_parts(unchecked, &mut scan);
    unchecked.settle_positions();
    if !scan.names.is_empty() {
        let moves = add_materials(around, unchecked, &scan)?;
        move_uvs(&mut scan, &moves);
    }
    split_vertices(unchecked, &Corners { uvs: &scan.uvs, normals: &scan.normals, of: &scan.corners })
}

/// Gives the mesh the parts that faces are of.
fn add_parts(unchecked: &mut UncheckedMesh, scan: &mut Scan) {
    if scan.objects.is_empty() {
        return;
    }
    let unnamed = scan.objects.len() as u32;
    let mut parts = std::mem::take(&mut scan.part);
    if parts.contains(&NO_PART) {
        scan.objects.push(String::new());
        parts.iter_mut().filter(|part| **part == NO_PART).for_each(|part| *part = unnamed);
    }
    unchecked.mesh.triangle_part = parts;
    let part = |name: String| Part { object: name.clone(), node: name, instance: None };
    unchecked.mesh.parts = std::mem::take(&mut scan.objects).into_iter().map(part).collect();
}

/// A line with its continuations after backslashes, and the start of the next one.
fn logical_line(bytes: &[u8], start: usize) -> (Cow<'_, [u8]>, usize) {
    let mut joined: Cow<[u8]> = Cow::Borrowed(&[]);
    let mut at = start;
    loop {
        let rest = &bytes[at..];
        let length = rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
        let line = &rest[..length];
        at += length + 1 + usize::from(rest[length..].starts_with(b"\r\n"));
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
    let (mut material, mut shading) = (NO_MATERIAL, Mesh::CREASED);
    // Programs that write objects write groups for other things, too.
    let mut object_numbers: HashMap<String, u32> = HashMap::new();
    let (mut part_of_file, mut named, mut has_objects) = (NO_PART, None, false);
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
                let mut value = || words.next().and_then(number);
                let (Some(x), Some(y), Some(z)) = (value(), value(), value()) else {
                    return Err(Problem::at_text(
                        start,
                        "a vertex needs three numbers; repair or export it again",
                    ));
                };
                let color = [value(), value(), value()];
                unchecked.push_position([x, y, z]);
                match color {
                    [Some(r), Some(g), Some(b)] => {
                        scan.colored += 1;
                        unchecked.mesh.colors.push([r, g, b].map(|x| byte(x as f32)));
                    }
                    [Some(weight), ..] if weight != 1.0 => {
                        unchecked.left_out.note(STATEMENTS, "v (weight)");
                    }
                    _ => {}
                }
            }
            Some(b"vt") => {
                let mut value = || words.next().and_then(number).map_or(0.0, |x| x as f32);
                scan.uvs.push([value(), value()]);
                if value() != 0.0 {
                    unchecked.left_out.note(STATEMENTS, "vt (third coordinate)");
                }
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
                // A name counts once a face has it.
                if let Some(name) = named.take() {
                    part_of_file = *object_numbers.entry(name).or_insert_with_key(|name: &String| {
                        scan.objects.push(name.clone());
                        scan.objects.len() as u32 - 1
                    });
                }
                for part in unchecked.parts_of(&corners) {
                    unchecked.mesh.triangles.push(part.map(|k| corners[k as usize]));
                    unchecked.mesh.smoothing.push(shading);
                    scan.corners.push(part.map(|k| shown[k as usize]));
                    scan.material.push(material);
                    scan.part.push(part_of_file);
                }
            }
            Some(word @ (b"o" | b"g")) if word == b"o" || !has_objects => {
                has_objects |= word == b"o";
                let rest: Vec<&[u8]> = words.collect();
                let name = String::from_utf8_lossy(&rest.join(&b' ')).into_owned();
                let plain = |c: char| if c.is_control() || c == '/' { ' ' } else { c };
                named = Some(name.chars().take(LONGEST_NAME).map(plain).collect());
            }
            Some(b"s") => shading = smoothing_group(words.next()).unwrap_or(shading),
            Some(word @ (b"usemtl" | b"mtllib")) => {
                // Names may contain blanks and number signs, so the whole rest of the line counts.
                let after = line.windows(word.len()).position(|w| w == word).map_or(0, |k| k + word.len());
                let rest = String::from_utf8_lossy(&line[after..]);
                let name = rest.split(" #").next().unwrap_or_default().trim().to_string();
                if word == b"mtllib" {
                    if scan.libraries.contains(&name) {
                        continue;
                    }
                    if scan.libraries.len() < MOST_LIBRARIES {
                        scan.libraries.push(name);
                    } else {
                        unchecked.left_out.note("further material libraries", &name);
                    }
                } else {
                    material = *name_numbers.entry(name).or_insert_with_key(|name| {
                        scan.names.push(name.clone());
                        scan.names.len() as u32 - 1
                    });
                }
            }
            // Groups within objects say nothing of the surface.
            Some(b"g") | None => {}
            Some(word) => unchecked.left_out.note(STATEMENTS, &String::from_utf8_lossy(word)),
        }
    }
    Ok(())
}

/// The shading that an `s` statement says, if it can be understood.
fn smoothing_group(word: Option<&[u8]>) -> Option<u32> {
    match word? {
        b"off" => Some(Mesh::FLAT),
        b"on" => Some(1),
        word => std::str::from_utf8(word).ok()?.parse().ok().filter(|group| *group != Mesh::CREASED),
    }
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

/// Scale and offset of texture coordinates.
type Move = ([f32; 2], [f32; 2]);

/// Reads the materials that faces name. Returns how each moves texture coordinates, if it does.
fn add_materials(
    around: &Surroundings,
    unchecked: &mut UncheckedMesh,
    scan: &Scan,
) -> Result<Vec<Option<Move>>, Problem> {
    let found = read_libraries(around, unchecked, scan)?;
    let neutral = plain(if unchecked.mesh.colors.is_empty() { [204; 3] } else { [255; 3] });
    let (mut materials, mut moves): (Vec<Material>, Vec<Option<Move>>) = Default::default();
    let (mut absent, mut left_out) = (Vec::new(), LeftOut::default());
    let mut textures = Textures { around, known: HashMap::new() };
    for name in &scan.names {
        unchecked.pace.go_on_now()?;
        let Some((material, library)) = found.get(name) else {
            absent.push(name.as_str());
            materials.push(Material { name: name.clone(), ..neutral.clone() });
            moves.push(None);
            continue;
        };
        let map = material.map("map_kd");
        let shown = map.and_then(|map| textures.shown(unchecked, library, &map.file));
        // A texture without a factor shows its own colours.
        let factor = if shown.is_some() { [255; 3] } else { neutral.color };
        let bytes = |kd: [f32; 3]| kd.map(|x| if material.is_linear { srgb::byte(x) } else { byte(x) });
        let color = material.color.map_or(factor, bytes);
        // Some exporters write black for materials whose texture should be visible.
        let color = if shown.is_some() && color == [0; 3] { [255; 3] } else { color };
        let is_moved = |map: &&mtl::Map| shown.is_some() && (map.scale, map.offset) != ([1.0; 2], [0.0; 2]);
        moves.push(map.filter(is_moved).map(|map| (map.scale, map.offset)));
        let mut carried = Material { name: name.clone(), color, ..Material::default() };
        let opacity = material.opacity.filter(|opacity| *opacity > 0.0).unwrap_or(1.0);
        let linear = material.color.filter(|kd| material.is_linear && bytes(*kd) == color);
        if opacity < 1.0 || linear.is_some() {
            let of_bytes = color.map(|byte| f64::from(srgb::linear(byte)));
            let [r, g, b] = linear.map_or(of_bytes, |kd| kd.map(|x| mtl_look::within(x, 1.0)));
            carried.factor = Some([r, g, b, mtl_look::decimal(opacity)]);
        }
        if opacity < 1.0 || shown.is_some() && has_own_opacity(material) {
            carried.alpha = Alpha::Blend;
        }
        if let Some((texture, file)) = shown {
            carried.texture = Some(texture);
            let sampler = map.map(mtl::Map::sampler).unwrap_or_default();
            carried.maps.extend(file.map(|file| (MapUse::Color, MaterialMap { sampler, ..file })));
        }
        materials.push(carried);
    }
    // Behind all colours, so that no other map takes their place within the limits.
    for ((name, material), moved) in scan.names.iter().zip(&mut materials).zip(&moves) {
        unchecked.pace.go_on_now()?;
        let Some((entry, library)) = found.get(name) else { continue };
        let told =
            mtl_look::describe(entry, material, *moved, |map| textures.shown(unchecked, library, &map.file));
        left_out.note(entry, &told);
    }
    if !absent.is_empty() && !found.is_empty() {
        unchecked.warn(format!("materials not found in any library: {}", some_of(&absent)));
    }
    for (what, names) in &left_out.parts {
        unchecked.warn(format!("left out: {what} of {}", some_of(names)));
    }
    if !left_out.statements.is_empty() {
        let statements = listed(&left_out.statements);
        unchecked.warn(format!("left out: the statements {statements} of {}", some_of(&left_out.stating)));
    }
    let fallback = materials.len() as u32;
    if scan.material.contains(&NO_MATERIAL) {
        materials.push(neutral);
    }
    unchecked.mesh.triangle_material =
        scan.material.iter().map(|&m| if m == NO_MATERIAL { fallback } else { m }).collect();
    unchecked.mesh.materials = materials;
    unchecked.pace.go_on_now()?;
    Ok(moves)
}

/// Pictures by their library and their name there. A file that several materials name is read once, and fails once.
struct Textures<'a> {
    around: &'a Surroundings,
    known: HashMap<(&'a str, &'a str), Option<Shown>>,
}

impl<'a> Textures<'a> {
    fn shown(&mut self, unchecked: &mut UncheckedMesh, library: &'a str, file: &'a str) -> Option<Shown> {
        let known = self.known.entry((library, file));
        known.or_insert_with(|| self.around.of_file(library).texture(unchecked, file)).clone()
    }
}

/// The materials of all libraries by their names, each with the name of its library; the first one counts.
fn read_libraries(
    around: &Surroundings,
    unchecked: &mut UncheckedMesh,
    scan: &Scan,
) -> Result<HashMap<String, (mtl::Entry, String)>, Problem> {
    let mut found = HashMap::new();
    for line in &scan.libraries {
        unchecked.pace.go_on_now()?;
        let whole = line.trim_matches('"');
        let mut read = vec![(whole.to_owned(), around.read(whole, LIBRARY_LIMIT))];
        let names = mtl::library_names(line);
        // A name may have blanks, so the whole line is tried first.
        if read[0].1.is_err() && names.len() > 1 {
            let names = names.into_iter().take(MOST_LIBRARIES);
            read = names.map(|name| (name.clone(), around.read(&name, LIBRARY_LIMIT))).collect();
        }
        for (library, text) in read {
            unchecked.pace.go_on_now()?;
            match text {
                Ok(text) => {
                    for material in mtl::parse(&as_utf8(&text).0) {
                        found.entry(material.name.clone()).or_insert((material, library.clone()));
                    }
                }
                Err(why) => unchecked.warn(format!("material library {library}: {why}")),
            }
        }
    }
    Ok(found)
}

/// Whether the opacity of a material is that of its colour's texture, as programs write it that have both in one picture.
fn has_own_opacity(material: &mtl::Entry) -> bool {
    let of = |statement: &str| material.map(statement).map(|map| map.file.as_str());
    of("map_d").is_some() && of("map_d") == of("map_kd")
}

/// What of materials is left out, with the names of those that have it.
#[derive(Default)]
struct LeftOut {
    /// Maps, options and the like.
    parts: BTreeMap<String, Vec<String>>,
    /// Statements without maps,
    statements: BTreeSet<String>,
    /// and the materials that have any.
    stating: Vec<String>,
}

impl LeftOut {
    /// Notes what `material` has and a [`Material`] does not carry; of `told` statements nothing is noted.
    fn note(&mut self, material: &mtl::Entry, told: &[&str]) {
        let color = material.map("map_kd");
        let mut add = |what: String| {
            let names = self.parts.entry(what).or_default();
            if names.last() != Some(&material.name) {
                names.push(material.name.clone());
            }
        };
        if material.opacity.is_some_and(|opacity| opacity <= 0.0) {
            add("the opacity 0 (d), with which nothing would be seen,".into());
        }
        // Exporters repeat the colour's texture as that of the ambient light, which is no material's own.
        let is_repeated = |map: &mtl::Map| color.is_some_and(|color| color.file == map.file);
        for (statement, map) in &material.maps {
            match statement.as_str() {
                "map_kd" => {}
                known if told.contains(&known) => {}
                "map_ka" | "map_d" if is_repeated(map) => {}
                _ => add(format!("the map {statement}")),
            }
        }
        for option in color.iter().flat_map(|map| &map.unread) {
            add(format!("the option {option} of map_kd"));
        }
        let unread = material.unread();
        if !unread.is_empty() {
            self.stating.push(material.name.clone());
            self.statements.extend(unread);
        }
    }
}

/// Some of these names, for a message.
fn some_of(names: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    let more = names.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &more
}

/// Moves the texture coordinates of each material that says so; corners of other materials keep theirs.
fn move_uvs(scan: &mut Scan, moves: &[Option<Move>]) {
    if moves.iter().all(Option::is_none) {
        return;
    }
    let Scan { uvs, corners, material, .. } = scan;
    let count = uvs.len();
    let mut moved: HashMap<(u32, u32), u32> = HashMap::new();
    for (corners, material) in corners.iter_mut().zip(material.iter()) {
        for [uv, _] in corners {
            if *uv as usize >= count {
                *uv = MISSING;
            } else if let Some(Some((scale, offset))) = moves.get(*material as usize) {
                *uv = *moved.entry((*uv, *material)).or_insert_with(|| {
                    let own = uvs[*uv as usize];
                    uvs.push([0, 1].map(|k| own[k] * scale[k] + offset[k]));
                    uvs.len() as u32 - 1
                });
            }
        }
    }
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
    fn parts_are_objects_or_groups_where_there_are_none() {
        let of = |head: &str, next: &str| {
            let text = format!("{head}v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n{next}f 1 3 2\ng again\nf 1 2 3\n");
            let (mesh, _) = crate::mesh::load_bytes(text.as_bytes(), "obj").unwrap();
            let names: Vec<String> = mesh.parts.iter().map(|part| part.object.clone()).collect();
            (mesh.triangle_part, names)
        };
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(of("", ""), (vec![1, 1, 0], named(&["again", ""])));
        assert_eq!(of("g a b\n", "g c\n"), (vec![0, 1, 2], named(&["a b", "c", "again"])));
        // Groups within objects are no parts.
        assert_eq!(of("g x\no One\n", "o Two\n"), (vec![0, 1, 1], named(&["One", "Two"])));
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
    fn statements_that_are_not_read_are_named_once() {
        let text = "o a\ng b\ns 1\ncstype bezier\nvp 0.5\nvp 0.25\nv 0 0 0 1\nv 1 0 0 0.5\nv 0 1 0\nvt 0 0 0\n\
                    lod 3\nl 1 2\nl 2 3\np 1\nf 1/1 2/1 3/1\n";
        let (mesh, warnings) = load_bytes(text.as_bytes(), "obj").unwrap();
        assert_eq!(mesh.triangles.len(), 1);
        let said: Vec<&str> = warnings.iter().map(|warning| warning.0.as_str()).collect();
        assert_eq!(said, ["statements left out: cstype, l, lod, p, v (weight), vp"]);
        // Without a face they are the likely reason.
        let message = load_bytes(b"v 0 0 0\nv 1 0 0\nl 1 2\n", "obj").unwrap_err().message;
        assert!(message.contains("statements left out: l"), "{message}");
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
