//! Cuts the original mesh into pieces: the imported triangles are cut along the cracks, and the cracks themselves
//! become faces.
//!
//! In: the imported mesh and the breaks in order. Out: a closed mesh for every final piece. The cracks are those of the
//! octree: bisector planes between Voronoi cells, the triangles of crossed voxels (2018, sec. 5.2), or every object's
//! own border for dusty surfaces (sec. 5.3).
//!
//! A cut is an arrangement of two surfaces, the solid and the cracks, made once for all cells (`arrange`): both sides
//! of a crack share its triangles, so volumes add up to the whole's, and faces between cells of one piece are left out.
//! Signs are exact, and polygons are traced by the regions that they belong to, so a mesh is closed whatever the
//! rounding. A piece that breaks again is cut again.

mod arrange;
mod body;
mod cracks;
mod meet;
mod parts;
mod slivers;
mod solid;
mod voxels;
#[cfg(test)]
mod tests;

use glam::DVec3;

pub use self::body::{NotOriginal, of_solid};
use self::{
    arrange::Arrangement,
    body::{Body, Inside, bodies},
    cracks::Cracks,
    meet::Tangle,
    parts::{Claim, Parts, assign, parts},
    solid::{OpenEdges, Prepared, Solid, UNIT_BITS},
    voxels::DUST,
};
use super::PieceMesh;
use crate::{
    fracture::{
        BrokenObject, Pattern, Surface, Volume, VoronoiDetail,
        crack::{CrackShape, CrackUniform},
    },
    shape::{Octree, Original},
    svo::Grid,
    voxelize::Progress,
};

/// One break to be repeated on the mesh.
#[derive(Clone)]
pub struct CutStep<'a> {
    /// The broken piece: index of a step and of one of its pieces; `None` for the whole object.
    pub broken: Option<(usize, usize)>,
    /// Seeds and objects.
    pub pattern: &'a Pattern,
    /// Kind of crack surface.
    pub surface: Surface,
    /// Shape of the crack surface.
    pub crack: &'a CrackShape,
    /// Random seed that was finally used.
    pub rng: u64,
    /// Material volume on crack faces.
    pub volume: Volume,
    /// Number of its first cell over all breaks.
    pub first_cell: u32,
    /// Its pieces, by descending size.
    pub pieces: Vec<CutPiece>,
    /// Pieces dropped because they were too small.
    pub dropped: Vec<CutPiece>,
}

/// A piece of a break in the octree.
#[derive(Clone, Debug, Default)]
pub struct CutPiece {
    /// Its cells' objects: one, or several if small pieces were merged into it.
    pub objects: Vec<u32>,
    /// Its octree; if it broke again, those of all its remaining pieces. Empty if they were freed.
    pub octrees: Vec<Octree>,
}

/// The meshes of one cut object.
#[derive(Clone, Debug, Default)]
pub struct Originals {
    /// For every step its pieces' meshes; `None` for a piece that broke again, unless those are kept, and for one without a
    /// part of the mesh of its own (it lies in voxels that another piece's mesh fills).
    pub steps: Vec<Vec<Option<PieceMesh>>>,
    /// The whole object, if no step broke it or what broke is kept.
    pub whole: Option<PieceMesh>,
}

/// Most attempts with other perturbations of the cracks.
const TRIES: u64 = 6;

