//! Names of pieces, what they came of, and the objects of their file that did not break, which are written whole beside
//! them.
//!
//! In: pieces with or without meshes, and the meshes of their objects. Out: the pieces with names and origins.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rayon::prelude::*;

use crate::{
    Assembly, ExportPiece, PieceMesh, PieceOrigin, Placing, Source,
    mesh::unlike,
    meshes::{Side, TriangleTree, WrittenMesh},
    shape::Shape,
};

/// A name of letters, digits and underscores that begins with no digit, as USD and files need.
fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}

/// The number of a name by a number, as text.
fn numbered(name: &str) -> Option<&str> {
    name.strip_prefix("piece_").filter(|rest| rest.bytes().all(|c| c.is_ascii_digit()))
}

impl Assembly {
    /// The prefix that is nearest to what was typed, as [`Assembly::set_prefix`] takes it: at most 64 letters, digits and
    /// underscores, and no digit first. `None` if there is none.
    #[must_use]
    pub fn prefix_of(typed: &str) -> Option<String> {
        let typed: String = typed.trim_start().chars().take(63).collect();
        (!typed.is_empty()).then(|| plain(&typed))
    }

    /// The name of the piece of this number that broke again.
    #[must_use]
    pub fn group_name(&self, id: usize) -> String {
        match &self.prefix {
            Some(prefix) => format!("{prefix}_{id:03}"),
            None => ExportPiece::numbered(id),
        }
    }

    /// Has the names of all pieces begin with `prefix`.
    pub fn set_prefix(&mut self, prefix: Option<&str>) {
        let Some(prefix) = prefix else { return };
        self.prefix = Some(prefix.to_owned());
        for piece in &mut self.pieces {
            piece.called = Some(match piece.called.take() {
                // A name by a number has the number alone.
                Some(called) => format!("{prefix}_{}", numbered(&called).unwrap_or(&called)),
                None => format!("{prefix}_{:03}", piece.id),
            });
        }
    }

    /// Adds whole objects after all pieces, each named after its own name. Ids of pieces that broke again move on by their
    /// number. The objects have the materials of the pieces' object.
    pub fn stand_beside(&mut self, objects: &[Source]) {
        if objects.is_empty() {
            return;
        }
        let (count, more) = (self.pieces.len(), objects.len());
        let moved = |id: usize| if id >= count { id + more } else { id };
        self.pieces.iter_mut().for_each(|piece| piece.parent = piece.parent.map(moved));
        for group in &mut self.generations {
            (group.id, group.parent) = (moved(group.id), group.parent.map(moved));
        }
        let solids: Vec<(Arc<PieceMesh>, Arc<Shape>)> = objects.par_iter().map(Source::solid).collect();
        let mut taken: BTreeSet<String> = self.pieces.iter().map(ExportPiece::name).collect();
        taken.extend(self.generations.iter().map(|group| self.group_name(group.id)));
        let mut meshes = Vec::with_capacity(more);
        for (number, (object, (surface, shape))) in objects.iter().zip(solids).enumerate() {
            let name = unlike(&plain(&object.name), |name| taken.contains(&name.replace(' ', "_")));
            let name = name.replace(' ', "_");
            taken.insert(name.clone());
            self.pieces.push(ExportPiece {
                id: count + number,
                shape,
                placing: Placing::UNMOVED,
                object: None,
                cell: None,
                parent: None,
                generation: 0,
                insides: crate::fracture::Insides::default(),
                called: Some(name),
            });
            self.origins.insert(count + number, object.origin());
            meshes.push(Arc::new(WrittenMesh::from(surface)));
        }
        self.meshes.made.resize(count, None);
        self.meshes.made.extend(meshes.into_iter().map(Some));
        self.beside += more;
    }

    /// The same without the whole objects that stand beside the pieces.
    #[must_use]
    pub fn without_beside(&self) -> Self {
        let mut alone = self.clone();
        let (count, less) = (self.pieces.len() - self.beside, self.beside);
        alone.pieces.truncate(count);
        let moved = |id: usize| if id >= count + less { id - less } else { id };
        alone.pieces.iter_mut().for_each(|piece| piece.parent = piece.parent.map(moved));
        for group in &mut alone.generations {
            (group.id, group.parent) = (moved(group.id), group.parent.map(moved));
        }
        alone.beside = 0;
        alone
    }

    /// Finds what each piece came of, by the meshes of [`Assembly::sources`]. Of an object with several nodes the piece's
    /// outside decides, or where its mesh is not in memory the node nearest to its centre.
    pub fn find_origins(&mut self) {
        let trees: BTreeMap<Option<usize>, TriangleTree> = (self.sources.iter())
            .filter(|(_, source)| source.mesh.parts.len() > 1)
            .map(|(object, source)| (*object, source.tree()))
            .collect();
        // To make all meshes once more would take as long as to write them.
        let is_known = !self.figures.is_empty() && !self.meshes.made.is_empty();
        let of = |id: usize| {
            let piece = &self.pieces[id];
            let source = self.sources.get(&piece.object)?;
            let mesh = is_known.then(|| self.mesh(id));
            let mut origin = match trees.get(&piece.object) {
                Some(tree) => source.nearest(tree, mesh.as_deref(), piece.shape.mass().centre),
                None => source.origin_of(&[0]),
            };
            if let Some(mesh) = mesh {
                origin.materials = self.materials_of(piece, &mesh);
            }
            Some((id, origin))
        };
        let wanted: Vec<usize> = (0..self.pieces.len()).filter(|id| !self.origins.contains_key(id)).collect();
        let found: Vec<(usize, PieceOrigin)> = wanted.into_par_iter().filter_map(of).collect();
        self.origins.extend(found);
    }

