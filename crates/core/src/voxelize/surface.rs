//! The mesh as faces in grid space, with its holes closed.
//!
//! # The colour of a point on the mesh: material colour times texture times vertex colour
//!
//! In: the mesh, a face and a point on it. Out: sRGB values as floats, so that parts of a voxel can be averaged by
//! area.

use std::collections::{HashMap, HashSet};

use glam::DVec3;
use rayon::prelude::*;

use super::{
    VoxelizeError,
    rasterise::{Face, FaceKind, last_cell},
};
use crate::{
    mesh::{Material, Mesh, Texture, boundary_cones, topology},
    svo::Grid,
};

/// Coordinates within this distance of a grid plane, voxels, are snapped to it, so that a box of whole voxels survives
/// the rounding in its file.
const SNAP_VOXELS: f64 = 1e-6;

/// The grid of the vertices that triangles use. `own` is the edge of the voxels of which the mesh is the surface, mesh
/// units, at whole multiples of it: where they all find room, the grid has these voxels.
pub(super) fn grid_of(mesh: &Mesh, level: u32, own: Option<f64>) -> Result<Grid, VoxelizeError> {
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
    let around = Grid::around(low, high, level);
    Ok(match own {
        Some(edge) if around.h <= edge => Grid { level, origin: low - DVec3::splat(edge), h: edge },
        _ => around,
    })
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

/// Default colour of a surface.
const PLAIN: [u8; 3] = [200, 190, 175];

/// Source of leaf colours.
pub(super) struct ColorSource<'a> {
    mesh: &'a Mesh,
    vertex_colors: bool,
    textures: bool,
    /// Colour of every closing face.
    closing: Vec<[u8; 3]>,
}

impl<'a> ColorSource<'a> {
    pub(super) fn new(mesh: &'a Mesh) -> Self {
        let vertices = mesh.positions.len();
        Self {
            mesh,
            vertex_colors: vertices > 0 && mesh.colors.len() == vertices,
            textures: mesh.uvs.len() == vertices && mesh.materials.iter().any(|m| m.texture.is_some()),
            closing: Vec::new(),
        }
    }

    /// Gives every closing face the colour of an adjacent face: `neighbours` are those faces, each with a point on it.
    pub(super) fn close(&mut self, neighbours: impl Iterator<Item = Option<(Face, [f64; 3])>>) {
        let colors = neighbours.map(|meets| {
            meets.map_or(PLAIN, |(face, point)| {
                self.at(&face, point).map(|c| c.round().clamp(0.0, 255.0) as u8)
            })
        });
        self.closing = colors.collect();
    }

    /// Whether the colour varies between points or triangles.
    pub(super) fn varies(&self) -> bool {
        self.vertex_colors || self.textures || self.mesh.materials.len() > 1
    }

    fn material(&self, face: &Face) -> Option<&Material> {
        let index = self.mesh.triangle_material.get(face.triangle as usize)?;
        self.mesh.materials.get(*index as usize)
    }

    /// The colour of a whole triangle.
    pub(super) fn of_triangle(&self, face: &Face) -> [u8; 3] {
        if face.kind == FaceKind::Closing {
            return self.closing.get(face.triangle as usize).copied().unwrap_or(PLAIN);
        }
        self.material(face).map_or(PLAIN, |material| material.color)
    }

    /// The colour at `point_in_grid` on `face`, 0..=255.
    pub(super) fn at(&self, face: &Face, point_in_grid: [f64; 3]) -> [f32; 3] {
        let material = self.material(face);
        let mut color = match material {
            Some(material) => material.color.map(f32::from),
            None if self.vertex_colors => [255.0; 3],
            None => PLAIN.map(f32::from),
        };
        let Some(corners) = self.mesh.triangles.get(face.triangle as usize) else { return color };
        if !self.vertex_colors && !self.textures {
            return color;
        }
        let weights = barycentric(face, point_in_grid);
        let mut times = |factor: [f32; 3]| color.iter_mut().zip(factor).for_each(|(c, f)| *c *= f / 255.0);
        if self.vertex_colors {
            let of = |i: usize| self.mesh.colors[corners[i] as usize].map(f32::from);
            let (a, b, c) = (of(0), of(1), of(2));
            times(std::array::from_fn(|i| a[i] * weights[0] + b[i] * weights[1] + c[i] * weights[2]));
        }
        if self.textures
            && let Some(texture) = material.and_then(|m| m.texture.as_ref())
        {
            let of = |i: usize| self.mesh.uvs[corners[i] as usize];
            let (a, b, c) = (of(0), of(1), of(2));
            let uv = std::array::from_fn(|i| a[i] * weights[0] + b[i] * weights[1] + c[i] * weights[2]);
            times(sample(texture, uv));
        }
        color
    }
}

