//! Pieces as binary glTF: one node and one mesh a piece, pivot at its centre of mass, named `piece_000`,
//! `piece_001`, ...
//!
//! In: pieces. Out: a primitive for each material of the outside and one for the inside, in one buffer: positions,
//! normals, texture coordinates, vertex colours (linear, as glTF wants them) and, for masks, the piece's number, its
//! cell, the cell beyond the crack and the distance to the nearest crack face (`_PIECE`, `_CELL`, `_BEYOND`,
//! `_CRACK_DISTANCE`). A piece that is turned keeps its axes, and its node turns it. Mass, volume, cell and generation
//! are in each node's `extras`.

use std::{collections::BTreeMap, io::Cursor, path::Path, sync::LazyLock};

use serde_json::{Value, json};

use super::{
    Assembly, ExportError, ExportPiece, Watch,
    mesh::{Primitive, Side, primitives},
    motion::Motion,
};
use crate::mesh::Texture;

const FLOAT: u32 = 5126;
const U16: u32 = 5123;
const U32: u32 = 5125;

/// Writes all pieces into one file. Returns notes for the user.
///
/// # Errors
/// [`ExportError`].
pub(super) fn write(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let mut file = File { what, path, buffer: Buffer::default(), looks: Looks::default() };
    let (mut nodes, mut meshes) = (Vec::new(), Vec::new());
    for (done, piece) in what.pieces.iter().enumerate() {
        watch.at(done, what.pieces.len())?;
        let parts = primitives(&what.mesh(done));
        let mut node = node(piece);
        if !parts.is_empty() {
            let parts: Result<Vec<Value>, _> = parts.iter().map(|part| file.primitive(piece, part)).collect();
            node["mesh"] = meshes.len().into();
            meshes.push(json!({ "name": piece.name(), "primitives": parts? }));
        }
        nodes.push(node);
    }
    let all: Vec<usize> = (0..nodes.len()).collect();
    watch.at(1, 1)?;
    let animations = match &what.motion {
        Some(motion) => animation(&mut file.buffer, motion),
        None => Vec::new(),
    };
    let File { buffer, looks, .. } = file;
    let mut document = json!({
        "asset": { "version": "2.0", "generator": concat!("kintsugi ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{ "nodes": all }],
        "nodes": nodes,
    });
    // glTF knows no empty lists.
    for (name, list) in [
        ("animations", animations),
        ("meshes", meshes),
        ("materials", looks.materials),
        ("textures", looks.textures),
        ("images", looks.images),
        ("accessors", buffer.accessors),
        ("bufferViews", buffer.views),
    ] {
        if !list.is_empty() {
            document[name] = list.into();
        }
    }
    if document.get("textures").is_some() {
        const REPEAT: u32 = 10497;
        document["samplers"] = json!([{ "wrapS": REPEAT, "wrapT": REPEAT }]);
    }
    if !buffer.bytes.is_empty() {
        document["buffers"] = json!([{ "byteLength": buffer.bytes.len() }]);
    }
    write_chunks(path, &document, buffer.bytes)
}

/// A piece's node, without its mesh.
fn node(piece: &ExportPiece) -> Value {
    let figures = piece.figures();
    let mut extras = json!({
        "generation": piece.generation,
        "mass": figures.mass,
        "volume": figures.volume,
    });
    for (name, number) in [("cell", piece.cell.map(u64::from)), ("object", piece.object.map(|o| o as u64))] {
        if let Some(number) = number {
            extras[name] = number.into();
        }
    }
    let mut node = json!({
        "name": piece.name(),
        "translation": figures.centre.to_array(),
        "extras": extras,
    });
    if piece.placing.is_turned() {
        // A quaternion of f32 that readers find to be of length 1.
        node["rotation"] = json!(piece.placing.rotation.normalize().as_quat().normalize().to_array());
    }
    node
}

/// What moves, as one animation. What is not there yet or no longer has no size.
fn animation(buffer: &mut Buffer, motion: &Motion) -> Vec<Value> {
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for (node, track) in motion.tracks.iter().enumerate() {
        let times: Vec<f32> = track.keys.iter().map(|key| key.time as f32).collect();
        let mut add = |input: usize, output: usize, path: &str, how: &str| {
            channels.push(json!({ "sampler": samplers.len(), "target": { "node": node, "path": path } }));
            samplers.push(json!({ "input": input, "output": output, "interpolation": how }));
        };
        if times.len() > 1 {
            let places: Vec<[f32; 3]> = track.keys.iter().map(|k| k.position.as_vec3().to_array()).collect();
            let turns: Vec<[f32; 4]> =
                track.keys.iter().map(|k| k.rotation.normalize().as_quat().normalize().to_array()).collect();
            let input = buffer.times(&times);
            add(input, buffer.keys(&places, "VEC3"), "translation", "LINEAR");
            add(input, buffer.keys(&turns, "VEC4"), "rotation", "LINEAR");
        }
        let mut there = vec![(0.0, track.born.is_none())];
        there.extend(track.born.map(|time| (time as f32, true)));
        there.extend(track.died.map(|time| (time as f32, false)));
        if there.len() > 1 {
            let times: Vec<f32> = there.iter().map(|(time, _)| *time).collect();
            let sizes: Vec<[f32; 3]> =
                there.iter().map(|(_, there)| [f32::from(u8::from(*there)); 3]).collect();
            let input = buffer.times(&times);
            add(input, buffer.keys(&sizes, "VEC3"), "scale", "STEP");
        }
    }
    if channels.is_empty() {
        return Vec::new();
    }
    vec![json!({ "name": "recorded", "samplers": samplers, "channels": channels })]
}

/// Materials and their pictures, each once.
#[derive(Default)]
struct Looks {
    materials: Vec<Value>,
    textures: Vec<Value>,
    images: Vec<Value>,
    known: BTreeMap<(Option<usize>, Option<u32>), usize>,
}

/// What is being written.
struct File<'a> {
    what: &'a Assembly,
    path: &'a Path,
    buffer: Buffer,
    looks: Looks,
}

impl File<'_> {
    /// One part of a piece.
    fn primitive(&mut self, piece: &ExportPiece, part: &Primitive) -> Result<Value, ExportError> {
        let (pivot, scale) = (piece.shape.mass().centre, piece.placing.scale);
        let positions: Vec<[f32; 3]> =
            part.positions.iter().map(|p| ((*p - pivot) * scale).as_vec3().to_array()).collect();
        let normals: Vec<[f32; 3]> = part.normals.iter().map(|n| n.to_array()).collect();
        let linear = |byte: u8| LINEAR[usize::from(byte)];
        let colors: Vec<[u16; 4]> =
            part.colors.iter().map(|&[r, g, b]| [linear(r), linear(g), linear(b), u16::MAX]).collect();
        // v runs down in glTF.
        let uvs: Vec<[f32; 2]> = part.uvs.iter().map(|[u, v]| [*u, 1.0 - v]).collect();
        let count = positions.len();
        let distance = |d: &f32| if *d < 0.0 { -1.0 } else { *d * scale as f32 };
        let distances: Vec<f32> = part.crack_distance.iter().map(distance).collect();
        let mut low = [f32::INFINITY; 3];
        let mut high = [f32::NEG_INFINITY; 3];
        for p in &positions {
            low = std::array::from_fn(|k| low[k].min(p[k]));
            high = std::array::from_fn(|k| high[k].max(p[k]));
        }
        let buffer = &mut self.buffer;
        let position = buffer.add(&positions, FLOAT, "VEC3", false);
        buffer.accessors[position]["min"] = json!(low);
        buffer.accessors[position]["max"] = json!(high);
        let mut attributes = json!({
            "POSITION": position,
            "NORMAL": buffer.add(&normals, FLOAT, "VEC3", false),
            "TEXCOORD_0": buffer.add(&uvs, FLOAT, "VEC2", false),
            "COLOR_0": buffer.add(&colors, U16, "VEC4", true),
            "_PIECE": buffer.add(&vec![piece.id as f32; count], FLOAT, "SCALAR", false),
            "_CRACK_DISTANCE": buffer.add(&distances, FLOAT, "SCALAR", false),
        });
        if let Some(cell) = piece.cell {
            attributes["_CELL"] = buffer.add(&vec![cell as f32; count], FLOAT, "SCALAR", false).into();
        }
        if part.beyond.iter().any(|cell| *cell >= 0.0) {
            attributes["_BEYOND"] = buffer.add(&part.beyond, FLOAT, "SCALAR", false).into();
        }
        let indices = buffer.add_flat(&part.indices, U32);
        let material = self.material(piece.object, part.side)?;
        Ok(json!({ "attributes": attributes, "indices": indices, "material": material }))
    }

    /// The number of a side's material.
    fn material(&mut self, object: Option<usize>, side: Option<Side>) -> Result<usize, ExportError> {
        let number = match side {
            Some(Side::Outside { material }) => Some(material),
            Some(Side::Inside) | None => None,
        };
        // The inside says everything by its vertices, whatever it is the inside of.
        let own = number.and_then(|number| self.what.material(object, number));
        let key = (object.filter(|_| own.is_some()), number);
        if let Some(known) = self.looks.known.get(&key) {
            return Ok(*known);
        }
        let name = match (number, own) {
            (None, _) => "inside".to_owned(),
            (Some(_), None) => "outside".to_owned(),
            (Some(number), Some(_)) => {
                let object = object.map_or(String::new(), |object| format!("_{object}"));
                format!("outside{object}_{number}")
            }
        };
        let mut surface =
            json!({ "metallicFactor": 0.0, "roughnessFactor": if number.is_some() { 0.7 } else { 0.9 } });
        if let Some(own) = own {
            let [r, g, b] = own.color.map(|byte| f32::from(LINEAR[usize::from(byte)]) / 65535.0);
            if own.color != [255; 3] {
                surface["baseColorFactor"] = json!([r, g, b, 1.0]);
            }
            if let Some(texture) = &own.texture {
                let texture = self.texture(&name, texture)?;
                surface["baseColorTexture"] = json!({ "index": texture });
            }
        }
        self.looks.materials.push(json!({ "name": name, "pbrMetallicRoughness": surface }));
        self.looks.known.insert(key, self.looks.materials.len() - 1);
        Ok(self.looks.materials.len() - 1)
    }

    fn texture(&mut self, name: &str, texture: &Texture) -> Result<usize, ExportError> {
        let png = png(texture).map_err(|error| ExportError::write(self.path, error))?;
        let view = self.buffer.view(&png, None);
        self.looks.images.push(json!({ "name": name, "bufferView": view, "mimeType": "image/png" }));
        self.looks.textures.push(json!({ "source": self.looks.images.len() - 1, "sampler": 0 }));
        Ok(self.looks.textures.len() - 1)
    }
}

