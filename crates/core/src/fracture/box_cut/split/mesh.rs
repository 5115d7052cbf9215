//! The mesh to be split, on the fine grid, with its edges; refused unless it is closed.
//!
//! In: corners in units and triangles, counter-clockwise seen from outside. Out: the same with whole fine
//! coordinates, by which everything is decided, and the original ones, from which everything is written.

use super::SplitError;
use super::exact::{FINE_BITS, Fine};
use crate::fracture::box_cut::complex::Complex;
use crate::geometry::UnionFind;
use glam::DVec3;
use rayon::prelude::*;

/// How far from the origin a corner may be, units.
const REACH: f64 = 32_768.0;

/// A closed mesh, ready to be split.
#[derive(Clone, Debug)]
pub struct FineMesh {
    /// Original corners, units.
    pub(super) corners: Vec<DVec3>,
    /// The same on the fine grid.
    pub(super) fine: Vec<Fine>,
    /// Counter-clockwise from outside.
    pub(super) triangles: Vec<[u32; 3]>,
    /// Lower corner first.
    pub(super) edges: Vec<[u32; 2]>,
    /// Of each triangle: the edge from corner k to k + 1.
    pub(super) edges_of: Vec<[u32; 3]>,
}

/// The nearest fine point. Beyond `REACH` it saturates; `FineMesh::new` refuses such corners.
pub fn fine(position: DVec3) -> Fine {
    let scale = f64::from(1 << FINE_BITS);
    (position * scale).to_array().map(|x| (x + 0.5).floor() as i64)
}

impl FineMesh {
    /// Corners that are the same point must be one corner: weld first.
    pub fn new(corners: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Result<Self, SplitError> {
        // Vertices of pieces are named by two indices of 31 bits each.
        if corners.len().max(3 * triangles.len()) > 1 << 30 {
            return Err(SplitError::TooLarge);
        }
        if let Some(corner) = corners.iter().position(|c| !c.is_finite() || c.abs().max_element() > REACH) {
            return Err(SplitError::OutsideBox { corner: corner as u32 });
        }
        for (index, triangle) in triangles.iter().enumerate() {
            let [a, b, c] = *triangle;
            if a == b || b == c || c == a || a.max(b).max(c) as usize >= corners.len() {
                return Err(SplitError::Triangle { triangle: index as u32 });
            }
        }
        let walked = pair_edges(&triangles)?;
        let (mut corners, mut triangles) = (corners, triangles);
        part_fans(&walked, &mut corners, &mut triangles);
        let mut edges = Vec::with_capacity(walked.len());
        let mut edges_of = vec![[0; 3]; triangles.len()];
        for sides in walked {
            for side in sides {
                edges_of[side as usize / 3][side as usize % 3] = edges.len() as u32;
            }
            let [from, to] =
                [0, 1].map(|k| triangles[sides[0] as usize / 3][(sides[0] as usize % 3 + k) % 3]);
            edges.push([from.min(to), from.max(to)]);
        }
        let fine = corners.iter().map(|&c| fine(c)).collect();
        Ok(Self { corners, fine, triangles, edges, edges_of })
    }

    /// Corners in units, with the bits that they came with. Behind those that came are more where parts of the
    /// surface touched in one corner.
    pub fn corners(&self) -> &[DVec3] {
        &self.corners
    }

    /// Triangles, in the order in which they came.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Whether all corners are strictly inside the box, where no wall is ever crossed.
    pub(super) fn check_inside(&self, complex: &Complex) -> Result<(), SplitError> {
        let [low, high] = [complex.low, complex.high].map(|p| p.map(|x| i64::from(x) << FINE_BITS));
        let is_outside = |p: &Fine| (0..3).any(|k| p[k] <= low[k] || p[k] >= high[k]);
        match self.fine.iter().position(is_outside) {
            Some(corner) => Err(SplitError::OutsideBox { corner: corner as u32 }),
            None => Ok(()),
        }
    }

    /// The corners of a triangle on the fine grid.
    pub(super) fn fine_triangle(&self, triangle: u32) -> [Fine; 3] {
        self.triangles[triangle as usize].map(|c| self.fine[c as usize])
    }
}

/// A triangle's edge from corner k to k + 1: 3 * triangle + k.
pub(super) type Side = u32;

/// Every edge must be walked once in each direction, by two triangles.
pub(super) fn pair_edges(triangles: &[[u32; 3]]) -> Result<Vec<[Side; 2]>, SplitError> {
    // Lower corner, higher corner, side, so that equal edges stand together.
    let mut walked: Vec<(u32, u32, Side)> = Vec::with_capacity(3 * triangles.len());
    for (index, triangle) in triangles.iter().enumerate() {
        for side in 0..3 {
            let (from, to) = (triangle[side], triangle[(side + 1) % 3]);
            walked.push((from.min(to), from.max(to), (3 * index + side) as Side));
        }
    }
    walked.par_sort_unstable();
    let mut pairs = Vec::with_capacity(walked.len() / 2);
    for group in walked.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let corners = [group[0].0, group[0].1];
        let [first, second] = group else {
            return Err(if group.len() == 1 {
                SplitError::OpenEdge { corners }
            } else {
                SplitError::CrowdedEdge { corners, triangles: group.len() }
            });
        };
        let (first, second) = (first.2, second.2);
        if corner_of(triangles, first, 0) == corner_of(triangles, second, 0) {
            return Err(SplitError::Orientation { corners });
        }
        if corner_of(triangles, first, 2) == corner_of(triangles, second, 2) {
            return Err(SplitError::Doubled { triangle: second / 3 });
        }
        pairs.push([first, second]);
    }
    Ok(pairs)
}

/// The corner k steps on from where a side starts.
fn corner_of(triangles: &[[u32; 3]], side: Side, k: usize) -> u32 {
    triangles[side as usize / 3][(side as usize % 3 + k) % 3]
}

/// Where two parts of the surface touch in a corner, each gets a corner of its own, so that round every corner there
/// is one fan of triangles, in the mesh and in the pieces.
pub(super) fn part_fans(pairs: &[[Side; 2]], corners: &mut Vec<DVec3>, triangles: &mut [[u32; 3]]) {
    // Corners of triangles, named as the sides that start there, joined across edges.
    let mut joined = UnionFind::new(3 * triangles.len());
    let next = |side: Side| if side % 3 == 2 { side - 2 } else { side + 1 };
    for &[one, other] in pairs {
        joined.join(one, next(other));
        joined.join(next(one), other);
    }
    let mut taken = vec![false; corners.len()];
    let mut own_corner: Vec<u32> = vec![0; joined.count()];
    for side in 0..joined.count() {
        let corner = &mut triangles[side / 3][side % 3];
        // The root of a fan is its lowest side, so it comes first.
        let root = joined.find(side as u32) as usize;
        if root == side {
            own_corner[side] = *corner;
            if std::mem::replace(&mut taken[*corner as usize], true) {
                own_corner[side] = corners.len() as u32;
                corners.push(corners[*corner as usize]);
            }
        }
        *corner = own_corner[root];
    }
}
