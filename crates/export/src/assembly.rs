//! What is written: a list of pieces, wherever they come from.
//!
//! In: the result of a command, or the bodies of a scene. Out: an [`Assembly`], which every format takes.
//! Ids, order and names are decided here and nowhere else.

use std::{collections::BTreeMap, sync::Arc};

use rayon::prelude::*;

use crate::{
    fracture::{Dropped, Surface, VoronoiDetail, crack::CrackShape},
    mesh::{Material, Mesh},
    shape::MassProperties,
    svo::{Forest, Grid},
};

use super::{
    BreakStep, BrokenObject, ExportError, ExportPiece, Handover, MeshCheck, MeshKind, MeshReport, PieceMesh,
    PieceRef, Placing, Watch,
    handover::Collision,
    hulls::{self, Hull},
    meshes::{
        WrittenMesh,
        original::{self, NotOriginal},
        simplify,
    },
    motion::Motion,
};

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
    /// The breaks, in the order in which they were made.
    pub breaks: Vec<BreakKind>,
    /// Trees that the rule for small pieces took away, on the same grid.
    pub dropped: Vec<(Arc<Forest>, u32)>,
}

/// How one break was made, for whoever recomputes it from the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakKind {
    /// Number of its first seed in [`BreakArrays::seeds`].
    pub first_seed: u32,
    /// Its crack surfaces.
    pub surface: Surface,
    /// Level of the voxels that carry them; none where they are planar.
    pub transition_level: Option<u32>,
    /// Level at which islands were told apart.
    pub island_level: u32,
}

impl BreakKind {
    /// The level that cracks of this shape are made at on a grid of `level`; none where they are planar.
    #[must_use]
    pub fn transition(crack: &CrackShape, level: u32, surface: Surface) -> Option<u32> {
        crack.transition(level, surface).ok().filter(|_| surface != Surface::Planar)
    }
}

/// What the outside of pieces shows: the materials that [`super::meshes::Side::Outside`] names.
#[derive(Clone, Debug, Default)]
pub struct Skin {
    /// Of the imported object; empty where vertex colours say everything.
    pub materials: Vec<Material>,
}

/// Where the meshes of pieces come from.
#[derive(Clone, Debug, Default)]
pub struct Meshes {
    kind: MeshKind,
    /// In the order of the pieces; none: they are made whenever a format asks for them, as there may be more than fit
    /// into memory. `None` of one that is smooth since it has no part of the original.
    made: Vec<Option<Arc<WrittenMesh>>>,
    without_original: usize,
}

impl Meshes {
    /// Of this kind, made when they are asked for.
    #[must_use]
    pub fn asked(kind: MeshKind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// Cut from the original, in the order of the pieces.
    #[must_use]
    pub fn originals(made: Vec<Option<Arc<PieceMesh>>>) -> Self {
        let without_original = made.iter().filter(|mesh| mesh.is_none()).count();
        let made = made.into_iter().map(|mesh| Some(Arc::new(WrittenMesh::from(mesh?)))).collect();
        Self { kind: MeshKind::Original, made, without_original }
    }

    /// Which they are.
    #[must_use]
    pub fn kind(&self) -> MeshKind {
        self.kind
    }

    /// How many pieces have a smooth mesh where the others have the original's.
    #[must_use]
    pub fn without_original(&self) -> usize {
        self.without_original
    }
}

/// What was found out about the mesh that a piece is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeshFigures {
    /// Triangles.
    pub triangles: u64,
    /// What the solid that it bounds weighs, shape space.
    pub mass: MassProperties,
}

/// A piece that broke again, under which files put what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Id, from the number of pieces on.
    pub id: usize,
    /// The one that it came of itself.
    pub parent: Option<usize>,
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
    /// Pieces that broke again, which others name as parents; by id.
    pub generations: Vec<Generation>,
    /// What is asked for beside formats.
    pub handover: Handover,
    /// How wide dust may lie between pieces that were neighbours, m of shape space.
    pub gap: f64,
    /// What was found out about the meshes, by number of piece; empty before [`Assembly::prepare`].
    pub figures: Vec<MeshFigures>,
    /// Collision shapes of each piece, shape space; empty where none are wanted.
    pub hulls: Vec<Vec<Hull>>,
}

