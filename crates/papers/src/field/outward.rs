//! Normals of a body's own surface at the points of its tree.
//!
//! In: a point of the tree. Out: the direction out of the body there, from its own field. Computed on first use: most
//! points never touch anything.

use super::{distance::Fragment, interior::Interior, spheres::SphereForest};
use glam::DVec3;
use std::sync::OnceLock;

/// Outward directions at all points of a tree, local space.
#[derive(Debug, Default)]
pub struct Outward(Box<[OnceLock<Option<DVec3>>]>);

impl Outward {
    /// For the points of a tree.
    pub fn of(forest: &SphereForest) -> Self {
        Self((0..forest.len()).map(|_| OnceLock::new()).collect())
    }

    /// The direction at a point of the tree; `None` deep in the body.
    pub fn at(&self, point: u32, forest: &SphereForest, own: &Fragment<'_>) -> Option<DVec3> {
        let place = forest.position(point);
        let look = || own.reach(place, own.cell()).map(|on| own.quick_direction(place, &on.way));
        *self.0.get(point as usize)?.get_or_init(look)
    }
}
