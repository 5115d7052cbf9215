//! Finds the first voxel on a ray: an ordered traversal of one octree on the CPU, so that a click needs no readback.
//!
//! In: a ray in grid coordinates. Out: the nearest internal node, or boundary voxel whose surface the ray hits, as in
//! the picture.

use glam::DVec3;

use super::Forest;

/// Hit of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoxelHit {
    /// Ray parameter of the surface: hit point = origin + t * direction.
    pub t: f64,
    /// Low corner of the voxel or internal node, leaf units.
    pub cell: [u32; 3],
    /// Its edge length, leaf units (1 for a voxel).
    pub size: u32,
    /// Index of the leaf in the forest; `None` for an internal node.
    pub leaf: Option<u32>,
}

/// The first solid of `tree` on the ray, or `None`. A ray that misses a voxel's planes within the voxel continues.
/// `origin` and `direction` in grid coordinates (voxels).
#[must_use]
pub fn pick_forest(forest: &Forest, tree: u32, origin: DVec3, direction: DVec3) -> Option<VoxelHit> {
    if tree as usize >= forest.trees() || !origin.is_finite() || !direction.is_finite() {
        return None;
    }
    // A direction along an axis must not give 0 * infinity below.
    let safe = |d: f64| if d.abs() < 1e-12 { 1e-12_f64.copysign(d) } else { d };
    let walk = Walk {
        forest,
        origin,
        direction,
        inverse: DVec3::new(safe(direction.x), safe(direction.y), safe(direction.z)).recip(),
    };
    walk.span([0; 3], 1 << forest.level)?;
    walk.descend(tree, 0, [0; 3])
}

/// Distance of `point` from the solid of `tree`, voxels; 0 inside, infinite for an empty tree.
#[must_use]
pub fn distance_to_forest(forest: &Forest, tree: u32, point: DVec3) -> f64 {
    let mut best = f64::INFINITY;
    if (tree as usize) < forest.trees() && point.is_finite() {
        approach(forest, point, (tree, 0, [0; 3]), &mut best);
    }
    best
}

/// Lowers `best` to the distance of the cells below a node, nearest children first.
fn approach(forest: &Forest, point: DVec3, (index, level, low): (u32, u32, [u32; 3]), best: &mut f64) {
    let Some(&node) = forest.nodes.get(index as usize) else { return };
    let half = 1u32 << (forest.level - level - 1);
    let mut order = [(f64::INFINITY, 0); 8];
    for c in (0..8u32).filter(|c| (node.valid() | node.internal()) >> c & 1 == 1) {
        let cell = DVec3::from_array(corner(low, c, half).map(f64::from));
        order[c as usize] = (point.clamp(cell, cell + f64::from(half)).distance(point), c);
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (distance, c) in order {
        if distance >= *best {
            return;
        }
        if node.internal() >> c & 1 == 1 || level + 1 == forest.level {
            *best = distance;
        } else {
            approach(forest, point, (node.child(c), level + 1, corner(low, c, half)), best);
        }
    }
}

struct Walk<'a> {
    forest: &'a Forest,
    origin: DVec3,
    direction: DVec3,
    inverse: DVec3,
}

impl Walk<'_> {
    /// Where the ray enters and leaves a cube, if it does so at t >= 0.
    fn span(&self, low: [u32; 3], size: u32) -> Option<(f64, f64)> {
        let low = DVec3::from_array(low.map(f64::from));
        let a = (low - self.origin) * self.inverse;
        let b = (low + f64::from(size) - self.origin) * self.inverse;
        let (near, far) = (a.min(b).max_element(), a.max(b).min_element());
        (near <= far && far >= 0.0).then_some((near.max(0.0), far))
    }

    fn descend(&self, index: u32, level: u32, low: [u32; 3]) -> Option<VoxelHit> {
        let node = *self.forest.nodes.get(index as usize)?;
        let half = 1u32 << (self.forest.level - level - 1);
        let mut order = [((f64::INFINITY, 0.0), 0); 8];
        let mut count = 0;
        for c in 0..8u32 {
            if (node.valid() | node.internal()) >> c & 1 == 1
                && let Some(span) = self.span(corner(low, c, half), half)
            {
                order[count] = (span, c);
                count += 1;
            }
        }
        order[..count].sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
        for &((t, leave), c) in &order[..count] {
            let cell = corner(low, c, half);
            if node.internal() >> c & 1 == 1 {
                return Some(VoxelHit { t, cell, size: half, leaf: None });
            }
            if level + 1 == self.forest.level {
                let leaf = node.child(c);
                let ray = (self.origin, self.direction);
                if let Some(t) = self.forest.meet_leaf(leaf, cell, ray, (t, leave)) {
                    return Some(VoxelHit { t, cell, size: 1, leaf: Some(leaf) });
                }
            } else if let Some(hit) = self.descend(node.child(c), level + 1, cell) {
                return Some(hit);
            }
        }
        None
    }
}

