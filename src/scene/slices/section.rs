//! The octants of an octree that a plane passes through, and the polygons in which it cuts them.
//!
//! In: a tree, a plane in its grid. Out: octants (boundary voxels, internal octants) with the polygon of each.

use glam::DVec3;

use crate::svo::{Forest, Key, morton};

/// A plane n · p = at in the grid of an octree, leaf units; n is a unit vector.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// Unit normal.
    pub normal: DVec3,
    /// Distance from the grid's origin along the normal.
    pub at: f64,
}

/// An octant that a plane cuts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutOctant {
    /// Low corner, leaf units.
    pub low: [u32; 3],
    /// Edge, leaf units.
    pub size: u32,
    /// Octree level.
    pub level: u32,
    /// Index of the leaf; `None` in an internal octant.
    pub leaf: Option<u32>,
}

impl Plane {
    /// Whether it passes through a cube: a plane in the face between two cubes belongs to the lower one, which stays when what lies
    /// above the plane is taken away.
    pub(super) fn meets(&self, low: [u32; 3], size: u32) -> bool {
        let low = DVec3::from(low.map(f64::from));
        let reach = f64::from(size) * self.normal;
        let least = self.normal.dot(low) + reach.min(DVec3::ZERO).element_sum();
        let most = self.normal.dot(low) + reach.max(DVec3::ZERO).element_sum();
        least < self.at && self.at <= most
    }

    /// The polygon in which it cuts a cube: up to six corners in order, grid coordinates.
    #[must_use]
    pub fn polygon(&self, low: [u32; 3], size: u32) -> Vec<DVec3> {
        let low = DVec3::from(low.map(f64::from));
        let corner = |k: usize| {
            low + f64::from(size) * DVec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2 & 1) as f64)
        };
        let height = |k: usize| self.normal.dot(corner(k)) - self.at;
        let mut points = Vec::with_capacity(6);
        for axis in 0..3 {
            for from in (0..8).filter(|k| k >> axis & 1 == 0) {
                let to = from | 1 << axis;
                let (a, b) = (height(from), height(to));
                // A corner in the plane belongs to the side above, so each edge is crossed once or not.
                if (a < 0.0) != (b < 0.0) {
                    points.push(corner(from).lerp(corner(to), a / (a - b)));
                }
            }
        }
        let middle = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
        let across = self.normal.any_orthonormal_vector();
        let up = self.normal.cross(across);
        let angle = |p: &DVec3| libm::atan2((*p - middle).dot(up), (*p - middle).dot(across));
        points.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
        points
    }
}

/// Calls `visit` for every octant of tree `tree` that `plane` cuts, in Morton order; internal octants larger than `largest` come
/// in cubes of that size (a power of two).
pub fn section(forest: &Forest, tree: u32, plane: &Plane, largest: u32, visit: &mut impl FnMut(CutOctant)) {
    let mut stack: Vec<(u32, u32, Key)> = vec![(tree, 0, 0)];
    while let Some((index, level, key)) = stack.pop() {
        let Some(node) = forest.nodes.get(index as usize) else { continue };
        let (level, below) = (level + 1, forest.level.saturating_sub(level + 1));
        // The last child is visited first, so that octants come in Morton order: inner ones wait on the stack, too.
        let mut waiting = Vec::with_capacity(8);
        for child in 0..8u32 {
            let key = key << 3 | Key::from(child);
            let (low, size) = (morton::decode(key).map(|v| v << below), 1u32 << below);
            if !plane.meets(low, size) {
                continue;
            }
            if node.valid() >> child & 1 == 1 {
                if below == 0 {
                    visit(CutOctant { low, size, level, leaf: Some(node.child(child)) });
                } else {
                    waiting.push((node.child(child), level, key));
                }
            } else if node.internal() >> child & 1 == 1 {
                split(plane, (low, size, level), largest.max(1), visit);
            }
        }
        stack.extend(waiting.into_iter().rev());
    }
}

