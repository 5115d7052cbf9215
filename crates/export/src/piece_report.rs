//! A piece in `report.json`. The fields are described in `docs/files.md`.
//!
//! In: a piece, what it came of, and the mesh that it was written as. Out: its entry.

use glam::DVec3;
use serde::Serialize;

use super::{Assembly, ExportPiece, Figures, MeshFigures};
use crate::geometry::Aabb;

/// A piece in reports; lengths in units of the files beside it.
#[derive(Clone, Debug, Serialize)]
pub struct PieceReport {
    pub(crate) id: usize,
    /// Its name in files with names.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<ObjectName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    materials: Vec<String>,
    cell: Option<u32>,
    pub(crate) parent: Option<usize>,
    generation: u32,
    voxels: u64,
    volume: f64,
    mass: f64,
    centre: Option<DVec3>,
    bounds: Option<[DVec3; 2]>,
    /// Properties of its mesh, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<PieceMeshReport>,
}

/// The object that a piece is of: its number in a scene, or its name in a file.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum ObjectName {
    Number(usize),
    Name(String),
}

/// Mass properties of the solid enclosed by a piece's mesh; units as for the piece.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PieceMeshReport {
    triangles: u64,
    volume: f64,
    mass: f64,
    centre: DVec3,
}

impl PieceMeshReport {
    /// Reports of all meshes, if they were checked.
    pub fn of_all(what: &Assembly) -> impl Iterator<Item = Self> + '_ {
        let of = |(piece, figures): (&ExportPiece, &MeshFigures)| Self {
            triangles: figures.triangles,
            volume: figures.mass.volume_m3 * piece.placing.scale.powi(3),
            mass: figures.mass.kg,
            centre: piece.placing.point(figures.mass.centre),
        };
        what.pieces.iter().zip(&what.figures).map(of)
    }
}

impl PieceReport {
    /// Report of a piece.
    #[must_use]
    pub fn of(piece: &ExportPiece) -> Self {
        let numbers = (piece.id, piece.object, piece.cell, piece.parent, piece.generation);
        Self::new(numbers, &piece.figures())
    }

    /// Report of a piece with its id, object, cell, parent and generation.
    #[must_use]
    pub fn new(
        (id, object, cell, parent, generation): (usize, Option<usize>, Option<u32>, Option<usize>, u32),
        figures: &Figures,
    ) -> Self {
        let Figures { voxels, volume, mass, centre, bounds: Aabb { low, high } } = *figures;
        let (centre, bounds) = (Some(centre), Some([low, high]));
        let object = object.map(ObjectName::Number);
        let (name, node, instance, nodes, materials) = Default::default();
        Self {
            id,
            name,
            object,
            node,
            instance,
            nodes,
            materials,
            cell,
            parent,
            generation,
            voxels,
            volume,
            mass,
            centre,
            bounds,
            mesh: None,
        }
    }

    /// Adds the names and origins of the pieces of `what` to their reports.
    pub(crate) fn tell_origins(reports: &mut [Self], what: &Assembly) {
        for (report, piece) in reports.iter_mut().zip(&what.pieces) {
            report.name = Some(piece.name());
            let Some(origin) = what.origins.get(&piece.id) else { continue };
            report.object.get_or_insert_with(|| ObjectName::Name(origin.object.clone()));
            report.node = Some(origin.node.clone()).filter(|node| !node.is_empty());
            report.instance = origin.instance;
            report.nodes.clone_from(&origin.nodes);
            report.materials.clone_from(&origin.materials);
        }
    }

    /// The same for a piece that no longer exists in the world.
    #[must_use]
    pub fn without_place(self) -> Self {
        Self { centre: None, bounds: None, ..self }
    }
}
