//! glTF 2.0, JSON and binary: node transforms, instances, skins in their resting pose, default morph weights, several
//! primitives, materials, vertex colours. In: bytes. Out: triangles in scene space. A file that requires an
//! extension which is not read is refused; what another extension would add is left out with a warning.
//!
//! Every number in the file is checked against the data that is there before it is used.

use super::{
    Material, Mesh, Picture, Texture,
    away::{measured, rounding},
    gltf_draco::unpack_parts,
    gltf_json::{Accessor, Image, MaterialJson, Node, Primitive, Root, SparseData, parse, size_of_component},
    gltf_meshopt::unpacked,
    gltf_nodes::{count_parts, each_placed, keeps_volume, named, parents, parts_of},
    load::Surroundings,
    unchecked::{CORNER_LIMIT, MISSING, Problem, TEXTURE_FILE_LIMIT, UncheckedMesh},
};
use crate::geometry::srgb;
use glam::{DMat3, DMat4, DVec3};
use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// Size limit of an external buffer, and of all buffers, bytes.
const BUFFER_LIMIT: u64 = 2 << 30;

/// Reads a glTF or GLB file into `unchecked`.
pub(super) fn read(
    bytes: &[u8],
    around: &Surroundings,
    unchecked: &mut UncheckedMesh,
) -> Result<(), Problem> {
    let (mut root, binary) = parse(bytes, &unchecked.pace)?;
    let mut buffers: Vec<Cow<[u8]>> = Vec::new();
    let mut left = BUFFER_LIMIT;
    for (number, buffer) in root.buffers.iter().enumerate() {
        buffers.push(match &buffer.uri {
            // Only the first one is the binary chunk; data of others come by an extension.
            None => Cow::Borrowed(if number == 0 { binary } else { &[] }),
            Some(_) if buffer.is_fallback() => Cow::Borrowed(&[]),
            Some(uri) => match fetch(uri, around, left) {
                Ok(data) => {
                    left = left.saturating_sub(data.len() as u64);
                    Cow::Owned(data)
                }
                Err(why) => {
                    unchecked.warn(format!("buffer {}: {why}", shorten(uri)));
                    Cow::Borrowed(&[])
                }
            },
        });
    }
    count_parts(&root, &mut unchecked.pace)?;
    // First, since the first warning is the likely reason where nothing is read.
    unpack_parts(&mut root, &mut buffers, unchecked)?;
    root.unread().into_iter().for_each(|warning| unchecked.warn(warning));
    for (what, count) in [("animations", root.animations.len()), ("cameras", root.cameras.len())] {
        if count > 0 {
            unchecked.warn(format!("the {what} of the file left out ({count})"));
        }
    }
    let views = unpacked(&root, &buffers, unchecked)?;
    let mut reader = Reader::new(&root, (&buffers, &views), around, unchecked);
    let mut places = vec![None; root.nodes.len()];
    each_placed(&root, |number, _, to_scene| {
        places[number] = Some(to_scene);
        Ok(())
    })?;
    let is_absent = |(node, place): &(&Node, &Option<DMat4>)| node.mesh.is_some() && place.is_none();
    let absent = root.nodes.iter().zip(&places).filter(is_absent).count();
    if absent > 0 {
        reader.unchecked.warn(format!("meshes of nodes that are not in the shown scene left out ({absent})"));
    }
    let parents = parents(&root);
    each_placed(&root, |number, node, to_scene| {
        let parts = parts_of(&root, node);
        let weights = node.weights.as_deref().or_else(|| Some(&root.meshes.get(node.mesh?)?.weights[..]));
        let weights = weights.unwrap_or_default();
        let pose = reader.pose(node, &places);
        let (copies, mut flat) = (reader.instances(node)?, 0);
        let is_copied = copies.len() > 1;
        for (copy, to_node) in copies.into_iter().enumerate() {
            let to_scene = to_scene * to_node;
            if pose.is_none() && !keeps_volume(to_scene) {
                flat += parts.len();
                continue;
            }
            let first = reader.unchecked.mesh.triangles.len();
            for part in parts {
                reader.add(part, to_scene, weights, pose.as_deref())?;
            }
            let instance = is_copied.then_some(copy as u32);
            reader.unchecked.end_part(first, || named(&root, &parents, number, instance));
        }
        if flat > 0 {
            reader.unchecked.warn(format!(
                "node {number} left out ({flat} parts): its transform makes them flat or is not finite; \
                 give it a scale other than 0"
            ));
        }
        Ok(())
    })?;
    let furthest = reader.furthest;
    unchecked.settle_positions();
    if unchecked.mesh.origin != [0.0; 3]
        && let Some(warning) = rounding([measured(&unchecked.mesh.positions)[0], furthest])
    {
        unchecked.warn(warning);
    }
    // White multiplies nothing.
    if unchecked.mesh.colors.iter().all(|color| *color == [255; 3]) {
        unchecked.mesh.colors.clear();
    }
    Ok(())
}

