//! What is written: a list of pieces, wherever they come from.
//!
//! In: the result of a command, or the bodies of a scene. Out: an [`Assembly`], which every format takes.
//! Ids, order and names are decided here and nowhere else.

use std::{collections::BTreeMap, sync::Arc};

use glam::{DQuat, DVec3};

use crate::{
    mesh::{Material, Mesh},
    shape::{Octree, Shape},
    svo::{Forest, Grid},
};

use super::{
    BrokenObject, MeshKind, PieceMesh, PieceRef,
    mesh::original::{self, NotOriginal},
    motion::Motion,
};

/// Where exported pieces are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lying {
    /// In the world: metres, y up.
    #[default]
    AsTheyLie,
    /// Where they were in the whole object, in its own units.
    AsTheyFittedTogether,
}

/// Where a shape goes in a file: from shape space (m) scaled, then turned, then moved, to the file's space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placing {
    /// Units of the file for one of shape space.
    pub scale: f64,
    /// Turn about the origin.
    pub rotation: DQuat,
    /// Where the origin of shape space goes, units of the file.
    pub translation: DVec3,
}

impl Placing {
    /// Everything stays where it is.
    pub const UNMOVED: Self = Self { scale: 1.0, rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// A body whose centre of mass `centre` (shape space) is at `position` (world, m).
    #[must_use]
    pub fn of_body(centre: DVec3, position: DVec3, rotation: DQuat) -> Self {
        Self { scale: 1.0, rotation, translation: position - rotation * centre }
    }

    /// In the object's own units, where one of them is `meters_per_unit`.
    #[must_use]
    pub fn in_units(meters_per_unit: f64) -> Self {
        Self { scale: meters_per_unit.recip(), ..Self::UNMOVED }
    }

    /// Where a point of shape space goes. What stays where it is keeps its bits.
    #[must_use]
    pub fn point(&self, p: DVec3) -> DVec3 {
        if *self == Self::UNMOVED { p } else { self.translation + self.rotation * (self.scale * p) }
    }

    /// Which way a direction of shape space points.
    #[must_use]
    pub fn direction(&self, d: glam::Vec3) -> glam::Vec3 {
        if self.is_turned() { self.rotation.as_quat() * d } else { d }
    }

    /// Whether axes point elsewhere than in shape space.
    #[must_use]
    pub fn is_turned(&self) -> bool {
        self.rotation != DQuat::IDENTITY
    }
}

/// Size and place of a piece, in units of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Leaves and internal leaf cells; 0 where the geometry has no voxels.
    pub voxels: u64,
    /// Cubic units.
    pub volume: f64,
    /// At the shape's density: kg where that is kg/m^3.
    pub mass: f64,
    /// Centre of mass.
    pub centre: DVec3,
    /// A box (low, high) that holds it.
    pub bounds: (DVec3, DVec3),
}

impl Figures {
    /// Of `shape` where `placing` puts it.
    #[must_use]
    pub fn of(shape: &Shape, placing: &Placing) -> Self {
        let mass = shape.mass();
        let (low, high) = bounds_in_shape_space(shape);
        let bounds = if placing.is_turned() {
            let corners = (0..8).map(|c| {
                let pick = |k: usize| if c >> k & 1 == 0 { low[k] } else { high[k] };
                placing.point(DVec3::new(pick(0), pick(1), pick(2)))
            });
            let nowhere = (DVec3::INFINITY, DVec3::NEG_INFINITY);
            corners.fold(nowhere, |(low, high), p| (low.min(p), high.max(p)))
        } else {
            (placing.point(low), placing.point(high))
        };
        Self {
            voxels: shape.as_octree().map_or(0, |octree| octree.mass.voxels),
            volume: mass.volume_m3 * placing.scale.powi(3),
            mass: mass.kg,
            centre: placing.point(mass.centre),
            bounds,
        }
    }
}

fn bounds_in_shape_space(shape: &Shape) -> (DVec3, DVec3) {
    let (low, high) = shape.bounds();
    match shape.as_octree().map(|octree| &octree.grid) {
        Some(grid) => (grid.origin + grid.h * low, grid.origin + grid.h * high),
        None => (low, high),
    }
}

