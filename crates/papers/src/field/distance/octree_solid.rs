//! Nearest-surface queries of one tree of a forest.
//!
//! In: points in voxels. Out: whether they are inside by the leaves, and the nearest point of the leaves' polygons. The
//! surface of a leaf without a polygon (its plane only touches the voxel) are the faces of its voxel towards empty
//! space. The octree is its own index: no other structure is built.
//!
//! # The direction out of the solid beside a surface that was smooth before it was made of voxels
//!
//! A leaf's normal is the mean of the triangles in its voxel, so that directions to the nearest polygon jump from leaf
//! to leaf. Two balls that meet head on would be deflected. So a quadric is fitted to the planes of the leaves round
//! the foot, each at its point nearest to its voxel's middle, by least squares with weights that fall to zero with
//! distance and with the angle between the normals (moving least squares; Lancaster & Salkauskas 1981, Mathematics of
//! Computation 37). Leaves of another orientation, as behind an edge, are ignored. If too few leaves remain, the
//! direction is the geometric one.

use std::sync::Arc;

use glam::{DVec2, DVec3};

use super::leaf::{Foot, Leaf, LeafPlane};
use crate::svo::{Forest, Node, Octant};

/// A plane that passes this near to the far corner of its voxel has no polygon to speak of, voxels.
const TOUCHES: f64 = 1e-3;

/// Bits in which octants differ from the one that a point lies towards, in the order of their distance from
/// it.
const BY_DISTANCE: [u32; 8] = [0, 1, 2, 4, 3, 5, 6, 7];

/// Square of the distance from an octant.
fn total(apart: &[[f64; 2]; 3], octant: u32) -> f64 {
    (0..3).map(|axis| apart[axis][(octant >> axis & 1) as usize]).sum()
}

/// Normals with a larger part along an axis are those of a voxel's face.
const FACE_ON: f64 = 1.0 - 1e-6;

/// One tree of a forest.
#[derive(Clone, Debug)]
pub struct OctreeSolid {
    forest: Arc<Forest>,
    tree: u32,
}

/// A cube of cells: index of its node (of its leaf, at the leaf level), level, low corner in voxels.
#[derive(Clone, Copy)]
pub(super) struct Cube {
    index: u32,
    level: u32,
    low: [u32; 3],
}

/// Content of an octant.
pub(super) enum Below {
    /// Surface.
    Surface(Cube),
    /// Wholly solid.
    Solid(Cube),
}

impl OctreeSolid {
    /// Tree `tree` of `forest`.
    #[must_use]
    pub fn new(forest: &Arc<Forest>, tree: u32) -> Self {
        Self { forest: Arc::clone(forest), tree }
    }

    /// Whether a point (voxels) is solid.
    #[must_use]
    pub fn inside(&self, p: DVec3) -> bool {
        let Some(cell) = self.cell_of(p) else { return false };
        match self.forest.octant_at(self.tree as usize, cell) {
            Octant::Empty { .. } => false,
            Octant::Internal { .. } => true,
            Octant::Leaf(leaf) => {
                Leaf::at(&self.forest, leaf as usize, cell).is_some_and(|leaf| leaf.holds(p))
            }
        }
    }

    /// The voxel that a point lies in, where the grid has one.
    fn cell_of(&self, p: DVec3) -> Option<[u32; 3]> {
        let side = f64::from(1u32 << self.forest.level);
        let is_there = p.cmpge(DVec3::ZERO).all() && p.cmplt(DVec3::splat(side)).all();
        is_there.then(|| p.as_uvec3().to_array())
    }

    /// The point of the surface nearest to `p`, where it is nearer than `within`; of equally near ones the
    /// first in the order of the descent.
    #[must_use]
    pub fn nearest(&self, p: DVec3, within: f64) -> Option<Foot> {
        self.nearest_until(p, within, 0.0)
    }

