//! Pieces as binary glTF: a node and a mesh per piece, named `piece_000`, `piece_001`, ... Pieces of a piece that broke
//! again are children of a node with that piece's name.
//!
//! In: pieces. Out: a primitive for each material of the outside and one for the inside, in one buffer: positions,
//! normals, texture coordinates, vertex colours (linear, as glTF requires) and, for masks, the piece's number, its
//! cell, the cell beyond the crack and the distance to the nearest crack face (`_PIECE`, `_CELL`, `_BEYOND`,
//! `_CRACK_DISTANCE`). Crack faces with textures have tangents in place of vertex colours. A rotated piece keeps its
//! own axes; its node holds the rotation. Mass, volume, cell and
//! generation are in each node's `extras`.

mod buffer;

use std::{collections::BTreeMap, io::Cursor, path::Path};

use serde_json::{Value, json};

use self::buffer::{Buffer, FLOAT, Tree, U16};
use crate::geometry::srgb;
use crate::mesh::Texture;
use crate::{
    Assembly, ExportError, ExportPiece, FileSpace, FormatEntry, Hull, Needs, Target, Watch,
    meshes::{Primitive, Side, primitives},
    motion::{Motion, MotionKey},
};

/// The format.
pub(super) static FORMAT: FormatEntry = FormatEntry {
    name: "glb",
    file: "pieces.glb",
    label: "GLB",
    help: "Binary glTF: a node a piece, inside and outside apart",
    needs: Needs::Meshes,
    has_nodes: true,
    // glTF says which way is up.
    space: |_| FileSpace::METRES,
    write,
};

/// Writes all pieces into one file. Returns notes for the user.
///
/// # Errors
/// [`ExportError`].
fn write(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let mut file =
        File { what, path, buffer: Buffer::default(), looks: Looks::default(), meshes: Vec::new() };
    let mut tree = Tree::of(what, watch, &mut |id| {
        let piece = &what.pieces[id];
        let parts: Result<Vec<Value>, ExportError> =
            primitives(&what.mesh(id)).iter().map(|part| file.primitive(piece, part)).collect();
        Ok(file.mesh(&piece.name(), parts?))
    })?;
    if what.handover.target == Some(Target::Unreal) {
        // Unreal's importer finds collision shapes by their names in the piece's file.
        for (id, hulls) in what.hulls.iter().enumerate() {
            tree.add_children(id, file.hulls(id, hulls, "UCX_"));
        }
    }
    watch.at(1, 1)?;
    let animations = match &what.motion {
        Some(motion) => animation(&mut file.buffer, what, motion),
        None => Vec::new(),
    };
    file.finish(tree, animations)
}

/// Writes the collision shapes of all pieces, under nodes of the same names and transforms. Returns notes for the user.
///
/// # Errors
/// [`ExportError`].
pub fn write_hulls(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let mut file =
        File { what, path, buffer: Buffer::default(), looks: Looks::default(), meshes: Vec::new() };
    let mut tree = Tree::of(what, watch, &mut |_| Ok(None))?;
    for (id, hulls) in what.hulls.iter().enumerate() {
        tree.add_children(id, file.hulls(id, hulls, ""));
    }
    file.finish(tree, Vec::new())
}

