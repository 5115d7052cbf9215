//! Pieces of no thickness, glued to their neighbours.
//!
//! In: components. Out: sets of them, each of which becomes one piece. Where a face of the mesh lies in the plane of
//! a facet, as in a box cut by a regular grid of sites, the moved mesh (see `exact`) has that face on one side of the
//! plane by an infinitely small step; the cell there then holds a sheet of no volume, the face on the one side and a
//! cap on the other. Such a sheet is glued to what is behind its largest cap, and that cap is left out, so that the
//! neighbour keeps its outside face. What is glued stays closed: both sides of a cap have the same rim.

use super::SplitError;
use super::components::{Component, RegionName, Surface, first_triangle};
use crate::geometry::UnionFind;
use glam::DVec3;
use rayon::prelude::*;

/// Volume over surface below which a piece has no thickness, units: rounding makes 1e-11, a sheet one fine unit thick
/// 2e-3.
const SHEET: f64 = 1e-6;

/// Volume over the cube of its extent below which a piece is a needle or a point: its volume and surface are both
/// rounding.
const NEEDLE: f64 = 1e-13;

/// What becomes one piece.
#[derive(Clone, Debug)]
pub struct Glued {
    /// The cell of its largest component.
    pub cell: u32,
    /// Indices of components, ascending.
    pub components: Vec<u32>,
    /// Regions within it, ascending, that are no longer its surface.
    pub left_out: Vec<RegionName>,
}

/// Glues sheets; all other components stay alone. In the order of components.
pub fn glue(surface: &Surface, components: &[Component]) -> Result<Vec<Glued>, SplitError> {
    let volumes: Vec<(f64, bool)> =
        components.par_iter().map(|component| measure(surface, component)).collect();
    // A void that was taken for a component of its own.
    if let Some(index) = volumes.iter().position(|&(volume, sheet)| volume < 0.0 && !sheet) {
        return Err(SplitError::Nesting { triangle: first_triangle(surface, &components[index]) });
    }
    if volumes.iter().all(|&(_, sheet)| !sheet) {
        return Ok(components.iter().enumerate().map(alone).collect());
    }
    // Both sides of each region, in the order of their names.
    let mut sides: Vec<(RegionName, u32)> = Vec::new();
    for (index, component) in components.iter().enumerate() {
        sides.extend(component.regions.iter().map(|&region| (region, index as u32)));
    }
    sides.sort_unstable();
    let owners = |region: RegionName| {
        let first = sides.partition_point(|side| side.0 < region);
        sides[first..].iter().take_while(move |side| side.0 == region).map(|side| side.1)
    };
    let mut joined = join_sheets(surface, components, &volumes, owners)?;
    Ok(collect(components, &volumes, &sides, &mut joined))
}

fn alone((index, component): (usize, &Component)) -> Glued {
    Glued { cell: component.cell, components: vec![index as u32], left_out: Vec::new() }
}

/// Joins each sheet to what is behind its largest cap. No two components that have a thickness are ever joined.
fn join_sheets<Owners: Iterator<Item = u32>>(
    surface: &Surface,
    components: &[Component],
    volumes: &[(f64, bool)],
    owners: impl Fn(RegionName) -> Owners,
) -> Result<UnionFind, SplitError> {
    let mut joined = UnionFind::new(components.len());
    // Of each root: whether there is something in its set that is no sheet.
    let mut has_thickness: Vec<bool> = volumes.iter().map(|&(_, sheet)| !sheet).collect();
    // A sheet's neighbour may be a sheet itself, as along the edges of a box in planes; each round joins some to
    // others.
    let mut is_growing = true;
    while std::mem::take(&mut is_growing) {
        for (index, component) in components.iter().enumerate() {
            let own = joined.find(index as u32);
            if has_thickness[own as usize] {
                continue;
            }
            let mut largest: Option<(f64, u32)> = None;
            for &region in &component.regions {
                let area = area(surface, region, component.cell);
                for owner in owners(region) {
                    let other = joined.find(owner);
                    if other != own && largest.is_none_or(|(best, _)| area > best) {
                        largest = Some((area, other));
                    }
                }
            }
            if let Some((_, other)) = largest {
                joined.join(own, other);
                has_thickness[own.min(other) as usize] = has_thickness[other as usize];
                is_growing = true;
            }
        }
    }
    let flat = (0..components.len()).find(|&index| !has_thickness[joined.find(index as u32) as usize]);
    if let Some(index) = flat {
        return Err(SplitError::Flat { triangle: first_triangle(surface, &components[index]) });
    }
    Ok(joined)
}

/// Sets of joined components, by ascending cell.
fn collect(
    components: &[Component],
    volumes: &[(f64, bool)],
    sides: &[(RegionName, u32)],
    joined: &mut UnionFind,
) -> Vec<Glued> {
    let mut glued: Vec<Option<Glued>> = components.iter().enumerate().map(alone).map(Some).collect();
    for index in 0..components.len() {
        let root = joined.find(index as u32) as usize;
        if root != index
            && let Some(part) = glued[index].take()
            && let Some(whole) = &mut glued[root]
        {
            whole.components.extend(part.components);
        }
    }
    for pair in sides.chunk_by(|a, b| a.0 == b.0) {
        let roots: Vec<u32> = pair.iter().map(|side| joined.find(side.1)).collect();
        if let [one, other] = roots[..]
            && one == other
            && let Some(whole) = &mut glued[one as usize]
        {
            whole.left_out.push(pair[0].0);
        }
    }
    let mut glued: Vec<Glued> = glued.into_iter().flatten().collect();
    for whole in &mut glued {
        let largest = whole.components.iter().copied().max_by(|&a, &b| {
            let volume = |index: u32| volumes[index as usize].0;
            volume(a).total_cmp(&volume(b)).then(b.cmp(&a))
        });
        whole.cell = largest.map_or(whole.cell, |index| components[index as usize].cell);
    }
    glued.sort_by_key(|whole| whole.cell);
    glued
}

/// Six times the volume, and whether that is that of a sheet.
fn measure(surface: &Surface, component: &Component) -> (f64, bool) {
    let mut origin = None;
    let (mut volume, mut doubled_area, mut extent) = (0.0, 0.0, 0.0_f64);
    for triangle in surface.triangles(component) {
        let [a, b, c] = triangle.map(|made| surface.makers.fine_position(made));
        let origin = *origin.get_or_insert(a);
        let normal = (b - a).cross(c - a);
        volume += normal.dot(a - origin);
        doubled_area += normal.length();
        extent = extent.max(a.distance_squared(origin));
    }
    let rounding = NEEDLE * extent * extent.sqrt();
    (volume, volume.abs() <= (3.0 * SHEET * doubled_area).max(6.0 * rounding))
}

fn area(surface: &Surface, region: RegionName, cell: u32) -> f64 {
    let doubled: DVec3 = surface
        .region(region, cell)
        .map(|t| {
            let [a, b, c] = t.map(|made| surface.makers.fine_position(made));
            (b - a).cross(c - a)
        })
        .sum();
    doubled.length()
}
