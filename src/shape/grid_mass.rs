//! Mass, centre and inertia of one tree from its voxels.
//!
//! In: a forest and the index of a tree. Out: volume, centre of mass and inertia at density 1, in voxels.
//! Leaves count with their coverage (copies are not mass: docs/fracture.md), internal nodes with their cube. Sums
//! run in Morton order in f64, so the same tree gives the same bytes.

use super::box_thickness;
use crate::svo::{Forest, morton};
use glam::{DMat3, DVec3};

/// At density 1, in grid units (voxels); scale by h^3 for volume, h^5 for inertia.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GridMass {
    /// Sum of leaf coverage and of internal cells: volume in voxels.
    pub volume: f64,
    /// Centre of mass, grid coordinates.
    pub centre: DVec3,
    /// Inertia tensor about the centre, axes of the grid.
    pub inertia: DMat3,
    /// Bounds of all voxels, grid coordinates (low, high).
    pub bounds: (DVec3, DVec3),
    /// Shortest edge of the box with the same moments, voxels.
    pub thickness: f64,
    /// Leaves plus internal leaf cells.
    pub voxels: u64,
}

/// A leaf whose coverage is missing, zero or no number still weighs this much, so that a body always has mass.
const LEAST_COVERAGE: f64 = 1e-6;

/// Sums about a reference point near the body, so that nothing cancels far from the grid's origin.
#[derive(Default)]
struct Moments {
    volume: f64,
    first: DVec3,
    /// xx, yy, zz.
    square: DVec3,
    /// yz, zx, xy.
    mixed: DVec3,
    low: DVec3,
    high: DVec3,
    voxels: u64,
}

impl Moments {
    /// Adds a cube of edge `size` whose low corner is `low`, of which `weight` voxels are solid, spread evenly.
    fn add(&mut self, low: [u32; 3], size: u32, weight: f64, reference: DVec3) {
        let low = DVec3::from(low.map(f64::from));
        let edge = f64::from(size);
        let high = low + DVec3::splat(edge);
        (self.low, self.high) =
            if self.voxels == 0 { (low, high) } else { (self.low.min(low), self.high.max(high)) };
        let r = (low + high) * 0.5 - reference;
        self.volume += weight;
        self.first += weight * r;
        self.square += weight * (r * r + DVec3::splat(edge * edge / 12.0));
        self.mixed += weight * DVec3::new(r.y * r.z, r.z * r.x, r.x * r.y);
        self.voxels += u64::from(size).pow(3);
    }
}

