//! Polygonises the zero surface of a signed distance, for built-in figures.
//!
//! In: a distance-like function (negative inside) and a grid. Out: a closed surface, outward oriented, with one vertex
//! per sheet and cell (dual marching cubes). Two sheets in one cell get a vertex each, so the surface stays a
//! 2-manifold where plain surface nets would pinch.

use glam::Vec3;
use rayon::prelude::*;

/// Samples per side of the blocks that are skipped when the surface cannot reach them.
const BLOCK: usize = 8;
/// Largest assumed gradient of the function, for that test.
const STEEPNESS: f32 = 1.8;
const NO_CELL: u32 = u32::MAX;

/// A grid of cubic cells; samples lie on the cell corners.
pub(super) struct Lattice {
    /// Position of sample 0.
    pub low: Vec3,
    /// Edge length of a cell.
    pub h: f32,
    /// Number of cells along x, y, z.
    pub cells: [usize; 3],
}

/// A cell that the surface crosses.
struct Cell {
    at: [usize; 3],
    /// The cell's vertex for each crossed edge; edge index = axis * 4 + du + 2 dv.
    sheet_of_edge: [u8; 12],
    vertices: Vec<Vec3>,
}

/// Fills a block: low corner, size, and the distance at a point.
type Fill<'a> = dyn FnMut([usize; 3], [usize; 3], &dyn Fn(Vec3) -> f32) + 'a;

impl Lattice {
    fn samples(&self) -> [usize; 3] {
        self.cells.map(|n| n + 1)
    }

    fn sample_index(&self, at: [usize; 3]) -> usize {
        let n = self.samples();
        (at[2] * n[1] + at[1]) * n[0] + at[0]
    }

    fn cell_index(&self, at: [usize; 3]) -> usize {
        (at[2] * self.cells[1] + at[1]) * self.cells[0] + at[0]
    }

    fn position(&self, at: [usize; 3]) -> Vec3 {
        self.low + Vec3::from(at.map(|k| k as f32)) * self.h
    }

    /// The function at every sample; samples far from the surface only have the right sign.
    fn sample(&self, distance: &(impl Fn(Vec3) -> f32 + Sync)) -> Vec<f32> {
        let n = self.samples();
        let layer = n[0] * n[1];
        let mut values = vec![0.0f32; layer * n[2]];
        values.par_chunks_mut(layer * BLOCK).enumerate().for_each(|(slab, values)| {
            let z_low = slab * BLOCK;
            let depth = values.len() / layer;
            let mut fill = |low: [usize; 3], size: [usize; 3], f: &dyn Fn(Vec3) -> f32| {
                for z in low[2]..low[2] + size[2] {
                    for y in low[1]..low[1] + size[1] {
                        for x in low[0]..low[0] + size[0] {
                            values[((z - z_low) * n[1] + y) * n[0] + x] = f(self.position([x, y, z]));
                        }
                    }
                }
            };
            self.descend([0, 0, z_low], [n[0], n[1], depth], BLOCK, distance, &mut fill);
        });
        values
    }

    /// Splits a box of samples into blocks and fills those far from the surface with one value.
    fn descend(
        &self,
        low: [usize; 3],
        size: [usize; 3],
        block: usize,
        distance: &(impl Fn(Vec3) -> f32 + Sync),
        fill: &mut Fill<'_>,
    ) {
        let ends: [usize; 3] = std::array::from_fn(|k| low[k] + size[k]);
        for z in (low[2]..ends[2]).step_by(block) {
            for y in (low[1]..ends[1]).step_by(block) {
                for x in (low[0]..ends[0]).step_by(block) {
                    let at = [x, y, z];
                    let part: [usize; 3] = std::array::from_fn(|k| block.min(ends[k] - at[k]));
                    let half = Vec3::from(part.map(|k| (k - 1) as f32)) * (self.h / 2.0);
                    let middle = distance(self.position(at) + half);
                    // With a margin of one cell, so that no crossed edge has an end in a filled block.
                    if middle.abs() > (half.length() + 2.0 * self.h) * STEEPNESS {
                        fill(at, part, &|_| middle);
                    } else if block > 4 {
                        self.descend(at, part, block / 2, distance, fill);
                    } else {
                        fill(at, part, distance);
                    }
                }
            }
        }
    }

