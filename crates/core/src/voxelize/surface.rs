//! The mesh as faces in grid space, with its holes closed.

use std::collections::{HashMap, HashSet};

use glam::DVec3;
use rayon::prelude::*;

use super::{
    VoxelizeError,
    color::ColorSource,
    rasterise::{Face, FaceKind, last_cell},
};
use crate::{
    mesh::{Mesh, boundary_cones, topology},
    svo::Grid,
};

/// Coordinates within this distance of a grid plane, voxels, are snapped to it, so that a box of whole voxels survives
/// the rounding in its file.
const SNAP_VOXELS: f64 = 1e-6;

/// The grid of the vertices that triangles use.
pub(super) fn grid_of(mesh: &Mesh, level: u32) -> Result<Grid, VoxelizeError> {
    let (low, high) = mesh
        .triangles
        .par_iter()
        .flatten_iter()
        .filter_map(|&v| mesh.positions.get(v as usize))
        .map(|p| (DVec3::from_array(p.map(f64::from)), DVec3::from_array(p.map(f64::from))))
        .reduce_with(|a, b| (a.0.min(b.0), a.1.max(b.1)))
        .ok_or(VoxelizeError::Empty)?;
    if !low.is_finite() || !high.is_finite() {
        return Err(VoxelizeError::Empty);
    }
    Ok(Grid::around(low, high, level))
}

/// Transforms mesh points to grid space, snapped to grid planes, and clamped to the cells that may contain surface.
struct ToGrid {
    grid: Grid,
    high: f64,
}

impl ToGrid {
    fn new(grid: &Grid) -> Self {
        Self { grid: *grid, high: f64::from(last_cell(grid.level) + 1) }
    }

    fn point(&self, p: DVec3) -> [f64; 3] {
        self.grid.from_mesh(p).to_array().map(|v| {
            let whole = v.round();
            let v = if (v - whole).abs() < SNAP_VOXELS { whole } else { v };
            v.clamp(1.0, self.high)
        })
    }
}

/// The non-degenerate triangles, in grid space.
pub(super) fn faces_of(mesh: &Mesh, unsigned: &[bool], grid: &Grid) -> Vec<Face> {
    let to_grid = ToGrid::new(grid);
    let points: Vec<[f64; 3]> =
        mesh.positions.par_iter().map(|p| to_grid.point(DVec3::from_array(p.map(f64::from)))).collect();
    mesh.triangles
        .par_iter()
        .enumerate()
        .filter_map(|(i, corners)| {
            let signed = unsigned.get(i) != Some(&true);
            let as_read = || corners.map(|v| mesh.positions[v as usize].map(f64::from));
            let [a, b, c] = corners.map(|v| points.get(v as usize).copied());
            Some(Face { signed, ..Face::new([a?, b?, c?], as_read, i as u32, FaceKind::Mesh)? })
        })
        .collect()
}

/// The holes of a mesh, as closing triangles.
#[derive(Clone, Debug, Default)]
pub(super) struct Holes {
    /// Triangles of a hole's edge and an apex, mesh units; those of parts with a meaningful orientation come first.
    cones: Vec<[[f32; 3]; 3]>,
    /// Number of cones of oriented parts.
    signed: usize,
    /// For each cone the mesh's triangles along its edge, ascending.
    beside: Vec<Vec<u32>>,
}

impl Holes {
    /// The holes of a checked mesh. Parts with and without orientation are closed separately, as in the inside test.
    pub(super) fn of(mesh: &Mesh, unsigned: &[bool]) -> Self {
        let mut cones: Vec<[[f32; 3]; 3]>;
        let signed;
        if unsigned.contains(&true) {
            let part = |of: bool| {
                let triangles =
                    mesh.triangles.iter().zip(unsigned).filter(|(_, u)| **u == of).map(|(t, _)| *t);
                let part = Mesh {
                    positions: mesh.positions.clone(),
                    triangles: triangles.collect(),
                    ..Mesh::default()
                };
                boundary_cones(&part, &topology(&part))
            };
            cones = part(false);
            signed = cones.len();
            cones.extend(part(true));
        } else {
            cones = boundary_cones(mesh, &topology(mesh));
            signed = cones.len();
        }
        let beside = triangles_beside(mesh, &cones);
        Self { cones, signed, beside }
    }

    /// Adds faces that close the holes, coloured like the mesh along the hole's edge.
    pub(super) fn close(&self, grid: &Grid, faces: &mut Vec<Face>, colors: &mut ColorSource<'_>) {
        if self.cones.is_empty() {
            return;
        }
        let to_grid = ToGrid::new(grid);
        let wide = |p: [f32; 3]| DVec3::from_array(p.map(f64::from));
        // Faces are in the order of the mesh's triangles; triangles degenerate at this level are missing.
        let face_of = |triangle: &u32| {
            let at = faces.binary_search_by_key(triangle, |face| face.triangle).ok()?;
            Some(faces[at].clone())
        };
        let meets = self.cones.iter().zip(&self.beside).map(|([a, b, _], beside)| {
            Some((beside.iter().find_map(face_of)?, to_grid.point((wide(*a) + wide(*b)) / 2.0)))
        });
        colors.close(meets);
        for (i, cone) in self.cones.iter().enumerate() {
            let corners = cone.map(|p| to_grid.point(wide(p)));
            let face = Face::new(corners, || corners, i as u32, FaceKind::Closing);
            faces.extend(face.map(|face| Face { signed: i < self.signed, ..face }));
        }
    }
}

type Position = [u32; 3];

/// Bit patterns that are equal for equal positions: -0 counts as 0.
fn bits(p: [f32; 3]) -> Position {
    p.map(|v| (v + 0.0).to_bits())
}

fn edge(a: [f32; 3], b: [f32; 3]) -> (Position, Position) {
    let (a, b) = (bits(a), bits(b));
    (a.min(b), a.max(b))
}

/// The triangles along each cone's edge; a cone is an edge of a hole and an apex.
fn triangles_beside(mesh: &Mesh, cones: &[[[f32; 3]; 3]]) -> Vec<Vec<u32>> {
    let rim: HashSet<Position> = cones.iter().flat_map(|[a, b, _]| [bits(*a), bits(*b)]).collect();
    let on_rim: Vec<bool> = mesh.positions.par_iter().map(|p| rim.contains(&bits(*p))).collect();
    let mut beside: HashMap<(Position, Position), Vec<u32>> = HashMap::with_capacity(cones.len());
    for (t, &[a, b, c]) in mesh.triangles.iter().enumerate() {
        for (p, q) in [(a as usize, b as usize), (b as usize, c as usize), (c as usize, a as usize)] {
            if on_rim[p] && on_rim[q] {
                beside.entry(edge(mesh.positions[p], mesh.positions[q])).or_default().push(t as u32);
            }
        }
    }
    cones.iter().map(|[a, b, _]| beside.get(&edge(*a, *b)).cloned().unwrap_or_default()).collect()
}
