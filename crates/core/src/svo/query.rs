//! Queries of an octree: the leaf at a cell, whether a cell is inside, and ray casting.
//!
//! All queries descend from a tree's root by the bits of the cell (Domaradzki & Martyn 2016, sec. 3).

use glam::DVec3;

use super::{Forest, morton, unpack_cut, unpack_normal};

/// `RayHit::leaf` of a ray that starts inside the solid.
pub const NO_LEAF: u32 = u32::MAX;

/// Contents of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Octant {
    /// Empty; the empty octant spans `low..low + size`, leaf units.
    Empty {
        /// Low corner.
        low: [u32; 3],
        /// Edge.
        size: u32,
    },
    /// Solid throughout; the internal octant spans `low..low + size`, leaf units.
    Internal {
        /// Low corner.
        low: [u32; 3],
        /// Edge.
        size: u32,
    },
    /// A boundary voxel: index into [`Forest::leaves`].
    Leaf(u32),
}

/// The first boundary voxel on a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// Ray parameter where the ray enters the voxel.
    pub t: f64,
    /// Index into [`Forest::leaves`], or [`NO_LEAF`] when the ray starts inside the solid.
    pub leaf: u32,
    /// The voxel.
    pub cell: [u32; 3],
    /// Where the ray enters the voxel, grid units.
    pub point: DVec3,
}

impl Forest {
    /// The contents of `cell` in tree `tree`; cells outside the grid and missing trees are empty.
    #[must_use]
    pub fn octant_at(&self, tree: usize, cell: [u32; 3]) -> Octant {
        let side = 1u32 << self.level;
        if cell.iter().any(|v| *v >= side) || tree >= self.trees() {
            return Octant::Empty { low: cell, size: 1 };
        }
        let key = morton::encode(cell);
        let mut index = tree as u32;
        for level in 0..self.level {
            let below = self.level - level - 1;
            let c = (key >> (3 * below) & 7) as u32;
            let Some(node) = self.nodes.get(index as usize) else { break };
            if node.valid() >> c & 1 == 0 {
                let (low, size) = (cell.map(|v| v >> below << below), 1 << below);
                let internal = node.internal() >> c & 1 == 1;
                return if internal { Octant::Internal { low, size } } else { Octant::Empty { low, size } };
            }
            index = node.child(c);
        }
        Octant::Leaf(index)
    }

    /// The boundary voxel of `tree` at `cell`, as an index into [`Forest::leaves`].
    #[must_use]
    pub fn leaf_at(&self, tree: usize, cell: [u32; 3]) -> Option<u32> {
        match self.octant_at(tree, cell) {
            Octant::Leaf(leaf) => Some(leaf),
            _ => None,
        }
    }

    /// Whether `cell` lies entirely inside the solid of `tree` (and is no boundary voxel).
    #[must_use]
    pub fn is_internal(&self, tree: usize, cell: [u32; 3]) -> bool {
        matches!(self.octant_at(tree, cell), Octant::Internal { .. })
    }

    /// Where a ray that crosses boundary voxel `leaf` at `cell` from `enter` to `leave` hits the solid, which lies
    /// below the leaf's plane and its cut, if there is one. `None` if the ray misses the solid.
    #[must_use]
    pub fn meet_leaf(
        &self,
        leaf: u32,
        cell: [u32; 3],
        (origin, direction): (DVec3, DVec3),
        (enter, leave): (f64, f64),
    ) -> Option<f64> {
        let leaf = leaf as usize;
        let normal = unpack_normal(*self.leaves.normals.get(leaf)?).as_dvec3();
        let offset = f64::from(self.leaves.colors.get(leaf)?.offset());
        let cut = self.leaves.cuts.get(leaf).copied().and_then(unpack_cut);
        let planes = [Some((normal, offset)), cut.map(|(n, offset)| (n.as_dvec3(), f64::from(offset)))];
        let from_centre = origin + direction * enter - DVec3::from(cell.map(f64::from)) - 0.5;
        let (mut from, mut to) = (enter, leave);
        for (n, offset) in planes.into_iter().flatten() {
            let (height, slope) = (from_centre.dot(n) - offset, direction.dot(n));
            let meets = enter - height / slope;
            if slope < 0.0 {
                from = from.max(meets);
            } else if slope > 0.0 {
                to = to.min(meets);
            } else if slope == 0.0 && height > 0.0 {
                to = f64::NEG_INFINITY;
            }
        }
        (from <= to).then_some(from)
    }

