//! What a piece came of: the object, node and copy of the user's file, and the materials that its outside shows.
//!
//! In: the mesh of an object, with the parts of its file, and the mesh of a piece. Out: the origin of the piece; the whole
//! object as a solid.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use glam::DVec3;

use crate::{
    PieceMesh,
    mesh::Mesh,
    meshes::{Tagged, TriangleTree, WrittenMesh},
    shape::{Look, Shape, SolidMesh},
};

/// The mesh of an object that pieces came of.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name of the object, for pieces of a file without names.
    pub name: String,
    /// Its mesh.
    pub mesh: Arc<Mesh>,
    /// Units of shape space per unit of the mesh.
    pub scale: f64,
}

/// What a piece came of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PieceOrigin {
    /// Name of the object in its file.
    pub object: String,
    /// Path of the node in its file; empty where the file has no nodes.
    pub node: String,
    /// Number of the copy, where the node places several.
    pub instance: Option<u32>,
    /// Paths of all nodes of which it has a part, that with the largest area first, if there are several.
    pub nodes: Vec<String>,
    /// Names of the materials on its outside, in the order of the file.
    pub materials: Vec<String>,
}

impl PieceOrigin {
    /// The properties of a node's extras, by their names. `object` is left out where it is a number already.
    pub(crate) fn extras(&self, is_numbered: bool) -> Vec<(&'static str, serde_json::Value)> {
        let mut all = vec![(if is_numbered { "object_name" } else { "object" }, self.object.clone().into())];
        if !self.node.is_empty() {
            all.push(("node", self.node.clone().into()));
        }
        all.extend(self.instance.map(|number| ("instance", number.into())));
        if !self.nodes.is_empty() {
            all.push(("nodes", self.nodes.clone().into()));
        }
        if !self.materials.is_empty() {
            all.push(("materials", self.materials.clone().into()));
        }
        all
    }
}

/// Most triangles of a piece that are looked up.
const MOST_LOOKED_UP: usize = 256;
/// Triangles are at one place that are no further away than this times the nearest, or than this share of a triangle's size.
const SAME: f64 = 1.001;
const NEAR: f64 = 1e-6;

impl Source {
    /// The origin of something of these parts, the most important part first.
    pub(crate) fn origin_of(&self, parts: &[u32]) -> PieceOrigin {
        let part = |number: &u32| self.mesh.parts.get(*number as usize);
        let Some(first) = parts.first().and_then(part) else {
            return PieceOrigin { object: self.name.clone(), ..PieceOrigin::default() };
        };
        let nodes = || parts.iter().filter_map(part).map(|part| part.node.clone());
        PieceOrigin {
            object: if first.object.is_empty() { self.name.clone() } else { first.object.clone() },
            node: first.node.clone(),
            instance: first.instance,
            nodes: if parts.len() > 1 { nodes().collect() } else { Vec::new() },
            materials: Vec::new(),
        }
    }

    /// The origin of the whole object.
    pub(crate) fn origin(&self) -> PieceOrigin {
        let all: Vec<u32> = (0..self.mesh.parts.len() as u32).collect();
        let used: BTreeSet<u32> = self.mesh.triangle_material.iter().copied().collect();
        let named = used.into_iter().filter_map(|number| self.mesh.materials.get(number as usize));
        let materials = named.map(|material| material.name.clone()).filter(|name| !name.is_empty());
        PieceOrigin { object: self.name.clone(), materials: materials.collect(), ..self.origin_of(&all) }
    }

    /// Its triangles in shape space, each with the number of its part.
    pub(crate) fn tree(&self) -> TriangleTree {
        let tagged = self.mesh.corners().zip(&self.mesh.triangle_part);
        let scaled =
            tagged.map(|(corners, tag)| Tagged { corners: corners.map(|p| p * self.scale), tag: *tag });
        TriangleTree::new(scaled.collect())
    }

    /// The origin of a piece: of the parts that its outside lies on, by descending area, else of that nearest to its centre.
    pub(crate) fn nearest(
        &self,
        tree: &TriangleTree,
        mesh: Option<&WrittenMesh>,
        centre: DVec3,
    ) -> PieceOrigin {
        let mut areas: BTreeMap<u32, f64> = BTreeMap::new();
        let part_at = |p: DVec3| tree.nearest(p, f64::INFINITY, |_| true).map(|(_, found)| found.tag);
        // Where two parts touch, the wall counts that faces as the piece does.
        let part_of = |corners: [DVec3; 3]| {
            let front = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a);
            let (own, p) = (front(corners), corners.iter().sum::<DVec3>() / 3.0);
            let (off, nearest) = tree.nearest(p, f64::INFINITY, |_| true)?;
            let reach = SAME * off.sqrt() + NEAR * own.length().sqrt();
            let facing = tree.nearest(p, reach, |other| front(other.corners).dot(own) > 0.0);
            Some(facing.map_or(nearest, |(_, found)| found).tag)
        };
        if let Some(mesh) = mesh {
            let faces = mesh.faces.iter().zip(mesh.corners_of_triangles());
            let outside: Vec<[DVec3; 3]> =
                faces.filter(|(face, _)| !face.side.is_crack()).map(|(_, corners)| corners).collect();
            for [a, b, c] in outside.iter().step_by(outside.len().div_ceil(MOST_LOOKED_UP).max(1)) {
                if let Some(part) = part_of([*a, *b, *c]) {
                    *areas.entry(part).or_default() += (*b - *a).cross(*c - *a).length();
                }
            }
        }
        let mut parts: Vec<(u32, f64)> = areas.into_iter().collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut parts: Vec<u32> = parts.into_iter().map(|(part, _)| part).collect();
        if parts.is_empty() {
            parts.extend(part_at(centre));
        }
        self.origin_of(&parts)
    }

    /// The whole object: its own surface where that is closed, else its triangles as they are.
    pub(crate) fn solid(&self) -> (Arc<PieceMesh>, Arc<Shape>) {
        let surface = PieceMesh::imported(&self.mesh, self.scale)
            .unwrap_or_else(|_| PieceMesh::of_mesh(&self.mesh, self.scale, [200, 190, 175]));
        let surface = Arc::new(surface);
        let solid = SolidMesh::new(Arc::clone(&surface), self.mesh.materials.as_slice().into());
        (surface, Arc::new(Shape::solid(solid, 1.0, Look::default())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Part;

    #[test]
    fn a_piece_is_of_its_own_part_where_two_touch() {
        let mut mesh = Mesh::default();
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        for (number, low) in [(0u32, 0.0f32), (1, 1.0)] {
            let corner = |c: u32| [0, 1, 2].map(|k| (c >> k & 1) as f32 + if k == 0 { low } else { 0.0 });
            mesh.positions.extend((0..8).map(corner));
            for [a, b, c, d] in faces.map(|face| face.map(|i: u32| i + 8 * number)) {
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
                mesh.triangle_part.extend([number; 2]);
            }
            let name = format!("Box{number}");
            mesh.parts.push(Part { object: name.clone(), node: name, instance: None });
        }
        let source = Source { name: "file".into(), mesh: Arc::new(mesh), scale: 2.0 };
        for part in 0..2 {
            let own = PieceMesh::imported(&source.mesh.of_parts(&[part]), 2.0).unwrap();
            let written = WrittenMesh::from(Arc::new(own));
            let origin = source.nearest(&source.tree(), Some(&written), DVec3::ZERO);
            assert_eq!((origin.object, origin.nodes.len()), (format!("Box{part}"), 0));
        }
    }
}
