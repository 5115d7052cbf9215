//! Mass, centre and inertia of one tree from its voxels.
//!
//! In: a forest and the index of a tree. Out: volume, centre of mass and inertia at density 1, in voxels.
//! Leaves count with their coverage (copies are not mass: docs/fracture.md), internal nodes with their cube. Sums
//! run in Morton order in f64, so the same tree gives the same bytes.

use super::box_thickness;
use crate::geometry::Aabb;
use crate::geometry::simd::{Simd, Width, Work};
use crate::svo::{
    Forest, KeySlice, Node,
    morton::{self, Key},
};
use glam::{DMat3, DVec3};

/// Mass properties at density 1, in grid units (voxels); scale by h^3 for volume, h^5 for inertia.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GridMass {
    /// Sum of leaf coverage and of internal cells: volume in voxels.
    pub volume: f64,
    /// Centre of mass, grid coordinates.
    pub centre: DVec3,
    /// Inertia tensor about the centre, axes of the grid.
    pub inertia: DMat3,
    /// Bounds of all voxels, grid coordinates.
    pub bounds: Aabb,
    /// Shortest edge of the box with the same moments, voxels.
    pub thickness: f64,
    /// Leaves plus internal leaf cells.
    pub voxels: u64,
}

/// Coverage of a leaf whose value is missing, zero or NaN, so that a body always has mass.
const LEAST_COVERAGE: f64 = 1e-6;

/// Trees with more leaves are summed by two threads, each of which computes different sums.
const LARGE: usize = 1 << 18;

/// Input of the sums, relative to a reference point near the body, so that there is no cancellation far from the grid's
/// origin.
struct Voxels<'a> {
    forest: &'a Forest,
    tree: usize,
    keys: KeySlice<'a>,
    /// Coverage of leaves; missing entries at the end count as 1.
    coverage: &'a [f32],
    reference: [u32; 3],
    width: Width,
}

/// Four numbers that are added in parallel; each sum is the same as if computed alone.
type Four = [f64; 4];

/// Volume and first moments, if `FIRST`, and second moments, if `SECOND`.
#[derive(Default)]
struct Moments<const FIRST: bool, const SECOND: bool> {
    /// Volume, x, y, z.
    first: Four,
    /// Unused, xx, yy, zz.
    square: Four,
    /// Unused, yz, zx, xy.
    mixed: Four,
    voxels: u64,
    /// Low and high corner of the internal nodes.
    inside: Option<([u32; 3], [u32; 3])>,
}

impl<const FIRST: bool, const SECOND: bool> Moments<FIRST, SECOND> {
    /// Adds a cube with `weight` solid voxels, evenly distributed; `r` is 1 and its centre relative to the reference
    /// point, and `spread` a twelfth of its edge squared.
    #[inline(always)]
    #[expect(clippy::needless_range_loop, reason = "four sums side by side, of several arrays")]
    fn add(&mut self, r: Four, spread: f64, weight: f64) {
        if FIRST {
            for k in 0..4 {
                self.first[k] += weight * r[k];
            }
        }
        if SECOND {
            let (next, after) = ([0.0, r[2], r[3], r[1]], [0.0, r[3], r[1], r[2]]);
            for k in 0..4 {
                self.square[k] += weight * (r[k] * r[k] + spread);
                self.mixed[k] += weight * (next[k] * after[k]);
            }
        }
    }

    /// Sums in Morton order: first leaves, then internal nodes.
    fn of(voxels: &Voxels<'_>) -> Self {
        let mut sum = Self::default();
        sum.leaves(voxels, voxels.keys, voxels.coverage);
        let without = voxels.keys.slice(voxels.coverage.len().min(voxels.keys.len())..voxels.keys.len());
        sum.leaves(voxels, without, &vec![1.0; without.len()]);
        if let Some(root) = voxels.forest.nodes.get(voxels.tree) {
            sum.insides(voxels, *root, 0, [0; 3]);
        }
        sum
    }

    /// 1, and a corner relative to the reference point.
    #[inline(always)]
    fn from_reference(voxels: &Voxels<'_>, low: [u32; 3]) -> Four {
        let [x, y, z] =
            std::array::from_fn(|axis| f64::from(low[axis].wrapping_sub(voxels.reference[axis]) as i32));
        [1.0, x, y, z]
    }

