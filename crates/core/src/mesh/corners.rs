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
