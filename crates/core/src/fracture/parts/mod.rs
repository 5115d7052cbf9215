//! A mesh taken apart into the closed parts that it consists of: no crack is made.
//!
//! In: the mesh that an object was imported as. Out: a surface for each of its closed bodies, with its own triangles and
//! materials. Parts that touch each other, as those of a file of broken pieces do, are apart; parts that overlap keep what
//! they have in common twice.

use std::sync::Arc;

use glam::DVec3;

use super::{
    Breaker, CutSource, Cutter, FractureError, FractureParams, MAX_SEEDS, MethodEntry, MethodOption,
    ParamProblem, Pattern, Pieces, Surface,
    solid::{CutMesh, CutPiece, SourceMesh, closed_bodies, outlines},
};
use crate::shape::{Geometry, MassProperties, Original, PieceMesh, Shape};

#[cfg(test)]
mod tests;

/// The line in the table of methods.
pub const METHOD: MethodEntry = MethodEntry {
    name: "parts",
    label: "Parts that are there",
    help: "Takes a mesh apart into the closed parts that it consists of, each with its own triangles.",
    source: "Kintsugi",
    by_seeds: false,
    of_voxels: false,
    options: &[MethodOption::voxel_level("Octree level of the voxels that parts meet and are felt by.")],
    breaker: &PartsBreaker,
};

/// Takes meshes apart.
pub struct PartsBreaker;

impl Breaker for PartsBreaker {
    fn accepts(&self, geometry: &Geometry) -> bool {
        matches!(geometry, Geometry::Octree(_) | Geometry::Mesh(_))
    }

    fn problem(&self, params: &FractureParams) -> Option<ParamProblem> {
        let text =
            "must be planar: the method parts makes no cracks; the method octree has rough and dusty ones";
        (params.surface != Surface::Planar).then(|| ("surface", text.to_owned()))
    }

    fn cutter<'a>(&'a self, source: &'a CutSource<'a>) -> Result<Box<dyn Cutter + 'a>, FractureError> {
        let (parts, materials) = match (source.shape.geometry(), source.shape.original()) {
            (Geometry::Octree(_), Some(original)) => {
                (bodies_of(original)?, original.mesh.materials.as_slice().into())
            }
            // A part of a mesh is one part.
            (Geometry::Mesh(solid), _) => (vec![(**solid.surface()).clone()], Arc::clone(solid.materials())),
            _ => {
                let text = "this body is a piece of voxels, which has no mesh with parts; take the method octree for it, \
                            or break the whole object by the method parts";
                return Err(FractureError::Params(text.into()));
            }
        };
        if parts.is_empty() || parts.len() > MAX_SEEDS as usize {
            return Err(FractureError::Params(format!(
                "the mesh has {} closed parts; the method parts takes 1 to {MAX_SEEDS}",
                parts.len()
            )));
        }
        let volume =
            |part: &PieceMesh| MassProperties::of_triangles(part.corners_of_triangles(), 1.0).volume_m3;
        let volume = parts.iter().map(volume).sum();
        let whole = SourceMesh { surface: Arc::new(side_by_side(&parts)), materials, is_whole: true, volume };
        Ok(Box::new(move |_: &Pattern, params: &FractureParams| -> Result<Pieces, FractureError> {
            let piece = |(cell, part): (u32, &PieceMesh)| CutPiece { cell, surface: part.clone() };
            Ok(Pieces::Meshes(CutMesh {
                source: whole.clone(),
                pieces: (0..).zip(&parts).map(piece).collect(),
                voxel_level: params.option("voxel_level") as u32,
                timings: Vec::new(),
                detail: None,
            }))
        }))
    }
}

fn bodies_of(original: &Original) -> Result<Vec<PieceMesh>, FractureError> {
    closed_bodies(&original.mesh, original.meters_per_unit).map_err(|(i, error)| {
        let number = i + 1;
        FractureError::Params(format!(
            "part {number} of the mesh has no inside: {error}; close its holes, or take the method octree"
        ))
    })
}

/// Lines that show the parts of an intact object: pairs of points in the local space of its shape.
///
/// # Errors
/// [`FractureError::Params`] where a part is not closed.
pub fn outline(shape: &Shape) -> Result<Vec<[DVec3; 2]>, FractureError> {
    let Some(original) = shape.original() else { return Ok(Vec::new()) };
    let lines = outlines(&bodies_of(original)?);
    Ok(lines.into_iter().map(|ends| ends.map(|p| shape.local_from_shape(p))).collect())
}

/// All surfaces as one, which share no points.
fn side_by_side(parts: &[PieceMesh]) -> PieceMesh {
    let mut all = PieceMesh::default();
    for part in parts {
        let base = all.positions.len() as u32;
        all.positions.extend_from_slice(&part.positions);
        all.triangles.extend(part.triangles.iter().map(|triangle| triangle.map(|i| base + i)));
        all.faces.extend_from_slice(&part.faces);
        all.corners.extend_from_slice(&part.corners);
    }
    all
}
