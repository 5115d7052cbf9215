//! Voxels that stand in for a mesh part: for contacts of octrees, and wherever else somebody asks for an octree.

use std::sync::Arc;

use crate::{
    fracture::FractureError,
    shape::{Octree, PieceMesh, Shape},
    svo::Grid,
    voxelize::voxels_of,
};

/// The grid of the voxels of all parts of `shape`, with leaves at `level`: of a part its own, so that what comes of it
/// is as fine as itself; of a whole object the one that an import at that level would have had. Shape space; `bounds`
/// (low, high) are those of the surface.
#[must_use]
pub fn stand_in_grid(shape: &Shape, bounds: (glam::DVec3, glam::DVec3), level: u32) -> Grid {
    match shape.as_mesh().and_then(|solid| solid.voxels()) {
        Some(voxels) => voxels.grid,
        None => Grid::around(bounds.0, bounds.1, level),
    }
}

/// The voxels of a part's surface.
pub(super) fn voxels(surface: &PieceMesh, grid: Grid) -> Result<Octree, FractureError> {
    let forest = voxels_of(surface, grid).map_err(|error| FractureError::Params(error.to_string()))?;
    Ok(Octree::new(&Arc::new(forest), 0, grid))
}
