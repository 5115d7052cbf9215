//! Triangles into shards: the convex part of each triangle in each cell that it meets.
//!
//! In: the mesh and the complex. Out: shards, whose vertices are named by what made them. A triangle walks from the
//! cell of a corner to the neighbours behind the facets that it crosses, so it never meets a cell in vain (paper:
//! section 5, where each cell asks all triangles). In a cell it is clipped by one plane after another, as in the
//! paper's figure 8, but as a ring of lines (its edges and planes) instead of points: a vertex is where two lines of
//! the ring meet, and its side of the next plane is decided exactly from the three corners, however many planes came
//! before.

use super::exact::Distances;
use super::mesh::{By, Made, Makers};
use super::{Fault, SplitError};
use crate::fracture::box_cut::complex::Beyond;
use rayon::prelude::*;

/// No facet: the side is part of a mesh edge.
pub const MESH: u32 = u32::MAX;

/// A vertex of a shard and the side from there to the next one.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// The vertex.
    pub start: Made,
    /// The facet that the side lies on, or `MESH`.
    pub facet: u32,
}

/// The part of a triangle that lies in a cell.
#[derive(Clone, Copy, Debug)]
pub struct Shard {
    /// Of the mesh.
    pub triangle: u32,
    /// Of the complex.
    pub cell: u32,
    first: u32,
    count: u32,
}

/// All shards, by ascending triangle.
#[derive(Default)]
pub struct Shards {
    /// Those of one triangle stand together.
    pub shards: Vec<Shard>,
    sides: Vec<Side>,
}

impl Shards {
    /// Its sides, counter-clockwise from outside.
    pub fn sides(&self, shard: &Shard) -> &[Side] {
        &self.sides[shard.first as usize..(shard.first + shard.count) as usize]
    }

    fn append(&mut self, other: Self) {
        let offset = self.sides.len() as u32;
        self.shards.extend(other.shards.into_iter().map(|s| Shard { first: s.first + offset, ..s }));
        self.sides.extend(other.sides);
    }
}

/// Cuts every triangle by the cells.
pub fn walk(makers: Makers, fault: Fault) -> Result<Shards, SplitError> {
    let cells = cells_of_corners(makers)?;
    let indices: Vec<u32> = (0..makers.mesh.triangles.len() as u32).collect();
    let parts: Vec<Result<Shards, SplitError>> = indices
        .par_chunks(256)
        .map(|chunk| {
            let mut walker = Walker::new(makers, fault);
            for &triangle in chunk {
                walker.triangle(triangle, &cells)?;
            }
            Ok(walker.out)
        })
        .collect();
    let mut all = Shards::default();
    for part in parts {
        all.append(part?);
    }
    Ok(all)
}

/// The cell of each corner: a walk to ever nearer sites. It ends at the one nearest to the moved corner wherever it
/// starts, so that neither the order nor the number of threads matters.
fn cells_of_corners(makers: Makers) -> Result<Vec<u32>, SplitError> {
    let complex = makers.complex;
    let start = complex.facets_of.iter().position(|f| !f.is_empty()).ok_or(SplitError::NoCells)? as u32;
    let chunks = makers.mesh.fine.par_chunks(512).map(|chunk| {
        let mut cell = start;
        let mut cells = Vec::with_capacity(chunk.len());
        for &corner in chunk {
            while let Some(nearer) = complex.facets_of[cell as usize].iter().find_map(|&facet| {
                match (complex.facets[facet as usize].beyond, complex.facets[facet as usize].site) {
                    (Beyond::Wall(_), _) => None,
                    (Beyond::Site(beyond), site) => makers
                        .skeleton
                        .plane_from(complex, facet, cell)
                        .outside(corner)
                        .then_some(if site == cell { beyond } else { site }),
                }
            }) {
                cell = nearer;
            }
            cells.push(cell);
        }
        cells
    });
    Ok(chunks.flatten().collect())
}

/// A line of the ring: 0 to 2 are the triangle's edges, 3 + k is plane k of `Walker::planes`.
type Line = u32;

struct Walker<'a> {
    makers: Makers<'a>,
    fault: Fault,
    out: Shards,
    /// Cells met by the triangle, in the order in which they were found.
    met: Vec<u32>,
    /// The ring of lines; vertex k is where line k - 1 meets line k.
    ring: Vec<Line>,
    spare: Vec<Line>,
    outside: Vec<bool>,
    planes: Vec<(u32, Distances)>,
}

impl<'a> Walker<'a> {
    fn new(makers: Makers<'a>, fault: Fault) -> Self {
        Self {
            makers,
            fault,
            out: Shards::default(),
            met: Vec::new(),
            ring: Vec::new(),
            spare: Vec::new(),
            outside: Vec::new(),
            planes: Vec::new(),
        }
    }

