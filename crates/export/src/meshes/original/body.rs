//! A group of parts as one closed mesh with surface attributes, which can be cut again.
//!
//! In: the parts of a cut mesh, and their groups. Out: a mesh for every group, without faces between two parts of the
//! same group. Attributes of an outside face are interpolated from its triangle's corners.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::geometry::UnionFind;

use super::{
    super::{Corner, Face, PieceMesh, Side, world_uv},
    parts::{NOTHING, PartFace, Parts},
    slivers::{part_crowded, take_out},
    solid::{Edges, Solid},
};

/// A closed mesh with surface attributes.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The mesh.
    pub solid: Solid,
    /// Side of each triangle.
    pub faces: Vec<Face>,
    /// Attributes of each triangle's corners.
    pub corners: Vec<[Corner; 3]>,
}

/// Attributes of the crack faces of a cut.
pub struct Inside<'a> {
    /// Number of a region's cell over all breaks.
    pub beyond: &'a (dyn Fn(u32) -> u32 + Sync),
    /// Colour at a grid position (whole units).
    pub color: &'a (dyn Fn(DVec3) -> [u8; 3] + Sync),
}

/// Barycentric coordinates of a point of a triangle.
fn shares([a, b, c]: [DVec3; 3], p: DVec3) -> [f64; 3] {
    let normal = (b - a).cross(c - a);
    let whole = normal.length_squared();
    let of = |u: DVec3, v: DVec3| ((u - p).cross(v - p).dot(normal) / whole).clamp(0.0, 1.0);
    let all = [of(b, c), of(c, a), of(a, b)];
    let sum: f64 = all.iter().sum();
    if sum > 0.0 { all.map(|v| v / sum) } else { [1.0, 0.0, 0.0] }
}

pub(super) fn mixed(corners: &[Corner; 3], shares: [f64; 3]) -> Corner {
    let sum = |of: &dyn Fn(&Corner) -> f64| corners.iter().zip(shares).map(|(c, w)| of(c) * w).sum::<f64>();
    let normal = Vec3::from_array([0, 1, 2].map(|k| sum(&|c| f64::from(c.normal[k])) as f32));
    Corner {
        normal: normal.normalize_or(corners[0].normal),
        color: [0, 1, 2].map(|k| sum(&|c| f64::from(c.color[k])).round().clamp(0.0, 255.0) as u8),
        uv: [0, 1].map(|k| sum(&|c| f64::from(c.uv[k])) as f32),
    }
}

/// Each group of parts as a mesh of its own. `group` maps a part to its group, below `count`; a part without one is
/// left out.
#[must_use]
pub fn bodies(
    source: &Body,
    parts: &Parts,
    group: &[Option<u32>],
    count: usize,
    inside: &Inside<'_>,
) -> Vec<Body> {
    let group_of = |part: u32| if part == NOTHING { None } else { group[part as usize] };
    let mut lists: Vec<Vec<(u32, bool)>> = vec![Vec::new(); count];
    for (f, face) in parts.faces.iter().enumerate() {
        let [behind, front] = face.parts.map(group_of);
        if behind == front {
            continue;
        }
        for (side, turned) in [(behind, false), (front, true)] {
            if let Some(list) = side.and_then(|g| lists.get_mut(g as usize)) {
                list.push((f as u32, turned));
            }
        }
    }
    lists.par_iter().map(|list| body(source, parts, list, inside)).collect()
}

fn body(source: &Body, parts: &Parts, list: &[(u32, bool)], inside: &Inside<'_>) -> Body {
    let mut out = Body::default();
    let faces = list.iter().map(|(f, turned)| {
        let face: &PartFace = &parts.faces[*f as usize];
        let [a, b, c] = face.nodes;
        (face, *turned, if *turned { [a, c, b] } else { [a, b, c] })
    });
    let mut used: Vec<u32> = faces.clone().flat_map(|(_, _, nodes)| nodes).collect();
    used.sort_unstable();
    used.dedup();
    let number = |node: u32| used.binary_search(&node).unwrap_or_default() as u32;
    out.solid.places = used.iter().map(|n| parts.places[*n as usize]).collect();
    // Rounded to even units, as for the vertices of every solid.
    let even = |n: &u32| parts.in_grid[*n as usize].to_array().map(|v| (v * 0.5).round() as i64 * 2);
    out.solid.points = used.iter().map(even).collect();
    for (face, turned, nodes) in faces {
        out.solid.triangles.push(nodes.map(number));
        let places = nodes.map(|n| parts.places[n as usize]);
        if face.is_crack {
            let normal = if turned { -face.normal } else { face.normal };
            let other = face.regions[usize::from(!turned)];
            out.faces.push(Face { side: Side::Inside, beyond: other.map(inside.beyond) });
            out.corners.push([0, 1, 2].map(|k| Corner {
                normal: normal.as_vec3(),
                color: (inside.color)(parts.in_grid[nodes[k] as usize]),
                uv: world_uv(places[k], normal.as_vec3()),
            }));
        } else {
            let t = face.source as usize;
            let own = source.solid.triangles[t];
            let at = own.map(|i| source.solid.places[i as usize]);
            out.faces.push(source.faces[t]);
            out.corners.push([0, 1, 2].map(|k| match own.iter().position(|i| *i == nodes[k]) {
                Some(corner) => source.corners[t][corner],
                None => mixed(&source.corners[t], shares(at, places[k])),
            }));
        }
    }
    split_fans(&mut out.solid);
    take_out(&mut out);
    part_crowded(&mut out);
    out
}

/// Gives every fan of triangles round a vertex its own vertex, so that parts touching in a point are separate.
pub fn split_fans(solid: &mut Solid) {
    let Ok(edges) = Edges::of(&solid.triangles) else { return };
    // Corner 3 t + k is merged with that of the next triangle round the same vertex.
    let mut corners = UnionFind::new(3 * solid.triangles.len());
    for edge in &edges.list {
        for v in edge.ends {
            let corner = |t: u32| {
                3 * t + solid.triangles[t as usize].iter().position(|i| *i == v).unwrap_or_default() as u32
            };
            let [a, b] = edge.triangles.map(corner);
            corners.join(a, b);
        }
    }
    let mut taken = vec![false; solid.points.len()];
    let mut name: Vec<Option<u32>> = vec![None; corners.count()];
    for at in 0..corners.count() as u32 {
        let top = corners.find(at) as usize;
        let (t, k) = (at as usize / 3, at as usize % 3);
        let v = solid.triangles[t][k] as usize;
        let chosen = name[top].unwrap_or_else(|| {
            if !std::mem::replace(&mut taken[v], true) {
                return v as u32;
            }
            solid.points.push(solid.points[v]);
            solid.places.push(solid.places[v]);
            solid.points.len() as u32 - 1
        });
        name[top] = Some(chosen);
        solid.triangles[t][k] = chosen;
    }
}

impl Body {
    /// Converts it to the mesh to be written.
    #[must_use]
    pub fn into_mesh(self) -> PieceMesh {
        let Self { solid, faces, corners } = self;
        PieceMesh { positions: solid.places, triangles: solid.triangles, faces, corners }
    }
}