/// The name of a set of texture coordinates.
fn set_name(set: u32) -> String {
    format!("TEXCOORD_{set}")
}

/// The set of texture coordinates that pieces have beside this one.
pub(super) fn second_set(set: u32) -> u32 {
    u32::from(set == 0)
}

impl Root {
    /// The set of texture coordinates that is the first one of a part's pieces.
    fn set(&self, part: &Primitive) -> u32 {
        part.material.and_then(|m| self.materials.get(m)).map_or(0, MaterialJson::set)
    }
}

pub(super) struct Reader<'a> {
    pub root: &'a Root,
    buffers: &'a [Cow<'a, [u8]>],
    /// By buffer view what it has unpacked; `None` for one that is not packed.
    views: &'a [Option<Vec<u8>>],
    around: &'a Surroundings,
    pub unchecked: &'a mut UncheckedMesh,
    /// Number of each glTF material (None: the default one) among the materials read so far.
    materials: HashMap<Option<usize>, u32>,
    /// Images decoded so far; `None` where that failed.
    images: HashMap<usize, Option<Arc<Texture>>>,
    /// Image files kept so far; `None` where that failed.
    pub pictures: HashMap<usize, Option<Arc<Picture>>>,
    /// Warnings that are given once.
    said: BTreeSet<String>,
    /// Whether any primitive has colours, normals, or texture coordinates, in which case all vertices get them.
    colors: bool,
    uvs: bool,
    uvs2: bool,
    normals: bool,
    /// How far from the origin of its node a corner lay when it was rounded, in units of the scene.
    furthest: f64,
}

/// The buffers of a file, and its views that were packed.
type Packed<'a> = (&'a [Cow<'a, [u8]>], &'a [Option<Vec<u8>>]);

impl<'a> Reader<'a> {
    fn new(
        root: &'a Root,
        (buffers, views): Packed<'a>,
        around: &'a Surroundings,
        unchecked: &'a mut UncheckedMesh,
    ) -> Self {
        let primitives = || root.meshes.iter().flat_map(|mesh| &mesh.primitives);
        let colors = primitives().any(|p| p.attributes.contains_key("COLOR_0"));
        let uvs = primitives().any(|p| p.attributes.keys().any(|name| name.starts_with("TEXCOORD_")));
        let uvs2 = primitives().any(|p| p.attributes.contains_key(&set_name(second_set(root.set(p)))));
        let normals = primitives().any(|p| p.attributes.contains_key("NORMAL"));
        let (materials, images, pictures, said) = Default::default();
        Self {
            root,
            buffers,
            views,
            around,
            unchecked,
            materials,
            images,
            pictures,
            said,
            colors,
            uvs,
            uvs2,
            normals,
            furthest: 0.0,
        }
    }