    /// Like [`Self::nearest`], but returns the first point no farther than `enough`, if there is one: enough for a test
    /// whether the surface is that near.
    #[must_use]
    pub fn nearest_until(&self, p: DVec3, within: f64, enough: f64) -> Option<Foot> {
        let mut best = None;
        if p.is_finite() && within > 0.0 {
            self.nearest_below(self.root(), p, (within, enough), &mut best);
        }
        best
    }

    /// The point nearest to `p` of the surface in the voxel that `q` lies in, where it is nearer than `within`.
    pub(super) fn nearest_in_voxel(&self, q: DVec3, p: DVec3, within: f64) -> Option<Foot> {
        let low = self.cell_of(q)?;
        let Octant::Leaf(index) = self.forest.octant_at(self.tree as usize, low) else { return None };
        self.nearest_of_leaf(Cube { index, level: self.forest.level, low }, p, within)
    }

    pub(super) fn root(&self) -> Cube {
        Cube { index: self.tree, level: 0, low: [0; 3] }
    }

    fn nearest_below(&self, cube: Cube, p: DVec3, (within, enough): (f64, f64), best: &mut Option<Foot>) {
        let Some(node) = self.forest.nodes.get(cube.index as usize) else { return };
        let apart = self.halves_apart(cube, p);
        let nearest = (0..3).map(|axis| u32::from(apart[axis][1] < apart[axis][0]) << axis).sum::<u32>();
        // The octant that the point lies towards first: what is found there rules most others out.
        for octant in BY_DISTANCE.map(|flip| nearest ^ flip) {
            let bound = match best {
                Some(foot) if foot.distance <= enough => return,
                Some(foot) => foot.distance,
                None => within,
            };
            if node.valid() >> octant & 1 == 0 || total(&apart, octant) >= bound * bound {
                continue;
            }
            let child = self.child(cube, *node, octant);
            if child.level < self.forest.level {
                self.nearest_below(child, p, (within, enough), best);
            } else if let Some(foot) = self.nearest_of_leaf(child, p, bound) {
                *best = Some(foot);
            }
        }
    }

    /// Squares of how far `p` is from the low and from the high half of a cube along each axis.
    fn halves_apart(&self, cube: Cube, p: DVec3) -> [[f64; 2]; 3] {
        let half = f64::from(self.size(cube.level + 1));
        std::array::from_fn(|axis| {
            let from_low = p[axis] - f64::from(cube.low[axis]);
            let apart = |from: f64| (-from).max(from - half).max(0.0);
            [apart(from_low), apart(from_low - half)].map(|apart| apart * apart)
        })
    }

    /// Edge of a cube of `level`, voxels.
    pub(super) fn size(&self, level: u32) -> u32 {
        1 << self.forest.level.saturating_sub(level)
    }

    fn child(&self, cube: Cube, node: Node, octant: u32) -> Cube {
        let half = self.size(cube.level + 1);
        let low = std::array::from_fn(|axis| cube.low[axis] + (octant >> axis & 1) * half);
        Cube { index: node.child(octant), level: cube.level + 1, low }
    }

    fn nearest_of_leaf(&self, cube: Cube, p: DVec3, within: f64) -> Option<Foot> {
        let leaf = Leaf::at(&self.forest, cube.index as usize, cube.low)?;
        let found = leaf.nearest(p, within);
        let normal = leaf.plane.normal.abs();
        // The polygon only touches a corner or an edge; a plane in a face of the voxel is that face.
        let touches =
            leaf.plane.offset >= 0.5 * normal.element_sum() - TOUCHES && normal.max_element() < FACE_ON;
        if found.is_some() || !touches || leaf.polygons().iter().any(Option::is_some) {
            return found;
        }
        self.nearest_of_faces(cube, p, within)
    }

