//! The part of glTF's JSON that holds surfaces, and the chunks of a GLB. In: bytes. Out: plain data; every
//! reference is an unchecked number, to be looked up with `get`.
//!
//! Written here because the gltf crate's validation indexes out of bounds on damaged files.

use super::unchecked::{Pace, Problem};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Root {
    pub asset: Asset,
    pub scene: Option<usize>,
    pub scenes: Vec<Scene>,
    pub nodes: Vec<Node>,
    pub meshes: Vec<MeshJson>,
    pub materials: Vec<MaterialJson>,
    pub textures: Vec<TextureJson>,
    pub images: Vec<Image>,
    pub accessors: Vec<Accessor>,
    pub buffer_views: Vec<View>,
    pub buffers: Vec<Buffer>,
}

impl Root {
    /// Most corners of a part according to its accessors, limited by their bytes.
    pub fn corners(&self, part: &Primitive) -> usize {
        let count = |number: usize| {
            let accessor = self.accessors.get(number)?;
            let view = self.buffer_views.get(accessor.buffer_view?)?;
            Some(accessor.count.min(view.byte_length))
        };
        let numbers = [part.indices, part.attributes.get("POSITION").copied()];
        numbers.into_iter().flatten().filter_map(count).max().unwrap_or(0)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asset {
    pub version: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Scene {
    pub nodes: Vec<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    pub children: Vec<usize>,
    pub mesh: Option<usize>,
    pub matrix: Option<[f32; 16]>,
    pub translation: Option<[f32; 3]>,
    pub rotation: Option<[f32; 4]>,
    pub scale: Option<[f32; 3]>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MeshJson {
    pub primitives: Vec<Primitive>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Primitive {
    /// Accessor of each attribute.
    pub attributes: std::collections::BTreeMap<String, usize>,
    pub indices: Option<usize>,
    pub material: Option<usize>,
    /// 4 triangles (the default), 5 strip, 6 fan; others have no surface.
    pub mode: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct MaterialJson {
    pub pbr_metallic_roughness: Pbr,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Pbr {
    /// Linear.
    pub base_color_factor: Option<[f32; 4]>,
    pub base_color_texture: Option<TextureInfo>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TextureInfo {
    pub index: usize,
    pub tex_coord: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextureJson {
    pub source: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Image {
    pub uri: Option<String>,
    pub buffer_view: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: Option<usize>,
    pub byte_offset: usize,
    pub component_type: u32,
    pub normalized: bool,
    pub count: usize,
    #[serde(rename = "type")]
    pub kind: String,
    pub sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct View {
    pub buffer: usize,
    pub byte_offset: usize,
    pub byte_length: usize,
    pub byte_stride: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Buffer {
    pub uri: Option<String>,
}

impl Accessor {
    /// Number of components of an element.
    pub fn width(&self) -> Option<usize> {
        Some(match self.kind.as_str() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => return None,
        })
    }

    /// Size of a component, bytes.
    pub fn component_size(&self) -> Option<usize> {
        Some(match self.component_type {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            5125 | 5126 => 4,
            _ => return None,
        })
    }

    /// A component from its little-endian bytes.
    pub fn component(&self, bytes: &[u8]) -> f32 {
        let b: [u8; 4] = std::array::from_fn(|k| bytes.get(k).copied().unwrap_or(0));
        let (value, full) = match self.component_type {
            5120 => (f32::from(b[0] as i8), 127.0),
            5121 => (f32::from(b[0]), 255.0),
            5122 => (f32::from(i16::from_le_bytes([b[0], b[1]])), 32767.0),
            5123 => (f32::from(u16::from_le_bytes([b[0], b[1]])), 65535.0),
            _ => (f32::from_le_bytes(b), 1.0),
        };
        if self.normalized { value / full } else { value }
    }
}

/// Size limit of the JSON, bytes; buffers and pictures inside it count.
const JSON_LIMIT: usize = 256 << 20;
/// Limit of the objects in the JSON: two bytes of it (`{}`) become 170 in memory.
const OBJECT_LIMIT: usize = 2 << 20;
/// Limit of all values in the JSON. A file with as many holds some 150,000 parts.
const VALUE_LIMIT: usize = 8 << 20;
/// Bytes of JSON between two checks for cancellation.
const PIECE: usize = 4 << 20;

/// Refuses JSON that would become far larger in memory than it is.
fn check_size(text: &[u8], pace: &Pace) -> Result<(), Problem> {
    let too_much =
        |what: &str| Problem::whole(format!("its JSON holds {what}; export it as GLB, or split it"));
    if text.len() > JSON_LIMIT {
        return Err(too_much(&format!("more than {} MiB", JSON_LIMIT >> 20)));
    }
    let (mut objects, mut values) = (0, 0);
    let (mut in_string, mut is_escaped) = (false, false);
    for piece in text.chunks(PIECE) {
        pace.go_on_now()?;
        for byte in piece {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if in_string => is_escaped = true,
                b'"' => in_string = !in_string,
                b'{' if !in_string => objects += 1,
                b',' if !in_string => values += 1,
                _ => {}
            }
        }
    }
    match (objects > OBJECT_LIMIT, values > VALUE_LIMIT) {
        (true, _) => Err(too_much(&format!("{objects} objects, and {OBJECT_LIMIT} are the most"))),
        (_, true) => Err(too_much(&format!("{values} values, and {VALUE_LIMIT} are the most"))),
        _ => Ok(()),
    }
}

/// The JSON and the binary chunk (empty in a text file).
pub(super) fn parse<'a>(bytes: &'a [u8], pace: &Pace) -> Result<(Root, &'a [u8]), Problem> {
    let (text, binary) = if bytes.starts_with(b"glTF") { split(bytes)? } else { (bytes, &[][..]) };
    check_size(text, pace)?;
    let root: Root = serde_json::from_slice(text)
        .map_err(|error| Problem::whole(format!("its JSON is damaged ({error}); export it again")))?;
    if !root.asset.version.starts_with('2') {
        return Err(Problem::whole(format!(
            "is version '{}', only 2.0 is read; export it as 2.0",
            root.asset.version
        )));
    }
    Ok((root, binary))
}

/// The chunks of a GLB: a 12-byte header, then length, kind, data.
fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), Problem> {
    let word = |at: usize| {
        let raw: Option<[u8; 4]> = bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
        raw.map(|b| u32::from_le_bytes(b) as usize)
    };
    let chunk = |at: usize, kind: &[u8]| {
        let length = word(at)?;
        (bytes.get(at + 4..at + 8)? == kind).then_some(())?;
        Some((bytes.get(at + 8..(at + 8).checked_add(length)?)?, at + 8 + length))
    };
    let Some((text, end)) = chunk(12, b"JSON") else {
        return Err(Problem::at_byte(12, "the JSON chunk is missing or cut short; get the file again"));
    };
    if word(end).is_none() {
        return Ok((text, &[]));
    }
    let Some((binary, _)) = chunk(end, b"BIN\0") else {
        return Err(Problem::at_byte(end, "the binary chunk is cut short; get the file again"));
    };
    Ok((text, binary))
}