    fn add(
        &mut self,
        primitive: &Primitive,
        to_scene: DMat4,
        weights: &[f32],
        pose: Option<&[DMat4]>,
    ) -> Result<(), Problem> {
        self.unchecked.pace.go_on_now()?;
        let Some(mut positions) = self.attribute::<3>(primitive, "POSITION", CORNER_LIMIT) else {
            self.unchecked.warn(
                "a part without readable positions left out (compressed or cut short): export it plain",
            );
            return Ok(());
        };
        self.look_at_attributes(primitive, weights);
        self.morph(primitive, weights, "POSITION", &mut positions);
        let skinned = pose.and_then(|pose| self.skinned(primitive, pose, positions.len()));
        let to_scene_of = |k: usize| skinned.as_ref().map_or(to_scene, |skinned| skinned.at(k));
        let indices: Vec<u32> = match primitive.indices {
            None => (0..positions.len() as u32).collect(),
            Some(accessor) => {
                match self.indices(accessor) {
                    Some(indices) => indices,
                    None => {
                        self.unchecked.warn("a part without readable indices left out (compressed or cut short): export it plain");
                        return Ok(());
                    }
                }
            }
        };
        let mut triangles: Vec<[u32; 3]> = match primitive.mode.unwrap_or(4) {
            4 => indices.as_chunks::<3>().0.to_vec(),
            5 => {
                let turn = |(k, t): (usize, &[u32])| {
                    if k % 2 == 0 { [t[0], t[1], t[2]] } else { [t[1], t[0], t[2]] }
                };
                indices.windows(3).enumerate().map(turn).collect()
            }
            6 => indices.get(1..).unwrap_or_default().windows(2).map(|t| [indices[0], t[0], t[1]]).collect(),
            _ => {
                self.unchecked.warn("points or lines left out: only triangles can be broken");
                return Ok(());
            }
        };
        let base = self.unchecked.mesh.positions.len();
        let mirrored = to_scene_of(0).determinant() < 0.0;
        for t in &mut triangles {
            *t = t.map(|i| if (i as usize) < positions.len() { i + base as u32 } else { MISSING });
            if mirrored {
                t.swap(1, 2);
            }
        }
        if self.colors {
            let mut colors = self.attribute::<3>(primitive, "COLOR_0", positions.len()).unwrap_or_default();
            colors.resize(positions.len(), [1.0; 3]);
            self.look_at_opacity(primitive, positions.len());
            self.unchecked.mesh.colors.extend(colors.iter().map(|c| c.map(srgb::byte)));
        }
        if self.uvs {
            let material = primitive.material.and_then(|m| self.root.materials.get(m));
            let texture = material.and_then(MaterialJson::color_map);
            let set = self.root.set(primitive);
            let [name, second] = [set, second_set(set)].map(set_name);
            let is_other =
                |other: &&String| other.starts_with("TEXCOORD_") && **other != name && **other != second;
            for other in primitive.attributes.keys().filter(is_other) {
                self.warn_once(format!(
                    "the texture coordinates {other} left out: pieces have two sets of them"
                ));
            }
            if self.uvs2 {
                let mut uvs = self.attribute::<2>(primitive, &second, positions.len()).unwrap_or_default();
                uvs.resize(positions.len(), [0.0, 1.0]);
                self.unchecked.mesh.uvs2.extend(uvs.iter().map(|uv| [uv[0], 1.0 - uv[1]]));
            }
            let mut uvs = self.attribute::<2>(primitive, &name, positions.len()).unwrap_or_default();
            uvs.resize(positions.len(), [0.0, 1.0]);
            let moved = |uv: &[f32; 2]| texture.map_or(*uv, |texture| texture.moved(*uv));
            // glTF counts v from the top.
            self.unchecked.mesh.uvs.extend(uvs.iter().map(moved).map(|uv| [uv[0], 1.0 - uv[1]]));
        }
        if self.normals {
            let mut normals = self.attribute::<3>(primitive, "NORMAL", positions.len()).unwrap_or_default();
            normals.resize(positions.len(), [0.0; 3]);
            self.morph(primitive, weights, "NORMAL", &mut normals);
            // Normals are transformed by the inverse transpose, which handles any scale of the node.
            let turn_by = |to_scene: DMat4| DMat3::from_mat4(to_scene).inverse().transpose();
            let of_all = turn_by(to_scene);
            let turned = |(k, n): (usize, &[f32; 3])| {
                let turn = skinned.as_ref().map_or(of_all, |skinned| turn_by(skinned.at(k)));
                (turn * DVec3::from(n.map(f64::from))).as_vec3().to_array()
            };
            self.unchecked.mesh.normals.extend(normals.iter().enumerate().map(turned));
        }
        let axes = [to_scene.x_axis, to_scene.y_axis, to_scene.z_axis];
        let scale = axes.map(|axis| axis.truncate().length()).into_iter().fold(0.0, f64::max);
        self.furthest = self.furthest.max(measured(&positions)[1] * scale);
        for (k, position) in positions.iter().enumerate() {
            let there = to_scene_of(k).transform_point3(DVec3::from(position.map(f64::from)));
            self.unchecked.push_position(there.to_array());
        }
        let material = self.material(primitive.material)?;
        self.unchecked.mesh.triangle_material.extend(std::iter::repeat_n(material, triangles.len()));
        // glTF 2.0, 3.7.2.1: a part without normals is flat.
        let shading = if primitive.attributes.contains_key("NORMAL") { Mesh::CREASED } else { Mesh::FLAT };
        self.unchecked.mesh.smoothing.extend(std::iter::repeat_n(shading, triangles.len()));
        self.unchecked.mesh.triangles.extend(triangles);
        // Data cut short by cancelling looks damaged.
        self.unchecked.pace.go_on_now()
    }

