//! The imported mesh as a body to be cut.
//!
//! In: the imported mesh, its scale to shape space, the grid. Out: a [`Body`] with welded vertices in whole units.

use super::{
    NotOriginal,
    body::{Body, split_fans},
    exact::UNIT_BITS,
    solid::Solid,
};
use crate::{
    mesh::Mesh,
    shape::{NoSurface, PieceMesh},
    svo::Grid,
};

/// Converts `mesh`, with `scale` units of shape space per mesh unit, on `grid` (shape space).
///
/// # Errors
/// [`NotOriginal`] if it is not closed.
pub fn body(mesh: &Mesh, scale: f64, grid: &Grid) -> Result<Body, NotOriginal> {
    let surface = PieceMesh::imported(mesh, scale).map_err(|error| match error {
        NoSurface::Unoriented => NotOriginal::Unoriented,
        NoSurface::Open(edges) => NotOriginal::Open(edges),
    })?;
    let unit = (1u64 << (UNIT_BITS - grid.level - 1)) as f64;
    let half =
        |p: &glam::DVec3| ((*p - grid.origin) / grid.h * unit).to_array().map(|v| v.round() as i64 * 2);
    let points = surface.positions.iter().map(half).collect();
    let mut solid = Solid { points, places: surface.positions, triangles: surface.triangles };
    split_fans(&mut solid);
    Ok(Body { solid, faces: surface.faces, corners: surface.corners })
}
