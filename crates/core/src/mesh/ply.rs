//! PLY, text and binary of either byte order: faces of any size, triangle strips, colours, texture coordinates of
//! vertices or of faces' corners, and the textures that comments name. In: bytes. Out: triangles.
//!
//! The header's counts are used only after comparing them with the bytes that follow.

use super::{
    MapUse, Material,
    corners::{Corners, split_vertices},
    load::Surroundings,
    unchecked::{FaceColors, MISSING, Pace, Problem, UncheckedMesh, byte, number},
};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Type {
    fn named(word: &str) -> Option<Self> {
        Some(match word {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Maximum value of a colour channel.
    fn full(self) -> f64 {
        match self {
            Self::F32 | Self::F64 => 1.0,
            Self::U16 | Self::I16 => 65535.0,
            _ => 255.0,
        }
    }
}

#[derive(Debug)]
struct Property {
    name: String,
    kind: Type,
    /// Type of a list's length, if it is a list.
    list: Option<Type>,
}

#[derive(Debug)]
struct Element {
    name: String,
    count: usize,
    properties: Vec<Property>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Text,
    Little,
    Big,
}

/// The body, value by value.
struct Body<'a> {
    bytes: &'a [u8],
    at: usize,
    encoding: Encoding,
    pace: Pace,
}

impl Body<'_> {
    fn problem(&self, what: impl Into<String>) -> Problem {
        match self.encoding {
            Encoding::Text => Problem::at_text(self.at, what),
            _ => Problem::at_byte(self.at, what),
        }
    }

    fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// Least size of a value, bytes: in text one digit and a separator.
    fn least(&self, kind: Type) -> usize {
        if self.encoding == Encoding::Text { 2 } else { kind.size() }
    }

    /// Rejects `count` records of at least `least` bytes if they do not fit into the file. Text may lack its last
    /// separator.
    fn expect(&self, count: usize, least: usize, what: &str) -> Result<(), Problem> {
        let there = self.left() + usize::from(self.encoding == Encoding::Text);
        if count.checked_mul(least).is_none_or(|size| size > there) {
            let left = self.left();
            return Err(self.problem(format!(
                "{count} {what} are promised, {left} bytes are left; the file is cut short or damaged, get it again"
            )));
        }
        Ok(())
    }

    fn value(&mut self, kind: Type) -> Result<f64, Problem> {
        if self.encoding == Encoding::Text {
            let rest = &self.bytes[self.at..];
            let start = rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len());
            let length = rest[start..].iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len() - start);
            if length == 0 {
                return Err(self.problem("ends too early; the file is cut short, get it again"));
            }
            let parsed = number(&rest[start..start + length]);
            self.at += start;
            let value = parsed.ok_or_else(|| self.problem("this is not a number; the file is damaged"))?;
            self.at += length;
            return Ok(value);
        }
        let mut raw = [0u8; 8];
        let size = kind.size();
        let Some(source) = self.bytes.get(self.at..self.at + size) else {
            return Err(self.problem("ends too early; the file is cut short, get it again"));
        };
        self.at += size;
        raw[..size].copy_from_slice(source);
        if self.encoding == Encoding::Big {
            raw[..size].reverse();
        }
        let [a, b, c, d, ..] = raw;
        Ok(match kind {
            Type::I8 => f64::from(a as i8),
            Type::U8 => f64::from(a),
            Type::I16 => f64::from(i16::from_le_bytes([a, b])),
            Type::U16 => f64::from(u16::from_le_bytes([a, b])),
            Type::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Type::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            Type::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            Type::F64 => f64::from_le_bytes(raw),
        })
    }

    /// Reads a list into `out`.
    fn list(&mut self, length: Type, kind: Type, out: &mut Vec<f64>) -> Result<(), Problem> {
        out.clear();
        let count = self.value(length)?;
        if !(0.0..=f64::from(u32::MAX)).contains(&count) {
            return Err(self.problem(format!("a list cannot have {count} entries; the file is damaged")));
        }
        let count = count as usize;
        self.expect(count, self.least(kind), "list entries")?;
        for _ in 0..count {
            self.pace.go_on()?;
            out.push(self.value(kind)?);
        }
        Ok(())
    }
}

