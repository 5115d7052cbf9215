//! The probe: everything that is known of one voxel, as fields and as JSON.
//!
//! In: an octree and the coordinates of a voxel; then, as far as they are at hand, the pattern of a break, its
//! [`Inside`](super::overlays::Inside), the place of the grid, and the body's stress. Out: a [`Probe`].
//! `docs/files.md` describes its fields, and `tools/probe_check.py` computes them again from `voxels.npz`.

mod cells;
mod mesh;
mod pieces;
#[cfg(test)]
mod tests;
mod transition;

use std::sync::Weak;

use glam::{DVec3, Vec3};
use serde::Serialize;

pub use mesh::{ProbeFace, ProbeMesh};

use crate::{
    bodies::BodyId,
    scene::{BodyStress, StressLoad},
    shape::Shape,
    svo::{Forest, Grid, Octant, morton, unpack_cut, unpack_normal},
};

/// What an octree holds at a voxel (Domaradzki & Martyn 2016, sec. 3.1, 4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProbeKind {
    /// A boundary voxel of the surface that the object had before it broke.
    Boundary,
    /// A boundary voxel that a break made.
    Crack,
    /// Solid throughout.
    Inside,
    /// Nothing.
    #[default]
    Outside,
}

/// The octree's node that holds a voxel: the voxel itself if it is a leaf, else the largest octant of one kind round
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProbeNode {
    /// Low corner, leaf units.
    pub corner: [u32; 3],
    /// Edge, leaf units.
    pub size: u32,
    /// Its level; the root has level 0.
    pub level: u32,
}

/// A plane of a boundary voxel. Solid is what lies behind it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProbePlane {
    /// Unit normal, outward, axes of the grid.
    pub normal: [f32; 3],
    /// Signed distance of the plane from the voxel's centre along the normal, leaf units.
    pub offset: f32,
}

impl ProbePlane {
    fn new(normal: Vec3, offset: f32) -> Self {
        // Adding zero makes -0 and 0 one, as in `voxels.npz`.
        Self { normal: normal.to_array().map(|v| v + 0.0), offset: offset + 0.0 }
    }
}

/// What a boundary voxel has beside its kind. Fields are `None`, and absent from the JSON, of a voxel that is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ProbeBoundary {
    /// Share of the voxel that is solid, over 0 to 1; in a copy, the solid of the copy's piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f32>,
    /// First plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<ProbePlane>,
    /// Second plane, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<ProbePlane>,
}

/// A seed of the pattern, as seen from the voxel's centre. Positions and distances are in the fixed point of
/// [`Pattern`](crate::fracture::Pattern): 2^14 units a grid side at every level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ProbeSeed {
    /// Its number.
    pub seed: u32,
    /// Object id of the seed: cells of one object stay together (2016, sec. 4.7).
    pub object: u32,
    /// Position, units.
    pub position: [i32; 3],
    /// Squared distance from the voxel's centre, square units. A voxel's centre is a whole number of units at all
    /// levels, so this number is exact.
    pub squared_distance: i64,
}

/// The copy of a voxel in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProbeCopy {
    /// Id of the piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub piece: Option<u32>,
    /// Cell of the piece, as `cell` of the probe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    /// What the piece's octree holds there.
    pub kind: ProbeKind,
    /// Coverage and planes.
    #[serde(flatten)]
    pub boundary: ProbeBoundary,
}

impl ProbeCopy {
    /// The voxel in tree `tree` of a forest, without ids; `None` where that octree is empty.
    #[must_use]
    pub fn in_tree(forest: &Forest, tree: u32, voxel: [u32; 3]) -> Option<Self> {
        let Held { kind, boundary, .. } = Held::at(forest, tree, voxel);
        (kind != ProbeKind::Outside).then_some(Self { piece: None, cell: None, kind, boundary })
    }
}

/// The break that made the piece in which a voxel lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProbeBreak {
    /// Its number, from 0.
    pub number: u32,
    /// Where its blow fell, leaf units.
    pub impact: [f64; 3],
    /// Its random seed.
    pub rng: u64,
}