    fn leaves(&mut self, voxels: &Voxels<'_>, keys: KeySlice<'_>, coverage: &[f32]) {
        voxels.width.run(Adding { to: self, voxels, what: Added::Leaves(keys, coverage) });
    }

    #[inline(always)]
    fn leaves_of(&mut self, voxels: &Voxels<'_>, keys: KeySlice<'_>, coverage: &[f32]) {
        // Sixty-four consecutive cells differ only in the last bits of their codes. Sums stay in registers.
        let mut sum = Self { inside: None, voxels: 0, ..*self };
        let (mut block, mut corner) = (Key::MAX, [0.0; 4]);
        for (key, coverage) in keys.iter().zip(coverage) {
            if key >> 6 != block {
                block = key >> 6;
                corner = Self::from_reference(voxels, morton::decode(block << 6));
            }
            let within = &MIDDLES[(key & 63) as usize];
            let r = [corner[0], corner[1] + within[1], corner[2] + within[2], corner[3] + within[3]];
            let coverage = f64::from(*coverage);
            let weight =
                if coverage.is_finite() { coverage.clamp(LEAST_COVERAGE, 1.0) } else { LEAST_COVERAGE };
            sum.add(r, 1.0 / 12.0, weight);
        }
        (self.first, self.square, self.mixed) = (sum.first, sum.square, sum.mixed);
        if FIRST {
            self.voxels += keys.len().min(coverage.len()) as u64;
        }
    }

    /// Adds an internal node of edge `size` with its low corner at `low`.
    #[inline(always)]
    fn inside(&mut self, voxels: &Voxels<'_>, low: [u32; 3], size: u32) {
        if FIRST {
            self.span(low, low.map(|v| v + size));
            self.voxels += u64::from(size).pow(3);
        }
        let edge = f64::from(size);
        let [one, x, y, z] = Self::from_reference(voxels, low);
        let half = 0.5 * edge;
        self.add([one, x + half, y + half, z + half], edge * edge / 12.0, edge.powi(3));
    }

    fn span(&mut self, low: [u32; 3], high: [u32; 3]) {
        let (least, most) = self.inside.get_or_insert((low, high));
        for axis in 0..3 {
            least[axis] = least[axis].min(low[axis]);
            most[axis] = most[axis].max(high[axis]);
        }
    }

    /// All internal nodes below a node, in Morton order: like [`Forest::visit_internal`], without a stack.
    fn insides(&mut self, voxels: &Voxels<'_>, node: Node, level: u32, low: [u32; 3]) {
        let size = 1 << (voxels.forest.level - level - 1);
        let (internal, mut child) = (u32::from(node.internal()), node.child_base as usize);
        if size == 1 {
            self.cells(voxels, internal, low);
            return;
        }
        if size == 2 {
            self.parents(voxels, node, low);
            return;
        }
        let mut octants = internal | u32::from(node.valid());
        while octants != 0 {
            let c = octants.trailing_zeros();
            octants &= octants - 1;
            let low = std::array::from_fn(|axis| low[axis] + size * (c >> axis & 1));
            if internal >> c & 1 == 1 {
                self.inside(voxels, low, size);
            } else {
                self.insides(voxels, voxels.forest.nodes[child], level + 1, low);
                child += 1;
            }
        }
    }

    /// Adds a node whose children are parents of leaves, as most nodes are: sums stay in registers.
    fn parents(&mut self, voxels: &Voxels<'_>, node: Node, low: [u32; 3]) {
        voxels.width.run(Adding { to: self, voxels, what: Added::Cells(node, low) });
    }

    #[inline(always)]
    fn parents_of(&mut self, voxels: &Voxels<'_>, node: Node, low: [u32; 3]) {
        let mut sum = Self { inside: None, voxels: 0, ..*self };
        let (internal, mut child) = (u32::from(node.internal()), node.child_base as usize);
        let mut octants = internal | u32::from(node.valid());
        while octants != 0 {
            let c = octants.trailing_zeros();
            octants &= octants - 1;
            let low = std::array::from_fn(|axis| low[axis] + 2 * (c >> axis & 1));
            if internal >> c & 1 == 1 {
                sum.inside(voxels, low, 2);
            } else {
                sum.cells(voxels, u32::from(voxels.forest.nodes[child].internal()), low);
                child += 1;
            }
        }
        (self.first, self.square, self.mixed) = (sum.first, sum.square, sum.mixed);
        self.voxels += sum.voxels;
        if let Some((low, high)) = sum.inside {
            self.span(low, high);
        }
    }

