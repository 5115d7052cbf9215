//! The convex hull of a shape.
//!
//! In: a shape. Out: its hull in body axes, and how far anything of the shape may lie outside of it: a hull of something
//! round has as many corners as it may have, and no more. Which bodies are near, how they meet and where they stand is asked
//! of it, so a shape makes it once and keeps it.

use super::{Hull, Through, points::HullPoints};
use crate::shape::Shape;
use glam::DVec3;

/// What is flat becomes so thick, as a share of its diameter.
const THIN: f64 = 1e-3;

/// The convex hull of a shape, body axes, from the centre of mass, m.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShapeHull {
    /// Corners and triangles.
    pub hull: Hull,
    /// Corners that would stick out by no more than this were left out, m.
    pub rounded: f64,
    /// How far the farthest sample of the shape lies outside, m.
    pub beyond: f64,
    /// Whether a hull whose corners were chosen quickly left out too much: of what is bumpy or round.
    pub is_uneven: bool,
}

/// Corners are chosen anew, with more care, where they leave out anything that is higher over a side than so many times what may
/// be left out: half a voxel.
const TOO_MUCH: f64 = 16.0;

impl ShapeHull {
    /// Most corners of a hull.
    pub const MOST_CORNERS: usize = 64;

    /// Of a shape; of what is flat, of its bounds.
    #[must_use]
    pub fn of(shape: &Shape) -> Self {
        let HullPoints { points, rounded } = HullPoints::of(shape);
        match Hull::through(&points, Self::MOST_CORNERS, [rounded, TOO_MUCH * rounded]) {
            Some(Through { hull, beyond, is_uneven }) => Self { hull, rounded, beyond, is_uneven },
            None => Self { hull: hull_of_bounds(shape), ..Self::default() },
        }
    }

    /// Whether it has as many corners as it may: what is round has.
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
    // What has no extent at all has eight corners in one place.
    Hull::through(&points, points.len(), [0.0, f64::MAX])
        .map_or(Hull { points, triangles: Vec::new() }, |through| through.hull)
}
