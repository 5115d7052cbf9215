//! A piece's mesh for renderers: a list of vertices per side, each with all attributes.
//!
//! In: a [`WrittenMesh`]. Out: vertices and indices for each material of the outside, and for the inside. A point has a
//! vertex per combination of attributes, so that no attribute is interpolated over an edge between inside and outside.

use std::collections::HashMap;

use glam::{DVec3, Vec3};

use super::{Side, WrittenMesh};

/// A part of a piece's surface that has one material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Primitive {
    /// Its side; `None` for an empty mesh.
    pub side: Option<Side>,
    /// Positions, shape space.
    pub positions: Vec<DVec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// Colours, sRGB.
    pub colors: Vec<[u8; 3]>,
    /// Texture coordinates, v up.
    pub uvs: Vec<[f32; 2]>,
    /// Cell beyond the crack; -1 if there is none or it is unknown.
    pub beyond: Vec<f32>,
    /// Distance to the piece's nearest crack face, m; -1 for a piece without any.
    pub crack_distance: Vec<f32>,
    /// Triangles, counter-clockwise seen from outside.
    pub indices: Vec<u32>,
}

/// Key of a vertex: its attributes, floats by their bits.
#[derive(PartialEq, Eq, Hash)]
struct Shown {
    point: u32,
    normal: [u32; 3],
    color: [u8; 3],
    uv: [u32; 2],
    beyond: Option<u32>,
}

/// The parts of a mesh: the outside's in the order of their materials, then the inside.
#[must_use]
pub fn primitives(mesh: &WrittenMesh) -> Vec<Primitive> {
    let mut sides: Vec<Side> = mesh.faces.iter().map(|face| face.side).collect();
    let order = |side: &Side| match side {
        Side::Outside { material } => *material,
        Side::Inside => u32::MAX,
    };
    sides.sort_unstable_by_key(order);
    sides.dedup();
    let mut parts: Vec<Primitive> =
        sides.iter().map(|side| Primitive { side: Some(*side), ..Primitive::default() }).collect();
    let mut known: Vec<HashMap<Shown, u32>> = sides.iter().map(|_| HashMap::new()).collect();
    let distances = mesh.crack_distances();
    for ((triangle, face), corners) in mesh.triangles.iter().zip(&mesh.faces).zip(&mesh.corners) {
        let Ok(at) = sides.binary_search_by_key(&order(&face.side), order) else { continue };
        let (part, known) = (&mut parts[at], &mut known[at]);
        for (point, corner) in triangle.iter().zip(corners) {
            let shown = Shown {
                point: *point,
                normal: corner.normal.to_array().map(f32::to_bits),
                color: corner.color,
                uv: corner.uv.map(f32::to_bits),
                beyond: face.beyond,
            };
            let index = *known.entry(shown).or_insert_with(|| {
                part.positions.push(mesh.positions[*point as usize]);
                part.normals.push(corner.normal);
                part.colors.push(corner.color);
                part.uvs.push(corner.uv);
                part.beyond.push(face.beyond.map_or(-1.0, |cell| cell as f32));
                part.crack_distance.push(match face.side {
                    Side::Inside => 0.0,
                    Side::Outside { .. } => distances[*point as usize],
                });
                part.positions.len() as u32 - 1
            });
            part.indices.push(index);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::meshes::{Corner, Face, PieceMesh};

    #[test]
    fn a_point_has_a_vertex_for_everything_that_is_shown_there() {
        let corner = |x: f32| Corner { normal: Vec3::X, color: [9; 3], uv: [x, 0.0] };
        let outside = Face { side: Side::Outside { material: 3 }, beyond: None };
        let inside = Face { side: Side::Inside, beyond: Some(7) };
        let mesh = PieceMesh {
            positions: (0..4).map(|i| DVec3::splat(f64::from(i) * f64::from(i))).collect(),
            triangles: vec![[0, 1, 2], [0, 2, 3], [0, 1, 3]],
            faces: vec![outside, outside, inside],
            corners: vec![[corner(0.0); 3], [corner(0.0), corner(1.0), corner(0.0)], [corner(0.0); 3]],
        };
        let parts = primitives(&Arc::new(mesh).into());
        assert_eq!(parts.iter().map(|p| p.side.unwrap()).collect::<Vec<_>>(), [outside.side, inside.side]);
        assert_eq!(parts[0].indices, [0, 1, 2, 0, 3, 4], "point 2 shows two coordinates");
        assert_eq!((parts[1].positions.len(), parts[1].beyond[0], parts[1].crack_distance[2]), (3, 7.0, 0.0));
        assert_eq!(parts[0].beyond, [-1.0; 5]);
        assert_eq!(parts[0].crack_distance[0], 0.0, "a point that a crack shares lies at it");
        assert!(primitives(&WrittenMesh::default()).is_empty());
    }
}