/// A texture as a PNG file.
fn png(texture: &Texture) -> Result<Vec<u8>, image::ImageError> {
    use image::{ExtendedColorType::Rgba8, ImageEncoder as _, codecs::png::PngEncoder};
    let mut bytes = Cursor::new(Vec::new());
    PngEncoder::new(&mut bytes).write_image(&texture.rgba, texture.width, texture.height, Rgba8)?;
    Ok(bytes.into_inner())
}

fn write_chunks(path: &Path, document: &Value, mut binary: Vec<u8>) -> Result<Vec<String>, ExportError> {
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let total = 12 + 8 + text.len() + 8 + binary.len();
    let Ok(total) = u32::try_from(total) else {
        return Err(ExportError::Format {
            path: path.to_owned(),
            reason: "a GLB file cannot exceed 4 GiB; use a lower --level".into(),
        });
    };
    let mut out = Vec::with_capacity(total as usize);
    for word in [0x4654_6c67, 2, total, text.len() as u32, 0x4e4f_534a] {
        out.extend(word.to_le_bytes());
    }
    out.extend(text);
    out.extend((binary.len() as u32).to_le_bytes());
    out.extend(0x004e_4942u32.to_le_bytes());
    out.extend(binary);
    std::fs::write(path, out).map_err(|e| ExportError::write(path, e))?;
    Ok(Vec::new())
}

