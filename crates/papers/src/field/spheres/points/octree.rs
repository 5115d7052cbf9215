//! Points on the surface of an octree, one for each boundary cell of a level, or two where both faces of
//! something thin lie in it; and whether a point lies in its solid.

use std::ops::Range;

use crate::{
    shape::Octree,
    svo::{Forest, Octant, morton, unpack_cut, unpack_normal},
};
use glam::DVec3;

/// Below this ratio of summed normals to summed weights a cell contains two opposite faces.
const ONE_SIDED: f64 = 0.35;
/// Below this ratio the surface bends within the cell.
const BENT: f64 = 0.95;
/// An edge counts where it passes the middle of its voxel within this, voxels along any axis.
const EDGE_REACH: f64 = 0.6;
/// A point so far beyond a leaf's plane still lies on it, voxels: more than what planes are rounded to.
const ON_PLANE: f64 = 0.03;
/// A point at most so far below a leaf's plane is as good as on it, voxels.
const NEAR_PLANE: f64 = 0.25;

/// A point of a leaf's surface.
#[derive(Clone, Copy, Debug)]
struct LeafPoint {
    position: DVec3,
    normal: DVec3,
    /// Area of the surface in the voxel: that of a plane with normal n is about 1 / |n|_1.
    area: f64,
}

/// Points of all boundary cells of `level`, voxels.
pub fn samples(octree: &Octree, level: u32) -> Vec<DVec3> {
    let (mut out, mut own) = (Vec::new(), Vec::new());
    for_each_cell(octree, level, |leaves| push(&octree.forest, leaves, &mut own, &mut out));
    out
}

/// Points of the boundary cells that a crack passes through, voxels.
pub fn crack_samples(octree: &Octree, level: u32) -> Vec<DVec3> {
    let forest = &octree.forest;
    let is_crack = |leaf: usize| {
        forest.leaves.colors[leaf].crack() || forest.leaves.cuts.get(leaf).is_some_and(|cut| *cut != 0)
    };
    let (mut out, mut own) = (Vec::new(), Vec::new());
    for_each_cell(octree, level, |leaves| {
        if leaves.clone().any(is_crack) {
            push(forest, leaves, &mut own, &mut out);
        }
    });
    out
}

/// Calls `visit` with the leaves of each boundary cell of `level`, in Morton order.
fn for_each_cell(octree: &Octree, level: u32, mut visit: impl FnMut(Range<usize>)) {
    let keys = &octree.forest.leaves.keys;
    let shift = 3 * octree.level().saturating_sub(level);
    let Range { mut start, end } = octree.leaves();
    while start < end {
        let cell = keys.at(start) >> shift;
        let same = (start..end).take_while(|leaf| keys.at(*leaf) >> shift == cell).count();
        visit(start..start + same);
        start += same;
    }
}

/// Adds the points of one cell; those of its leaves are stored in `own`.
fn push(forest: &Forest, leaves: Range<usize>, own: &mut Vec<LeafPoint>, out: &mut Vec<DVec3>) {
    if leaves.len() == 1 {
        out.push(leaf_point(forest, leaves.start).position);
        return;
    }
    own.clear();
    own.extend(leaves.map(|leaf| leaf_point(forest, leaf)));
    let points = || own.iter().copied();
    let normal: DVec3 = points().map(|p| p.normal * p.area).sum();
    let area: f64 = points().map(|p| p.area).sum();
    if normal.length() >= ONE_SIDED * area {
        let middle = mean(points());
        let bulge: f64 = points().map(|p| p.area * (p.position - middle).dot(p.normal)).sum();
        let is_tip = normal.length() < BENT * area && bulge > 0.0;
        // The middle of an edge or a corner lies behind it; it is the tip that touches first.
        let along = |p: &LeafPoint| p.position.dot(normal);
        let tip = points().filter(|_| is_tip).max_by(|a, b| along(a).total_cmp(&along(b)));
        out.push(tip.map_or(middle, |tip| tip.position));
    } else {
        let lead = own[0].normal;
        out.push(mean(points().filter(|p| p.normal.dot(lead) >= 0.0)));
        out.push(mean(points().filter(|p| p.normal.dot(lead) < 0.0)));
    }
}

/// The mean of points by area.
fn mean(points: impl Iterator<Item = LeafPoint>) -> DVec3 {
    let (sum, area) =
        points.fold((DVec3::ZERO, 0.0), |(sum, area), p| (sum + p.position * p.area, area + p.area));
    sum / f64::max(area, f64::MIN_POSITIVE)
}

/// A leaf's middle, and its planes: normal, and offset from the middle along it. The second is that of a cut.
fn planes(forest: &Forest, leaf: usize) -> (DVec3, [Option<(DVec3, f64)>; 2]) {
    let leaves = &forest.leaves;
    let middle = DVec3::from(morton::decode(leaves.keys.at(leaf)).map(f64::from)) + 0.5;
    let own = (unpack_normal(leaves.normals[leaf]).as_dvec3(), f64::from(leaves.colors[leaf].offset()));
    let cut = leaves.cuts.get(leaf).copied().and_then(unpack_cut);
    (middle, [Some(own), cut.map(|(normal, offset)| (normal.as_dvec3(), f64::from(offset)))])
}

/// A point of a leaf's surface; where a cut passes through the voxel, of the edge of both planes.
fn leaf_point(forest: &Forest, leaf: usize) -> LeafPoint {
    let (middle, [own, cut]) = planes(forest, leaf);
    let (n, height) = own.unwrap_or((DVec3::Y, 0.0));
    let at = |from_middle: DVec3, normal: DVec3| LeafPoint {
        position: middle + from_middle,
        normal,
        area: 1.0 / normal.abs().element_sum().max(1e-3),
    };
    let Some((m, reach)) = cut else { return at(n * height, n) };
    // The edge's nearest point to the middle: a n + b m on both planes.
    let cosine = n.dot(m);
    let sine_squared = (1.0 - cosine * cosine).max(1e-3);
    let edge =
        n * ((height - cosine * reach) / sine_squared) + m * ((reach - cosine * height) / sine_squared);
    if edge.abs().max_element() <= EDGE_REACH {
        at(edge, (n + m).normalize_or(n))
    } else if (n * height).dot(m) > reach {
        at(m * reach, m)
    } else {
        at(n * height, n)
    }
}

/// Where a point lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Containment {
    /// Not in the solid.
    Outside,
    /// Inside, on the surface or within rounding of it.
    AtSurface,
    /// Inside.
    Inside,
}

/// Where `p` (voxels) lies, as the leaves have it; a point on a plane is in the solid.
pub fn containment(octree: &Octree, p: DVec3) -> Containment {
    if !(p.cmpge(DVec3::ZERO).all() && p.is_finite()) {
        return Containment::Outside;
    }
    match octree.forest.octant_at(octree.tree as usize, p.floor().as_uvec3().to_array()) {
        Octant::Empty { .. } => Containment::Outside,
        Octant::Internal { .. } => Containment::Inside,
        Octant::Leaf(leaf) => {
            let (middle, planes) = planes(&octree.forest, leaf as usize);
            let below = planes.into_iter().flatten().map(|(n, offset)| offset - (p - middle).dot(n));
            match below.fold(f64::INFINITY, f64::min) {
                depth if depth < -ON_PLANE => Containment::Outside,
                depth if depth < NEAR_PLANE => Containment::AtSurface,
                _ => Containment::Inside,
            }
        }
    }
}
