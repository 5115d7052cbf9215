//! The mesh to be split, on the fine grid, with its edges; refused unless it is closed.
//!
//! In: corners in units and triangles, counter-clockwise seen from outside. Out: the same with whole fine
//! coordinates, by which everything is decided, and the original ones, from which everything is written.
//!
//! # The name of a vertex: what made it
//!
//! Both sides of a crack and all triangles round a corner make the same vertices of the same things, so pieces are
//! joined by names alone, without welding and without a tolerance. Positions are computed from the name, in one
//! place, and have the same bits wherever the vertex is used.

use glam::DVec3;
use rayon::prelude::*;

use super::{
    SplitError,
    exact::{Distances, FINE_BITS, Fine, minors, minors_factors},
    skeleton::Skeleton,
};
use crate::{fracture::box_cut::complex::Complex, geometry::UnionFind};

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

/// What made a vertex, in one word: kind (2 bits), then two indices of 31 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Made(u64);

/// `Made`, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// It is a corner of the mesh.
    Corner(u32),
    /// An edge of the mesh crosses the plane of a facet.
    Crossing { edge: u32, facet: u32 },
    /// A triangle is pierced by a rib, an edge of the complex.
    Pierce { triangle: u32, rib: u32 },
    /// It is a vertex of the complex, inside the solid.
    Vertex(u32),
}

const INDEX: u64 = (1 << 31) - 1;

impl Made {
    /// Packs it; indices are below 2^31, which `FineMesh::new` sees to.
    pub fn new(by: By) -> Self {
        let (kind, first, second) = match by {
            By::Corner(corner) => (0, corner, 0),
            By::Crossing { edge, facet } => (1, edge, facet),
            By::Pierce { triangle, rib } => (2, triangle, rib),
            By::Vertex(vertex) => (3, vertex, 0),
        };
        Self(kind << 62 | u64::from(first) << 31 | u64::from(second))
    }

    /// Takes it apart.
    pub fn by(self) -> By {
        let (first, second) = ((self.0 >> 31 & INDEX) as u32, (self.0 & INDEX) as u32);
        match self.0 >> 62 {
            0 => By::Corner(first),
            1 => By::Crossing { edge: first, facet: second },
            2 => By::Pierce { triangle: first, rib: second },
            _ => By::Vertex(first),
        }
    }
}

/// All that vertices are made of.
#[derive(Clone, Copy)]
pub struct Makers<'a> {
    /// Corners, edges and triangles.
    pub mesh: &'a FineMesh,
    /// Vertices and facets.
    pub complex: &'a Complex,
    /// Planes and ribs.
    pub skeleton: &'a Skeleton,
}

impl Makers<'_> {
    /// Where the vertex is on the original mesh, units. The exact weights are those of the mesh on the fine grid;
    /// used on the original corners they leave an outside face exactly in its triangle, and move a cap by less than a
    /// fine unit.
    pub fn position(&self, made: Made) -> DVec3 {
        self.weighted(made, DVec3::ZERO, |corner| self.mesh.corners[corner as usize])
    }

    /// Where the vertex is on the mesh of the fine grid, units: here caps are plane, and loops cross nowhere but for
    /// the rounding of f64.
    pub fn fine_position(&self, made: Made) -> DVec3 {
        self.moved_position(made, DVec3::ZERO)
    }

    /// The same where the mesh is moved by so many fine units.
    pub fn moved_position(&self, made: Made, step: DVec3) -> DVec3 {
        let scale = 1.0 / f64::from(1 << FINE_BITS);
        self.weighted(made, step, |corner| {
            let [x, y, z] = self.mesh.fine[corner as usize].map(|n| n as f64);
            (DVec3::new(x, y, z) + step) * scale
        })
    }

    fn weighted(&self, made: Made, step: DVec3, corner_at: impl Fn(u32) -> DVec3) -> DVec3 {
        match made.by() {
            By::Corner(corner) => corner_at(corner),
            By::Vertex(vertex) => self.skeleton.positions[vertex as usize],
            By::Crossing { edge, facet } => {
                let [a, b] = self.mesh.edges[edge as usize];
                let [from_a, from_b] = self.crossing_weights(edge, facet, step);
                corner_at(a) * from_a + corner_at(b) * from_b
            }
            By::Pierce { triangle, rib } => {
                let [a, b, c] = self.mesh.triangles[triangle as usize];
                let weights = self.pierce_weights(triangle, rib, step);
                corner_at(a) * weights[0] + corner_at(b) * weights[1] + corner_at(c) * weights[2]
            }
        }
    }

    /// Barycentric weights in a triangle that the vertex lies on.
    pub fn weights(&self, made: Made, triangle: u32) -> [f64; 3] {
        let corners = self.mesh.triangles[triangle as usize];
        let mut weights = [0.0; 3];
        match made.by() {
            By::Corner(corner) => {
                for (weight, own) in weights.iter_mut().zip(corners) {
                    *weight = if own == corner { 1.0 } else { 0.0 };
                }
            }
            By::Crossing { edge, facet } => {
                let ends = self.mesh.edges[edge as usize];
                for (end, of_end) in ends.into_iter().zip(self.crossing_weights(edge, facet, DVec3::ZERO)) {
                    for (weight, own) in weights.iter_mut().zip(corners) {
                        if own == end {
                            *weight = of_end;
                        }
                    }
                }
            }
            By::Pierce { triangle, rib } => weights = self.pierce_weights(triangle, rib, DVec3::ZERO),
            By::Vertex(_) => {}
        }
        weights
    }

    fn crossing_weights(&self, edge: u32, facet: u32, step: DVec3) -> [f64; 2] {
        let plane = &self.skeleton.planes[facet as usize];
        let [a, b] = self.mesh.edges[edge as usize].map(|corner| plane.at(self.mesh.fine[corner as usize]));
        // The two have different signs, or one is zero; both zero would be an edge in the plane, which moves to one
        // side.
        let whole = (a - b) as f64;
        let moved = DVec3::from_array(plane.normal.map(|n| n as f64)).dot(step);
        [-(b as f64 + moved) / whole, (a as f64 + moved) / whole]
    }

    fn pierce_weights(&self, triangle: u32, rib: u32, step: DVec3) -> [f64; 3] {
        let corners = self.mesh.fine_triangle(triangle);
        let [s, q] = self.skeleton.ribs[rib as usize].planes.map(|plane| Distances::new(&plane, &corners));
        let weights = minors(&s, &q);
        let whole = weights.iter().sum::<i128>() as f64;
        let moved = minors_factors(&s, &q).map(|f| DVec3::from_array(f.map(|n| n as f64)).dot(step));
        [0, 1, 2].map(|k| (weights[k] as f64 + moved[k]) / whole)
    }
}
