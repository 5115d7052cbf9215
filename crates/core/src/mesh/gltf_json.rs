//! The part of glTF's JSON that holds surfaces, and the chunks of a GLB. In: bytes. Out: plain data; every
//! reference is an unchecked number, to be looked up with `get`.
//!
//! Written here because the gltf crate's validation indexes out of bounds on damaged files.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    material::TextureTransform,
    unchecked::{Pace, Problem},
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

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
    pub samplers: Vec<SamplerJson>,
    pub images: Vec<Image>,
    pub accessors: Vec<Accessor>,
    pub buffer_views: Vec<View>,
    pub buffers: Vec<Buffer>,
    pub skins: Vec<Skin>,
    pub animations: Vec<IgnoredAny>,
    pub cameras: Vec<IgnoredAny>,
    pub extensions_used: Vec<String>,
    pub extensions_required: Vec<String>,
}

impl Root {
    /// Most corners of a part according to its accessors, limited by their bytes.
    pub fn corners(&self, part: &Primitive) -> usize {
        let count = |number: usize| {
            let accessor = self.accessors.get(number)?;
            // Few bytes can pack any number of corners.
            if part.extensions.draco.is_some() {
                return Some(accessor.count);
            }
            let Some(view) = accessor.buffer_view else {
                return accessor.sparse.is_some().then_some(accessor.count);
            };
            Some(accessor.count.min(self.buffer_views.get(view)?.byte_length))
        };
        let numbers = [part.indices, part.attributes.get("POSITION").copied()];
        numbers.into_iter().flatten().filter_map(count).max().unwrap_or(0)
    }

