//! Parts that `KHR_draco_mesh_compression` packs: triangles and attributes in one stream.
//!
//! In: the JSON and the buffers of a file. Out: each packed part has accessors, views and buffers of its own, with what
//! its stream holds, or is named in a warning and keeps the accessors that it had, which show plain data where a file
//! has both.
//!
//! The library draco-core decodes the streams (Draco bitstream 2.2), to no more triangles and bytes than the accessors
//! declare. Without the feature `draco` no part is unpacked.

#![cfg_attr(not(feature = "draco"), allow(dead_code, reason = "nothing is unpacked then"))]

use std::borrow::Cow;

use super::{
    gltf_json::{Accessor, PackedPart, Primitive, Root, View},
    gltf_meshopt::UNPACKED_LIMIT,
    unchecked::{CORNER_LIMIT, Problem, UncheckedMesh},
};

/// Limit of the bytes that one part unpacks to. Measured, the library takes two to eight times as much in between.
const PART_LIMIT: usize = 256 << 20;
/// Bytes a vertex of attributes that a stream may have beside those that its part names.
const UNNAMED: usize = 16;
/// Component types of accessors: whole numbers of four bytes, and floats.
const WHOLE: u32 = 5125;
const FLOAT: u32 = 5126;

/// Why a part cannot be unpacked.
type Why = &'static str;

const CUT: Why = "its stream is cut short";
const LARGE: Why = "it is larger than packed parts may be";

/// What a part declares that its stream holds.
struct Wanted {
    faces: usize,
    points: usize,
    attributes: Vec<Attribute>,
}

struct Attribute {
    name: String,
    /// Its number in the stream.
    id: u32,
    /// Type of its elements, as accessors call it, and their number of components.
    kind: String,
    width: usize,
    is_normalized: bool,
}

/// What a stream holds: corners of triangles, and the elements of each attribute that was wanted.
struct Decoded {
    corners: Vec<u32>,
    attributes: Vec<Vec<f32>>,
}

/// Unpacks every packed part of a file.
///
/// # Errors
/// When the work is cancelled.
pub(super) fn unpack_parts(
    root: &mut Root,
    buffers: &mut Vec<Cow<[u8]>>,
    unchecked: &mut UncheckedMesh,
) -> Result<(), Problem> {
    let mut left = UNPACKED_LIMIT;
    for mesh in 0..root.meshes.len() {
        for part in 0..root.meshes[mesh].primitives.len() {
            let primitive = &root.meshes[mesh].primitives[part];
            let Some(packed) = &primitive.extensions.draco else { continue };
            unchecked.pace.go_on_now()?;
            let data = bytes_of(root, buffers, packed.buffer_view);
            let unpacked = Wanted::of(root, primitive, packed).and_then(|wanted| {
                let data = data.ok_or(CUT)?;
                // What fails near its end takes as long as what does not.
                let size = wanted.size().saturating_add(data.len());
                left = left.checked_sub(size).filter(|_| size <= PART_LIMIT).ok_or(LARGE)?;
                decoded(data, &wanted).map(|decoded| (wanted, decoded))
            });
            match unpacked {
                Ok((wanted, decoded)) => take_over(root, buffers, (mesh, part), (wanted, decoded)),
                Err(why) => unchecked.warn(format!(
                    "the packed data of part {part} of mesh {mesh} left out (KHR_draco_mesh_compression): {why}; \
                     export it without Draco (in Blender: Compression off)"
                )),
            }
        }
    }
    Ok(())
}

/// The bytes of a view that is not packed itself.
fn bytes_of<'b>(root: &Root, buffers: &'b [Cow<[u8]>], view: usize) -> Option<&'b [u8]> {
    let view = root.buffer_views.get(view).filter(|view| view.extensions.packed.is_none())?;
    buffers.get(view.buffer)?.get(view.byte_offset..view.byte_offset.checked_add(view.byte_length)?)
}

impl Wanted {
    fn of(root: &Root, primitive: &Primitive, packed: &PackedPart) -> Result<Self, Why> {
        if primitive.mode.unwrap_or(4) != 4 {
            return Err("it is said to be no list of triangles");
        }
        let indices = primitive.indices.and_then(|number| root.accessors.get(number));
        let corners = indices.ok_or("it has no accessor that counts its corners")?.count;
        let mut points = None;
        let mut attributes = Vec::with_capacity(packed.attributes.len());
        for (name, id) in &packed.attributes {
            let number = primitive.attributes.get(name).copied();
            let accessor = number.and_then(|number| root.accessors.get(number));
            let accessor = accessor.ok_or("a packed attribute has no accessor")?;
            if *points.get_or_insert(accessor.count) != accessor.count {
                return Err("its accessors count different numbers of vertices");
            }
            let width = accessor.width().ok_or("the type of a packed attribute is not one of glTF's")?;
            let (name, kind) = (name.clone(), accessor.kind.clone());
            attributes.push(Attribute { name, id: *id, kind, width, is_normalized: accessor.normalized });
        }
        let points = points.ok_or("it names no packed attribute")?;
        if !corners.is_multiple_of(3) {
            return Err("its number of corners is no multiple of three");
        }
        if corners.max(points) > CORNER_LIMIT {
            return Err(LARGE);
        }
        Ok(Self { faces: corners / 3, points, attributes })
    }

