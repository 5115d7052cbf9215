//! Collects the pieces to write, from any source.
//!
//! In: the result of a command, or the bodies of a scene. Out: an [`Assembly`], which every format accepts. Only this
//! module decides ids, order and names.

use std::{collections::BTreeMap, sync::Arc};

use rayon::prelude::*;

use crate::{
    bodies::structure::{Strength, StrengthMaterial},
    bonds::{Bond, Capacity, HeldBond},
    debris::Debris,
    fracture::{Insides, Surface, Volume, VoronoiDetail, crack::CrackShape},
    memory,
    mesh::{Material, Mesh},
    shape::{MassProperties, Original},
    svo::{Forest, Grid},
    voxelize::Progress,
};

use super::{
    BreakStep, BrokenObject, ExportError, ExportPiece, Handover, MeshCheck, MeshKind, MeshReport, PieceMesh,
    PieceOrigin, PieceRef, Placing, Source, Watch,
    handover::Collision,
    hulls::{self, Hull},
    meshes::{
        Dress, WrittenMesh,
        bake::Maps,
        is_crumb,
        original::{self, NotOriginal},
        simplify,
    },
    motion::Motion,
    pieces::{Generation, dropped_by, inside_of, insides_of, widest_gap},
};

/// Data of `voxels.npz` besides the pieces: the object before it broke, and its Voronoi seeds.
#[derive(Clone, Debug)]
pub struct BreakArrays {
    /// One tree: the object before its first break.
    pub source: Arc<Forest>,
    /// Its grid in the file's units.
    pub grid: Grid,
    /// Seeds over all breaks, in voxels.
    pub seeds: Vec<[f64; 3]>,
    /// Object id of each seed.
    pub seed_object: Vec<u32>,
    /// The breaks in their order.
    pub breaks: Vec<BreakKind>,
    /// Trees dropped by the rule for small pieces, on the same grid.
    pub dropped: Vec<(Arc<Forest>, u32)>,
}

/// Parameters of one break, needed to recompute it from the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakKind {
    /// Number of its first seed in [`BreakArrays::seeds`].
    pub first_seed: u32,
    /// Its crack surfaces.
    pub surface: Surface,
    /// Level of the voxels that carry them; `None` if they are planar.
    pub transition_level: Option<u32>,
    /// Level of island detection.
    pub island_level: u32,
}

impl BreakKind {
    /// The transition level of cracks of this shape on a grid of `level`; `None` if they are planar.
    #[must_use]
    pub fn transition(crack: &CrackShape, level: u32, surface: Surface) -> Option<u32> {
        crack.transition(level, surface).ok().filter(|_| surface != Surface::Planar)
    }
}

/// Materials of the outside of pieces, the indices of [`super::meshes::Side::Outside`].
#[derive(Clone, Debug, Default)]
pub struct Skin {
    /// Materials of the imported object; empty if it only has vertex colours.
    pub materials: Vec<Material>,
}

/// Source of the pieces' meshes.
#[derive(Clone, Debug, Default)]
pub struct Meshes {
    kind: MeshKind,
    /// Meshes in the order of the pieces; empty if they are made on demand, since they may not fit into memory. `None`
    /// for a piece that contains no part of the original mesh and gets a smooth mesh.
    pub(crate) made: Vec<Option<Arc<WrittenMesh>>>,
    /// The same before crack faces got their relief; empty if they have none.
    pub(crate) without_relief: Vec<Arc<WrittenMesh>>,
    without_original: usize,
}

impl Meshes {
    /// Meshes of this kind, made on demand.
    #[must_use]
    pub fn asked(kind: MeshKind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// Meshes cut from the original, in the order of the pieces.
    #[must_use]
    pub fn originals(made: Vec<Option<Arc<PieceMesh>>>) -> Self {
        let without_original = made.iter().filter(|mesh| mesh.is_none()).count();
        let made = made.into_iter().map(|mesh| Some(Arc::new(WrittenMesh::from(mesh?)))).collect();
        Self { kind: MeshKind::Original, made, without_original, ..Self::default() }
    }

    /// Kind of the meshes.
    #[must_use]
    pub fn kind(&self) -> MeshKind {
        self.kind
    }

    /// Number of pieces with a smooth mesh among original ones.
    #[must_use]
    pub fn without_original(&self) -> usize {
        self.without_original
    }
}

/// Properties of the mesh that a piece is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeshFigures {
    /// Number of triangles.
    pub triangles: u64,
    /// Mass properties of the enclosed solid, shape space.
    pub mass: MassProperties,
}

