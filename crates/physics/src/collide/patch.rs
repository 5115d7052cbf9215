//! The patches on which two bodies touch, and what each contact point stands for.
//!
//! In: the points of a manifold. Out: of each point its share of the area of its patch.

use glam::DVec2;

use super::{Point, manifold::SAME_GROUP, tangents};
use crate::geometry::polygon::{loop_area, turn};

/// Of each point an equal share of the area of its patch, m^2. A patch are the points of a manifold whose normals agree
/// with the normal of the first. Its area is that of their convex hull as seen along this normal, and no less than a strip
/// that is as long as the patch and one cell wide, since a search tells nothing narrower apart; of a single point, the
/// square of `cell`, m.
#[must_use]
pub fn areas(points: &[Point], cell: f64) -> Vec<f64> {
    let mut areas = vec![0.0; points.len()];
    let mut open: Vec<usize> = (0..points.len()).collect();
    while let Some(&first) = open.first() {
        let Point { normal, position: origin, .. } = points[first];
        // The first is of its own patch, whatever its normal is.
        let agrees = |i: &usize| *i == first || points[*i].normal.dot(normal) > SAME_GROUP;
        let (own, rest): (Vec<usize>, Vec<usize>) = open.into_iter().partition(agrees);
        let (along, across) = tangents(normal);
        let arms = own.iter().map(|i| points[*i].position - origin);
        let seen = arms.map(|arm| DVec2::new(arm.dot(along), arm.dot(across))).collect();
        let share = area(seen, cell) / own.len() as f64;
        own.iter().for_each(|i| areas[*i] = share);
        open = rest;
    }
    areas
}

/// Area of the convex hull of points, no less than of a strip one cell wide.
fn area(mut points: Vec<DVec2>, cell: f64) -> f64 {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let mut hull = half(points.iter());
    hull.extend(half(points.iter().rev()));
    let lengths = hull.iter().flat_map(|a| hull.iter().map(|b| a.distance(*b)));
    let length = lengths.fold(cell, f64::max);
    (0.5 * loop_area(&hull)).max(length * cell)
}

/// The points of the hull from one end to the other, with the hull on the left (Andrew 1979).
fn half<'a>(points: impl Iterator<Item = &'a DVec2>) -> Vec<DVec2> {
    let mut chain: Vec<DVec2> = Vec::new();
    for point in points {
        while let [.., a, b] = chain[..]
            && turn(a, b, *point) <= 0.0
        {
            chain.pop();
        }
        chain.push(*point);
    }
    chain
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    const CELL: f64 = 0.1;

    fn shares(places: &[[f64; 3]], normals: &[DVec3]) -> Vec<f64> {
        let point = |(k, [x, y, z]): (usize, &[f64; 3])| {
            Point::new(k as u64, [None, None], DVec3::new(*x, *y, *z), normals[k % normals.len()], 0.0)
        };
        areas(&places.iter().enumerate().map(point).collect::<Vec<_>>(), CELL)
    }

    #[track_caller]
    fn are(shares: &[f64], wanted: &[f64]) {
        assert_eq!(shares.len(), wanted.len());
        assert!(shares.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{shares:?} {wanted:?}");
    }

    #[test]
    fn points_share_the_hull_of_their_patch_and_a_patch_is_no_narrower_than_a_cell() {
        assert!(areas(&[], CELL).is_empty());
        are(&shares(&[[3.0, 1.0, 2.0]], &[DVec3::Y]), &[CELL * CELL]);
        // An edge lies on a strip, a part of a cell on a cell; points at one place are one.
        are(
            &shares(&[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.5, 0.0, 0.0]], &[DVec3::Y]),
            &[2.0 * CELL / 3.0; 3],
        );
        are(&shares(&[[0.0, 0.0, 0.0], [0.01, 0.0, 0.0]], &[DVec3::Y]), &[CELL * CELL / 2.0; 2]);
        are(&shares(&[[1.0, 1.0, 1.0]; 3], &[DVec3::Y]), &[CELL * CELL / 3.0; 3]);
        // A rectangle in any order, with points in it, on its edge and twice, whatever their heights.
        let flat = [
            [2.0, 0.01, 3.0],
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 1.5],
            [2.0, -0.01, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 0.0, 3.0],
            [0.0, 0.0, 0.0],
            [0.5, 0.0, 1.0],
        ];
        are(&shares(&flat, &[DVec3::Y]), &[6.0 / 8.0; 8]);
        are(&shares(&flat, &[DVec3::NEG_Y]), &[6.0 / 8.0; 8]);
        // A right triangle and a wall's edge in one manifold are two patches.
        let corner = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 2.0], [0.0, 0.0, 1.0]];
        let normals = [DVec3::Y, DVec3::X, DVec3::Y, DVec3::X, DVec3::Y];
        are(&shares(&corner, &normals), &[0.5 / 3.0, 0.1, 0.5 / 3.0, 0.1, 0.5 / 3.0]);
        // What is no normal ends the search, too.
        assert_eq!(shares(&[[0.0; 3]; 2], &[DVec3::NAN]).len(), 2);
    }
}