    /// The number of a material among those read so far, added on first use.
    fn material(&mut self, wanted: Option<usize>) -> Result<u32, Problem> {
        let wanted = wanted.filter(|&m| m < self.root.materials.len());
        if let Some(known) = self.materials.get(&wanted) {
            return Ok(*known);
        }
        let material = match wanted {
            Some(number) => self.carried(number)?,
            None => Material::default(),
        };
        let number = self.unchecked.mesh.materials.len() as u32;
        self.unchecked.mesh.materials.push(material);
        self.materials.insert(wanted, number);
        Ok(number)
    }

    /// A texture's picture, decoded; an image that several textures show is decoded once.
    pub fn texture(&mut self, number: usize) -> Result<Option<Arc<Texture>>, Problem> {
        let Some(source) = self.source(number) else { return Ok(None) };
        if let Some(known) = self.images.get(&source) {
            return Ok(known.clone());
        }
        let shown = self.root.images.get(source).map(Image::shown).unwrap_or_default();
        let decoded = match self.picture(source)? {
            Some(picture) => self.unchecked.decode_texture(&shown, &picture.bytes).map(Arc::new),
            None => None,
        };
        self.unchecked.pace.go_on_now()?;
        self.images.insert(source, decoded.clone());
        Ok(decoded)
    }

    /// Adds a warning, once.
    pub fn warn_once(&mut self, text: String) {
        if !self.said.contains(&text) {
            self.unchecked.warn(text.as_str());
            self.said.insert(text);
        }
    }

    /// Warns of vertices that are less than opaque, whose opacity pieces do not have.
    fn look_at_opacity(&mut self, primitive: &Primitive, most: usize) {
        let accessor =
            primitive.attributes.get("COLOR_0").and_then(|number| self.root.accessors.get(*number));
        if accessor.and_then(Accessor::width) == Some(4) {
            let colors = self.attribute::<4>(primitive, "COLOR_0", most).unwrap_or_default();
            if colors.iter().any(|[.., opacity]| *opacity < 1.0) {
                self.warn_once("the opacity of vertex colours (COLOR_0) left out".to_owned());
            }
        }
    }

    /// The contents of a picture's file.
    pub fn file(&self, uri: &str) -> Result<Vec<u8>, String> {
        fetch(uri, self.around, TEXTURE_FILE_LIMIT)
    }

    /// The bytes of a buffer view, and its stride.
    pub fn view(&self, number: usize) -> Option<(&'a [u8], Option<usize>)> {
        let view = self.root.buffer_views.get(number)?;
        if let Some(Some(unpacked)) = self.views.get(number) {
            return Some((unpacked.as_slice(), view.byte_stride));
        }
        let data = self.buffers.get(view.buffer)?;
        Some((data.get(view.byte_offset..view.byte_offset.checked_add(view.byte_length)?)?, view.byte_stride))
    }

    /// The bytes of each element of an accessor, checked for completeness.
    fn elements(
        &mut self,
        number: usize,
        least_width: usize,
    ) -> Option<impl Iterator<Item = &'a [u8]> + use<'a>> {
        let accessor = self.root.accessors.get(number)?;
        let (data, stride) = self.view(accessor.buffer_view?)?;
        let width = accessor.width().filter(|&w| w >= least_width)?;
        let size = width * accessor.component_size()?;
        // Overlapping elements could turn a few bytes into any number of elements.
        let stride = stride.filter(|&s| s > 0).unwrap_or(size).max(accessor.component_size()?);
        let (first, count) = (accessor.byte_offset, accessor.count);
        let end = count.checked_sub(1)?.checked_mul(stride)?.checked_add(first)?.checked_add(size)?;
        (end <= data.len())
            .then(|| (0..count).map(move |k| &data[first + k * stride..first + k * stride + size]))
    }