    /// Internal cells of the leaf level among the eight at `low`.
    #[inline(always)]
    fn cells(&mut self, voxels: &Voxels<'_>, mut cells: u32, low: [u32; 3]) {
        if cells == 0 {
            return;
        }
        if FIRST {
            self.voxels += u64::from(cells.count_ones());
            // Masks of the lower four octants for each axis.
            const LOWER: [u32; 3] = [0x55, 0x33, 0x0f];
            let first = std::array::from_fn(|axis| low[axis] + u32::from(cells & LOWER[axis] == 0));
            let end = std::array::from_fn(|axis| low[axis] + 1 + u32::from(cells & !LOWER[axis] != 0));
            self.span(first, end);
        }
        let corner = Self::from_reference(voxels, low);
        while cells != 0 {
            let within = &MIDDLES[cells.trailing_zeros() as usize];
            cells &= cells - 1;
            let r = [corner[0], corner[1] + within[1], corner[2] + within[2], corner[3] + within[3]];
            self.add(r, 1.0 / 12.0, 1.0);
        }
    }
}

/// Additions in registers for four numbers: not fused, so that sums equal those of single numbers.
struct Adding<'a, const FIRST: bool, const SECOND: bool> {
    to: &'a mut Moments<FIRST, SECOND>,
    voxels: &'a Voxels<'a>,
    what: Added<'a>,
}

enum Added<'a> {
    /// With their coverage.
    Leaves(KeySlice<'a>, &'a [f32]),
    /// The cells below a node whose children are parents of leaves, and its corner.
    Cells(Node, [u32; 3]),
}

impl<const FIRST: bool, const SECOND: bool> Work for Adding<'_, FIRST, SECOND> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        match self.what {
            Added::Leaves(keys, coverage) => self.to.leaves_of(self.voxels, keys, coverage),
            Added::Cells(node, low) => self.to.parents_of(self.voxels, node, low),
        }
    }
}

/// Centres of the cells of a cube of edge 4, by Morton code; the first number is unused.
const MIDDLES: [Four; 64] = {
    let mut middles = [[0.0; 4]; 64];
    let mut key = 0;
    while key < 64 {
        let mut axis = 0;
        while axis < 3 {
            middles[key][axis + 1] = ((key >> axis & 1) | (key >> (axis + 3) & 1) << 1) as f64 + 0.5;
            axis += 1;
        }
        key += 1;
    }
    middles
};