    /// The most bytes of its attributes: glTF has no component of more than four.
    fn size(&self) -> usize {
        let widths = self.attributes.iter().fold(0usize, |sum, a| sum.saturating_add(a.width));
        widths.saturating_mul(4).saturating_add(UNNAMED).saturating_mul(self.points)
    }
}

/// Decodes a stream that holds exactly what is wanted.
#[cfg(feature = "draco")]
fn decoded(data: &[u8], wanted: &Wanted) -> Result<Decoded, Why> {
    use draco_core::{DataType, DecodeLimits, DecoderBuffer, ErrorKind, Mesh, MeshDecoder};

    const OTHER_COUNT: Why = "it holds another number of vertices or triangles than its accessors count";

    let limits = DecodeLimits::default()
        .with_max_points(wanted.points as u64)
        .with_max_faces(wanted.faces as u64)
        .with_max_decoded_bytes(wanted.size() as u64);
    let decode = || {
        let mut mesh = Mesh::new();
        let mut buffer = DecoderBuffer::new(data).with_limits(limits);
        MeshDecoder::new().decode(&mut buffer, &mut mesh).map(|()| mesh)
    };
    // Three million damaged streams ended in no panic. One of the library would end the import all the same.
    let mesh = std::panic::catch_unwind(decode).map_err(|_| "its stream is damaged")?;
    let mesh = mesh.map_err(|error| match error.kind() {
        ErrorKind::LimitExceeded => "it holds more than its accessors count",
        _ => "its stream is cut short, damaged or of another version than 2.2",
    })?;
    if (mesh.num_faces(), mesh.num_points()) != (wanted.faces, wanted.points) {
        return Err(OTHER_COUNT);
    }
    let corners = mesh.faces().iter().flatten().map(|point| point.0).collect();
    let mut attributes = Vec::with_capacity(wanted.attributes.len());
    for attribute in &wanted.attributes {
        let found = mesh.attribute_by_unique_id(attribute.id).ok_or("it lacks an attribute that it names")?;
        if usize::from(found.num_components()) != attribute.width {
            return Err("an attribute has another number of components than its accessor");
        }
        let mut values = found.read_f32s(wanted.points, attribute.width);
        if attribute.is_normalized {
            let whole = match found.data_type() {
                DataType::Int8 => 127.0,
                DataType::Uint8 => 255.0,
                DataType::Int16 => 32767.0,
                DataType::Uint16 => 65535.0,
                _ => 1.0,
            };
            values.iter_mut().for_each(|value| *value /= whole);
        }
        attributes.push(values);
    }
    Ok(Decoded { corners, attributes })
}

/// Decodes nothing.
#[cfg(not(feature = "draco"))]
fn decoded(_: &[u8], _: &Wanted) -> Result<Decoded, Why> {
    Err("this program was built without the reader of Draco (feature `draco`)")
}

/// Gives a part accessors of its own that show what was decoded: others may use the ones that it had.
fn take_over(
    root: &mut Root,
    buffers: &mut Vec<Cow<[u8]>>,
    (mesh, part): (usize, usize),
    (wanted, decoded): (Wanted, Decoded),
) {
    let mut add = |bytes: Vec<u8>, component_type: u32, count: usize, kind: String| {
        let view = View { buffer: buffers.len(), byte_length: bytes.len(), ..View::default() };
        let buffer_view = Some(root.buffer_views.len());
        buffers.push(Cow::Owned(bytes));
        root.buffer_views.push(view);
        root.accessors.push(Accessor { buffer_view, component_type, count, kind, ..Accessor::default() });
        root.accessors.len() - 1
    };
    let corners: Vec<u8> = decoded.corners.iter().flat_map(|corner| corner.to_le_bytes()).collect();
    let indices = add(corners, WHOLE, decoded.corners.len(), "SCALAR".into());
    let primitive = &mut root.meshes[mesh].primitives[part];
    primitive.indices = Some(indices);
    for (attribute, values) in wanted.attributes.into_iter().zip(decoded.attributes) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let number = add(bytes, FLOAT, wanted.points, attribute.kind);
        primitive.attributes.insert(attribute.name, number);
    }
}
