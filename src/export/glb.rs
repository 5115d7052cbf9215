//! Pieces as binary glTF: one node and one mesh a piece, pivot at its centre of mass, named `piece_000`,
//! `piece_001`, ...
//!
//! In: pieces. Out: positions, normals, vertex colours (linear, as glTF wants them) and triangles in one
//! buffer. A piece that is turned keeps its axes, and its node turns it. Mass, volume, cell and generation
//! are in each node's `extras`.

use std::{path::Path, sync::LazyLock};

use serde_json::{Value, json};

use super::{Assembly, ExportError, Watch, surface::piece_mesh};

const FLOAT: u32 = 5126;
const U16: u32 = 5123;
const U32: u32 = 5125;

/// Writes all pieces into one file. Returns notes for the user.
///
/// # Errors
/// [`ExportError`].
pub(super) fn write(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let mut buffer = Buffer::default();
    let (mut nodes, mut meshes) = (Vec::new(), Vec::new());
    for (done, piece) in what.pieces.iter().enumerate() {
        watch.at(done, what.pieces.len())?;
        let mesh = piece_mesh(&piece.shape);
        let (figures, placing) = (piece.figures(), &piece.placing);
        let (pivot, scale) = (piece.shape.mass().centre, placing.scale);
        let positions: Vec<[f32; 3]> =
            mesh.positions.iter().map(|p| ((*p - pivot) * scale).as_vec3().to_array()).collect();
        let normals: Vec<[f32; 3]> = mesh.normals.iter().map(|n| n.to_array()).collect();
        let linear = |byte: u8| LINEAR[usize::from(byte)];
        let colors: Vec<[u16; 4]> =
            mesh.colors.iter().map(|&[r, g, b]| [linear(r), linear(g), linear(b), u16::MAX]).collect();
        let indices: Vec<u32> = mesh.triangles().flatten().collect();
        let mut extras = json!({
            "generation": piece.generation,
            "mass": figures.mass,
            "volume": figures.volume,
        });
        for (name, number) in
            [("cell", piece.cell.map(u64::from)), ("object", piece.object.map(|o| o as u64))]
        {
            if let Some(number) = number {
                extras[name] = number.into();
            }
        }
        let mut node = json!({
            "name": piece.name(),
            "translation": figures.centre.to_array(),
            "extras": extras,
        });
        if placing.is_turned() {
            // A quaternion of f32 that readers find to be of length 1.
            node["rotation"] = json!(placing.rotation.normalize().as_quat().normalize().to_array());
        }
        if !indices.is_empty() {
            let mut low = [f32::INFINITY; 3];
            let mut high = [f32::NEG_INFINITY; 3];
            for p in &positions {
                low = std::array::from_fn(|k| low[k].min(p[k]));
                high = std::array::from_fn(|k| high[k].max(p[k]));
            }
            let position = buffer.add(&positions, FLOAT, "VEC3", false);
            buffer.accessors[position]["min"] = json!(low);
            buffer.accessors[position]["max"] = json!(high);
            let normal = buffer.add(&normals, FLOAT, "VEC3", false);
            let color = buffer.add(&colors, U16, "VEC4", true);
            let index = buffer.add_flat(&indices, U32);
            node["mesh"] = meshes.len().into();
            meshes.push(json!({
                "name": piece.name(),
                "primitives": [{
                    "attributes": { "POSITION": position, "NORMAL": normal, "COLOR_0": color },
                    "indices": index,
                    "material": 0,
                }],
            }));
        }
        nodes.push(node);
    }
    let all: Vec<usize> = (0..nodes.len()).collect();
    watch.at(1, 1)?;
    let document = json!({
        "asset": { "version": "2.0", "generator": concat!("kintsugi ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{ "nodes": all }],
        "nodes": nodes,
        "meshes": meshes,
        "materials": [{
            "name": "piece",
            "pbrMetallicRoughness": { "metallicFactor": 0.0, "roughnessFactor": 0.7 },
        }],
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
        "buffers": [{ "byteLength": buffer.bytes.len() }],
    });
    write_chunks(path, &document, buffer.bytes)
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
        // Every element here is a multiple of 4 bytes, so offsets stay aligned.
        self.views.push(json!({
            "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len(), "target": target,
        }));
        self.bytes.extend(bytes);
        self.accessors.push(json!({
            "bufferView": self.views.len() - 1, "componentType": component, "count": count, "type": kind,
            "normalized": normalized,
        }));
        self.accessors.len() - 1
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
