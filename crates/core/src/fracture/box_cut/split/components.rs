//! Shards and caps of each cell into connected surfaces.
//!
//! In: shards and caps. Out: components, closed surfaces that each bound one connected piece, voids within it
//! included. Two parts are connected by a border edge that both have, walked in opposite directions; each edge must
//! have exactly two sides, and that check guards all steps before this one.
//!
//! # Closed parts of the mesh that lie in one cell: solids of their own, or voids in a piece
//!
//! In: the connected surfaces of a cell. Out: the same with each void added to the piece round it. A void that
//! touches the border of its cell is open there to the next cell and shares caps with the piece, so it is connected
//! already; only surfaces without caps are looked at, and these are whole parts of the mesh. Their volume's sign is
//! exact. What lies round them is asked by winding numbers (sums of solid angles), which differ by one and are wrong
//! by rounding only.

use glam::DVec3;
use rayon::prelude::*;

use super::{
    Fault, SplitError,
    caps::Region,
    exact::Fine,
    mesh::{Made, Makers},
    walk::Shards,
};
use crate::geometry::{UnionFind, triangle::winding_number};

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

/// Adds voids to the pieces round them, and refuses shells that are inside out or within another's solid.
pub fn join_shells(surface: &Surface, found: Vec<Component>) -> Result<Vec<Component>, SplitError> {
    let mut volumes = Vec::with_capacity(found.len());
    for component in &found {
        volumes.push(if component.regions.is_empty() {
            Some(shell_volume(surface, component)?)
        } else {
            None
        });
    }
    let positive = |volume: &Option<i128>| volume.is_none_or(|v| v > 0);
    let alone = found.len() == 1 && volumes.iter().all(positive);
    if alone || volumes.iter().all(Option::is_none) {
        return Ok(found);
    }
    let soups: Vec<Soup> = found.iter().map(|component| Soup::new(surface, component)).collect();
    let mut round: Vec<Option<usize>> = vec![None; found.len()];
    for (index, volume) in volumes.iter().enumerate() {
        let Some(volume) = volume else { continue };
        let point = soups[index].point_off(surface, found[index].cell);
        let (mut winding, mut nearest) = (0, None);
        for (k, soup) in soups.iter().enumerate().filter(|&(k, _)| k != index) {
            let turns = soup.winding(point);
            winding += turns;
            if turns > 0 && nearest.is_none_or(|n: usize| soup.volume < soups[n].volume) {
                nearest = Some(k);
            }
        }
        if winding != i32::from(*volume < 0) {
            return Err(SplitError::Nesting { triangle: first_triangle(surface, &found[index]) });
        }
        if *volume < 0 {
            round[index] = nearest;
        }
    }
    let mut joined: Vec<Option<Component>> = found.into_iter().map(Some).collect();
    for (index, round) in round.into_iter().enumerate() {
        if let Some(round) = round
            && let Some(void) = joined[index].take()
            && let Some(piece) = &mut joined[round]
        {
            piece.shards.extend(void.shards);
            piece.shards.sort_unstable();
        }
    }
    Ok(joined.into_iter().flatten().collect())
}

/// For messages.
pub fn first_triangle(surface: &Surface, component: &Component) -> u32 {
    component.shards.first().map_or(0, |&shard| surface.shards.shards[shard as usize].triangle)
}

/// Six times the volume in cubic fine units, not zero.
fn shell_volume(surface: &Surface, component: &Component) -> Result<i128, SplitError> {
    let wide = |p: Fine| p.map(i128::from);
    let volume: i128 = component
        .shards
        .iter()
        .map(|&shard| {
            let triangle = surface.shards.shards[shard as usize].triangle;
            let [a, b, c] = surface.makers.mesh.fine_triangle(triangle).map(wide);
            a[0] * (b[1] * c[2] - b[2] * c[1])
                + a[1] * (b[2] * c[0] - b[0] * c[2])
                + a[2] * (b[0] * c[1] - b[1] * c[0])
        })
        .sum();
    if volume == 0 {
        Err(SplitError::Flat { triangle: first_triangle(surface, component) })
    } else {
        Ok(volume)
    }
}

/// A component's triangles on the fine grid, units.
struct Soup {
    triangles: Vec<[DVec3; 3]>,
    volume: f64,
}

impl Soup {
    fn new(surface: &Surface, component: &Component) -> Self {
        let named = surface.triangles(component);
        let triangles: Vec<[DVec3; 3]> =
            named.map(|t| t.map(|made| surface.makers.fine_position(made))).collect();
        let origin = triangles.first().map_or(DVec3::ZERO, |t| t[0]);
        let volume =
            triangles.iter().map(|t| (t[0] - origin).dot((t[1] - origin).cross(t[2] - origin))).sum();
        Self { triangles, volume }
    }

    /// Of the middles of its triangles, the one deepest in the cell. A shell may touch caps, as a cavity whose side
    /// lies in a crack does, and the winding number of a point on a surface means nothing; but no shell has all its
    /// triangles in planes of its cell.
    fn point_off(&self, surface: &Surface, cell: u32) -> DVec3 {
        let Makers { complex, skeleton, .. } = surface.makers;
        let facets =
            complex.facets_of[cell as usize].iter().filter(|&&facet| !skeleton.walls[facet as usize]);
        let planes: Vec<_> = facets.map(|&facet| skeleton.plane_from(complex, facet, cell)).collect();
        let depth =
            |point: DVec3| planes.iter().map(|plane| plane.depth(point)).fold(f64::INFINITY, f64::min);
        let middles =
            self.triangles.iter().map(|t| (t[0] + t[1] + t[2]) / 3.0).map(|point| (depth(point), point));
        middles.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(DVec3::ZERO, |(_, point)| point)
    }

    /// How often the surface goes round a point: 1 inside, -1 inside of a void.
    fn winding(&self, point: DVec3) -> i32 {
        winding_number(self.triangles.iter().copied(), point).round() as i32
    }
}