/// Labels of the connected components (2016, sec. 4.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProbeLabel {
    /// Answer of the union-find: the octree of the fracture that the voxel belongs to. Islands have different octrees.
    pub island: u32,
    /// Whether chains of labels were not flattened.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flood: bool,
    /// Labels of the published labelling before its first iteration and after each one.
    pub iterations: Vec<u32>,
}

/// A triangle of a crack surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProbeTriangle {
    /// Corners, leaf units.
    pub points: [[f64; 3]; 3],
    /// Objects on its two sides; the normal by the right-hand rule points from the first to the second. Of a dusty
    /// surface the first is the object whose border the triangle is.
    pub cells: [u32; 2],
}

/// The voxel of the transition level that holds the probed voxel (Domaradzki & Martyn 2018, sec. 5.2).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProbeTransition {
    /// Low corner and edge, leaf units.
    pub voxel: [u32; 4],
    /// Object that owns each corner; bits 0, 1, 2 of a corner's number are its x, y, z.
    pub objects: [u32; 8],
    /// Number of its separation points, those in its walls included.
    pub points: u32,
    /// Those of its triangles that touch the probed voxel's closed cube.
    pub triangles: Vec<ProbeTriangle>,
}

/// Everything that is known of one voxel. Fields are `None`, and absent from the JSON, where the data that they need
/// were not given.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Probe {
    /// Coordinates, leaf units: the voxel spans x..x+1 along each axis.
    pub voxel: [u32; 3],
    /// Leaf level: the grid has 2^level voxels a side.
    pub level: u32,
    /// Morton code of the voxel at the leaf level.
    pub morton: u64,
    /// What the probed octree holds there.
    pub kind: ProbeKind,
    /// The node of that octree that holds the voxel.
    pub node: ProbeNode,
    /// The voxel's centre, mesh units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub centre_in_mesh: Option<[f64; 3]>,
    /// What the octree held there before it broke.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_source: Option<ProbeKind>,
    /// Object id of the seed nearest to the voxel's centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<u32>,
    /// Id of the piece in which the voxel lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub piece: Option<u32>,
    /// How many breaks led to that piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// The break that made that piece.
    #[serde(rename = "break", skip_serializing_if = "Option::is_none")]
    pub made_by: Option<ProbeBreak>,
    /// Cell of that piece, as in `voxels.npz` and `report.json`; without a piece the same as `object`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    /// The two seeds nearest to the voxel's centre, the nearest first; of equally near ones the lowest number first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<ProbeSeed>,
    /// The nearest seed of another object than that of the nearest seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<ProbeSeed>,
    /// Distance of the voxel's centre from the nearest seed, leaf units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_to_seed: Option<f64>,
    /// Distance of the voxel's centre from the bisector of the nearest seed and `beyond`, leaf units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_to_crack: Option<f64>,
    /// The seed nearest to each corner of the voxel, of equally near ones the lowest (2016, sec. 4.3); bits 0, 1, 2 of
    /// a corner's number are its x, y, z.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corners: Option<[u32; 8]>,
    /// Largest principal stress of the cell of the body's stress that holds the voxel, Pa; 0 where every direction is
    /// compressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stress_pa: Option<f64>,
    /// Equivalent stress of von Mises of that cell, Pa.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub von_mises_pa: Option<f64>,
    /// What loads the body in that stress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stress_load: Option<StressLoad>,
    /// Force of the blow in that stress, N; none under the weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stress_newtons: Option<f64>,
    /// Coverage and planes.
    #[serde(flatten)]
    pub boundary: ProbeBoundary,
    /// All copies of the voxel, where several pieces have one (2016, sec. 4.4); by ascending piece.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<ProbeCopy>,
    /// Labels of the voxel's copy in `piece`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<ProbeLabel>,
    /// The crossed transition voxel that holds the voxel; none where the crack surface is planar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<ProbeTransition>,
    /// What the surface has there, of a body that is a mesh, for which the voxel stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<ProbeMesh>,
}