/// Low and high corner of all voxels.
fn bounds(keys: KeySlice<'_>, inside: Option<([u32; 3], [u32; 3])>) -> Aabb {
    // The bits of one coordinate in a code have its order. Most leaves have keys of one word, which halves the work.
    const AXES: [Key; 3] = {
        let (mut x, mut bit) = (0, 0);
        while bit < Key::BITS - 2 {
            x |= 1 << bit;
            bit += 3;
        }
        [x, x << 1, x << 2]
    };
    let (mut least, mut most) = ([Key::MAX; 3], [0; 3]);
    if let Some(words) = keys.words() {
        let axes = AXES.map(|axis| axis as u32);
        let (mut low, mut high) = ([u32::MAX; 3], [0; 3]);
        for word in words {
            for axis in 0..3 {
                low[axis] = low[axis].min(word & axes[axis]);
                high[axis] = high[axis].max(word & axes[axis]);
            }
        }
        (least, most) = (low.map(Key::from), high.map(Key::from));
    } else {
        for key in keys {
            for axis in 0..3 {
                least[axis] = least[axis].min(key & AXES[axis]);
                most[axis] = most[axis].max(key & AXES[axis]);
            }
        }
    }
    let corner = |bits: [Key; 3]| morton::decode(bits[0] | bits[1] | bits[2]);
    let leaves = (!keys.is_empty()).then(|| (corner(least), corner(most).map(|v| v + 1)));
    let (low, high) = match (leaves, inside) {
        (Some((low, high)), Some((inner_low, inner_high))) => (
            std::array::from_fn(|axis| low[axis].min(inner_low[axis])),
            std::array::from_fn(|axis| high[axis].max(inner_high[axis])),
        ),
        (Some(bounds), None) | (None, Some(bounds)) => bounds,
        (None, None) => ([0; 3], [0; 3]),
    };
    Aabb::new(DVec3::from(low.map(f64::from)), DVec3::from(high.map(f64::from)))
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
    if range.start > range.end {
        return GridMass::default();
    }
    let keys = forest.leaves.keys.slice(range.clone());
    let with_coverage = range.start..range.end.min(forest.leaves.coverage.len());
    let coverage = forest.leaves.coverage.get(with_coverage).unwrap_or_default();
    let reference = keys.iter().nth(keys.len() / 2).map_or([0; 3], morton::decode);
    let voxels = Voxels { forest, tree, keys, coverage, reference, width: Width::widest() };
    let (sum, bounds): (Moments<true, true>, _) = if keys.len() > LARGE {
        let ((sum, bounds), second) = rayon::join(
            || {
                let sum = Moments::<true, false>::of(&voxels);
                let bounds = bounds(keys, sum.inside);
                (sum, bounds)
            },
            || Moments::<false, true>::of(&voxels),
        );
        let Moments { first, voxels, inside, .. } = sum;
        (Moments { first, square: second.square, mixed: second.mixed, voxels, inside }, bounds)
    } else {
        let sum = Moments::of(&voxels);
        let bounds = bounds(keys, sum.inside);
        (sum, bounds)
    };
    let [volume, first @ ..] = sum.first;
    if volume <= 0.0 {
        return GridMass::default();
    }
    // Parallel-axis shift of the second moments to the centre.
    let three = |[_, x, y, z]: Four| DVec3::new(x, y, z);
    let mean = DVec3::from(first) / volume;
    let square = three(sum.square) - volume * mean * mean;
    let mixed = three(sum.mixed) - volume * DVec3::new(mean.y * mean.z, mean.z * mean.x, mean.x * mean.y);
    let inertia = DMat3::from_cols(
        DVec3::new(square.y + square.z, -mixed.z, -mixed.y),
        DVec3::new(-mixed.z, square.z + square.x, -mixed.x),
        DVec3::new(-mixed.y, -mixed.x, square.x + square.y),
    );
    GridMass {
        volume,
        centre: DVec3::from(reference.map(f64::from)) + mean,
        inertia,
        bounds,
        thickness: box_thickness(volume, &inertia),
        voxels: sum.voxels,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svo::{LeafColor, Leaves, build, pack_normal};

    fn leaves(keys: Vec<Key>, coverage: f32) -> Leaves {
        let n = keys.len();
        Leaves {
            keys: keys.into(),
            normals: vec![pack_normal(glam::Vec3::Z); n],
            colors: vec![LeafColor::default(); n],
            coverage: vec![coverage; n],
            cuts: Vec::new(),
        }
    }

    /// A block `low..high` whose outer voxels are leaves and whose inner ones are internal.
    fn block(level: u32, low: [u32; 3], high: [u32; 3]) -> Forest {
        let within = |p: [u32; 3], m: u32| (0..3).all(|i| p[i] >= low[i] + m && p[i] + m < high[i]);
        let keys: Vec<Key> = (0..1 << (3 * level))
            .filter(|&k| within(morton::decode(k), 0) && !within(morton::decode(k), 1))
            .collect();
        build(level, leaves(keys, 1.0), &|key: Key, l: u32| {
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
        assert_eq!(m.bounds, Aabb::new(DVec3::new(3.0, 5.0, 8.0), DVec3::new(19.0, 15.0, 29.0)));
    }

    #[test]
    fn one_voxel_and_an_empty_tree_are_sane() {
        let one = build(10, leaves(vec![morton::encode([1000, 3, 77])], 0.25), &|_: Key, _: u32| false);
        let m = grid_mass(&one, 0);
        assert!((m.volume - 0.25).abs() < 1e-12);
        assert!((m.centre - DVec3::new(1000.5, 3.5, 77.5)).length() < 1e-9);
        assert!((m.inertia.determinant() - (0.25f64 / 6.0).powi(3)).abs() < 1e-12);
        let none = build(4, leaves(vec![], 1.0), &|_: Key, _: u32| false);
        assert_eq!(grid_mass(&none, 0), GridMass::default());
        assert_eq!(grid_mass(&none, 7), GridMass::default());
    }

    #[test]
    fn a_coverage_that_is_no_number_still_weighs() {
        let bad = build(4, leaves(vec![5, 9, 100], f32::NAN), &|_: Key, _: u32| false);
        let m = grid_mass(&bad, 0);
        assert!(m.volume > 0.0 && m.centre.is_finite() && m.inertia.determinant() > 0.0);
    }

    /// The sums by definition, voxel by voxel.
    fn plain(forest: &Forest, tree: usize) -> GridMass {
        let range = forest.tree_start[tree] as usize..forest.tree_start[tree + 1] as usize;
        let mut voxels: Vec<([u32; 3], u32, f64)> = range
            .clone()
            .map(|i| (morton::decode(forest.leaves.keys.at(i)), 1, f64::from(forest.leaves.coverage[i])))
            .collect();
        let reference = DVec3::from(voxels[voxels.len() / 2].0.map(f64::from));
        forest.visit_internal(tree, &mut |_, low, size| voxels.push((low, size, f64::from(size).powi(3))));
        let (mut volume, mut first, mut square, mut mixed) = (0.0, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
        let mut bounds = Aabb::NOTHING;
        let mut count = 0;
        for (low, size, weight) in voxels {
            let (low, edge) = (DVec3::from(low.map(f64::from)), f64::from(size));
            let high = low + DVec3::splat(edge);
            bounds = bounds.joined(Aabb::new(low, high));
            let r = (low + high) * 0.5 - reference;
            volume += weight;
            first += weight * r;
            square += weight * (r * r + DVec3::splat(edge * edge / 12.0));
            mixed += weight * DVec3::new(r.y * r.z, r.z * r.x, r.x * r.y);
            count += u64::from(size).pow(3);
        }
        let mean = first / volume;
        let square = square - volume * mean * mean;
        let mixed = mixed - volume * DVec3::new(mean.y * mean.z, mean.z * mean.x, mean.x * mean.y);
        let inertia = DMat3::from_cols(
            DVec3::new(square.y + square.z, -mixed.z, -mixed.y),
            DVec3::new(-mixed.z, square.z + square.x, -mixed.x),
            DVec3::new(-mixed.y, -mixed.x, square.x + square.y),
        );
        let thickness = box_thickness(volume, &inertia);
        GridMass { volume, centre: reference + mean, inertia, bounds, thickness, voxels: count }
    }

    #[test]
    fn sums_are_those_of_one_voxel_after_the_other() {
        let hollow = |level: u32, thick: f64| {
            let middle = DVec3::splat(f64::from(1u32 << level) * 0.45);
            let from_middle = move |key: Key| {
                let cell = DVec3::from(morton::decode(key).map(f64::from)) + 0.5;
                (cell - middle).length() / middle.x - 0.7
            };
            let keys: Vec<Key> =
                (0..1 << (3 * level)).filter(|key| from_middle(*key).abs() < thick).collect();
            let mut leaves = leaves(keys, 1.0);
            // Values whose sums differ in any other order.
            leaves.coverage.iter_mut().enumerate().for_each(|(i, c)| *c = 1.0 / (1.0 + (i % 97) as f32));
            build(level, leaves, &|key: Key, l: u32| {
                let corner = key << (3 * (level - l));
                from_middle(corner) < -thick
            })
        };
        for (level, thick) in [(3, 0.3), (5, 0.1), (6, 0.02), (7, 0.6)] {
            let forest = hollow(level, thick);
            println!("level {level}: {} leaves", forest.leaves.len());
            assert_eq!(forest.leaves.len() > LARGE, level == 7);
            assert_eq!(grid_mass(&forest, 0), plain(&forest, 0));
            let mut backwards = forest.clone();
            backwards.leaves.coverage.reverse();
            assert_ne!(grid_mass(&backwards, 0), plain(&forest, 0));
        }
    }
}