/// The header of a file.
struct Header {
    elements: Vec<Element>,
    encoding: Encoding,
    /// Names of the files of textures.
    textures: Vec<String>,
    /// Where the body begins.
    body: usize,
}

/// Most textures.
const MOST_TEXTURES: usize = 256;

/// Texture coordinates of corners, and textures of triangles, as faces have them.
#[derive(Default)]
struct Painted {
    uvs: Vec<[f32; 2]>,
    numbers: HashMap<[u32; 2], u32>,
    /// Places in `uvs` as [`Corners::of`] has them, for the triangles so far that have any.
    corners: Vec<[[u32; 2]; 3]>,
    /// Number of the texture of each triangle, for the triangles so far that have one.
    textures: Vec<u32>,
}

impl Painted {
    /// The coordinate of corner `k` of a face with this list, as a place in `uvs`.
    fn corner(&mut self, list: &[f64], k: usize) -> u32 {
        let Some([u, v]) = list.as_chunks::<2>().0.get(k).map(|uv| uv.map(|x| x as f32)) else {
            return MISSING;
        };
        *self.numbers.entry([u.to_bits(), v.to_bits()]).or_insert_with(|| {
            self.uvs.push([u, v]);
            self.uvs.len() as u32 - 1
        })
    }
}

/// Reads a PLY file into `unchecked`.
pub(super) fn read(
    bytes: &[u8],
    around: &Surroundings,
    unchecked: &mut UncheckedMesh,
) -> Result<(), Problem> {
    let Header { elements, encoding, textures, body: at } = read_header(bytes)?;
    let mut painted = Painted::default();
    let mut body = Body { bytes, at, encoding, pace: unchecked.pace.clone() };
    let faces: &[&str] = &["face", "tristrips", "tristrip"];
    let Some(last) = elements.iter().rposition(|e| e.name == "vertex" || faces.contains(&e.name.as_str()))
    else {
        return Err(Problem::whole("has neither vertices nor faces; export it as a mesh"));
    };
    for element in elements.iter().filter(|e| e.count > 0 && e.name != "vertex") {
        if !faces.contains(&element.name.as_str()) {
            unchecked.left_out.note("elements", &element.name);
        }
    }
    // Data after the last relevant element are not read, so damage there does no harm.
    for element in &elements[..=last] {
        let least: usize = element.properties.iter().map(|p| body.least(p.list.unwrap_or(p.kind))).sum();
        if least == 0 {
            continue;
        }
        body.expect(element.count, least, &format!("records of '{}'", element.name))?;
        match element.name.as_str() {
            "vertex" => read_vertices(&mut body, element, unchecked)?,
            name => {
                let strips = name.starts_with("tristrip");
                read_faces(&mut body, element, strips, !textures.is_empty(), unchecked, &mut painted)?;
            }
        }
    }
    unchecked.settle_positions();
    let triangles = unchecked.mesh.triangles.len();
    if !painted.uvs.is_empty() {
        painted.corners.resize(triangles, NO_COORDINATES);
        split_vertices(unchecked, &Corners { uvs: &painted.uvs, normals: &[], of: &painted.corners })?;
    }
    if textures.is_empty() {
        return Ok(());
    }
    if unchecked.mesh.uvs.is_empty() {
        unchecked
            .warn(format!("texture {}: left out, as there are no texture coordinates", textures.join(", ")));
        return Ok(());
    }
    for file in &textures {
        unchecked.pace.go_on_now()?;
        let mut material = Material { color: [255; 3], ..Material::default() };
        if let Some((texture, map)) = around.texture(unchecked, file) {
            material.texture = Some(texture);
            material.maps.extend(map.map(|map| (MapUse::Color, map)));
        }
        unchecked.mesh.materials.push(material);
    }
    painted.textures.resize(triangles, 0);
    unchecked.mesh.triangle_material = painted.textures;
    Ok(())
}

