//! Voxels of a mesh part, for contacts by octrees and wherever else an octree is needed.

use crate::geometry::Aabb;
use std::sync::Arc;

use crate::{
    fracture::FractureError,
    shape::{Octree, PieceMesh, Shape},
    svo::Grid,
    voxelize::voxels_of,
};

/// The grid of the voxels of all parts of `shape`, with leaves at `level`: of a part its own, so that what comes of it
/// is as fine as itself; of a whole object the one that an import at that level would have had. Shape space; `bounds`
/// are those of the surface.
#[must_use]
pub fn proxy_grid(shape: &Shape, bounds: Aabb, level: u32) -> Grid {
    match shape.as_mesh().and_then(|solid| solid.voxels()) {
        Some(voxels) => voxels.grid,
        None => Grid::around(bounds.low, bounds.high, level),
    }
}

/// The voxels of a part's surface.
pub(super) fn voxels(surface: &PieceMesh, grid: Grid) -> Result<Octree, FractureError> {
    let forest = voxels_of(surface, grid).map_err(|error| FractureError::Params(error.to_string()))?;
    Ok(Octree::new(&Arc::new(forest), 0, grid))
}