/// One piece as every format sees it.
#[derive(Clone, Debug)]
pub struct ExportPiece {
    /// Number in the list it is in; see [`Assembly`].
    pub id: usize,
    /// What it is.
    pub shape: Arc<Shape>,
    /// Where it goes.
    pub placing: Placing,
    /// Index of the object that it comes from, where there may be several.
    pub object: Option<usize>,
    /// Voronoi cell as a seed number over all breaks of its object; `None` for what was never broken.
    pub cell: Option<u32>,
    /// Id of the piece that it was broken off; `None` for what came from the whole object.
    pub parent: Option<usize>,
    /// Breaks that led to it.
    pub generation: u32,
}

impl ExportPiece {
    /// `piece_000`, `piece_001`, ...
    #[must_use]
    pub fn name(&self) -> String {
        format!("piece_{:03}", self.id)
    }

    /// Size and place.
    #[must_use]
    pub fn figures(&self) -> Figures {
        Figures::of(&self.shape, &self.placing)
    }

    /// Its octree, where it is one.
    #[must_use]
    pub fn octree(&self) -> Option<&Octree> {
        self.shape.as_octree()
    }
}

/// What `voxels.npz` holds beside the pieces: the object before it broke, and its Voronoi seeds.
#[derive(Clone, Debug)]
pub struct BreakArrays {
    /// One tree: the object before its first break.
    pub source: Arc<Forest>,
    /// Its place in the file's units.
    pub grid: Grid,
    /// Seeds over all breaks, in voxels.
    pub seeds: Vec<[f64; 3]>,
    /// Object id of each.
    pub seed_object: Vec<u32>,
}

/// What the outside of pieces shows: the materials that [`super::mesh::Side::Outside`] names.
#[derive(Clone, Debug, Default)]
pub struct Skin {
    /// Of the imported object; empty where vertex colours say everything.
    pub materials: Vec<Material>,
}

/// Where the meshes of pieces come from.
#[derive(Clone, Debug)]
pub enum Meshes {
    /// They are made when a format asks for them, as there may be more than fit into memory.
    Asked(MeshKind),
    /// They are there, in the order of the pieces; `None` of one that has no part of the original, whose smooth mesh is
    /// taken.
    Made(Vec<Option<Arc<PieceMesh>>>),
}

impl Default for Meshes {
    fn default() -> Self {
        Self::Asked(MeshKind::default())
    }
}

/// Everything that one export writes.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    /// By descending voxels; ids 0, 1, ...
    pub pieces: Vec<ExportPiece>,
    /// Their meshes.
    pub meshes: Meshes,
    /// What they show, by [`ExportPiece::object`]; an object that is missing shows vertex colours alone.
    pub skins: BTreeMap<Option<usize>, Skin>,
    /// How they move, where that is recorded.
    pub motion: Option<Motion>,
    /// What arrays need, where there is a single object whose breaks are known.
    pub arrays: Option<BreakArrays>,
}

impl Assembly {
    /// Of these pieces: sorts them by descending voxels, then volume, equal ones in the order given, and
    /// numbers them.
    #[must_use]
    pub fn new(mut pieces: Vec<ExportPiece>, arrays: Option<BreakArrays>) -> Self {
        let size = |piece: &ExportPiece| {
            (piece.octree().map_or(0, |octree| octree.mass.voxels), piece.shape.mass().volume_m3)
        };
        pieces.sort_by(|a, b| {
            let ((voxels, volume), (other_voxels, other_volume)) = (size(b), size(a));
            voxels.cmp(&other_voxels).then(volume.total_cmp(&other_volume))
        });
        pieces.iter_mut().enumerate().for_each(|(id, piece)| piece.id = id);
        Self { pieces, arrays, ..Self::default() }
    }

