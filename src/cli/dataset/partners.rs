//! Which points of two pieces belong together.
//!
//! In: the points of all pieces, one piece after the other, and the piece beyond each point. Out: for each point on a crack
//! the nearest point of the piece beyond, and how far away it is.

use glam::DVec3;
use rayon::prelude::*;

use crate::geometry::{Aabb, BoxTree};

/// Stands for a row and for a distance where a point has no partner.
pub const NONE: i32 = -1;
/// Most points of a leaf.
const LEAF: usize = 8;

/// A point and its row among the points of all pieces.
type Placed = (DVec3, i32);

/// For each point the row of the nearest point of the piece beyond, the lowest of equally near ones, and their distance;
/// [`NONE`] twice where there is no piece beyond, or where that piece has no points. Distances have the unit of the points.
pub fn partners(pieces: &[&[[f32; 3]]], beyond: &[i32]) -> (Vec<i32>, Vec<f32>) {
    let place = |point: &[f32; 3]| DVec3::from_array(point.map(f64::from));
    let mut trees: Vec<BoxTree<Placed>> = Vec::with_capacity(pieces.len());
    let mut row = 0;
    for points in pieces {
        let placed = points.iter().zip(row..).map(|(point, row)| (place(point), row)).collect();
        trees.push(BoxTree::by_middles(placed, LEAF, |(at, _): &Placed| Aabb::of([*at])));
        row += points.len() as i32;
    }
    let all: Vec<DVec3> = pieces.iter().flat_map(|points| points.iter().map(place)).collect();
    let partner = |(point, beyond): (&DVec3, &i32)| {
        let tree = usize::try_from(*beyond).ok().and_then(|piece| trees.get(piece));
        let found = tree.and_then(|tree| nearest(tree, *point));
        found.map_or((NONE, NONE as f32), |(row, distance)| (row, distance as f32))
    };
    all.par_iter().zip(beyond.par_iter()).map(partner).unzip()
}

/// The row of the nearest point, and its distance; `None` without points.
fn nearest(tree: &BoxTree<Placed>, point: DVec3) -> Option<(i32, f64)> {
    let squared = |at: DVec3| at.distance_squared(point);
    let (least, ()) = tree.nearest(point, f64::INFINITY, |_, (at, _)| Some((squared(*at), ())))?;
    // The order of equally near points in the tree is that of the library that sorts them.
    let mut lowest = i32::MAX;
    let reaches = |bounds: &Aabb| squared(point.clamp(bounds.low, bounds.high)) <= least;
    tree.visit(reaches, |(at, row)| {
        if squared(*at) <= least {
            lowest = lowest.min(*row);
        }
    });
    Some((lowest, least.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points on a coarse grid, so that many are equally near.
    fn points(count: u32, seed: u32) -> Vec<[f32; 3]> {
        let number = |k: u32| ((k.wrapping_add(seed).wrapping_mul(2_654_435_761) >> 20) % 7) as f32;
        (0..count).map(|k| [number(3 * k), number(3 * k + 1), number(3 * k + 2)]).collect()
    }

    #[test]
    fn a_partner_is_the_nearest_point_of_the_piece_beyond_and_the_first_of_equals() {
        let pieces = [points(90, 1), points(0, 2), points(7, 3), points(200, 4)];
        let slices: Vec<&[[f32; 3]]> = pieces.iter().map(|points| &points[..]).collect();
        let all: Vec<[f32; 3]> = pieces.iter().flatten().copied().collect();
        // Outside, nothing beyond, a piece without points, one that is not there, and others.
        let beyond: Vec<i32> = (0..all.len()).map(|k| [-1, -2, 1, 9, 2, 3, 0][k % 7]).collect();
        let (rows, distances) = partners(&slices, &beyond);
        let starts = [0, 90, 90, 97, 297];
        for (k, other) in beyond.iter().enumerate() {
            let apart = |row: usize, axis: usize| f64::from(all[row][axis] - all[k][axis]);
            let squared =
                |row: usize| -> f64 { (0..3).map(|axis| apart(row, axis) * apart(row, axis)).sum() };
            let those = match other {
                0 | 2 | 3 => starts[*other as usize]..starts[*other as usize + 1],
                _ => 0..0,
            };
            let wanted = those.min_by(|a, b| squared(*a).total_cmp(&squared(*b)));
            let distance = wanted.map_or(-1.0, |row| squared(row).sqrt() as f32);
            assert_eq!((rows[k], distances[k]), (wanted.map_or(-1, |row| row as i32), distance), "{k}");
        }
        assert!(rows.iter().any(|row| *row >= 97), "{rows:?}");
        assert_eq!(partners(&[], &[]), (Vec::new(), Vec::new()));
    }
}
