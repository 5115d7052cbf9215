//! The recipe of a break, the same for every method: draw the pattern, cut, keep together what stays, join or drop what
//! is too small; several times where a number of pieces is solved for.
//!
//! In: a shape, a [`Strike`]. Out: a [`Break`].

use std::{sync::Arc, time::Instant};

use super::{
    Break, BreakContext, CutSource, Cutter, Fracture, FractureCounts, FractureError, FractureParams, Kept,
    Lost, Part, Pattern, Piece, Pieces, Smallest, Solved, Strike, Surface, small,
    solid::{Assembling, CutMesh, proxy_grid},
    solve::{Quick, seeds_for},
    voronoi::cells_of,
};
use crate::{
    gpu::StageTiming,
    shape::{Geometry, GridMass, Octree, Shape},
    svo::{Arena, Forest, coarsen},
};

/// Breaks a shape by the method that the blow's parameters name. Reads the shape and changes nothing, so a failure
/// loses nothing.
///
/// # Errors
/// [`FractureError::Params`] for what cannot be broken so, [`FractureError::Gpu`] for the device's,
/// [`FractureError::Cancelled`].
pub fn break_shape(
    context: &BreakContext<'_>,
    shape: &Shape,
    strike: &Strike<'_>,
) -> Result<Break, FractureError> {
    let method = strike.params.method.entry();
    let source = CutSource { context: *context, shape, strike: *strike };
    let cutter = method.breaker.cutter(&source)?;
    if !method.by_seeds {
        let (mut done, octrees) = cut(&source, &*cutter, Pattern::default(), strike.params)?;
        done.pattern = None;
        cutter.finish(&mut done, octrees);
        return Ok(done);
    }
    let cells = cells_of(shape, source.octree()?, strike);
    let ((mut done, octrees), solved) = if strike.preview {
        (cut(&source, &*cutter, cells.cells(strike.params)?.pattern, strike.params)?, None)
    } else {
        let coarse = match strike.params.target_pieces {
            Some(_) if method.of_voxels => Coarse::of(&source)?,
            _ => None,
        };
        let (source, cells) = (&source, &cells);
        let quick = coarse.as_ref().map(|coarse| Quick {
            level: coarse.octree.level(),
            pieces: Box::new(|params| coarse.pieces(source, cells.draw(params)?.0, params)),
        });
        seeds_for(strike.params, quick, &mut |params| {
            let done = cut(source, &*cutter, cells.draw(params)?.0, params)?;
            let pieces = done.0.parts.len() as u32;
            Ok((done, pieces))
        })?
    };
    done.solved = solved;
    done.params = strike.params.clone();
    let Some(pattern) = &done.pattern else { return Ok(done) };
    if let Some(painted) = strike.painted {
        let mut named = done.params.clone();
        named.keep = painted.among(&pattern.seeds);
        // Cells are named by number, so the number of seeds must not be solved for again.
        if let Some(Solved { seeds, rng, .. }) = solved {
            (named.target_pieces, named.seeds, named.rng) = (None, seeds, rng);
        }
        // Parameters that the method refuses could not be read again.
        if method.breaker.problem(&named).is_none() {
            done.params = named;
        }
    }
    let kept = cells.kept(pattern, &done.params);
    done.kept = kept.first().copied().map(|object| {
        let mut of = (0..done.parts.len()).filter(|part| done.objects[*part].contains(&object));
        let part = of.next();
        Kept { part, parts: usize::from(part.is_some()) + of.count(), cells: kept }
    });
    cutter.finish(&mut done, octrees);
    Ok(done)
}

/// One cut, with all that follows from it alone.
fn cut(
    source: &CutSource<'_>,
    cutter: &dyn Cutter,
    pattern: Pattern,
    params: &FractureParams,
) -> Result<(Break, Option<Fracture>), FractureError> {
    source.context.cancel.check()?;
    let pieces = cutter.cut(&pattern, params)?;
    source.context.cancel.check()?;
    let (done, octrees) = match pieces {
        Pieces::Octrees(fracture) => {
            let (octree, cancel) = (source.octree()?, source.context.cancel);
            let work = small::Work { source: (&octree.forest, octree.tree), pattern: &pattern, cancel };
            let fracture = small::keep_together(&work, fracture)?;
            let fracture = small::apply(&work, fracture, params.smallest.as_ref())?;
            (of_octrees(source.shape, octree, &pattern, &fracture), Some(fracture))
        }
        Pieces::Meshes(mesh) => (of_meshes(source, mesh, &pattern, params)?, None),
    };
    Ok((Break { pattern: Some(pattern), params: params.clone(), ..done }, octrees))
}

