//! The binary buffer of a file, with its views and accessors.
//!
//! The node hierarchy of a file: a node per piece, and one per piece that broke again, which is the parent of its
//! pieces.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{Assembly, ExportError, Watch};

/// Component type: 32-bit floats.
pub const FLOAT: u32 = 5126;
/// Component type: unsigned 16-bit integers.
pub const U16: u32 = 5123;
const U32: u32 = 5125;

/// The binary buffer with its views and accessors.
#[derive(Default)]
pub struct Buffer {
    /// Contents of the file's binary chunk.
    pub bytes: Vec<u8>,
    /// `bufferViews`.
    pub views: Vec<Value>,
    /// `accessors`.
    pub accessors: Vec<Value>,
}

impl Buffer {
    /// Adds points, with their bounding box as glTF requires.
    pub fn points(&mut self, data: &[[f32; 3]]) -> usize {
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for p in data {
            low = std::array::from_fn(|k| low[k].min(p[k]));
            high = std::array::from_fn(|k| high[k].max(p[k]));
        }
        let accessor = self.add(data, FLOAT, "VEC3", false);
        self.accessors[accessor]["min"] = json!(low);
        self.accessors[accessor]["max"] = json!(high);
        accessor
    }

    /// Adds vertex attributes.
    pub fn add<T: bytemuck::Pod>(
        &mut self,
        data: &[T],
        component: u32,
        kind: &str,
        normalized: bool,
    ) -> usize {
        const VERTICES: u32 = 34962;
        self.push(bytemuck::cast_slice(data), data.len(), component, kind, normalized, VERTICES)
    }

    /// Adds vertex indices.
    pub fn add_flat(&mut self, data: &[u32]) -> usize {
        const INDICES: u32 = 34963;
        self.push(bytemuck::cast_slice(data), data.len(), U32, "SCALAR", false, INDICES)
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

    /// Adds values of an animation, whose views have no target.
    pub fn keys<T: bytemuck::Pod>(&mut self, data: &[T], kind: &str) -> usize {
        let view = self.view(bytemuck::cast_slice(data), None);
        self.accessors
            .push(json!({ "bufferView": view, "componentType": FLOAT, "count": data.len(), "type": kind }));
        self.accessors.len() - 1
    }

    /// Adds ascending times of an animation.
    pub fn times(&mut self, times: &[f32]) -> usize {
        let accessor = self.keys(times, "SCALAR");
        self.accessors[accessor]["min"] = json!([times.first()]);
        self.accessors[accessor]["max"] = json!([times.last()]);
        accessor
    }

    /// Adds bytes to the buffer, aligned for any type of number.
    pub fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
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

/// All nodes, and the roots.
pub struct Tree {
    /// Pieces first, so that a piece's id is its node's index.
    pub nodes: Vec<Value>,
    /// Indices of the root nodes.
    pub roots: Vec<usize>,
}

impl Tree {
    /// The hierarchy of all pieces; `mesh` maps a piece to its mesh index.
    pub fn of(
        what: &Assembly,
        watch: &Watch,
        mesh: &mut dyn FnMut(usize) -> Result<Option<usize>, ExportError>,
    ) -> Result<Self, ExportError> {
        let mut nodes = Vec::with_capacity(what.pieces.len() + what.generations.len());
        for id in 0..what.pieces.len() {
            watch.at(id, what.pieces.len())?;
            let mut node = node(what, id);
            if let Some(mesh) = mesh(id)? {
                node["mesh"] = mesh.into();
            }
            nodes.push(node);
        }
        let mut tree = Self { nodes, roots: Vec::new() };
        tree.put_under_generations(what);
        Ok(tree)
    }

    fn put_under_generations(&mut self, what: &Assembly) {
        let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let first = self.nodes.len();
        let numbers: BTreeMap<usize, usize> =
            what.generations.iter().enumerate().map(|(i, group)| (group.id, first + i)).collect();
        let parents = what.pieces.iter().map(|piece| piece.parent);
        for (node, parent) in parents.chain(what.generations.iter().map(|group| group.parent)).enumerate() {
            match parent.and_then(|id| numbers.get(&id)) {
                Some(group) => children.entry(*group).or_default().push(node),
                None => self.roots.push(node),
            }
        }
        for group in &what.generations {
            let mut node = json!({ "name": what.group_name(group.id) });
            if let Some(own) = children.remove(&numbers[&group.id]) {
                node["children"] = own.into();
            }
            self.nodes.push(node);
        }
    }

    /// Adds child nodes to a piece's node.
    pub fn add_children(&mut self, piece: usize, children: Vec<Value>) {
        if children.is_empty() {
            return;
        }
        let first = self.nodes.len();
        self.nodes[piece]["children"] = (first..first + children.len()).collect();
        self.nodes.extend(children);
    }
}

/// A piece's node, without its mesh.
fn node(what: &Assembly, id: usize) -> Value {
    let piece = &what.pieces[id];
    let (pivot, scale, mass) = (piece.pivot(what.handover.pivot), piece.placing.scale, what.mass(id));
    let inertia = (mass.inertia * (scale * scale)).to_cols_array_2d();
    let mut extras = json!({
        "generation": piece.generation,
        "mass": mass.kg,
        "volume": mass.volume_m3 * scale.powi(3),
        "centre": ((mass.centre - pivot) * scale).to_array(),
        "inertia": inertia,
    });
    for (name, number) in [("cell", piece.cell.map(u64::from)), ("object", piece.object.map(|o| o as u64))] {
        if let Some(number) = number {
            extras[name] = number.into();
        }
    }
    if let Some(origin) = what.origins.get(&id) {
        for (name, value) in origin.extras(piece.object.is_some()) {
            extras[name] = value;
        }
    }
    let mut node = json!({
        "name": piece.name(),
        "translation": piece.placing.point(pivot).to_array(),
        "extras": extras,
    });
    if piece.placing.is_turned() {
        // Normalised again after the conversion to f32, since validators check the length.
        node["rotation"] = json!(piece.placing.rotation.normalize().as_quat().normalize().to_array());
    }
    node
}
