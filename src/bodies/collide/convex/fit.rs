//! How well a body fits its convex hull.
//!
//! In: the octree of a body. Out: its hull, where nothing of the body sticks out of it by more than contacts are made apart,
//! and whether all of the body's surface lies so near it. Then hull and octree say the same, and the hull says it with tens of
//! corners. Where something is hollow, hull and octree say the same wherever the hull has the body's surface
//! (`mixed/careful.rs`).

use super::{
    few_points::hull_of,
    points::{place, samples, solid_of},
    solid::Solid,
};
use crate::{bodies::Body, shape::Geometry};
use glam::DVec3;

/// So many samples say whether a large surface can be convex at all, before its hull is made.
const FIRST_LOOK: usize = 2048;

/// How a body fits its hull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// All of its surface lies near the hull's.
    Close,
    /// Nothing sticks out, but something is hollow.
    Around,
}

/// The hull of a body, and how it fits to `tolerance` m; of octrees that are no crumbs. None where something sticks out.
#[must_use]
pub fn fitting_hull(body: &Body, tolerance: f64) -> Option<(Solid, Fit)> {
    let shape = &*body.def.shape;
    let Geometry::Octree(octree) = shape.geometry() else { return None };
    // The samples of so few voxels say little, and their hull is that of the voxels.
    if body.def.is_crumb() {
        return None;
    }
    let points: Vec<DVec3> = samples(octree).map(place(shape)).collect();
    fitting(&points, tolerance, || solid_of(shape), || hull_of(shape))
}

/// The hull of all points and how they fit it to `tolerance` m. `hull` makes it, or `quick`, where something is hollow.
fn fitting(
    points: &[DVec3],
    tolerance: f64,
    hull: impl FnOnce() -> Solid,
    quick: impl FnOnce() -> Solid,
) -> Option<(Solid, Fit)> {
    // The hull of some of the points lies in that of all, so what is too deep in it is too deep.
    let every = points.len().div_ceil(FIRST_LOOK);
    let some: Vec<DVec3> = points.iter().copied().step_by(every.max(1)).collect();
    let hollow = every > 1 && {
        let solid = Solid::through(&some, 0.0)?;
        some.iter().any(|p| solid.height(*p) < -tolerance)
    };
    let solid = if hollow { quick() } else { hull() };
    let sticks_out = |points: &[DVec3]| points.iter().any(|p| solid.height(*p) > tolerance);
    // Of what is large and round some points say so.
    if sticks_out(&some) || every > 1 && sticks_out(points) {
        return None;
    }
    let deep = || points.iter().any(|p| solid.height(*p) < -tolerance);
    let fit = if hollow || deep() { Fit::Around } else { Fit::Close };
    Some((solid, fit))
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
                let (whole, quick) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
                let hull = |made: &std::cell::Cell<u32>| {
                    made.set(made.get() + 1);
                    Solid::through(&points, 0.0).expect("a cube")
                };
                let fit = fitting(&points, 0.1, || hull(&whole), || hull(&quick));
                (fit.map(|(_, fit)| fit), [whole.get(), quick.get()])
            };
            assert_eq!(fits(0.0), (Some(Fit::Close), [1, 0]));
            assert_eq!(fits(0.09), (Some(Fit::Close), [1, 0]));
            assert_eq!(fits(0.11).0, Some(Fit::Around), "{n}");
            // Of what is far from convex the hull of all is not made.
            assert_eq!(fits(1.0), (Some(Fit::Around), if n == 9 { [1, 0] } else { [0, 1] }));
        }
        // Nor may a point lie outside, as of a ball whose hull has not corners enough.
        let inner = || Solid::through(&cube(9, 0.0).iter().map(|p| *p * 0.8).collect::<Vec<_>>(), 0.0);
        let inner = || inner().expect("a cube");
        assert!(fitting(&cube(9, 0.0), 0.1, inner, inner).is_none());
    }
}