    /// Moves the surface off grid faces whose solid corners are the ends of one diagonal, by flipping the sign of the
    /// corner nearest to the surface. A sheet that crosses such a face twice would produce an edge with four triangles.
    /// Faces not settled after a few rounds stay: the surface is still closed, but pinched there.
    fn settle(&self, values: &mut [f32]) {
        let n = self.samples();
        let stride = [1, n[0], n[0] * n[1]];
        let layer = stride[2];
        let seen = &*values;
        let mut flips: Vec<usize> = (0..n[2])
            .into_par_iter()
            .flat_map_iter(|z| {
                (z * layer..(z + 1) * layer).filter_map(move |s| self.twisted_corner(s, stride, seen))
            })
            .collect();
        for _ in 0..16 {
            flips.sort_unstable();
            flips.dedup();
            for &s in &flips {
                values[s] = -values[s];
            }
            // Only faces at a changed corner can be ambiguous now; these samples are their low corners.
            let around = |s: usize| {
                (0..7)
                    .filter_map(move |k: usize| s.checked_sub((0..3).map(|a| (k >> a & 1) * stride[a]).sum()))
            };
            let low_corners: Vec<usize> = flips.iter().flat_map(|&s| around(s)).collect();
            flips = low_corners.iter().filter_map(|&s| self.twisted_corner(s, stride, values)).collect();
        }
    }

    /// The corner to flip if one of the three faces at sample `s` has solid corners at the ends of one diagonal only.
    fn twisted_corner(&self, s: usize, stride: [usize; 3], values: &[f32]) -> Option<usize> {
        let solid = |k: usize| values[k] < 0.0;
        (0..3).find_map(|axis| {
            let (u, v) = (stride[(axis + 1) % 3], stride[(axis + 2) % 3]);
            // The outermost samples are outside, so a face that wraps round the array's edge is never ambiguous.
            let face = [s, s + u, s + u + v, s + v];
            if face[2] >= values.len() || solid(s) == solid(s + u) || solid(s) == solid(s + v) {
                return None;
            }
            let near = |a: &usize, b: &usize| values[*a].abs().total_cmp(&values[*b].abs());
            (solid(s) == solid(s + u + v)).then(|| face.into_iter().min_by(near)).flatten()
        })
    }

    /// The cell at `at`, if the surface crosses it.
    fn cross(&self, at: [usize; 3], values: &[f32]) -> Option<Cell> {
        let corner = |k: usize| {
            let c = [at[0] + (k & 1), at[1] + (k >> 1 & 1), at[2] + (k >> 2)];
            (c, values[self.sample_index(c)])
        };
        let corners: [([usize; 3], f32); 8] = std::array::from_fn(corner);
        let inside = corners.map(|(_, d)| d < 0.0);
        if inside.iter().all(|&i| i) || !inside.iter().any(|&i| i) {
            return None;
        }
        let mut sheet: [u8; 12] = std::array::from_fn(|k| k as u8);
        let mut join = |a: usize, b: usize| {
            let (keep, lose) = (sheet[a].min(sheet[b]), sheet[a].max(sheet[b]));
            for s in &mut sheet {
                if *s == lose {
                    *s = keep;
                }
            }
        };
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for side in 0..2 {
                let solid = |du: usize, dv: usize| inside[side << axis | du << u | dv << v];
                let u_edge = |dv: usize| u * 4 + dv + 2 * side;
                let v_edge = |du: usize| v * 4 + side + 2 * du;
                let count = [(0, 0), (1, 0), (0, 1), (1, 1)].iter().filter(|&&(a, b)| solid(a, b)).count();
                let diagonal = count == 2 && solid(0, 0) == solid(1, 1);
                if diagonal {
                    // Both cells at this face separate the solid corners, so the sheets match.
                    for (du, dv) in [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().filter(|&(a, b)| solid(a, b))
                    {
                        join(u_edge(dv), v_edge(du));
                    }
                } else {
                    let crossed: Vec<usize> = (0..2)
                        .filter(|&dv| solid(0, dv) != solid(1, dv))
                        .map(u_edge)
                        .chain((0..2).filter(|&du| solid(du, 0) != solid(du, 1)).map(v_edge))
                        .collect();
                    if let [a, b] = crossed[..] {
                        join(a, b);
                    }
                }
            }
        }
        let mut cell = Cell { at, sheet_of_edge: [0; 12], vertices: Vec::new() };
        let mut roots: Vec<(u8, f32)> = Vec::new();
        for axis in 0..3 {
            for k in 0..4 {
                let from = (k & 1) << ((axis + 1) % 3) | (k >> 1) << ((axis + 2) % 3);
                let to = from | 1 << axis;
                if inside[from] == inside[to] {
                    continue;
                }
                let ((a, da), (b, db)) = (corners[from], corners[to]);
                let p = self.position(a).lerp(self.position(b), da / (da - db));
                let edge = axis * 4 + k;
                let slot = roots.iter().position(|&(root, _)| root == sheet[edge]).unwrap_or_else(|| {
                    roots.push((sheet[edge], 0.0));
                    cell.vertices.push(Vec3::ZERO);
                    roots.len() - 1
                });
                cell.sheet_of_edge[edge] = slot as u8;
                cell.vertices[slot] += p;
                roots[slot].1 += 1.0;
            }
        }
        for (vertex, (_, count)) in cell.vertices.iter_mut().zip(&roots) {
            *vertex /= *count;
        }
        Some(cell)
    }
}