/// All data of one export.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    /// Pieces by descending voxels; their ids are 0, 1, ...
    pub pieces: Vec<ExportPiece>,
    /// Their meshes.
    pub meshes: Meshes,
    /// Materials by [`ExportPiece::object`]; an object without an entry has vertex colours only.
    pub skins: BTreeMap<Option<usize>, Skin>,
    /// What smooth meshes show outside, by [`ExportPiece::object`], where that is more than the colours of voxels.
    pub dresses: BTreeMap<Option<usize>, Arc<Dress>>,
    /// Material inside the pieces by [`ExportPiece::object`], whose relief crack faces get.
    pub insides: BTreeMap<Option<usize>, Volume>,
    /// Other materials that later breaks opened, by [`ExportPiece::object`]: those of
    /// [`super::meshes::Side::Later`], from 1 on. None before [`Assembly::prepare`].
    pub later: BTreeMap<Option<usize>, Vec<Volume>>,
    /// Textures of crack faces by [`ExportPiece::object`], if they are baked; none before [`Assembly::prepare`].
    pub maps: BTreeMap<Option<usize>, Arc<Maps>>,
    /// Motion of the pieces, if it was recorded.
    pub motion: Option<Motion>,
    /// Debris that goes with the motion, if there is any; its times are those of the motion.
    pub debris: Option<Debris>,
    /// Data for the arrays, if there is a single object whose breaks are known.
    pub arrays: Option<BreakArrays>,
    /// Pieces that broke again, which are parents of others; by id.
    pub generations: Vec<Generation>,
    /// Adaptation to other programs.
    pub handover: Handover,
    /// Strength of the bonds by [`ExportPiece::object`], where the scene says it.
    pub strengths: BTreeMap<Option<usize>, Strength>,
    /// The bonds of a structure, by their pieces (ids, the lower first). Other pairs have what their meshes share, with the
    /// strength that grain and scatter leave.
    pub held: BTreeMap<[usize; 2], HeldBond>,
    /// The lumps that pieces are in by the strength of their bonds, the coarsest level first, by ids of pieces. Numbers count
    /// the lumps of a level; a lump lies in one lump of the level above. Pieces without an entry are in none.
    pub lumps: BTreeMap<usize, Vec<u32>>,
    /// Whether the masses are volumes, at density 1, and no kg.
    pub relative_masses: bool,
    /// Widest possible layer of dust between neighbouring pieces, m of shape space.
    pub gap: f64,
    /// The meshes of the objects that the pieces came of, by [`ExportPiece::object`].
    pub sources: BTreeMap<Option<usize>, Source>,
    /// What pieces came of, by their ids; those that have a source know it after [`Assembly::prepare`].
    pub origins: BTreeMap<usize, PieceOrigin>,
    /// How many of the last pieces are whole objects that stand beside those that broke.
    pub beside: usize,
    /// What names of pieces begin with, in place of `piece`.
    pub prefix: Option<String>,
    /// Properties of the meshes in the order of the pieces; empty before [`Assembly::prepare`].
    pub figures: Vec<MeshFigures>,
    /// Collision shapes of each piece, shape space; empty if none were requested.
    pub hulls: Vec<Vec<Hull>>,
}

/// Up to this number of leaves, meshes are made once and kept; above it they are made on demand.
const HELD: usize = 3 << 20;
/// Number of pieces processed between two checks for cancellation.
pub(crate) const AT_ONCE: usize = 16;
/// Triangles of a mesh with relief whose facing is tested. There are millions of them, and the test of one takes as long as all
/// else that is done with it.
const ASKED_WITH_RELIEF: usize = 20_000;
/// Memory of a leaf's part of a mesh while it is made and written, bytes: 394 were measured for the statue at level 9.
const LEAF_BYTES: u64 = 400;

impl Assembly {
    /// Sorts pieces by descending voxels, then volume (stably), and numbers them.
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