fn barycentric(face: &Face, point: [f64; 3]) -> [f32; 3] {
    let [a, b, c] = face.corners.map(glam::DVec3::from_array);
    let (n, p) = (glam::DVec3::from_array(face.normal), glam::DVec3::from_array(point));
    let whole = (b - a).cross(c - a).dot(n);
    if whole == 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let v = ((p - a).cross(c - a).dot(n) / whole).clamp(0.0, 1.0);
    let w = ((b - a).cross(p - a).dot(n) / whole).clamp(0.0, 1.0 - v);
    [(1.0 - v - w) as f32, v as f32, w as f32]
}

/// Bilinear, repeating; v points up while rows run down.
fn sample(texture: &Texture, [u, v]: [f32; 2]) -> [f32; 3] {
    let (width, height) = (texture.width as i64, texture.height as i64);
    if width == 0 || height == 0 || !u.is_finite() || !v.is_finite() {
        return [255.0; 3];
    }
    let x = (u - u.floor()) * width as f32 - 0.5;
    let y = (1.0 - (v - v.floor())) * height as f32 - 0.5;
    let (fx, fy) = (x - x.floor(), y - y.floor());
    let texel = |dx: i64, dy: i64| {
        let (column, row) =
            ((x.floor() as i64 + dx).rem_euclid(width), (y.floor() as i64 + dy).rem_euclid(height));
        let at = ((row * width + column) * 4) as usize;
        texture.rgba.get(at..at + 3).map_or([255.0; 3], |t| [t[0], t[1], t[2]].map(f32::from))
    };
    let (a, b, c, d) = (texel(0, 0), texel(1, 0), texel(0, 1), texel(1, 1));
    std::array::from_fn(|i| {
        let top = a[i] + (b[i] - a[i]) * fx;
        let bottom = c[i] + (d[i] - c[i]) * fx;
        top + (bottom - top) * fy
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn material_texture_and_vertex_colour_multiply() {
        let texture = Texture { width: 2, height: 1, rgba: vec![255, 0, 0, 255, 0, 255, 255, 255] };
        let mesh = Mesh {
            positions: vec![[0.0; 3], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]],
            triangles: vec![[0, 1, 2]],
            colors: vec![[255, 255, 255], [255, 255, 255], [255, 255, 255]],
            uvs: vec![[0.25, 0.5]; 3],
            triangle_material: vec![0],
            materials: vec![Material {
                color: [100, 50, 20],
                texture: Some(texture.into()),
                ..Material::default()
            }],
            ..Mesh::default()
        };
        let corners = [[0.0; 3], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
        let face = Face::new(corners, || corners, 0, FaceKind::Mesh).expect("has an area");
        let colors = ColorSource::new(&mesh);
        assert!(colors.varies());
        assert_eq!(colors.at(&face, [1.0, 1.0, 0.0]), [100.0, 0.0, 0.0]);

        let mut right = mesh.clone();
        right.uvs = vec![[0.75, 0.5]; 3];
        assert_eq!(ColorSource::new(&right).at(&face, [1.0, 1.0, 0.0]), [0.0, 50.0, 20.0]);

        let mut painted = mesh.clone();
        painted.materials.clear();
        painted.colors = vec![[200, 0, 0], [0, 200, 0], [0, 0, 200]];
        let c = ColorSource::new(&painted).at(&face, [2.0, 1.0, 0.0]);
        assert!(
            (c[0] - 50.0).abs() < 0.1 && (c[1] - 100.0).abs() < 0.1 && (c[2] - 50.0).abs() < 0.1,
            "{c:?}"
        );

        assert_eq!(
            ColorSource::new(&Mesh { colors: vec![], materials: vec![], ..mesh }).of_triangle(&face),
            PLAIN
        );
    }
}
