//! Voxelisation: triangles to leaf voxels with colour, normal and coverage, and the inside test.
//!
//! In: a mesh as read. Out: one octree, its grid, and the completed health report. [`voxelize`] lists the steps; the
//! octree's definition is Domaradzki & Martyn 2016, sec. 3, with winding numbers in place of their ray along the parent
//! node's normal.

mod inside;
mod parity;
mod polygon;
mod progress;
mod rasterise;
mod surface;

pub use progress::Progress;

use std::sync::Arc;

use crate::{
    memory::Short,
    mesh::{Checked, HealthReport, Mesh, check_while},
    shape::PieceMesh,
    svo::{Forest, Grid, MAX_LEVEL, build},
};
use inside::solve;
use parity::{Parity, without_orientation};
use rasterise::rasterise;
use surface::{ColorSource, Holes, faces_of, grid_of};

/// Why a mesh could not be voxelised.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum VoxelizeError {
    /// No triangle of non-zero area.
    #[error("the mesh has no triangle of non-zero area; nothing can be voxelised")]
    Empty,
    /// Level outside 1..=[`MAX_LEVEL`].
    #[error("level {0} is outside 1 to {MAX_LEVEL}")]
    Level(u32),
    /// More than 67 million boundary voxels.
    #[error("the mesh fills more voxels than fit in memory at this level; choose a lower level")]
    TooLarge,
    /// The voxels do not fit into the free memory.
    #[error("for the voxels at this level {0}; choose a lower level, or close other programs")]
    Memory(Short),
    /// The user cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// A voxelised mesh: one octree, its grid, and the health report with the results of the inside test.
#[derive(Clone, Debug)]
pub struct Voxelized {
    /// One tree.
    pub forest: Forest,
    /// The grid's position in mesh units.
    pub grid: Grid,
    /// Findings, completed by the inside test.
    pub health: HealthReport,
}

/// A checked mesh, from which voxelisation at every level starts.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The mesh as repaired by [`crate::mesh::check`], and the findings before the inside test.
    checked: Arc<Checked>,
    /// Which triangles have no meaningful orientation; empty: none of them.
    unsigned: Vec<bool>,
    holes: Holes,
    /// See [`Prepared::of_voxels`].
    own_edge: Option<f64>,
}

impl Prepared {
    /// Checks `mesh`, as read.
    #[must_use]
    pub fn new(mesh: &Mesh) -> Self {
        Self::while_wanted(mesh, &Progress::default())
    }

    /// Like [`Prepared::new`], unless `progress` is cancelled: what it answers then means nothing.
    #[must_use]
    pub fn while_wanted(mesh: &Mesh, progress: &Progress) -> Self {
        let checked = Arc::new(check_while(mesh, progress));
        let (mesh, health) = &*checked;
        let (mut unsigned, mut holes) = (Vec::new(), Holes::default());
        if !progress.is_cancelled() {
            if health.unorientable_components > 0 {
                unsigned = without_orientation(mesh);
            }
            if !health.closed || unsigned.contains(&true) {
                holes = Holes::of(mesh, &unsigned);
            }
        }
        Self { checked, unsigned, holes, own_edge: None }
    }

    /// The mesh as repaired by [`crate::mesh::check`], and the findings before the inside test.
    #[must_use]
    pub fn checked(&self) -> &Arc<Checked> {
        &self.checked
    }

    /// Says that the mesh is the surface of voxels with this edge, mesh units, at whole multiples of it (`None`: it is
    /// not): at each level that has room for them, the octree has exactly these voxels.
    #[must_use]
    pub fn of_voxels(self, edge: Option<f64>) -> Self {
        Self { own_edge: edge, ..self }
    }