    /// The final pieces of a command, in mesh units at density 1. They are already numbered.
    #[must_use]
    pub fn of_break(broken: &BrokenObject) -> Self {
        let (numbered, insides) = (broken.pieces.iter().enumerate(), insides_of(broken));
        let patterns =
            || broken.steps.iter().filter_map(|step| Some((step.first_cell, step.result.pattern.as_ref()?)));
        let numbers = patterns().flat_map(|(first, pattern)| pattern.objects.iter().map(move |o| first + o));
        let voronoi = || broken.steps.iter().filter_map(|step| VoronoiDetail::of(&step.result));
        let seeds = patterns().flat_map(|(_, pattern)| pattern.seeds_in_voxels(broken.grid().level));
        Self {
            pieces: numbered.map(|(id, at)| piece_of(broken, (*at, id), &insides)).collect(),
            arrays: Some(BreakArrays {
                source: Arc::clone(&broken.source_octree().forest),
                grid: broken.grid(),
                seeds: seeds.collect(),
                seed_object: numbers.collect(),
                breaks: broken.steps.iter().map(|step| kind_of(step, broken.grid().level)).collect(),
                dropped: voronoi().flat_map(dropped_by).collect(),
            }),
            generations: Self::broken_again(broken).iter().map(Generation::of).collect(),
            insides: inside_of(broken).map(|volume| (None, volume)).into_iter().collect(),
            relative_masses: true,
            gap: voronoi()
                .map(|detail| widest_gap(&detail.recipe.crack, detail.recipe.surface, &broken.grid()))
                .fold(0.0, f64::max),
            ..Self::default()
        }
    }

    /// The mesh of a piece, by its index, shape space. A smooth one has a simpler outside, unless all triangles or another
    /// error are asked for.
    #[must_use]
    pub fn mesh(&self, piece: usize) -> Arc<WrittenMesh> {
        let Meshes { kind, made, .. } = &self.meshes;
        made.get(piece).cloned().flatten().unwrap_or_else(|| {
            let ExportPiece { shape, object, .. } = &self.pieces[piece];
            let mut mesh = kind.dressed(shape, self.dresses.get(object).map(Arc::as_ref));
            self.tell_apart(piece, &mut mesh, true);
            let is_full = self.handover.all_triangles || self.handover.simplify > 0.0;
            let is_simpler = !is_full && self.is_smooth(piece) && !self.is_crumb(piece);
            let voxel = is_simpler.then(|| self.pieces[piece].voxel());
            Arc::new(WrittenMesh::with_simple_outside(mesh, voxel))
        })
    }

    /// Whether the mesh of a piece is, or would be, the smooth one of its voxels.
    #[must_use]
    pub fn is_smooth(&self, piece: usize) -> bool {
        let is_made = self.meshes.made.get(piece).is_some_and(Option::is_some);
        !is_made && self.meshes.kind != MeshKind::Voxels && self.pieces[piece].octree().is_some()
    }

    /// Whether a piece is a crumb, whose mesh is, or would be, a box.
    fn is_crumb(&self, piece: usize) -> bool {
        self.is_smooth(piece) && self.pieces[piece].octree().is_some_and(is_crumb)
    }

    /// The mesh of a piece before its crack faces got their relief, shape space.
    #[must_use]
    pub fn mesh_without_relief(&self, piece: usize) -> Arc<WrittenMesh> {
        self.meshes.without_relief.get(piece).cloned().unwrap_or_else(|| self.mesh(piece))
    }

    /// Mass properties of a piece as it is written: those of the solid enclosed by its mesh if known, otherwise (also
    /// for cubes) those of its voxels. Shape space.
    #[must_use]
    pub fn mass(&self, piece: usize) -> MassProperties {
        let of_mesh = self.figures.get(piece).map(|figures| figures.mass);
        let of_mesh = of_mesh.filter(|mass| self.meshes.kind != MeshKind::Voxels && mass.kg > 0.0);
        of_mesh.unwrap_or(*self.pieces[piece].shape.mass())
    }

    /// The same in kg: where masses are at density 1, with the density of the material whose strength the bonds have.
    #[must_use]
    pub fn solid(&self, piece: usize) -> MassProperties {
        let mut mass = self.mass(piece);
        if self.relative_masses {
            let material = self.handover.strength.unwrap_or_default();
            let factor = material.density() / self.pieces[piece].shape.density().max(1e-300);
            mass.kg *= factor;
            mass.inertia *= factor;
        }
        mass
    }

    /// Strength of the bonds of an object: of the material that was asked for, else what the scene says, else the default.
    #[must_use]
    pub fn strength(&self, object: Option<usize>) -> Strength {
        let asked = self.handover.strength.map(StrengthMaterial::strength);
        let said = || self.strengths.get(&object).copied();
        asked.or_else(said).unwrap_or_else(|| StrengthMaterial::default().strength())
    }

