//! Pieces as binary glTF: a node and a mesh per piece, named `piece_000`, `piece_001`, ... Pieces of a piece that broke
//! again are children of a node with that piece's name.
//!
//! In: pieces. Out: a primitive for each material of the outside and one for the inside, in one buffer: positions,
//! normals, texture coordinates, vertex colours (linear, as glTF requires; none where the object has materials and no
//! colours of vertices) and, for masks, the piece's number, its cell, piece and cell beyond the crack and the distance to
//! the nearest crack face (`_PIECE`, `_CELL`, `_BEYOND`, `_CELL_BEYOND`, `_CRACK_DISTANCE`). Crack faces with textures
//! have tangents in place of vertex colours, and so have parts whose material has a map of normals or a grain, beside
//! their colours. A rotated piece keeps its own axes; its node holds the rotation. Mass,
//! volume, cell and generation are in each node's `extras`.

mod buffer;
mod surface;

use std::{collections::VecDeque, io::Write as _, path::Path, sync::Arc};

use rayon::prelude::*;
use serde_json::{Value, json};

use self::{
    buffer::{Buffer, FLOAT, Tree, U16},
    surface::{Looks, coordinates_of_tangents, linear},
};
use super::looks::{Names, own_material, seen};
use crate::{
    Assembly, ExportError, ExportPiece, FileSpace, FormatEntry, Hull, Needs, Target, Watch,
    mesh::Material,
    meshes::{Primitive, WrittenMesh, primitives},
    motion::{Motion, MotionKey},
    touching::pieces_beyond,
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

/// Pieces whose primitives are made at once.
const AT_ONCE: usize = 8;

/// Writes all pieces into one file. Returns notes for the user.
///
/// # Errors
/// [`ExportError`].
fn write(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let mut file = File::new(what, path);
    let beyond = beyond(what, &watch.within(0, 2))?;
    let beyond_of = |id: usize| beyond.get(id).map_or(&[][..], Vec::as_slice);
    // Pieces are taken one after another, from the first on.
    let mut ready: VecDeque<Vec<Primitive>> = VecDeque::new();
    let mut tree = Tree::of(what, &watch.within(1, 2), &mut |id| {
        if ready.is_empty() {
            let some = id..what.pieces.len().min(id + AT_ONCE);
            let meshes: Vec<(usize, Arc<WrittenMesh>)> = some.map(|id| (id, what.mesh(id))).collect();
            // One mesh after another, each on all cores: distances are kept behind a lock, and a core that waits for the
            // others in there may take up work that needs the same lock.
            for (_, mesh) in &meshes {
                mesh.crack_distances();
            }
            ready.par_extend(meshes.par_iter().map(|(id, mesh)| primitives(mesh, beyond_of(*id))));
        }
        let piece = &what.pieces[id];
        let parts = ready.pop_front().unwrap_or_default();
        let parts = parts.iter().map(|part| file.primitive(piece, part)).collect();
        Ok(file.mesh(&piece.name(), parts))
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

/// The piece beyond each triangle of each piece. Empty where nothing lies beyond anything, and where pieces break again: a
/// piece and its own pieces are in one place then, at different times.
fn beyond(what: &Assembly, watch: &Watch) -> Result<Vec<Vec<i32>>, ExportError> {
    let mut tracks = what.motion.iter().flat_map(|motion| &motion.tracks).zip(&what.pieces);
    if what.pieces.len() < 2 || tracks.any(|(track, piece)| track.died.is_some() && piece.generation > 0) {
        return Ok(Vec::new());
    }
    pieces_beyond(what, watch)
}

/// Writes the collision shapes of all pieces, under nodes of the same names and transforms. Returns notes for the user.
///
/// # Errors
/// [`ExportError`].
pub fn write_hulls(path: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<String>, ExportError> {
    let mut file = File::new(what, path);
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

/// The file in progress.
struct File<'a> {
    what: &'a Assembly,
    path: &'a Path,
    buffer: Buffer,
    names: Names,
    looks: Looks,
    meshes: Vec<Value>,
}

impl<'a> File<'a> {
    fn new(what: &'a Assembly, path: &'a Path) -> Self {
        let (buffer, looks, meshes) = Default::default();
        Self { what, path, buffer, names: Names::of(what, str::to_owned), looks, meshes }
    }

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
        let [used, required] = looks.extensions();
        // glTF forbids empty lists.
        for (name, list) in [
            ("animations", animations),
            ("meshes", meshes),
            ("extensionsUsed", used),
            ("extensionsRequired", required),
            ("materials", looks.materials),
            ("textures", looks.textures),
            ("samplers", looks.samplers),
            ("images", looks.images),
            ("accessors", buffer.accessors),
            ("bufferViews", buffer.views),
        ] {
            if !list.is_empty() {
                document[name] = list.into();
            }
        }
        if !buffer.bytes.is_empty() {
            document["buffers"] = json!([{ "byteLength": buffer.bytes.len() }]);
        }
        write_chunks(path, &document, buffer.bytes)?;
        Ok(looks.notes)
    }

    /// The primitive of one part of a piece.
    fn primitive(&mut self, piece: &ExportPiece, part: &Primitive) -> Value {
        let own = own_material(self.what, piece.object, part.side).map(|(_, material)| material);
        let is_baked = !part.tangents.is_empty();
        let coordinates = own.filter(|_| !is_baked).and_then(|own| coordinates_of_tangents(own, part));
        let with_tangents = coordinates.map(|uvs| part.with_tangents(&uvs));
        let part = with_tangents.as_ref().unwrap_or(part);
        let (pivot, scale) = (piece.pivot(self.what.handover.pivot), piece.placing.scale);
        let positions: Vec<[f32; 3]> =
            part.positions.iter().map(|p| ((*p - pivot) * scale).as_vec3().to_array()).collect();
        let normals: Vec<[f32; 3]> = part.normals.iter().map(|n| n.to_array()).collect();
        let plain = |color: [u8; 3]| seen(self.what, piece, part.side, color);
        let paint = |color: &[u8; 3]| own.map_or_else(|| plain(*color), |own| own.paint_of(*color));
        let four = |[r, g, b]: [u8; 3]| [linear(r), linear(g), linear(b), u16::MAX];
        let colors: Vec<[u16; 4]> = part.colors.iter().map(paint).map(four).collect();
        let transform = own.and_then(Material::color_transform);
        // v points down in glTF. Where the file has a transform, the material has it again.
        let down = |[u, v]: &[f32; 2]| {
            let uv = [*u, 1.0 - v];
            transform.map_or(uv, |transform| transform.unmoved(uv))
        };
        let uvs: Vec<[f32; 2]> = part.uvs.iter().map(down).collect();
        let has_second =
            own.is_some_and(Material::has_second_set) || part.uvs2.iter().any(|uv| *uv != [0.0; 2]);
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
        if has_second {
            let uvs: Vec<[f32; 2]> = part.uvs2.iter().map(|[u, v]| [*u, 1.0 - v]).collect();
            attributes["TEXCOORD_1"] = buffer.add(&uvs, FLOAT, "VEC2", false).into();
        }
        if !part.tangents.is_empty() {
            attributes["TANGENT"] = buffer.add(&part.tangents, FLOAT, "VEC4", false).into();
        }
        // glTF multiplies factor and texture by vertex colours.
        if !is_baked && own.is_none_or(|material| material.is_painted) {
            attributes["COLOR_0"] = buffer.add(&colors, U16, "VEC4", true).into();
        }
        if let Some(cell) = piece.cell {
            attributes["_CELL"] = buffer.add(&vec![cell as f32; count], FLOAT, "SCALAR", false).into();
        }
        for (name, numbers) in [("_BEYOND", &part.beyond), ("_CELL_BEYOND", &part.cell_beyond)] {
            if numbers.iter().any(|number| *number >= 0.0) {
                attributes[name] = buffer.add(numbers, FLOAT, "SCALAR", false).into();
            }
        }
        let indices = buffer.add_flat(&part.indices);
        let name = self.names.name(piece.object, part.side);
        let material = self.looks.material(buffer, self.what, name, (piece.object, part.side));
        json!({ "attributes": attributes, "indices": indices, "material": material })
    }
}

fn write_chunks(path: &Path, document: &Value, mut binary: Vec<u8>) -> Result<(), ExportError> {
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
    let mut out = Vec::with_capacity(28 + text.len());
    for word in [0x4654_6c67, 2, total, text.len() as u32, 0x4e4f_534a] {
        out.extend(word.to_le_bytes());
    }
    out.extend(text);
    out.extend((binary.len() as u32).to_le_bytes());
    out.extend(0x004e_4942u32.to_le_bytes());
    // The binary chunk, which is nearly all of the file, is not copied to the rest.
    let written = std::fs::File::create(path).and_then(|mut file| {
        file.write_all(&out)?;
        file.write_all(&binary)
    });
    written.map_err(|e| ExportError::write(path, e))
}