/// An internal octant in cubes of at most `largest`.
fn split(
    plane: &Plane,
    (low, size, level): ([u32; 3], u32, u32),
    largest: u32,
    visit: &mut impl FnMut(CutOctant),
) {
    if size <= largest {
        visit(CutOctant { low, size, level, leaf: None });
        return;
    }
    let half = size / 2;
    for child in 0..8u32 {
        let part = [0, 1, 2].map(|k: usize| low[k] + (child >> k & 1) * half);
        if plane.meets(part, half) {
            split(plane, (part, half, level), largest, visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svo::Octant;

    fn vase() -> Forest {
        crate::facade::Object::open("builtin:vase", 5).unwrap().forest.as_ref().clone()
    }

    /// Every cell that the plane passes through, found by asking each cell of the grid, is there once.
    #[test]
    fn a_section_has_the_cells_that_a_search_of_the_grid_finds() {
        let forest = vase();
        let side = 1u32 << forest.level;
        for (normal, at) in [
            (DVec3::Z, 16.0),
            (DVec3::Y, 7.25),
            (DVec3::new(1.0, 2.0, -0.5).normalize(), 20.3),
            (DVec3::NEG_X, -15.0),
        ] {
            let plane = Plane { normal, at };
            let mut found = std::collections::BTreeMap::new();
            section(&forest, 0, &plane, 1, &mut |octant| {
                assert_eq!(octant.size, 1);
                assert_eq!(found.insert(octant.low, octant.leaf), None, "{:?} twice", octant.low);
            });
            let mut expected = std::collections::BTreeMap::new();
            for k in 0..side * side * side {
                let cell = [k % side, k / side % side, k / side / side];
                let heights = (0..8u32).map(|c| {
                    let corner = [0, 1, 2].map(|a: usize| f64::from(cell[a] + (c >> a & 1)));
                    normal.dot(DVec3::from(corner)) - at
                });
                let (least, most) =
                    heights.fold((f64::MAX, f64::MIN), |(a, b), height| (a.min(height), b.max(height)));
                if !(least < 0.0 && most >= 0.0) {
                    continue;
                }
                match forest.octant_at(0, cell) {
                    Octant::Leaf(leaf) => expected.insert(cell, Some(leaf)),
                    Octant::Internal { .. } => expected.insert(cell, None),
                    Octant::Empty { .. } => continue,
                };
            }
            assert!(expected.len() > 50, "{normal}: {}", expected.len());
            assert_eq!(found, expected, "{normal} {at}");
        }
    }

    /// The areas of the polygons of a section of a full cube sum to that of the cube's own section.
    #[test]
    fn polygons_cover_the_section_without_overlap() {
        let area = |points: &[DVec3]| {
            points
                .windows(2)
                .map(|pair| (pair[0] - points[0]).cross(pair[1] - points[0]).length() * 0.5)
                .sum::<f64>()
        };
        // A plane in faces of cubes, too, through which nothing but faces passes.
        let plane = Plane { normal: DVec3::Y, at: 6.0 };
        let (mut count, mut sum) = (0, 0.0);
        split(&plane, ([0; 3], 16, 0), 2, &mut |octant| {
            sum += area(&plane.polygon(octant.low, octant.size));
            count += 1;
        });
        assert_eq!((count, sum), (64, 256.0));
        for normal in
            [DVec3::X, DVec3::new(1.0, 1.0, 1.0), DVec3::new(0.3, -0.9, 0.2), DVec3::new(0.0, 1.0, 1.0)]
        {
            let normal = normal.normalize();
            let plane = Plane { normal, at: normal.dot(DVec3::new(8.1, 7.3, 8.9)) };
            let whole = area(&plane.polygon([0; 3], 16));
            let mut sum = 0.0;
            split(&plane, ([0; 3], 16, 0), 2, &mut |octant| {
                let points = plane.polygon(octant.low, octant.size);
                assert!((3..=6).contains(&points.len()), "{} corners", points.len());
                assert!(points.iter().all(|p| (normal.dot(*p) - plane.at).abs() < 1e-9));
                sum += area(&points);
            });
            assert!((sum - whole).abs() < 1e-9 * whole, "{normal}: {sum} of {whole}");
        }
    }
}
