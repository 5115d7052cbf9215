//! One Voronoi cell, as box cutting leaves it (Chlubna sec. 3, fig. 6).
//!
//! In: sites and a box. Out: cells, each a list of planes, of vertices (three planes each) and of edges (two vertices
//! and two planes each). Faces are not held: an edge knows the two planes that it lies in, and the ring of a plane is
//! traced from its edges.

use glam::DVec3;
use rayon::prelude::*;

use super::{
    complex::{Beyond, Point, check_range},
    cut::{Cutter, Rules},
    exact::{CellPlane, Rounded, meeting},
    nearest::{Finder, NearestBy},
};
use crate::geometry::exact::Homogeneous;

/// A vertex of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellVertex {
    /// Three planes of the cell that meet here. Some of them may have no face any more, and where more than three meet
    /// here these are any three of them with independent normals.
    pub planes: [u32; 3],
    /// In units, rounded.
    pub position: DVec3,
}

/// An edge of a cell. Seen from outside, the ring of `planes[0]` goes from `vertices[0]` to `vertices[1]`
/// counter-clockwise, that of `planes[1]` the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its two ends.
    pub vertices: [u32; 2],
    /// The two planes that it lies in.
    pub planes: [u32; 2],
}

/// A cell. All lists are empty where it has no volume.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Index of its site.
    pub site: u32,
    /// The six walls, then bisectors in the order in which they cut or touched the cell. Some have no face.
    pub planes: Vec<CellPlane>,
    /// Corners of the cell.
    pub vertices: Vec<CellVertex>,
    /// See [`Edge`].
    pub edges: Vec<Edge>,
    /// Whether a plane went exactly through a vertex at any time: then more than three planes may meet in a vertex.
    pub touched: bool,
}

impl Cell {
    /// The cell of a site that has none.
    #[must_use]
    pub fn empty(site: u32) -> Self {
        Self { site, planes: vec![], vertices: vec![], edges: vec![], touched: false }
    }

    /// Whether the cell has no volume.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// Calls `each` with every plane that has a face and with the face's vertices, counter-clockwise seen from outside,
    /// in the order of the planes. Planes that are not `wanted` are left out.
    pub fn for_each_face(&self, wanted: impl Fn(Beyond) -> bool, mut each: impl FnMut(&CellPlane, &[u32])) {
        // Half-edges in the order of their planes, by counting.
        let mut starts = vec![0u32; self.planes.len() + 1];
        for edge in &self.edges {
            starts[edge.planes[0] as usize + 1] += 1;
            starts[edge.planes[1] as usize + 1] += 1;
        }
        for p in 0..self.planes.len() {
            starts[p + 1] += starts[p];
        }
        let mut room = starts.clone();
        let mut half_edges = vec![[0u32; 2]; 2 * self.edges.len()];
        for edge in &self.edges {
            let [from, to] = edge.vertices;
            for (plane, half_edge) in [(edge.planes[0], [from, to]), (edge.planes[1], [to, from])] {
                half_edges[room[plane as usize] as usize] = half_edge;
                room[plane as usize] += 1;
            }
        }
        let mut after = vec![0u32; self.vertices.len()];
        let mut ring = Vec::new();
        for (p, plane) in self.planes.iter().enumerate() {
            let sides = &half_edges[starts[p] as usize..starts[p + 1] as usize];
            if sides.is_empty() || !wanted(plane.beyond) {
                continue;
            }
            for [from, to] in sides {
                after[*from as usize] = *to;
            }
            ring.clear();
            let mut vertex = sides[0][0];
            for _ in sides {
                ring.push(vertex);
                vertex = after[vertex as usize];
            }
            each(plane, &ring);
        }
    }

    /// In cubic units, rounded.
    #[must_use]
    pub fn volume(&self) -> f64 {
        let Some(apex) = self.vertices.first().map(|v| v.position) else { return 0.0 };
        let mut six = 0.0;
        self.for_each_face(
            |_| true,
            |_, ring| {
                let corner = |k: usize| self.vertices[ring[k] as usize].position - apex;
                for k in 2..ring.len() {
                    six += corner(0).dot(corner(k - 1).cross(corner(k)));
                }
            },
        );
        six / 6.0
    }

    /// Exactly where a vertex lies, in the coordinates of the cell (see [`CellPlane`]).
    #[must_use]
    pub fn exact(&self, vertex: &CellVertex) -> Homogeneous {
        meeting(vertex.planes.map(|p| &self.planes[p as usize]))
    }

    /// All planes that go exactly through a vertex, in the order of the planes.
    pub(super) fn planes_through(&self, vertex: &CellVertex, mut each: impl FnMut(&CellPlane)) {
        if self.touched {
            let rounded = Rounded::of(vertex.planes.map(|p| &self.planes[p as usize]));
            let mut exact = None;
            for plane in &self.planes {
                let undecided = rounded.side(plane).is_none();
                if undecided && exact.get_or_insert_with(|| self.exact(vertex)).side(plane.whole()) == 0 {
                    each(plane);
                }
            }
        } else {
            // No fourth plane ever met a vertex.
            let mut planes = vertex.planes;
            planes.sort_unstable();
            planes.iter().for_each(|p| each(&self.planes[*p as usize]));
        }
    }
}

/// The cells of `sites` in the box from `low` to `high`, in the order of the sites.
///
/// # Panics
/// If a site or the box goes beyond [`REACH`](super::complex::REACH).
#[must_use]
pub fn cells(sites: &[Point], low: Point, high: Point) -> Vec<Cell> {
    cells_by(NearestBy::for_count(sites.len()), sites, low, high)
}

/// As [`cells`], finding neighbours as `by` says; the cells are the same.
///
/// # Panics
/// As [`cells`].
#[must_use]
pub fn cells_by(by: NearestBy, sites: &[Point], low: Point, high: Point) -> Vec<Cell> {
    cells_with(Rules::EXACT, by, sites, low, high)
}

/// As [`cells_by`]; tests plant errors in the rules.
pub(super) fn cells_with(rules: Rules, by: NearestBy, sites: &[Point], low: Point, high: Point) -> Vec<Cell> {
    check_range(sites, low, high);
    let distinct = distinct(sites);
    let mut taking_part = vec![false; sites.len()];
    distinct.iter().for_each(|s| taking_part[*s as usize] = true);
    let has_volume = (0..3).all(|k| low[k] < high[k]);
    let finder = Finder::new(by, sites, &distinct);
    (0..sites.len() as u32)
        .into_par_iter()
        // A cell takes some ten microseconds; fewer than this are not worth another thread's while.
        .with_min_len(8)
        .map_init(Cutter::default, |cutter, site| {
            if taking_part[site as usize] && has_volume {
                cutter.cell(&rules, &finder, sites, site, low, high)
            } else {
                Cell::empty(site)
            }
        })
        .collect()
}

/// Indices of the sites that are equal to no earlier one, ascending.
pub(super) fn distinct(sites: &[Point]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..sites.len() as u32).collect();
    order.sort_unstable_by_key(|s| (sites[*s as usize], *s));
    order.dedup_by_key(|s| sites[*s as usize]);
    order.sort_unstable();
    order
}
