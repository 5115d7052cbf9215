//! Attributes of a surface's triangles.
//!
//! Normals are averaged from the planes of the faces round a vertex, separately for each side and smooth part; colours
//! come from their leaves. The octree has no texture coordinates of the object; those of cracks are metres in the
//! coordinate plane closest to the face.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::{
    super::{Corner, Face, PieceMesh, Side, world_uv},
    place::Crossing,
    surface::Surface,
};
use crate::svo::Grid;

/// Faces whose planes differ by less than 37 degrees (cosine) are shaded smoothly.
const CREASE: f32 = 0.8;

/// Default colour, sRGB.
const CLAY: [u8; 3] = [176, 160, 140];

/// Converts a surface on `grid` to a mesh in shape space.
pub fn with_attributes(surface: &Surface, grid: &Grid) -> PieceMesh {
    let positions: Vec<DVec3> = surface.mesh.positions.iter().map(|p| grid.origin + grid.h * *p).collect();
    let triangles = surface.mesh.triangles.clone();
    let of_face = &surface.mesh.of_face;
    let side =
        |crossing: &Crossing| if crossing.crack { Side::Inside } else { Side::Outside { material: 0 } };
    let faces = of_face.iter().map(|f| Face { side: side(&surface.crossings[*f as usize]), beyond: None });
    let corners = triangles
        .par_iter()
        .zip(of_face)
        .map(|(triangle, face)| {
            let crossing = &surface.crossings[*face as usize];
            triangle.map(|v| {
                let (normal, color) = shown(surface, v as usize, crossing);
                let uv =
                    if crossing.crack { world_uv(positions[v as usize], crossing.normal) } else { [0.0; 2] };
                Corner { normal, color, uv }
            })
        })
        .collect();
    PieceMesh { faces: faces.collect(), corners, positions, triangles }
}

/// Normal and colour of a face at one of its vertices.
fn shown(surface: &Surface, vertex: usize, own: &Crossing) -> (Vec3, [u8; 3]) {
    let (mut normal, mut sum, mut count) = (Vec3::ZERO, [0u32; 3], 0);
    for face in surface.faces.round(vertex) {
        let crossing = &surface.crossings[*face as usize];
        if crossing.crack != own.crack {
            continue;
        }
        if crossing.normal.dot(own.normal) > CREASE {
            normal += crossing.normal;
        }
        if let Some(leaf) = surface.leaves.get(crossing.leaf as usize) {
            sum.iter_mut().zip(leaf.rgb).for_each(|(sum, part)| *sum += u32::from(part));
            count += 1;
        }
    }
    let color = if count == 0 { CLAY } else { sum.map(|part| ((part + count / 2) / count) as u8) };
    (normal.normalize_or(own.normal), color)
}
