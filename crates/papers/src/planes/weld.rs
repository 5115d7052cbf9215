//! Points that are the same to within a distance.

use glam::DVec3;
use std::collections::BTreeMap;

/// For each point the index of the first one that it is the same as: itself, or one nearer than `distance` that is the
/// same as no earlier.
pub(super) fn first_within(points: &[DVec3], distance: f64) -> Vec<u32> {
    let cell = |p: DVec3| (p / distance).floor().to_array().map(|v| v as i64);
    let mut firsts: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
    let mut same = Vec::with_capacity(points.len());
    for (index, point) in (0u32..).zip(points) {
        let [x, y, z] = cell(*point);
        let around = (0..27).flat_map(|k| firsts.get(&[x - 1 + k % 3, y - 1 + k / 3 % 3, z - 1 + k / 9]));
        let is_near = |first: &&u32| points[**first as usize].distance_squared(*point) <= distance * distance;
        let first = around.flatten().filter(is_near).min().copied().unwrap_or(index);
        if first == index {
            firsts.entry([x, y, z]).or_default().push(index);
        }
        same.push(first);
    }
    same
}