const NO_COORDINATES: [[u32; 2]; 3] = [[MISSING; 2]; 3];

fn read_header(bytes: &[u8]) -> Result<Header, Problem> {
    let mut elements: Vec<Element> = Vec::new();
    let (mut encoding, mut textures) = (None, Vec::new());
    let mut at = 0;
    // Lines end as the first one does: behind a CR of the last one, an LF may be a number.
    let first = bytes.iter().position(|&b| b == b'\n' || b == b'\r');
    let is_cr = first.is_some_and(|k| bytes[k] == b'\r' && bytes.get(k + 1) != Some(&b'\n'));
    let ends_line = if is_cr { b'\r' } else { b'\n' };
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(length) = rest.iter().position(|&b| b == ends_line) else {
            return Err(Problem::at_text(
                at,
                "the header has no end_header; the file is cut short or no PLY file",
            ));
        };
        let wrong = |what: &str| Problem::at_text(at, format!("{what}; the header is damaged"));
        let line = std::str::from_utf8(&rest[..length]).unwrap_or("comment");
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            ["end_header"] => {
                at += length + 1;
                break;
            }
            ["format", kind, ..] => {
                encoding = Some(match kind {
                    "ascii" => Encoding::Text,
                    "binary_little_endian" => Encoding::Little,
                    "binary_big_endian" => Encoding::Big,
                    _ => {
                        return Err(wrong(
                            "the format is none of ascii, binary_little_endian, binary_big_endian",
                        ));
                    }
                });
            }
            ["comment", "TextureFile", first, ..] if textures.len() < MOST_TEXTURES => {
                // A name may have blanks.
                let name = line.split_once("TextureFile").map_or(first, |(_, name)| name.trim());
                textures.push(name.to_owned());
            }
            ["element", name, count] => {
                let count = count.parse().map_err(|_| wrong("an element's count is no number"))?;
                elements.push(Element { name: name.into(), count, properties: Vec::new() });
            }
            ["property", "list", length, kind, name] => {
                let (Some(length), Some(kind)) = (Type::named(length), Type::named(kind)) else {
                    return Err(wrong("a property has an unknown type"));
                };
                let owner =
                    elements.last_mut().ok_or_else(|| wrong("a property comes before any element"))?;
                owner.properties.push(Property { name: name.into(), kind, list: Some(length) });
            }
            ["property", kind, name] => {
                let kind = Type::named(kind).ok_or_else(|| wrong("a property has an unknown type"))?;
                let owner =
                    elements.last_mut().ok_or_else(|| wrong("a property comes before any element"))?;
                owner.properties.push(Property { name: name.into(), kind, list: None });
            }
            ["element" | "property" | "format", ..] => {
                return Err(wrong("a line has the wrong number of words"));
            }
            // Ignores "ply", comments, obj_info and other lines.
            _ => {}
        }
        at += length + 1;
    }
    let encoding =
        encoding.ok_or_else(|| Problem::at_text(0, "the header names no format; the header is damaged"))?;
    Ok(Header { elements, encoding, textures, body: at })
}

/// Notes the properties of an element whose places are not among those that are `read`.
fn note_unread(kind: &'static str, element: &Element, read: &[usize], unchecked: &mut UncheckedMesh) {
    let unread = element.properties.iter().enumerate().filter(|(k, _)| !read.contains(k));
    unread.for_each(|(_, property)| unchecked.left_out.note(kind, &property.name));
}

/// The place of an opacity. Many programs write one, and it is left out only where something is less than opaque.
fn opacity_of(element: &Element) -> Option<usize> {
    element.properties.iter().position(|p| p.list.is_none() && ["alpha", "a"].contains(&p.name.as_str()))
}