    /// Names of the materials that the outside of a piece shows.
    fn materials_of(&self, piece: &ExportPiece, mesh: &PieceMesh) -> Vec<String> {
        let number = |side: Side| match side {
            Side::Outside { material } => Some(material),
            Side::Inside | Side::Later(_) => None,
        };
        let shown: BTreeSet<u32> = mesh.faces.iter().filter_map(|face| number(face.side)).collect();
        let named = shown.into_iter().filter_map(|number| self.material(piece.object, number));
        named.map(|material| material.name.clone()).filter(|name| !name.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Part;

    /// Two boxes of one unit, two apart along x, as the parts `Left` and `Rack/Right`.
    fn source() -> Source {
        let one = crate::mesh::builtin("box").unwrap();
        let (mut mesh, count) = (one.clone(), one.positions.len() as u32);
        mesh.positions.extend(one.positions.iter().map(|[x, y, z]| [x + 3.0, *y, *z]));
        mesh.colors.extend(&one.colors);
        mesh.triangles.extend(one.triangles.iter().map(|t| t.map(|i| i + count)));
        mesh.triangle_part = [vec![0; one.triangles.len()], vec![1; one.triangles.len()]].concat();
        let part = |object: &str, node: &str| Part {
            object: object.into(),
            node: node.into(),
            instance: (object == "Right").then_some(4),
        };
        mesh.parts = vec![part("Left", "Left"), part("Right", "Rack/Right")];
        Source { name: "both".into(), mesh: Arc::new(mesh), scale: 2.0 }
    }

    #[test]
    fn what_stands_beside_has_its_name_and_its_origin() {
        let both = source();
        let halves =
            [0, 1].map(|part| Source { mesh: Arc::new(both.mesh.of_parts(&[part])), ..both.clone() });
        let mut what = Assembly { sources: BTreeMap::from([(None, both.clone())]), ..Assembly::default() };
        let named = |name: &str, of: &Source| Source { name: name.into(), ..of.clone() };
        what.stand_beside(&[named("Körper 1", &halves[0]), named("2", &halves[1]), named("2", &halves[1])]);
        let names: Vec<String> = what.pieces.iter().map(ExportPiece::name).collect();
        assert_eq!(names, ["K_rper_1", "_2", "_2_2"]);
        assert_eq!(what.origins[&0].object, "Körper 1");
        assert_eq!((what.origins[&2].node.as_str(), what.origins[&2].instance), ("Rack/Right", Some(4)));
        // By the meshes they are found in the mesh of both, too.
        what.origins.clear();
        what.prepare(&crate::Watch::whole(&Default::default())).unwrap();
        let found = |id: usize| (what.origins[&id].object.as_str(), what.origins[&id].instance);
        assert_eq!([0, 1, 2].map(found), [("Left", None), ("Right", Some(4)), ("Right", Some(4))]);
        what.set_prefix(Some("Wall"));
        assert_eq!(
            (what.pieces[0].name().as_str(), what.group_name(7).as_str()),
            ("Wall_K_rper_1", "Wall_007")
        );
        assert!(what.without_beside().pieces.is_empty());
        assert_eq!(Assembly::prefix_of(" my wall ").as_deref(), Some("my_wall_"));
        assert_eq!((Assembly::prefix_of("2nd"), Assembly::prefix_of(" ")), (Some("_2nd".into()), None));
    }

    /// Pieces of an earlier export that stand beside new ones may have their names.
    #[test]
    fn no_name_is_there_twice() {
        let named = |name: &str| Source { name: name.into(), ..source() };
        let mut what = Assembly::default();
        what.stand_beside(&[named("first")]);
        (what.pieces[0].called, what.beside) = (None, 0);
        what.pieces[0].parent = Some(1);
        what.generations.push(crate::Generation { id: 1, parent: None });
        what.stand_beside(&["piece_000", "piece_004", "piece_x", "x"].map(named));
        let (own, group) = (what.pieces[0].parent, what.generations[0].id);
        assert_eq!((own, group, what.group_name(group).as_str()), (Some(5), 5, "piece_005"));
        let alone = what.without_beside();
        assert_eq!((alone.pieces[0].parent, alone.generations[0].id), (Some(1), 1));
        for prefix in [None, Some("W")] {
            what.set_prefix(prefix);
            let mut names: Vec<String> = what.pieces.iter().map(ExportPiece::name).collect();
            names.push(what.group_name(group));
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!((names.len(), count), (6, 6), "{names:?}");
        }
    }
}