    /// The boundary voxels of `tree` whose centres lie in a ball (grid coordinates), in Morton order.
    #[must_use]
    pub fn leaves_near(&self, tree: usize, middle: DVec3, radius: f64) -> Vec<[u32; 3]> {
        let mut found = Vec::new();
        if tree < self.trees() {
            self.descend_near((tree as u32, 0, [0; 3]), (middle, radius * radius), &mut found);
        }
        found
    }

    fn descend_near(
        &self,
        (index, level, low): (u32, u32, [u32; 3]),
        ball: (DVec3, f64),
        found: &mut Vec<[u32; 3]>,
    ) {
        if level == self.level {
            let centre = DVec3::from_array(low.map(f64::from)) + 0.5;
            if centre.distance_squared(ball.0) <= ball.1 {
                found.push(low);
            }
            return;
        }
        let Some(node) = self.nodes.get(index as usize) else { return };
        let size = 1u32 << (self.level - level - 1);
        for c in (0..8u32).filter(|c| node.valid() >> c & 1 == 1) {
            let corner = std::array::from_fn(|axis| low[axis] + (c >> axis & 1) * size);
            let from = DVec3::from_array(corner.map(f64::from));
            let nearest = ball.0.clamp(from, from + f64::from(size));
            if nearest.distance_squared(ball.0) <= ball.1 {
                self.descend_near((node.child(c), level + 1, corner), ball, found);
            }
        }
    }

    /// Centres of about `most` boundary voxels of `tree`, grid coordinates, evenly spread in Morton order.
    pub fn sample_points(&self, tree: usize, most: usize) -> impl Iterator<Item = glam::Vec3> {
        let range = match (self.tree_start.get(tree), self.tree_start.get(tree + 1)) {
            (Some(&start), Some(&end)) => start as usize..end as usize,
            _ => 0..0,
        };
        let end = range.end.min(self.leaves.len());
        let keys = self.leaves.keys.slice(range.start.min(end)..end);
        let step = (keys.len() / most.max(1)).max(1);
        keys.iter().step_by(step).map(|key| glam::Vec3::from(morton::decode(key).map(|v| v as f32 + 0.5)))
    }

    /// The volume of `tree` in voxels: its leaves' coverage plus its internal cells.
    #[must_use]
    pub fn solid_voxels(&self, tree: usize) -> f64 {
        let (Some(&start), Some(&end)) = (self.tree_start.get(tree), self.tree_start.get(tree + 1)) else {
            return 0.0;
        };
        let leaves = &self.leaves.coverage[start as usize..end as usize];
        let mut volume = leaves.iter().map(|c| f64::from(*c)).sum::<f64>();
        self.visit_internal(tree, &mut |_, _, size| volume += f64::from(size).powi(3));
        volume
    }
}

