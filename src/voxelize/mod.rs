//! Triangles to leaf voxels with colour, normal and coverage, and the inside test.

use crate::{
    mesh::{HealthReport, Mesh},
    svo::{Forest, Grid},
};

/// Progress of long work and the wish to stop it. Cheap to clone, shared between threads.
#[derive(Clone, Debug, Default)]
pub struct Progress(std::sync::Arc<ProgressState>);

#[derive(Debug, Default)]
struct ProgressState {
    permille: std::sync::atomic::AtomicU32,
    cancelled: std::sync::atomic::AtomicBool,
}

impl Progress {
    /// Sets the fraction done, 0..=1.
    pub fn set(&self, fraction: f32) {
        self.0
            .permille
            .store((fraction.clamp(0.0, 1.0) * 1000.0) as u32, std::sync::atomic::Ordering::Relaxed);
    }
    /// Fraction done.
    #[must_use]
    pub fn get(&self) -> f32 {
        self.0.permille.load(std::sync::atomic::Ordering::Relaxed) as f32 / 1000.0
    }
    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
    }
    /// Whether the work should stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// Why a mesh could not become an octree.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum VoxelizeError {
    /// No triangle of non-zero area.
    #[error("the mesh has no triangle of non-zero area; nothing can be voxelised")]
    Empty,
    /// Level outside 1..=10.
    #[error("level {0} is outside 1 to 10")]
    Level(u32),
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
pub fn voxelize(_mesh: &Mesh, _level: u32, _progress: &Progress) -> Result<Voxelized, VoxelizeError> {
    todo!()
}
