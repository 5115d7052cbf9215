//! The imported mesh as a body to be cut.
//!
//! In: a mesh as read, its scale to shape space, the grid. Out: a [`Body`] with welded corners, what every
//! corner of its triangles shows: its own normal, and where it has none one that keeps edges sharp where triangles
//! meet at more than about 40 degrees.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::{
    super::{Corner, Face, Side},
    NotOriginal,
    body::{Body, split_fans},
    exact::UNIT_BITS,
    solid::{Edges, OpenEdges, Solid},
};
use crate::{
    mesh::{Mesh, Texture, check, topology},
    svo::Grid,
};

/// What a surface without any colour looks like, as voxels have it.
const PLAIN: [u8; 3] = [200, 190, 175];
/// Cosine of 40 degrees: triangles that meet at more keep their own normals.
const CREASE: f64 = 0.766_044;

/// Sine of the least angle between a file's normal and the surface.
const ALONG: f32 = 0.1;

/// `mesh` with `scale` units of shape space for one of its own, on `grid` (shape space).
///
/// # Errors
/// [`NotOriginal`] where it is not closed.
pub fn body(mesh: &Mesh, scale: f64, grid: &Grid) -> Result<Body, NotOriginal> {
    let (mesh, health) = check(mesh);
    if health.unorientable_components > 0 {
        return Err(NotOriginal::Unoriented);
    }
    let topology = topology(&mesh);
    let triangles = topology.triangles(&mesh);
    if triangles.is_empty() {
        return Err(NotOriginal::Open(0));
    }
    Edges::of(&triangles).map_err(|OpenEdges(open)| NotOriginal::Open(open))?;
    let mut places = vec![DVec3::ZERO; topology.welded_count as usize];
    for (p, welded) in mesh.positions.iter().zip(&topology.welded) {
        places[*welded as usize] = DVec3::from_array(p.map(f64::from)) * scale;
    }
    let unit = (1u64 << (UNIT_BITS - grid.level - 1)) as f64;
    let half = |p: &DVec3| ((*p - grid.origin) / grid.h * unit).to_array().map(|v| v.round() as i64 * 2);
    let points = places.iter().map(half).collect();
    let mut solid = Solid { points, places, triangles };
    split_fans(&mut solid);
    let normals = normals(&solid);
    let material = |t: usize| mesh.triangle_material.get(t).copied().unwrap_or(0);
    let faces = (0..solid.triangles.len())
        .map(|t| Face { side: Side::Outside { material: material(t) }, beyond: None })
        .collect();
    let corners = mesh
        .triangles
        .par_iter()
        .enumerate()
        .map(|(t, own)| {
            [0, 1, 2].map(|k| {
                let i = own[k] as usize;
                let uv = mesh.uvs.get(i).copied().unwrap_or_default();
                let normal = mesh.normals.get(i).map_or(normals[t][k], |own| own_normal(*own, normals[t][k]));
                Corner { normal, color: color(&mesh, t, i, uv), uv }
            })
        })
        .collect();
    Ok(Body { solid, faces, corners })
}

/// A file's normal at a corner, facing as the triangle does, which may have been turned round; `reckoned` where there is
/// none, or where it says nothing about the side.
fn own_normal(own: [f32; 3], reckoned: Vec3) -> Vec3 {
    let own = Vec3::from_array(own);
    let side = own.dot(reckoned);
    if side.abs() < ALONG { reckoned } else { own * side.signum() }
}

/// Normals of the corners of every triangle: the mean, by area, of those triangles round the corner that this
/// one meets smoothly.
fn normals(solid: &Solid) -> Vec<[Vec3; 3]> {
    let flat: Vec<DVec3> = solid
        .triangles
        .par_iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| solid.places[i as usize]);
            (b - a).cross(c - a)
        })
        .collect();
    let mut around: Vec<(u32, u32)> =
        solid.triangles.iter().enumerate().flat_map(|(t, corners)| corners.map(|i| (i, t as u32))).collect();
    around.sort_unstable();
    let mut first = vec![0u32; solid.points.len() + 1];
    around.iter().for_each(|(i, _)| first[*i as usize + 1] += 1);
    (0..solid.points.len()).for_each(|i| first[i + 1] += first[i]);
    let unit = |n: DVec3| n.normalize_or(DVec3::ZERO);
    solid
        .triangles
        .par_iter()
        .enumerate()
        .map(|(t, corners)| {
            let own = unit(flat[t]);
            corners.map(|i| {
                let near = &around[first[i as usize] as usize..first[i as usize + 1] as usize];
                let smooth =
                    near.iter().map(|(_, o)| flat[*o as usize]).filter(|n| unit(*n).dot(own) >= CREASE);
                smooth.sum::<DVec3>().normalize_or(own.normalize_or(DVec3::Y)).as_vec3()
            })
        })
        .collect()
}

/// What a vertex of a triangle shows: vertex colour times material colour times texture.
fn color(mesh: &Mesh, triangle: usize, vertex: usize, uv: [f32; 2]) -> [u8; 3] {
    let material = mesh.triangle_material.get(triangle).and_then(|m| mesh.materials.get(*m as usize));
    let own = mesh.colors.get(vertex).copied();
    let base = material.map(|m| m.color).or_else(|| own.map(|_| [255; 3])).unwrap_or(PLAIN);
    let texel = material.and_then(|m| m.texture.as_ref()).filter(|_| !mesh.uvs.is_empty());
    let factors = [own, texel.and_then(|texture| sample(texture, uv))];
    factors.into_iter().flatten().fold(base, |color, factor| {
        [0, 1, 2].map(|k| (u32::from(color[k]) * u32::from(factor[k]) / 255) as u8)
    })
}

/// The nearest texel; textures repeat.
fn sample(texture: &Texture, [u, v]: [f32; 2]) -> Option<[u8; 3]> {
    let at = |x: f32, size: u32| (((x - x.floor()) * size as f32) as u32).min(size.saturating_sub(1));
    let (x, y) = (at(u, texture.width), at(1.0 - v, texture.height));
    let start = 4 * (y as usize * texture.width as usize + x as usize);
    let rgb = texture.rgba.get(start..start + 3)?;
    Some([rgb[0], rgb[1], rgb[2]])
}
