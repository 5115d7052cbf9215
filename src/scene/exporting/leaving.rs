//! What leaves of bodies as pieces.
//!
//! In: bodies in some state. Out: a piece for each, or one for each part of a body whose parts bonds hold together, and the
//! bonds between these, and the lumps that they are in.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    bodies::{Body, BodyDef, BodyId, BodyState, structure::StructurePart},
    export::{ExportPiece, HeldBond},
    fracture::CrackSection,
    scene::{BodyInfo, Origin, Sandbox},
    shape::Shape,
};

/// What leaves as one piece: a body, or a part of a body whose parts bonds hold together.
#[derive(Clone, Copy)]
pub struct Leaving<'a> {
    /// Id of the body.
    pub id: BodyId,
    /// The body's definition, whose initial state is unused.
    pub def: &'a BodyDef,
    /// Where the body is.
    pub state: &'a BodyState,
    /// Its shape, or that of the part; both are in the same shape space.
    pub shape: &'a Arc<Shape>,
    /// Data of the body, or of the part as if it had come loose.
    pub info: BodyInfo,
}

impl<'a> Leaving<'a> {
    /// What leaves of a body of `sandbox`.
    pub(in crate::scene) fn of_body(sandbox: &Sandbox, body: &'a Body) -> Vec<Self> {
        Self::of(body.id, &body.def, &body.state, sandbox.info(body.id).copied().unwrap_or_default())
    }

    /// What leaves of a body in some state.
    pub(in crate::scene) fn of(
        id: BodyId,
        def: &'a BodyDef,
        state: &'a BodyState,
        info: BodyInfo,
    ) -> Vec<Self> {
        let Some((structure, origin)) = def.structure.as_ref().zip(info.origin) else {
            return vec![Self { id, def, state, shape: &def.shape, info }];
        };
        let part = |part: &'a StructurePart| Self {
            id,
            def,
            state,
            shape: &part.shape,
            info: BodyInfo {
                origin: Some(Origin { part: part.number as usize, ..origin }),
                joined: None,
                ..info
            },
        };
        structure.parts.iter().map(part).collect()
    }
}

/// The bonds between pieces that structures have, by the ids of the pieces, which are sorted by size.
pub(super) fn held_bonds(leaving: &[Leaving<'_>], pieces: &[ExportPiece]) -> BTreeMap<[usize; 2], HeldBond> {
    let number = |body: BodyId, part: u32| (body, part as usize);
    let ids = ids_of(pieces);
    let known = |piece: &Leaving<'_>| {
        Some(((piece.id, piece.info.origin?.part), *ids.get(&Arc::as_ptr(piece.shape))?))
    };
    let numbers: BTreeMap<(BodyId, usize), usize> = leaving.iter().filter_map(known).collect();
    let mut held = BTreeMap::new();
    for piece in leaving {
        let Some(structure) = &piece.def.structure else { continue };
        // Each structure is that of its first part's body, once.
        let is_first = structure.parts.first().is_some_and(|part| Arc::ptr_eq(&part.shape, piece.shape));
        for bond in structure.bonds.iter().filter(|_| is_first) {
            let ends = bond.section.parts.map(|part| numbers.get(&number(piece.id, part)).copied());
            if let [Some(a), Some(b)] = ends {
                let normal = if a < b { bond.section.normal } else { -bond.section.normal };
                let section = CrackSection { normal, ..bond.section };
                held.insert(
                    [a.min(b), a.max(b)],
                    HeldBond { section, share: bond.share * (1.0 - bond.damage) },
                );
            }
        }
    }
    held
}

/// The lumps that the parts of structures are in, level by level, by the ids of the pieces. Numbers count the lumps of a level,
/// so a lump lies in one lump of the level above.
pub(super) fn held_lumps(
    sandbox: &Sandbox,
    leaving: &[Leaving<'_>],
    pieces: &[ExportPiece],
) -> BTreeMap<usize, Vec<u32>> {
    let ids = ids_of(pieces);
    let paths = leaving.iter().filter_map(|piece| {
        let structure = piece.def.structure.as_ref()?;
        // Each structure once.
        let is_first = structure.parts.first().is_some_and(|part| Arc::ptr_eq(&part.shape, piece.shape));
        is_first.then(|| (piece.id, structure, sandbox.lumps_of(piece.info.object, structure)))
    });
    let paths: Vec<_> = paths.collect();
    let mut numbers: BTreeMap<(BodyId, &[u32]), u32> = BTreeMap::new();
    let mut counts: Vec<u32> = Vec::new();
    let mut lumps = BTreeMap::new();
    for (body, structure, paths) in &paths {
        for (part, path) in structure.parts.iter().zip(paths).filter(|(_, path)| !path.is_empty()) {
            let Some(id) = ids.get(&Arc::as_ptr(&part.shape)) else { continue };
            counts.resize(counts.len().max(path.len()), 0);
            let number = |level: usize| {
                *numbers.entry((*body, &path[..=level])).or_insert_with(|| {
                    counts[level] += 1;
                    counts[level] - 1
                })
            };
            lumps.insert(*id, (0..path.len()).map(number).collect());
        }
    }
    lumps
}

/// Ids of pieces by their shapes.
fn ids_of(pieces: &[ExportPiece]) -> BTreeMap<*const Shape, usize> {
    pieces.iter().map(|piece| (Arc::as_ptr(&piece.shape), piece.id)).collect()
}
