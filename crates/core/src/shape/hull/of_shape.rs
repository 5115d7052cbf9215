//! The convex hull of a shape.
//!
//! In: a shape. Out: its hull in body axes, and the largest distance of any point of the shape outside it: the hull of
//! a round shape has the most vertices allowed, and no more. Collision detection and contact use the hull, so a shape
//! computes it once and caches it.

use super::{Hull, Through, points::HullPoints};
use crate::shape::Shape;
use glam::DVec3;

/// Thickness given to a flat shape, as a share of its diameter.
const THIN: f64 = 1e-3;

/// The convex hull of a shape, body axes, relative to the centre of mass, m.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShapeHull {
    /// Vertices and triangles.
    pub hull: Hull,
    /// Vertices that would stick out by at most this were left out, m.
    pub rounded: f64,
    /// Distance of the farthest sample of the shape outside, m.
    pub beyond: f64,
    /// Whether a hull with quickly chosen vertices left out too much, as for bumpy or round shapes.
    pub is_uneven: bool,
}

/// Vertices are chosen again more carefully if a point left out is higher over a side than this multiple of the
/// tolerance: half a voxel.
const TOO_MUCH: f64 = 16.0;

impl ShapeHull {
    /// Most vertices of a hull.
    pub const MOST_CORNERS: usize = 64;

    /// The hull of a shape; for a flat shape, of its bounds.
    #[must_use]
    pub fn of(shape: &Shape) -> Self {
        let HullPoints { points, rounded } = HullPoints::of(shape);
        match Hull::through(&points, Self::MOST_CORNERS, [rounded, TOO_MUCH * rounded]) {
            Some(Through { hull, beyond, is_uneven }) => Self { hull, rounded, beyond, is_uneven },
            None => Self { hull: hull_of_bounds(shape), ..Self::default() },
        }
    }

    /// Whether it has the most vertices allowed, as for round shapes.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.hull.points.len() >= Self::MOST_CORNERS
    }
}

fn hull_of_bounds(shape: &Shape) -> Hull {
    let bounds = shape.bounds();
    let place = shape.body_from_local();
    let thin = DVec3::splat(THIN * 2.0 * shape.radius());
    let (low, high) = (place(bounds.low) - thin, place(bounds.high) + thin);
    let corner = |c: u32| low + DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from)) * (high - low);
    let points: Vec<DVec3> = (0..8).map(corner).collect();
    // The bounds of a single point have eight coinciding corners.
    Hull::through(&points, points.len(), [0.0, f64::MAX])
        .map_or(Hull { points, triangles: Vec::new() }, |through| through.hull)
}
