//! Closed parts of the mesh that lie in one cell: solids of their own, or voids in a piece.
//!
//! In: the connected surfaces of a cell. Out: the same with each void added to the piece round it. A void that
//! touches the border of its cell is open there to the next cell and shares caps with the piece, so it is connected
//! already; only surfaces without caps are looked at, and these are whole parts of the mesh. Their volume's sign is
//! exact. What lies round them is asked by winding numbers (sums of solid angles), which differ by one and are wrong
//! by rounding only.

use super::SplitError;
use super::components::{Component, Surface};
use super::exact::Fine;
use super::made::Makers;
use crate::geometry::triangle::winding_number;
use glam::DVec3;

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
