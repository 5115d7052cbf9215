//! The imported meshes of a scene in pieces: what `export::meshes::original` needs to know of its bodies.
//!
//! In: bodies and the breaks in their ancestry. Out: for each object the cuts, which a worker makes. Gathering is
//! cheap, since shapes and meshes are shared.

use std::{collections::BTreeMap, sync::Arc};

use super::{BreakRecord, Origin, Sandbox, exporting::Leaving};
use crate::{
    export::{
        Assembly, MeshKind, Meshes, PieceMesh, Skin,
        meshes::original::{self, CutPiece, CutStep, NotOriginal},
    },
    fracture::{FractureParams, Pattern, Volume},
    import::KnownMesh,
    mesh::Mesh,
    shape::{Octree, Original, Shape},
    svo::Grid,
    voxelize::{Prepared, Progress},
};

/// Shape and mesh of a body.
type Meshed = (Arc<Shape>, Arc<PieceMesh>);

/// A break to be repeated on the mesh.
struct Cut {
    broken: Option<(usize, usize)>,
    pattern: Pattern,
    params: FractureParams,
    volume: Volume,
    first_cell: u32,
    pieces: Vec<CutPiece>,
    dropped: Vec<CutPiece>,
}

/// Index of a cut and of a piece in it; `None` for a whole object.
type PieceOfCut = Option<(usize, usize)>;

/// The cuts of one object.
struct CutObject {
    object: usize,
    mesh: Arc<Mesh>,
    known: KnownMesh,
    keeps_broken: bool,
    meters_per_unit: f64,
    grid: Grid,
    cuts: Vec<Cut>,
    bodies: Vec<(Arc<Shape>, PieceOfCut)>,
}

/// The cuts of all exported objects.
#[derive(Default)]
pub(super) struct Cuts(Vec<CutObject>);