    /// The nearest point of those faces of a solid voxel that border on empty space.
    fn nearest_of_faces(&self, cube: Cube, p: DVec3, within: f64) -> Option<Foot> {
        let mut best: Option<Foot> = None;
        let low = DVec3::from(cube.low.map(f64::from));
        for (axis, far) in (0..3).flat_map(|axis| [(axis, false), (axis, true)]) {
            let mut beyond = cube.low;
            beyond[axis] = if far { beyond[axis] + 1 } else { beyond[axis].wrapping_sub(1) };
            if !matches!(self.forest.octant_at(self.tree as usize, beyond), Octant::Empty { .. }) {
                continue;
            }
            let mut point = p.clamp(low, low + 1.0);
            point[axis] = low[axis] + if far { 1.0 } else { 0.0 };
            let distance = point.distance(p);
            if distance < best.map_or(within, |foot| foot.distance) {
                let mut normal = DVec3::ZERO;
                normal[axis] = if far { 1.0 } else { -1.0 };
                best = Some(Foot { point, normal, distance });
            }
        }
        best
    }

    /// Calls `visit` for every leaf whose voxel comes within `radius` of `p`, with the voxel's middle and the
    /// leaf's own plane, in the forest's order.
    pub fn planes_near(&self, p: DVec3, radius: f64, visit: &mut impl FnMut(DVec3, LeafPlane)) {
        if p.is_finite() {
            self.planes_near_below(self.root(), p, radius, visit);
        }
    }

    fn planes_near_below(&self, cube: Cube, p: DVec3, radius: f64, visit: &mut impl FnMut(DVec3, LeafPlane)) {
        let Some(node) = self.forest.nodes.get(cube.index as usize) else { return };
        let apart = self.halves_apart(cube, p);
        for octant in (0..8).filter(|octant| node.valid() >> octant & 1 == 1) {
            if total(&apart, octant) > radius * radius {
                continue;
            }
            let child = self.child(cube, *node, octant);
            if child.level < self.forest.level {
                self.planes_near_below(child, p, radius, visit);
            } else if let Some(plane) = LeafPlane::of(&self.forest, child.index as usize) {
                visit(DVec3::from(child.low.map(f64::from)) + 0.5, plane);
            }
        }
    }

    /// Contents of the octants of a cube above the leaf level.
    pub(super) fn below(&self, cube: Cube) -> impl Iterator<Item = Below> + '_ {
        let node = self.forest.nodes.get(cube.index as usize).copied().unwrap_or_default();
        (0..8).filter_map(move |octant| {
            if node.valid() >> octant & 1 == 1 {
                return Some(Below::Surface(self.child(cube, node, octant)));
            }
            let is_solid = node.internal() >> octant & 1 == 1;
            is_solid.then(|| Below::Solid(self.child(cube, node, octant)))
        })
    }

    /// The leaves of a cube above or at the leaf level.
    pub(super) fn any_leaf(&self, cube: Cube, holds: &impl Fn(usize) -> bool) -> bool {
        if cube.level >= self.forest.level {
            return holds(cube.index as usize);
        }
        self.below(cube).any(|below| matches!(below, Below::Surface(child) if self.any_leaf(child, holds)))
    }

    /// Its forest.
    pub(super) fn forest(&self) -> &Forest {
        &self.forest
    }
}

impl Cube {
    pub(super) fn level(self) -> u32 {
        self.level
    }

    /// Low corner, voxels.
    pub(super) fn low(self) -> [u32; 3] {
        self.low
    }
}

/// Leaves count up to this distance from the foot, voxels.
const REACH: f64 = 4.0;
/// Cosines between normals: leaves below the first are ignored, leaves above the second have full weight.
const AGREES: [f64; 2] = [0.7, 0.9];
/// Leaves off the foot's own plane by more than this share of the reach belong to another sheet.
const OFF_SHEET: f64 = 0.5;
/// Below this distance from the surface the vector to the foot is too short for a direction, voxels.
const TOO_NEAR: f64 = 0.25;
/// Fewer leaves do not determine a quadric.
const FEWEST: usize = 8;
/// Damps curvatures that the leaves do not determine.
const DAMPING: f64 = 1e-6;