/// Cuts the mesh of an object by `steps`, on `grid` (shape space), unless `progress` is cancelled before one of them.
/// `keeps_broken`: what a step broke keeps its mesh, too.
///
/// # Errors
/// [`NotOriginal`].
pub fn meshes(
    object: &Original,
    grid: &Grid,
    steps: &[CutStep<'_>],
    keeps_broken: bool,
    progress: &Progress,
) -> Result<Originals, NotOriginal> {
    let whole = body::imported(object.own_surface(), grid)?;
    let mut left: Vec<Vec<Option<Body>>> = Vec::with_capacity(steps.len());
    let mut whole = Some(whole);
    for step in steps {
        if progress.is_cancelled() {
            return Err(NotOriginal::Cancelled);
        }
        let broken = match step.broken {
            None => Some(&mut whole),
            Some((of, piece)) => left.get_mut(of).and_then(|all| all.get_mut(piece)),
        };
        let body = broken.and_then(|body| if keeps_broken { body.clone() } else { body.take() });
        left.push(match body {
            Some(body) => cut(body, grid, step, progress)?,
            None => step.pieces.iter().map(|_| None).collect(),
        });
    }
    let meshes = |all: Vec<Option<Body>>| all.into_iter().map(|body| body.map(Body::into_mesh)).collect();
    let whole = whole.map(Body::into_mesh);
    Ok(Originals { steps: left.into_iter().map(meshes).collect(), whole })
}

/// Cuts one body into the bodies of a step's pieces.
fn cut(
    mut body: Body,
    grid: &Grid,
    step: &CutStep<'_>,
    progress: &Progress,
) -> Result<Vec<Option<Body>>, NotOriginal> {
    let edges = body.edges.take();
    let prepared = Prepared::new(&body.solid, edges).map_err(|OpenEdges(open)| NotOriginal::Open(open))?;
    let mut last = Tangle::Level;
    let mut tries = (0..TRIES).take_while(|_| !progress.is_cancelled());
    let parts = tries.find_map(|salt| match cut_parts(&body.solid, &prepared, grid, step, salt) {
        Ok(parts) => Some(parts),
        Err(tangle) => {
            last = tangle;
            None
        }
    });
    if progress.is_cancelled() {
        return Err(NotOriginal::Cancelled);
    }
    let parts = parts.ok_or_else(|| NotOriginal::Tangled(last.to_string()))?;
    let claims: Vec<Claim> = step
        .pieces
        .iter()
        .chain(&step.dropped)
        .map(|piece| Claim { objects: piece.objects.clone(), octrees: piece.octrees.clone() })
        .collect();
    let group = assign(&parts, &claims);
    let unit = (1u64 << (UNIT_BITS - crate::fracture::UNIT_BITS)) as f64;
    let inside = Inside {
        beyond: &|object| step.first_cell + object,
        color: &|p| step.volume.color_at((p / unit).round().as_ivec3().to_array()),
    };
    let mut all = bodies(&body, &parts, &group, claims.len(), &inside);
    all.truncate(step.pieces.len());
    Ok(all.into_iter().map(|body| (!body.solid.triangles.is_empty()).then_some(body)).collect())
}

fn cut_parts(
    solid: &Solid,
    prepared: &Prepared,
    grid: &Grid,
    step: &CutStep<'_>,
    salt: u64,
) -> Result<Parts, Tangle> {
    let unit = (1u64 << (UNIT_BITS - grid.level)) as f64;
    let place = |p: DVec3| grid.origin + p / unit * grid.h;
    let between = |cracks: &Cracks| {
        let arrangement = Arrangement::new(solid, prepared, cracks)?;
        parts(&arrangement, solid, cracks, place, |region| region == DUST)
    };
    let bounds = solid::bounds_of(&solid.points);
    let level = grid.level;
    if step.surface == Surface::Planar {
        let shift = UNIT_BITS - crate::fracture::UNIT_BITS;
        // A margin of one voxel on every side.
        let margin = 1 << (crate::fracture::UNIT_BITS - level);
        let low = bounds[0].map(|v| (v >> shift) as i32 - margin);
        let high = bounds[1].map(|v| (v >> shift) as i32 + 1 + margin);
        return between(&cracks::cracks(step.pattern, [low, high], salt));
    }
    let transition = step.crack.transition(level, step.surface).map_err(|_| Tangle::Open)?;
    let words = CrackUniform::new(step.crack, step.rng, transition).with_gap(step.crack, level);
    let side = 1 << transition;
    let at = |v: i64| (v >> (UNIT_BITS - transition)).clamp(0, side - 1) as u32;
    let low = bounds[0].map(|v| at(v).saturating_sub(1));
    let high = bounds[1].map(|v| (at(v) + 2).min(side as u32));
    if step.surface == Surface::Rough {
        return between(&voxels::rough(step.pattern, &words, level, [low, high], salt));
    }
    let mut all = Parts::default();
    for (_, cracks) in voxels::dusty(step.pattern, &words, level, [low, high], salt) {
        all.append(between(&cracks)?);
    }
    Ok(all)
}

/// The breaks of a command's object, to be repeated on its mesh.
///
/// # Errors
/// [`NotOriginal::OtherMethod`].
pub fn steps_of(broken: &BrokenObject) -> Result<Vec<CutStep<'_>>, NotOriginal> {
    let mut steps: Vec<CutStep<'_>> = Vec::new();
    for step in &broken.steps {
        let known = VoronoiDetail::of(&step.result).zip(step.result.pattern.as_ref());
        let (detail, pattern) = known.ok_or(NotOriginal::OtherMethod)?;
        let (fracture, recipe) = (&detail.fracture, &detail.recipe);
        let pieces = step.result.parts.iter().zip(&step.result.objects).map(|(part, objects)| CutPiece {
            objects: objects.clone(),
            octrees: part.shape.as_octree().cloned().into_iter().collect(),
        });
        let dropped = step.result.lost.dropped.iter().map(|part| CutPiece {
            objects: vec![part.cell],
            octrees: part.shape.as_octree().cloned().into_iter().collect(),
        });
        steps.push(CutStep {
            broken: step.parent.map(|at| (at.step, at.piece)),
            pattern,
            surface: recipe.surface,
            crack: &recipe.crack,
            rng: recipe.rng,
            volume: fracture.volume,
            first_cell: step.first_cell,
            pieces: pieces.collect(),
            dropped: dropped.collect(),
        });
    }
    Ok(steps)
}
