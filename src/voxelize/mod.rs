//! Triangles to leaf voxels with colour, normal and coverage, and the inside test.
//!
//! In: a mesh as read. Out: one octree, its grid, and the completed health report. The recipe is
//! [`voxelize`]; the octree's definition is Domaradzki & Martyn 2016, sec. 3, with winding numbers in place
//! of their ray along the parent node's normal.

mod color;
mod inside;
mod parity;
mod polygon;
mod progress;
mod rasterise;
mod surface;

pub use progress::Progress;

use crate::{
    mesh::{HealthReport, Mesh, check},
    svo::{Forest, Grid, MAX_LEVEL, build},
};
use color::ColorSource;
use inside::solve;
use parity::{Parity, without_orientation};
use rasterise::rasterise;
use surface::{close_holes, faces_of, grid_of};

/// Why a mesh could not become an octree.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum VoxelizeError {
    /// No triangle of non-zero area.
    #[error("the mesh has no triangle of non-zero area; nothing can be voxelised")]
    Empty,
    /// Level outside 1..=10.
    #[error("level {0} is outside 1 to 10")]
    Level(u32),
    /// More than 67 million boundary voxels.
    #[error("the mesh fills more voxels than fit in memory at this level; choose a lower level")]
    TooLarge,
    /// Cancelled by the user.
    #[error("cancelled")]
    Cancelled,
}

/// A voxelised mesh: one octree, its grid, and the health report with what the inside test found.
#[derive(Clone, Debug)]
pub struct Voxelized {
    /// One tree.
    pub forest: Forest,
    /// Its place in the mesh's units.
    pub grid: Grid,
    /// Findings, completed by the inside test.
    pub health: HealthReport,
}

/// Voxelises `mesh` (as read; this calls [`crate::mesh::check`]) to leaf level `level`.
///
/// # Errors
/// [`VoxelizeError`].
pub fn voxelize(mesh: &Mesh, level: u32, progress: &Progress) -> Result<Voxelized, VoxelizeError> {
    if !(1..=MAX_LEVEL).contains(&level) {
        return Err(VoxelizeError::Level(level));
    }
    let (mesh, mut health) = check(mesh);
    let unsigned = if health.unorientable_components > 0 { without_orientation(&mesh) } else { Vec::new() };
    let solid = solidify(&mesh, &unsigned, health.closed, level, progress)?;
    health.inside_test = if unsigned.contains(&true) { "parity" } else { "winding number" }.into();
    if unsigned.contains(&true) && unsigned.contains(&false) {
        health.notes.push("Parity tells inside from outside for the parts without orientation only.".into());
    }
    health.closing_leaves = solid.closing_leaves;
    health.capped_holes = if solid.closing_faces > 0 { health.boundary_loops.max(1) } else { 0 };
    Ok(Voxelized { forest: solid.forest, grid: solid.grid, health })
}

/// What [`solidify`] makes.
struct Solid {
    forest: Forest,
    grid: Grid,
    /// Leaves that only the triangles touch that close holes.
    closing_leaves: usize,
    /// Triangles that close holes.
    closing_faces: usize,
}

/// Voxelises a checked mesh. `unsigned` says which triangles have no meaningful orientation (empty: none),
/// `closed` that there is no hole to look for.
fn solidify(
    mesh: &Mesh,
    unsigned: &[bool],
    closed: bool,
    level: u32,
    progress: &Progress,
) -> Result<Solid, VoxelizeError> {
    let grid = grid_of(mesh, level)?;
    let mut faces = faces_of(mesh, unsigned, &grid);
    let mut colors = ColorSource::new(mesh);
    let of_mesh = faces.len();
    if !closed || unsigned.contains(&true) {
        close_holes(mesh, unsigned, &grid, &mut faces, &mut colors);
    }
    let closing_faces = faces.len() - of_mesh;
    progress.set(0.1);
    let touched = rasterise(&faces, level, &colors, progress)?;
    progress.set(0.7);
    let solved = solve(touched, level, Parity::new(&faces, level).as_ref());
    progress.set(0.85);
    let forest = build(level, solved.leaves, &solved.insides);
    progress.set(1.0);
    Ok(Solid { forest, grid, closing_leaves: solved.closing_leaves, closing_faces })
}

#[cfg(test)]
mod tests;