/// Up to so many leaves meshes are made once and held; of more they are made whenever they are asked for.
const HELD: usize = 3 << 20;
/// So many pieces at a time are worked at before anyone asks whether to stop.
const AT_ONCE: usize = 16;

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
            || broken.steps.iter().filter_map(|step| Some((step.first_cell, step.result.pattern.as_ref()?)));
        let numbers = patterns().flat_map(|(first, pattern)| pattern.objects.iter().map(move |o| first + o));
        let voronoi = || broken.steps.iter().filter_map(|step| VoronoiDetail::of(&step.result));
        let seeds = patterns().flat_map(|(_, pattern)| pattern.seeds_in_voxels(broken.grid().level));
        Self {
            pieces: numbered.map(|(id, at)| piece_of(broken, *at, id)).collect(),
            arrays: Some(BreakArrays {
                source: Arc::clone(&broken.source_octree().forest),
                grid: broken.grid(),
                seeds: seeds.collect(),
                seed_object: numbers.collect(),
                breaks: broken.steps.iter().map(|step| kind_of(step, broken.grid().level)).collect(),
                dropped: voronoi().flat_map(dropped_by).collect(),
            }),
            generations: Self::broken_again(broken).iter().map(Generation::of).collect(),
            gap: voronoi()
                .map(|detail| widest_gap(&detail.recipe.crack, detail.recipe.surface, &broken.grid()))
                .fold(0.0, f64::max),
            ..Self::default()
        }
    }

    /// The mesh of a piece, by its number in the list, shape space.
    #[must_use]
    pub fn mesh(&self, piece: usize) -> Arc<WrittenMesh> {
        let Meshes { kind, made, .. } = &self.meshes;
        made.get(piece)
            .cloned()
            .flatten()
            .unwrap_or_else(|| Arc::new(Arc::new(kind.of(&self.pieces[piece].shape)).into()))
    }

    /// What a piece weighs as it is written: as the solid that its mesh bounds, where that is known; of cubes and of what
    /// has no mesh as the voxels that it has. Shape space.
    #[must_use]
    pub fn mass(&self, piece: usize) -> MassProperties {
        let of_mesh = self.figures.get(piece).map(|figures| figures.mass);
        let of_mesh = of_mesh.filter(|mass| self.meshes.kind != MeshKind::Voxels && mass.kg > 0.0);
        of_mesh.unwrap_or(*self.pieces[piece].shape.mass())
    }

    /// Makes meshes with as few triangles as are asked for, looks them over, and makes collision shapes: what formats with
    /// meshes need. Figures of all meshes.
    ///
    /// # Errors
    /// [`ExportError::Cancelled`].
    pub fn prepare(&mut self, watch: &Watch) -> Result<MeshReport, ExportError> {
        let count = self.pieces.len();
        let leaves: usize = self.pieces.iter().filter_map(|p| Some(p.octree()?.leaves().len())).sum();
        let (error, kind) = (self.handover.simplify, self.meshes.kind);
        let held = leaves <= HELD || error > 0.0;
        let numbers: Vec<usize> = (0..count).collect();
        let mut made = Vec::with_capacity(if held { count } else { 0 });
        let mut report =
            MeshReport { kind, without_original: self.meshes.without_original, ..MeshReport::default() };
        for some in numbers.chunks(AT_ONCE) {
            watch.at(some[0], count)?;
            let one = |i: &usize| {
                let (piece, mut mesh) = (&self.pieces[*i], self.mesh(*i));
                if error > 0.0
                    && let Some(simpler) = simplify(&mesh, error * piece.voxel())
                {
                    mesh = Arc::new(Arc::new(simpler).into());
                }
                let corners = mesh.triangles.iter().map(|t| t.map(|v| mesh.positions[v as usize]));
                let mass = MassProperties::of_triangles(corners, piece.shape.density());
                let hulls = hulls::of(self.handover.collision, &mesh);
                (MeshCheck::of(&mesh), mass, hulls, held.then_some(mesh))
            };
            let all: Vec<_> = some.par_iter().map(one).collect();
            for (i, (check, mass, hulls, mesh)) in some.iter().zip(all) {
                report.add(&self.pieces[*i], check);
                self.figures.push(MeshFigures { triangles: check.triangles, mass });
                if self.handover.collision != Collision::None {
                    self.hulls.push(hulls);
                }
                made.extend(mesh.map(Some));
            }
        }
        if held {
            self.meshes.made = made;
        }
        Ok(report)
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
        if self.own_surfaces(mesh.materials.clone()) {
            return Ok(());
        }
        let steps = original::steps_of(broken)?;
        let mut cut = original::meshes(mesh, scale, &broken.grid(), &steps)?;
        let mut taken = |at: &PieceRef| cut.steps.get_mut(at.step)?.get_mut(at.piece)?.take().map(Arc::new);
        self.meshes = Meshes::originals(broken.pieces.iter().map(&mut taken).collect());
        self.skins.insert(None, Skin { materials: mesh.materials.clone() });
        Ok(())
    }

    /// Where every piece is a mesh already, as methods that cut meshes give them, that is its original, and its outside
    /// shows `materials`. Whether it is so.
    pub fn own_surfaces(&mut self, materials: Vec<Material>) -> bool {
        let own = |piece: &ExportPiece| piece.shape.as_mesh().map(original::of_solid);
        let Some(surfaces) = self.pieces.par_iter().map(own).collect::<Option<Vec<_>>>() else {
            return false;
        };
        self.meshes = Meshes::originals(surfaces.into_iter().map(Some).collect());
        self.skins.insert(None, Skin { materials });
        true
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

/// How wide the dust of a break may lie: no wider than a voxel in which it is decided, m.
#[must_use]
pub fn widest_gap(crack: &CrackShape, surface: Surface, grid: &Grid) -> f64 {
    match crack.transition(grid.level, surface) {
        Ok(level) if surface == Surface::Dusty => grid.h * f64::from(1 << (grid.level - level)) * 3f64.sqrt(),
        _ => 0.0,
    }
}

impl Generation {
    fn of(piece: &ExportPiece) -> Self {
        Self { id: piece.id, parent: piece.parent }
    }
}

fn kind_of(step: &BreakStep, level: u32) -> BreakKind {
    let params = &step.result.params;
    let of_voxels = VoronoiDetail::of(&step.result);
    let surface = of_voxels.map_or(Surface::Planar, |detail| detail.recipe.surface);
    BreakKind {
        first_seed: step.first_cell,
        surface,
        transition_level: BreakKind::transition(&params.crack, level, surface),
        island_level: of_voxels.map_or(level, |detail| detail.island_level),
    }
}

fn dropped_by(detail: &VoronoiDetail) -> Vec<(Arc<Forest>, u32)> {
    let trees = |dropped: &Dropped| -> Vec<_> {
        dropped.pieces.iter().map(|piece| (Arc::clone(&dropped.forest), piece.tree)).collect()
    };
    detail.fracture.dropped.as_ref().map(trees).unwrap_or_default()
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