/// Sums over `tree`'s leaves (weighted by coverage) and internal nodes. An empty or missing tree gives all zeros.
///
/// Every voxel brings the inertia of its own cube, so even a single voxel has a positive-definite tensor.
#[must_use]
pub fn grid_mass(forest: &Forest, tree: usize) -> GridMass {
    let (Some(&first), Some(&end)) = (forest.tree_start.get(tree), forest.tree_start.get(tree + 1)) else {
        return GridMass::default();
    };
    let range = first as usize..(end as usize).min(forest.leaves.len());
    let Some(keys) = forest.leaves.keys.get(range.clone()) else {
        return GridMass::default();
    };
    let reference =
        keys.get(keys.len() / 2).map_or(DVec3::ZERO, |&key| DVec3::from(morton::decode(key).map(f64::from)));
    let mut sum = Moments::default();
    for (i, &key) in range.zip(keys) {
        let coverage = forest.leaves.coverage.get(i).map_or(1.0, |&c| f64::from(c));
        let weight = if coverage.is_finite() { coverage.clamp(LEAST_COVERAGE, 1.0) } else { LEAST_COVERAGE };
        sum.add(morton::decode(key), 1, weight, reference);
    }
    forest.visit_internal(tree, &mut |_, low, size| {
        sum.add(low, size, f64::from(size).powi(3), reference);
    });
    if sum.volume <= 0.0 {
        return GridMass::default();
    }
    // Parallel-axis shift of the second moments to the centre.
    let mean = sum.first / sum.volume;
    let square = sum.square - sum.volume * mean * mean;
    let mixed = sum.mixed - sum.volume * DVec3::new(mean.y * mean.z, mean.z * mean.x, mean.x * mean.y);
    let inertia = DMat3::from_cols(
        DVec3::new(square.y + square.z, -mixed.z, -mixed.y),
        DVec3::new(-mixed.z, square.z + square.x, -mixed.x),
        DVec3::new(-mixed.y, -mixed.x, square.x + square.y),
    );
    GridMass {
        volume: sum.volume,
        centre: reference + mean,
        inertia,
        bounds: (sum.low, sum.high),
        thickness: box_thickness(sum.volume, &inertia),
        voxels: sum.voxels,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svo::{LeafColor, Leaves, build, pack_normal};

    fn leaves(keys: Vec<u32>, coverage: f32) -> Leaves {
        let n = keys.len();
        Leaves {
            keys,
            normals: vec![pack_normal(glam::Vec3::Z); n],
            colors: vec![LeafColor::default(); n],
            coverage: vec![coverage; n],
            cuts: Vec::new(),
        }
    }

    /// A block `low..high` whose outer voxels are leaves and whose inside is internal.
    fn block(level: u32, low: [u32; 3], high: [u32; 3]) -> Forest {
        let within = |p: [u32; 3], m: u32| (0..3).all(|i| p[i] >= low[i] + m && p[i] + m < high[i]);
        let keys: Vec<u32> = (0..1u32 << (3 * level))
            .filter(|&k| within(morton::decode(k), 0) && !within(morton::decode(k), 1))
            .collect();
        build(level, leaves(keys, 1.0), &|key: u32, l: u32| {
            within(morton::decode(key << (3 * (level - l))), 1)
        })
    }

    #[test]
    fn a_block_has_the_inertia_of_a_cuboid() {
        let forest = block(5, [3, 5, 8], [19, 15, 29]);
        let m = grid_mass(&forest, 0);
        let (a, b, c) = (16.0, 10.0, 21.0);
        let v = a * b * c;
        let want = DVec3::new(b * b + c * c, a * a + c * c, a * a + b * b) * v / 12.0;
        println!("volume {} inertia {:?} want {want}", m.volume, m.inertia);
        assert!((m.volume - v).abs() < 1e-9 && m.voxels == v as u64);
        assert!((m.centre - DVec3::new(11.0, 10.0, 18.5)).length() < 1e-9);
        for i in 0..3 {
            assert!((m.inertia.col(i)[i] / want[i] - 1.0).abs() < 1e-9);
            assert!(m.inertia.col(i)[(i + 1) % 3].abs() < 1e-6);
        }
        assert_eq!(m.bounds, (DVec3::new(3.0, 5.0, 8.0), DVec3::new(19.0, 15.0, 29.0)));
    }

    #[test]
    fn one_voxel_and_an_empty_tree_are_sane() {
        let one = build(10, leaves(vec![morton::encode([1000, 3, 77])], 0.25), &|_: u32, _: u32| false);
        let m = grid_mass(&one, 0);
        assert!((m.volume - 0.25).abs() < 1e-12);
        assert!((m.centre - DVec3::new(1000.5, 3.5, 77.5)).length() < 1e-9);
        assert!((m.inertia.determinant() - (0.25f64 / 6.0).powi(3)).abs() < 1e-12);
        let none = build(4, leaves(vec![], 1.0), &|_: u32, _: u32| false);
        assert_eq!(grid_mass(&none, 0), GridMass::default());
        assert_eq!(grid_mass(&none, 7), GridMass::default());
    }

    #[test]
    fn a_coverage_that_is_no_number_still_weighs() {
        let bad = build(4, leaves(vec![5, 9, 100], f32::NAN), &|_: u32, _: u32| false);
        let m = grid_mass(&bad, 0);
        assert!(m.volume > 0.0 && m.centre.is_finite() && m.inertia.determinant() > 0.0);
    }
}
