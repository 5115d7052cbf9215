//! A body that is an octree: one tree of a forest, with its grid.

use super::{GridMass, MassProperties, ShapeHit, grid_mass};
use crate::svo::{Forest, Grid, distance_to_forest, pick_forest};
use glam::DVec3;
use std::sync::Arc;

/// One tree of a forest. All pieces of a fracture share a forest, so cloning is cheap.
#[derive(Clone, Debug)]
pub struct Octree {
    /// The forest.
    pub forest: Arc<Forest>,
    /// Index of the tree.
    pub tree: u32,
    /// The grid in shape space, m.
    pub grid: Grid,
    /// Mass properties of its voxels, grid units.
    pub mass: GridMass,
}

impl Octree {
    /// Tree `tree` of `forest` on `grid` (shape space, m). Computes its mass properties.
    #[must_use]
    pub fn new(forest: &Arc<Forest>, tree: u32, grid: Grid) -> Self {
        Self { forest: Arc::clone(forest), tree, grid, mass: grid_mass(forest, tree as usize) }
    }

    /// Leaf level.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.forest.level
    }

    /// Edge length of a cell of `level`, m.
    #[must_use]
    pub fn cell_size(&self, level: u32) -> f64 {
        self.grid.h * f64::from(1u32 << self.forest.level.saturating_sub(level))
    }

    /// Range of its leaves in the forest's arrays; empty if there is no such tree.
    #[must_use]
    pub fn leaves(&self) -> std::ops::Range<usize> {
        let at = |tree: usize| self.forest.tree_start.get(tree).map(|&start| start as usize);
        match (at(self.tree as usize), at(self.tree as usize + 1)) {
            (Some(first), Some(end)) => first..end.min(self.forest.leaves.len()),
            _ => 0..0,
        }
    }

    pub(super) fn mass_properties(&self, density: f64) -> MassProperties {
        let h = self.grid.h;
        MassProperties {
            kg: self.mass.volume * h.powi(3) * density,
            volume_m3: self.mass.volume * h.powi(3),
            centre: self.grid.origin + h * self.mass.centre,
            inertia: self.mass.inertia * (h.powi(5) * density),
        }
    }

    /// The first voxel that a ray (voxels) hits.
    #[must_use]
    pub fn pick(&self, origin: DVec3, direction: DVec3) -> Option<ShapeHit> {
        let hit = pick_forest(&self.forest, self.tree, origin, direction)?;
        Some(ShapeHit { t: hit.t, cell: Some(hit.cell) })
    }

    /// Distance of a point from its solid, voxels.
    #[must_use]
    pub fn distance(&self, point: DVec3) -> f64 {
        distance_to_forest(&self.forest, self.tree, point)
    }
}