    /// The pieces that a command is left with, in the mesh's units at density 1. They are numbered already.
    #[must_use]
    pub fn of_break(broken: &BrokenObject) -> Self {
        let numbered = broken.pieces.iter().enumerate();
        let patterns =
            || broken.steps.iter().filter_map(|step| Some((step.first_cell, &step.voronoi()?.pattern)));
        let numbers = patterns().flat_map(|(first, pattern)| pattern.objects.iter().map(move |o| first + o));
        let seeds = patterns().flat_map(|(_, pattern)| pattern.seeds_in_voxels(broken.grid().level));
        Self {
            pieces: numbered.map(|(id, at)| piece_of(broken, *at, id)).collect(),
            arrays: Some(BreakArrays {
                source: Arc::clone(&broken.source_octree().forest),
                grid: broken.grid(),
                seeds: seeds.collect(),
                seed_object: numbers.collect(),
            }),
            ..Self::default()
        }
    }

    /// The mesh of a piece, by its number in the list, shape space.
    #[must_use]
    pub fn mesh(&self, piece: usize) -> Arc<PieceMesh> {
        match &self.meshes {
            Meshes::Asked(kind) => Arc::new(kind.of(&self.pieces[piece].shape)),
            Meshes::Made(meshes) => {
                let smooth = || Arc::new(MeshKind::Smooth.of(&self.pieces[piece].shape));
                meshes.get(piece).cloned().flatten().unwrap_or_else(smooth)
            }
        }
    }

    /// Gives the pieces of [`Assembly::of_break`] the meshes that `mesh`, which was broken, is cut into, and its
    /// materials. `scale` units of shape space are one of its own.
    ///
    /// # Errors
    /// [`NotOriginal`]; nothing has changed then.
    pub fn cut_original(
        &mut self,
        mesh: &Mesh,
        scale: f64,
        broken: &BrokenObject,
    ) -> Result<(), NotOriginal> {
        let steps = original::steps_of(broken)?;
        let mut cut = original::meshes(mesh, scale, &broken.grid(), &steps)?;
        let mut taken = |at: &PieceRef| cut.steps.get_mut(at.step)?.get_mut(at.piece)?.take().map(Arc::new);
        self.meshes = Meshes::Made(broken.pieces.iter().map(&mut taken).collect());
        self.skins.insert(None, Skin { materials: mesh.materials.clone() });
        Ok(())
    }

    /// How many pieces have a smooth mesh where the others have the original's.
    #[must_use]
    pub fn without_original(&self) -> usize {
        match &self.meshes {
            Meshes::Asked(_) => 0,
            Meshes::Made(meshes) => meshes.iter().filter(|mesh| mesh.is_none()).count(),
        }
    }

    /// A material of the outside of an object's pieces.
    #[must_use]
    pub fn material(&self, object: Option<usize>, material: u32) -> Option<&Material> {
        self.skins.get(&object)?.materials.get(material as usize)
    }

    /// The pieces of a command that were broken again; their ids follow those of [`Assembly::of_break`].
    #[must_use]
    pub fn broken_again(broken: &BrokenObject) -> Vec<ExportPiece> {
        let first = broken.pieces.len();
        let again = broken.broken_again.iter().enumerate();
        again.map(|(i, at)| piece_of(broken, *at, first + i)).collect()
    }
}

fn piece_of(broken: &BrokenObject, at: PieceRef, id: usize) -> ExportPiece {
    ExportPiece {
        id,
        shape: Arc::clone(&broken.part(at).shape),
        placing: Placing::UNMOVED,
        object: None,
        cell: Some(broken.cell(at)),
        parent: broken.parent_id(at),
        generation: broken.steps[at.step].generation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_goes_where_it_lies_and_back_into_its_own_units() {
        let (centre, position) = (DVec3::new(0.1, 0.2, 0.3), DVec3::new(-4.0, 5.0, 6.0));
        let turn = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let lying = Placing::of_body(centre, position, turn);
        assert!(lying.point(centre).distance(position) < 1e-12);
        let beside = lying.point(centre + DVec3::X);
        assert!(beside.distance(position + DVec3::Y) < 1e-12, "{beside}");
        assert!((lying.direction(glam::Vec3::X) - glam::Vec3::Y).length() < 1e-6);
        assert_eq!(Placing::in_units(0.5).point(DVec3::X), DVec3::X * 2.0);
        let exact = DVec3::new(-0.0, 1.0 / 3.0, 1e300);
        assert_eq!(
            Placing::UNMOVED.point(exact).to_array().map(f64::to_bits),
            exact.to_array().map(f64::to_bits)
        );
    }
}
