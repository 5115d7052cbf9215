//! How well a body fits its convex hull.
//!
//! In: the octree of a body. Out: whether its hull holds it, so that nothing sticks out by more than contacts are made apart,
//! and whether all of the body's surface lies so near it. Then hull and octree say the same, and the hull says it with tens of
//! corners. Where something is hollow, hull and octree say the same wherever the hull has the body's surface
//! (`mixed/careful.rs`).

use crate::{
    bodies::BodyDef,
    shape::{Geometry, Hull},
    svo::leaf_sample,
};
use glam::DVec3;

/// How a body fits its hull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// All of its surface lies near the hull's.
    Close,
    /// Nothing sticks out, but something is hollow.
    Around,
}

/// How a body fits its hull to `tolerance` m; of octrees that are no crumbs. None where something sticks out.
#[must_use]
pub fn fit(def: &BodyDef, tolerance: f64) -> Option<Fit> {
    let shape = &*def.shape;
    let Geometry::Octree(octree) = shape.geometry() else { return None };
    let hull = shape.convex_hull();
    // The samples of so few voxels say little, and their hull is that of the voxels. What is round or uneven has as many corners
    // as there may be: in 68 heaps two of such pieces came four cells deep into each other, and did not come to rest.
    if def.is_crumb() || hull.is_full() || hull.beyond > tolerance {
        return None;
    }
    let place = shape.body_from_local();
    let sample = |leaf| place(leaf_sample(&octree.forest, leaf).0.as_dvec3());
    let is_near = all_are_near(&hull.hull, octree.leaves().map(sample), tolerance);
    Some(if is_near { Fit::Close } else { Fit::Around })
}

/// Whether no point lies deeper in a hull than `tolerance`.
fn all_are_near(hull: &Hull, mut points: impl Iterator<Item = DVec3>, tolerance: f64) -> bool {
    // The farthest corner says where a side lies: what is thin has a normal that its own corners hardly tell.
    let plane = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| hull.points[v as usize]);
        let normal = (b - a).cross(c - a).try_normalize()?;
        Some((normal, hull.points.iter().map(|p| p.dot(normal)).fold(f64::MIN, f64::max)))
    };
    let planes: Vec<(DVec3, f64)> = hull.triangles.iter().filter_map(plane).collect();
    let is_near = |p: DVec3, (normal, reach): (DVec3, f64)| p.dot(normal) - reach >= -tolerance;
    // What is near one side has its neighbours near the same.
    let mut last = 0;
    points.all(|p| {
        let near = planes.get(last).is_some_and(|plane| is_near(p, *plane)).then_some(last);
        let near = near.or_else(|| planes.iter().position(|plane| is_near(p, *plane)));
        last = near.unwrap_or(last);
        near.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::testing::{ball, block, body, grid};
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
        let (hull, _) = Hull::through(&cube(9, 0.0), 64, 0.0).expect("a cube");
        for (pit, near) in [(0.0, true), (0.09, true), (0.11, false), (1.0, false)] {
            assert_eq!(all_are_near(&hull, cube(41, pit).into_iter(), 0.1), near, "{pit}");
        }
    }

    #[test]
    fn what_is_round_has_no_fit_and_what_is_flat_is_close() {
        let fit_of = |forest, level, tolerance| {
            fit(&body(&Arc::new(forest), 0, grid(level, 1.0), level, DVec3::ZERO), tolerance / 64.0)
        };
        let round = || ball(6, Vec3::splat(32.0), 28.0);
        assert_eq!(fit_of(round(), 6, 0.5), None);
        // However near its hull it is.
        assert_eq!(fit_of(round(), 6, 4.0), None);
        assert_eq!(fit_of(block(6, [4; 3], [60; 3]), 6, 0.5), Some(Fit::Close));
        // A crumb has no fit.
        assert_eq!(fit_of(block(6, [4; 3], [7; 3]), 6, 4.0), None);
    }
}