    /// What a bond bears before it breaks.
    #[must_use]
    pub fn capacity(&self, bond: &Bond) -> Capacity {
        let piece = &self.pieces[bond.pieces[0]];
        let strength = self.strength(piece.object);
        let usual = || strength.share(bond.pieces.map(|piece| piece as u32), bond.normal);
        let share = self.held.get(&bond.pieces).map_or_else(usual, |held| held.share);
        Capacity::of(bond, &strength, share).scaled(piece.placing.scale)
    }

    /// Refuses meshes that do not fit into the free memory: all that are made of leaves, or the largest at a time.
    fn check_memory(&self, held: bool) -> Result<(), ExportError> {
        let is_made = |i: usize| self.meshes.made.get(i).is_some_and(Option::is_some);
        let to_make = self.pieces.iter().enumerate().filter(|(i, _)| !is_made(*i));
        let mut leaves: Vec<usize> = to_make.filter_map(|(_, p)| Some(p.octree()?.leaves().len())).collect();
        leaves.sort_unstable_by(|a, b| b.cmp(a));
        let at_once = if held { leaves.len() } else { AT_ONCE };
        let leaves: usize = leaves.iter().take(at_once).sum();
        memory::check(leaves as u64 * LEAF_BYTES).map_err(ExportError::Memory)
    }

