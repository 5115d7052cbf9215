//! The complex as the splitting sees it: planes on the fine grid, and ribs, its edges, each known once with the
//! facets round it.
//!
//! Walls of the box take no part. The mesh lies strictly inside the box (`split` refuses it otherwise), so no wall is
//! ever crossed, and whatever is on a wall is outside the solid.

use super::SplitError;
use super::exact::FinePlane;
use crate::fracture::box_cut::complex::{Beyond, Complex, Vertex};
use glam::DVec3;
use rayon::prelude::*;

/// An edge of the complex.
pub struct Rib {
    /// Its vertices, the lower index first.
    pub ends: [u32; 2],
    /// Two planes that meet in it, such that the cross product of their normals leads from the first end to the
    /// second. Meaningless where it lies on a wall.
    pub planes: [FinePlane; 2],
    /// On a wall of the box, hence outside.
    pub on_wall: bool,
}

/// Planes, ribs, and how they hang together.
pub struct Skeleton {
    /// Of each facet, outward from its `site`; meaningless for walls.
    pub planes: Vec<FinePlane>,
    /// Of each facet, whether it is a wall of the box.
    pub walls: Vec<bool>,
    /// Of the complex's vertices, units. Dividing numbers of 128 bits takes so long that it is done once.
    pub positions: Vec<DVec3>,
    /// In the order of their ends.
    pub ribs: Vec<Rib>,
    ribs_of_facets: Grouped,
    facets_at_ribs: Grouped,
}

/// Lists of whole numbers, one behind another.
struct Grouped {
    first: Vec<u32>,
    items: Vec<u32>,
}

impl Grouped {
    fn of(&self, group: u32) -> &[u32] {
        &self.items[self.first[group as usize] as usize..self.first[group as usize + 1] as usize]
    }
}

impl Skeleton {
    /// An edge in the ring of each facet belongs to two facets of that facet's cell; a complex where it does not is
    /// refused.
    pub fn new(complex: &Complex) -> Result<Self, SplitError> {
        let facets = &complex.facets;
        let mut first = Vec::with_capacity(facets.len() + 1);
        first.push(0);
        // Lower end, higher end, facet, place in the list of all rings.
        let mut walked: Vec<[u32; 4]> = Vec::with_capacity(6 * facets.len());
        for (index, facet) in facets.iter().enumerate() {
            for (place, &from) in facet.ring.iter().enumerate() {
                let to = facet.ring[(place + 1) % facet.ring.len()];
                walked.push([from.min(to), from.max(to), index as u32, walked.len() as u32]);
            }
            first.push(walked.len() as u32);
        }
        let mut ribs_of_facets = Grouped { first, items: vec![0; walked.len()] };
        walked.par_sort_unstable();

        let planes: Vec<FinePlane> = facets
            .iter()
            .map(|facet| match facet.beyond {
                Beyond::Site(other) => {
                    FinePlane::between(complex.sites[facet.site as usize], complex.sites[other as usize])
                }
                Beyond::Wall(_) => FinePlane::between([0; 3], [0; 3]),
            })
            .collect();
        let walls: Vec<bool> = facets.iter().map(|f| matches!(f.beyond, Beyond::Wall(_))).collect();

        let mut ribs = Vec::with_capacity(walked.len() / 3);
        let mut facets_at_ribs = Grouped { first: vec![0], items: Vec::with_capacity(walked.len()) };
        for group in walked.chunk_by(|a, b| a[..2] == b[..2]) {
            let ends = [group[0][0], group[0][1]];
            for &[_, _, facet, place] in group {
                ribs_of_facets.items[place as usize] = ribs.len() as u32;
                facets_at_ribs.items.push(facet);
            }
            facets_at_ribs.first.push(facets_at_ribs.items.len() as u32);
            let on_wall = group.iter().any(|w| walls[w[2] as usize]);
            let mut rib = Rib { ends, planes: [planes[group[0][2] as usize]; 2], on_wall };
            if !on_wall {
                let &[_, _, facet, place] = &group[0];
                let cell = facets[facet as usize].site;
                let other = group[1..].iter().map(|w| w[2]).find(|&f| {
                    let other = &facets[f as usize];
                    other.site == cell || other.beyond == Beyond::Site(cell)
                });
                let other = other.ok_or(SplitError::Complex { facet })?;
                let mut meeting = planes[other as usize];
                if facets[other as usize].site != cell {
                    meeting = meeting.flipped();
                }
                // Round a facet that is seen from outside of its cell, counter-clockwise, the outward normals of the
                // facet and of its neighbour across an edge have that edge's direction as their cross product.
                let place = place - ribs_of_facets.first[facet as usize];
                let forward = facets[facet as usize].ring[place as usize] == ends[0];
                let own = planes[facet as usize];
                rib.planes = if forward { [own, meeting] } else { [meeting, own] };
            }
            ribs.push(rib);
        }
        let positions = complex.vertices.par_iter().map(Vertex::position).collect();
        Ok(Self { planes, walls, positions, ribs, ribs_of_facets, facets_at_ribs })
    }

    /// The ribs round a facet, in the order of its ring: from vertex k to k + 1.
    pub fn ribs_of(&self, facet: u32) -> &[u32] {
        self.ribs_of_facets.of(facet)
    }

    /// The facets round a rib. Off the walls there are as many cells round it.
    pub fn facets_at(&self, rib: u32) -> &[u32] {
        self.facets_at_ribs.of(rib)
    }

    /// The rib between two facets of one cell.
    pub fn rib_between(&self, facet: u32, other: u32) -> Option<u32> {
        self.ribs_of(facet).iter().copied().find(|&rib| self.facets_at(rib).contains(&other))
    }

    /// The plane of a facet, outward from one of its two cells.
    pub fn plane_from(&self, complex: &Complex, facet: u32, cell: u32) -> FinePlane {
        let plane = self.planes[facet as usize];
        if complex.facets[facet as usize].site == cell { plane } else { plane.flipped() }
    }
}
