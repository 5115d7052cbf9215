//! Whether a body may be met by its convex hull alone.
//!
//! In: the octree of a body. Out: its hull, where no sample of the body's surface is farther from the hull's surface than
//! contacts are made apart: then hull and octree say the same, and the hull says it with tens of corners.

use super::{
    points::{place, samples, solid_of},
    solid::Solid,
};
use crate::{bodies::Body, shape::Geometry};
use glam::DVec3;

/// So many samples say whether a large surface can be convex at all, before its hull is made.
const FIRST_LOOK: usize = 2048;

/// The hull of a body, where its whole surface lies within `tolerance` m of it; of octrees that are no crumbs.
#[must_use]
pub fn fitting_hull(body: &Body, tolerance: f64) -> Option<Solid> {
    let shape = &*body.def.shape;
    let Geometry::Octree(octree) = shape.geometry() else { return None };
    // The samples of so few voxels say little, and their hull is that of the voxels.
    if body.def.is_crumb() {
        return None;
    }
    let points: Vec<DVec3> = samples(octree).map(place(shape)).collect();
    fitting(&points, tolerance, || solid_of(shape))
}

/// The hull of all points, which `hull` makes, where all lie within `tolerance` m of its surface.
fn fitting(points: &[DVec3], tolerance: f64, hull: impl FnOnce() -> Solid) -> Option<Solid> {
    // The hull of some of the points lies in that of all, so what is too deep in it is too deep.
    let every = points.len().div_ceil(FIRST_LOOK);
    if every > 1 {
        let some: Vec<DVec3> = points.iter().copied().step_by(every).collect();
        let solid = Solid::through(&some, 0.0)?;
        if some.iter().any(|p| solid.height(*p) < -tolerance) {
            return None;
        }
    }
    let solid = hull();
    points.iter().all(|p| solid.height(*p).abs() <= tolerance).then_some(solid)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points on a cube of two metres, `n` squared a side, with a pit in one of them, `pit` m deep.
    fn cube(n: u32, pit: f64) -> Vec<DVec3> {
        let at = |k: u32| 2.0 * f64::from(k) / f64::from(n - 1) - 1.0;
        let side = |axis: usize, z: f64| {
            (0..n * n).map(move |k| {
                let (x, y) = (at(k % n), at(k / n));
                let dent = if axis == 2 && z > 0.0 { pit * (1.0 - x * x) * (1.0 - y * y) } else { 0.0 };
                DVec3::from_array(std::array::from_fn(|a| [z - dent, x, y][(a + 3 - axis) % 3]))
            })
        };
        (0..3).flat_map(|axis| [-1.0, 1.0].into_iter().flat_map(move |z| side(axis, z))).collect()
    }

    #[test]
    fn a_pit_may_be_as_deep_as_the_tolerance() {
        // With few points and with so many that some are looked at first.
        for n in [9, 41] {
            let fits = |pit: f64| {
                let points = cube(n, pit);
                let made = std::cell::Cell::new(0);
                let hull = || {
                    made.set(made.get() + 1);
                    Solid::through(&points, 0.0).expect("a cube")
                };
                (fitting(&points, 0.1, hull).is_some(), made.get())
            };
            assert_eq!(fits(0.0), (true, 1));
            assert_eq!(fits(0.09), (true, 1));
            assert!(!fits(0.11).0, "{n}");
            // Of what is far from convex the hull of all is not made.
            assert_eq!(fits(1.0), (false, usize::from(n == 9)));
        }
        // Nor may a point lie outside, as of a ball whose hull has not corners enough.
        let inner = || Solid::through(&cube(9, 0.0).iter().map(|p| *p * 0.8).collect::<Vec<_>>(), 0.0);
        assert!(fitting(&cube(9, 0.0), 0.1, || inner().expect("a cube")).is_none());
    }
}
