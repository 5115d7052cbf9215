//! Vertices of formats whose faces give attributes to their corners.
//!
//! In: shared positions, and the numbers of a texture coordinate and a normal for every corner. Out: a vertex for each
//! combination that occurs.

use super::unchecked::{MISSING, Problem, UncheckedMesh};
use std::collections::HashMap;

/// Attributes of corners.
pub(super) struct Corners<'a> {
    pub uvs: &'a [[f32; 2]],
    pub normals: &'a [[f32; 3]],
    /// Texture coordinate and normal of each triangle corner, or [`MISSING`].
    pub of: &'a [[[u32; 2]; 3]],
}

/// Splits positions so that each combination of position, texture coordinate and normal is a vertex.
pub(super) fn split_vertices(unchecked: &mut UncheckedMesh, corners: &Corners<'_>) -> Result<(), Problem> {
    let Corners { uvs, normals, of } = *corners;
    let counts = [uvs.len(), normals.len()];
    let usable =
        |shown: [u32; 2]| [0, 1].map(|k| if (shown[k] as usize) < counts[k] { shown[k] } else { MISSING });
    let used = |k: usize| of.iter().flatten().any(|shown| usable(*shown)[k] != MISSING);
    let [has_uvs, has_normals] = [0, 1].map(used);
    if !has_uvs && !has_normals {
        return Ok(());
    }
    let UncheckedMesh { mesh, pace, .. } = unchecked;
    let count = mesh.positions.len();
    // Vertices 0..count keep their numbers and take their first corner's attributes; others are found by position and
    // attributes.
    const FREE: [u32; 2] = [MISSING - 1; 2];
    let mut shown_at: Vec<[u32; 2]> = vec![FREE; count];
    let mut others: HashMap<(u32, [u32; 2]), u32> = HashMap::new();
    for (triangle, corners) in mesh.triangles.iter_mut().zip(of) {
        pace.go_on()?;
        for (corner, &shown) in triangle.iter_mut().zip(corners) {
            let shown = usable(shown);
            let Some(first) = shown_at.get_mut(*corner as usize).filter(|_| (*corner as usize) < count)
            else {
                continue;
            };
            if *first == FREE {
                *first = shown;
            }
            if *first != shown {
                *corner = *others.entry((*corner, shown)).or_insert_with(|| {
                    let place = *corner as usize;
                    mesh.positions.push(mesh.positions[place]);
                    if let Some(&color) = mesh.colors.get(place) {
                        mesh.colors.push(color);
                    }
                    if let Some(&normal) = mesh.normals.get(place) {
                        mesh.normals.push(normal);
                    }
                    shown_at.push(shown);
                    mesh.positions.len() as u32 - 1
                });
            }
        }
    }
    if has_uvs {
        let uv = |shown: &[u32; 2]| uvs.get(shown[0] as usize).copied().unwrap_or_default();
        mesh.uvs = shown_at.iter().map(uv).collect();
    }
    if has_normals {
        let normal = |shown: &[u32; 2]| normals.get(shown[1] as usize).copied().unwrap_or_default();
        mesh.normals = shown_at.iter().map(normal).collect();
    }
    Ok(())
}

/// What a corner of a face shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct CornerLook {
    /// Normal, any length; zero where there is none.
    pub normal: [f32; 3],
    /// Texture coordinates, v up.
    pub uv: [f32; 2],
    /// sRGB.
    pub color: [u8; 3],
}

/// Number of a position in its part, and the bits of what a corner there shows.
type CornerKey = (u32, [u32; 5], [u8; 3]);

/// Vertices of a part of a scene whose faces have attributes by corner: corners at one position that show the same are
/// one vertex.
#[derive(Debug, Default)]
pub(super) struct PartVertices {
    known: HashMap<CornerKey, u32>,
}

impl PartVertices {
    /// The vertex of a corner, added on first use. `number` is that of the position in its part, `position` the position
    /// in the scene.
    pub fn vertex(
        &mut self,
        unchecked: &mut UncheckedMesh,
        (number, position): (u32, [f64; 3]),
        look: &CornerLook,
    ) -> u32 {
        let CornerLook { normal: [x, y, z], uv: [u, v], color } = *look;
        *self.known.entry((number, [x, y, z, u, v].map(f32::to_bits), color)).or_insert_with(|| {
            let vertex = unchecked.mesh.positions.len() as u32;
            unchecked.push_position(position);
            unchecked.mesh.normals.push(look.normal);
            unchecked.mesh.uvs.push(look.uv);
            unchecked.mesh.colors.push(color);
            vertex
        })
    }
}

/// Ends a mesh whose vertices are those of [`PartVertices`]: leaves out the attributes that no part has.
pub(super) fn settle_parts(unchecked: &mut UncheckedMesh, has_uvs: bool) {
    unchecked.settle_positions();
    // White multiplies nothing.
    if unchecked.mesh.colors.iter().all(|color| *color == [255; 3]) {
        unchecked.mesh.colors.clear();
    }
    if !has_uvs {
        unchecked.mesh.uvs.clear();
    }
}