/// One animation of all moving pieces. A piece that does not exist at a time has scale zero.
fn animation(buffer: &mut Buffer, what: &Assembly, motion: &Motion) -> Vec<Value> {
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for (node, track) in motion.tracks.iter().enumerate() {
        let times: Vec<f32> = track.keys.iter().map(|key| key.time as f32).collect();
        let mut add = |input: usize, output: usize, path: &str, how: &str| {
            channels.push(json!({ "sampler": samplers.len(), "target": { "node": node, "path": path } }));
            samplers.push(json!({ "input": input, "output": output, "interpolation": how }));
        };
        if times.len() > 1 {
            let place = |key: &MotionKey| what.pieces[node].origin_at(key, what.handover.pivot).as_vec3();
            let places: Vec<[f32; 3]> = track.keys.iter().map(|key| place(key).to_array()).collect();
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

/// Materials and textures, without duplicates.
#[derive(Default)]
struct Looks {
    materials: Vec<Value>,
    textures: Vec<Value>,
    images: Vec<Value>,
    known: BTreeMap<(Option<usize>, Option<u32>), usize>,
}

/// The file in progress.
struct File<'a> {
    what: &'a Assembly,
    path: &'a Path,
    buffer: Buffer,
    looks: Looks,
    meshes: Vec<Value>,
}

impl File<'_> {
    /// Adds a mesh and returns its index, unless it is empty.
    fn mesh(&mut self, name: &str, primitives: Vec<Value>) -> Option<usize> {
        if primitives.is_empty() {
            return None;
        }
        self.meshes.push(json!({ "name": name, "primitives": primitives }));
        Some(self.meshes.len() - 1)
    }

    /// Nodes of a piece's collision shapes.
    fn hulls(&mut self, id: usize, hulls: &[Hull], before: &str) -> Vec<Value> {
        let piece = &self.what.pieces[id];
        let (pivot, scale) = (piece.pivot(self.what.handover.pivot), piece.placing.scale);
        let node = |(number, hull): (usize, &Hull)| {
            let name = format!("{before}{}_{number:02}", piece.name());
            let points: Vec<[f32; 3]> =
                hull.points.iter().map(|p| ((*p - pivot) * scale).as_vec3().to_array()).collect();
            let position = self.buffer.points(&points);
            let indices = self.buffer.add_flat(hull.triangles.as_flattened());
            let primitive = json!({ "attributes": { "POSITION": position }, "indices": indices });
            json!({ "name": name, "mesh": self.mesh(&name, vec![primitive]) })
        };
        hulls.iter().enumerate().map(node).collect()
    }

    fn finish(self, tree: Tree, animations: Vec<Value>) -> Result<Vec<String>, ExportError> {
        let Self { buffer, looks, path, meshes, .. } = self;
        let mut document = json!({
            "asset": { "version": "2.0", "generator": concat!("kintsugi ", env!("CARGO_PKG_VERSION")) },
            "scene": 0,
            "scenes": [{ "nodes": tree.roots }],
            "nodes": tree.nodes,
        });
        // glTF forbids empty lists.
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

    /// The primitive of one part of a piece.
    fn primitive(&mut self, piece: &ExportPiece, part: &Primitive) -> Result<Value, ExportError> {
        let (pivot, scale) = (piece.pivot(self.what.handover.pivot), piece.placing.scale);
        let positions: Vec<[f32; 3]> =
            part.positions.iter().map(|p| ((*p - pivot) * scale).as_vec3().to_array()).collect();
        let normals: Vec<[f32; 3]> = part.normals.iter().map(|n| n.to_array()).collect();
        let colors: Vec<[u16; 4]> =
            part.colors.iter().map(|&[r, g, b]| [linear(r), linear(g), linear(b), u16::MAX]).collect();
        // v points down in glTF.
        let uvs: Vec<[f32; 2]> = part.uvs.iter().map(|[u, v]| [*u, 1.0 - v]).collect();
        let count = positions.len();
        let distance = |d: &f32| if *d < 0.0 { -1.0 } else { *d * scale as f32 };
        let distances: Vec<f32> = part.crack_distance.iter().map(distance).collect();
        let buffer = &mut self.buffer;
        let position = buffer.points(&positions);
        let mut attributes = json!({
            "POSITION": position,
            "NORMAL": buffer.add(&normals, FLOAT, "VEC3", false),
            "TEXCOORD_0": buffer.add(&uvs, FLOAT, "VEC2", false),
            "_PIECE": buffer.add(&vec![piece.id as f32; count], FLOAT, "SCALAR", false),
            "_CRACK_DISTANCE": buffer.add(&distances, FLOAT, "SCALAR", false),
        });
        // glTF multiplies a texture by vertex colours.
        match part.tangents.is_empty() {
            true => attributes["COLOR_0"] = buffer.add(&colors, U16, "VEC4", true).into(),
            false => attributes["TANGENT"] = buffer.add(&part.tangents, FLOAT, "VEC4", false).into(),
        }
        if let Some(cell) = piece.cell {
            attributes["_CELL"] = buffer.add(&vec![cell as f32; count], FLOAT, "SCALAR", false).into();
        }
        if part.beyond.iter().any(|cell| *cell >= 0.0) {
            attributes["_BEYOND"] = buffer.add(&part.beyond, FLOAT, "SCALAR", false).into();
        }
        let indices = buffer.add_flat(&part.indices);
        let material = self.material(piece.object, part.side)?;
        Ok(json!({ "attributes": attributes, "indices": indices, "material": material }))
    }

    /// Index of a side's material.
    fn material(&mut self, object: Option<usize>, side: Option<Side>) -> Result<usize, ExportError> {
        let number = match side {
            Some(Side::Outside { material }) => Some(material),
            Some(Side::Inside) | None => None,
        };
        let own = number.and_then(|number| self.what.material(object, number));
        let maps = self.what.maps.get(&object).filter(|_| number.is_none()).cloned();
        // Insides without textures are coloured by vertices, so objects that are as rough inside share their material.
        let is_own = own.is_some() || maps.is_some() || number.is_none() && self.what.has_unlike_insides();
        let key = (object.filter(|_| is_own), number);
        if let Some(known) = self.looks.known.get(&key) {
            return Ok(*known);
        }
        let name = match (number, own) {
            (None, _) => self.what.inside_name(object),
            (Some(_), None) => "outside".to_owned(),
            (Some(number), Some(_)) => {
                let object = object.map_or(String::new(), |object| format!("_{object}"));
                format!("outside{object}_{number}")
            }
        };
        // As decimals, not as the nearest binary fractions.
        let inside = (f64::from(self.what.inside_roughness(object)) * 100.0).round() / 100.0;
        let roughness = if number.is_some() { 0.7 } else { inside };
        let mut surface = json!({ "metallicFactor": 0.0, "roughnessFactor": roughness });
        if let Some(own) = own {
            let [r, g, b] = own.color.map(|byte| f32::from(linear(byte)) / 65535.0);
            if own.color != [255; 3] {
                surface["baseColorFactor"] = json!([r, g, b, 1.0]);
            }
            if let Some(texture) = &own.texture {
                let texture = self.texture(&name, texture)?;
                surface["baseColorTexture"] = json!({ "index": texture });
            }
        }
        let mut material = json!({ "name": name });
        if let Some(maps) = maps {
            let [color, normal, rough] =
                [("color", &maps.color), ("normal", &maps.normal), ("roughness", &maps.roughness)]
                    .map(|(shown, png)| json!({ "index": self.embed(&format!("{name}_{shown}"), png) }));
            surface["roughnessFactor"] = 1.0.into();
            (surface["baseColorTexture"], surface["metallicRoughnessTexture"]) = (color, rough);
            material["normalTexture"] = normal;
        }
        material["pbrMetallicRoughness"] = surface;
        self.looks.materials.push(material);
        self.looks.known.insert(key, self.looks.materials.len() - 1);
        Ok(self.looks.materials.len() - 1)
    }

    fn texture(&mut self, name: &str, texture: &Texture) -> Result<usize, ExportError> {
        let png = png(texture).map_err(|error| ExportError::write(self.path, error))?;
        Ok(self.embed(name, &png))
    }

    /// Adds a texture from the bytes of a PNG.
    fn embed(&mut self, name: &str, png: &[u8]) -> usize {
        let view = self.buffer.view(png, None);
        self.looks.images.push(json!({ "name": name, "bufferView": view, "mimeType": "image/png" }));
        self.looks.textures.push(json!({ "source": self.looks.images.len() - 1, "sampler": 0 }));
        self.looks.textures.len() - 1
    }
}

/// Encodes a texture as PNG.
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

/// sRGB byte to linear 16 bits.
fn linear(byte: u8) -> u16 {
    (srgb::linear(byte) * 65535.0).round() as u16
}
