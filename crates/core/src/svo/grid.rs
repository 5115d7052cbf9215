//! Position of a grid in mesh units.

use glam::{DMat4, DVec3};

/// An axis-aligned grid: grid point g is `origin + h * g` in mesh units. A voxel (x, y, z) spans x..x+1 in grid units.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Grid {
    /// Leaf level.
    pub level: u32,
    /// Mesh position of grid point 0.
    pub origin: DVec3,
    /// Voxel edge, mesh units.
    pub h: f64,
}

impl Grid {
    /// The grid of a bounding box: a margin of one voxel all round, h = longest side / (2^level - 2), low corner at
    /// grid point 1. A box without extent gets h = 1 so that a single point is still a voxel.
    #[must_use]
    pub fn around(low: DVec3, high: DVec3, level: u32) -> Self {
        let side = (high - low).max_element();
        let cells = f64::from((1u32 << level).saturating_sub(2).max(1));
        let h = if side > 0.0 { side / cells } else { 1.0 };
        Self { level, origin: low - DVec3::splat(h), h }
    }

    /// Number of cells per side.
    #[must_use]
    pub fn side(&self) -> u32 {
        1 << self.level
    }

    /// Transform from grid to mesh, column vectors.
    #[must_use]
    pub fn to_mesh(&self) -> DMat4 {
        DMat4::from_translation(self.origin) * DMat4::from_scale(DVec3::splat(self.h))
    }

    /// Transforms a mesh point to the grid.
    #[must_use]
    pub fn from_mesh(&self, p: DVec3) -> DVec3 {
        (p - self.origin) / self.h
    }
}
