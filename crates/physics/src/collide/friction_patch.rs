//! Where the friction of a face acts.
//!
//! In: the contact points of a pair, and the area that touches. Out: how far from each point its friction acts.
//!
//! Two faces that rub press on each other over an area, of which a manifold keeps the outermost points. Friction at those
//! points would hold a body that turns on the spot with their distance from the middle for a lever, where the area has its mean
//! distance: corners of a square stop it in 0.54 of the time. Friction therefore acts on the line from each point to the
//! middle, as far out as makes the mean distance that of the area under an even pressure. A point that lies alone rubs where
//! it lies.

use glam::{DQuat, DVec2, DVec3};
use smallvec::SmallVec;

use super::{
    manifold::{Manifold, Point, SAME_GROUP, tangents},
    patch::hull,
};

/// Points touch that are this much farther apart than the nearest of their group at most, cells.
const TOUCHING_CELLS: f64 = 0.1;

/// A rim that is slower than this does not spin, m/s for objects of a metre: it is what the soft response calls a wobble. What comes
/// to rest, pieces of a heap above all, is held by its outermost points as before: with friction nearer the middle, a quarter of the
/// heaps did not sleep.
const LEAST_SPIN: f64 = 0.25;

/// How two bodies turn on each other.
pub struct Spin {
    /// Angular velocity of the first against the second, rad/s, world.
    pub relative: DVec3,
    /// Radius of the smaller one, m.
    pub reach: f64,
    /// What the smaller object's size and gravity make of 1 m/s.
    pub scale: f64,
}

impl Spin {
    fn is_about(&self, normal: DVec3) -> bool {
        self.relative.dot(normal).abs() * self.reach > LEAST_SPIN * self.scale
    }
}

/// Writes [`Point::friction_place`](super::Point::friction_place) of all points: beside the points of faces on which a body spins,
/// and at all others. `rotation` is that of the second body; `touched` gives the area in which the bodies touch (m^2), infinite
/// where that is the whole inside of the polygon of the points.
pub fn place_friction(
    manifold: &mut Manifold,
    rotation: DQuat,
    spin: &Spin,
    touched: impl FnOnce(&Manifold) -> f64,
) {
    manifold.points.iter_mut().for_each(|p| p.friction_place = [0.0; 2]);
    if !manifold.points.iter().any(|p| spin.is_about(p.normal)) {
        return;
    }
    // The area is that of all faces in sum; of several, which one has it is not known.
    let is_one = |p: &Point| p.normal.dot(manifold.points[0].normal) > SAME_GROUP;
    let whole = touched(manifold);
    let touched = if whole.is_infinite() || manifold.points.iter().all(is_one) { whole } else { 0.0 };
    let near = TOUCHING_CELLS * manifold.resolution_m;
    let to_body = rotation.inverse();
    let points = &mut manifold.points;
    let mut open: SmallVec<[usize; 16]> = SmallVec::new();
    for (k, p) in points.iter().enumerate() {
        // A ball touches in one point, and what touches later may do so elsewhere.
        if p.ball.is_none() && p.follows.is_none() {
            open.push(k);
        }
    }
    while let Some(deepest) =
        open.iter().copied().min_by(|a, b| points[*a].separation.total_cmp(&points[*b].separation))
    {
        let (normal, limit) = (points[deepest].normal, points[deepest].separation + near);
        let is_one = |k: usize| k == deepest || points[k].normal.dot(normal) > SAME_GROUP;
        let own: SmallVec<[usize; 16]> =
            open.iter().copied().filter(|k| is_one(*k) && points[*k].separation <= limit).collect();
        open.retain(|k| !is_one(*k));
        // Distances that are no numbers have nobody near.
        if own.is_empty() || !spin.is_about(normal) {
            continue;
        }
        let ((t, u), origin) = (tangents(normal), points[deepest].position);
        let flat = |k: &usize| {
            let arm = points[*k].position - origin;
            DVec2::new(arm.dot(t), arm.dot(u))
        };
        let flat: SmallVec<[DVec2; 16]> = own.iter().map(flat).collect();
        let patch = Patch::of(&flat);
        let reach = flat.iter().map(|p| p.distance(patch.middle)).sum::<f64>() / flat.len() as f64;
        if reach <= 0.0 {
            continue;
        }
        // Of a table on its legs only the legs touch, and these are where the points are.
        let solid = match patch.area > 0.0 {
            true => (touched / patch.area).min(1.0),
            false => f64::from(u8::from(touched > 0.0)),
        };
        let share = solid * (1.0 - patch.mean / reach).clamp(0.0, 1.0);
        for (k, p) in own.iter().zip(&flat) {
            let inward = (patch.middle - *p) * share;
            let (along_t, along_u) = tangents(points[*k].plane);
            let offset = to_body * (t * inward.x + u * inward.y);
            points[*k].friction_place = [offset.dot(along_t) as f32, offset.dot(along_u) as f32];
        }
    }
}