impl Cuts {
    /// The cuts for `pieces`, of all that is `there` after the breaks. `breaks` are those in their ancestry, by index, with
    /// the number of each one's first cell. `keeps_broken`: among the pieces are some that broke, which get their meshes,
    /// too.
    pub fn of(
        sandbox: &Sandbox,
        [pieces, there]: [&[Leaving<'_>]; 2],
        breaks: &BTreeMap<usize, (&BreakRecord, u32)>,
        keeps_broken: bool,
    ) -> Self {
        let [exported, there] = [pieces, there].map(by_object);
        let cut_object = |(object, known): (usize, &Arc<super::ObjectInfo>)| {
            let (own, all) = (exported.get(&object)?, there.get(&object)?);
            // For each break, the merged parts by the first of them.
            let log = sandbox.breaks();
            let joined = all
                .iter()
                .map(|piece| (piece.info.origin, piece.info.joined))
                .chain(breaks.values().map(|(record, _)| (record.broken, record.joined)))
                .filter(|(_, joined)| joined.is_some());
            let joined: BTreeMap<Origin, Vec<usize>> =
                joined.filter_map(|(origin, join)| Some((origin?, log.parts(origin, join)))).collect();
            let objects_of = |at: usize, record: &BreakRecord, part: usize| -> Vec<u32> {
                if let Some(parts) = joined.get(&Origin { record: at, part }) {
                    return parts.iter().flat_map(|part| record.objects[*part].clone()).collect();
                }
                let lists = joined.range(Origin { record: at, part: 0 }..Origin { record: at + 1, part: 0 });
                let is_another = lists.into_iter().any(|(_, parts)| parts.contains(&part));
                if is_another { Vec::new() } else { record.objects[part].clone() }
            };
            let records: Vec<(usize, &BreakRecord, u32)> = breaks
                .iter()
                .filter(|(_, (record, _))| record.object == object)
                .map(|(at, (record, first))| (*at, *record, *first))
                .collect();
            let number = |record: usize| records.iter().position(|(at, ..)| *at == record);
            let octrees = |origin: Origin| {
                let comes_of = |piece: &&Leaving<'_>| {
                    let mut line = std::iter::successors(piece.info.origin, |at| {
                        sandbox.breaks().get(at.record)?.broken
                    });
                    line.any(|at| at == origin)
                };
                all.iter().filter(comes_of).filter_map(|piece| piece.shape.as_octree().cloned()).collect()
            };
            let cut = |(at, record, first): &(usize, &BreakRecord, u32)| {
                Some(Cut {
                    broken: match record.broken {
                        Some(origin) => Some((number(origin.record)?, origin.part)),
                        None => None,
                    },
                    pattern: record.pattern.clone()?,
                    params: record.params.clone(),
                    volume: record.volume?,
                    first_cell: *first,
                    pieces: record
                        .objects
                        .iter()
                        .enumerate()
                        .map(|(part, _)| CutPiece {
                            objects: objects_of(*at, record, part),
                            octrees: octrees(Origin { record: *at, part }),
                        })
                        .collect(),
                    dropped: record
                        .dropped_parts
                        .iter()
                        .map(|part| CutPiece {
                            objects: vec![part.cell],
                            octrees: part.octree().into_iter().collect(),
                        })
                        .collect(),
                })
            };
            let first = own.first()?;
            Some(CutObject {
                object,
                mesh: Arc::clone(&known.mesh),
                known: Arc::clone(&known.known),
                keeps_broken,
                meters_per_unit: first.def.meters_per_unit,
                grid: first.shape.as_octree().map(|octree: &Octree| octree.grid)?,
                cuts: records.iter().map(cut).collect::<Option<_>>()?,
                bodies: own
                    .iter()
                    .filter_map(|piece| {
                        let at = match piece.info.origin {
                            Some(origin) => Some((number(origin.record)?, origin.part)),
                            None => None,
                        };
                        Some((Arc::clone(piece.shape), at))
                    })
                    .collect(),
            })
        };
        Self(sandbox.objects().iter().enumerate().filter_map(cut_object).collect())
    }

    /// Assigns meshes to the objects of `what`. Objects that cannot be cut get smooth meshes; returns a note for the
    /// user for each reason. Where `progress` is cancelled, it stops early, and nothing is of use.
    pub fn cut(&self, what: &mut Assembly, progress: &Progress) -> Vec<String> {
        let mut notes = Vec::new();
        let mut known: Vec<Meshed> = Vec::new();
        for object in &self.0 {
            match object.cut(progress) {
                Ok(meshes) => {
                    known.extend(meshes);
                    let materials = object.mesh.materials.clone();
                    what.skins.insert(Some(object.object), Skin { materials });
                }
                Err(NotOriginal::Cancelled) => return notes,
                Err(error) => {
                    what.dress(Some(object.object), &object.mesh, object.meters_per_unit);
                    notes.push(format!("object {}: {error}", object.object + 1));
                }
            }
        }
        for piece in &what.pieces {
            if let Some(solid) = piece.shape.as_mesh() {
                known.push((Arc::clone(&piece.shape), original::of_solid(solid)));
                what.skins
                    .entry(piece.object)
                    .or_insert_with(|| Skin { materials: solid.materials().to_vec() });
            }
        }
        let of = |shape: &Arc<Shape>| known.iter().find(|(own, _)| Arc::ptr_eq(own, shape));
        let meshes: Vec<Option<Arc<PieceMesh>>> =
            what.pieces.iter().map(|piece| of(&piece.shape).map(|(_, mesh)| Arc::clone(mesh))).collect();
        what.meshes = if meshes.iter().all(Option::is_none) {
            Meshes::asked(MeshKind::Smooth)
        } else {
            Meshes::originals(meshes)
        };
        notes
    }
}

/// The surfaces of exported objects, which their smooth pieces show.
pub(super) struct Surfaces(Vec<(usize, Arc<Mesh>, f64)>);

impl Surfaces {
    /// The surfaces of the objects of `pieces`. Gathering is cheap.
    pub fn of(sandbox: &Sandbox, pieces: &[Leaving<'_>]) -> Self {
        let exported = by_object(pieces);
        let surface = |(object, known): (usize, &Arc<super::ObjectInfo>)| {
            let first = exported.get(&object)?.first()?;
            Some((object, Arc::clone(&known.mesh), first.def.meters_per_unit))
        };
        Self(sandbox.objects().iter().enumerate().filter_map(surface).collect())
    }

    /// Has the pieces of `what` with smooth meshes show what the surface of their object shows, until `progress` is
    /// cancelled.
    pub fn dress(&self, what: &mut Assembly, progress: &Progress) {
        for (object, mesh, meters_per_unit) in &self.0 {
            let key = Some(*object);
            let is_own = |piece: usize| what.pieces[piece].object == key && what.is_smooth(piece);
            let is_bare = !what.dresses.contains_key(&key) && (0..what.pieces.len()).any(is_own);
            if is_bare && !progress.is_cancelled() {
                what.dress(key, mesh, *meters_per_unit);
            }
        }
    }
}

fn by_object<'a>(pieces: &[Leaving<'a>]) -> BTreeMap<usize, Vec<Leaving<'a>>> {
    let mut groups: BTreeMap<usize, Vec<Leaving<'_>>> = BTreeMap::new();
    pieces.iter().for_each(|piece| groups.entry(piece.info.object).or_default().push(*piece));
    groups
}

impl CutObject {
    fn cut(&self, progress: &Progress) -> Result<Vec<Meshed>, NotOriginal> {
        let steps: Vec<CutStep<'_>> = self
            .cuts
            .iter()
            .map(|cut| CutStep {
                broken: cut.broken,
                pattern: &cut.pattern,
                surface: cut.params.surface,
                crack: &cut.params.crack,
                rng: cut.params.rng,
                volume: cut.volume,
                first_cell: cut.first_cell,
                pieces: cut.pieces.clone(),
                dropped: cut.dropped.clone(),
            })
            .collect();
        let checked = self.known.get().map(Prepared::checked);
        let object = Original::new(Arc::clone(&self.mesh), self.meters_per_unit).known(checked);
        let mut cut = original::meshes(&object, &self.grid, &steps, self.keeps_broken, progress)?;
        let mesh = |(shape, at): &(Arc<Shape>, Option<(usize, usize)>)| {
            let mesh = match at {
                Some((step, piece)) => cut.steps.get_mut(*step)?.get_mut(*piece)?.take()?,
                None => cut.whole.take()?,
            };
            Some((Arc::clone(shape), Arc::new(mesh)))
        };
        Ok(self.bodies.iter().filter_map(mesh).collect())
    }
}