fn read_vertices(body: &mut Body, element: &Element, unchecked: &mut UncheckedMesh) -> Result<(), Problem> {
    let place = |names: &[&str]| element.properties.iter().position(|p| names.contains(&p.name.as_str()));
    let [Some(x), Some(y), Some(z)] = [place(&["x"]), place(&["y"]), place(&["z"])] else {
        return Err(Problem::whole("its vertices lack x, y or z; export it as a mesh"));
    };
    let channels =
        [["red", "r", "diffuse_red"], ["green", "g", "diffuse_green"], ["blue", "b", "diffuse_blue"]];
    let [r, g, b] = channels.map(|names| place(&names));
    let colors = if let (Some(r), Some(g), Some(b)) = (r, g, b) { Some([r, g, b]) } else { None };
    let normal = if let [Some(x), Some(y), Some(z)] = ["nx", "ny", "nz"].map(|name| place(&[name])) {
        Some([x, y, z])
    } else {
        None
    };
    let pairs = [("s", "t"), ("u", "v"), ("texture_u", "texture_v"), ("texture_s", "texture_t")];
    let uv = pairs.into_iter().find_map(|(u, v)| Some([place(&[u])?, place(&[v])?]));
    let opacity = opacity_of(element);
    let colors_at = colors.into_iter().flatten();
    let others = normal.into_iter().flatten().chain(uv.into_iter().flatten()).chain(opacity);
    let read: Vec<usize> = [x, y, z].into_iter().chain(colors_at).chain(others).collect();
    let (kind, mut is_clear) = ("properties of vertices", false);
    note_unread(kind, element, &read, unchecked);
    // Single precision was rounded before it was written.
    let is_double =
        body.encoding == Encoding::Text || [x, y, z].iter().any(|k| element.properties[*k].kind == Type::F64);
    let mut values = vec![0.0; element.properties.len()];
    let mut scratch = Vec::new();
    for _ in 0..element.count {
        body.pace.go_on()?;
        for (value, property) in values.iter_mut().zip(&element.properties) {
            match property.list {
                Some(length) => body.list(length, property.kind, &mut scratch)?,
                None => *value = body.value(property.kind)?,
            }
        }
        let position = [x, y, z].map(|k| values[k]);
        if is_double {
            unchecked.push_position(position);
        } else {
            unchecked.mesh.positions.push(position.map(|x| x as f32));
        }
        unchecked.mesh.uvs.extend(uv.map(|uv| uv.map(|k| values[k] as f32)));
        unchecked.mesh.normals.extend(normal.map(|normal| normal.map(|k| values[k] as f32)));
        if let Some(rgb) = colors {
            let full = |k: usize| element.properties[k].kind.full();
            unchecked.mesh.colors.push(rgb.map(|k| byte((values[k] / full(k)) as f32)));
        }
        is_clear |= opacity.is_some_and(|k| values[k] < element.properties[k].kind.full());
    }
    if let Some(k) = opacity.filter(|_| is_clear) {
        unchecked.left_out.note(kind, &element.properties[k].name);
    }
    Ok(())
}

