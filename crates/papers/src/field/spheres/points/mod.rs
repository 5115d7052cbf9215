//! The points of a shape that its sphere tree is made of (Glondu et al. 2012, sec. 5.1: surface vertices and
//! the nodes of a volumetric mesh).
//!
//! In: a shape, and the level at which it collides. Out: points on its surface, about one a cell of that
//! level, and a regular lattice of points in its interior, for cracks to come. All pieces of an object are
//! sampled in the local space and with the cell of the whole.

mod interior;
mod octree;
mod surface;

pub(super) use octree::{Containment, containment, crack_samples};
pub(super) use surface::samples as surface_samples;

use crate::shape::{Geometry, Shape};
use glam::DVec3;

use super::forest::ObjectPoint;

/// Cells of the surface from one point of the interior to the next: a crack then has a point within four
/// cells everywhere, and the interior has hardly more points than the surface.
const INTERIOR_EVERY: f64 = 4.0;

/// How an object and its pieces are sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// The level at which the object collides.
    pub level: u32,
    /// Edge of a cell of that level, local space of the object.
    pub cell: f64,
}

impl Sampling {
    /// The sampling of `object`, whole, at an octree level. A shape without cells is sampled as if its bounding sphere
    /// lay in a grid of that level.
    #[must_use]
    pub fn new(object: &Shape, level: u32) -> Self {
        let finest = object.as_octree().map_or(crate::svo::MAX_LEVEL, |octree| octree.level());
        let level = level.clamp(1, finest.max(1));
        let cell = match object.as_octree() {
            Some(octree) => f64::from(1u32 << (octree.level().max(1) - level)),
            None => 2.0 * object.radius() / f64::from(1u32 << level),
        };
        Self { level, cell }
    }

    /// Edge of the lattice in the interior, local space.
    #[must_use]
    pub fn spacing_inside(&self) -> f64 {
        INTERIOR_EVERY * self.cell
    }

    /// The points of `shape`: the whole object, or a piece of it that lies in its local space.
    #[must_use]
    pub fn points(&self, shape: &Shape) -> Vec<ObjectPoint> {
        let on_surface = self.surface(shape).into_iter().map(|position| (position, true));
        let within = interior::lattice(shape, self.spacing_inside()).into_iter();
        let all = on_surface.chain(within.map(|position| (position, false)));
        all.map(|(position, on_surface)| ObjectPoint { position, on_surface }).collect()
    }

    /// Points on the surface of `shape`, local space.
    #[must_use]
    pub fn surface(&self, shape: &Shape) -> Vec<DVec3> {
        match shape.geometry() {
            Geometry::Octree(octree) => octree::samples(octree, self.level),
            Geometry::Mesh(_) | Geometry::Convex(_) => surface_samples(shape, self.cell, false),
        }
    }
}
