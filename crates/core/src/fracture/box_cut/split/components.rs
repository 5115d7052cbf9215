//! Shards and caps of each cell into connected surfaces.
//!
//! In: shards and caps. Out: components, closed surfaces that each bound one connected piece, voids within it
//! included. Two parts are connected by a border edge that both have, walked in opposite directions; each edge must
//! have exactly two sides, and that check guards all steps before this one.

use super::caps::Region;
use super::made::{Made, Makers};
use super::shells::join_shells;
use super::walk::Shards;
use super::{Fault, SplitError};
use crate::geometry::UnionFind;
use rayon::prelude::*;

/// A cap's region: facet, index among the facet's regions.
pub type RegionName = (u32, u32);

/// One connected part of the solid in one cell.
#[derive(Clone, Debug)]
pub struct Component {
    /// Whose part it is.
    pub cell: u32,
    /// Indices of shards, ascending.
    pub shards: Vec<u32>,
    /// Regions of caps, ascending.
    pub regions: Vec<RegionName>,
}

/// Triangles of a shard or region, by name.
pub struct Surface<'a> {
    /// What its vertices are made of.
    pub makers: Makers<'a>,
    /// Parts of the mesh.
    pub shards: &'a Shards,
    /// Regions of each facet.
    pub caps: &'a [Vec<Region>],
}

impl Surface<'_> {
    /// A shard's triangles, a fan: it is convex.
    pub fn shard(&self, shard: u32) -> (u32, impl Iterator<Item = [Made; 3]>) {
        let shard = &self.shards.shards[shard as usize];
        let sides = self.shards.sides(shard);
        let fan = (1..sides.len() - 1).map(|k| [sides[0].start, sides[k].start, sides[k + 1].start]);
        (shard.triangle, fan)
    }

    /// A region's triangles as a cell sees them from outside.
    pub fn region(&self, (facet, region): RegionName, cell: u32) -> impl Iterator<Item = [Made; 3]> {
        let mirrored = self.makers.complex.facets[facet as usize].site != cell;
        let triangles = &self.caps[facet as usize][region as usize].triangles;
        triangles.iter().map(move |&[a, b, c]| if mirrored { [a, c, b] } else { [a, b, c] })
    }

    /// All triangles of a component.
    pub fn triangles(&self, component: &Component) -> impl Iterator<Item = [Made; 3]> {
        let shards = component.shards.iter().flat_map(|&shard| self.shard(shard).1);
        shards.chain(component.regions.iter().flat_map(|&region| self.region(region, component.cell)))
    }
}

/// Components by ascending cell; those of a cell by their first shard or region.
pub fn components(surface: &Surface, fault: Fault) -> Result<Vec<Component>, SplitError> {
    let shards = &surface.shards.shards;
    let cells = surface.makers.complex.facets_of.len();
    let mut first = vec![0_u32; cells + 1];
    for shard in shards {
        first[shard.cell as usize + 1] += 1;
    }
    for cell in 0..cells {
        first[cell + 1] += first[cell];
    }
    let mut by_cell = vec![0_u32; shards.len()];
    let mut next = first.clone();
    for (index, shard) in shards.iter().enumerate() {
        by_cell[next[shard.cell as usize] as usize] = index as u32;
        next[shard.cell as usize] += 1;
    }
    let of_cell = |cell: u32| {
        let shards = &by_cell[first[cell as usize] as usize..first[cell as usize + 1] as usize];
        components_of(surface, cell, shards, fault)
    };
    let found: Vec<Result<Vec<Component>, SplitError>> =
        (0..cells as u32).into_par_iter().map(of_cell).collect();
    let mut all = Vec::new();
    for components in found {
        all.extend(components?);
    }
    Ok(all)
}

/// A border edge: lower name, higher name, whether it is walked from the lower, part.
type Border = (Made, Made, bool, u32);

fn components_of(
    surface: &Surface,
    cell: u32,
    shards: &[u32],
    fault: Fault,
) -> Result<Vec<Component>, SplitError> {
    let mut border: Vec<Border> = Vec::new();
    let mut add =
        |from: Made, to: Made, part: u32| border.push((from.min(to), from.max(to), from < to, part));
    for (part, &shard) in shards.iter().enumerate() {
        let sides = surface.shards.sides(&surface.shards.shards[shard as usize]);
        for (k, side) in sides.iter().enumerate() {
            add(side.start, sides[(k + 1) % sides.len()].start, part as u32);
        }
    }
    let mut regions: Vec<RegionName> = Vec::new();
    for &facet in &surface.makers.complex.facets_of[cell as usize] {
        let mirrored = surface.makers.complex.facets[facet as usize].site != cell && !fault.keeps_side(facet);
        for (index, region) in surface.caps[facet as usize].iter().enumerate() {
            let part = (shards.len() + regions.len()) as u32;
            regions.push((facet, index as u32));
            for &[from, to] in &region.rim {
                if mirrored { add(to, from, part) } else { add(from, to, part) }
            }
        }
    }
    border.sort_unstable();
    let mut joined = UnionFind::new(shards.len() + regions.len());
    for edge in border.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        match edge {
            [(_, _, false, one), (_, _, true, other)] => {
                joined.join(*one, *other);
            }
            _ => return Err(SplitError::OpenPiece { cell }),
        }
    }
    let mut found: Vec<Component> = Vec::new();
    let mut component_of = vec![None; joined.count()];
    for part in 0..joined.count() {
        let root = joined.find(part as u32) as usize;
        let index = *component_of[root].get_or_insert_with(|| {
            found.push(Component { cell, shards: Vec::new(), regions: Vec::new() });
            found.len() - 1
        });
        match shards.get(part) {
            Some(&shard) => found[index].shards.push(shard),
            None => found[index].regions.push(regions[part - shards.len()]),
        }
    }
    join_shells(surface, found)
}