fn corner([x, y, z]: [u32; 3], c: u32, half: u32) -> [u32; 3] {
    [x + (c & 1) * half, y + (c >> 1 & 1) * half, z + (c >> 2) * half]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svo::{LeafColor, Leaves, build, morton, pack_cut};
    use glam::Vec3;

    /// A 3-level forest with the given voxels, whose planes lie beyond the voxels.
    fn forest(cells: &[[u32; 3]]) -> Forest {
        let mut keys: Vec<_> = cells.iter().map(|c| morton::encode(*c)).collect();
        keys.sort_unstable();
        let n = keys.len();
        let leaves = Leaves {
            keys: keys.into(),
            normals: vec![0; n],
            colors: vec![LeafColor::new([0; 3], false, 0.98); n],
            coverage: vec![1.0; n],
            cuts: vec![0; n],
        };
        build(3, leaves, &|_, _| false)
    }

    #[test]
    fn agrees_with_testing_every_voxel() {
        let cells: Vec<[u32; 3]> =
            (0..512u32).filter(|i| i * 7919 % 11 == 0).map(|i| [i & 7, i >> 3 & 7, i >> 6]).collect();
        let forest = forest(&cells);
        let mut hits = 0;
        for i in 0..500u32 {
            let f = |k: u32| f64::from(i.wrapping_mul(2_654_435_761).rotate_left(k) % 1000) / 1000.0;
            let origin = DVec3::new(f(3) * 20.0 - 6.0, f(9) * 20.0 - 6.0, -5.0);
            let direction = DVec3::new(4.0 + f(17), 4.0 + f(23), 3.0 + f(29) * 9.0) - origin;
            let walk = Walk { forest: &forest, origin, direction, inverse: direction.recip() };
            let nearest =
                cells.iter().filter_map(|c| walk.span(*c, 1)).map(|span| span.0).min_by(f64::total_cmp);
            let found = pick_forest(&forest, 0, origin, direction);
            assert_eq!(found.map(|h| h.t), nearest, "ray {i}");
            hits += usize::from(found.is_some());
        }
        assert!(hits > 200, "{hits} rays hit");
    }

    #[test]
    fn rays_along_axes_and_bad_rays() {
        let forest = forest(&[[3, 4, 5]]);
        let hit = pick_forest(&forest, 0, DVec3::new(3.5, 4.5, -10.0), DVec3::Z).unwrap();
        assert_eq!((hit.cell, hit.size, hit.leaf), ([3, 4, 5], 1, Some(0)));
        assert!((hit.t - 15.0).abs() < 1e-9);
        assert_eq!(pick_forest(&forest, 0, DVec3::new(2.5, 4.5, -10.0), DVec3::Z), None);
        assert_eq!(pick_forest(&forest, 0, DVec3::NAN, DVec3::Z), None);
        assert_eq!(pick_forest(&forest, 7, DVec3::ZERO, DVec3::Z), None);
    }
    #[test]
    fn a_ray_through_what_is_cut_away_goes_on() {
        let mut forest = forest(&[[3, 4, 2], [3, 4, 5]]);
        let cast = |forest: &Forest, x: f64| {
            pick_forest(forest, 0, DVec3::new(x, 4.5, -10.0), DVec3::Z).map(|hit| (hit.cell[2], hit.t))
        };
        assert_eq!(cast(&forest, 3.25), Some((2, 12.0)));
        // The nearer voxel is cut to x > 3.5, the farther one to z > 5.25.
        forest.leaves.cuts[0] = pack_cut(Vec3::NEG_X, 0.0);
        forest.leaves.cuts[1] = pack_cut(Vec3::NEG_Z, 0.25);
        assert_eq!(cast(&forest, 3.75), Some((2, 12.0)));
        let (z, t) = cast(&forest, 3.25).unwrap();
        assert!(z == 5 && (t - 15.25).abs() < 1e-3, "{z} {t}");
        // The voxel's own plane counts, too: nothing lies below this one.
        forest.leaves.colors[1] = LeafColor::new([0; 3], false, -0.5);
        assert_eq!(cast(&forest, 3.25), None);
    }
}