    /// Every element of an accessor as `read` gives it from its bytes, at most `most` of them; None if data are missing.
    fn read<T: Clone>(
        &mut self,
        number: usize,
        (width, most): (usize, usize),
        zero: T,
        read: impl Fn(&[u8]) -> T,
    ) -> Option<Vec<T>> {
        let accessor = self.root.accessors.get(number)?;
        let mut pace = self.unchecked.pace.clone();
        let mut all: Vec<T> = match (accessor.buffer_view, &accessor.sparse) {
            (None, Some(_)) if accessor.count <= CORNER_LIMIT => vec![zero; accessor.count.min(most)],
            _ => {
                let elements = self.elements(number, width)?;
                elements.take(most).take_while(|_| pace.go_on().is_ok()).map(&read).collect()
            }
        };
        if let Some(sparse) = &accessor.sparse {
            let size = accessor.width().filter(|&w| w >= width)? * accessor.component_size()?;
            let index_size = size_of_component(sparse.indices.component_type)?;
            let data = |of: &SparseData, size: usize| {
                let (bytes, _) = self.view(of.buffer_view)?;
                bytes.get(of.byte_offset..)?.get(..sparse.count.checked_mul(size)?)
            };
            let (indices, values) = (data(&sparse.indices, index_size)?, data(&sparse.values, size)?);
            for (index, value) in indices.chunks_exact(index_size).zip(values.chunks_exact(size)) {
                pace.go_on().ok()?;
                // One beyond the elements that are wanted changes nothing.
                if let Some(element) = all.get_mut(little_endian(index) as usize) {
                    *element = read(value);
                }
            }
        }
        Some(all)
    }

    /// The first N components of the elements of an accessor, at most `most` of them; None if data are missing.
    pub fn values<const N: usize>(&mut self, number: usize, most: usize) -> Option<Vec<[f32; N]>> {
        let accessor = self.root.accessors.get(number)?;
        let size = accessor.component_size()?;
        let element =
            |e: &[u8]| std::array::from_fn(|c| accessor.component(e.get(c * size..).unwrap_or_default()));
        self.read(number, (N, most), [0.0; N], element)
    }

    /// The same of an attribute.
    pub fn attribute<const N: usize>(
        &mut self,
        primitive: &Primitive,
        name: &str,
        most: usize,
    ) -> Option<Vec<[f32; N]>> {
        self.values(*primitive.attributes.get(name)?, most)
    }

    fn indices(&mut self, number: usize) -> Option<Vec<u32>> {
        let size = self.root.accessors.get(number)?.component_size()?;
        self.read(number, (1, usize::MAX), 0, |e| little_endian(&e[..size]))
    }
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, &b| value << 8 | u32::from(b))
}

/// The contents of a reference: of a data URI, or of a file beside the scene.
fn fetch(uri: &str, around: &Surroundings, limit: u64) -> Result<Vec<u8>, String> {
    let Some(data) = uri.strip_prefix("data:") else {
        return around.read(&unescape(uri), limit);
    };
    let (_, text) =
        data.split_once(";base64,").ok_or("only base64 data is read; export it with files or as GLB")?;
    base64(text).ok_or_else(|| "its base64 text is damaged; export it again".to_string())
}

impl Image {
    /// Where it is, for messages.
    pub fn shown(&self) -> String {
        let uri = self.uri.as_deref().filter(|_| self.buffer_view.is_none());
        uri.map_or_else(|| "inside the file".to_owned(), shorten)
    }
}

/// Shortens a reference for messages, since data URIs are long.
fn shorten(uri: &str) -> String {
    if uri.starts_with("data:") { "inside the file".into() } else { uri.chars().take(120).collect() }
}

/// Decodes `%20` and the like.
fn unescape(uri: &str) -> String {
    let bytes = uri.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex =
            bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%').and_then(|h| std::str::from_utf8(h).ok());
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut bits) = (0u32, 0);
    for c in text.trim_end_matches('=').bytes().filter(|c| !c.is_ascii_whitespace()) {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((word >> bits) as u8);
            word &= (1 << bits) - 1;
        }
    }
    Some(out)
}

#[cfg(test)]
pub(super) mod tests;