/// The surface where `distance` changes sign; the outermost samples must be outside.
pub(super) fn polygonize(
    lattice: &Lattice,
    distance: impl Fn(Vec3) -> f32 + Sync,
) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut values = lattice.sample(&distance);
    lattice.settle(&mut values);
    let [nx, ny, nz] = lattice.cells;
    let cells: Vec<Cell> = (0..nz)
        .into_par_iter()
        .flat_map_iter(|z| {
            let values = &values;
            (0..ny).flat_map(move |y| (0..nx).filter_map(move |x| lattice.cross([x, y, z], values)))
        })
        .collect();
    let mut cell_at = vec![NO_CELL; nx * ny * nz];
    let mut first_vertex = Vec::with_capacity(cells.len());
    let mut positions: Vec<Vec3> = Vec::with_capacity(cells.len());
    for (k, cell) in cells.iter().enumerate() {
        cell_at[lattice.cell_index(cell.at)] = k as u32;
        first_vertex.push(positions.len() as u32);
        positions.extend(&cell.vertices);
    }
    let triangles = cells
        .par_iter()
        .flat_map_iter(|cell| {
            let (values, cell_at, first_vertex, positions, cells) =
                (&values, &cell_at, &first_vertex, &positions, &cells);
            // The three edges at the cell's low corner: every edge of the grid belongs to one cell.
            (0..3).flat_map(move |axis| {
                let mut end = cell.at;
                end[axis] += 1;
                let starts_inside = values[lattice.sample_index(cell.at)] < 0.0;
                if starts_inside == (values[lattice.sample_index(end)] < 0.0) {
                    return Vec::new();
                }
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let mut corner = [0u32; 4];
                for (slot, (du, dv)) in [(0, 0), (1, 0), (1, 1), (0, 1)].into_iter().enumerate() {
                    let mut at = cell.at;
                    let (Some(cu), Some(cv)) = (at[u].checked_sub(du), at[v].checked_sub(dv)) else {
                        return Vec::new();
                    };
                    (at[u], at[v]) = (cu, cv);
                    let k = cell_at[lattice.cell_index(at)] as usize;
                    let sheet = cells[k].sheet_of_edge[axis * 4 + du + 2 * dv];
                    corner[slot] = first_vertex[k] + u32::from(sheet);
                }
                if !starts_inside {
                    corner.reverse();
                }
                let [a, b, c, d] = corner;
                let length = |i: u32, j: u32| positions[i as usize].distance_squared(positions[j as usize]);
                if length(a, c) <= length(b, d) {
                    vec![[a, b, c], [a, c, d]]
                } else {
                    vec![[a, b, d], [b, c, d]]
                }
            })
        })
        .collect();
    (positions, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipping_far_blocks_changes_no_sign() {
        let lattice = Lattice { low: Vec3::splat(-0.6), h: 0.04, cells: [30; 3] };
        let ball = |p: Vec3| p.length() - 0.4;
        let values = lattice.sample(&ball);
        let mut skipped = 0;
        for z in 0..=30 {
            for y in 0..=30 {
                for x in 0..=30 {
                    let exact = ball(lattice.position([x, y, z]));
                    let held = values[lattice.sample_index([x, y, z])];
                    assert_eq!(held < 0.0, exact < 0.0);
                    skipped += usize::from(held != exact);
                    assert!(exact.abs() > 0.04 || held == exact, "a sample at the surface was skipped");
                }
            }
        }
        assert!(skipped > 5_000, "nothing was skipped: {skipped}");
    }

    #[test]
    fn noise_gives_a_surface_whose_edges_pair_up() {
        // Random signs are the worst case for ambiguous faces.
        let lattice = Lattice { low: Vec3::ZERO, h: 1.0, cells: [14; 3] };
        let (_, triangles) = polygonize(&lattice, |p| {
            if p.min_element() < 1.0 || p.max_element() > 13.0 {
                1.0
            } else {
                super::super::paint::noise(p) - 0.5
            }
        });
        assert!(triangles.len() > 1_000);
        let mut edges = std::collections::HashMap::new();
        for t in &triangles {
            for k in 0..3 {
                *edges.entry((t[k], t[(k + 1) % 3])).or_insert(0) += 1;
            }
        }
        assert!(edges.iter().all(|(&(a, b), n)| edges.get(&(b, a)) == Some(n)));
    }
}