/// The polygon round some points.
struct Patch {
    middle: DVec2,
    /// m^2; 0 where the points lie on a line.
    area: f64,
    /// Mean distance of its area, or of the line, from the middle, m.
    mean: f64,
}

/// Narrower shapes are lines: area as a share of the square of the length.
const NARROW: f64 = 1e-3;

impl Patch {
    fn of(points: &[DVec2]) -> Self {
        let corners = hull(points.to_vec());
        let sides = || corners.iter().zip(corners.iter().cycle().skip(1));
        let length = corners.iter().map(|p| p.distance(corners[0])).fold(0.0, f64::max);
        let (mut twice, mut moment) = (0.0, DVec2::ZERO);
        for (a, b) in sides() {
            let (a, b) = (*a - corners[0], *b - corners[0]);
            twice += a.perp_dot(b);
            moment += (a + b) * a.perp_dot(b);
        }
        let area = 0.5 * twice;
        if area <= NARROW * length * length {
            let far = |from: DVec2| {
                let by_distance = |p: &&DVec2, q: &&DVec2| from.distance(**p).total_cmp(&from.distance(**q));
                *points.iter().max_by(by_distance).unwrap_or(&from)
            };
            let one = far(corners[0]);
            let other = far(one);
            return Self { middle: (one + other) * 0.5, area: 0.0, mean: 0.25 * one.distance(other) };
        }
        let middle = corners[0] + moment / (3.0 * twice);
        // Of a triangle from the middle to a side: two thirds of the mean distance of the side.
        let of_side = |(a, b): (&DVec2, &DVec2)| {
            let (a, b) = (*a - middle, *b - middle);
            let side: f64 =
                SIMPSON.iter().enumerate().map(|(k, w)| w * a.lerp(b, k as f64 / 8.0).length()).sum();
            0.5 * a.perp_dot(b) * (2.0 / 3.0) * side
        };
        Self { middle, area, mean: sides().map(of_side).sum::<f64>() / area }
    }
}

/// Weights of nine places along a side (Simpson's rule).
const SIMPSON: [f64; 9] = {
    let mut weights = [1.0 / 24.0; 9];
    let mut k = 1;
    while k < 8 {
        weights[k] = if k % 2 == 1 { 4.0 / 24.0 } else { 2.0 / 24.0 };
        k += 1;
    }
    weights
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean distance of an area from its middle, by counting.
    fn counted(corners: &[DVec2]) -> f64 {
        let inside = |p: DVec2| {
            let sides = corners.iter().zip(corners.iter().cycle().skip(1));
            sides.into_iter().all(|(a, b)| (*b - *a).perp_dot(p - *a) >= 0.0)
        };
        let n = 800;
        let at = |k: usize| (k as f64 + 0.5) / f64::from(n) * 4.0 - 2.0;
        let own: Vec<DVec2> = (0..(n * n) as usize)
            .map(|k| DVec2::new(at(k % n as usize), at(k / n as usize)))
            .filter(|p| inside(*p))
            .collect();
        let middle = own.iter().sum::<DVec2>() / own.len() as f64;
        own.iter().map(|p| p.distance(middle)).sum::<f64>() / own.len() as f64
    }

    #[test]
    fn mean_distances_are_those_of_counting() {
        let square = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)];
        let plank = [(-1.6, -0.1), (1.6, -0.1), (1.6, 0.1), (-1.6, 0.1)];
        let wedge = [(-1.0, -1.0), (1.5, -0.5), (0.2, 1.7)];
        for corners in [&square[..], &plank[..], &wedge[..]] {
            let mut points: Vec<DVec2> = corners.iter().map(|(x, y)| DVec2::new(*x, *y)).collect();
            let wanted = counted(&points);
            // One inside, and in no order.
            points.push(DVec2::new(0.05, 0.02));
            points.rotate_left(2);
            points.swap(0, 2);
            let found = Patch::of(&points);
            assert!((found.mean / wanted - 1.0).abs() < 5e-3, "{} for {wanted}", found.mean);
        }
        let line = Patch::of(&[DVec2::new(0.0, 0.0), DVec2::new(3.0, 4.0), DVec2::new(1.5, 2.0)]);
        assert!((line.mean - 1.25).abs() < 1e-12 && line.area == 0.0);
        let alone = Patch::of(&[DVec2::ONE]);
        assert_eq!((alone.middle, alone.mean), (DVec2::ONE, 0.0));
    }
}
