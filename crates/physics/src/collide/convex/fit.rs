//! How well a body fits its convex hull.
//!
//! In: the octree of a body. Out: whether its hull contains it, with nothing sticking out by more than the contact
//! margin, and whether all of the body's surface lies that near to the hull. Then hull and octree give the same
//! contacts, and the hull has tens of corners only. For a hollow body they agree wherever the hull is the body's
//! surface (`mixed/verified_hulls.rs`). A hull whose corners had to be chosen twice is used only for thick bodies whose
//! whole surface it is.

use super::solid::{Face, Solid};
use crate::{BodyDef, shape::Geometry, svo::leaf_sample};
use glam::DVec3;

/// Uneven bodies thinner than this, cells, use no hull.
const THICK_CELLS: f64 = 2.0;

/// How a body fits its hull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HullFit {
    /// All of its surface lies near the hull's.
    Tight,
    /// Nothing sticks out, but something is hollow.
    Enclosing,
}

/// How a body fits its hull to `tolerance` m; for octrees that are no crumbs. `None` if something sticks out.
#[must_use]
pub fn fit(def: &BodyDef, tolerance: f64) -> Option<HullFit> {
    let shape = &*def.shape;
    let Geometry::Octree(octree) = shape.geometry() else { return None };
    // The samples of so few voxels say little, and their hull is that of the voxels.
    if def.is_crumb() {
        return None;
    }
    let (place, hull) = (shape.body_from_local(), shape.convex_hull());
    let solid = Solid::of(hull);
    let samples = || octree.leaves().map(|leaf| place(leaf_sample(&octree.forest, leaf).0.as_dvec3()));
    // Shells that used such hulls lay half a cell deep seven times as often.
    if hull.is_uneven && def.thickness() < THICK_CELLS * def.resolution_m() {
        return None;
    }
    // Points no farther from the hull than that lie beyond no side of it by more.
    if hull.beyond > tolerance && samples().any(|p| solid.height(p) > tolerance) {
        return None;
    }
    match all_are_near(&solid, samples(), tolerance) {
        true => Some(HullFit::Tight),
        // Large bent pieces that used such hulls and octrees in turn sank four cells deep into each other.
        false => (!hull.is_uneven).then_some(HullFit::Enclosing),
    }
}

/// Whether no point lies deeper in a hull than `tolerance`.
fn all_are_near(hull: &Solid, mut points: impl Iterator<Item = DVec3>, tolerance: f64) -> bool {
    let is_near = |p: DVec3, face: &Face| p.dot(face.normal) - face.reach >= -tolerance;
    // Neighbouring points are mostly near the same side.
    let mut last = 0;
    points.all(|p| {
        let near = hull.faces.get(last).is_some_and(|face| is_near(p, face)).then_some(last);
        let near = near.or_else(|| hull.faces.iter().position(|face| is_near(p, face)));
        last = near.unwrap_or(last);
        near.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ball, block, body, grid};
    use glam::Vec3;
    use std::sync::Arc;

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
        let hull = Solid::through(&cube(9, 0.0)).expect("a cube");
        for (pit, near) in [(0.0, true), (0.09, true), (0.11, false), (1.0, false)] {
            assert_eq!(all_are_near(&hull, cube(41, pit).into_iter(), 0.1), near, "{pit}");
        }
    }

    #[test]
    fn what_is_round_sticks_out_and_what_is_flat_is_close() {
        let fit_of = |forest, level, tolerance| {
            fit(&body(&Arc::new(forest), 0, grid(level, 1.0), level, DVec3::ZERO), tolerance / 64.0)
        };
        let round = || ball(6, Vec3::splat(32.0), 28.0);
        assert_eq!(fit_of(round(), 6, 0.5), None);
        assert_eq!(fit_of(round(), 6, 4.0), Some(HullFit::Tight));
        assert_eq!(fit_of(block(6, [4; 3], [60; 3]), 6, 0.5), Some(HullFit::Tight));
        // A crumb has no fit.
        assert_eq!(fit_of(block(6, [4; 3], [7; 3]), 6, 4.0), None);
    }
}