    fn triangle(&mut self, triangle: u32, cells: &[u32]) -> Result<(), SplitError> {
        let corners = self.makers.mesh.triangles[triangle as usize];
        let [a, b, c] = corners.map(|corner| cells[corner as usize]);
        if a == b && b == c {
            // Cells are convex.
            self.begin(triangle, a);
            for corner in corners {
                self.out.sides.push(Side { start: Made::new(By::Corner(corner)), facet: MESH });
            }
            self.end();
            return Ok(());
        }
        self.met.clear();
        self.met.push(a);
        let mut next = 0;
        while let Some(&cell) = self.met.get(next) {
            next += 1;
            self.clip_by_cell(triangle, cell)?;
            self.write(triangle, cell)?;
        }
        Ok(())
    }

    fn begin(&mut self, triangle: u32, cell: u32) {
        let first = self.out.sides.len() as u32;
        self.out.shards.push(Shard { triangle, cell, first, count: 0 });
    }

    fn end(&mut self) {
        if let Some(shard) = self.out.shards.last_mut() {
            shard.count = self.out.sides.len() as u32 - shard.first;
        }
    }

    /// Leaves the part in the cell in `ring`.
    fn clip_by_cell(&mut self, triangle: u32, cell: u32) -> Result<(), SplitError> {
        let Makers { mesh, complex, skeleton } = self.makers;
        let corners = mesh.fine_triangle(triangle);
        self.ring.clear();
        self.ring.extend([0, 1, 2]);
        self.planes.clear();
        for &facet in &complex.facets_of[cell as usize] {
            if skeleton.walls[facet as usize] {
                continue;
            }
            let plane = Distances::new(&skeleton.plane_from(complex, facet, cell), &corners);
            if (0..3).any(|corner| plane.corner(corner) > 0) {
                self.clip(facet, plane).ok_or(SplitError::Complex { facet })?;
            }
        }
        Ok(())
    }

    /// Keeps what is inside of a plane. None where the ring is left and entered other than once, which no convex ring
    /// is.
    fn clip(&mut self, facet: u32, plane: Distances) -> Option<()> {
        let count = self.ring.len();
        self.outside.clear();
        for k in 0..count {
            let sign = self.sign(self.ring[(k + count - 1) % count], self.ring[k], &plane);
            self.outside.push(sign > 0);
        }
        if !self.outside.contains(&true) {
            return Some(());
        }
        let turns_to = |outside: bool| {
            let mut turns = (0..count)
                .filter(|&k| self.outside[k] != outside && self.outside[(k + 1) % count] == outside);
            (turns.next(), turns.next())
        };
        let ((Some(entering), None), (Some(leaving), None)) = (turns_to(false), turns_to(true)) else {
            return None;
        };
        self.spare.clear();
        let mut k = entering;
        self.spare.push(self.ring[k]);
        while k != leaving {
            k = (k + 1) % count;
            self.spare.push(self.ring[k]);
        }
        self.spare.push(3 + self.planes.len() as u32);
        std::mem::swap(&mut self.ring, &mut self.spare);
        self.planes.push((facet, plane));
        Some(())
    }

    /// The side of a plane that the meeting point of two lines is on.
    fn sign(&self, before: Line, after: Line, plane: &Distances) -> i32 {
        let edge = |line: Line| (line as usize, (line as usize + 1) % 3);
        let other = |line: Line| &self.planes[line as usize - 3].1;
        match (before < 3, after < 3) {
            (true, true) => plane.corner(edge(before).1),
            (true, false) => plane.on_edge(edge(before).0, edge(before).1, other(after)),
            (false, true) => plane.on_edge(edge(after).0, edge(after).1, other(before)),
            (false, false) => plane.on_line(other(before), other(after)),
        }
    }

    /// The ring becomes a shard, and the cells behind its sides are to be met.
    fn write(&mut self, triangle: u32, cell: u32) -> Result<(), SplitError> {
        let Makers { mesh, complex, skeleton } = self.makers;
        self.begin(triangle, cell);
        let (edges, corners) = (mesh.edges_of[triangle as usize], mesh.triangles[triangle as usize]);
        let count = self.ring.len();
        for k in 0..count {
            let (before, after) = (self.ring[(k + count - 1) % count], self.ring[k]);
            let facet = |line: Line| self.planes[line as usize - 3].0;
            let by = match (before < 3, after < 3) {
                (true, true) => By::Corner(corners[after as usize]),
                (true, false) => By::Crossing { edge: edges[before as usize], facet: facet(after) },
                (false, true) => By::Crossing { edge: edges[after as usize], facet: facet(before) },
                (false, false) => {
                    let rib = skeleton.rib_between(facet(before), facet(after));
                    By::Pierce { triangle, rib: rib.ok_or(SplitError::Complex { facet: facet(before) })? }
                }
            };
            let side = if after < 3 { MESH } else { facet(after) };
            self.out.sides.push(Side { start: Made::new(by), facet: side });
            if side != MESH {
                let facet = &complex.facets[side as usize];
                let neighbour = match facet.beyond {
                    Beyond::Site(beyond) if facet.site == cell => beyond,
                    _ => facet.site,
                };
                if !self.met.contains(&neighbour) && !self.fault.skips_neighbour(triangle) {
                    self.met.push(neighbour);
                }
            }
        }
        self.end();
        Ok(())
    }
}