    /// A warning for each extension that is not read.
    pub fn unread(&self) -> Vec<String> {
        let named = self.extensions_used.iter().chain(&self.extensions_required).map(String::as_str);
        let is_left_out = |name: &&str| !is_read(name) || WITHOUT_INFLUENCE.contains(name);
        let unread: BTreeSet<&str> = named.filter(is_left_out).collect();
        let warning = |name: &str| match name {
            VARIANTS => {
                format!("other materials that parts may have ({name}) left out: each has its default")
            }
            _ if is_read(name) => format!("what {name} says left out: it is about no surface"),
            _ => format!("the extension {name} is not read: what it adds is left out"),
        };
        unread.into_iter().map(warning).collect()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asset {
    pub version: String,
}

/// What is read of a file of another version.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Versioned {
    asset: Asset,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Scene {
    pub nodes: Vec<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    pub name: Option<String>,
    pub children: Vec<usize>,
    pub mesh: Option<usize>,
    pub matrix: Option<[f64; 16]>,
    pub translation: Option<[f64; 3]>,
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
    pub skin: Option<usize>,
    /// Weights of the mesh's morph targets, in place of the mesh's own.
    pub weights: Option<Vec<f32>>,
    pub extensions: NodeExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NodeExtensions {
    #[serde(rename = "EXT_mesh_gpu_instancing")]
    pub instances: Option<Instances>,
}

/// Places of copies of a node's mesh.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Instances {
    /// Accessors `TRANSLATION`, `ROTATION`, `SCALE`.
    pub attributes: BTreeMap<String, usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Skin {
    pub joints: Vec<usize>,
    pub inverse_bind_matrices: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MeshJson {
    pub name: Option<String>,
    pub primitives: Vec<Primitive>,
    /// Default weights of morph targets.
    pub weights: Vec<f32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Primitive {
    /// Accessor of each attribute.
    pub attributes: BTreeMap<String, usize>,
    /// Accessors of the displacements of each morph target.
    pub targets: Vec<BTreeMap<String, usize>>,
    pub indices: Option<usize>,
    pub material: Option<usize>,
    /// 4 triangles (the default), 5 strip, 6 fan; others have no surface.
    pub mode: Option<u32>,
    pub extensions: PrimitiveExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    pub draco: Option<PackedPart>,
}

/// Where the stream is that packs a part's triangles and attributes.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PackedPart {
    pub buffer_view: usize,
    /// By attribute its number in the stream.
    pub attributes: BTreeMap<String, u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct MaterialJson {
    pub name: Option<String>,
    pub pbr_metallic_roughness: Pbr,
    pub normal_texture: Option<TextureInfo>,
    pub occlusion_texture: Option<TextureInfo>,
    pub emissive_texture: Option<TextureInfo>,
    /// Linear.
    pub emissive_factor: [f64; 3],
    pub alpha_mode: Option<String>,
    pub alpha_cutoff: Option<f64>,
    pub double_sided: bool,
    pub extensions: MaterialExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MaterialExtensions {
    #[serde(rename = "KHR_materials_pbrSpecularGlossiness")]
    pub specular_glossiness: Option<SpecularGlossiness>,
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct SpecularGlossiness {
    /// Linear.
    pub diffuse_factor: Option<[f64; 4]>,
    pub diffuse_texture: Option<TextureInfo>,
    /// Linear.
    pub specular_factor: Option<[f64; 3]>,
    pub glossiness_factor: Option<f64>,
    pub specular_glossiness_texture: Option<TextureInfo>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Pbr {
    /// Linear.
    pub base_color_factor: Option<[f64; 4]>,
    pub base_color_texture: Option<TextureInfo>,
    pub metallic_factor: Option<f64>,
    pub roughness_factor: Option<f64>,
    pub metallic_roughness_texture: Option<TextureInfo>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TextureInfo {
    pub index: usize,
    pub tex_coord: u32,
    /// Factor of a normal map's slopes.
    pub scale: Option<f64>,
    /// Share of an occlusion map.
    pub strength: Option<f64>,
    pub extensions: TextureInfoExtensions,
}

impl TextureInfo {
    /// The set of coordinates that the picture uses.
    pub fn set(&self) -> u32 {
        self.extensions.transform.as_ref().and_then(|t| t.tex_coord).unwrap_or(self.tex_coord)
    }

    /// Where the picture lies on its coordinates, if the file says so.
    pub fn transform(&self) -> Option<TextureTransform> {
        self.extensions.transform.as_ref().map(|t| TextureTransform {
            offset: t.offset.unwrap_or_default(),
            rotation: t.rotation,
            scale: t.scale.unwrap_or([1.0; 2]),
        })
    }

    /// A coordinate (v down) as the picture uses it.
    pub fn moved(&self, uv: [f32; 2]) -> [f32; 2] {
        self.transform().map_or(uv, |transform| transform.moved(uv))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub transform: Option<TransformJson>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TransformJson {
    pub offset: Option<[f64; 2]>,
    /// Radians.
    pub rotation: f64,
    pub scale: Option<[f64; 2]>,
    pub tex_coord: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextureJson {
    pub source: Option<usize>,
    pub sampler: Option<usize>,
    pub extensions: TextureExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct SamplerJson {
    pub mag_filter: Option<u32>,
    pub min_filter: Option<u32>,
    pub wrap_s: Option<u32>,
    pub wrap_t: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextureExtensions {
    #[serde(rename = "EXT_texture_webp")]
    pub webp: Option<WebpSource>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WebpSource {
    pub source: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Image {
    pub name: Option<String>,
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
    pub sparse: Option<Sparse>,
}

/// Elements that differ from those of the buffer view, or from zero where there is none.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Sparse {
    pub count: usize,
    pub indices: SparseData,
    pub values: SparseData,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct SparseData {
    pub buffer_view: usize,
    pub byte_offset: usize,
    pub component_type: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct View {
    pub buffer: usize,
    pub byte_offset: usize,
    pub byte_length: usize,
    pub byte_stride: Option<usize>,
    pub extensions: ViewExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ViewExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    pub packed: Option<Packed>,
}

/// Where the bytes of a packed view are, and how they are packed.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Packed {
    pub buffer: usize,
    pub byte_offset: usize,
    pub byte_length: usize,
    /// Size of an unpacked element, bytes.
    pub byte_stride: usize,
    pub count: usize,
    pub mode: String,
    /// Empty: none.
    pub filter: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Buffer {
    pub uri: Option<String>,
    pub extensions: BufferExtensions,
}

impl Buffer {
    /// Whether it stands for packed data alone, in programs that cannot unpack them.
    pub fn is_fallback(&self) -> bool {
        self.extensions.fallback.as_ref().is_some_and(|mark| mark.fallback)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BufferExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    pub fallback: Option<Fallback>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Fallback {
    pub fallback: bool,
}

impl Accessor {
    /// Number of components of an element.
    pub fn width(&self) -> Option<usize> {
        Some(match self.kind.as_str() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            _ => return None,
        })
    }

    /// Size of a component, bytes.
    pub fn component_size(&self) -> Option<usize> {
        size_of_component(self.component_type)
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

/// Extensions that change which triangles, coordinates or colours a file has, and that are read.
const READ: [&str; 7] = [
    "EXT_mesh_gpu_instancing",
    "EXT_meshopt_compression",
    "EXT_texture_webp",
    "KHR_draco_mesh_compression",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_mesh_quantization",
    "KHR_texture_transform",
];

/// Extensions of materials that go to the pieces as they came, with their textures.
const CARRIED: [&str; 12] = [
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_diffuse_transmission",
    "KHR_materials_dispersion",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_unlit",
    "KHR_materials_volume",
];

/// Extensions without any influence on the pieces, which carry colours and textures of the surface alone.
const WITHOUT_INFLUENCE: [&str; 3] = ["KHR_lights_punctual", "KHR_xmp_json_ld", "KHR_animation_pointer"];

/// Parts may have other materials, which a program chooses among by it; each has one without it, too.
const VARIANTS: &str = "KHR_materials_variants";

/// Whether an extension of a material goes to the pieces as it came.
pub(super) fn is_carried(extension: &str) -> bool {
    CARRIED.contains(&extension)
}

/// Whether what an extension says is read as it is meant, or has no influence.
fn is_read(extension: &str) -> bool {
    READ.contains(&extension) || WITHOUT_INFLUENCE.contains(&extension) || is_carried(extension)
}

/// Size of a component of this type, bytes.
pub(super) fn size_of_component(kind: u32) -> Option<usize> {
    Some(match kind {
        5120 | 5121 => 1,
        5122 | 5123 => 2,
        5125 | 5126 => 4,
        _ => return None,
    })
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
    let root: Root = serde_json::from_slice(text).map_err(|error| {
        // A file of glTF 1.0 is built in another way.
        let version =
            serde_json::from_slice(text).map_or(String::new(), |file: Versioned| file.asset.version);
        if version.starts_with('1') {
            return other_version(&version);
        }
        Problem::whole(format!("its JSON is damaged ({error}); export it again"))
    })?;
    // Materials that a file may have by choice are no reason to refuse it.
    let is_needed = |name: &&str| !is_read(name) && *name != VARIANTS;
    let unknown: Vec<&str> = root.extensions_required.iter().map(String::as_str).filter(is_needed).collect();
    if !unknown.is_empty() {
        return Err(Problem::whole(format!(
            "it can be read only with {}, which Kintsugi does not read; export it without compression and extensions",
            unknown.join(", ")
        )));
    }
    if !root.asset.version.starts_with('2') {
        return Err(other_version(&root.asset.version));
    }
    Ok((root, binary))
}

fn other_version(version: &str) -> Problem {
    Problem::whole(format!("is version '{version}', only 2.0 is read; export it as 2.0"))
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
        if word(4) == Some(1) {
            return Err(other_version("1.0"));
        }
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
