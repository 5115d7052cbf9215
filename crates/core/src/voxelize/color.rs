//! The colour of a point on the mesh: material colour times texture times vertex colour.
//!
//! In: the mesh, a face and a point on it. Out: sRGB values as floats, so that parts of a voxel can be averaged by
//! area.

use super::rasterise::{Face, FaceKind};
use crate::mesh::{Material, Mesh, Texture};

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
            normals: Vec::new(),
            triangle_material: vec![0],
            materials: vec![Material { color: [100, 50, 20], texture: Some(texture.into()) }],
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