    /// Simplifies the meshes as requested, checks them, and makes collision shapes, as formats with meshes need.
    /// Returns statistics of all meshes.
    ///
    /// # Errors
    /// [`ExportError::Cancelled`], [`ExportError::Memory`].
    pub fn prepare(&mut self, watch: &Watch) -> Result<MeshReport, ExportError> {
        self.list_later();
        let count = self.pieces.len();
        let leaves: usize = self.pieces.iter().filter_map(|p| Some(p.octree()?.leaves().len())).sum();
        let (mut error, kind) = (self.handover.simplify, self.meshes.kind);
        let has_relief = self.handover.relief_edge > 0.0 && kind != MeshKind::Voxels;
        let is_baked = self.handover.bake > 0.0 && kind != MeshKind::Voxels;
        let held = leaves <= HELD || error > 0.0 || has_relief || is_baked;
        self.check_memory(held)?;
        let crumbs = (0..count).filter(|i| self.is_crumb(*i)).count();
        if has_relief {
            self.give_relief(watch)?;
            error = 0.0;
        }
        let mut textures = Vec::new();
        if is_baked {
            if !has_relief {
                self.meshes.made = self.simple_meshes(watch, count)?.into_iter().map(Some).collect();
            }
            textures = self.bake(has_relief, watch)?;
            error = 0.0;
        }
        let asked = if has_relief { ASKED_WITH_RELIEF } else { MeshCheck::MOST_ASKED };
        let numbers: Vec<usize> = (0..count).collect();
        let mut made = Vec::with_capacity(if held { count } else { 0 });
        let mut report = MeshReport {
            kind,
            without_original: self.meshes.without_original,
            crumbs: (crumbs > 0).then_some(crumbs),
            textures,
            has_relief,
            ..MeshReport::default()
        };
        let (mut before, mut is_simpler) = (0, false);
        for some in numbers.chunks(AT_ONCE) {
            watch.at(some[0], count)?;
            let one = |i: &usize| {
                let (piece, mesh) = (&self.pieces[*i], self.simpler(*i, error));
                let corners = mesh.triangles.iter().map(|t| t.map(|v| mesh.positions[v as usize]));
                let mass = MassProperties::of_triangles(corners, piece.shape.density());
                let hulls = hulls::of(self.handover.collision, &mesh);
                (MeshCheck::sampled(&mesh, asked), mass, hulls, mesh.full(), held.then_some(mesh))
            };
            let all: Vec<_> = some.par_iter().map(one).collect();
            for (i, (check, mass, hulls, full, mesh)) in some.iter().zip(all) {
                report.add(&self.pieces[*i], check);
                before += full.unwrap_or(check.triangles);
                is_simpler |= full.is_some();
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
        report.triangles_before = is_simpler.then_some(before);
        self.find_origins();
        Ok(report)
    }

    /// The mesh of a piece, simplified by up to `error` voxels.
    fn simpler(&self, piece: usize, error: f64) -> Arc<WrittenMesh> {
        let mesh = self.mesh(piece);
        // The box of a crumb would vanish.
        let simpler = (error > 0.0 && !self.is_crumb(piece))
            .then(|| simplify(&mesh, error * self.pieces[piece].voxel()))
            .flatten();
        simpler.map_or(mesh, |simpler| Arc::new(Arc::new(simpler).into()))
    }

    /// The meshes of all pieces, simplified as requested, of `steps` of the progress.
    pub(crate) fn simple_meshes(
        &self,
        watch: &Watch,
        steps: usize,
    ) -> Result<Vec<Arc<WrittenMesh>>, ExportError> {
        let numbers: Vec<usize> = (0..self.pieces.len()).collect();
        let mut simple = Vec::with_capacity(numbers.len());
        for some in numbers.chunks(AT_ONCE) {
            watch.at(some[0], steps)?;
            simple.par_extend(some.par_iter().map(|i| self.simpler(*i, self.handover.simplify)));
        }
        Ok(simple)
    }

    /// Cuts `mesh`, which was broken, into the meshes of the pieces of [`Assembly::of_break`], and takes its materials.
    /// `scale` is the number of units of shape space per unit of the mesh. Stops where `progress` is cancelled.
    ///
    /// # Errors
    /// [`NotOriginal`]; nothing has changed then.
    pub fn cut_original(
        &mut self,
        mesh: &Mesh,
        scale: f64,
        broken: &BrokenObject,
        progress: &Progress,
    ) -> Result<(), NotOriginal> {
        if self.own_surfaces(mesh.materials.clone()) {
            return Ok(());
        }
        let steps = original::steps_of(broken)?;
        let is_own = |own: &&Original| std::ptr::eq(&*own.mesh, mesh) && own.meters_per_unit == scale;
        let object = match broken.source.original().filter(is_own) {
            Some(own) => own.clone(),
            None => Original::new(Arc::new(mesh.clone()), scale),
        };
        let mut cut = original::meshes(&object, &broken.grid(), &steps, false, progress)?;
        let mut taken = |at: &PieceRef| cut.steps.get_mut(at.step)?.get_mut(at.piece)?.take().map(Arc::new);
        self.meshes = Meshes::originals(broken.pieces.iter().map(&mut taken).collect());
        self.skins.insert(None, Skin { materials: mesh.materials.clone() });
        if self.meshes.without_original > 0 {
            self.dress(None, mesh, scale);
        }
        Ok(())
    }

    /// Has smooth meshes of an object's pieces show the materials and texture coordinates of `mesh`, the object's, with
    /// `scale` units of shape space per unit of the mesh. Nothing changes where it has colours only.
    pub fn dress(&mut self, object: Option<usize>, mesh: &Mesh, scale: f64) {
        if let Some(dress) = Dress::of(mesh, scale) {
            self.dresses.insert(object, Arc::new(dress));
            self.skins.insert(object, Skin { materials: mesh.materials.clone() });
        }
    }

    /// If every piece already is a mesh, as with methods that cut meshes, uses these as originals, with `materials` on
    /// the outside. Returns whether it did.
    pub fn own_surfaces(&mut self, materials: Vec<Material>) -> bool {
        let own = |piece: &ExportPiece| piece.shape.as_mesh().map(original::of_solid);
        let Some(surfaces) = self.pieces.par_iter().map(own).collect::<Option<Vec<_>>>() else {
            return false;
        };
        self.meshes = Meshes::originals(surfaces.into_iter().map(Some).collect());
        self.skins.insert(None, Skin { materials });
        true
    }

    /// A material on the outside of an object's pieces.
    #[must_use]
    pub fn material(&self, object: Option<usize>, material: u32) -> Option<&Material> {
        self.skins.get(&object)?.materials.get(material as usize)
    }

    /// The pieces of a command that broke again; their ids follow those of [`Assembly::of_break`].
    #[must_use]
    pub fn broken_again(broken: &BrokenObject) -> Vec<ExportPiece> {
        let first = broken.pieces.len();
        let (again, insides) = (broken.broken_again.iter().enumerate(), insides_of(broken));
        again.map(|(i, at)| piece_of(broken, (*at, first + i), &insides)).collect()
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

fn piece_of(broken: &BrokenObject, (at, id): (PieceRef, usize), insides: &[Insides]) -> ExportPiece {
    ExportPiece {
        id,
        shape: Arc::clone(&broken.part(at).shape),
        placing: Placing::UNMOVED,
        object: None,
        cell: Some(broken.cell(at)),
        parent: broken.parent_id(at),
        generation: broken.steps[at.step].generation,
        insides: insides.get(at.step).copied().unwrap_or_default(),
        called: None,
    }
}