fn read_faces(
    body: &mut Body,
    element: &Element,
    strips: bool,
    has_textures: bool,
    unchecked: &mut UncheckedMesh,
    painted: &mut Painted,
) -> Result<(), Problem> {
    let is_corners =
        |p: &Property| p.list.is_some() && ["vertex_indices", "vertex_index"].contains(&p.name.as_str());
    let corners_at = element.properties.iter().position(is_corners);
    let uvs_at = element.properties.iter().position(|p| p.list.is_some() && p.name == "texcoord");
    let texture_at = element.properties.iter().position(|p| p.list.is_none() && p.name == "texnumber");
    let wanted = strips || element.name == "face";
    if wanted && corners_at.is_none() {
        return Err(Problem::whole(format!("its element '{}' has no list vertex_indices", element.name)));
    }
    let channels = ["red", "green", "blue"]
        .map(|name| element.properties.iter().position(|p| p.list.is_none() && p.name == name));
    let (opacity, kind, mut is_clear) = (opacity_of(element), "properties of faces", false);
    if wanted {
        let is_painted = !strips && channels.iter().all(Option::is_some);
        let of_colors = channels.into_iter().flatten().filter(|_| is_painted);
        let of_faces = [uvs_at, texture_at].into_iter().flatten().filter(|_| !strips);
        // Which faces a crack made, as files that Kintsugi writes say it.
        let own = element.properties.iter().position(|p| ["inside", "crack"].contains(&p.name.as_str()));
        let others = corners_at.into_iter().chain(opacity).chain(own);
        let read: Vec<usize> = of_colors.chain(of_faces).chain(others).collect();
        note_unread(kind, element, &read, unchecked);
    }
    let mut colors =
        channels.iter().all(Option::is_some).then(FaceColors::default).filter(|_| wanted && !strips);
    if !unchecked.mesh.colors.is_empty() && colors.take().is_some() {
        unchecked.warn("its faces and its vertices have colours: those of the faces are left out");
    }
    if has_textures && colors.take().is_some() {
        unchecked.warn("its faces have colours and a texture: the colours are left out");
    }
    let (mut list, mut corners, mut uvs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..element.count {
        body.pace.go_on()?;
        let (mut color, mut texture, first) = ([0u8; 3], 0, unchecked.mesh.triangles.len());
        uvs.clear();
        for (k, property) in element.properties.iter().enumerate() {
            let Some(length) = property.list else {
                let value = body.value(property.kind)?;
                if let Some(channel) = channels.iter().position(|at| *at == Some(k)) {
                    color[channel] = byte((value / property.kind.full()) as f32);
                }
                is_clear |= wanted && Some(k) == opacity && value < property.kind.full();
                if Some(k) == texture_at {
                    // A negative one is 0, and one too large the last one.
                    texture = value as u32;
                }
                continue;
            };
            if Some(k) == uvs_at {
                body.list(length, property.kind, &mut uvs)?;
                continue;
            }
            body.list(length, property.kind, &mut list)?;
            if !wanted || Some(k) != corners_at {
                continue;
            }
            corners.clear();
            corners.extend(
                list.iter().map(|&i| if (0.0..f64::from(MISSING)).contains(&i) { i as u32 } else { MISSING }),
            );
            if strips {
                // A negative index starts a new strip.
                let mut start = 0;
                for run in list.split(|&i| i < 0.0) {
                    push_strip(&corners[start..start + run.len()], unchecked);
                    start += run.len() + 1;
                }
            }
        }
        if wanted && !strips {
            for part in unchecked.parts_of(&corners) {
                unchecked.mesh.triangles.push(part.map(|k| corners[k as usize]));
                if !uvs.is_empty() {
                    painted.corners.resize(unchecked.mesh.triangles.len() - 1, NO_COORDINATES);
                    let shown = part.map(|k| [painted.corner(&uvs, k as usize), MISSING]);
                    painted.corners.push(shown);
                }
                if texture_at.is_some() {
                    painted.textures.resize(unchecked.mesh.triangles.len() - 1, 0);
                    painted.textures.push(texture);
                }
            }
        }
        if let Some(colors) = &mut colors {
            let material = colors.material(Some(color), unchecked);
            let added = unchecked.mesh.triangles.len() - first;
            unchecked.mesh.triangle_material.extend(std::iter::repeat_n(material, added));
        }
    }
    if let Some(k) = opacity.filter(|_| is_clear) {
        unchecked.left_out.note(kind, &element.properties[k].name);
    }
    Ok(())
}

fn push_strip(strip: &[u32], unchecked: &mut UncheckedMesh) {
    for (k, t) in strip.windows(3).enumerate() {
        let [a, b, c] = [t[0], t[1], t[2]];
        // Strips repeat a vertex to change direction.
        if a != b && b != c && c != a {
            unchecked.mesh.triangles.push(if k % 2 == 0 { [a, b, c] } else { [b, a, c] });
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
