//! Mass, centre and inertia of one tree from its voxels.
use crate::svo::Forest;
use glam::{DMat3, DVec3};
/// At density 1, in grid units (voxels); scale by h^3 for volume, h^5 for inertia.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MassProperties {
    /// Sum of leaf coverage and of internal cells: volume in voxels.
    pub volume: f64,
    /// Centre of mass, grid coordinates.
    pub centre: DVec3,
    /// Inertia tensor about the centre, axes of the grid.
    pub inertia: DMat3,
    /// Bounds of all voxels, grid coordinates (low, high).
    pub bounds: (DVec3, DVec3),
    /// Leaves plus internal leaf cells.
    pub voxels: u64,
}
/// Sums over `tree`'s leaves (weighted by coverage) and internal nodes.
#[must_use]
pub fn mass_properties(_forest: &Forest, _tree: usize) -> MassProperties {
    todo!()
}