impl Probe {
    /// The octree's part: what tree `tree` of a forest holds at a voxel, leaf units. Outside of the grid, and in a
    /// tree that is not there, it is [`ProbeKind::Outside`].
    #[must_use]
    pub fn of_leafs(forest: &Forest, tree: u32, voxel: [u32; 3]) -> Self {
        let Held { kind, node, boundary } = Held::at(forest, tree, voxel);
        let (level, morton) = (forest.level, morton::encode(voxel));
        Self { voxel, level, morton, kind, node, boundary, ..Self::default() }
    }

    /// The same with the voxel's place in the mesh.
    #[must_use]
    pub fn with_grid(self, grid: &Grid) -> Self {
        let centre = grid.origin + grid.h * DVec3::from_array(self.voxel.map(|v| f64::from(v) + 0.5));
        Self { centre_in_mesh: Some(centre.to_array()), ..self }
    }

    /// The same with the stress of the voxel's body; an empty voxel has none.
    #[must_use]
    pub fn with_stress(self, stress: &BodyStress) -> Self {
        let centre = DVec3::from_array(self.voxel.map(|v| f64::from(v) + 0.5));
        let figures = stress.at(centre, self.level).filter(|_| self.kind != ProbeKind::Outside);
        let stress_load = figures.map(|_| stress.load());
        Self {
            stress_pa: figures.map(|figures| figures.tension),
            von_mises_pa: figures.map(|figures| figures.von_mises),
            stress_load,
            stress_newtons: stress_load.and_then(StressLoad::newtons),
            ..self
        }
    }

    /// The same with the stress that another probe of the voxel has.
    #[must_use]
    pub fn with_stress_of(self, other: &Self) -> Self {
        let &Self { stress_pa, von_mises_pa, stress_load, stress_newtons, .. } = other;
        Self { stress_pa, von_mises_pa, stress_load, stress_newtons, ..self }
    }

    /// All fields as indented JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Serialising fails for maps with keys that are no text, and a probe has no maps.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// A voxel that was probed.
#[derive(Clone, Debug)]
pub struct Probed {
    /// Its body.
    pub body: BodyId,
    /// What is known of it.
    pub probe: Probe,
    /// Where it was probed, shape space, m.
    pub(in crate::scene) point: DVec3,
    /// The shape that it was probed in.
    pub(in crate::scene) shape: Weak<Shape>,
    /// Revision of the inside that was read back, and of the stress.
    pub(in crate::scene) revision: u64,
}

/// What an octree holds at a voxel.
struct Held {
    kind: ProbeKind,
    node: ProbeNode,
    boundary: ProbeBoundary,
}

impl Held {
    fn at(forest: &Forest, tree: u32, voxel: [u32; 3]) -> Self {
        let node = |corner: [u32; 3], size: u32| {
            let below = size.checked_ilog2().unwrap_or_default();
            ProbeNode { corner, size, level: forest.level.saturating_sub(below) }
        };
        let without_planes =
            |kind: ProbeKind, node: ProbeNode| Self { kind, node, boundary: ProbeBoundary::default() };
        let leaf = match forest.octant_at(tree as usize, voxel) {
            Octant::Empty { low, size } => return without_planes(ProbeKind::Outside, node(low, size)),
            Octant::Internal { low, size } => return without_planes(ProbeKind::Inside, node(low, size)),
            Octant::Leaf(leaf) => leaf as usize,
        };
        let leaves = &forest.leaves;
        let color = leaves.colors.get(leaf).copied().unwrap_or_default();
        let normal = leaves.normals.get(leaf).map(|word| unpack_normal(*word));
        let cut = leaves.cuts.get(leaf).copied().and_then(unpack_cut);
        Self {
            kind: if color.crack() { ProbeKind::Crack } else { ProbeKind::Boundary },
            node: node(voxel, 1),
            boundary: ProbeBoundary {
                coverage: leaves.coverage.get(leaf).copied(),
                surface: normal.map(|normal| ProbePlane::new(normal, color.offset())),
                cut: cut.map(|(normal, offset)| ProbePlane::new(normal, offset)),
            },
        }
    }
}
