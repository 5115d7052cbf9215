//! The name of a vertex: what made it.
//!
//! Both sides of a crack and all triangles round a corner make the same vertices of the same things, so pieces are
//! joined by names alone, without welding and without a tolerance. Positions are computed from the name, in one
//! place, and have the same bits wherever the vertex is used.

use super::exact::{Distances, FINE_BITS, minors, minors_factors};
use super::mesh::FineMesh;
use super::skeleton::Skeleton;
use crate::fracture::box_cut::complex::Complex;
use glam::DVec3;

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
