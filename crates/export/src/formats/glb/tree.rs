//! The node hierarchy of a file: a node per piece, and one per piece that broke again, which is the parent of its
//! pieces.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{Assembly, ExportError, Watch};

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
            let mut node = json!({ "name": format!("piece_{:03}", group.id) });
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
