//! The mesh as faces in grid space, its holes closed.

use std::collections::HashMap;

use glam::DVec3;
use rayon::prelude::*;

use super::{
    VoxelizeError,
    color::ColorSource,
    rasterise::{Face, FaceKind, last_cell},
};
use crate::{mesh::Mesh, svo::Grid};

/// Coordinates this close to a grid plane, in voxels, are on it: a box of whole voxels stays one after the rounding of its file.
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

/// Mesh points to grid space, on grid planes where they are meant to be, and never outside the cells that may hold surface.
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

/// The triangles that have an area, in grid space.
pub(super) fn faces_of(mesh: &Mesh, unsigned: &[bool], grid: &Grid) -> Vec<Face> {
    let to_grid = ToGrid::new(grid);
    let points: Vec<[f64; 3]> =
        mesh.positions.par_iter().map(|p| to_grid.point(DVec3::from_array(p.map(f64::from)))).collect();
    mesh.triangles
        .par_iter()
        .enumerate()
        .filter_map(|(i, corners)| {
            let kind = if unsigned.get(i) == Some(&true) { FaceKind::Unsigned } else { FaceKind::Mesh };
            let [a, b, c] = corners.map(|v| points.get(v as usize).copied());
            Face::new([a?, b?, c?], i as u32, kind)
        })
        .collect()
}

/// Adds the triangles that close the holes, coloured like the mesh along the hole's edge.
pub(super) fn close_holes(
    mesh: &Mesh,
    cones: &[([u32; 2], DVec3)],
    grid: &Grid,
    faces: &mut Vec<Face>,
    colors: &mut ColorSource<'_>,
) {
    if cones.is_empty() {
        return;
    }
    let to_grid = ToGrid::new(grid);
    let position = |v: u32| mesh.positions.get(v as usize).map(|p| DVec3::from_array(p.map(f64::from)));
    let undirected = |a: u32, b: u32| (a.min(b), a.max(b));
    let mut beside: HashMap<(u32, u32), Option<u32>> =
        cones.iter().map(|([a, b], _)| (undirected(*a, *b), None)).collect();
    for (i, face) in faces.iter().enumerate() {
        let Some(&[a, b, c]) = mesh.triangles.get(face.triangle as usize) else { continue };
        for (p, q) in [(a, b), (b, c), (c, a)] {
            if let Some(found) = beside.get_mut(&undirected(p, q)) {
                found.get_or_insert(i as u32);
            }
        }
    }
    colors.close(cones.iter().map(|([a, b], _)| {
        let face = &faces[(*beside.get(&undirected(*a, *b))?)? as usize];
        let middle = (position(*a)? + position(*b)?) / 2.0;
        Some((face.clone(), to_grid.point(middle)))
    }));
    for (i, ([a, b], apex)) in cones.iter().enumerate() {
        if let (Some(a), Some(b)) = (position(*a), position(*b)) {
            let corners = [a, b, *apex].map(|p| to_grid.point(p));
            faces.extend(Face::new(corners, i as u32, FaceKind::Closing));
        }
    }
}