/// The direction out at a foot of `p`: along the vector from `p` to the foot, or against it if `p` is outside; the
/// normal of the surface if the vector has no length.
#[must_use]
pub fn geometric(p: DVec3, foot: &Foot) -> DVec3 {
    let way = (foot.point - p).normalize_or(foot.normal);
    let out = if way.dot(foot.normal) < 0.0 { -way } else { way };
    out.normalize_or(DVec3::Z)
}

/// The direction out at a foot of `p` on the leaves of an octree.
#[must_use]
pub fn outward(octree: &OctreeSolid, p: DVec3, foot: &Foot) -> DVec3 {
    let way = if foot.distance < TOO_NEAR { foot.normal.normalize_or(DVec3::Z) } else { geometric(p, foot) };
    let (t, u) = way.any_orthonormal_pair();
    let mut sums = Sums::default();
    octree.planes_near(foot.point, REACH, &mut |middle, plane| {
        let from_foot = middle + plane.normal * plane.offset - foot.point;
        let share = from_foot.length_squared() / (REACH * REACH);
        let agrees = (plane.normal.dot(way) - AGREES[0]) / (AGREES[1] - AGREES[0]);
        let height = from_foot.dot(way);
        if share < 1.0 && agrees > 0.0 && height.abs() < OFF_SHEET * REACH {
            let weight = (1.0 - share) * (1.0 - share) * agrees.min(1.0);
            sums.add(DVec2::new(from_foot.dot(t), from_foot.dot(u)) / REACH, height / REACH, weight);
        }
    });
    sums.slope().map_or(way, |slope| (way - t * slope.x - u * slope.y).normalize_or(way))
}

/// Normal equations of a quadric, row by row, with the right-hand side last.
#[derive(Default)]
struct Sums {
    rows: [[f64; 7]; 6],
    count: usize,
}

impl Sums {
    fn add(&mut self, DVec2 { x, y }: DVec2, height: f64, weight: f64) {
        let terms = [1.0, x, y, x * x, x * y, y * y, height];
        for (k, row) in self.rows.iter_mut().enumerate() {
            let own = weight * terms[k];
            // The matrix is symmetric.
            (k..7).for_each(|j| row[j] += own * terms[j]);
        }
        self.count += 1;
    }

    /// Slope of the quadric at the foot; `None` if its leaves do not determine one.
    fn slope(mut self) -> Option<DVec2> {
        if self.count < FEWEST {
            return None;
        }
        let damping = DAMPING * self.rows[0][0];
        (3..6).for_each(|k| self.rows[k][k] += damping);
        for k in 0..6 {
            (0..k).for_each(|j| self.rows[k][j] = self.rows[j][k]);
        }
        let solved = solve(self.rows)?;
        let slope = DVec2::new(solved[1], solved[2]);
        (slope.is_finite() && slope.length() < 1.0).then_some(slope)
    }
}

/// Gaussian elimination with pivots; `None` if the matrix is singular.
fn solve(mut rows: [[f64; 7]; 6]) -> Option<[f64; 6]> {
    let largest = (0..6).map(|k| rows[k][k].abs()).fold(0.0, f64::max);
    for k in 0..6 {
        let pivot = (k..6).max_by(|a, b| rows[*a][k].abs().total_cmp(&rows[*b][k].abs()))?;
        rows.swap(k, pivot);
        if rows[k][k].abs() <= 1e-12 * largest {
            return None;
        }
        let own = rows[k];
        for row in &mut rows[k + 1..] {
            let times = row[k] / own[k];
            row.iter_mut().zip(own).for_each(|(value, of_own)| *value -= times * of_own);
        }
    }
    let mut out = [0.0; 6];
    for k in (0..6).rev() {
        let known: f64 = (k + 1..6).map(|j| rows[k][j] * out[j]).sum();
        out[k] = (rows[k][6] - known) / rows[k][k];
    }
    Some(out)
}