fn of_octrees(shape: &Shape, octree: &Octree, pattern: &Pattern, fracture: &Fracture) -> Break {
    let dropped = fracture.dropped.as_ref();
    Break {
        parts: parts_of(shape, octree, &fracture.forest, &fracture.pieces),
        objects: fracture.objects(pattern),
        lost: Lost {
            dust_m3: fracture.dust_volume * octree.grid.h.powi(3),
            dropped: dropped.map_or(Vec::new(), |all| parts_of(shape, octree, &all.forest, &all.pieces)),
        },
        counts: fracture.counts,
        timings: fracture.timings.clone(),
        ..Break::default()
    }
}

/// Pieces as parts: they keep the whole's grid, density and look.
pub fn parts_of(shape: &Shape, whole: &Octree, forest: &Arc<Forest>, pieces: &[Piece]) -> Vec<Part> {
    let part = |piece: &Piece| {
        let octree =
            Octree { forest: Arc::clone(forest), tree: piece.tree, grid: whole.grid, mass: piece.mass };
        let shape = Arc::new(Shape::octree(octree, shape.density(), *shape.look()));
        Part { shape, cell: piece.cell, size: piece.voxels }
    };
    pieces.iter().map(part).collect()
}

fn of_meshes(
    source: &CutSource<'_>,
    mesh: CutMesh,
    pattern: &Pattern,
    params: &FractureParams,
) -> Result<Break, FractureError> {
    let (volume, mut timings, detail) = (mesh.source.volume, mesh.timings, mesh.detail);
    let started = Instant::now();
    let stand_in = proxy_grid(source.shape, mesh.source.bounds(), mesh.voxel_level);
    let assembling = Assembling {
        source: &mesh.source,
        shape: source.shape,
        pattern,
        params,
        grid: &source.octree()?.grid,
        // Nothing touches what is only looked at.
        stand_in: (!source.strike.preview).then_some(stand_in),
    };
    let made = assembling.parts(mesh.pieces)?;
    timings.push(StageTiming::since("voxels of the pieces", started));
    let owners: std::collections::BTreeSet<u32> = made.parts.iter().map(|part| part.cell).collect();
    let pieces = made.parts.len() as u64;
    Ok(Break {
        counts: FractureCounts {
            cells: made.cells as u64,
            islands: pieces.saturating_sub(owners.len() as u64),
            pieces,
            dropped: made.lost.dropped.len() as u64,
            merged: made.merged as u64,
            ..FractureCounts::default()
        },
        parts: made.parts,
        objects: made.objects,
        lost: made.lost,
        before_m3: Some(volume),
        timings,
        detail,
        ..Break::default()
    })
}

/// Levels between a coarse copy and the octree, and the lowest level of a copy that is worth its while.
const COARSE_BELOW: u32 = 2;
const LEAST_COARSE: u32 = 5;

/// A copy of an octree two levels coarser, on which numbers of seeds are tried first: it has the same cells and costs a
/// twentieth.
struct Coarse {
    arena: Arena,
    octree: Octree,
}

impl Coarse {
    /// `None` where the source is no octree, or too coarse itself.
    fn of(source: &CutSource<'_>) -> Result<Option<Self>, FractureError> {
        let Geometry::Octree(octree) = source.shape.geometry() else { return Ok(None) };
        if octree.level() < LEAST_COARSE + COARSE_BELOW {
            return Ok(None);
        }
        let forest = Arc::new(coarsen(&octree.forest, octree.level() - COARSE_BELOW));
        let mut arena = Arena::new(source.context.arena.compute())?;
        arena.insert(&forest)?;
        // Nothing reads its sums.
        let octree = Octree { forest, tree: octree.tree, grid: octree.grid, mass: GridMass::default() };
        Ok(Some(Self { arena, octree }))
    }

    /// How many pieces come of a pattern. Surfaces do not matter to that, and the smallest piece counts in the copy's
    /// larger voxels.
    fn pieces(
        &self,
        source: &CutSource<'_>,
        pattern: Pattern,
        params: &FractureParams,
    ) -> Result<u32, FractureError> {
        let standard = FractureParams::default();
        let smaller =
            |rule: Smallest| Smallest { voxels: rule.voxels.div_ceil(1 << (3 * COARSE_BELOW)), ..rule };
        let params = FractureParams {
            surface: Surface::Planar,
            crack: standard.crack,
            labelling: standard.labelling,
            interior: standard.interior,
            island_level: params.island_level.map(|island| island.min(self.octree.level())),
            smallest: params.smallest.map(smaller),
            ..params.clone()
        };
        let shape = Shape::octree(self.octree.clone(), source.shape.density(), *source.shape.look());
        let context = BreakContext { arena: &self.arena, ..source.context };
        let strike = Strike { full_level: None, params: &params, ..source.strike };
        let source = CutSource { context, shape: &shape, strike };
        let cutter = params.method.entry().breaker.cutter(&source)?;
        Ok(cut(&source, &*cutter, pattern, &params)?.0.parts.len() as u32)
    }
}