/// The one binary buffer with its views and accessors.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    fn add<T: bytemuck::Pod>(&mut self, data: &[T], component: u32, kind: &str, normalized: bool) -> usize {
        const VERTICES: u32 = 34962;
        self.push(bytemuck::cast_slice(data), data.len(), component, kind, normalized, VERTICES)
    }

    fn add_flat(&mut self, data: &[u32], component: u32) -> usize {
        const INDICES: u32 = 34963;
        self.push(bytemuck::cast_slice(data), data.len(), component, "SCALAR", false, INDICES)
    }

    fn push(
        &mut self,
        bytes: &[u8],
        count: usize,
        component: u32,
        kind: &str,
        normalized: bool,
        target: u32,
    ) -> usize {
        let view = self.view(bytes, Some(target));
        let mut accessor =
            json!({ "bufferView": view, "componentType": component, "count": count, "type": kind });
        if normalized {
            accessor["normalized"] = true.into();
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Values of an animation, which name no use of theirs.
    fn keys<T: bytemuck::Pod>(&mut self, data: &[T], kind: &str) -> usize {
        let view = self.view(bytemuck::cast_slice(data), None);
        self.accessors
            .push(json!({ "bufferView": view, "componentType": FLOAT, "count": data.len(), "type": kind }));
        self.accessors.len() - 1
    }

    /// Ascending times of an animation.
    fn times(&mut self, times: &[f32]) -> usize {
        let accessor = self.keys(times, "SCALAR");
        self.accessors[accessor]["min"] = json!([times.first()]);
        self.accessors[accessor]["max"] = json!([times.last()]);
        accessor
    }

    /// Bytes of the buffer, beginning where any number may.
    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.views.push(view);
        self.bytes.extend(bytes);
        self.views.len() - 1
    }
}

/// sRGB byte to linear 16 bits.
static LINEAR: LazyLock<[u16; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        let v = byte as f32 / 255.0;
        let v = if v <= 0.04045 { v / 12.92 } else { libm::powf((v + 0.055) / 1.055, 2.4) };
        (v * 65535.0).round() as u16
    })
});