/// Follows a ray through `tree` to the first boundary voxel (or the starting cell, if that is inside the solid).
/// `direction` need not be a unit vector; `t` is in multiples of it, from 0 to `max_t`.
#[must_use]
pub fn ray_cast(
    forest: &Forest,
    tree: usize,
    origin_in_grid: DVec3,
    direction: DVec3,
    max_t: f64,
) -> Option<RayHit> {
    let (origin, along) = (origin_in_grid.to_array(), direction.to_array());
    if !origin_in_grid.is_finite() || !direction.is_finite() || direction == DVec3::ZERO {
        return None;
    }
    let side = 1i64 << forest.level;
    let (mut t, mut leave) = (0f64, max_t);
    for (from, step) in origin.into_iter().zip(along) {
        if step == 0.0 {
            if from < 0.0 || from >= side as f64 {
                return None;
            }
            continue;
        }
        let (a, b) = (-from / step, (side as f64 - from) / step);
        t = t.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    if t > leave {
        return None;
    }
    // A point on a plane between two cells belongs to the one that the ray enters.
    let cell_of = |axis: usize, v: f64| {
        let low = v.floor();
        let cell = if v == low && along[axis] < 0.0 { low - 1.0 } else { low };
        (cell as i64).clamp(0, side - 1)
    };
    let mut cell: [i64; 3] = std::array::from_fn(|axis| cell_of(axis, origin[axis] + along[axis] * t));
    let hit =
        |leaf: u32, cell: [u32; 3], t: f64| RayHit { t, leaf, cell, point: origin_in_grid + direction * t };
    loop {
        let here = cell.map(|v| v as u32);
        let (low, size) = match forest.octant_at(tree, here) {
            Octant::Leaf(leaf) => return Some(hit(leaf, here, t)),
            Octant::Internal { .. } => return Some(hit(NO_LEAF, here, t)),
            Octant::Empty { low, size } => (low.map(i64::from), i64::from(size)),
        };
        // Leaves through the nearest far plane. The crossed axis moves by whole cells, so the traversal always
        // advances.
        let far = |axis: usize| if along[axis] > 0.0 { low[axis] + size } else { low[axis] };
        let exits: [f64; 3] = std::array::from_fn(|axis| {
            if along[axis] == 0.0 { f64::INFINITY } else { (far(axis) as f64 - origin[axis]) / along[axis] }
        });
        let through = (0..3).min_by(|a, b| exits[*a].total_cmp(&exits[*b])).unwrap_or(0);
        t = exits[through].max(t);
        if t > max_t {
            return None;
        }
        cell = std::array::from_fn(|axis| {
            if axis == through {
                if along[axis] > 0.0 { low[axis] + size } else { low[axis] - 1 }
            } else {
                cell_of(axis, origin[axis] + along[axis] * t).clamp(low[axis], low[axis] + size - 1)
            }
        });
        if !(0..side).contains(&cell[through]) {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svo::{LeafColor, Leaves, build};

    /// A hollow ball: leaves where the distance to its centre is near `radius`, internal cells inside.
    fn ball(level: u32) -> Forest {
        let side = 1u32 << level;
        let radius = f64::from(side) * 0.35;
        let distance = |cell: [u32; 3]| {
            (DVec3::from_array(cell.map(|v| f64::from(v) + 0.5)) - DVec3::splat(f64::from(side) / 2.0))
                .length()
                - radius
        };
        let mut keys: Vec<morton::Key> =
            (0..1 << (3 * level)).filter(|key| distance(morton::decode(*key)).abs() < 0.87).collect();
        keys.sort_unstable();
        let n = keys.len();
        let leaves = Leaves {
            keys: keys.into(),
            normals: vec![0; n],
            colors: vec![LeafColor::default(); n],
            coverage: vec![0.5; n],
            cuts: Vec::new(),
        };
        build(level, leaves, &|key: morton::Key, l: u32| {
            let shift = level - l;
            distance(morton::decode(key << (3 * shift))) < 0.0
        })
    }

    #[test]
    fn descending_finds_every_leaf_and_the_inside() {
        let forest = ball(5);
        let mut internal = 0;
        for key in 0..1 << 15 {
            let cell = morton::decode(key);
            let expected = forest.leaves.keys.binary_search(key).ok().map(|i| i as u32);
            assert_eq!(forest.leaf_at(0, cell), expected, "{cell:?}");
            internal += u32::from(forest.is_internal(0, cell));
        }
        let sampled: Vec<_> = forest.sample_points(0, 100).collect();
        assert!((100..200).contains(&sampled.len()), "{}", sampled.len());
        for p in sampled {
            assert!(forest.leaf_at(0, p.to_array().map(|v| v as u32)).is_some(), "{p}");
        }
        assert_eq!(forest.sample_points(1, 100).count(), 0);
        let mut counted = 0;
        forest.for_each_internal(|_, _, size| counted += size.pow(3));
        assert!(internal > 3000, "{internal}");
        assert_eq!(internal, counted);
        assert_eq!(forest.leaf_at(0, [32, 0, 0]), None);
        assert_eq!(forest.leaf_at(1, [16, 16, 16]), None);
        let expected = f64::from(internal) + forest.leaves.len() as f64 * 0.5;
        assert!((forest.solid_voxels(0) - expected).abs() < 1e-6);
    }

    /// Every cell on the ray, from its intersections with all grid planes; `None` if it only grazes.
    fn march(forest: &Forest, origin: DVec3, direction: DVec3) -> Option<[u32; 3]> {
        let side = f64::from(1 << forest.level);
        let mut stops = vec![0.0];
        for axis in 0..3 {
            if direction[axis] != 0.0 {
                stops
                    .extend((0..=1 << forest.level).map(|k| (f64::from(k) - origin[axis]) / direction[axis]));
            }
        }
        stops.retain(|t| *t >= 0.0);
        stops.sort_by(f64::total_cmp);
        stops.windows(2).find_map(|pair| {
            let p = origin + direction * ((pair[0] + pair[1]) / 2.0);
            if p.min_element() < 0.0 || p.max_element() >= side {
                return None;
            }
            let cell = p.to_array().map(|v| v as u32);
            (!matches!(forest.octant_at(0, cell), Octant::Empty { .. })).then_some(cell)
        })
    }

    #[test]
    fn rays_meet_what_a_march_meets() {
        use rand::{RngExt, SeedableRng};
        let forest = ball(5);
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let (mut hits, mut from_inside) = (0, 0);
        for i in 0..4000 {
            let mut random = |scale: f64| {
                DVec3::new(rng.random::<f64>() - 0.5, rng.random::<f64>() - 0.5, rng.random::<f64>() - 0.5)
                    * scale
            };
            let origin = random(60.0) + DVec3::splat(16.0);
            let mut direction = random(1.0);
            if i % 3 == 0 {
                direction += (DVec3::splat(16.0) - origin) * 0.2;
            }
            if i % 5 == 0 {
                direction[i % 3] = 0.0;
            }
            if i % 10 == 0 {
                direction[(i + 1) % 3] = 0.0;
            }
            let expected = march(&forest, origin, direction);
            let found = ray_cast(&forest, 0, origin, direction, f64::INFINITY);
            assert_eq!(found.map(|hit| hit.cell), expected, "{origin} {direction}");
            if let Some(hit) = found {
                hits += 1;
                from_inside += u32::from(hit.leaf == NO_LEAF);
                assert!((hit.point - origin - direction * hit.t).length() < 1e-9);
                let low = DVec3::from_array(hit.cell.map(f64::from));
                assert!(
                    (hit.point - low).min_element() > -1e-9 && (hit.point - low).max_element() < 1.0 + 1e-9
                );
                assert!(hit.leaf == NO_LEAF || forest.leaf_at(0, hit.cell) == Some(hit.leaf));
                if hit.t > 0.0 {
                    assert_eq!(ray_cast(&forest, 0, origin, direction, hit.t * 0.999), None);
                }
            }
        }
        assert!(hits > 1000 && from_inside > 50, "{hits} {from_inside}");
    }

    #[test]
    fn rays_that_miss_or_make_no_sense_hit_nothing() {
        let forest = ball(4);
        let middle = DVec3::splat(8.0);
        assert_eq!(ray_cast(&forest, 0, middle, DVec3::ZERO, 1e9), None);
        assert_eq!(ray_cast(&forest, 0, DVec3::NAN, DVec3::X, 1e9), None);
        assert_eq!(ray_cast(&forest, 0, DVec3::new(-5.0, 99.0, 0.0), DVec3::X, 1e9), None);
        assert_eq!(ray_cast(&forest, 0, DVec3::new(20.0, 8.0, 8.0), DVec3::X, 1e9), None);
        let hit = ray_cast(&forest, 0, DVec3::new(20.0, 8.0, 8.0), DVec3::NEG_X, 1e9).expect("hits the ball");
        assert_eq!(hit.cell[1..], [8, 8]);
        assert_eq!(ray_cast(&Forest::default(), 0, middle, DVec3::X, 1e9), None);
    }
}