    /// Voxelises to leaf level `level`.
    ///
    /// # Errors
    /// [`VoxelizeError`].
    pub fn voxelize(&self, level: u32, progress: &Progress) -> Result<Voxelized, VoxelizeError> {
        if !(1..=MAX_LEVEL).contains(&level) {
            return Err(VoxelizeError::Level(level));
        }
        let (mesh, health) = &*self.checked;
        let grid = grid_of(mesh, level, self.own_edge)?;
        let solid = solidify_on(grid, mesh, &self.unsigned, &self.holes, progress)?;
        let (unsigned, mut health) = (&self.unsigned, health.clone());
        health.inside_test = if unsigned.contains(&true) { "parity" } else { "winding number" }.into();
        if unsigned.contains(&true) && unsigned.contains(&false) {
            health
                .notes
                .push("Parity tells inside from outside for the parts without orientation only.".into());
        }
        health.closing_leaves = solid.closing_leaves;
        health.capped_holes = if solid.closing_faces > 0 { health.boundary_loops.max(1) } else { 0 };
        Ok(Voxelized { forest: solid.forest, grid: solid.grid, health })
    }
}

/// Voxelises `mesh` (as read) to leaf level `level`. For several levels create a [`Prepared`] once.
///
/// # Errors
/// [`VoxelizeError`].
pub fn voxelize(mesh: &Mesh, level: u32, progress: &Progress) -> Result<Voxelized, VoxelizeError> {
    Prepared::new(mesh).voxelize(level, progress)
}

/// Voxelises a closed surface on `grid`, both in shape space, to approximate a piece by voxels on the grid of its
/// source. Points outside the grid's cells are moved to their edge.
///
/// # Errors
/// [`VoxelizeError`].
pub fn voxels_of(surface: &PieceMesh, grid: Grid) -> Result<Forest, VoxelizeError> {
    if !(1..=MAX_LEVEL).contains(&grid.level) {
        return Err(VoxelizeError::Level(grid.level));
    }
    // In voxel units, in which 32 bits are precise enough wherever shape space lies; every corner keeps its own colour.
    let corners = surface.triangles.iter().flatten();
    let mesh = Mesh {
        positions: corners
            .map(|i| grid.from_mesh(surface.positions[*i as usize]).as_vec3().to_array())
            .collect(),
        triangles: (0..surface.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
        colors: surface.corners.iter().flatten().map(|corner| corner.color).collect(),
        ..Mesh::default()
    };
    let own = Grid { level: grid.level, origin: glam::DVec3::ZERO, h: 1.0 };
    Ok(solidify_on(own, &mesh, &[], &Holes::default(), &Progress::default())?.forest)
}

/// Result of [`solidify_on`].
struct Solid {
    forest: Forest,
    grid: Grid,
    /// Leaves touched only by closing triangles.
    closing_leaves: usize,
    /// Triangles that close holes.
    closing_faces: usize,
}

/// Voxelises a checked mesh on a grid; points outside its cells are moved to their edge. `unsigned` says which triangles
/// have no meaningful orientation (empty: none).
fn solidify_on(
    grid: Grid,
    mesh: &Mesh,
    unsigned: &[bool],
    holes: &Holes,
    progress: &Progress,
) -> Result<Solid, VoxelizeError> {
    let level = grid.level;
    let mut faces = faces_of(mesh, unsigned, &grid);
    progress.go_on().ok_or(VoxelizeError::Cancelled)?;
    let mut colors = ColorSource::new(mesh);
    let of_mesh = faces.len();
    holes.close(&grid, &mut faces, &mut colors);
    let closing_faces = faces.len() - of_mesh;
    progress.go_on().ok_or(VoxelizeError::Cancelled)?;
    progress.set(0.1);
    let touched = rasterise(&faces, level, &colors, progress)?;
    progress.set(0.7);
    let parity = Parity::new(&faces, level);
    progress.go_on().ok_or(VoxelizeError::Cancelled)?;
    let solved = solve(touched, level, parity.as_ref());
    progress.go_on().ok_or(VoxelizeError::Cancelled)?;
    progress.set(0.85);
    let forest = build(level, solved.leaves, &solved.insides);
    progress.set(1.0);
    Ok(Solid { forest, grid, closing_leaves: solved.closing_leaves, closing_faces })
}

#[cfg(test)]
mod tests;
